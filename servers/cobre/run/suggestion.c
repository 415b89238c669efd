/*
 * suggestion.c - names the hydros and constraints of a failure, and looks through the numbers that
 * the products in stage programs are made of.
 */
#include "run/suggestion.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* No case in any currency has such a number. */
#define OUT_OF_SCALE 1e13

typedef struct largest {
    double value;
    const char *what, *entity, *unit;
    int32_t id;
    const char *name;
    const cobre_stage *stage; /* NULL: of no stage */
} largest;

static void offer(largest *most, largest one)
{
    if (fabs(one.value) > fabs(most->value))
        *most = one;
}

static void offer_hydro(largest *most, const cobre_case *input, const inflow_model *inflow,
                        size_t t, size_t h)
{
    const cobre_hydro *hydro = &input->hydros[h];
    const cobre_stage *stage = &input->stages[t];
    size_t cell = t * input->hydro_count + h;

    offer(most, (largest){ inflow->base[cell], "the mean inflow", "hydro", "m3/s", hydro->id,
                           hydro->name, stage });
    offer(most, (largest){ inflow->sigma[cell], "the deviation of the inflow", "hydro", "m3/s",
                           hydro->id, hydro->name, stage });
    offer(most, (largest){ input->hydro_stages[cell].spillage_cost, "spillage_cost", "hydro",
                           "per m3/s and hour", hydro->id, hydro->name, stage });
}

static void offer_bus(largest *most, const cobre_case *input, size_t t, size_t b)
{
    const cobre_bus *bus = &input->buses[b];
    const cobre_stage *stage = &input->stages[t];
    const cobre_bus_stage *at = &input->bus_stages[t * input->bus_count + b];

    offer(most,
          (largest){ at->load_mean, "the mean load", "bus", "MW", bus->id, bus->name, stage });
    offer(most, (largest){ at->load_std, "the deviation of the load", "bus", "MW", bus->id,
                           bus->name, stage });
    for (size_t s = 0; s < bus->segment_count; s++)
        offer(most, (largest){ bus->segments[s].cost, "the cost of a deficit", "bus", "per MWh",
                               bus->id, bus->name, NULL });
}

static void offer_stage(largest *most, const cobre_case *input, const inflow_model *inflow,
                        size_t t)
{
    const cobre_stage *stage = &input->stages[t];

    for (size_t k = 0; k < stage->block_count; k++)
        offer(most, (largest){ stage->blocks[k].hours, "the length", "block", "h", (int32_t)k,
                               stage->blocks[k].name, stage });
    for (size_t h = 0; h < input->hydro_count; h++)
        offer_hydro(most, input, inflow, t, h);
    for (size_t b = 0; b < input->bus_count; b++)
        offer_bus(most, input, t, b);
    for (size_t i = 0; i < input->thermal_count; i++)
        offer(most, (largest){ input->thermal_stages[t * input->thermal_count + i].cost_per_mwh,
                               "the cost", "thermal", "per MWh", input->thermals[i].id,
                               input->thermals[i].name, stage });
}

/* As in "the cost of thermal 0 'Gas', 9e+19 per MWh in stage 1"; "": none is out of scale. */
static const char *largest_number(mcp_arena *arena, const cobre_case *input,
                                  const inflow_model *inflow)
{
    largest most = { .value = OUT_OF_SCALE };

    for (size_t h = 0; h < input->hydro_count; h++)
        offer(&most, (largest){ input->hydros[h].initial_storage_hm3, "the first storage", "hydro",
                                "hm3", input->hydros[h].id, input->hydros[h].name, NULL });
    for (size_t t = 0; t < input->stage_count; t++)
        offer_stage(&most, input, inflow, t);
    if (!most.what)
        return "";
    const char *text = mcp_arena_printf(arena, "%s of %s %" PRId32 " '%.100s', %.6g %s", most.what,
                                        most.entity, most.id, most.name ? most.name : "",
                                        most.value, most.unit);
    return text && most.stage
               ? mcp_arena_printf(arena, "%s in stage %" PRId32, text, most.stage->id)
               : text;
}

const char *const *suggestion_hydros(mcp_arena *arena, const cobre_case *input,
                                     const sddp_failure *where)
{
    const char **out = mcp_arena_array(arena, where->hydro_count + 1, sizeof *out);
    for (size_t i = 0; out && i < where->hydro_count; i++) {
        const cobre_hydro *hydro = &input->hydros[where->hydros[i]];
        double hm3 = where->missing_hm3[i];
        out[i] = mcp_arena_printf(arena, "hydro %" PRId32 " '%s' %s %.6g hm3", hydro->id,
                                  hydro->name, hm3 > 0 ? "lacks" : "cannot release", fabs(hm3));
        if (!out[i])
            return NULL;
    }
    return out;
}

const char *const *suggestion_constraints(mcp_arena *arena, const cobre_case *input,
                                          const sddp_failure *where)
{
    const char **out = mcp_arena_array(arena, where->row_count + 1, sizeof *out);
    for (size_t i = 0; out && i < where->row_count; i++) {
        const cobre_constraint_row *row = &input->constraint_rows[where->rows[i]];
        const cobre_constraint *constraint = &input->constraints[row->constraint];
        out[i] = mcp_arena_printf(arena,
                                  "constraint %" PRId32 " '%s' %s its bound of %.6g by %.6g in "
                                  "block %zu",
                                  constraint->id, constraint->name,
                                  where->missing[i] > 0 ? "misses" : "exceeds", row->bound,
                                  fabs(where->missing[i]), row->block);
        if (!out[i])
            return NULL;
    }
    return out;
}

const char *suggestion_of_failure(mcp_arena *arena, const cobre_case *input,
                                  const inflow_model *inflow, const sddp_failure *where)
{
    if (where->row_count > 0)
        return "Give the constraints that the context names a slack, or bounds that can be kept.";
    if (where->hydro_count > 0)
        return "Look at the hard limits of the hydros that the context names: minimum storage, "
               "initial storage, and inflow with no slack.";
    if (strcmp(where->solver_status, "infeasible") == 0)
        return "Look at the hard limits of that stage: minimum storage, initial storage, and "
               "inflow with no slack.";
    const char *most = largest_number(arena, input, inflow);
    if (!most || !*most)
        return most ? "Look for numbers far out of scale in that stage: costs, limits, inflows and "
                      "loads."
                    : NULL;
    return mcp_arena_printf(arena, "Correct the largest number of the case: %s.", most);
}
