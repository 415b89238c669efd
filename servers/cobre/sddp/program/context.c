/*
 * context.c - collects what the programs of all stages need, and describes one stage.
 */
#include "sddp/program/context.h"

#include <math.h>

#include "sddp/program/regions.h"

size_t program_next_stage(const cobre_case *input, size_t t)
{
    if (t + 1 < input->stage_count)
        return t + 1;
    return input->is_cyclic && !input->config.original_arithmetic ? input->cycle_start : COBRE_NONE;
}

/* ---- the least future cost ------------------------------------------------------------------- */

/* The regions whose columns may earn something. */
static const column_region earning[] = { REGION_THERMAL, REGION_DIRECT, REGION_REVERSE,
                                         REGION_SOURCE, REGION_CONTRACT };

/* What a stage earns at most, as a cost: zero or negative. */
static double least_cost(const program_context *context, size_t t)
{
    const program_site site = program_site_of(context, t);
    double total = 0.0;

    for (size_t i = 0; i < sizeof earning / sizeof earning[0]; i++) {
        const region_row *row = &region_columns[earning[i]];
        size_t places = region_places(row, &site);
        for (size_t e = 0; e < region_entities(row, &site); e++) {
            region_line line;
            for (size_t k = 0; k < places && row->rule(&line, &site, e, k); k++)
                if (line.price < 0.0)
                    total += line.price * line.upper;
        }
    }
    return total;
}

/* Of all stages after t, undiscounted; a cycle is discounted by what one round leaves of it. */
static void set_floors(const program_context *context, double *floor)
{
    const cobre_case *in = context->input;
    double after = 0.0, ring = 0.0, left = 1.0;

    for (size_t t = in->stage_count; context->extends && t-- > 0;) {
        double least = least_cost(context, t);
        floor[t] = after;
        after += least;
        if (in->is_cyclic && t >= in->cycle_start) {
            ring += least;
            left *= in->stages[t].discount;
        }
    }
    for (size_t t = 0; in->is_cyclic && ring < 0.0 && t < in->stage_count; t++)
        floor[t] += ring / (1.0 - left);
}

/* ---- the context ----------------------------------------------------------------------------- */

static void number_constraints(const cobre_case *input, size_t *first)
{
    size_t row = 0;

    for (size_t t = 0; t < input->stage_count; t++) {
        while (row < input->constraint_row_count && input->constraint_rows[row].stage < t)
            row++;
        first[t] = row;
    }
    first[input->stage_count] = input->constraint_row_count;
}

mcp_status program_models_build(program_models *out, mcp_arena *arena, const cobre_case *input,
                                mcp_error *err)
{
    program_models made;
    mcp_status st = inflow_model_build(&made.inflow, arena, input, err);

    if (st == MCP_OK)
        st = hydro_models_build(&made.hydro, arena, input, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status program_context_make(program_context *out, mcp_arena *arena, const cobre_case *input,
                                const program_models *models, const uint32_t *openings,
                                mcp_error *err)
{
    size_t stages = input->stage_count;
    double *floor = mcp_arena_array(arena, stages, sizeof *floor);
    size_t *constraint = mcp_arena_array(arena, stages + 1, sizeof *constraint);
    size_t *following = mcp_arena_array(arena, stages, sizeof *following);
    program_context made = { .input = input,
                             .models = models->hydro.at,
                             .inflow = &models->inflow,
                             .floor = floor,
                             .constraint = constraint,
                             .extends = !input->config.original_arithmetic };

    if (!floor || !constraint || !following)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu stages", stages);
    for (size_t t = 0; openings && t < stages; t++) {
        size_t next = program_next_stage(input, t);
        following[t] = next == COBRE_NONE ? 0 : openings[next];
    }
    made.openings = openings ? following : NULL;
    number_constraints(input, constraint);
    set_floors(&made, floor);
    mcp_status st = state_table_build(&made.state, arena, &models->inflow, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status program_context_lower_floors(program_context *context, mcp_arena *arena, double least,
                                        mcp_error *err)
{
    size_t stages = context->input->stage_count;
    double *floor = mcp_arena_array(arena, stages, sizeof *floor);

    if (!floor)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu stages", stages);
    for (size_t t = 0; t < stages; t++)
        floor[t] = context->floor[t] + least;
    context->floor = floor;
    return MCP_OK;
}

/* ---- a stage --------------------------------------------------------------------------------- */

program_site program_site_of(const program_context *context, size_t t)
{
    const cobre_case *in = context->input;
    const cobre_stage *stage = &in->stages[t];
    program_site site = { .context = context,
                          .input = in,
                          .stage = stage,
                          .t = t,
                          .blocks = stage->block_count,
                          .balances = 1,
                          .has_future = program_next_stage(in, t) != COBRE_NONE ||
                                        in->config.policy.boundary_path };

    for (size_t i = 0; i < in->bus_count; i++)
        if (in->buses[i].segment_count > site.segments)
            site.segments = in->buses[i].segment_count;
    for (size_t h = 0; h < in->hydro_count; h++)
        if (site_model(&site, h)->plane_count > site.planes)
            site.planes = site_model(&site, h)->plane_count;
    if (stage->is_chronological && context->extends)
        site.balances = stage->block_count;
    if (context->openings)
        site.openings = context->openings[t];
    if (context->constraint[t + 1] > context->constraint[t]) {
        site.constraints = in->constraint_rows + context->constraint[t];
        site.constraint_count = context->constraint[t + 1] - context->constraint[t];
    }
    return site;
}

cobre_hydro_phase site_phase(const program_site *site, size_t hydro)
{
    return site->context->extends ? site_hydro(site, hydro)->phase : COBRE_HYDRO_OPERATING;
}

const hydro_model *site_model(const program_site *site, size_t hydro)
{
    return &site->context->models[site->t * site->input->hydro_count + hydro];
}

bool site_is_fpha(const program_site *site, size_t hydro)
{
    return site_model(site, hydro)->is_fpha;
}

bool site_evaporates(const program_site *site, size_t hydro)
{
    return site_model(site, hydro)->evaporates;
}

double site_productivity(const program_site *site, size_t hydro)
{
    return site_model(site, hydro)->productivity;
}
