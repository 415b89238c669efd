/*
 * test_prompts.c - prompts/list, prompts/get, and loading.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "feature_call.h"
#include "mcp/features.h"
#include "oom.h"

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
/* clang-format on */

static mcp_arena *arena;
static mcp__features *set;
static mcp_server_options options;
static char set_data[] = "data of the set";

/* ---- a set of prompts ----------------------------------------------------------------------- */

static const char greet[] = "---\n"
                            "name: fix/greet\n"
                            "title: Greet\n"
                            "description: Says hello\n"
                            "argument: who, required, Whom to greet\n"
                            "argument: tone, optional\n"
                            "---\n"
                            "Greet {{who}}, {{who}}! Tone: {{tone}}.\n"
                            "--- assistant\n"
                            "Hello\n";

static const char report[] = "---\n"
                             "name: fix/report\n"
                             "argument: dirs, optional\n"
                             "---\n"
                             "Compare {{dirs}}: {{count}} runs{{never}}.\n";

static const char rich[] = "---\n"
                           "name: rich\n"
                           "argument: what, optional, Anything\n"
                           "argument-title: what, The thing, if any\n"
                           "scopes: a b\n"
                           "icons: [{\"src\":\"data:,\"}]\n"
                           "meta: {\"k\":1}\n"
                           "---\n"
                           "Rich {{what}}.\n";

static const char plain[] = "---\nname: plain\n---\nNo arguments.\n";

/* Counts the comma-separated names, refuses "bad". */
static mcp_status fill_report(mcp_call *call, void *data)
{
    const char *dirs = mcp_arg_string(call, "dirs");
    int count = 1;

    assert_string_equal(data, "data of the set");
    assert_string_equal(mcp_call_name(call), "fix/report");
    if (dirs && strcmp(dirs, "bad") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS, "'dirs' is bad");
    for (const char *p = dirs; p && *p; p++)
        count += *p == ',';
    mcp_call_set_placeholder(call, "count", "lost");
    mcp_call_set_placeholder(call, "dirs", "the runs");
    return mcp_call_set_placeholder(call, "count",
                                    mcp_arena_printf(mcp_call_arena(call), "%d", count));
}

static const mcp_file files[] = {
    FILE_OF("prompts/b-report.md", report), FILE_OF("tools/x.md", "not a prompt"),
    FILE_OF("prompts/greet.md", greet),     FILE_OF("prompts/notes.txt", "not a prompt"),
    FILE_OF("prompts/plain.md", plain),     { 0 }
};

static const mcp_prompt rows[] = { { "fix/greet", NULL, MCP_READS, 0 },
                                   { "plain", NULL, MCP_READS | MCP_JSON_ARGUMENTS, 0 },
                                   { "fix/report", fill_report, MCP_READS, 250 },
                                   { 0 } };

static const mcp_features features = { .files = files, .prompts = rows, .data = set_data };

static int set_up_names(mcp_tool_names names)
{
    arena = mcp_arena_new(0);
    options = feature_options();
    options.tool_names = names;
    if (!arena || mcp__features_new(&set, &options, NULL) != MCP_OK)
        return -1;
    return mcp__prompts_load(set, &features, NULL) == MCP_OK ? 0 : -1;
}

static int set_up(void **state)
{
    (void)state;
    return set_up_names(MCP_NAMES_CANONICAL);
}

static int set_up_safe(void **state)
{
    (void)state;
    return set_up_names(MCP_NAMES_SAFE);
}

static int tear_down(void **state)
{
    (void)state;
    mcp__features_drop(set);
    mcp_arena_free(arena);
    return 0;
}

static mcp_status list(mcp_call *call)
{
    return mcp__list_answer(&set->prompts, call);
}

static mcp_status get(mcp_call *call)
{
    call->features = set;
    return mcp__prompts_get(call);
}

static const mcp_json *ask(const char *params)
{
    return feature_ask(get, &options, MCP_2025_06_18, params, arena);
}

/* A set that comes to the others, and who asks for it. */
static const mcp_file rich_files[] = { FILE_OF("prompts/rich.md", rich), { 0 } };
static const mcp_prompt rich_rows[] = { { "rich", NULL, MCP_READS, 0 }, { 0 } };
static const mcp_features rich_features = { .files = rich_files, .prompts = rich_rows };
static mcp_principal asker;

static mcp_status get_as_asker(mcp_call *call)
{
    call->principal = &asker;
    call->features = set;
    return mcp__prompts_get(call);
}

static const mcp_json *ask_rich(const char *scopes)
{
    asker = (mcp_principal){ "eve", scopes, 0 };
    return feature_ask(get_as_asker, &options, MCP_2025_06_18, "{\"name\":\"rich\"}", arena);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static const mcp_json *entries_of(mcp_revision revision)
{
    return mcp_json_pointer(feature_ask(list, &options, revision, NULL, arena), "/result/prompts");
}

static void test_lists_in_the_order_of_the_table(void **state)
{
    const mcp_json *entries = entries_of(MCP_2025_06_18);

    (void)state;
    assert_json(entries,
                "[{\"name\":\"fix/greet\",\"title\":\"Greet\",\"description\":\"Says hello\","
                "\"arguments\":[{\"name\":\"who\",\"description\":\"Whom to greet\","
                "\"required\":true},{\"name\":\"tone\",\"required\":false}]},"
                "{\"name\":\"plain\"},"
                "{\"name\":\"fix/report\",\"arguments\":[{\"name\":\"dirs\",\"required\":false}]}]",
                arena);
}

static void test_titles_came_with_2025_06_18(void **state)
{
    (void)state;
    assert_null(mcp_json_get(mcp_json_item(entries_of(MCP_2024_11_05), 0), "title"));
    assert_null(mcp_json_get(mcp_json_item(entries_of(MCP_2025_03_26), 0), "title"));
    assert_string_equal(mcp_json_get_string(mcp_json_item(entries_of(MCP_2025_11_25), 0), "title"),
                        "Greet");
}

static void test_safe_names_keep_the_registered_one(void **state)
{
    const mcp_json *entries = entries_of(MCP_2025_06_18);

    (void)state;
    assert_string_equal(mcp_json_get_string(mcp_json_item(entries, 0), "name"), "fix_greet");
    assert_string_equal(mcp_json_get_string(mcp_json_item(entries, 0), "title"), "Greet");
    assert_json(mcp_json_item(entries, 1), "{\"name\":\"plain\"}", arena);
    assert_json(mcp_json_item(entries, 2),
                "{\"name\":\"fix_report\",\"title\":\"fix/report\","
                "\"arguments\":[{\"name\":\"dirs\",\"required\":false}],"
                "\"_meta\":{\"causeway/canonicalName\":\"fix/report\"}}",
                arena);
    assert_json(mcp_json_item(entries_of(MCP_2024_11_05), 2),
                "{\"name\":\"fix_report\","
                "\"arguments\":[{\"name\":\"dirs\",\"required\":false}]}",
                arena);
}

static void test_titles_icons_and_meta_as_revisions_know_them(void **state)
{
    (void)state;
    assert_int_equal(mcp__prompts_load(set, &rich_features, NULL), MCP_OK);
    assert_json(mcp_json_item(entries_of(MCP_2025_03_26), 3),
                "{\"name\":\"rich\",\"arguments\":[{\"name\":\"what\","
                "\"description\":\"Anything\",\"required\":false}]}",
                arena);
    assert_json(
        mcp_json_item(entries_of(MCP_2025_06_18), 3),
        "{\"name\":\"rich\",\"arguments\":[{\"name\":\"what\",\"title\":\"The thing, if any\","
        "\"description\":\"Anything\",\"required\":false}],"
        "\"_meta\":{\"k\":1,\"causeway/scopes\":\"a b\"}}",
        arena);
    assert_json(mcp_json_get(mcp_json_item(entries_of(MCP_2025_11_25), 3), "icons"),
                "[{\"src\":\"data:,\"}]", arena);
}

static void test_scopes_refuse_or_hide(void **state)
{
    (void)state;
    assert_int_equal(mcp__prompts_load(set, &rich_features, NULL), MCP_OK);
    assert_rpc_error(ask_rich("a"), -32600, "a b");
    options.hide_by_scope = true;
    assert_rpc_error(ask_rich("a"), -32602, "no such prompt: rich");
    assert_non_null(mcp_json_pointer(ask_rich("b a"), "/result/messages"));
    options.hide_by_scope = false;
}

/* ---- getting -------------------------------------------------------------------------------- */

static void test_fills_places_with_arguments(void **state)
{
    (void)state;
    assert_json(mcp_json_get(ask("{\"name\":\"fix/greet\",\"arguments\":{\"who\":\"Ada\","
                                 "\"tone\":\"warm \\u00e9\\n\",\"other\":\"unknown\"}}"),
                             "result"),
                "{\"description\":\"Says hello\",\"messages\":["
                "{\"role\":\"user\",\"content\":{\"type\":\"text\","
                "\"text\":\"Greet Ada, Ada! Tone: warm \\u00e9\\n.\"}},"
                "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"Hello\"}}]}",
                arena);
    assert_json(mcp_json_get(ask("{\"name\":\"plain\"}"), "result"),
                "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
                "\"text\":\"No arguments.\"}}]}",
                arena);
    assert_json(mcp_json_get(ask("{\"name\":\"plain\",\"arguments\":{}}"), "result"),
                "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
                "\"text\":\"No arguments.\"}}]}",
                arena);
}

static const char *first_text(const mcp_json *message)
{
    return mcp_json_string(mcp_json_pointer(message, "/result/messages/0/content/text"), NULL);
}

static void test_a_value_is_never_searched_for_places(void **state)
{
    (void)state;
    assert_string_equal(first_text(ask("{\"name\":\"fix/greet\",\"arguments\":{"
                                       "\"who\":\"{{tone}}\",\"tone\":\"{{who}}\"}}")),
                        "Greet {{tone}}, {{tone}}! Tone: {{who}}.");
}

static void test_what_is_left_out_is_empty(void **state)
{
    (void)state;
    assert_string_equal(first_text(ask("{\"name\":\"fix/greet\",\"arguments\":{\"who\":\"\"}}")),
                        "Greet , ! Tone: .");
}

static void test_a_function_fills_the_other_places(void **state)
{
    (void)state;
    assert_string_equal(first_text(ask("{\"name\":\"fix/report\","
                                       "\"arguments\":{\"dirs\":\"/a,/b\"}}")),
                        "Compare the runs: 2 runs.");
    assert_rpc_error(ask("{\"name\":\"fix/report\",\"arguments\":{\"dirs\":\"bad\"}}"), -32602,
                     "'dirs' is bad");
}

static void test_answers_to_both_names_always(void **state)
{
    (void)state;
    assert_non_null(mcp_json_get(ask("{\"name\":\"fix/report\"}"), "result"));
    assert_non_null(mcp_json_get(ask("{\"name\":\"fix_report\"}"), "result"));
}

static void test_refuses_what_is_no_prompt(void **state)
{
    (void)state;
    assert_rpc_error(ask(NULL), -32602, "name");
    assert_rpc_error(ask("{}"), -32602, "name");
    assert_rpc_error(ask("{\"name\":7}"), -32602, "name");
    assert_rpc_error(ask("{\"name\":\"fix/gree\"}"), -32602, "fix/gree");
    assert_rpc_error(ask("{\"name\":\"fix/greet\\u0000\"}"), -32602, "no such prompt");
    assert_rpc_error(ask("{\"name\":\"fix/greet\"}"), -32602, "'who'");
    assert_rpc_error(ask("{\"name\":\"fix/greet\",\"arguments\":{\"tone\":\"x\"}}"), -32602,
                     "'who'");
    assert_rpc_error(ask("{\"name\":\"fix/greet\",\"arguments\":{\"who\":7}}"), -32602, "'who'");
    assert_rpc_error(ask("{\"name\":\"fix/greet\",\"arguments\":{\"who\":null}}"), -32602, "'who'");
    assert_rpc_error(ask("{\"name\":\"fix/report\",\"arguments\":{\"dirs\":[\"a\"]}}"), -32602,
                     "'dirs'");
    assert_rpc_error(ask("{\"name\":\"fix/greet\",\"arguments\":{\"who\":\"x\",\"other\":1}}"),
                     -32602, "'other'");
    assert_rpc_error(ask("{\"name\":\"fix/greet\",\"arguments\":[\"who\"]}"), -32602, "arguments");
    assert_rpc_error(ask("{\"name\":\"plain\",\"arguments\":null}"), -32602, "arguments");
}

static void test_a_prompt_may_take_any_json(void **state)
{
    (void)state;
    assert_non_null(mcp_json_get(
        ask("{\"name\":\"plain\",\"arguments\":{\"other\":1,\"list\":[\"a\",null]}}"), "result"));
    assert_rpc_error(ask("{\"name\":\"plain\",\"arguments\":[1]}"), -32602, "arguments");
}

static void test_an_answer_is_bounded(void **state)
{
    (void)state;
    options.limits.reply_max_bytes = 300;
    assert_non_null(mcp_json_get(ask("{\"name\":\"plain\"}"), "result"));
    assert_rpc_error(
        ask("{\"name\":\"fix/greet\",\"arguments\":{\"who\":\"aaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}"),
        -32603, "300");
}

/* ---- loading -------------------------------------------------------------------------------- */

static mcp_status load(const mcp_file *set_files, const mcp_prompt *table, mcp_error *err)
{
    const mcp_features more_features = { .files = set_files, .prompts = table };
    mcp__features *fresh = NULL;
    mcp_status st;

    assert_int_equal(mcp__features_new(&fresh, &options, NULL), MCP_OK);
    st = mcp__prompts_load(fresh, &more_features, err);
    mcp__features_drop(fresh);
    return st;
}

static void test_file_and_table_must_name_the_same(void **state)
{
    static const char body[] = "---\nname: a/b\n---\nx";
    static const char other[] = "---\nname: a_b\n---\nx";
    static const char place[] = "---\nname: a/b\n---\n{{nobody}}";
    static const char broken[] = "---\nname: a/b\n";
    static const mcp_file none[] = { { 0 } };
    static const mcp_file one[] = { FILE_OF("prompts/p.md", body), { 0 } };
    static const mcp_file same[] = { FILE_OF("prompts/p.md", body),
                                     FILE_OF("prompts/q.md", body),
                                     { 0 } };
    static const mcp_file alias[] = { FILE_OF("prompts/p.md", body),
                                      FILE_OF("prompts/q.md", other),
                                      { 0 } };
    static const mcp_file open_place[] = { FILE_OF("prompts/p.md", place), { 0 } };
    static const mcp_file half[] = { FILE_OF("prompts/p.md", broken), { 0 } };
    static const mcp_prompt no_rows[] = { { 0 } };
    static const mcp_prompt row[] = { { "a/b", NULL, 0, 0 }, { 0 } };
    static const mcp_prompt twice[] = { { "a/b", NULL, 0, 0 }, { "a/b", NULL, 0, 0 }, { 0 } };
    static const mcp_prompt both[] = { { "a/b", NULL, 0, 0 }, { "a_b", NULL, 0, 0 }, { 0 } };
    static const mcp_prompt writes[] = { { "a/b", NULL, MCP_WRITES, 0 }, { 0 } };
    static const struct {
        const mcp_file *files;
        const mcp_prompt *table;
        const char *words;
    } wrong[] = {
        { none, row, "'a/b'" },           { NULL, row, "'a/b'" },
        { one, no_rows, "prompts/p.md" }, { same, row, "prompts/q.md" },
        { one, twice, "prompts/p.md" },   { alias, both, "'a_b'" },
        { open_place, row, "'nobody'" },  { half, row, "prompts/p.md: line" },
        { one, writes, "MCP_WRITES" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(load(wrong[i].files, wrong[i].table, &err), MCP_E_PARAMS);
        if (!strstr(err.message, wrong[i].words))
            fail_msg("row %zu: %s", i, err.message);
    }
    assert_int_equal(load(none, no_rows, NULL), MCP_OK);
    assert_int_equal(load(one, row, NULL), MCP_OK);
}

static mcp_status load_all(void *data)
{
    mcp__features *fresh = NULL;
    mcp_status st = mcp__features_new(&fresh, &options, NULL);

    (void)data;
    if (st == MCP_OK)
        st = mcp__prompts_load(fresh, &features, NULL);
    mcp__features_drop(fresh);
    return st;
}

static void test_memory_can_run_out_anywhere(void **state)
{
    (void)state;
    oom_walk(load_all, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lists_in_the_order_of_the_table),
        TEST(test_titles_came_with_2025_06_18),
        TEST(test_titles_icons_and_meta_as_revisions_know_them),
        TEST(test_scopes_refuse_or_hide),
        cmocka_unit_test_setup_teardown(test_safe_names_keep_the_registered_one, set_up_safe,
                                        tear_down),
        TEST(test_fills_places_with_arguments),
        TEST(test_a_value_is_never_searched_for_places),
        TEST(test_what_is_left_out_is_empty),
        TEST(test_a_function_fills_the_other_places),
        TEST(test_answers_to_both_names_always),
        TEST(test_refuses_what_is_no_prompt),
        TEST(test_a_prompt_may_take_any_json),
        TEST(test_an_answer_is_bounded),
        TEST(test_file_and_table_must_name_the_same),
        TEST(test_memory_can_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
