/*
 * base_case.h - a valid case directory to modify, and the result of loading a directory.
 *
 * The base case has two buses with a line, a cascade of two hydros, two thermals, three stages of
 * which the first has two blocks, stochastic inflow. Texts are written with ' for ". A Parquet
 * file is given as text too: "hydro_id i32: 1 2; mean_m3s f64: 40 nan", with - for null.
 */
#ifndef TESTS_COBRE_BASE_CASE_H
#define TESTS_COBRE_BASE_CASE_H

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/columns.h"
#include "findings/report.h"
#include "scratch.h"
#include "validate/load.h"

#define BASE_ROWS_MAX 48
#define BASE_COLUMNS_MAX 14

typedef struct base_file {
    const char *path, *text;
} base_file;

static const base_file base_files[] = {
    { "config.json",
      "{'training':{'tree_seed':7,'forward_passes':2,'stopping_rules':["
      "{'type':'iteration_limit','limit':20},"
      "{'type':'bound_stalling','iterations':5,'tolerance':0.001}],'stopping_mode':'any'},"
      "'simulation':{'enabled':true,'num_scenarios':50},'policy':{'mode':'fresh'},"
      "'modeling':{'inflow_non_negativity':{'method':'penalty'}}}" },
    { "stages.json",
      "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1,'transitions':[]},"
      "'stages':["
      "{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01','num_scenarios':3,"
      "'blocks':[{'id':1,'name':'LOW','hours':500},{'id':0,'name':'HIGH','hours':244}]},"
      "{'id':1,'start_date':'2030-02-01','end_date':'2030-03-01','num_scenarios':3,"
      "'blocks':[{'id':0,'name':'ALL','hours':672}]},"
      "{'id':2,'start_date':'2030-03-01','end_date':'2030-04-01','num_scenarios':3,"
      "'risk_measure':{'cvar':{'alpha':0.5,'lambda':0.25}},"
      "'blocks':[{'id':0,'name':'ALL','hours':744}]}]}" },
    { "penalties.json",
      "{'bus':{'deficit_segments':[{'depth_mw':null,'cost':900}],'excess_cost':1},"
      "'line':{'exchange_cost':0.5},'hydro':{'spillage_cost':0.01,'diversion_cost':0.02,"
      "'fpha_turbined_cost':0.03,'storage_violation_below_cost':2000,"
      "'filling_target_violation_cost':3000,'turbined_violation_below_cost':101,"
      "'outflow_violation_below_cost':102,'outflow_violation_above_cost':103,"
      "'generation_violation_below_cost':104,'evaporation_violation_cost':105,"
      "'water_withdrawal_violation_cost':106},"
      "'non_controllable_source':{'curtailment_cost':0.005}}" },
    { "initial_conditions.json",
      "{'storage':[{'hydro_id':2,'value_hm3':30},{'hydro_id':1,'value_hm3':80.5}],"
      "'filling_storage':[]}" },
    { "system/buses.json",
      "{'buses':[{'id':1,'name':'South'},{'id':0,'name':'North','deficit_segments':["
      "{'depth_mw':20,'cost':400},{'depth_mw':null,'cost':800}]}]}" },
    { "system/lines.json",
      "{'lines':[{'id':0,'name':'North-South','source_bus_id':0,'target_bus_id':1,"
      "'capacity':{'direct_mw':60,'reverse_mw':40}}]}" },
    { "system/hydros.json",
      "{'hydros':[{'id':2,'name':'Lower','bus_id':1,'downstream_id':null,"
      "'reservoir':{'min_storage_hm3':0,'max_storage_hm3':50},"
      "'outflow':{'min_outflow_m3s':1,'max_outflow_m3s':null},"
      "'generation':{'model':'constant_productivity','productivity_mw_per_m3s':0.9,"
      "'min_turbined_m3s':0,'max_turbined_m3s':70,'min_generation_mw':0,'max_generation_mw':63},"
      "'penalties':{'spillage_cost':0.015,'water_withdrawal_violation_cost':77}},"
      "{'id':1,'name':'Upper','bus_id':0,'downstream_id':2,"
      "'reservoir':{'min_storage_hm3':10,'max_storage_hm3':200},"
      "'outflow':{'min_outflow_m3s':0,'max_outflow_m3s':90},"
      "'generation':{'model':'constant_productivity','productivity_mw_per_m3s':1.1,"
      "'min_turbined_m3s':0,'max_turbined_m3s':80,'min_generation_mw':0,"
      "'max_generation_mw':88}}]}" },
    { "system/thermals.json",
      "{'thermals':[{'id':5,'name':'Gas','bus_id':0,'cost_per_mwh':60,"
      "'generation':{'min_mw':0,'max_mw':40}},{'id':6,'name':'Oil','bus_id':1,"
      "'cost_per_mwh':150,'generation':{'min_mw':5,'max_mw':30}}]}" },
    { "scenarios/inflow_seasonal_stats.parquet",
      "hydro_id i32: 1 1 1 2 2 2; stage_id i32: 2 1 0 0 1 2; mean_m3s f64: 30 35 40 8 7 6;"
      "std_m3s f64: 9 10 12 2 2 2" },
    { "scenarios/load_seasonal_stats.parquet",
      "bus_id i32: 0 0 0 1 1 1; stage_id i32: 0 1 2 0 1 2; mean_mw f64: 70 71 72 50 51 52;"
      "std_mw f64: 0 0 0 0 3 0" },
};

#define BASE_FILE_COUNT (sizeof base_files / sizeof base_files[0])

/* ---- writing --------------------------------------------------------------------------------- */

/* A copy with ' replaced by "; the caller frees it. */
static inline char *base_quoted(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

typedef struct base_column {
    char name[48];
    columns_type type;
    union {
        int32_t i32[BASE_ROWS_MAX];
        int64_t i64[BASE_ROWS_MAX];
        uint32_t u32[BASE_ROWS_MAX];
        double f64[BASE_ROWS_MAX];
        float f32[BASE_ROWS_MAX];
    } values;
    uint8_t valid[BASE_ROWS_MAX];
    size_t rows;
} base_column;

static inline columns_type base_type(const char *word)
{
    static const struct {
        const char *word;
        columns_type type;
    } types[] = {
        { "i32", COLUMNS_I32 }, { "i64", COLUMNS_I64 }, { "u32", COLUMNS_U32 },
        { "f64", COLUMNS_F64 }, { "f32", COLUMNS_F32 }, { "date", COLUMNS_DATE },
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].word, word) == 0)
            return types[i].type;
    }
    fail_msg("no column type %s", word);
    return COLUMNS_OTHER;
}

static inline void base_cell(base_column *column, const char *word)
{
    size_t row = column->rows++;
    double value = strcmp(word, "-") == 0 ? 0 : strtod(word, NULL);

    assert_true(row < BASE_ROWS_MAX);
    column->valid[row] = strcmp(word, "-") != 0;
    switch (column->type) {
    case COLUMNS_F64:
        column->values.f64[row] = value;
        break;
    case COLUMNS_F32:
        column->values.f32[row] = (float)value;
        break;
    case COLUMNS_I64:
        column->values.i64[row] = (int64_t)value;
        break;
    case COLUMNS_U32:
        column->values.u32[row] = (uint32_t)value;
        break;
    default:
        column->values.i32[row] = (int32_t)value;
        break;
    }
}

static inline void base_read_column(base_column *column, char *text)
{
    char type[8];
    char *colon = strchr(text, ':'), *rest = NULL;

    assert_non_null(colon);
    *colon = '\0';
    assert_int_equal(sscanf(text, "%47s %7s", column->name, type), 2);
    column->type = base_type(type);
    for (char *word = strtok_r(colon + 1, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        base_cell(column, word);
}

/* Write a table in the notation above. */
static inline void base_write_table(int dir_fd, const char *name, const char *text)
{
    base_column *data = calloc(BASE_COLUMNS_MAX, sizeof *data);
    columns_column list[BASE_COLUMNS_MAX];
    char *copy = strdup(text), *rest = NULL;
    mcp_error err = MCP_ERROR_INIT;
    size_t count = 0;

    assert_non_null(data);
    assert_non_null(copy);
    for (char *part = strtok_r(copy, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        assert_true(count < BASE_COLUMNS_MAX);
        base_read_column(&data[count], part);
        assert_int_equal(data[count].rows, data[0].rows);
        list[count] = (columns_column){ data[count].name, data[count].type, &data[count].values,
                                        data[count].valid };
        count++;
    }
    const columns_table table = { data[0].rows, count, list };
    if (columns_write(dir_fd, name, &table, &err) != MCP_OK)
        fail_msg("%s: %s", name, err.message);
    free(copy);
    free(data);
}

static inline void base_write(const scratch *folder, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    size_t length = strlen(path);

    if (length < 8 || strcmp(path + length - 8, ".parquet") != 0) {
        char *quoted = base_quoted(text);
        scratch_write(folder, path, quoted, strlen(quoted));
        free(quoted);
        return;
    }
    char below[64];
    snprintf(below, sizeof below, "%.*s", (int)(slash - path), path);
    if (mkdirat(folder->fd, below, 0777) != 0)
        assert_int_equal(errno, EEXIST);
    int dir_fd = openat(folder->fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir_fd >= 0);
    base_write_table(dir_fd, slash + 1, text);
    close(dir_fd);
}

static inline void base_write_all(const scratch *folder)
{
    for (size_t i = 0; i < BASE_FILE_COUNT; i++)
        base_write(folder, base_files[i].path, base_files[i].text);
}

static inline const char *base_text(const char *path)
{
    for (size_t i = 0; i < BASE_FILE_COUNT; i++) {
        if (strcmp(base_files[i].path, path) == 0)
            return base_files[i].text;
    }
    return NULL;
}

/* ---- the engine of a test -------------------------------------------------------------------- */

static inline int engine_setup(void **state)
{
    columns *engine = NULL;

    assert_int_equal(columns_open(&engine, NULL), MCP_OK);
    *state = engine;
    return 0;
}

static inline int engine_teardown(void **state)
{
    columns_close(*state);
    return 0;
}

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct loaded {
    mcp_arena *arena;
    cobre_report *report;
    const cobre_case *c; /* NULL when the report holds an error */
    mcp_status status;
    mcp_error err;
} loaded;

static inline loaded base_load_at(columns *engine, int dir_fd, const char *directory)
{
    loaded result = { .arena = mcp_arena_new((size_t)256 << 20), .err = MCP_ERROR_INIT };

    assert_non_null(result.arena);
    result.report = cobre_report_new(result.arena);
    assert_non_null(result.report);
    result.status = cobre_case_load(&result.c, dir_fd, directory, engine, result.report,
                                    result.arena, &result.err);
    return result;
}

static inline void loaded_free(loaded *result)
{
    mcp_arena_free(result->arena);
    *result = (loaded){ 0 };
}

/* All findings of a severity, for the message of a failed assertion. */
static inline void loaded_print(const loaded *result, cobre_severity severity)
{
    const cobre_finding *finding = cobre_report_finding(result->report, severity, 0);

    for (size_t i = 1; finding; finding = cobre_report_finding(result->report, severity, i++))
        print_message("  %s\n", cobre_finding_line(finding, result->arena));
}

static inline void assert_loads(const loaded *result)
{
    if (result->status != MCP_OK)
        fail_msg("%s", result->err.message);
    if (cobre_report_count(result->report, COBRE_SEVERITY_ERROR) > 0) {
        loaded_print(result, COBRE_SEVERITY_ERROR);
        fail_msg("the case has errors");
    }
    assert_non_null(result->c);
}

#endif
