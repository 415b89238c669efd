/*
 * correlation.c - eigenvalues by cyclic Jacobi rotations, and the product with a noise vector.
 *
 * The members of a group are sorted by their place in the noise vector before the root is computed,
 * so that the bits do not depend on the order in which the file lists them.
 */
#include "stochastic/correlation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stochastic/noise.h"

#define SWEEPS_MAX 60

typedef struct factor {
    cobre_noise_class class;
    size_t count;
    const size_t *places; /* ascending */
    const double *root;   /* [row * count + column] */
} factor;

typedef struct profile {
    factor *factors;
    size_t count;
} profile;

struct correlation {
    profile *profiles;
    const size_t *profile_of_stage; /* NULL: no correlation */
};

/* ---- the root -------------------------------------------------------------------------------- */

/* The rotation that makes a[p][q] zero: its cosine and sine (Golub and Van Loan, 8.5.2). */
static void rotation(const double *a, size_t n, size_t p, size_t q, double *cosine, double *sine)
{
    double tau = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    double t = (tau >= 0.0 ? 1.0 : -1.0) / (fabs(tau) + sqrt(1.0 + tau * tau));

    *cosine = 1.0 / sqrt(1.0 + t * t);
    *sine = t * *cosine;
}

/* Rotate two numbers of rows or columns p and q. */
static void turn(double *x, double *y, double cosine, double sine)
{
    double before = *x;

    *x = cosine * before - sine * *y;
    *y = sine * before + cosine * *y;
}

static void rotate(double *a, double *vectors, size_t n, size_t p, size_t q)
{
    double cosine, sine;

    rotation(a, n, p, q, &cosine, &sine);
    for (size_t i = 0; i < n; i++)
        turn(&a[p * n + i], &a[q * n + i], cosine, sine);
    for (size_t i = 0; i < n; i++) {
        turn(&a[i * n + p], &a[i * n + q], cosine, sine);
        turn(&vectors[i * n + p], &vectors[i * n + q], cosine, sine);
    }
    a[p * n + q] = a[q * n + p] = 0.0;
}

/* One rotation for each pair above the diagonal; false when there was none to do. */
static bool sweep(double *a, double *vectors, size_t n)
{
    bool turned = false;

    for (size_t p = 0; p < n; p++) {
        for (size_t q = p + 1; q < n; q++) {
            double scale = fabs(a[p * n + p]) + fabs(a[q * n + q]);
            if (fabs(a[p * n + q]) <= 1e-17 * scale)
                continue;
            rotate(a, vectors, n, p, q);
            turned = true;
        }
    }
    return turned;
}

void correlation_root(double *out, const double *matrix, size_t count, double *scratch)
{
    double *a = scratch, *vectors = scratch + count * count;

    for (size_t i = 0; i < count * count; i++) {
        a[i] = matrix[i];
        vectors[i] = i % (count + 1) == 0 ? 1.0 : 0.0;
    }
    for (int i = 0; i < SWEEPS_MAX && sweep(a, vectors, count); i++)
        continue;
    for (size_t row = 0; row < count; row++) {
        for (size_t column = 0; column <= row; column++) {
            double sum = 0.0;
            for (size_t k = 0; k < count; k++)
                sum += vectors[row * count + k] * sqrt(fmax(a[k * count + k], 0.0)) *
                       vectors[column * count + k];
            out[row * count + column] = out[column * count + row] = sum;
        }
    }
}

/* ---- the profiles of a case ------------------------------------------------------------------ */

typedef struct member {
    size_t place, listed; /* its index in the file's group */
} member;

static int by_place(const void *a, const void *b)
{
    size_t x = ((const member *)a)->place, y = ((const member *)b)->place;

    return x < y ? -1 : x > y;
}

/* The places of a group; false when a member has none. */
static bool find_places(member *out, const cobre_case *input, const cobre_correlation_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        out[i] = (member){ noise_place(input, group->type, group->members[i]), i };
        if (out[i].place == COBRE_NONE)
            return false;
    }
    if (group->count > 1)
        qsort(out, group->count, sizeof *out, by_place);
    return true;
}

static mcp_status make_factor(profile *into, mcp_arena *arena, const cobre_case *input,
                              const cobre_correlation_group *group, mcp_error *err)
{
    size_t n = group->count;

    if (n > CORRELATION_MEMBERS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "scenarios/correlation.json: group '%s' has %zu members; the limit is "
                             "%d",
                             group->name, n, CORRELATION_MEMBERS_MAX);
    member *members = mcp_arena_array(arena, n, sizeof *members);
    size_t *places = mcp_arena_array(arena, n, sizeof *places);
    double *sorted = mcp_arena_array(arena, n * n, 4 * sizeof *sorted);
    if (!members || !places || !sorted)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the correlation of noises");
    if (!find_places(members, input, group))
        return MCP_OK;
    for (size_t i = 0; i < n; i++) {
        places[i] = members[i].place;
        for (size_t k = 0; k < n; k++)
            sorted[i * n + k] = group->matrix[members[i].listed * n + members[k].listed];
    }
    correlation_root(sorted + n * n, sorted, n, sorted + 2 * n * n);
    into->factors[into->count++] = (factor){ group->type, n, places, sorted + n * n };
    return MCP_OK;
}

static mcp_status make_profile(profile *out, mcp_arena *arena, const cobre_case *input,
                               const cobre_correlation_profile *from, mcp_error *err)
{
    mcp_status st = MCP_OK;

    out->factors = mcp_arena_array(arena, from->group_count, sizeof *out->factors);
    if (!out->factors)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the correlation of noises");
    for (size_t g = 0; g < from->group_count && st == MCP_OK; g++)
        st = make_factor(out, arena, input, &from->groups[g], err);
    return st;
}

mcp_status correlation_new(const correlation **out, mcp_arena *arena, const cobre_case *input,
                           const inflow_tables *tables, mcp_error *err)
{
    correlation *made = mcp_arena_alloc(arena, sizeof *made);
    size_t count = tables->profile_of_stage ? tables->profile_count : 0;
    size_t *of_stage = mcp_arena_array(arena, input->stage_count, sizeof *of_stage);
    mcp_status st = MCP_OK;

    if (made)
        made->profiles = mcp_arena_array(arena, count, sizeof *made->profiles);
    if (!made || !of_stage || !made->profiles)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the correlation of noises");
    for (size_t p = 0; p < count && st == MCP_OK; p++)
        st = make_profile(&made->profiles[p], arena, input, &tables->profiles[p], err);
    if (st != MCP_OK)
        return st;
    if (count > 0) {
        memcpy(of_stage, tables->profile_of_stage, input->stage_count * sizeof *of_stage);
        made->profile_of_stage = of_stage;
    }
    *out = made;
    return MCP_OK;
}

static void apply_factor(const factor *f, double *noise)
{
    double mixed[CORRELATION_MEMBERS_MAX];

    for (size_t i = 0; i < f->count; i++) {
        mixed[i] = 0.0;
        for (size_t k = 0; k < f->count; k++)
            mixed[i] += f->root[i * f->count + k] * noise[f->places[k]];
    }
    for (size_t i = 0; i < f->count; i++)
        noise[f->places[i]] = mixed[i];
}

void correlation_apply(const correlation *c, size_t stage, cobre_noise_class class, double *noise)
{
    if (!c->profile_of_stage)
        return;
    const profile *at = &c->profiles[c->profile_of_stage[stage]];
    for (size_t f = 0; f < at->count; f++) {
        if (at->factors[f].class == class)
            apply_factor(&at->factors[f], noise);
    }
}
