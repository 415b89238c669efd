/*
 * registries.c - fills the registries but the hydros: ids become indices, defaults are filled in.
 *
 * Source: the case page, section 6.
 */
#include "case/build/builder.h"

static size_t index_of(const cobre_builder *b, cobre_registry registry, int64_t id)
{
    return cobre_input_index(b->input, registry, id);
}

static void set_buses(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_BUSES];
    const cobre_raw_penalties *penalties = &b->input->penalties;
    const cobre_raw_bus *raw = items->items;
    cobre_bus *buses = cobre_make(b, items->count, sizeof *buses);

    for (size_t i = 0; i < items->count && buses; i++) {
        bool own = raw[i].segment_count > 0;
        buses[i] = (cobre_bus){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .segments = own ? raw[i].segments : penalties->segments,
            .segment_count = own ? raw[i].segment_count : penalties->segment_count,
        };
    }
    b->built->buses = buses;
    b->built->bus_count = items->count;
}

static void set_lines(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_LINES];
    const cobre_raw_line *raw = items->items;
    cobre_line *lines = cobre_make(b, items->count, sizeof *lines);

    for (size_t i = 0; i < items->count && lines; i++) {
        lines[i] = (cobre_line){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .source = index_of(b, COBRE_BUSES, raw[i].source),
            .target = index_of(b, COBRE_BUSES, raw[i].target),
            .direct_mw = raw[i].direct,
            .reverse_mw = raw[i].reverse,
            .losses_percent = b->is_original ? 0 : raw[i].losses,
        };
    }
    b->built->lines = lines;
    b->built->line_count = items->count;
}

static void set_thermals(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_THERMALS];
    const cobre_raw_thermal *raw = items->items;
    cobre_thermal *thermals = cobre_make(b, items->count, sizeof *thermals);

    for (size_t i = 0; i < items->count && thermals; i++) {
        thermals[i] = (cobre_thermal){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .bus = index_of(b, COBRE_BUSES, raw[i].bus),
            .min_mw = raw[i].min,
            .max_mw = raw[i].max,
            .cost_per_mwh = raw[i].cost,
        };
    }
    b->built->thermals = thermals;
    b->built->thermal_count = items->count;
}

static void set_sources(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_SOURCES];
    const cobre_table *stats = &b->input->tables[COBRE_FILE_SOURCE_STATS];
    const cobre_raw_source_plant *raw = items->items;
    cobre_source *sources = cobre_make(b, items->count, sizeof *sources);

    for (size_t i = 0; i < items->count && sources; i++) {
        sources[i] = (cobre_source){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .bus = index_of(b, COBRE_BUSES, raw[i].bus),
            .max_mw = raw[i].max,
        };
    }
    for (size_t row = 0; row < stats->rows && sources; row++) {
        int64_t id = cobre_table_int(stats, COBRE_COL_ENTITY, row);
        size_t source = index_of(b, COBRE_SOURCES, id);
        int64_t stage = cobre_table_int(stats, COBRE_COL_STAGE, row);
        if (source != COBRE_NONE && cobre_stage_index(b, stage) != COBRE_NONE)
            sources[source].is_stochastic = true;
    }
    b->built->sources = sources;
    b->built->source_count = items->count;
}

static void set_stations(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_STATIONS];
    const cobre_raw_station *raw = items->items;
    cobre_station *stations = cobre_make(b, items->count, sizeof *stations);

    for (size_t i = 0; i < items->count && stations; i++) {
        stations[i] = (cobre_station){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .bus = index_of(b, COBRE_BUSES, raw[i].bus),
            .source = index_of(b, COBRE_HYDROS, raw[i].source),
            .destination = index_of(b, COBRE_HYDROS, raw[i].destination),
            .consumption = raw[i].consumption,
        };
    }
    b->built->stations = stations;
    b->built->station_count = items->count;
}

static void set_contracts(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_CONTRACTS];
    const cobre_raw_contract *raw = items->items;
    cobre_contract *contracts = cobre_make(b, items->count, sizeof *contracts);

    for (size_t i = 0; i < items->count && contracts; i++) {
        contracts[i] = (cobre_contract){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .bus = index_of(b, COBRE_BUSES, raw[i].bus),
            .is_export = raw[i].type == COBRE_CONTRACT_EXPORT,
        };
    }
    b->built->contracts = contracts;
    b->built->contract_count = items->count;
}

void cobre_build_registries(cobre_builder *b)
{
    set_buses(b);
    set_lines(b);
    set_thermals(b);
    set_sources(b);
    set_stations(b);
    set_contracts(b);
}
