/*
 * steepest.c - bounds the slopes of the future cost by what water and power cost.
 */
#include "sddp/program/steepest.h"

#include <math.h>
#include <string.h>

#include "mcp/arena.h"

/* The dearest power of the case, per MWh. */
static double highest_deficit(const cobre_case *input)
{
    double highest = 0.0;

    for (size_t b = 0; b < input->bus_count; b++)
        for (size_t s = 0; s < input->buses[b].segment_count; s++)
            highest = fmax(highest, input->buses[b].segments[s].cost);
    return highest;
}

/* What one m3/s more or less through a plant costs in an hour at most. */
static double release_cost(const program_site *site, size_t h, double deficit)
{
    const cobre_hydro_stage *at = site_hydro(site, h);
    double power = site_phase(site, h) == COBRE_HYDRO_OPERATING ? site_productivity(site, h) : 0.0;
    double cost = power * (deficit + at->generation_below_cost);

    cost += at->spillage_cost + at->outflow_below_cost + at->outflow_above_cost;
    cost += at->turbined_below_cost + at->withdrawal_pos_cost + at->withdrawal_neg_cost;
    cost += at->evaporation_pos_cost + at->evaporation_neg_cost;
    if (site->input->config.inflow_method == COBRE_INFLOW_PENALTY ||
        site->input->config.inflow_method == COBRE_INFLOW_TRUNCATION_WITH_PENALTY)
        cost += site->input->hydros[h].inflow_nonnegativity_cost;
    return site->input->hydros[h].diversion_max_m3s > 0.0 ? cost + at->diversion_cost : cost;
}

/* Why the slopes of a plant's storage are not derived; NULL: they are. */
static const char *obstacle_at(const program_site *site, size_t h)
{
    const cobre_hydro_stage *at = site_hydro(site, h);

    if (site_is_fpha(site, h))
        return "a production function";
    if (site_phase(site, h) == COBRE_HYDRO_FILLING)
        return "filling";
    if (site->context->extends && at->is_soft && at->min_storage > 0.0)
        return "soft storage bounds";
    if (site_evaporates(site, h) && site_model(site, h)->evaporation_slope < 0.0)
        return "evaporation that falls as the storage rises";
    return NULL;
}

/* Of each plant by itself: its dearest stage per hm3, or NAN and why. */
static const char *cost_plants(double *own, const program_context *context)
{
    const cobre_case *in = context->input;
    double deficit = highest_deficit(in);
    const char *why = NULL;

    for (size_t t = 0; t < in->stage_count; t++) {
        program_site site = program_site_of(context, t);
        for (size_t h = 0; h < in->hydro_count; h++) {
            const char *obstacle = obstacle_at(&site, h);
            double cost = release_cost(&site, h, deficit) / HM3_PER_M3S_HOUR;
            why = obstacle ? obstacle : why;
            if (obstacle || isnan(own[h]))
                own[h] = NAN;
            else
                own[h] = fmax(own[h], cost);
        }
    }
    return why;
}

/* Room for a walk down the rivers, by plant. */
typedef struct walk {
    size_t *queue;
    bool *is_queued;
} walk;

/* The sum over the plants that water from `h` may reach, `h` itself included. */
static double add_reached(const cobre_case *input, size_t h, const double *own, const walk *room)
{
    size_t queued = 1;
    double sum = 0.0;

    memset(room->is_queued, 0, input->hydro_count * sizeof *room->is_queued);
    room->queue[0] = h;
    room->is_queued[h] = true;
    for (size_t i = 0; i < queued; i++) {
        const cobre_hydro *at = &input->hydros[room->queue[i]];
        const size_t below[] = { at->downstream, at->diversion_downstream };
        sum += own[room->queue[i]];
        for (size_t k = 0; k < 2; k++)
            if (below[k] != COBRE_NONE && !room->is_queued[below[k]]) {
                room->is_queued[below[k]] = true;
                room->queue[queued++] = below[k];
            }
    }
    return sum;
}

/* What of the whole case stands against deriving the slopes. */
static const char *obstacle_of(const cobre_case *input)
{
    if (input->constraint_row_count > 0)
        return "generic constraints";
    return input->station_count > 0 ? "pumping stations" : NULL;
}

static mcp_status fill(double *slopes, const program_context *context, double *own,
                       const walk *room, mcp_error *err)
{
    const cobre_case *in = context->input;
    const cobre_inner_bound *config = &in->config.inner_bound;
    const char *of_plants = cost_plants(own, context), *why = obstacle_of(in);
    bool is_derived = !why;

    why = why ? why : of_plants;
    for (size_t j = 0; j < context->state.dimension; j++) {
        slopes[j] = NAN;
        if (j >= in->hydro_count) {
            why = "inflow lags";
        } else if (is_derived) {
            slopes[j] = config->scale * add_reached(in, j, own, room);
        }
        if (isnan(slopes[j]))
            slopes[j] = config->fallback;
        if (isnan(slopes[j]))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "upper_bound_evaluation.lipschitz.fallback_value is needed: the "
                                 "steepest slope of the cost is not derived with %s",
                                 why);
    }
    return MCP_OK;
}

mcp_status steepest_slopes(double *slopes, const program_context *context, mcp_error *err)
{
    size_t hydros = context->input->hydro_count;
    mcp_arena *arena = mcp_arena_new(0);
    double *own = arena ? mcp_arena_array(arena, hydros, sizeof *own) : NULL;
    walk room = { arena ? mcp_arena_array(arena, hydros, sizeof *room.queue) : NULL,
                  arena ? mcp_arena_array(arena, hydros, sizeof *room.is_queued) : NULL };
    mcp_status st = MCP_OK;

    if (own && room.queue && room.is_queued)
        st = fill(slopes, context, own, &room, err);
    else
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu slopes", context->state.dimension);
    mcp_arena_free(arena);
    return st;
}
