/*
 * test_schema.c - the schemas of the 17 JSON files: valid schemas, that take every example file and
 * that the loader agrees with.
 */
#include <dirent.h>

#include "../base_case.h"
#include "case/read/parse.h"
#include "case/schema/schema.h"
#include "mcp/schema.h"

struct compiled {
    mcp_arena *arena;
    const mcp_json *json;
    mcp_schema *schema;
};

static void compile(struct compiled *out, const cobre_schema *schema)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    cobre_schema_write(schema, &writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    out->arena = mcp_arena_new(0);
    if (mcp_json_read(&out->json, out->arena, buf.data, buf.length, &err) != MCP_OK ||
        mcp_schema_compile(&out->schema, out->json, NULL, &err) != MCP_OK)
        fail_msg("%s: %s", schema->name, err.message);
    mcp_buf_clear(&buf);
}

static int setup(void **state)
{
    struct compiled *all = calloc(COBRE_SCHEMA_COUNT, sizeof *all);

    assert_non_null(all);
    for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++)
        compile(&all[i], &cobre_schemas[i]);
    *state = all;
    return 0;
}

static int teardown(void **state)
{
    struct compiled *all = *state;

    for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++) {
        mcp_schema_free(all[i].schema);
        mcp_arena_free(all[i].arena);
    }
    free(all);
    return 0;
}

static bool takes(const struct compiled *compiled, const char *text, size_t length, char *why,
                  size_t size)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_schema_finding finding = { 0 };

    assert_int_equal(mcp_json_read(&value, arena, text, length, NULL), MCP_OK);
    mcp_status st = mcp_schema_check(compiled->schema, value, arena, &finding, NULL);
    snprintf(why, size, "%s", finding.message);
    assert_true(st == MCP_OK || st == MCP_E_SCHEMA);
    mcp_arena_free(arena);
    return st == MCP_OK;
}

static bool loader_takes(cobre_file_id file, const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);

    input->arena = arena;
    input->report = cobre_report_new(arena);
    assert_int_equal(cobre_parse_json(input, file, text, length, NULL), MCP_OK);
    bool result = cobre_report_count(input->report, COBRE_SEVERITY_ERROR) == 0;
    mcp_arena_free(arena);
    return result;
}

/* ---- the schemas themselves ------------------------------------------------------------------ */

/* Every member says what it is, and every list what it holds. */
static void check_members(const char *file, const mcp_json *schema, const char *path)
{
    const mcp_json *members = mcp_json_get(schema, "properties");
    const mcp_json *either = mcp_json_get(schema, "anyOf");
    char below[256];

    for (size_t i = 0; i < mcp_json_count(members); i++) {
        const mcp_json *member = mcp_json_item(members, i);
        const char *name = mcp_json_name(members, i, NULL);
        snprintf(below, sizeof below, "%s.%s", path, name);
        if (strcmp(name, "$schema") == 0 || !mcp_json_is_object(member))
            continue;
        if (!mcp_json_get_string(member, "description"))
            fail_msg("%s: %s has no description", file, below);
        const char *type = mcp_json_get_string(member, "type");
        if (type && strcmp(type, "array") == 0 && !mcp_json_get(member, "items"))
            fail_msg("%s: %s holds anything", file, below);
        check_members(file, member, below);
    }
    for (size_t i = 0; i < mcp_json_count(either); i++)
        check_members(file, mcp_json_item(either, i), path);
    if (mcp_json_get(schema, "items"))
        check_members(file, mcp_json_get(schema, "items"), path);
    if (mcp_json_is_object(mcp_json_get(schema, "additionalProperties")))
        check_members(file, mcp_json_get(schema, "additionalProperties"), path);
}

static void every_file_has_one(void **state)
{
    const struct compiled *all = *state;
    size_t json_files = 0;

    for (size_t i = 0; i < COBRE_FILE_COUNT; i++) {
        json_files += cobre_files_known[i].table == NULL;
        assert_true((cobre_schema_of((cobre_file_id)i) != NULL) ==
                    (cobre_files_known[i].table == NULL));
    }
    assert_int_equal(json_files, COBRE_SCHEMA_COUNT);
    for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++) {
        assert_string_equal(mcp_json_get_string(all[i].json, "$schema"),
                            "https://json-schema.org/draft/2020-12/schema");
        assert_non_null(strstr(mcp_json_get_string(all[i].json, "$id"), cobre_schemas[i].name));
        check_members(cobre_schemas[i].name, all[i].json, "");
    }
}

/* ---- against files --------------------------------------------------------------------------- */

static char *read_text(int dir_fd, const char *path, size_t *length)
{
    struct stat about;
    int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    assert_int_equal(fstat(fd, &about), 0);
    char *text = malloc((size_t)about.st_size + 1);
    assert_non_null(text);
    assert_int_equal(read(fd, text, (size_t)about.st_size), about.st_size);
    close(fd);
    *length = (size_t)about.st_size;
    return text;
}

static size_t check_case(const struct compiled *all, const char *name, int dir_fd)
{
    size_t count = 0;
    char why[240];

    for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++) {
        const char *path = cobre_files_known[cobre_schemas[i].file].path;
        size_t length = 0;
        char *text = read_text(dir_fd, path, &length);
        if (!text)
            continue;
        if (!takes(&all[i], text, length, why, sizeof why))
            fail_msg("%s/%s: %s", name, path, why);
        assert_true(loader_takes(cobre_schemas[i].file, text, length));
        free(text);
        count++;
    }
    return count;
}

/* The case directories below a folder; a folder that is absent has none. */
static size_t check_cases(const struct compiled *all, const char *folder)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];
    size_t count = 0;

    snprintf(path, sizeof path, "%s/%s", source ? source : ".", folder);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (entry->d_name[0] != '.')
            count += check_case(all, entry->d_name, fd);
        close(fd);
    }
    closedir(dir);
    return count;
}

static void every_example_file_fits(void **state)
{
    assert_true(check_cases(*state, "examples/cases") >= 40);
    if (check_cases(*state, "../shared/data/cobre") == 0)
        print_message("  the shared cases are absent: not checked\n");
}

/* The base case, and files of every feature. */
static void every_feature_fits(void **state)
{
    static const base_file more[] = {
        { "system/hydro_production_models.json",
          "{'production_models':[{'hydro_id':2,'selection_mode':'stage_ranges','stage_ranges':["
          "{'start_stage_id':0,'end_stage_id':null,'model':'fpha','fpha_config':{"
          "'source':'computed','volume_discretization_points':2,"
          "'fitting_window':{'volume_min_percentile':0,'volume_max_hm3':9}}}]},"
          "{'hydro_id':1,'selection_mode':'seasonal','default_model':'x','seasons':["
          "{'season_id':0,'model':'y','productivity_override':2}]}]}" },
        { "scenarios/correlation.json",
          "{'method':'spectral','profiles':{'default':{'correlation_groups':[{'name':'g',"
          "'entities':[{'type':'load','id':1}],'matrix':[[1]]}]}},'schedule':null}" },
        { "scenarios/load_factors.json",
          "{'load_factors':[{'bus_id':0,'stage_id':0,'block_factors':["
          "{'block_id':0,'factor':0.5}]}]}" },
        { "constraints/exchange_factors.json",
          "{'exchange_factors':[{'line_id':0,'stage_id':0,'block_factors':["
          "{'block_id':0,'direct_factor':0.5,'reverse_factor':1}]}]}" },
        { "constraints/generic_constraints.json",
          "{'constraints':[{'id':0,'name':'C','description':'free','expression':"
          "'hydro_storage(1)','sense':'>=','slack':{'enabled':true,'penalty':5}}]}" },
        { "system/pumping_stations.json",
          "{'pumping_stations':[{'id':1,'name':'P','bus_id':0,'source_hydro_id':1,"
          "'destination_hydro_id':2,'consumption_mw_per_m3s':1,'flow':{'min_m3s':0,'max_m3s':1}}]}" },
        { "system/energy_contracts.json",
          "{'contracts':[{'id':1,'name':'A','bus_id':0,'type':'import','price_per_mwh':-1,"
          "'limits':{'min_mw':0,'max_mw':1},'entry_stage_id':null}]}" },
        { "system/non_controllable_sources.json",
          "{'$schema':'x','non_controllable_sources':[{'id':1,'name':'W','bus_id':0,"
          "'max_generation_mw':9}]}" },
        { "scenarios/non_controllable_factors.json", "{'non_controllable_factors':[]}" },
    };
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        base_write(&folder, more[i].path, more[i].text);
    assert_int_equal(check_case(*state, "all features", folder.fd), COBRE_SCHEMA_COUNT);
    scratch_close(&folder);
}

/* ---- schema and loader agree ----------------------------------------------------------------- */

#define HYDRO(more)                                                                                \
    "{'hydros':[{'id':1,'name':'H','bus_id':0,'reservoir':{'min_storage_hm3':0,"                   \
    "'max_storage_hm3':9},'outflow':{'min_outflow_m3s':0},'generation':{'model':"                  \
    "'constant_productivity','productivity_mw_per_m3s':1,'min_turbined_m3s':0,"                    \
    "'max_turbined_m3s':1,'min_generation_mw':0,'max_generation_mw':1}" more "}]}"
#define STAGES(graph, more)                                                                        \
    "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1" graph "},'stages':["     \
    "{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01','num_scenarios':2,"                 \
    "'blocks':[{'id':0,'name':'A','hours':700}]" more "}]}"
#define TWELVE "[1,2,3,4,5,6,7,8,9,1,2,3]"
#define GROUP(matrix)                                                                              \
    "{'method':'spectral','profiles':{'default':{'correlation_groups':[{'name':'g','entities':["   \
    "{'type':'inflow','id':1}],'matrix':" matrix "}]}}}"

static void schema_and_loader_agree(void **state)
{
    static const struct {
        cobre_file_id file;
        bool fits;
        const char *text;
    } rows[] = {
        { COBRE_FILE_HYDROS, true, HYDRO("") },
        { COBRE_FILE_HYDROS, true, "{'hydros':[]}" },
        { COBRE_FILE_HYDROS, false, "{'hydros':null}" },
        { COBRE_FILE_HYDROS, false, "{}" },
        { COBRE_FILE_HYDROS, false, "{'hydros':[7]}" },
        { COBRE_FILE_HYDROS, true, HYDRO(",'penalties':null,'downstream_id':null") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'penalties':{'spillage_cost':'1'}") },
        { COBRE_FILE_HYDROS, true, HYDRO(",'filling':{'start_stage_id':3}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'filling':{}") },
        { COBRE_FILE_HYDROS, false,
          HYDRO(",'filling':{'start_stage_id':3,'filling_inflow_m3s':-1}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'diversion':{'downstream_id':2}") },
        { COBRE_FILE_HYDROS, true, HYDRO(",'diversion':{'downstream_id':2,'max_flow_m3s':0}") },
        { COBRE_FILE_HYDROS, true,
          HYDRO(",'tailrace':{'type':'piecewise','points':[{'outflow_m3s':0,'height_m':1}]}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'tailrace':{'type':'piecewise','points':[]}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'tailrace':{'type':'polynomial','points':[]}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'tailrace':{'type':'spline','coefficients':[1]}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'hydraulic_losses':{'type':'factor','value_m':1}") },
        { COBRE_FILE_HYDROS, true, HYDRO(",'hydraulic_losses':{'type':'constant','value_m':1}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'efficiency':{'type':'constant','value':0}") },
        { COBRE_FILE_HYDROS, true, HYDRO(",'evaporation':{'coefficients_mm':" TWELVE "}") },
        { COBRE_FILE_HYDROS, false, HYDRO(",'evaporation':{'coefficients_mm':[1,2]}") },
        { COBRE_FILE_BUSES, false, "{'buses':[{'id':2147483648,'name':'A'}]}" },
        { COBRE_FILE_STAGES, true, STAGES("", "") },
        { COBRE_FILE_STAGES, false, STAGES(",'transitions':null", "") },
        { COBRE_FILE_STAGES, true,
          STAGES(",'transitions':[{'source_id':0,'target_id':1,'probability':1}]", "") },
        { COBRE_FILE_STAGES, false, STAGES(",'transitions':[{'source_id':0,'target_id':1}]", "") },
        { COBRE_FILE_STAGES, true, STAGES("", ",'risk_measure':'Expectation'") },
        { COBRE_FILE_STAGES, false, STAGES("", ",'risk_measure':'worst'") },
        { COBRE_FILE_STAGES, true, STAGES("", ",'risk_measure':{'cvar':{'alpha':1,'lambda':0}}") },
        { COBRE_FILE_STAGES, false, STAGES("", ",'risk_measure':{'cvar':{'alpha':0,'lambda':0}}") },
        { COBRE_FILE_STAGES, false, STAGES("", ",'risk_measure':{'cvar':{'alpha':1}}") },
        { COBRE_FILE_STAGES, false, STAGES("", ",'block_mode':null") },
        { COBRE_FILE_STAGES, false, STAGES("", ",'season_id':-1") },
        { COBRE_FILE_STAGES, false, STAGES("", "}],'scenario_source':{},'more':[{'x':1") },
        { COBRE_FILE_STAGES, true,
          STAGES("", "}],'season_definitions':{'cycle_type':'weekly',"
                     "'seasons':[{'id':0,'label':'A','month_start':12}]},"
                     "'more':[{'x':1") },
        { COBRE_FILE_STAGES, false,
          STAGES("", "}],'season_definitions':{'cycle_type':'weekly',"
                     "'seasons':[{'id':0,'label':'A','month_start':13}]},"
                     "'more':[{'x':1") },
        { COBRE_FILE_CORRELATION, true, GROUP("[[1]]") },
        { COBRE_FILE_CORRELATION, false, GROUP("[[1.5]]") },
        { COBRE_FILE_CORRELATION, false, GROUP("[1]") },
        { COBRE_FILE_CORRELATION, false, "{'method':'spectral','profiles':{}}" },
        { COBRE_FILE_CORRELATION, false,
          "{'method':'','profiles':{'a':{'correlation_groups':[]}}}" },
        { COBRE_FILE_INITIAL, true, "{'storage':[],'filling_storage':[]}" },
        { COBRE_FILE_INITIAL, false, "{'storage':[]}" },
        { COBRE_FILE_INITIAL, false,
          "{'storage':[{'hydro_id':1,'value_hm3':-0.5}],'filling_storage':[]}" },
        { COBRE_FILE_INITIAL, true,
          "{'storage':[],'filling_storage':[],'past_inflows':[{'hydro_id':1,'values_m3s':[-1],"
          "'season_ids':null}]}" },
        { COBRE_FILE_INITIAL, false,
          "{'storage':[],'filling_storage':[],'past_inflows':[{'hydro_id':1,'values_m3s':['1']}]}" },
        { COBRE_FILE_BUSES, true, "{'buses':[{'id':0,'name':'A','deficit_segments':null}]}" },
        { COBRE_FILE_BUSES, false, "{'buses':[{'id':0,'name':'A','deficit_segments':[]}]}" },
        { COBRE_FILE_BUSES, false, "{'buses':[{'id':0.5,'name':'A'}]}" },
        { COBRE_FILE_MODELS, false,
          "{'production_models':[{'hydro_id':1,'selection_mode':'seasonal','seasons':[]}]}" },
        { COBRE_FILE_MODELS, false,
          "{'production_models':[{'hydro_id':1,'selection_mode':'stage_ranges','stage_ranges':["
          "{'start_stage_id':0,'model':'fpha','fpha_config':{'source':'computed',"
          "'turbine_discretization_points':1}}]}]}" },
        { COBRE_FILE_LINES, false,
          "{'lines':[{'id':0,'name':'L','source_bus_id':0,'target_bus_id':1,"
          "'capacity':{'direct_mw':1}}]}" },
        { COBRE_FILE_LINES, false,
          "{'lines':[{'id':0,'name':'L','source_bus_id':0,'target_bus_id':1,'capacity':null}]}" },
        { COBRE_FILE_CONSTRAINTS, false,
          "{'constraints':[{'id':0,'name':'C','expression':'hydro_storage(1)','sense':'='}]}" },
        { COBRE_FILE_THERMALS, false,
          "{'thermals':[{'id':0,'name':'T','bus_id':1,'cost_per_mwh':1,'generation':{'min_mw':0,"
          "'max_mw':1},'gnl_config':{}}]}" },
        { COBRE_FILE_CONTRACTS, false,
          "{'contracts':[{'id':1,'name':'A','bus_id':0,'type':'swap','price_per_mwh':1,"
          "'limits':{'min_mw':0,'max_mw':1}}]}" },
    };
    const struct compiled *all = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct compiled *compiled = &all[cobre_schema_of(rows[i].file) - cobre_schemas];
        char *text = base_quoted(rows[i].text), why[240];
        if (takes(compiled, text, strlen(text), why, sizeof why) != rows[i].fits)
            fail_msg("the schema: %s: %s", text, why);
        if (loader_takes(rows[i].file, text, strlen(text)) != rows[i].fits)
            fail_msg("the loader: %s", text);
        free(text);
    }
    print_message("  %zu rows\n", sizeof rows / sizeof rows[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_has_one),
        cmocka_unit_test(every_example_file_fits),
        cmocka_unit_test(every_feature_fits),
        cmocka_unit_test(schema_and_loader_agree),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
