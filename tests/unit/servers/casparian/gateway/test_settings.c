/*
 * test_settings.c - where the value of a setting comes from, and which files and variables are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "gateway/permissions.h"
#include "gateway/settings.h"
#include "scratch_arena.h"

static mcp_status read_text(casparian_config **out, scratch_arena *t, const char *text)
{
    scratch_write(&t->folder, "config.toml", text, strlen(text));
    return casparian_config_open(out, scratch_path(&t->folder, "config.toml"), 0, NULL, &t->err);
}

static void without_a_file_all_have_their_defaults(void **state)
{
    scratch_arena *t = *state;
    casparian_config *config = NULL;
    scratch_arena_expect(t, casparian_config_open(&config, scratch_path(&t->folder, "none.toml"),
                                                  CONFIG_OPTIONAL, NULL, &t->err));
    assert_int_equal(config->mcp.max_rows, 10000);
    assert_int_equal(config->mcp.max_response_bytes, 1048576);
    assert_int_equal(config->mcp.rate_limit_rpm, 1200);
    assert_int_equal(config->mcp.expensive_rpm, 240);
    assert_int_equal(config->mcp.allowed_path_count, 1);
    assert_string_equal(config->mcp.allowed_paths[0], ".");
    assert_int_equal(config->work.jobs.timeout_ms, 1800000);
    assert_int_equal(config->work.approvals.ttl_s, 3600);
    assert_false(config->work.quarantine.allow_quarantine);
    assert_true(config->work.quarantine.max_quarantine_pct == 10.0);
    assert_false(config->work.quarantine.has_count);
    assert_int_equal(config->redaction.mode, CASPARIAN_REDACTION_HASH);
    assert_int_equal(config->redaction.floor, CASPARIAN_REDACTION_NONE);
    assert_true(config->redaction.protect_sensitive);
    assert_false(config->trust.allow_dev_plugins);
    assert_int_equal(config->decide, CASPARIAN_DECIDE_ELICIT);
    assert_true(config->audit.is_required);
    casparian_config_free(config);
    assert_int_equal(
        casparian_config_open(&config, scratch_path(&t->folder, "none.toml"), 0, NULL, &t->err),
        MCP_E_NOT_FOUND);
}

static void a_file_sets_values_lists_and_tables(void **state)
{
    static const char text[] = "[mcp]\n"
                               "max_rows = 50\n"
                               "allowed_paths = [\"a\", \"b\"]\n"
                               "[redaction]\n"
                               "floor = \"truncate\"\n"
                               "sensitive_columns = [\"*_name\"]\n"
                               "[quarantine]\n"
                               "max_quarantine_count = 0\n"
                               "dir = \"bad\"\n"
                               "[plugins.fix_parser]\n"
                               "patterns = [\"*.fix\"]\n"
                               "isolation = \"exec\"\n"
                               "processes = true\n"
                               "[plugins.fix_parser.env]\n"
                               "MODE = \"fast\"\n"
                               "[trust]\n"
                               "allowed_signers = [\"lab\"]\n"
                               "[trust.keys]\n"
                               "lab = \"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"\n"
                               "[[sinks]]\n"
                               "topic = \"orders\"\n"
                               "uri = \"parquet://./orders\"\n";
    scratch_arena *t = *state;
    casparian_config *config = NULL;
    scratch_arena_expect(t, read_text(&config, t, text));
    assert_int_equal(config->mcp.max_rows, 50);
    assert_int_equal(config->mcp.allowed_path_count, 2);
    assert_string_equal(config->mcp.allowed_paths[1], "b");
    assert_int_equal(config->redaction.floor, CASPARIAN_REDACTION_TRUNCATE);
    assert_string_equal(config->redaction.sensitive[0], "*_name");
    assert_true(config->work.quarantine.has_count);
    assert_int_equal(config->work.quarantine.max_quarantine_count, 0);
    assert_string_equal(config->work.quarantine.dir, "bad");
    assert_int_equal(config->work.plugins.count, 1);
    const casparian_plugin_settings *plugin = &config->work.plugins.each[0];
    assert_string_equal(plugin->id, "fix_parser");
    assert_string_equal(plugin->patterns[0], "*.fix");
    assert_int_equal(plugin->isolation, CASPARIAN_PER_EXEC);
    assert_true(plugin->may_start_processes);
    assert_string_equal(plugin->env[0], "MODE=fast");
    assert_int_equal(config->trust.signer_count, 1);
    assert_string_equal(config->trust.signers[0].name, "lab");
    assert_int_equal(config->trust.signers[0].key[31], 31);
    assert_string_equal(config->sinks[0].uri, "parquet://./orders");
    casparian_config_free(config);
}

static void a_variable_goes_before_the_file(void **state)
{
    scratch_arena *t = *state;
    casparian_config *config = NULL;
    assert_int_equal(setenv("CASPARIAN_MCP_MAX_ROWS", "7", 1), 0);
    assert_int_equal(setenv("CASPARIAN_ALLOW_UNSIGNED_PYTHON", "yes", 1), 0);
    scratch_arena_expect(t, read_text(&config, t, "[mcp]\nmax_rows = 50\n"));
    assert_int_equal(config->mcp.max_rows, 7);
    assert_true(config->trust.allow_unsigned_python);
    casparian_config_free(config);
    assert_int_equal(setenv("CASPARIAN_MCP_MAX_ROWS", "many", 1), 0);
    assert_int_equal(read_text(&config, t, ""), MCP_E_PARAMS);
    assert_non_null(strstr(t->err.message, "CASPARIAN_MCP_MAX_ROWS"));
    assert_int_equal(unsetenv("CASPARIAN_MCP_MAX_ROWS"), 0);
    assert_int_equal(unsetenv("CASPARIAN_ALLOW_UNSIGNED_PYTHON"), 0);
}

static void what_is_wrong_in_a_file_is_named(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "[mcp]\nmax_row = 5\n", "config.toml:2:1: mcp.max_row: unknown key; did you mean" },
        { "[trusts]\nmode = \"x\"\n", "unknown key" },
        { "[mcp]\nmax_rows = \"5\"\n", "wants a whole number from 1 to 1000000" },
        { "[mcp]\nmax_rows = 0\n", "wants a whole number from 1 to 1000000" },
        { "[mcp]\nprofile = \"root\"\n", "wants default, readonly or full" },
        { "[mcp]\nallowed_paths = []\n", "names no directory" },
        { "[quarantine]\nmax_quarantine_pct = 101\n", "wants a number from 0 to 100" },
        { "[trust]\nallowed_signers = [\"lab\"]\n", "no key of 'lab'" },
        { "[trust]\nallowed_signers = [\"a\"]\n[trust.keys]\na = \"AA==\"\n", "is not 32 bytes" },
        { "[redaction]\nhmac_key_file = \"/nothing/there\"\n", "/nothing/there" },
        { "[[sinks]]\ntopic = \"x\"\n", "requires the keys topic and uri" },
        { "[[sinks]]\ntopic = \"x\"\nuri = \"ftp://y\"\n", "the sink of the topic 'x'" },
        { "[[sinks]]\ntopic = \"x\"\nuri = \"csv://y\"\nmode = \"replace\"\n",
          "a sink of csv has the mode append alone" },
        { "[[sinks]]\ntopic = \"x\"\nuri = \"csv://y\"\nmode = \"add\"\n",
          "wants append, replace or error" },
        { "[mcp\n", "config.toml:1" },
    };
    scratch_arena *t = *state;
    casparian_config *config = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(read_text(&config, t, cases[i].text), MCP_OK);
        if (!strstr(t->err.message, cases[i].words))
            fail_msg("%s: %s", cases[i].words, t->err.message);
    }
}

static void each_value_is_shown_with_its_origin(void **state)
{
    scratch_arena *t = *state;
    casparian_config *config = NULL;
    const mcp_json *all = NULL;
    mcp_json_writer json;
    mcp_buf text;
    assert_int_equal(setenv("CASPARIAN_QUERY_THREADS", "3", 1), 0);
    scratch_arena_expect(t, read_text(&config, t, "[mcp]\nmax_rows = 50\n"));
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    casparian_config_write(&json, config);
    mcp_write_end(&json);
    scratch_arena_expect(t, mcp_json_read(&all, t->arena, text.data, text.length, &t->err));
    const mcp_json *rows = mcp_json_get(all, "mcp.max_rows");
    assert_non_null(strstr(mcp_json_get_string(rows, "origin"), "config.toml:2:1"));
    const mcp_json *threads = mcp_json_get(all, "query.threads");
    assert_string_equal(mcp_json_get_string(threads, "origin"), "CASPARIAN_QUERY_THREADS");
    const mcp_json *bytes = mcp_json_get(all, "mcp.max_response_bytes");
    assert_string_equal(mcp_json_get_string(bytes, "origin"), "default");
    mcp_buf_clear(&text);
    casparian_config_free(config);
    assert_int_equal(unsetenv("CASPARIAN_QUERY_THREADS"), 0);
}

/* ---- permissions ----------------------------------------------------------------------------- */

static const casparian_tool tools[] = {
    { .name = "casparian_scan" },
    { .name = "casparian_run_request", .traits = CASPARIAN_CHANGES },
    { .name = "casparian_approval_decide", .traits = CASPARIAN_CHANGES | CASPARIAN_DECIDES },
    { 0 },
};

static void tools_are_allowed_asked_for_or_denied(void **state)
{
    static const char text[] = "[mcp]\n"
                               "disabled_tools = [\"casparian_scan\"]\n"
                               "[mcp.tools]\n"
                               "casparian_approval_decide = \"ask\"\n"
                               "[mcp.tools.casparian_run_request]\n"
                               "sinks = [\"parquet\"]\n";
    scratch_arena *t = *state;
    casparian_config *config = NULL;
    scratch_arena_expect(t, read_text(&config, t, text));
    scratch_arena_expect(t, casparian_permissions_check(config, tools, &t->err));
    assert_int_equal(casparian_permission_of(config, &tools[0]), CASPARIAN_DENY);
    assert_int_equal(casparian_permission_of(config, &tools[1]), CASPARIAN_ALLOW);
    assert_int_equal(casparian_permission_of(config, &tools[2]), CASPARIAN_ASK);
    assert_true(casparian_permission_has(config, &tools[1], "sinks", "parquet"));
    assert_false(casparian_permission_has(config, &tools[1], "sinks", "duckdb"));
    assert_true(casparian_permission_has(config, &tools[1], "plugins", "any"));
    casparian_config_free(config);
    scratch_arena_expect(t, read_text(&config, t, "[mcp]\nprofile = \"readonly\"\n"));
    assert_int_equal(casparian_permission_of(config, &tools[0]), CASPARIAN_ALLOW);
    assert_int_equal(casparian_permission_of(config, &tools[1]), CASPARIAN_DENY);
    casparian_config_free(config);
    scratch_arena_expect(t, read_text(&config, t, "[approvals]\ndecide_tool = \"off\"\n"));
    assert_int_equal(casparian_permission_of(config, &tools[2]), CASPARIAN_DENY);
    casparian_config_free(config);
}

static void permissions_of_no_tool_are_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "[mcp.tools]\ncasparian_scam = \"deny\"\n", "did you mean 'casparian_scan'" },
        { "[mcp]\ndisabled_tools = [\"nothing\"]\n", "no tool 'nothing'" },
        { "[mcp.tools]\ncasparian_scan = \"never\"\n", "wants allow, ask or deny" },
        { "[mcp.tools]\ncasparian_scan = 5\n", "wants allow, ask, deny or a table" },
        { "[mcp.tools.casparian_scan]\nsink = [\"csv\"]\n", "plugins and sinks" },
        { "[mcp.tools.casparian_scan]\nsinks = \"csv\"\n", "plugins and sinks" },
    };
    scratch_arena *t = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        casparian_config *config = NULL;
        scratch_arena_expect(t, read_text(&config, t, cases[i].text));
        assert_int_equal(casparian_permissions_check(config, tools, &t->err), MCP_E_PARAMS);
        if (!strstr(t->err.message, cases[i].words))
            fail_msg("%s: %s", cases[i].words, t->err.message);
        casparian_config_free(config);
    }
}

int main(void)
{
#define EACH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, scratch_arena_set_up, scratch_arena_tear_down)
    const struct CMUnitTest tests_[] = {
        EACH(without_a_file_all_have_their_defaults), EACH(a_file_sets_values_lists_and_tables),
        EACH(a_variable_goes_before_the_file),        EACH(what_is_wrong_in_a_file_is_named),
        EACH(each_value_is_shown_with_its_origin),    EACH(tools_are_allowed_asked_for_or_denied),
        EACH(permissions_of_no_tool_are_refused),
    };
    return cmocka_run_group_tests(tests_, NULL, NULL);
}
