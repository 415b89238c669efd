/*
 * fpha.c - the grid, the tangents, and the choice among them.
 *
 * Choosing looks at one plane less at a time: what would the error of the envelope be without it?
 * Every grid point therefore keeps its two highest planes. Without plane p the envelope is the
 * second at the points where p is the highest, and unchanged elsewhere, so one walk over the grid
 * answers the question for all planes at once.
 */
#include "hydro/fpha.h"

#include <math.h>
#include <stdint.h>

#include "hydro/geometry.h"

#define GRAVITY 0.00981 /* MW per m3/s and m of head */
#define TOLERANCE 1e-8  /* of values and coefficients, in choosing planes */

typedef struct point {
    double volume, turbined, spilled;
    double power;         /* the function's value, MW */
    double first, second; /* the highest two values of the planes here */
    size_t highest, next; /* whose they are; next is SIZE_MAX with a single plane */
} point;

typedef struct fit {
    const cobre_hydro *hydro;
    point *points;
    size_t point_count;
    hydro_plane *planes;
    size_t plane_count;
} fit;

/* ---- the production function ----------------------------------------------------------------- */

static double tailrace_height(const cobre_hydro *hydro, double flow)
{
    size_t count = hydro->tailrace_count;

    if (hydro->tailrace == COBRE_TAILRACE_POLYNOMIAL) {
        double height = 0.0;
        for (size_t k = count; k-- > 0;)
            height = height * flow + hydro->tailrace_coefficients[k];
        return height;
    }
    const cobre_point *points = hydro->tailrace_points;
    if (count < 2 || flow <= points[0].x)
        return points[0].y;
    if (flow >= points[count - 1].x)
        return points[count - 1].y;
    size_t i = 0;
    while (flow >= points[i + 1].x)
        i++;
    return points[i].y +
           (points[i + 1].y - points[i].y) * (flow - points[i].x) / (points[i + 1].x - points[i].x);
}

/* In m per m3/s; 0 where the points end, since the height stays constant there. */
static double tailrace_slope(const cobre_hydro *hydro, double flow)
{
    size_t count = hydro->tailrace_count;

    if (hydro->tailrace == COBRE_TAILRACE_POLYNOMIAL) {
        double slope = 0.0;
        for (size_t k = count; k-- > 1;)
            slope = slope * flow + (double)k * hydro->tailrace_coefficients[k];
        return slope;
    }
    const cobre_point *points = hydro->tailrace_points;
    if (count < 2 || flow < points[0].x || flow > points[count - 1].x)
        return 0.0;
    size_t i = 0;
    while (i + 2 < count && flow >= points[i + 1].x)
        i++;
    return (points[i + 1].y - points[i].y) / (points[i + 1].x - points[i].x);
}

static double net_head(const cobre_hydro *hydro, double volume, double outflow)
{
    double gross = geometry_height(hydro->geometry, hydro->geometry_count, volume) -
                   tailrace_height(hydro, outflow);

    if (hydro->loss == COBRE_LOSS_FACTOR)
        return gross - hydro->loss_value * gross;
    return hydro->loss == COBRE_LOSS_CONSTANT ? gross - hydro->loss_value : gross;
}

static double power_at(const cobre_hydro *hydro, const point *at)
{
    double head = net_head(hydro, at->volume, at->turbined + at->spilled);

    return GRAVITY * hydro->efficiency * at->turbined * fmax(0.0, head);
}

static hydro_plane tangent_at(const cobre_hydro *hydro, const point *at)
{
    double outflow = at->turbined + at->spilled;
    double share = hydro->loss == COBRE_LOSS_FACTOR ? 1.0 - hydro->loss_value : 1.0;
    double unit = GRAVITY * hydro->efficiency;
    double rise = geometry_height_slope(hydro->geometry, hydro->geometry_count, at->volume);
    double backwater = at->turbined * share * tailrace_slope(hydro, outflow);
    hydro_plane plane = {
        .volume = unit * at->turbined * share * rise,
        .turbined = unit * (net_head(hydro, at->volume, outflow) - backwater),
        .spilled = -unit * backwater,
    };

    plane.intercept = at->power - plane.volume * at->volume - plane.turbined * at->turbined -
                      plane.spilled * at->spilled;
    return plane;
}

static double plane_at(const hydro_plane *plane, const point *at)
{
    return plane->intercept + plane->volume * at->volume + plane->turbined * at->turbined +
           plane->spilled * at->spilled;
}

/* ---- the grid -------------------------------------------------------------------------------- */

static double step(double low, double high, uint32_t i, uint32_t count)
{
    return count > 1 ? low + (high - low) * i / (count - 1) : low;
}

/* One side of the fitting window: absolute, a share of the storage range, or the table's end. */
static double window_end(const cobre_hydro *hydro, double absolute, double share, double table_end)
{
    const cobre_geometry *rows = hydro->geometry;
    double end = absolute;

    if (isnan(end))
        end = hydro->min_storage + share * (hydro->max_storage - hydro->min_storage);
    if (isnan(end))
        return table_end;
    return fmin(fmax(end, rows[0].volume_hm3), rows[hydro->geometry_count - 1].volume_hm3);
}

static void fill_grid(fit *made, const production_fit *range, const cobre_fpha_fit *options)
{
    double most = range->turbined_max, least = fmax(0.01 * most, 1.0);
    size_t next = 0;

    for (uint32_t v = 0; v < options->volume_points; v++) {
        for (uint32_t q = 0; q < options->turbine_points; q++) {
            for (uint32_t s = 0; s < options->spillage_points; s++) {
                point *at = &made->points[next++];
                *at = (point){
                    .volume = step(range->volume_min, range->volume_max, v, options->volume_points),
                    .turbined = step(least, most, q, options->turbine_points),
                    .spilled = step(0.0, 0.5 * most, s, options->spillage_points),
                };
                at->power = power_at(made->hydro, at);
            }
        }
    }
    made->point_count = next;
}

/* ---- the planes ------------------------------------------------------------------------------ */

/* Find the two highest planes of a point. */
static void rank_planes(const fit *made, point *at)
{
    at->first = at->second = -INFINITY;
    at->highest = at->next = SIZE_MAX;
    for (size_t p = 0; p < made->plane_count; p++) {
        double value = plane_at(&made->planes[p], at);
        if (at->highest == SIZE_MAX || value > at->first) {
            at->second = at->first;
            at->next = at->highest;
            at->first = value;
            at->highest = p;
        } else if (at->next == SIZE_MAX || value > at->second) {
            at->second = value;
            at->next = p;
        }
    }
}

static void find_tangents(fit *made)
{
    for (size_t i = 0; i < made->point_count; i++) {
        if (made->points[i].turbined > 0.0 && made->points[i].power > 0.0)
            made->planes[made->plane_count++] = tangent_at(made->hydro, &made->points[i]);
    }
}

static bool touches_envelope(const fit *made, const hydro_plane *plane)
{
    for (size_t i = 0; i < made->point_count; i++) {
        if (plane_at(plane, &made->points[i]) >= made->points[i].first - TOLERANCE)
            return true;
    }
    return false;
}

static bool is_same(const hydro_plane *a, const hydro_plane *b)
{
    return fabs(a->intercept - b->intercept) <= TOLERANCE &&
           fabs(a->volume - b->volume) <= TOLERANCE &&
           fabs(a->turbined - b->turbined) <= TOLERANCE &&
           fabs(a->spilled - b->spilled) <= TOLERANCE;
}

/* Keep the planes that reach the envelope, and the first of those that are alike. */
static void keep_envelope(fit *made)
{
    size_t kept = 0;

    for (size_t i = 0; i < made->point_count; i++)
        rank_planes(made, &made->points[i]);
    for (size_t p = 0; p < made->plane_count; p++) {
        bool is_new = touches_envelope(made, &made->planes[p]);
        for (size_t k = 0; is_new && k < kept; k++)
            is_new = !is_same(&made->planes[k], &made->planes[p]);
        if (is_new)
            made->planes[kept++] = made->planes[p];
    }
    made->plane_count = kept;
}

/* The errors of the envelope at the points where one plane is the highest: with it, without it. */
typedef struct errors {
    double most_with, least_with, most_without, least_without;
} errors;

static void measure(const fit *made, errors *of)
{
    for (size_t p = 0; p < made->plane_count; p++)
        of[p] = (errors){ -INFINITY, INFINITY, -INFINITY, INFINITY };
    for (size_t i = 0; i < made->point_count; i++) {
        const point *at = &made->points[i];
        errors *e = &of[at->highest];
        e->most_with = fmax(e->most_with, at->first - at->power);
        e->least_with = fmin(e->least_with, at->first - at->power);
        e->most_without = fmax(e->most_without, at->second - at->power);
        e->least_without = fmin(e->least_without, at->second - at->power);
    }
}

/* The extremes over all planes but one, for each one: the extreme plane, and the extreme of the
 * others. */
typedef struct extremes {
    size_t most_plane, least_plane;
    double most, most_of_others, least, least_of_others;
} extremes;

static extremes find_extremes(const fit *made, const errors *of)
{
    extremes e = { SIZE_MAX, SIZE_MAX, -INFINITY, -INFINITY, INFINITY, INFINITY };

    for (size_t p = 0; p < made->plane_count; p++) {
        if (of[p].most_with > e.most) {
            e.most_of_others = e.most;
            e.most = of[p].most_with;
            e.most_plane = p;
        } else {
            e.most_of_others = fmax(e.most_of_others, of[p].most_with);
        }
        if (of[p].least_with < e.least) {
            e.least_of_others = e.least;
            e.least = of[p].least_with;
            e.least_plane = p;
        } else {
            e.least_of_others = fmin(e.least_of_others, of[p].least_with);
        }
    }
    return e;
}

/* The plane whose removal leaves the smallest largest error, the first of them; SIZE_MAX when each
 * removal would push the envelope below the function. */
static size_t find_removable(const fit *made, errors *of)
{
    size_t best = SIZE_MAX;
    double best_error = INFINITY;

    measure(made, of);
    extremes all = find_extremes(made, of);
    for (size_t p = 0; p < made->plane_count; p++) {
        double most = fmax(of[p].most_without, p == all.most_plane ? all.most_of_others : all.most);
        double least = fmin(of[p].least_without,
                            p == all.least_plane ? all.least_of_others : all.least);
        if (least >= -TOLERANCE && most < best_error) {
            best = p;
            best_error = most;
        }
    }
    return best;
}

/* Remove a plane; the last one takes its place. */
static void remove_plane(fit *made, size_t removed)
{
    size_t last = --made->plane_count;

    made->planes[removed] = made->planes[last];
    for (size_t i = 0; i < made->point_count; i++) {
        point *at = &made->points[i];
        if (at->highest == removed || at->next == removed) {
            rank_planes(made, at);
            continue;
        }
        if (at->highest == last)
            at->highest = removed;
        if (at->next == last)
            at->next = removed;
    }
}

static mcp_status reduce(fit *made, size_t most, mcp_arena *scratch, mcp_error *err)
{
    errors *of = mcp_arena_array(scratch, made->plane_count, sizeof *of);

    if (!of)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to fit hydro %d", made->hydro->id);
    for (size_t i = 0; i < made->point_count; i++)
        rank_planes(made, &made->points[i]);
    while (made->plane_count > most) {
        size_t removed = find_removable(made, of);
        if (removed == SIZE_MAX)
            break;
        remove_plane(made, removed);
    }
    return MCP_OK;
}

/* The largest share of the envelope that exceeds the function nowhere. Rounding may raise it above
 * 1 by as much as the tolerance of a removal. */
static double kappa_of(const fit *made)
{
    double kappa = INFINITY;

    for (size_t i = 0; i < made->point_count; i++) {
        const point *at = &made->points[i];
        if (at->power > 0.0 && at->first > 0.0)
            kappa = fmin(kappa, at->power / at->first);
    }
    return fmin(kappa, 1.0);
}

static mcp_status check_planes(const fit *made, mcp_error *err)
{
    for (size_t p = 0; p < made->plane_count; p++) {
        const hydro_plane *plane = &made->planes[p];
        if (plane->volume < -1e-10 || plane->turbined < -1e-10 || plane->spilled > 1e-10)
            return mcp_error_set(
                err, MCP_E_PARAMS,
                "system/hydros.json: hydro %d: a fitted plane has the slopes %.6g "
                "by volume, %.6g by turbined and %.6g by spilled flow; the first two must not be "
                "negative, the last not positive: check heights and tailrace",
                made->hydro->id, plane->volume, plane->turbined, plane->spilled);
    }
    return MCP_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static mcp_status find_range(production_fit *range, const cobre_hydro *hydro,
                             const cobre_fpha_fit *options, mcp_error *err)
{
    double points = (double)options->volume_points * options->turbine_points *
                    options->spillage_points;

    if (hydro->geometry_count < 2)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "hydro %d: computed planes need at least 2 rows of "
                             "system/hydro_geometry.parquet",
                             hydro->id);
    if (hydro->tailrace == COBRE_TAILRACE_NONE || hydro->tailrace_count == 0 ||
        isnan(hydro->efficiency))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "hydro %d: computed planes need its tailrace and its efficiency in "
                             "system/hydros.json",
                             hydro->id);
    if (points > FPHA_GRID_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "system/hydro_production_models.json: hydro %d: a grid of %.0f points "
                             "is more than %d: lower its discretization points",
                             hydro->id, points, FPHA_GRID_MAX);

    const cobre_geometry *rows = hydro->geometry;
    range->turbined_max = hydro->max_turbined;
    range->volume_min = window_end(hydro, options->volume_min, options->percentile_min,
                                   rows[0].volume_hm3);
    range->volume_max = window_end(hydro, options->volume_max, options->percentile_max,
                                   rows[hydro->geometry_count - 1].volume_hm3);
    if (range->volume_min > range->volume_max)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "system/hydro_production_models.json: hydro %d: the fitting window "
                             "from %.6g to %.6g hm3 is empty",
                             hydro->id, range->volume_min, range->volume_max);
    return MCP_OK;
}

static mcp_status make_planes(fit *made, const production_fit *range, const cobre_fpha_fit *options,
                              mcp_arena *scratch, mcp_error *err)
{
    size_t points = (size_t)options->volume_points * options->turbine_points *
                    options->spillage_points;

    made->points = mcp_arena_array(scratch, points, sizeof *made->points);
    made->planes = mcp_arena_array(scratch, points, sizeof *made->planes);
    if (!made->points || !made->planes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to fit hydro %d", made->hydro->id);
    fill_grid(made, range, options);
    find_tangents(made);
    if (made->plane_count == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "system/hydros.json: hydro %d generates nothing at any point of its "
                             "grid: check heights, tailrace, losses and efficiency",
                             made->hydro->id);
    keep_envelope(made);
    mcp_status st = reduce(made, options->max_planes, scratch, err);
    return st == MCP_OK ? check_planes(made, err) : st;
}

static mcp_status copy_planes(production_fit *out, mcp_arena *arena, const fit *made,
                              mcp_error *err)
{
    cobre_hyperplane *planes = mcp_arena_array(arena, made->plane_count, sizeof *planes);
    double kappa = kappa_of(made);

    if (!planes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the planes of hydro %d",
                             made->hydro->id);
    for (size_t p = 0; p < made->plane_count; p++) {
        const hydro_plane *plane = &made->planes[p];
        planes[p] = (cobre_hyperplane){
            .stage = COBRE_NONE,
            .plane_id = (int32_t)p,
            .gamma_0 = plane->intercept,
            .gamma_v = plane->volume,
            .gamma_q = plane->turbined,
            .gamma_s = plane->spilled,
            .kappa = kappa,
        };
    }
    out->planes = planes;
    out->plane_count = made->plane_count;
    return MCP_OK;
}

mcp_status fpha_fit(production_fit *out, mcp_arena *arena, const cobre_case *input, size_t hydro,
                    const cobre_fpha_fit *options, mcp_error *err)
{
    fit made = { .hydro = &input->hydros[hydro] };
    production_fit range = { .hydro = hydro };

    mcp_status st = find_range(&range, made.hydro, options, err);
    if (st != MCP_OK)
        return st;
    mcp_arena *scratch = mcp_arena_new(0);
    if (!scratch)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to fit hydro %d", made.hydro->id);
    st = make_planes(&made, &range, options, scratch, err);
    if (st == MCP_OK)
        st = copy_planes(&range, arena, &made, err);
    mcp_arena_free(scratch);
    if (st == MCP_OK)
        *out = range;
    return st;
}
