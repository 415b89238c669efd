/*
 * test_config_schema.c - the schema of config.json and the loader agree.
 *
 * Every shipped configuration matches the schema. Schema and loader agree about each row of the
 * table. Rules that only the loader can check (against other files, or of features not modelled)
 * are not here.
 */
#include "base_case.h"

#include "case/read/parse.h"
#include "case/schema/schema.h"
#include "mcp/schema.h"

struct compiled {
    mcp_arena *arena;
    mcp_schema *schema;
};

static char *source_file(const char *relative, size_t *length)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];
    struct stat about;

    snprintf(path, sizeof path, "%s/%s", source ? source : ".", relative);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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

static int setup(void **state)
{
    struct compiled *compiled = calloc(1, sizeof *compiled);
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_json_writer writer;
    mcp_buf buf;

    assert_non_null(compiled);
    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    cobre_schema_write(cobre_schema_of(COBRE_FILE_CONFIG), &writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    compiled->arena = mcp_arena_new(0);
    if (mcp_json_read(&json, compiled->arena, buf.data, buf.length, &err) != MCP_OK ||
        mcp_schema_compile(&compiled->schema, json, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    mcp_buf_clear(&buf);
    *state = compiled;
    return 0;
}

static int teardown(void **state)
{
    struct compiled *compiled = *state;

    mcp_schema_free(compiled->schema);
    mcp_arena_free(compiled->arena);
    free(compiled);
    return 0;
}

static bool schema_accepts(const struct compiled *compiled, const char *text, size_t length,
                           char *why, size_t size)
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

static bool loader_accepts(const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);

    input->arena = arena;
    input->report = cobre_report_new(arena);
    assert_int_equal(cobre_parse_json(input, COBRE_FILE_CONFIG, text, length, NULL), MCP_OK);
    bool accepts = cobre_report_count(input->report, COBRE_SEVERITY_ERROR) == 0;
    mcp_arena_free(arena);
    return accepts;
}

static void every_shipped_configuration_fits(void **state)
{
    static const char *const paths[] = {
        "examples/cases/four-stages/config.json",
        "examples/cases/merit-order/config.json",
        "examples/cases/water-for-later/config.json",
        "examples/cases/two-towns/config.json",
        "examples/cases/short-supply/config.json",
        "examples/cases/must-release/config.json",
        "../shared/data/cobre/1dtoy/config.json",
        "../shared/data/cobre/d01-thermal-dispatch/config.json",
        "../shared/data/cobre/d02-single-hydro/config.json",
        "../shared/data/cobre/d03-two-hydro-cascade/config.json",
        "../shared/data/cobre/d05-fpha-constant-head/config.json",
        "../shared/data/cobre/d09-multi-deficit/config.json",
        "../shared/data/cobre/d13-generic-constraint/config.json",
    };

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char why[240];
        size_t length = 0;
        char *text = source_file(paths[i], &length);
        if (!text) {
            print_message("  %s is absent: not checked\n", paths[i]);
            assert_true(strncmp(paths[i], "../", 3) == 0);
            continue;
        }
        if (!schema_accepts(*state, text, length, why, sizeof why))
            fail_msg("%s: %s", paths[i], why);
        assert_true(loader_accepts(text, length));
        free(text);
    }
}

#define TRAINING "'forward_passes':1,'stopping_rules':[{'type':'iteration_limit','limit':5}]"
#define WITH(more) "{'training':{" TRAINING "," more "}}"
#define RULE(rule) "{'training':{'forward_passes':1,'stopping_rules':[" rule "]}}"
#define WITH_MORE(more) "{'training':{" TRAINING "}," more "}"

static void schema_and_loader_agree(void **state)
{
    static const struct {
        bool fits;
        const char *text;
    } rows[] = {
        { true, "{'training':{" TRAINING "}}" },
        { true, "{'training':{'forward_passes':1,'stopping_rules':[]}}" },
        { false, "{}" },
        { false, "[]" },
        { false, "{'training':null}" },
        { false, "{'training':{'forward_passes':1}}" },
        { false, "{'training':{'stopping_rules':[]}}" },
        { false, "{'training':{'forward_passes':0,'stopping_rules':[]}}" },
        { false, "{'training':{'forward_passes':1.5,'stopping_rules':[]}}" },
        { false, "{'training':{'forward_passes':4294967296,'stopping_rules':[]}}" },
        { true, "{'training':{'forward_passes':4294967295,'stopping_rules':[]}}" },
        { true, RULE("{'type':'time_limit','seconds':1.5}") },
        { true, RULE("{'type':'time_limit','seconds':2}") },
        { false, RULE("{'type':'time_limit','seconds':-1}") },
        { false, RULE("{'type':'time_limit'}") },
        { true, RULE("{'type':'bound_stalling','iterations':3,'tolerance':0}") },
        { false, RULE("{'type':'bound_stalling','iterations':0,'tolerance':0}") },
        { false, RULE("{'type':'bound_stalling','iterations':3}") },
        { true, RULE("{'type':'simulation','replications':1,'period':1,'bound_window':1,"
                     "'distance_tol':0.1,'bound_tol':0.1}") },
        { false, RULE("{'type':'simulation','replications':1}") },
        { false, RULE("{'type':'patience'}") },
        { false, RULE("{'limit':3}") },
        { false, RULE("7") },
        { true, WITH("'tree_seed':null,'stopping_mode':'whatever','cut_formulation':null") },
        { false, WITH("'stopping_mode':null") },
        { false, WITH("'enabled':'yes'") },
        { true, WITH("'cut_formulation':'multi'") },
        { false, WITH("'cut_formulation':'both'") },
        { true, WITH("'forward_pass':{'type':'default'}") },
        { false, WITH("'cut_selection':null") },
        { true, WITH("'cut_selection':{'enabled':true,'method':'lml1','memory_window':3}") },
        { true, WITH("'cut_selection':{'enabled':null,'method':null,'threshold':null,"
                     "'memory_window':null,'domination_epsilon':null,'check_frequency':null,"
                     "'cut_activity_tolerance':null,'basis_activity_window':null,"
                     "'max_active_per_stage':null}") },
        { false, WITH("'cut_selection':{'method':'best'}") },
        { false, WITH("'cut_selection':{'basis_activity_window':0}") },
        { true, WITH("'cut_selection':{'basis_activity_window':31}") },
        { false, WITH("'solver':{'retry_max_attempts':-1}") },
        { true, WITH("'scenario_source':null") },
        { true, WITH("'scenario_source':{'seed':-3,'inflow':{'scheme':'in_sample'}}") },
        { false, WITH("'scenario_source':{'inflow':{'scheme':'out_of_sample'}}") },
        { true, WITH("'scenario_source':{'seed':1,'inflow':{'scheme':'historical'},"
                     "'historical_years':{'from':1990,'to':2000}}") },
        { false, WITH("'scenario_source':{'seed':1,'load':{'scheme':'historical'}}") },
        { false, WITH("'scenario_source':{'inflow':{'scheme':'in_sample','seed':1}}") },
        { true, WITH_MORE("'stages':120,'anything':[1,2]") },
        { false, WITH_MORE("'modeling':null") },
        { false, WITH_MORE("'modeling':{'inflow_non_negativity':{'method':'clip'}}") },
        { true, WITH_MORE("'modeling':{'inflow_non_negativity':{'method':'truncation'}}") },
        { true, WITH_MORE("'modeling':{'compatibility':'cobre-0.5','storage_bounds':'hard'}") },
        { false, WITH_MORE("'modeling':{'compatibility':'cobre-0.4'}") },
        { false, WITH_MORE("'modeling':{'storage_bounds':null}") },
        { false, WITH_MORE("'modeling':{'cycle_rounds':0}") },
        { true, WITH_MORE("'simulation':{'enabled':true,'num_scenarios':0,'output_mode':null}") },
        { false, WITH_MORE("'simulation':{'num_scenarios':1.5}") },
        { false, WITH_MORE("'simulation':{'policy_type':'upper'}") },
        { false, WITH_MORE("'simulation':{'scenario_source':{'ncs':{'scheme':'external'}}}") },
        { true, WITH_MORE("'policy':{'mode':'warm_start','checkpointing':{'enabled':null}}") },
        { false, WITH_MORE("'policy':{'mode':'hot'}") },
        { true, WITH_MORE("'policy':{'boundary':{'path':'p','source_stage':2}}") },
        { false, WITH_MORE("'policy':{'boundary':{'path':'p'}}") },
        { false, WITH_MORE("'exports':{'states':1}") },
        { true, WITH_MORE("'estimation':{'order_selection':'fixed','max_order':3}") },
        { false, WITH_MORE("'estimation':{'order_selection':'bic'}") },
        { true, WITH_MORE("'upper_bound_evaluation':{'lipschitz':{'mode':'auto'}}") },
        { false, WITH_MORE("'upper_bound_evaluation':{'lipschitz':{'scale_factor':'1'}}") },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[240];
        char *text = base_quoted(rows[i].text);
        size_t length = strlen(text);
        if (schema_accepts(*state, text, length, why, sizeof why) != rows[i].fits)
            fail_msg("the schema: %s: %s", text, why);
        if (loader_accepts(text, length) != rows[i].fits)
            fail_msg("the loader: %s", text);
        free(text);
    }
    print_message("  %zu rows\n", sizeof rows / sizeof rows[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_configuration_fits),
        cmocka_unit_test(schema_and_loader_agree),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
