/*
 * studies.c - generators of cases. Numbers vary by remainders, so that no two plants are alike.
 */
#include "support/studies.h"

void study_toy(case_kit *out, const study_shape *shape)
{
    (void)shape;
    case_1dtoy(out);
}

/* ---- the Brazilian shape --------------------------------------------------------------------- */

enum { SUBSYSTEMS = 4, NODE = SUBSYSTEMS, BRAZIL_THERMALS = 95, BRAZIL_LINES = 5 };

/* Southeast, South, Northeast, North. One MW of stored energy for a month is 2.628 hm3. */
static const struct subsystem {
    double storage, initial, turbines; /* hm3, hm3, m3/s */
    double inflow, swing, deviation;   /* mean of the year, its seasonal part, sigma by mean */
    double load;
    size_t thermals;
} subsystems[SUBSYSTEMS] = {
    { 527000.0, 156000.0, 45000.0, 35000.0, 0.55, 0.25, 45500.0, 43 },
    { 51500.0, 15400.0, 13800.0, 8500.0, 0.25, 0.55, 11700.0, 17 },
    { 136000.0, 43600.0, 9900.0, 6100.0, 0.65, 0.35, 10800.0, 33 },
    { 33200.0, 20000.0, 9300.0, 6400.0, 0.75, 0.30, 6700.0, 2 },
};

static const struct {
    size_t source, target;
    double direct, reverse;
} exchanges[BRAZIL_LINES] = {
    { 0, 1, 7300.0, 5800.0 },    { 0, 2, 1000.0, 600.0 },     { 0, NODE, 4000.0, 3100.0 },
    { 2, NODE, 2200.0, 3900.0 }, { 3, NODE, 3600.0, 1500.0 },
};

static void brazil_stage(case_kit *out, size_t t, uint32_t openings)
{
    double season = cos(2.0 * 3.14159265358979 * (double)(t % 12) / 12.0);

    out->stages[t].openings = openings;
    out->stages[t].discount = 0.9906;
    for (size_t i = 0; i < SUBSYSTEMS; i++) {
        const struct subsystem *at = &subsystems[i];
        double sign = i == 1 ? -1.0 : 1.0; /* the South has its wet season in winter */
        double mean = at->inflow * (1.0 + sign * at->swing * season);
        kit_hydro(out, t, i)->inflow_mean = mean;
        kit_hydro(out, t, i)->inflow_std = at->deviation * mean;
        kit_bus(out, t, i)->load_mean = at->load * (1.0 + 0.04 * season);
    }
    for (size_t l = 0; l < BRAZIL_LINES; l++)
        *kit_line(out, t, l) = (cobre_line_stage){ .direct_mw = exchanges[l].direct,
                                                   .reverse_mw = exchanges[l].reverse,
                                                   .exchange_cost = 0.5 };
}

void study_brazil(case_kit *out, const study_shape *shape)
{
    size_t thermal = 0;

    kit_begin(out, shape->stages, SUBSYSTEMS, BRAZIL_THERMALS, SUBSYSTEMS + 1, BRAZIL_LINES);
    out->c.config.inflow_method = COBRE_INFLOW_TRUNCATION;
    for (size_t l = 0; l < BRAZIL_LINES; l++)
        out->lines[l] = (cobre_line){ .id = (int32_t)l,
                                      .name = "L",
                                      .source = exchanges[l].source,
                                      .target = exchanges[l].target };
    for (size_t i = 0; i < SUBSYSTEMS; i++) {
        const struct subsystem *at = &subsystems[i];
        out->hydros[i].bus = i;
        kit_set_hydro(out, i, at->initial, at->storage, at->turbines, 0.0);
        for (size_t t = 0; t < shape->stages; t++)
            kit_hydro(out, t, i)->max_outflow = INFINITY;
        out->segments[i][0] = (cobre_deficit_segment){ 0.05 * at->load, 1142.8 };
        out->segments[i][1] = (cobre_deficit_segment){ 0.05 * at->load, 2465.4 };
        out->segments[i][2] = (cobre_deficit_segment){ INFINITY, 5845.5 };
        out->buses[i].segment_count = 3;
        for (size_t k = 0; k < at->thermals; k++, thermal++) {
            kit_set_thermal(out, thermal, 40.0 + (double)(thermal * 37 % 480),
                            20.0 + (double)(thermal * 71 % 1080));
            out->thermals[thermal].bus = i;
        }
    }
    for (size_t t = 0; t < shape->stages; t++)
        brazil_stage(out, t, shape->openings);
}

/* ---- cascades -------------------------------------------------------------------------------- */

static const double hours[KIT_BLOCKS] = { 120.0, 400.0, 210.0 };
static const double factors[KIT_BLOCKS] = { 1.3, 1.0, 0.8 };

static void cascade_plants(case_kit *out)
{
    for (size_t h = 0; h < out->c.hydro_count; h++) {
        double size = 40.0 + 13.0 * (double)(h % 5);
        out->hydros[h].id = (int32_t)h;
        out->hydros[h].downstream = h % 4 < 3 && h + 1 < out->c.hydro_count ? h + 1 : COBRE_NONE;
        out->hydros[h].bus = h % out->c.bus_count;
        kit_set_productivity(out, h, 0.6 + 0.05 * (double)(h % 7));
        kit_set_hydro(out, h, 2.0 * size, 6.0 * size, 2.0 * size, 0.0);
        for (size_t t = 0; t < out->c.stage_count; t++) {
            cobre_hydro_stage *at = kit_hydro(out, t, h);
            at->max_outflow = INFINITY;
            at->inflow_mean = 18.0 + (double)((h * 7 + t * 5) % 11);
            at->inflow_std = 0.4 * at->inflow_mean;
            at->spillage_cost = 0.01 + 0.001 * (double)(h % 11);
        }
    }
    for (size_t i = 0; i < out->c.thermal_count; i++) {
        kit_set_thermal(out, i, 20.0 + 5.0 * (double)(i % 10), 20.0 + 11.0 * (double)i);
        out->thermals[i].bus = i % out->c.bus_count;
    }
}

/* What the plants generate of mean inflows, and half of the thermals. */
static double cascade_load(const case_kit *kit)
{
    double load = 0.0, arriving = 0.0;

    for (size_t h = 0; h < kit->c.hydro_count; h++) {
        bool is_first = h % 4 == 0;
        arriving = 23.0 + (is_first ? 0.0 : arriving); /* of the mean over the stages */
        load += kit->hydros[h].productivity * arriving;
    }
    for (size_t i = 0; i < kit->c.thermal_count; i++)
        load += 0.5 * kit->thermals[i].max_mw;
    return load;
}

/* A ring without its last line. */
static void cascade_grid(case_kit *out, const study_shape *shape)
{
    double load = cascade_load(out);

    for (size_t l = 0; l < out->c.line_count; l++)
        out->lines[l] = (cobre_line){ (int32_t)l, .name = "L", .source = l, .target = l + 1 };
    for (size_t t = 0; t < shape->stages; t++) {
        for (size_t l = 0; l < out->c.line_count; l++)
            *kit_line(out, t, l) = (cobre_line_stage){ .direct_mw = 0.2 * load,
                                                       .reverse_mw = 0.2 * load,
                                                       .exchange_cost = 0.5 };
        for (size_t b = 0; b < shape->buses; b++) {
            cobre_bus_stage *at = kit_bus(out, t, b);
            at->load_mean = load / (double)shape->buses + 3.0 * (double)((t + b) % 12);
            at->load_factor = shape->blocks > 1 ? factors : NULL;
        }
    }
}

static void give_memory(case_kit *out, uint32_t lags)
{
    static cobre_ar_row rows[KIT_STAGES * KIT_ENTITIES * STUDY_LAGS_MAX];
    static double past[KIT_ENTITIES][STUDY_LAGS_MAX];
    size_t count = 0;

    for (size_t h = 0; h < out->c.hydro_count; h++) {
        for (uint32_t l = 0; l < lags; l++)
            past[h][l] = 15.0 + (double)((h + 3 * l) % 13);
        out->hydros[h].past_inflow = past[h];
        out->hydros[h].past_inflow_count = lags;
    }
    for (size_t t = 0; t < out->c.stage_count; t++) {
        out->stages[t].has_season = true;
        for (size_t h = 0; h < out->c.hydro_count; h++)
            for (uint32_t l = 1; l <= lags; l++)
                rows[count++] = (cobre_ar_row){ h, (int32_t)t, l, 0.4 / (double)(l * l), 0.8 };
    }
    out->c.scenarios.ar = rows;
    out->c.scenarios.ar_count = count;
}

void study_cascades(case_kit *out, const study_shape *shape)
{
    kit_begin(out, shape->stages, shape->hydros, shape->thermals, shape->buses, shape->buses - 1);
    out->c.config.inflow_method = COBRE_INFLOW_TRUNCATION;
    cascade_plants(out);
    cascade_grid(out, shape);
    for (size_t t = 0; t < shape->stages; t++) {
        out->stages[t].openings = shape->openings;
        out->stages[t].discount = 0.99;
        if (shape->blocks > 1)
            kit_set_blocks(out, t, shape->blocks, hours);
    }
    if (shape->lags > 0)
        give_memory(out, shape->lags);
}
