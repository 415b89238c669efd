/*
 * fuzz_case.c - any bytes as one JSON file of an otherwise good case.
 *
 * The input's first line names the file ("system/hydros.json"), the rest is its text. All layers
 * run, the report must be writable whatever the bytes were, and a case without an error must
 * build; so must one whose only errors are features that the solver does not model yet.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "case/build/assemble.h"
#include "case/read/parse.h"
#include "validate/layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

#define TEXT(text) text, sizeof(text) - 1

static const struct good {
    cobre_file_id id;
    const char *text;
    size_t length;
} good[] = {
    { COBRE_FILE_CONFIG, TEXT("{\"training\":{\"forward_passes\":1,\"stopping_rules\":[]}}") },
    { COBRE_FILE_STAGES,
      TEXT(
          "{\"policy_graph\":{\"type\":\"finite_horizon\","
          "\"annual_discount_rate\":0.1},\"stages\":[{\"id\":0,"
          "\"start_date\":\"2030-01-01\",\"end_date\":\"2030-02-01\","
          "\"num_scenarios\":2,\"blocks\":[{\"id\":0,\"name\":\"A\",\"hours\":700}]},{\"id\":1,"
          "\"start_date\":\"2030-02-01\",\"end_date\":\"2030-03-01\",\"num_scenarios\":2,\"blocks\":["
          "{\"id\":0,\"name\":\"A\",\"hours\":600}]}]}") },
    { COBRE_FILE_PENALTIES,
      TEXT("{\"bus\":{\"deficit_segments\":[{\"depth_mw\":null,\"cost\":9}],"
           "\"excess_cost\":1},\"line\":{\"exchange_cost\":1},\"hydro\":{\"spillage_cost\":1,"
           "\"diversion_cost\":1,\"fpha_turbined_cost\":1,\"storage_violation_below_cost\":1,"
           "\"filling_target_violation_cost\":1,\"turbined_violation_below_cost\":1,"
           "\"outflow_violation_below_cost\":1,\"outflow_violation_above_cost\":1,"
           "\"generation_violation_below_cost\":1,\"evaporation_violation_cost\":1,"
           "\"water_withdrawal_violation_cost\":1},"
           "\"non_controllable_source\":{\"curtailment_cost\":1}}") },
    { COBRE_FILE_INITIAL, TEXT("{\"storage\":[{\"hydro_id\":0,\"value_hm3\":5}],"
                               "\"filling_storage\":[]}") },
    { COBRE_FILE_BUSES, TEXT("{\"buses\":[{\"id\":0,\"name\":\"A\"},{\"id\":1,\"name\":\"B\"}]}") },
    { COBRE_FILE_LINES,
      TEXT("{\"lines\":[{\"id\":0,\"name\":\"L\",\"source_bus_id\":0,"
           "\"target_bus_id\":1,\"capacity\":{\"direct_mw\":1,\"reverse_mw\":1}}]}") },
    { COBRE_FILE_HYDROS,
      TEXT("{\"hydros\":[{\"id\":0,\"name\":\"H\",\"bus_id\":0,\"reservoir\":"
           "{\"min_storage_hm3\":0,\"max_storage_hm3\":9},\"outflow\":{\"min_outflow_m3s\":0},"
           "\"generation\":{\"model\":\"constant_productivity\",\"productivity_mw_per_m3s\":1,"
           "\"min_turbined_m3s\":0,\"max_turbined_m3s\":1,\"min_generation_mw\":0,"
           "\"max_generation_mw\":1}}]}") },
    { COBRE_FILE_THERMALS,
      TEXT("{\"thermals\":[{\"id\":0,\"name\":\"T\",\"bus_id\":1,"
           "\"cost_per_mwh\":5,\"generation\":{\"min_mw\":0,\"max_mw\":9}}]}") },
};

/* Inflow statistics of hydro 0, so that rows meet whatever the bytes made of hydros and stages. */
static const int32_t row_hydros[] = { 0, 0 }, row_stages[] = { 0, 1 };
static const double row_values[] = { 3, 4 };
static const columns_column inflow_columns[] = {
    { "hydro_id", COLUMNS_I32, row_hydros, NULL },
    { "stage_id", COLUMNS_I32, row_stages, NULL },
    { "mean_m3s", COLUMNS_F64, row_values, NULL },
    { "std_m3s", COLUMNS_F64, row_values, NULL },
};
static const columns_table inflow = { 2, 4, inflow_columns };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static cobre_file_id file_named(const char *name, size_t length)
{
    for (size_t i = 0; i < COBRE_FILE_COUNT; i++) {
        if (!cobre_files_known[i].table && strlen(cobre_files_known[i].path) == length &&
            memcmp(cobre_files_known[i].path, name, length) == 0)
            return (cobre_file_id)i;
    }
    return COBRE_FILE_COUNT;
}

static void read_all(cobre_input *input, cobre_file_id chosen, const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (good[i].id != chosen)
            must(cobre_parse_json(input, good[i].id, good[i].text, good[i].length, NULL) == MCP_OK);
    }
    must(cobre_report_count(input->report, COBRE_SEVERITY_ERROR) == 0);
    must(cobre_parse_table(input, COBRE_FILE_INFLOW_STATS, &inflow, NULL) == MCP_OK);
    must(cobre_parse_json(input, chosen, text, length, NULL) == MCP_OK);
}

static void must_be_writable(const cobre_report *report)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 64 << 20);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_array(&writer);
    cobre_report_write(report, COBRE_SEVERITY_ERROR, &writer);
    cobre_report_write(report, COBRE_SEVERITY_WARNING, &writer);
    cobre_report_write_summary(report, &writer);
    mcp_write_end(&writer);
    must(mcp_json_writer_status(&writer) == MCP_OK);
    mcp_buf_clear(&buf);
}

static bool is_sound(const cobre_report *report)
{
    const cobre_finding *finding = cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0);

    for (size_t i = 1; finding; finding = cobre_report_finding(report, COBRE_SEVERITY_ERROR, i++)) {
        if (!finding->internal_kind || strcmp(finding->internal_kind, "NotImplemented") != 0)
            return false;
    }
    return true;
}

static void run(mcp_arena *arena, cobre_file_id chosen, const char *text, size_t length)
{
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);
    cobre_case *built = NULL;

    must(input != NULL);
    input->arena = arena;
    input->report = cobre_report_new(arena);
    must(input->report != NULL);
    read_all(input, chosen, text, length);
    if (cobre_report_count(input->report, COBRE_SEVERITY_ERROR) == 0)
        cobre_check_layers(input);
    cobre_report_sort(input->report);
    if (is_sound(input->report))
        must(cobre_assemble(&built, input, "fuzz", NULL) == MCP_OK && built->stage_count >= 2);
    must_be_writable(input->report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = size && size <= INPUT_MAX ? memchr(data, '\n', size) : NULL;

    if (!line_end)
        return 0;
    size_t name_length = (size_t)(line_end - data);
    cobre_file_id chosen = file_named((const char *)data, name_length);
    if (chosen == COBRE_FILE_COUNT)
        return 0;
    mcp_arena *arena = mcp_arena_new((size_t)256 << 20);
    must(arena != NULL);
    run(arena, chosen, (const char *)line_end + 1, size - name_length - 1);
    mcp_arena_free(arena);
    return 0;
}
