/*
 * cases.h - cases as plain C data, so that the solver's tests need neither files nor the loader.
 *
 * A case_kit holds a cobre_case together with the arrays it points to. kit_begin makes a neutral
 * case of a given shape (one block of 730 h a stage, no limits that bind, no costs but those set);
 * the case_* functions make the cases of the shared data set, numbers taken from their files.
 */
#ifndef TESTS_SDDP_CASES_H
#define TESTS_SDDP_CASES_H

#include <math.h>
#include <string.h>

#include "case/case.h"

#ifndef KIT_STAGES /* a bench may need more */
#define KIT_STAGES 12
#endif
#define KIT_BLOCKS 3
#ifndef KIT_ENTITIES
#define KIT_ENTITIES 24
#endif
#define KIT_FEW 3

typedef struct case_kit {
    cobre_case c;
    cobre_stopping_rule rules[4];
    cobre_stage stages[KIT_STAGES];
    cobre_block blocks[KIT_STAGES][KIT_BLOCKS];
    cobre_hydro hydros[KIT_ENTITIES];
    cobre_thermal thermals[KIT_ENTITIES];
    cobre_bus buses[KIT_ENTITIES];
    cobre_deficit_segment segments[KIT_ENTITIES][3];
    cobre_line lines[KIT_ENTITIES];
    cobre_hydro_stage hydro_stages[KIT_STAGES * KIT_ENTITIES];
    cobre_thermal_stage thermal_stages[KIT_STAGES * KIT_ENTITIES];
    cobre_line_stage line_stages[KIT_STAGES * KIT_ENTITIES];
    cobre_bus_stage bus_stages[KIT_STAGES * KIT_ENTITIES];
    bool bus_is_stochastic[KIT_ENTITIES];
    cobre_source sources[KIT_FEW];
    cobre_station stations[KIT_FEW];
    cobre_contract contracts[KIT_FEW];
    cobre_source_stage source_stages[KIT_STAGES * KIT_FEW];
    cobre_station_stage station_stages[KIT_STAGES * KIT_FEW];
    cobre_contract_stage contract_stages[KIT_STAGES * KIT_FEW];
    cobre_constraint constraint;
    cobre_term terms[KIT_FEW];
    cobre_constraint_row rows[KIT_STAGES];
} case_kit;

static inline cobre_hydro_stage *kit_hydro(case_kit *k, size_t t, size_t h)
{
    return &k->hydro_stages[t * k->c.hydro_count + h];
}

static inline cobre_thermal_stage *kit_thermal(case_kit *k, size_t t, size_t i)
{
    return &k->thermal_stages[t * k->c.thermal_count + i];
}

static inline cobre_bus_stage *kit_bus(case_kit *k, size_t t, size_t b)
{
    return &k->bus_stages[t * k->c.bus_count + b];
}

static inline cobre_line_stage *kit_line(case_kit *k, size_t t, size_t l)
{
    return &k->line_stages[t * k->c.line_count + l];
}

static inline cobre_source_stage *kit_source(case_kit *k, size_t t, size_t j)
{
    return &k->source_stages[t * k->c.source_count + j];
}

static inline void kit_config(case_kit *k)
{
    k->rules[0] = (cobre_stopping_rule){ .kind = COBRE_RULE_ITERATION_LIMIT, .limit = 10 };
    k->c.config = (cobre_config){
        .training_enabled = true,
        .seed = 42,
        .forward_passes = 1,
        .rules = k->rules,
        .rule_count = 1,
        .max_iterations = 10,
        .has_iteration_limit = true,
        .inflow_method = COBRE_INFLOW_NONE,
        .policy.path = "./policy",
    };
}

static inline void kit_stages(case_kit *k)
{
    for (size_t t = 0; t < k->c.stage_count; t++) {
        k->blocks[t][0] = (cobre_block){ 0, "SINGLE", 730.0 };
        k->stages[t] = (cobre_stage){
            .id = (int32_t)t,
            .start_date = "2024-01-01",
            .end_date = "2024-02-01",
            .days = 31,
            .blocks = k->blocks[t],
            .block_count = 1,
            .hours = 730.0,
            .openings = 1,
            .discount = 1.0,
        };
    }
}

static inline void kit_hydros(case_kit *k)
{
    for (size_t h = 0; h < k->c.hydro_count; h++)
        k->hydros[h] = (cobre_hydro){ .id = (int32_t)h,
                                      .name = "H",
                                      .downstream = COBRE_NONE,
                                      .diversion_downstream = COBRE_NONE,
                                      .productivity = 1.0 };
    for (size_t i = 0; i < k->c.stage_count * k->c.hydro_count; i++)
        k->hydro_stages[i] = (cobre_hydro_stage){
            .productivity = 1.0,
            .max_storage = 1000.0,
            .max_turbined = 1000.0,
            .max_outflow = INFINITY,
            .max_generation = 1000.0,
            .spillage_cost = 0.01,
            .diversion_cost = 0.01,
        };
}

static inline void kit_buses(case_kit *k)
{
    for (size_t b = 0; b < k->c.bus_count; b++) {
        k->segments[b][0] = (cobre_deficit_segment){ INFINITY, 1000.0 };
        k->buses[b] = (cobre_bus){ (int32_t)b, "B", k->segments[b], 1 };
    }
    for (size_t i = 0; i < k->c.stage_count * k->c.bus_count; i++)
        k->bus_stages[i].excess_cost = 0.01;
}

static inline void kit_begin(case_kit *k, size_t stages, size_t hydros, size_t thermals,
                             size_t buses, size_t lines)
{
    memset(k, 0, sizeof *k);
    k->c = (cobre_case){
        .directory = "kit",
        .name = "kit",
        .stages = k->stages,
        .stage_count = stages,
        .buses = k->buses,
        .bus_count = buses,
        .lines = k->lines,
        .line_count = lines,
        .hydros = k->hydros,
        .hydro_count = hydros,
        .thermals = k->thermals,
        .thermal_count = thermals,
        .hydro_stages = k->hydro_stages,
        .thermal_stages = k->thermal_stages,
        .line_stages = k->line_stages,
        .bus_stages = k->bus_stages,
        .bus_is_stochastic = k->bus_is_stochastic,
        .sources = k->sources,
        .stations = k->stations,
        .contracts = k->contracts,
        .source_stages = k->source_stages,
        .station_stages = k->station_stages,
        .contract_stages = k->contract_stages,
        .constraints = &k->constraint,
        .constraint_rows = k->rows,
    };
    kit_config(k);
    kit_stages(k);
    kit_hydros(k);
    kit_buses(k);
}

static inline void kit_set_limit(case_kit *k, uint32_t iterations)
{
    k->rules[0].limit = iterations;
    k->c.config.max_iterations = iterations;
}

static inline void kit_set_thermal(case_kit *k, size_t i, double max_mw, double cost)
{
    k->thermals[i] = (cobre_thermal){ (int32_t)i, "T", 0, 0.0, max_mw, cost };
    for (size_t t = 0; t < k->c.stage_count; t++)
        *kit_thermal(k, t, i) = (cobre_thermal_stage){ .max_mw = max_mw, .cost_per_mwh = cost };
}

static inline void kit_set_hours(case_kit *k, size_t t, double hours)
{
    k->blocks[t][0].hours = hours;
    k->stages[t].hours = hours;
}

static inline void kit_set_productivity(case_kit *k, size_t h, double value)
{
    k->hydros[h].productivity = value;
    for (size_t t = 0; t < k->c.stage_count; t++)
        kit_hydro(k, t, h)->productivity = value;
}

/* A plant as in the data set: outflow and turbines limited alike, productivity 1. */
static inline void kit_set_hydro(case_kit *k, size_t h, double initial, double max_storage,
                                 double limit, double outflow_above_cost)
{
    k->hydros[h].initial_storage_hm3 = initial;
    for (size_t t = 0; t < k->c.stage_count; t++) {
        cobre_hydro_stage *at = kit_hydro(k, t, h);
        at->max_storage = max_storage;
        at->max_turbined = at->max_generation = at->max_outflow = limit;
        at->outflow_above_cost = outflow_above_cost;
    }
}

/* One reservoir, two thermals, 4 months of N(40, 10) inflow, 10 openings, 12 % a year. */
static inline void case_1dtoy(case_kit *k)
{
    static const double hours[] = { 744.0, 696.0, 744.0, 720.0 };

    kit_begin(k, 4, 1, 2, 1, 0);
    kit_set_limit(k, 128);
    k->c.config.simulation_enabled = true;
    k->c.config.simulation_scenarios = 100;
    kit_set_hydro(k, 0, 83.222, 1000.0, 50.0, 500.0);
    kit_set_thermal(k, 0, 15.0, 5.0);
    kit_set_thermal(k, 1, 15.0, 10.0);
    for (size_t t = 0; t < 4; t++) {
        kit_set_hours(k, t, hours[t]);
        k->stages[t].days = (int32_t)(hours[t] / 24.0);
        k->stages[t].openings = 10;
        k->stages[t].discount = pow(1.12, -hours[t] / 24.0 / 365.25);
        kit_hydro(k, t, 0)->inflow_mean = 40.0;
        kit_hydro(k, t, 0)->inflow_std = 10.0;
        kit_bus(k, t, 0)->load_mean = 75.0;
        kit_bus(k, t, 0)->excess_cost = 100.0;
    }
}

/* A source on bus 0 with this much power in every stage. */
static inline void kit_add_source(case_kit *k, double available, double curtailment_cost)
{
    k->c.source_count = 1;
    k->sources[0] = (cobre_source){ .name = "S", .max_mw = available };
    for (size_t t = 0; t < k->c.stage_count; t++)
        k->source_stages[t] = (cobre_source_stage){ .available_mw = available,
                                                    .curtailment_cost = curtailment_cost };
}

/* A contract on bus 0. */
static inline void kit_add_contract(case_kit *k, bool is_export, double most, double price)
{
    k->c.contract_count = 1;
    k->contracts[0] = (cobre_contract){ .name = "C", .is_export = is_export };
    for (size_t t = 0; t < k->c.stage_count; t++)
        k->contract_stages[t] = (cobre_contract_stage){ .max_mw = most, .price_per_mwh = price };
}

/* A pumping station on bus 0, from the first hydro to the second. */
static inline void kit_add_station(case_kit *k, double most, double consumption)
{
    k->c.station_count = 1;
    k->stations[0] = (cobre_station){
        .name = "P", .source = 0, .destination = 1, .consumption = consumption
    };
    for (size_t t = 0; t < k->c.stage_count; t++)
        k->station_stages[t] = (cobre_station_stage){ .max_m3s = most };
}

/* Add `coefficient` times a variable to the kit's generic constraint. */
static inline void kit_add_term(case_kit *k, cobre_variable variable, size_t entity,
                                double coefficient)
{
    k->constraint.terms = k->terms;
    k->terms[k->constraint.term_count++] = (cobre_term){ variable, entity, COBRE_NONE,
                                                         coefficient };
}

/* Bound the generic constraint in block 0 of every stage; a penalty of 0: it is hard. */
static inline void kit_set_constraint(case_kit *k, cobre_sense sense, double bound, double penalty)
{
    k->constraint.sense = sense;
    k->constraint.has_slack = penalty > 0.0;
    k->constraint.penalty = penalty;
    k->c.constraint_count = 1;
    k->c.constraint_row_count = k->c.stage_count;
    for (size_t t = 0; t < k->c.stage_count; t++)
        k->rows[t] = (cobre_constraint_row){ t, 0, 0, bound };
}

static inline void case_d01(case_kit *k)
{
    kit_begin(k, 2, 0, 2, 1, 0);
    kit_set_thermal(k, 0, 15.0, 5.0);
    kit_set_thermal(k, 1, 15.0, 10.0);
    for (size_t t = 0; t < 2; t++)
        kit_bus(k, t, 0)->load_mean = 20.0;
}

static inline void case_d02(case_kit *k)
{
    static const double inflow[] = { 40.0, 10.0 };

    kit_begin(k, 2, 1, 1, 1, 0);
    kit_set_hydro(k, 0, 100.0, 200.0, 50.0, 10000.0);
    kit_set_thermal(k, 0, 100.0, 50.0);
    for (size_t t = 0; t < 2; t++) {
        kit_hydro(k, t, 0)->inflow_mean = inflow[t];
        kit_bus(k, t, 0)->load_mean = 80.0;
    }
}

static inline void case_d03(case_kit *k)
{
    static const double upper[] = { 25.0, 15.0, 5.0 }, lower[] = { 10.0, 5.0, 2.0 };

    kit_begin(k, 3, 2, 1, 1, 0);
    k->hydros[0].downstream = 1;
    kit_set_hydro(k, 0, 80.0, 150.0, 30.0, 10000.0);
    kit_set_hydro(k, 1, 50.0, 100.0, 40.0, 10000.0);
    kit_set_thermal(k, 0, 100.0, 50.0);
    for (size_t t = 0; t < 3; t++) {
        kit_hydro(k, t, 0)->inflow_mean = upper[t];
        kit_hydro(k, t, 1)->inflow_mean = lower[t];
        kit_bus(k, t, 0)->load_mean = 75.0;
    }
}

static inline void case_d09(case_kit *k)
{
    kit_begin(k, 2, 0, 1, 1, 0);
    k->segments[0][0] = (cobre_deficit_segment){ 10.0, 500.0 };
    k->segments[0][1] = (cobre_deficit_segment){ INFINITY, 5000.0 };
    k->buses[0].segment_count = 2;
    kit_set_thermal(k, 0, 30.0, 10.0);
    for (size_t t = 0; t < 2; t++)
        kit_bus(k, t, 0)->load_mean = 50.0;
}

/* All costs of the case times `factor`. */
static inline void kit_scale_costs(case_kit *k, double factor)
{
    for (size_t i = 0; i < k->c.hydro_count; i++)
        k->hydros[i].inflow_nonnegativity_cost *= factor;
    for (size_t i = 0; i < k->c.bus_count; i++)
        for (size_t s = 0; s < k->buses[i].segment_count; s++)
            k->segments[i][s].cost *= factor;
    for (size_t i = 0; i < k->c.stage_count * k->c.hydro_count; i++) {
        cobre_hydro_stage *at = &k->hydro_stages[i];
        double *const costs[] = { &at->spillage_cost,        &at->diversion_cost,
                                  &at->turbined_below_cost,  &at->outflow_below_cost,
                                  &at->outflow_above_cost,   &at->generation_below_cost,
                                  &at->withdrawal_pos_cost,  &at->withdrawal_neg_cost,
                                  &at->storage_below_cost,   &at->filling_target_cost,
                                  &at->evaporation_pos_cost, &at->evaporation_neg_cost,
                                  &at->fpha_turbined_cost };
        for (size_t c = 0; c < sizeof costs / sizeof costs[0]; c++)
            *costs[c] *= factor;
    }
    for (size_t i = 0; i < k->c.stage_count * k->c.thermal_count; i++)
        k->thermal_stages[i].cost_per_mwh *= factor;
    for (size_t i = 0; i < k->c.stage_count * k->c.line_count; i++)
        k->line_stages[i].exchange_cost *= factor;
    for (size_t i = 0; i < k->c.stage_count * k->c.bus_count; i++)
        k->bus_stages[i].excess_cost *= factor;
}

/* Blocks of a stage with their hours; the stage's hours become their sum. */
static inline void kit_set_blocks(case_kit *k, size_t t, size_t count, const double *hours)
{
    k->stages[t].block_count = count;
    k->stages[t].hours = 0.0;
    for (size_t i = 0; i < count; i++) {
        k->blocks[t][i] = (cobre_block){ (uint32_t)i, "BLOCK", hours[i] };
        k->stages[t].hours += hours[i];
    }
}

static inline void kit_wide_plants(case_kit *k)
{
    for (size_t h = 0; h < k->c.hydro_count; h++) {
        double size = 40.0 + 13.0 * (double)(h % 5);
        k->hydros[h].downstream = h % 4 == 3 || h + 1 == k->c.hydro_count ? COBRE_NONE : h + 1;
        k->hydros[h].bus = h % 2;
        kit_set_productivity(k, h, 0.6 + 0.05 * (double)(h % 7));
        kit_set_hydro(k, h, 2.0 * size, 6.0 * size, size, 300.0);
        for (size_t t = 0; t < k->c.stage_count; t++) {
            cobre_hydro_stage *at = kit_hydro(k, t, h);
            at->inflow_mean = 18.0 + (double)((h * 7 + t * 5) % 11);
            at->inflow_std = 0.4 * at->inflow_mean;
            at->spillage_cost = 0.01 + 0.001 * (double)h;
        }
    }
    for (size_t i = 0; i < k->c.thermal_count; i++) {
        kit_set_thermal(k, i, 60.0 + 10.0 * (double)i, 20.0 + 17.0 * (double)i);
        k->thermals[i].bus = i % 2;
    }
}

/* Many plants on two buses, three blocks, stochastic load: enough pivots for roundings to show. */
static inline void case_wide(case_kit *k, size_t stages, size_t hydros)
{
    static const double hours[] = { 120.0, 400.0, 210.0 };
    static const double factor[] = { 1.3, 1.0, 0.8 };

    kit_begin(k, stages, hydros, 6, 2, 1);
    k->c.config.forward_passes = 3;
    k->c.config.inflow_method = COBRE_INFLOW_TRUNCATION;
    k->c.config.simulation_enabled = true;
    k->c.config.simulation_scenarios = 11;
    k->lines[0] = (cobre_line){ .name = "L", .source = 0, .target = 1 };
    kit_wide_plants(k);
    for (size_t t = 0; t < stages; t++) {
        kit_set_blocks(k, t, 3, hours);
        k->stages[t].openings = 6;
        k->stages[t].discount = 0.99;
        *kit_line(k, t, 0) = (cobre_line_stage){ .direct_mw = 80.0,
                                                 .reverse_mw = 60.0,
                                                 .exchange_cost = 0.5 };
        for (size_t b = 0; b < 2; b++) {
            kit_bus(k, t, b)->load_mean = 30.0 * (double)hydros;
            kit_bus(k, t, b)->load_std = b ? 20.0 : 0.0;
            kit_bus(k, t, b)->load_factor = factor;
        }
    }
    k->bus_is_stochastic[1] = true;
}

#endif
