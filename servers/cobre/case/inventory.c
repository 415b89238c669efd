/*
 * inventory.c - the table of the 40 paths, and of the columns of those that are Parquet.
 *
 * These tables are all that layer 2 needs to know of a Parquet file; layer 3 reads the `refers`
 * column. An override has the limits of the entity's own value. inventory.h numbers the columns, in
 * the same order. Source: the case page, sections 1, 6.8, 6.10, 7 and 8.
 */
#include "case/inventory.h"

/* clang-format off */
#define INT(name, flags, registry) { name, COLUMNS_I32, flags, registry }
#define UINT(name, flags) { name, COLUMNS_U32, flags, COBRE_NO_REGISTRY }
#define REAL(name, flags) { name, COLUMNS_F64, flags, COBRE_NO_REGISTRY }
#define ID(name, registry) INT(name, COBRE_REQUIRED, registry)
#define STAGE ID("stage_id", COBRE_NO_REGISTRY)
#define END { NULL, COLUMNS_OTHER, 0, COBRE_NO_REGISTRY }
/* clang-format on */

enum {
    REQ = COBRE_REQUIRED,
    NOT_NEG = COBRE_NOT_NEGATIVE,
    POS = COBRE_POSITIVE,
    ANY = 0,
    MOST = COBRE_UNBOUNDED
};

/* clang-format off */
static const cobre_column geometry[] = {
    ID("hydro_id", COBRE_HYDROS), REAL("volume_hm3", REQ | NOT_NEG),
    REAL("height_m", REQ | NOT_NEG), REAL("area_km2", REQ | NOT_NEG), END
};
static const cobre_column hyperplanes[] = {
    ID("hydro_id", COBRE_HYDROS), INT("stage_id", ANY, COBRE_NO_REGISTRY),
    ID("plane_id", COBRE_NO_REGISTRY), REAL("gamma_0", REQ), REAL("gamma_v", REQ),
    REAL("gamma_q", REQ), REAL("gamma_s", REQ), REAL("kappa", ANY), REAL("valid_v_min_hm3", MOST),
    REAL("valid_v_max_hm3", MOST), REAL("valid_q_max_m3s", MOST), END
};
static const cobre_column history[] = {
    ID("hydro_id", COBRE_HYDROS), { "date", COLUMNS_DATE, REQ, COBRE_NO_REGISTRY },
    REAL("value_m3s", REQ), END
};
static const cobre_column inflow_stats[] = {
    ID("hydro_id", COBRE_HYDROS), STAGE, REAL("mean_m3s", REQ), REAL("std_m3s", REQ | NOT_NEG), END
};
static const cobre_column ar[] = {
    ID("hydro_id", COBRE_HYDROS), STAGE, INT("lag", REQ | POS, COBRE_NO_REGISTRY),
    REAL("coefficient", REQ), REAL("residual_std_ratio", REQ | POS | COBRE_AT_MOST_ONE), END
};
static const cobre_column annual[] = {
    ID("hydro_id", COBRE_HYDROS), STAGE, REAL("annual_coefficient", REQ),
    REAL("annual_mean_m3s", REQ), REAL("annual_std_m3s", REQ | POS), END
};
static const cobre_column external_inflow[] = {
    INT("stage_id", REQ | NOT_NEG, COBRE_NO_REGISTRY),
    INT("scenario_id", REQ | NOT_NEG, COBRE_NO_REGISTRY), ID("hydro_id", COBRE_HYDROS),
    REAL("value_m3s", REQ), END
};
static const cobre_column external_load[] = {
    INT("stage_id", REQ | NOT_NEG, COBRE_NO_REGISTRY),
    INT("scenario_id", REQ | NOT_NEG, COBRE_NO_REGISTRY), ID("bus_id", COBRE_BUSES),
    REAL("value_mw", REQ), END
};
static const cobre_column external_ncs[] = {
    INT("stage_id", REQ | NOT_NEG, COBRE_NO_REGISTRY),
    INT("scenario_id", REQ | NOT_NEG, COBRE_NO_REGISTRY), ID("ncs_id", COBRE_SOURCES),
    REAL("value", REQ), END
};
static const cobre_column load_stats[] = {
    ID("bus_id", COBRE_BUSES), STAGE, REAL("mean_mw", REQ), REAL("std_mw", REQ | NOT_NEG), END
};
static const cobre_column openings[] = {
    STAGE, UINT("opening_index", REQ), UINT("entity_index", REQ), REAL("value", REQ), END
};
static const cobre_column source_stats[] = {
    ID("ncs_id", COBRE_SOURCES), STAGE, REAL("mean", REQ | COBRE_UNIT), REAL("std", REQ | NOT_NEG),
    END
};
static const cobre_column thermal_bounds[] = {
    ID("thermal_id", COBRE_THERMALS), STAGE, INT("block_id", ANY, COBRE_NO_REGISTRY),
    REAL("min_generation_mw", NOT_NEG), REAL("max_generation_mw", NOT_NEG | MOST),
    REAL("cost_per_mwh", NOT_NEG),
    END
};
static const cobre_column hydro_bounds[] = {
    ID("hydro_id", COBRE_HYDROS), STAGE, REAL("min_turbined_m3s", NOT_NEG),
    REAL("max_turbined_m3s", NOT_NEG | MOST), REAL("min_storage_hm3", NOT_NEG), REAL("max_storage_hm3", NOT_NEG | MOST),
    REAL("min_outflow_m3s", NOT_NEG), REAL("max_outflow_m3s", NOT_NEG | MOST), REAL("min_generation_mw", ANY),
    REAL("max_generation_mw", MOST), REAL("water_withdrawal_m3s", ANY),
    REAL("max_diversion_m3s", MOST), REAL("filling_inflow_m3s", NOT_NEG), END
};
static const cobre_column line_bounds[] = {
    ID("line_id", COBRE_LINES), STAGE, REAL("direct_mw", NOT_NEG | MOST), REAL("reverse_mw", NOT_NEG | MOST), END
};
static const cobre_column pumping_bounds[] = {
    ID("station_id", COBRE_STATIONS), STAGE, REAL("min_m3s", NOT_NEG), REAL("max_m3s", NOT_NEG | MOST), END
};
static const cobre_column contract_bounds[] = {
    ID("contract_id", COBRE_CONTRACTS), STAGE, REAL("min_mw", NOT_NEG), REAL("max_mw", NOT_NEG | MOST),
    REAL("price_per_mwh", ANY), END
};
static const cobre_column source_bounds[] = {
    ID("ncs_id", COBRE_SOURCES), ID("stage_id", COBRE_STUDY_STAGES),
    REAL("available_generation_mw", REQ | NOT_NEG), END
};
static const cobre_column constraint_bounds[] = {
    ID("constraint_id", COBRE_CONSTRAINTS), STAGE, INT("block_id", ANY, COBRE_NO_REGISTRY),
    REAL("bound", REQ), END
};
static const cobre_column penalty_bus[] = {
    ID("bus_id", COBRE_BUSES), STAGE, REAL("excess_cost", POS), END
};
static const cobre_column penalty_line[] = {
    ID("line_id", COBRE_LINES), STAGE, REAL("exchange_cost", POS), END
};
static const cobre_column penalty_hydro[] = { /* after the two keys as in cobre_cost */
    ID("hydro_id", COBRE_HYDROS), STAGE, REAL("spillage_cost", POS),
    REAL("fpha_turbined_cost", POS), REAL("diversion_cost", POS),
    REAL("storage_violation_below_cost", POS), REAL("filling_target_violation_cost", POS),
    REAL("turbined_violation_below_cost", POS), REAL("outflow_violation_below_cost", POS),
    REAL("outflow_violation_above_cost", POS), REAL("generation_violation_below_cost", POS),
    REAL("evaporation_violation_cost", POS), REAL("water_withdrawal_violation_cost", POS), END
};
static const cobre_column penalty_ncs[] = {
    ID("source_id", COBRE_SOURCES), STAGE, REAL("curtailment_cost", POS), END
};

#define TABLE(columns, keys, repeats)                                                              \
    (&(const cobre_table_spec){ columns, keys, COBRE_REPEATS_##repeats })
#define JSON(path, required) { path, required, NULL }
#define PARQUET(path, columns, keys, repeats) { path, false, TABLE(columns, keys, repeats) }

const cobre_file cobre_files_known[COBRE_FILE_COUNT] = {
    [COBRE_FILE_CONFIG] = JSON("config.json", true),
    [COBRE_FILE_PENALTIES] = JSON("penalties.json", true),
    [COBRE_FILE_STAGES] = JSON("stages.json", true),
    [COBRE_FILE_INITIAL] = JSON("initial_conditions.json", true),
    [COBRE_FILE_BUSES] = JSON("system/buses.json", true),
    [COBRE_FILE_LINES] = JSON("system/lines.json", true),
    [COBRE_FILE_HYDROS] = JSON("system/hydros.json", true),
    [COBRE_FILE_THERMALS] = JSON("system/thermals.json", true),
    [COBRE_FILE_SOURCES] = JSON("system/non_controllable_sources.json", false),
    [COBRE_FILE_STATIONS] = JSON("system/pumping_stations.json", false),
    [COBRE_FILE_CONTRACTS] = JSON("system/energy_contracts.json", false),
    [COBRE_FILE_GEOMETRY] = PARQUET("system/hydro_geometry.parquet", geometry, 2, ALLOWED),
    [COBRE_FILE_MODELS] = JSON("system/hydro_production_models.json", false),
    [COBRE_FILE_HYPERPLANES] = PARQUET("system/fpha_hyperplanes.parquet", hyperplanes, 3, REFUSED),
    [COBRE_FILE_HISTORY] = PARQUET("scenarios/inflow_history.parquet", history, 2, REFUSED),
    [COBRE_FILE_INFLOW_STATS] =
        PARQUET("scenarios/inflow_seasonal_stats.parquet", inflow_stats, 2, REFUSED),
    [COBRE_FILE_AR] = PARQUET("scenarios/inflow_ar_coefficients.parquet", ar, 3, REFUSED),
    [COBRE_FILE_ANNUAL] = PARQUET("scenarios/inflow_annual_component.parquet", annual, 2, REFUSED),
    [COBRE_FILE_EXTERNAL_INFLOW] =
        PARQUET("scenarios/external_inflow_scenarios.parquet", external_inflow, 3, REFUSED),
    [COBRE_FILE_EXTERNAL_LOAD] =
        PARQUET("scenarios/external_load_scenarios.parquet", external_load, 3, REFUSED),
    [COBRE_FILE_EXTERNAL_NCS] =
        PARQUET("scenarios/external_ncs_scenarios.parquet", external_ncs, 3, REFUSED),
    [COBRE_FILE_LOAD_STATS] =
        PARQUET("scenarios/load_seasonal_stats.parquet", load_stats, 2, REFUSED),
    [COBRE_FILE_LOAD_FACTORS] = JSON("scenarios/load_factors.json", false),
    [COBRE_FILE_CORRELATION] = JSON("scenarios/correlation.json", false),
    [COBRE_FILE_OPENINGS] = PARQUET("scenarios/noise_openings.parquet", openings, 3, REFUSED),
    [COBRE_FILE_SOURCE_FACTORS] =
        JSON("scenarios/non_controllable_factors.json", false),
    [COBRE_FILE_SOURCE_STATS] =
        PARQUET("scenarios/non_controllable_stats.parquet", source_stats, 2, REFUSED),
    [COBRE_FILE_THERMAL_BOUNDS] =
        PARQUET("constraints/thermal_bounds.parquet", thermal_bounds, 3, LAST_WINS),
    [COBRE_FILE_HYDRO_BOUNDS] =
        PARQUET("constraints/hydro_bounds.parquet", hydro_bounds, 2, LAST_WINS),
    [COBRE_FILE_LINE_BOUNDS] =
        PARQUET("constraints/line_bounds.parquet", line_bounds, 2, LAST_WINS),
    [COBRE_FILE_PUMPING_BOUNDS] =
        PARQUET("constraints/pumping_bounds.parquet", pumping_bounds, 2, LAST_WINS),
    [COBRE_FILE_CONTRACT_BOUNDS] =
        PARQUET("constraints/contract_bounds.parquet", contract_bounds, 2, LAST_WINS),
    [COBRE_FILE_EXCHANGE_FACTORS] =
        JSON("constraints/exchange_factors.json", false),
    [COBRE_FILE_CONSTRAINTS] =
        JSON("constraints/generic_constraints.json", false),
    [COBRE_FILE_CONSTRAINT_BOUNDS] =
        PARQUET("constraints/generic_constraint_bounds.parquet", constraint_bounds, 3, REFUSED),
    [COBRE_FILE_PENALTY_BUS] =
        PARQUET("constraints/penalty_overrides_bus.parquet", penalty_bus, 2, LAST_WINS),
    [COBRE_FILE_PENALTY_LINE] =
        PARQUET("constraints/penalty_overrides_line.parquet", penalty_line, 2, LAST_WINS),
    [COBRE_FILE_PENALTY_HYDRO] =
        PARQUET("constraints/penalty_overrides_hydro.parquet", penalty_hydro, 2, LAST_WINS),
    [COBRE_FILE_PENALTY_NCS] =
        PARQUET("constraints/penalty_overrides_ncs.parquet", penalty_ncs, 2, LAST_WINS),
    [COBRE_FILE_SOURCE_BOUNDS] =
        PARQUET("constraints/ncs_bounds.parquet", source_bounds, 2, LAST_WINS),
};
/* clang-format on */
