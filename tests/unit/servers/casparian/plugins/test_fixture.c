/*
 * test_fixture.c - each mode of fixture_plugin, found by the registry and run: what comes of it.
 */
#include "rig.h"

#include "plugins/registry.h"

static const struct {
    const char *mode;
    casparian_failure failure;
    const char *text; /* in its rows, its log or its error */
} modes[] = {
    { "normal", CASPARIAN_FAILURE_NONE, "fixture: id=int64:2 value=string:value_2\n" },
    { "slow", CASPARIAN_FAILURE_NONE, "fixture: id=int64:2" },
    { "collision", CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_job_id" },
    { "reserved_column", CASPARIAN_FAILURE_RESERVED_COLUMN, "_cf_source_hash" },
    { "error", CASPARIAN_FAILURE_PARSE_ERROR, "ValueError: the fixture fails" },
    { "crash", CASPARIAN_FAILURE_CRASHED, "signal 11" },
    { "bad_frame", CASPARIAN_FAILURE_PROTOCOL_ERROR, "no signal" },
    { "forge_frames", CASPARIAN_FAILURE_PROTOCOL_ERROR, "END without METRICS" },
    { "row_errors", CASPARIAN_FAILURE_NONE, "_cf_row_error=string:bad row __cf_row_id=int64:2" },
    { "nulls", CASPARIAN_FAILURE_NONE, "fixture: id=null value=null\n" },
    { "wrong_type", CASPARIAN_FAILURE_NONE, "fixture: id=string:no number 0 value=int64:0\n" },
    { "huge_row", CASPARIAN_FAILURE_NONE, "xxxx" },
    { "oom", CASPARIAN_FAILURE_MEMORY_LIMIT, "MemoryError" },
    { "stray_stderr", CASPARIAN_FAILURE_NONE, "1: a library says something" },
    { "two_outputs_interleaved", CASPARIAN_FAILURE_NONE, "fixture_second: id=int64:2" },
};

static const char source_folder[] = "%s/servers/casparian/parsers/fixture_plugin";

static void find_fixture(rig *self)
{
    casparian_registry_options options = { .allow_dev_plugins = true };
    casparian_registry *registry = NULL;
    mcp_error err = MCP_ERROR_INIT;
    const char *path = mcp_arena_printf(self->arena, source_folder, getenv("CAUSEWAY_SOURCE"));
    casparian_plugin_ref ref = { .path = path };
    assert_int_equal(casparian_registry_new(&registry, &options, NULL), MCP_OK);
    if (casparian_registry_resolve(&self->plugin, NULL, self->arena, registry, &ref, path, &err) !=
        MCP_OK)
        fail_msg("%s", err.message);
    casparian_registry_free(registry);
    assert_string_equal(self->plugin.id, "fixture_plugin");
    assert_true(self->plugin.is_trusted);
    assert_int_equal(self->plugin.schemas.count, 1);
}

static void each_mode_has_its_outcome(void **state)
{
    static rig all;
    static const char *env[2] = { NULL, "CF_FIXTURE_SLEEP_SECS=0.05" };
    (void)state;
    rig_open(&all);
    find_fixture(&all);
    all.options.env = env;
    all.options.env_count = 2;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        env[0] = mcp_arena_printf(all.arena, "CF_FIXTURE_MODE=%s", modes[i].mode);
        casparian_guest_free(all.guest); /* the mode is in its environment */
        all.guest = NULL;
        print_message("%s\n", modes[i].mode);
        rig_parse(&all, "one.txt");
        rig_expect(&all, modes[i].failure);
        if (!strstr(rig_rows(&all), modes[i].text) && !strstr(rig_log(&all), modes[i].text) &&
            !strstr(all.outcome.error, modes[i].text))
            fail_msg("no \"%s\": %s %.200s", modes[i].text, all.outcome.error, rig_rows(&all));
    }
    rig_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_has_its_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
