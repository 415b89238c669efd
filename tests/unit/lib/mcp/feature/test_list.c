/*
 * test_list.c - names, who is shown what, pages and their cursors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "mcp/core/call/call_int.h"
#include "mcp/feature/list.h"
#include <cmocka.h>

static mcp_server_options options = { .limits.reply_max_bytes = 1 << 20 };
static mcp__context context = { .options = &options };
static mcp_arena *arena;
static mcp__list list;
static mcp_call *call;

static void render(mcp_json_writer *writer, const mcp__feature *feature, mcp_revision revision)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", feature->name);
    mcp_write_member_string(writer, "for", mcp_revision_name(revision));
    mcp_write_end(writer);
}

static void render_badly(mcp_json_writer *writer, const mcp__feature *feature,
                         mcp_revision revision)
{
    (void)feature;
    (void)revision;
    mcp_write_string(writer, "\xff");
}

/* The feature's data is its entry. */
static void render_data(mcp_json_writer *writer, const mcp__feature *feature, mcp_revision revision)
{
    (void)revision;
    mcp_write_raw(writer, feature->data, strlen(feature->data));
}

static void begin(const char *params)
{
    assert_int_equal(mcp__call_new(&call, mcp_arena_new(0), &context, NULL), MCP_OK);
    call->request.revision = MCP_2025_06_18;
    if (params)
        assert_int_equal(
            mcp_json_read(&call->request.params, call->arena, params, strlen(params), NULL),
            MCP_OK);
}

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    mcp__list_init(&list, arena, "tools", MCP_FEATURE_TOOL);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static mcp__feature *named(const char *name)
{
    mcp__feature *feature = mcp_arena_alloc(arena, sizeof *feature);

    assert_non_null(feature);
    feature->name = mcp_arena_strdup(arena, name);
    return feature;
}

static void add(int from, int to)
{
    char name[32];

    for (int i = from; i < to; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(mcp__list_add(&list, named(name), render, NULL), MCP_OK);
    }
}

/* The names of one page; returns its nextCursor in "cursor", or "". */
static size_t read_page(char *cursor, size_t size, int first)
{
    const mcp_json *page = NULL;
    const mcp_json *entries;
    char name[32];

    mcp_write_end(mcp_call_result(call));
    assert_int_equal(mcp_json_read(&page, call->arena, call->answer.result.text.data,
                                   call->answer.result.text.length, NULL),
                     MCP_OK);
    entries = mcp_json_get(page, "tools");
    for (size_t i = 0; i < mcp_json_count(entries); i++) {
        (void)snprintf(name, sizeof name, "n%d", first + (int)i);
        assert_string_equal(mcp_json_get_string(mcp_json_item(entries, i), "name"), name);
        assert_string_equal(mcp_json_get_string(mcp_json_item(entries, i), "for"), "2025-06-18");
    }
    const char *next = mcp_json_get_string(page, "nextCursor");
    (void)snprintf(cursor, size, "%s", next ? next : "");
    return mcp_json_count(entries);
}

static void an_empty_list_is_a_list(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
    mcp_write_end(mcp_call_result(call));
    assert_string_equal(call->answer.result.text.data, "{\"tools\":[]}");
    mcp__call_free(call);
}

static void a_hundred_fit_one_page(void **state)
{
    char cursor[200];

    (void)state;
    add(0, 99);
    for (int count = 99; count <= 101; count++) {
        begin("{}");
        assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
        assert_int_equal(read_page(cursor, sizeof cursor, 0), count < 100 ? count : 100);
        assert_int_equal(cursor[0] != '\0', count > 100);
        mcp__call_free(call);
        add(count, count + 1);
    }
}

static void pages_follow_one_another_without_gap(void **state)
{
    char cursor[200] = "";
    char params[300];
    int seen = 0;

    (void)state;
    add(0, 250);
    do {
        (void)snprintf(params, sizeof params, cursor[0] ? "{\"cursor\":\"%s\"}" : "{}", cursor);
        begin(params);
        assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
        seen += (int)read_page(cursor, sizeof cursor, seen);
        mcp__call_free(call);
    } while (cursor[0]);
    assert_int_equal(seen, 250);
}

static void the_size_of_a_page_can_be_set(void **state)
{
    char cursor[200];

    (void)state;
    list.page = 2;
    add(0, 4);
    begin(NULL);
    assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
    assert_int_equal(read_page(cursor, sizeof cursor, 0), 2);
    mcp__call_free(call);
}

/* Nothing names the number of an entry, so a cursor leads on from its entry when the list has
   grown. */
static void a_cursor_holds_when_the_list_grows(void **state)
{
    char cursor[200];
    char params[300];

    (void)state;
    list.page = 2;
    add(0, 3);
    begin(NULL);
    assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
    assert_int_equal(read_page(cursor, sizeof cursor, 0), 2);
    mcp__call_free(call);
    add(3, 4);
    (void)snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", cursor);
    begin(params);
    assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
    assert_int_equal(read_page(cursor, sizeof cursor, 2), 2);
    assert_string_equal(cursor, "");
    mcp__call_free(call);
}

static void an_invalid_cursor_is_refused(void **state)
{
    static const char *const plain[] = { "",         "tools",      "tools:",
                                         "tools:n9", "prompts:n0", "tools:n0x" };
    static const char *const raw[] = { "{\"cursor\":7}", "{\"cursor\":null}", "{\"cursor\":\"!!\"}",
                                       "{\"cursor\":\"A\"}" };
    char params[300];

    (void)state;
    add(0, 3);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        (void)snprintf(params, sizeof params, "{\"cursor\":\"%s\"}",
                       mcp__base64url_encode(arena, plain[i], strlen(plain[i])));
        begin(params);
        assert_int_equal(mcp__list_answer(&list, call), MCP_E_PARAMS);
        assert_int_equal(call->answer.result.holds, MCP__DRAFT_EMPTY);
        mcp__call_free(call);
    }
    for (size_t i = 0; i < sizeof raw / sizeof raw[0]; i++) {
        begin(raw[i]);
        assert_int_equal(mcp__list_answer(&list, call), MCP_E_PARAMS);
        mcp__call_free(call);
    }
}

/* Hides every third entry, the first among them. */
static bool is_no_third(const mcp_call *of, mcp_feature feature, const char *name, void *data)
{
    (void)of;
    (void)data;
    assert_int_equal(feature, MCP_FEATURE_TOOL);
    return (name[1] - '0') % 3 != 0;
}

/* Each page is full where there is more, and the last has no cursor though a hidden entry comes
 * after it. */
static void hidden_entries_leave_no_gap(void **state)
{
    static const char *const pages[] = { "12", "45", "78" };
    char params[300] = "{}";

    (void)state;
    options.visible = is_no_third;
    list.page = 2;
    add(0, 10);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        const mcp_json *page = NULL;
        begin(params);
        assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
        assert_false(call->answer.caching.is_public);
        mcp_write_end(mcp_call_result(call));
        assert_int_equal(mcp_json_read(&page, call->arena, call->answer.result.text.data,
                                       call->answer.result.text.length, NULL),
                         MCP_OK);
        const mcp_json *tools = mcp_json_get(page, "tools");
        assert_int_equal(mcp_json_count(tools), 2);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(mcp_json_get_string(mcp_json_item(tools, k), "name")[1], pages[i][k]);
        const char *next = mcp_json_get_string(page, "nextCursor");
        assert_int_equal(next != NULL, i < 2);
        (void)snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", next ? next : "");
        mcp__call_free(call);
    }
    options.visible = NULL;
}

/* Else a cursor made up would tell whether there is an entry of that name. */
static void a_cursor_at_a_hidden_entry_is_none(void **state)
{
    char params[300];

    (void)state;
    options.visible = is_no_third;
    add(0, 5);
    (void)snprintf(params, sizeof params, "{\"cursor\":\"%s\"}",
                   mcp__base64url_encode(arena, "tools:n3", 8));
    begin(params);
    assert_int_equal(mcp__list_answer(&list, call), MCP_E_PARAMS);
    assert_string_equal(call->err.message, "invalid cursor");
    mcp__call_free(call);
    options.visible = NULL;
}

static void an_entry_that_cannot_be_written_is_not_added(void **state)
{
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp__list_add(&list, named("x"), render_badly, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "x cannot be put"));
    begin("{}");
    assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
    mcp_write_end(mcp_call_result(call));
    assert_string_equal(call->answer.result.text.data, "{\"tools\":[]}");
    mcp__call_free(call);
}

/* The one entry of a list, as a client with or without pages of tools sees it. */
static void check_entry(unsigned client_can, const char *entry)
{
    char wanted[200];

    (void)snprintf(wanted, sizeof wanted, "{\"tools\":[%s]}", entry);
    begin("{}");
    call->request.client_can = client_can;
    assert_int_equal(mcp__list_answer(&list, call), MCP_OK);
    mcp_write_end(mcp_call_result(call));
    assert_string_equal(call->answer.result.text.data, wanted);
    mcp__call_free(call);
}

static void entries_lose_their_page_and_nothing_else(void **state)
{
    static struct {
        char with[90];
        const char *without; /* NULL: it names none */
    } rows[] = {
        { "{\"name\":\"a\"}", NULL },
        { "{\"name\":\"a\",\"_meta\":{\"x\":1}}", NULL },
        { "{\"name\":\"a\",\"ui\":{}}", NULL },
        { "{\"name\":\"a\",\"_meta\":{\"ui\":{\"resourceUri\":\"ui://a\"}}}",
          "{\"name\":\"a\",\"_meta\":{}}" },
        { "{\"_meta\":{\"x\":1,\"ui/resourceUri\":\"ui://a\"},\"name\":\"a\"}",
          "{\"_meta\":{\"x\":1},\"name\":\"a\"}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp__feature *feature = named("a");
        feature->data = rows[i].with;
        mcp__list_init(&list, arena, "tools", MCP_FEATURE_TOOL);
        assert_int_equal(mcp__list_add(&list, feature, render_data, NULL), MCP_OK);
        assert_int_equal(list.varies, rows[i].without != NULL);
        check_entry(MCP_CLIENT_UI, rows[i].with);
        check_entry(0, rows[i].without ? rows[i].without : rows[i].with);
    }
}

static const char *safe(const char *name)
{
    mcp__feature *feature = named(name);

    assert_int_equal(mcp__list_set_safe_name(&list, feature, NULL), MCP_OK);
    return feature->safe_name;
}

static void every_other_byte_becomes_an_underscore(void **state)
{
    (void)state;
    assert_string_equal(safe("cobre/query-results"), "cobre_query_results");
    assert_string_equal(safe("Az09_ .\xc3\xa9"), "Az09_____");
    assert_string_equal(safe(""), "");
}

static void a_long_name_is_cut_at_64(void **state)
{
    char name[100];

    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(strlen(safe(name)), 64);
}

static void the_mode_decides_by_revision(void **state)
{
    static const mcp_revision revisions[] = { MCP_2024_11_05, MCP_2025_03_26, MCP_2025_06_18,
                                              MCP_2025_11_25 };
    const mcp_server_options canonical = { .tool_names = MCP_NAMES_CANONICAL };
    const mcp_server_options always = { .tool_names = MCP_NAMES_SAFE };
    const mcp_server_options automatic = { .tool_names = MCP_NAMES_AUTO };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_false(mcp__list_shows_safe_names(&canonical, revisions[i]));
        assert_true(mcp__list_shows_safe_names(&always, revisions[i]));
        assert_int_equal(mcp__list_shows_safe_names(&automatic, revisions[i]), i >= 2);
    }
}

/* RFC 6749, 3.3: words of %x21, %x23-5B and %x5D-7E, single spaces between them. */
static void scopes_are_words_between_spaces(void **state)
{
    static const char *const good[] = { "a",           "a b", "cases.read cases.write",
                                        "https://x/y", "!~",  "[]" };
    static const char *const bad[] = { "",     " ",    "a ",   " a",          "a  b",
                                       "a\tb", "a\"b", "a\\b", "caf\xc3\xa9", "a\x7f" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(mcp__list_are_scopes(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mcp__list_are_scopes(bad[i]));
}

static mcp_status read_scopes(const char **out, const char *entry, mcp_error *err)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, entry, strlen(entry), NULL), MCP_OK);
    return mcp__list_read_scopes(out, value, err);
}

static void an_entry_names_them_in_its_meta(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    const char *scopes = "before";

    (void)state;
    assert_int_equal(read_scopes(&scopes, "{}", &err), MCP_OK);
    assert_null(scopes);
    assert_int_equal(read_scopes(&scopes, "{\"_meta\":{\"causeway/scopes\":\"a b\"}}", &err),
                     MCP_OK);
    assert_string_equal(scopes, "a b");
    assert_int_equal(read_scopes(&scopes, "{\"_meta\":{\"causeway/scopes\":[\"a\"]}}", &err),
                     MCP_E_PARAMS);
    assert_int_equal(read_scopes(&scopes, "{\"_meta\":{\"causeway/scopes\":\"\"}}", &err),
                     MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "causeway/scopes"));
}

/* Without tokens nobody lacks a scope; with them one is hidden only where the option says so. */
static void scopes_hide_only_when_told(void **state)
{
    const mcp_principal poor = { "eve", "b", 0 };
    const mcp_principal rich = { "ann", "b a", 0 };

    (void)state;
    begin(NULL);
    assert_false(mcp__list_varies(&options));
    call->principal = &poor;
    assert_true(mcp__list_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    options.hide_by_scope = true;
    assert_true(mcp__list_varies(&options));
    assert_false(mcp__list_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    assert_true(mcp__list_shows(call, MCP_FEATURE_TOOL, "t", NULL));
    call->principal = &rich;
    assert_true(mcp__list_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    call->principal = NULL;
    assert_true(mcp__list_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    mcp__call_free(call);
    options.hide_by_scope = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_list_is_a_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hundred_fit_one_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_follow_one_another_without_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_size_of_a_page_can_be_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cursor_holds_when_the_list_grows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_invalid_cursor_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hidden_entries_leave_no_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cursor_at_a_hidden_entry_is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_that_cannot_be_written_is_not_added, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(entries_lose_their_page_and_nothing_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_other_byte_becomes_an_underscore, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_name_is_cut_at_64, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_mode_decides_by_revision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scopes_are_words_between_spaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_names_them_in_its_meta, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scopes_hide_only_when_told, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
