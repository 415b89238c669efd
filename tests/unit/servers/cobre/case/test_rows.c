/*
 * test_rows.c - every column of every Parquet file: its type, its nulls and its limits.
 *
 * The list below is the case page's, written out again: sections 6.8, 6.10, 7 and 8; an override
 * has the limits of the entity's value (sections 6.3 to 6.7). Each column is tried missing, in
 * wrong types, with a null, with NaN and infinity, at its limit and beyond.
 */
#include "base_case.h"
#include "case/read/parse.h"

/*
 * name, type (i Int32, u UInt32, f Float64, d Date32), ! when it takes no null, then the limit:
 * n >= 0, p > 0, 1 within [0, 1], h within (0, 1]; "-" none.
 */
static const struct listed {
    cobre_file_id file;
    const char *columns;
} listed[] = {
    { COBRE_FILE_GEOMETRY, "hydro_id i! - volume_hm3 f! n height_m f! n area_km2 f! n" },
    { COBRE_FILE_HYPERPLANES,
      "hydro_id i! - stage_id i - plane_id i! - gamma_0 f! - gamma_v f! - gamma_q f! - gamma_s f! "
      "- kappa f - valid_v_min_hm3 f - valid_v_max_hm3 f - valid_q_max_m3s f -" },
    { COBRE_FILE_HISTORY, "hydro_id i! - date d! - value_m3s f! -" },
    { COBRE_FILE_INFLOW_STATS, "hydro_id i! - stage_id i! - mean_m3s f! - std_m3s f! n" },
    { COBRE_FILE_AR,
      "hydro_id i! - stage_id i! - lag i! p coefficient f! - residual_std_ratio f! h" },
    { COBRE_FILE_ANNUAL, "hydro_id i! - stage_id i! - annual_coefficient f! - annual_mean_m3s f! - "
                         "annual_std_m3s f! p" },
    { COBRE_FILE_EXTERNAL_INFLOW, "stage_id i! n scenario_id i! n hydro_id i! - value_m3s f! -" },
    { COBRE_FILE_EXTERNAL_LOAD, "stage_id i! n scenario_id i! n bus_id i! - value_mw f! -" },
    { COBRE_FILE_EXTERNAL_NCS, "stage_id i! n scenario_id i! n ncs_id i! - value f! -" },
    { COBRE_FILE_LOAD_STATS, "bus_id i! - stage_id i! - mean_mw f! - std_mw f! n" },
    { COBRE_FILE_SOURCE_STATS, "ncs_id i! - stage_id i! - mean f! 1 std f! n" },
    { COBRE_FILE_OPENINGS, "stage_id i! - opening_index u! - entity_index u! - value f! -" },
    { COBRE_FILE_THERMAL_BOUNDS, "thermal_id i! - stage_id i! - min_generation_mw f n "
                                 "max_generation_mw f n cost_per_mwh f n block_id i -" },
    { COBRE_FILE_HYDRO_BOUNDS,
      "hydro_id i! - stage_id i! - min_turbined_m3s f n max_turbined_m3s f n min_storage_hm3 f n "
      "max_storage_hm3 f n min_outflow_m3s f n max_outflow_m3s f n min_generation_mw f - "
      "max_generation_mw f - max_diversion_m3s f - filling_inflow_m3s f n water_withdrawal_m3s f "
      "-" },
    { COBRE_FILE_LINE_BOUNDS, "line_id i! - stage_id i! - direct_mw f n reverse_mw f n" },
    { COBRE_FILE_PUMPING_BOUNDS, "station_id i! - stage_id i! - min_m3s f n max_m3s f n" },
    { COBRE_FILE_CONTRACT_BOUNDS,
      "contract_id i! - stage_id i! - min_mw f n max_mw f n price_per_mwh f -" },
    { COBRE_FILE_SOURCE_BOUNDS, "ncs_id i! - stage_id i! - available_generation_mw f! n" },
    { COBRE_FILE_CONSTRAINT_BOUNDS, "constraint_id i! - stage_id i! - bound f! - block_id i -" },
    { COBRE_FILE_PENALTY_BUS, "bus_id i! - stage_id i! - excess_cost f p" },
    { COBRE_FILE_PENALTY_LINE, "line_id i! - stage_id i! - exchange_cost f p" },
    { COBRE_FILE_PENALTY_HYDRO,
      "hydro_id i! - stage_id i! - spillage_cost f p fpha_turbined_cost f p diversion_cost f p "
      "storage_violation_below_cost f p filling_target_violation_cost f p "
      "turbined_violation_below_cost f p outflow_violation_below_cost f p "
      "outflow_violation_above_cost f p generation_violation_below_cost f p "
      "evaporation_violation_cost f p water_withdrawal_violation_cost f p" },
    { COBRE_FILE_PENALTY_NCS, "source_id i! - stage_id i! - curtailment_cost f p" },
};

enum { COLUMNS = 14, ROWS = 2 };

struct column {
    char name[48], type[4], limit[4];
    union {
        int32_t i32[ROWS];
        uint32_t u32[ROWS];
        double f64[ROWS];
        float f32[ROWS];
        int64_t i64[ROWS];
    } values;
    uint8_t valid[ROWS];
};

struct sheet {
    struct column data[COLUMNS];
    columns_column list[COLUMNS];
    size_t count;
};

static columns_type type_of(const struct column *column)
{
    switch (column->type[0]) {
    case 'i':
        return COLUMNS_I32;
    case 'u':
        return COLUMNS_U32;
    case 'd':
        return COLUMNS_DATE;
    default:
        return COLUMNS_F64;
    }
}

/* Two rows, each value good: 1, or 0.5 where it must lie within 0 and 1; other keys in row 1. */
static void make(struct sheet *sheet, const char *columns)
{
    int used = 0;

    memset(sheet, 0, sizeof *sheet);
    for (struct column *column = sheet->data;
         sscanf(columns, " %47s %3s %3s%n", column->name, column->type, column->limit, &used) == 3;
         column++) {
        for (size_t row = 0; row < ROWS; row++) {
            column->valid[row] = 1;
            if (type_of(column) == COLUMNS_F64)
                column->values.f64[row] = 0.5;
            else
                column->values.i32[row] = (int32_t)row + 1;
        }
        sheet->list[sheet->count++] = (columns_column){ column->name, type_of(column),
                                                        &column->values, column->valid };
        columns += used;
    }
    assert_true(sheet->count > 2);
}

struct outcome {
    size_t errors;
    cobre_kind kind;
    char field[64], message[160];
};

static struct outcome parse(cobre_file_id file, const struct sheet *sheet, size_t rows)
{
    mcp_arena *arena = mcp_arena_new(0);
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);
    const columns_table table = { rows, sheet->count, sheet->list };
    struct outcome outcome = { 0 };

    input->arena = arena;
    input->report = cobre_report_new(arena);
    assert_int_equal(cobre_parse_table(input, file, &table, NULL), MCP_OK);
    outcome.errors = cobre_report_count(input->report, COBRE_SEVERITY_ERROR);
    const cobre_finding *first = cobre_report_finding(input->report, COBRE_SEVERITY_ERROR, 0);
    if (first) {
        outcome.kind = first->kind;
        snprintf(outcome.field, sizeof outcome.field, "%s", first->field);
        snprintf(outcome.message, sizeof outcome.message, "%s", first->message);
        assert_string_equal(first->file, cobre_files_known[file].path);
        assert_int_equal(first->layer, 2);
    } else {
        assert_int_equal(input->tables[file].rows, rows);
    }
    mcp_arena_free(arena);
    return outcome;
}

static void expect(cobre_file_id file, const struct sheet *sheet, const struct column *column,
                   bool is_good, cobre_kind kind, const char *what)
{
    struct outcome outcome = parse(file, sheet, ROWS);

    if (is_good ? outcome.errors == 0
                : outcome.errors == 1 && outcome.kind == kind &&
                      strcmp(outcome.field, column->name) == 0)
        return;
    fail_msg("%s, %s %s: %zu errors, the first %s of %s", cobre_files_known[file].path,
             column->name, what, outcome.errors, cobre_kind_name(outcome.kind), outcome.field);
}

static void try_types(cobre_file_id file, struct sheet *sheet, size_t index)
{
    static const columns_type others[] = { COLUMNS_BOOL, COLUMNS_I8,  COLUMNS_I16,  COLUMNS_I32,
                                           COLUMNS_I64,  COLUMNS_U8,  COLUMNS_U32,  COLUMNS_U64,
                                           COLUMNS_F32,  COLUMNS_F64, COLUMNS_DATE, COLUMNS_TEXT,
                                           COLUMNS_OTHER };
    static const char *const texts[ROWS] = { "1", "2" };
    static const uint8_t bytes[8 * ROWS] = { 0 };
    columns_column *column = &sheet->list[index], good = *column;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i] == good.type)
            continue;
        column->type = others[i];
        column->values = others[i] == COLUMNS_TEXT ? (const void *)texts : bytes;
        expect(file, sheet, &sheet->data[index], false, COBRE_KIND_TYPE_MISMATCH,
               "of another type");
    }
    char message[160];
    snprintf(message, sizeof message, "column %s has an unsupported type, %s is required (%s)",
             column->name, columns_type_name(good.type), cobre_files_known[file].path);
    assert_string_equal(parse(file, sheet, ROWS).message, message); /* COLUMNS_OTHER */
    *column = good;
}

static void try_value(cobre_file_id file, struct sheet *sheet, size_t index, double value,
                      bool is_good)
{
    struct column *column = &sheet->data[index];
    char what[64];

    snprintf(what, sizeof what, "= %.17g", value);
    if (type_of(column) == COLUMNS_F64) {
        double before = column->values.f64[1];
        column->values.f64[1] = value;
        expect(file, sheet, column, is_good, COBRE_KIND_OUT_OF_RANGE, what);
        column->values.f64[1] = before;
    } else {
        int32_t before = column->values.i32[1];
        column->values.i32[1] = (int32_t)value;
        expect(file, sheet, column, is_good, COBRE_KIND_OUT_OF_RANGE, what);
        column->values.i32[1] = before;
    }
}

/* Upper limits, of which a large one is none, and what has no effect. */
static bool is_of_any_size(const char *name)
{
    return strncmp(name, "max_", 4) == 0 || strncmp(name, "valid_", 6) == 0 ||
           strcmp(name, "direct_mw") == 0 || strcmp(name, "reverse_mw") == 0;
}

static void try_large(cobre_file_id file, struct sheet *sheet, size_t index, bool may_be_large,
                      bool may_be_negative)
{
    bool has_limit = !is_of_any_size(sheet->data[index].name);

    try_value(file, sheet, index, 1e20, may_be_large);
    try_value(file, sheet, index, -1e20, may_be_negative);
    try_value(file, sheet, index, nextafter(1e20, INFINITY), may_be_large && !has_limit);
    try_value(file, sheet, index, 1e300, may_be_large && !has_limit);
    try_value(file, sheet, index, -1e300, may_be_negative && !has_limit);
}

static void try_values(cobre_file_id file, struct sheet *sheet, size_t index)
{
    const struct column *column = &sheet->data[index];
    char limit = column->limit[0];
    bool is_real = column->type[0] == 'f', is_whole = column->type[0] == 'i';
    double step = is_real ? 1e-9 : 1;

    if (is_real) {
        try_value(file, sheet, index, NAN, false);
        try_value(file, sheet, index, INFINITY, false);
        try_value(file, sheet, index, -INFINITY, false);
    }
    if (is_real || is_whole) {
        try_value(file, sheet, index, -step, limit == '-');
    }
    if (is_real)
        try_large(file, sheet, index, !strchr("1h", limit), limit == '-');
    if (is_whole) {
        try_value(file, sheet, index, INT32_MAX, !strchr("1h", limit));
        try_value(file, sheet, index, INT32_MIN, limit == '-');
    }
    if (limit == 'n' || limit == '1')
        try_value(file, sheet, index, 0, true);
    if (limit == 'p' || limit == 'h') {
        try_value(file, sheet, index, 0, false);
        try_value(file, sheet, index, is_real ? 5e-324 : 3, true);
    }
    if (limit == '1' || limit == 'h') {
        try_value(file, sheet, index, 1, true);
        try_value(file, sheet, index, nextafter(1, 2), false);
    }
    if (column->type[0] == 'd') {
        try_value(file, sheet, index, -719162, true); /* 0001-01-01 */
        try_value(file, sheet, index, -719163, false);
        try_value(file, sheet, index, 2932896, true); /* 9999-12-31 */
        try_value(file, sheet, index, 2932897, false);
    }
}

static void try_absence(cobre_file_id file, struct sheet *sheet, size_t index)
{
    struct column *column = &sheet->data[index];
    bool is_required = column->type[1] == '!';
    const char *name = sheet->list[index].name;

    column->valid[1] = 0;
    expect(file, sheet, column, !is_required, COBRE_KIND_SCHEMA_VIOLATION, "null");
    column->valid[1] = 1;
    sheet->list[index].name = "something_else";
    expect(file, sheet, column, !is_required, COBRE_KIND_SCHEMA_VIOLATION, "missing");
    sheet->list[index].name = name;
}

static void every_column(void **state)
{
    struct sheet *sheet = malloc(sizeof *sheet);
    size_t count = 0;

    (void)state;
    assert_non_null(sheet);
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
        make(sheet, listed[i].columns);
        expect(listed[i].file, sheet, sheet->data, true, 0, "as it should be");
        for (size_t k = 0; k < sheet->count; k++) {
            try_types(listed[i].file, sheet, k);
            try_absence(listed[i].file, sheet, k);
            try_values(listed[i].file, sheet, k);
            count++;
        }
    }
    print_message("  %zu columns\n", count);
    free(sheet);
}

static void every_file_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COBRE_FILE_COUNT; i++) {
        size_t found = 0;
        for (size_t k = 0; k < sizeof listed / sizeof listed[0]; k++)
            found += listed[k].file == i;
        assert_int_equal(found, cobre_files_known[i].table != NULL);
    }
}

/* A file without rows is legal, whatever columns it lacks not; it counts as absent. */
static void no_rows_are_fine(void **state)
{
    struct sheet *sheet = malloc(sizeof *sheet);

    (void)state;
    assert_non_null(sheet);
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
        make(sheet, listed[i].columns);
        assert_int_equal(parse(listed[i].file, sheet, 0).errors, 0);
    }
    free(sheet);
}

/* Two rows of one key: refused in series, overriding elsewhere. */
static void repeated_keys(void **state)
{
    struct sheet *sheet = malloc(sizeof *sheet);

    (void)state;
    assert_non_null(sheet);
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
        const char *path = cobre_files_known[listed[i].file].path;
        bool is_series = strstr(path, "scenarios/") || listed[i].file == COBRE_FILE_HYPERPLANES ||
                         listed[i].file == COBRE_FILE_CONSTRAINT_BOUNDS;
        make(sheet, listed[i].columns);
        for (size_t k = 0; k < sheet->count; k++) {
            if (sheet->list[k].type != COLUMNS_F64)
                sheet->data[k].values.i32[1] = sheet->data[k].values.i32[0];
        }
        struct outcome outcome = parse(listed[i].file, sheet, ROWS);
        if (outcome.errors != is_series || (is_series && outcome.kind != COBRE_KIND_DUPLICATE_ID))
            fail_msg("%s: %zu errors", path, outcome.errors);
    }
    free(sheet);
}

/* 2,000 external scenarios of 160 hydros over 120 stages are read where a table may take 2 GiB. */
static void large_tables(void **state)
{
    const cobre_table_spec *spec = cobre_files_known[COBRE_FILE_EXTERNAL_INFLOW].table;

    (void)state;
    assert_true(cobre_rows_most(spec, (size_t)2 << 30) >= (size_t)160 * 120 * 2000);
    assert_true(cobre_rows_most(spec, (size_t)64 << 20) < (size_t)160 * 120 * 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_listed), cmocka_unit_test(every_column),
        cmocka_unit_test(no_rows_are_fine),     cmocka_unit_test(large_tables),
        cmocka_unit_test(repeated_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
