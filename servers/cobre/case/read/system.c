/*
 * system.c - reads the registries of system/: buses, lines, hydros, thermals and the rarer ones.
 *
 * One function reads any registry: a table has the key of its array, the size and members of its
 * records, and a function for the rest. The records are sorted by id. Source: the case page,
 * section 6.
 */
#include <stdio.h>

#include "case/read/readers.h"

struct registry {
    cobre_registry id;
    cobre_file_id file;
    const char *key; /* of the array in the file */
    const cobre_field *fields;
    size_t size;                                      /* of a record */
    void (*more)(cobre_reader *reader, void *record); /* may be NULL */
};

#define REQ COBRE_REQUIRED
#define NOT_NEG COBRE_NOT_NEGATIVE
#define MOST COBRE_UNBOUNDED

/* ---- buses and lines ------------------------------------------------------------------------- */

/* clang-format off */
static const cobre_field bus_fields[] = {
    COBRE_F(cobre_raw_bus, "id", INT32, REQ, head.id),
    COBRE_F(cobre_raw_bus, "name", TEXT, REQ, head.name),
    COBRE_F(cobre_raw_bus, "deficit_segments", ARRAY, COBRE_OPTIONAL, segments_json),
    COBRE_FIELDS_END
};
/* clang-format on */

static void read_bus_segments(cobre_reader *reader, void *record)
{
    cobre_raw_bus *raw = record;

    if (raw->segments_json)
        cobre_read_segments(reader, raw->segments_json, "deficit_segments", &raw->segments,
                            &raw->segment_count);
}

static const cobre_field line_fields[] = {
    COBRE_F(cobre_raw_line, "id", INT32, REQ, head.id),
    COBRE_F(cobre_raw_line, "name", TEXT, REQ, head.name),
    COBRE_R(cobre_raw_line, "source_bus_id", REQ, source, COBRE_BUSES),
    COBRE_R(cobre_raw_line, "target_bus_id", REQ, target, COBRE_BUSES),
    COBRE_F(cobre_raw_line, "capacity.direct_mw", REAL, REQ | NOT_NEG | MOST, direct),
    COBRE_F(cobre_raw_line, "capacity.reverse_mw", REAL, REQ | NOT_NEG | MOST, reverse),
    COBRE_F(cobre_raw_line, "exchange_cost", REAL, COBRE_OPTIONAL | NOT_NEG, exchange_cost),
    COBRE_P(cobre_raw_line, "losses_percent", REAL, NOT_NEG, losses, 0),
    COBRE_F(cobre_raw_line, "entry_stage_id", INT32, COBRE_OPTIONAL, entry),
    COBRE_F(cobre_raw_line, "exit_stage_id", INT32, COBRE_OPTIONAL, exit),
    COBRE_FIELDS_END
};

/* ---- hydros ---------------------------------------------------------------------------------- */

static const char *const models[] = { "constant_productivity", "linearized_head", "fpha", NULL };

#define HYDRO(path, type, flags, member) COBRE_F(cobre_raw_hydro, path, type, flags, member)
#define COST(key, index)                                                                           \
    COBRE_F(cobre_raw_hydro, "penalties." key, REAL, COBRE_OPTIONAL | NOT_NEG, costs[index])

static const cobre_field hydro_fields[] = {
    HYDRO("id", INT32, REQ, head.id), HYDRO("name", TEXT, REQ, head.name),
    COBRE_R(cobre_raw_hydro, "bus_id", REQ, bus, COBRE_BUSES),
    COBRE_R(cobre_raw_hydro, "downstream_id", COBRE_OPTIONAL, downstream, COBRE_HYDROS),
    HYDRO("entry_stage_id", INT32, COBRE_OPTIONAL, entry),
    HYDRO("exit_stage_id", INT32, COBRE_OPTIONAL, exit),
    HYDRO("reservoir.min_storage_hm3", REAL, REQ | NOT_NEG, min_storage),
    HYDRO("reservoir.max_storage_hm3", REAL, REQ | NOT_NEG | MOST, max_storage),
    HYDRO("outflow.min_outflow_m3s", REAL, REQ | NOT_NEG, min_outflow),
    HYDRO("outflow.max_outflow_m3s", REAL, COBRE_OPTIONAL | MOST, max_outflow),
    COBRE_C(cobre_raw_hydro, "generation.model", REQ, model, models, -1),
    HYDRO("generation.productivity_mw_per_m3s", REAL, COBRE_OPTIONAL | NOT_NEG, productivity),
    HYDRO("generation.min_turbined_m3s", REAL, REQ | NOT_NEG, min_turbined),
    HYDRO("generation.max_turbined_m3s", REAL, REQ | NOT_NEG | MOST, max_turbined),
    HYDRO("generation.min_generation_mw", REAL, REQ, min_generation),
    HYDRO("generation.max_generation_mw", REAL, REQ | MOST, max_generation),
    HYDRO("tailrace", OBJECT, COBRE_OPTIONAL, tailrace_json),
    HYDRO("hydraulic_losses", OBJECT, COBRE_OPTIONAL, losses_json),
    HYDRO("efficiency", OBJECT, COBRE_OPTIONAL, efficiency_json),
    HYDRO("evaporation", OBJECT, COBRE_OPTIONAL, evaporation_json),
    HYDRO("diversion", OBJECT, COBRE_OPTIONAL, diversion),
    COBRE_R(cobre_raw_hydro, "diversion.downstream_id", COBRE_WITHIN, diversion_downstream,
            COBRE_HYDROS),
    HYDRO("diversion.max_flow_m3s", REAL, COBRE_WITHIN | NOT_NEG | MOST, diversion_max),
    HYDRO("filling", OBJECT, COBRE_OPTIONAL, filling),
    HYDRO("filling.start_stage_id", INT32, COBRE_WITHIN, filling_start),
    COBRE_P(cobre_raw_hydro, "filling.filling_inflow_m3s", REAL, NOT_NEG, filling_inflow, 0),
    COST("spillage_cost", COBRE_COST_SPILLAGE), COST("diversion_cost", COBRE_COST_DIVERSION),
    /* of hydros with planes alone; validate/models.c refuses a negative one there */
    HYDRO("penalties.fpha_turbined_cost", REAL, COBRE_OPTIONAL, costs[COBRE_COST_FPHA_TURBINED]),
    COST("storage_violation_below_cost", COBRE_COST_STORAGE_BELOW),
    COST("filling_target_violation_cost", COBRE_COST_FILLING_TARGET),
    COST("turbined_violation_below_cost", COBRE_COST_TURBINED_BELOW),
    COST("outflow_violation_below_cost", COBRE_COST_OUTFLOW_BELOW),
    COST("outflow_violation_above_cost", COBRE_COST_OUTFLOW_ABOVE),
    COST("generation_violation_below_cost", COBRE_COST_GENERATION_BELOW),
    COST("evaporation_violation_cost", COBRE_COST_EVAPORATION),
    COST("water_withdrawal_violation_cost", COBRE_COST_WITHDRAWAL),
    COST("inflow_nonnegativity_cost", COBRE_COST_INFLOW), COBRE_FIELDS_END
};

static void check_hydro(cobre_reader *reader, void *record)
{
    cobre_raw_hydro *hydro = record;

    if (hydro->model != COBRE_MODEL_FPHA && isnan(hydro->productivity))
        cobre_reader_missing(reader, "generation.productivity_mw_per_m3s");
    cobre_read_head(reader, hydro);
}

/* ---- thermals and the rarer ones ------------------------------------------------------------- */

struct thermal_members {
    cobre_raw_thermal kept;
    int64_t lag_stages;
};

static const cobre_field thermal_fields[] = {
    COBRE_F(cobre_raw_thermal, "id", INT32, REQ, head.id),
    COBRE_F(cobre_raw_thermal, "name", TEXT, REQ, head.name),
    COBRE_R(cobre_raw_thermal, "bus_id", REQ, bus, COBRE_BUSES),
    COBRE_F(cobre_raw_thermal, "cost_per_mwh", REAL, REQ | NOT_NEG, cost),
    COBRE_F(cobre_raw_thermal, "generation.min_mw", REAL, REQ | NOT_NEG, min),
    COBRE_F(cobre_raw_thermal, "generation.max_mw", REAL, REQ | NOT_NEG | MOST, max),
    COBRE_F(cobre_raw_thermal, "entry_stage_id", INT32, COBRE_OPTIONAL, entry),
    COBRE_F(cobre_raw_thermal, "exit_stage_id", INT32, COBRE_OPTIONAL, exit),
    COBRE_F(cobre_raw_thermal, "gnl_config", OBJECT, COBRE_OPTIONAL, gnl),
    COBRE_FIELDS_END
};

static const cobre_field gnl_fields[] = {
    COBRE_F(struct thermal_members, "lag_stages", INT32, REQ, lag_stages), COBRE_FIELDS_END
};

static void check_gnl(cobre_reader *reader, void *record)
{
    const cobre_raw_thermal *thermal = record;
    struct thermal_members members;

    if (thermal->gnl)
        cobre_read_fields(reader, thermal->gnl, "gnl_config.", gnl_fields, &members);
}

static const cobre_field source_fields[] = {
    COBRE_F(cobre_raw_source_plant, "id", INT32, REQ, head.id),
    COBRE_F(cobre_raw_source_plant, "name", TEXT, REQ, head.name),
    COBRE_R(cobre_raw_source_plant, "bus_id", REQ, bus, COBRE_BUSES),
    COBRE_F(cobre_raw_source_plant, "max_generation_mw", REAL, REQ | NOT_NEG, max),
    COBRE_F(cobre_raw_source_plant, "entry_stage_id", INT32, COBRE_OPTIONAL, entry),
    COBRE_F(cobre_raw_source_plant, "exit_stage_id", INT32, COBRE_OPTIONAL, exit),
    COBRE_F(cobre_raw_source_plant, "curtailment_cost", REAL, COBRE_OPTIONAL | NOT_NEG,
            curtailment_cost),
    COBRE_FIELDS_END
};

static const cobre_field station_fields[] = {
    COBRE_F(cobre_raw_station, "id", INT32, REQ, head.id),
    COBRE_F(cobre_raw_station, "name", TEXT, REQ, head.name),
    COBRE_R(cobre_raw_station, "bus_id", REQ, bus, COBRE_BUSES),
    COBRE_R(cobre_raw_station, "source_hydro_id", REQ, source, COBRE_HYDROS),
    COBRE_R(cobre_raw_station, "destination_hydro_id", REQ, destination, COBRE_HYDROS),
    COBRE_F(cobre_raw_station, "consumption_mw_per_m3s", REAL, REQ | NOT_NEG, consumption),
    COBRE_F(cobre_raw_station, "flow.min_m3s", REAL, REQ | NOT_NEG, min),
    COBRE_F(cobre_raw_station, "flow.max_m3s", REAL, REQ | NOT_NEG | MOST, max),
    COBRE_F(cobre_raw_station, "entry_stage_id", INT32, COBRE_OPTIONAL, entry),
    COBRE_F(cobre_raw_station, "exit_stage_id", INT32, COBRE_OPTIONAL, exit),
    COBRE_FIELDS_END
};

static const char *const contract_types[] = { "import", "export", NULL };

static const cobre_field contract_fields[] = {
    COBRE_F(cobre_raw_contract, "id", INT32, REQ, head.id),
    COBRE_F(cobre_raw_contract, "name", TEXT, REQ, head.name),
    COBRE_R(cobre_raw_contract, "bus_id", REQ, bus, COBRE_BUSES),
    COBRE_C(cobre_raw_contract, "type", REQ, type, contract_types, -1),
    COBRE_F(cobre_raw_contract, "price_per_mwh", REAL, REQ, price),
    COBRE_F(cobre_raw_contract, "limits.min_mw", REAL, REQ | NOT_NEG, min),
    COBRE_F(cobre_raw_contract, "limits.max_mw", REAL, REQ | NOT_NEG | MOST, max),
    COBRE_F(cobre_raw_contract, "entry_stage_id", INT32, COBRE_OPTIONAL, entry),
    COBRE_F(cobre_raw_contract, "exit_stage_id", INT32, COBRE_OPTIONAL, exit),
    COBRE_FIELDS_END
};

/* ---- any registry ---------------------------------------------------------------------------- */

static const struct registry registries[] = {
    { COBRE_BUSES, COBRE_FILE_BUSES, "buses", bus_fields, sizeof(cobre_raw_bus),
      read_bus_segments },
    { COBRE_LINES, COBRE_FILE_LINES, "lines", line_fields, sizeof(cobre_raw_line), NULL },
    { COBRE_HYDROS, COBRE_FILE_HYDROS, "hydros", hydro_fields, sizeof(cobre_raw_hydro),
      check_hydro },
    { COBRE_THERMALS, COBRE_FILE_THERMALS, "thermals", thermal_fields, sizeof(cobre_raw_thermal),
      check_gnl },
    { COBRE_SOURCES, COBRE_FILE_SOURCES, "non_controllable_sources", source_fields,
      sizeof(cobre_raw_source_plant), NULL },
    { COBRE_STATIONS, COBRE_FILE_STATIONS, "pumping_stations", station_fields,
      sizeof(cobre_raw_station), NULL },
    { COBRE_CONTRACTS, COBRE_FILE_CONTRACTS, "contracts", contract_fields,
      sizeof(cobre_raw_contract), NULL },
};

/* The members that refer to other registries, for layer 3. */
const cobre_field *cobre_registry_fields(cobre_registry registry)
{
    for (size_t i = 0; i < sizeof registries / sizeof registries[0]; i++) {
        if (registries[i].id == registry)
            return registries[i].fields;
    }
    return NULL;
}

static void read_record(cobre_reader *reader, const mcp_json *json, size_t index,
                        const struct registry *registry, void *record)
{
    char path[64];

    snprintf(path, sizeof path, "%s[%zu]", registry->key, index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    cobre_reader_entity(reader, cobre_registry_noun(registry->id), json);
    cobre_read_fields(reader, json, "", registry->fields, record);
    if (!reader->failed && registry->more)
        registry->more(reader, record);
    cobre_reader_entity(reader, NULL, NULL);
}

static void read_registry(cobre_reader *reader, const mcp_json *root, cobre_registry id,
                          cobre_input *input)
{
    const struct registry *registry = registries;
    const mcp_json *array = NULL;
    int64_t twice = 0;

    while (registry->id != id)
        registry++;
    const cobre_field fields[] = { { registry->key, COBRE_FIELD_ARRAY, REQ, 0, 0, false,
                                     COBRE_NO_REGISTRY, NULL },
                                   COBRE_FIELDS_END };
    cobre_read_fields(reader, root, "", fields, &array);
    if (reader->failed)
        return;
    size_t count = mcp_json_count(array);
    char *items = cobre_reader_array(reader, count, registry->size);
    for (size_t i = 0; i < count && !reader->failed; i++)
        read_record(reader, mcp_json_item(array, i), i, registry, items + i * registry->size);
    if (!reader->failed && !cobre_registry_sort(items, count, registry->size, &twice)) {
        reader->noun = cobre_registry_noun(id);
        cobre_reader_duplicate(reader, "id", twice, reader->file);
    }
    if (reader->failed)
        return;
    input->registries[id] = (cobre_registry_items){ items, count, registry->size };
    input->entries[registry->file] = count;
}

void cobre_read_buses(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_BUSES, input);
}

void cobre_read_lines(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_LINES, input);
}

void cobre_read_hydros(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_HYDROS, input);
}

void cobre_read_thermals(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_THERMALS, input);
}

void cobre_read_sources(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_SOURCES, input);
}

void cobre_read_stations(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_STATIONS, input);
}

void cobre_read_contracts(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    read_registry(reader, root, COBRE_CONTRACTS, input);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const cobre_joint bus_joints[] = { { "deficit_segments", &cobre_shape_segments },
                                          { NULL, NULL } };
static const cobre_joint hydro_joints[] = {
    { "tailrace", &cobre_shape_tailrace },
    { "hydraulic_losses", &cobre_shape_losses },
    { "efficiency", &cobre_shape_efficiency },
    { "evaporation", &cobre_shape_evaporation },
    { NULL, NULL },
};
static const cobre_shape gnl = { .tables = { gnl_fields } };
static const cobre_joint thermal_joints[] = { { "gnl_config", &gnl }, { NULL, NULL } };

static const cobre_shape bus = { .tables = { bus_fields }, .joints = bus_joints };
static const cobre_shape line = { .tables = { line_fields } };
static const cobre_shape hydro_shape = { .tables = { hydro_fields }, .joints = hydro_joints };
static const cobre_shape thermal = { .tables = { thermal_fields }, .joints = thermal_joints };
static const cobre_shape source = { .tables = { source_fields } };
static const cobre_shape station = { .tables = { station_fields } };
static const cobre_shape contract = { .tables = { contract_fields } };

const cobre_shape cobre_shape_buses = { .key = "buses", .of = &bus };
const cobre_shape cobre_shape_lines = { .key = "lines", .of = &line };
const cobre_shape cobre_shape_hydros = { .key = "hydros", .of = &hydro_shape };
const cobre_shape cobre_shape_thermals = { .key = "thermals", .of = &thermal };
const cobre_shape cobre_shape_sources = { .key = "non_controllable_sources", .of = &source };
const cobre_shape cobre_shape_stations = { .key = "pumping_stations", .of = &station };
const cobre_shape cobre_shape_contracts = { .key = "contracts", .of = &contract };
