/*
 * test_tools.c - tools from their files to their answers: what may be wrong with a table, how lists
 * look to each revision, what is refused and how, and the three forms of a result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversation.h"
#include "feature_call.h"
#include "mcp/core/call/result.h"
#include "mcp/feature/tool_int.h"
#include "oom.h"
#include <cmocka.h>

/* ---- the tools of these tests ---------------------------------------------------------------- */

static mcp_status sum(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_int(mcp_call_result(call), "sum",
                         mcp_arg_int(call, "a", 0) + mcp_arg_int(call, "b", 0));
    return MCP_OK;
}

/* A text in pieces that says it will be long, so that the answer is begun with it; then as "how"
 * continues. */
static mcp_status write_long(mcp_call *call, const char *how)
{
    if (strcmp(how, "object") == 0)
        mcp_write_member_bool(mcp_call_result(call), "object", true);
    mcp_call_text_begin(call, 1 << 20);
    mcp_call_text_add(call, "in \"", 4);
    mcp_call_text_add_escaped(call, "pieces\\\"", 8);
    if (strcmp(how, "refused") == 0)
        return mcp_call_tool_error(call, "no: %d", 8);
    if (strcmp(how, "unended") == 0)
        return MCP_OK;
    if (strcmp(how, "denied") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_DENIED, "not yours");
    mcp_call_text_end(call);
    if (strcmp(how, "object after") == 0)
        mcp_write_member_bool(mcp_call_result(call), "object", true);
    return strcmp(how, "text after") == 0 ? mcp_call_text(call, "and text") : MCP_OK;
}

/* A result of another server, after output that is dropped. */
static mcp_status hand_on(mcp_call *call, const char *text)
{
    const mcp_json *result = NULL;

    mcp_write_member_bool(mcp_call_result(call), "dropped", true);
    (void)mcp_call_text(call, "dropped");
    mcp_status st = mcp_json_read(&result, mcp_call_arena(call), text, strlen(text), NULL);
    return st == MCP_OK ? mcp_call_tool_result(call, result) : st;
}

/* Does as its argument "how" says. */
static mcp_status behave(mcp_call *call, void *data)
{
    const char *how = mcp_arg_string(call, "how");

    (void)data;
    if (strcmp(how, "hand on") == 0)
        return hand_on(call,
                       "{\"content\":[{\"type\":\"text\",\"text\":\"a\",\"x\":1},"
                       "{\"type\":\"audio\",\"data\":\"AA==\",\"mimeType\":\"a/b\"}],"
                       "\"structuredContent\":{\"n\":[1]},\"isError\":true,\"_meta\":{\"own\":"
                       "{\"k\":2},\"io.modelcontextprotocol/serverInfo\":{}}}");
    if (strcmp(how, "hand on nothing") == 0)
        return hand_on(call, "{\"structuredContent\":{}}");
    if (strcmp(how, "refuse") == 0) {
        mcp_write_member_string(mcp_call_result(call), "dropped", "this");
        return mcp_call_tool_error(call, "no: %d", 7);
    }
    if (strcmp(how, "text") == 0)
        return mcp_call_text(call, "only text");
    if (strncmp(how, "long, ", 6) == 0)
        return write_long(call, how + 6);
    if (strcmp(how, "both") == 0) {
        mcp_write_member_bool(mcp_call_result(call), "object", true);
        return mcp_call_text(call, "and text");
    }
    if (strcmp(how, "wrong") == 0) {
        mcp_write_member_string(mcp_call_result(call), "sum", "text");
        return MCP_OK;
    }
    if (strcmp(how, "twice") == 0) {
        mcp_write_member_int(mcp_call_result(call), "sum", 1);
        mcp_write_member_int(mcp_call_result(call), "sum", 2);
        return MCP_OK;
    }
    if (strcmp(how, "internal") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL, "a secret");
    if (strcmp(how, "denied") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_DENIED, "not yours");
    return MCP_OK;
}

/* clang-format off */
#define FILE_OF(path, text) { "tools/" path ".json", text, sizeof text - 1 }
/* clang-format on */

static const char sum_json[] =
    "{\"name\":\"t/sum\",\"title\":\"Sum\",\"description\":\"Adds.\",\"icons\":[{\"src\":\"https://i\"}],"
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\",\"default\":40}},"
    "\"required\":[\"a\"],\"additionalProperties\":false},\"outputSchema\":{\"type\":\"object\","
    "\"properties\":{\"sum\":{\"$ref\":\"#/$defs/Sum\"}},\"required\":[\"sum\"]},\"annotations\":{\"readOnlyHint\":true},"
    "\"_meta\":{\"own\":1}}";
static const char save_json[] = "{\"name\":\"t/save\",\"inputSchema\":{\"type\":\"object\"}}";
static const char behave_json[] =
    "{\"name\":\"behave\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"how\":{\"type\":\"string\"}},\"required\":[\"how\"]}}";
static const char promise_json[] =
    "{\"name\":\"promise\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\","
    "\"properties\":{\"sum\":{\"type\":\"integer\"}},\"required\":[\"sum\"]}}";
static const char defs_json[] = "{\"Sum\":{\"type\":\"integer\"}}";

static const mcp_file files[] = {
    FILE_OF("promise", promise_json), FILE_OF("save", save_json),  FILE_OF("sum", sum_json),
    FILE_OF("behave", behave_json),   FILE_OF("_defs", defs_json), { 0 },
};
static const mcp_tool tools[] = {
    { "t/sum", sum, MCP_READS, 0, 0 },
    { "t/save", sum, MCP_WRITES, 0, 0 },
    { "behave", behave, MCP_READS, 0, 0 },
    { "promise", behave, MCP_READS, 0, 0 },
    { 0 },
};
static const mcp_features features = { .files = files, .tools = tools };

static conversation c;

static void begin(const mcp_server_options *options, const char *revision)
{
    conversation_open(&c, options, &features);
    conversation_initialize(&c, revision);
}

/* Call a tool; the answer is the text of "result", or of "error". */
static void call(const char *name, const char *arguments, const char *wanted)
{
    char text[500];
    char answer[1000];

    (void)snprintf(
        text, sizeof text,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
        name, arguments);
    (void)snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", wanted);
    conversation_ask(&c, text, answer);
}

#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define REFUSAL(text) "\"result\":{\"content\":[" TEXT(text) "],\"isError\":true}"
#define ERROR(code, message) "\"error\":{\"code\":" code ",\"message\":\"" message "\"}"

/* ---- tables and files ------------------------------------------------------------------------ */

static void check_load(const mcp_file *some_files, const mcp_tool *some_tools, const char *words)
{
    mcp_server_options options = { .name = "n", .version = "1" };
    mcp_features some = { .files = some_files, .tools = some_tools };
    mcp_error err = MCP_ERROR_INIT;
    mcp_server *server = NULL;

    assert_int_equal(mcp_server_new(&server, &options, NULL), MCP_OK);
    assert_int_equal(mcp_server_add(server, &some, &err), MCP_E_PARAMS);
    if (!strstr(err.message, words))
        fail_msg("expected \"%s\" in \"%s\"", words, err.message);
    mcp_server_free(server);
}

static void rows_and_files_match_one_to_one(void **state)
{
    static const mcp_tool one[] = { { "t/save", sum, MCP_READS, 0, 0 }, { 0 } };
    static const mcp_tool two[] = { { "t/save", sum, MCP_READS, 0, 0 },
                                    { "t/save", sum, MCP_READS, 0, 0 },
                                    { 0 } };
    static const mcp_tool unknown[] = { { "nope", sum, MCP_READS, 0, 0 }, { 0 } };
    static const mcp_file twice[] = { FILE_OF("a", save_json), FILE_OF("b", save_json), { 0 } };

    (void)state;
    check_load(files, one, "has no row");
    check_load(files, unknown, "tool nope has no file");
    check_load(NULL, unknown, "tool nope has no file");
    check_load(twice, one, "tools/a.json and tools/b.json: both have the tool t/save");
    check_load(twice, two, "tool t/save has two rows");
}

static void a_row_must_make_sense(void **state)
{
    static const mcp_file file[] = { FILE_OF("save", save_json), { 0 } };
    static const mcp_tool neither[] = { { "t/save", sum, 0, 0, 0 }, { 0 } };
    static const mcp_tool paces[] = {
        { "t/save", sum, MCP_READS | MCP_NONBLOCKING | MCP_LONG, 0, 0 }, { 0 }
    };
    static const mcp_tool both[] = { { "t/save", sum, MCP_READS | MCP_WRITES, 0, 0 }, { 0 } };
    static const mcp_tool nothing[] = { { "t/save", NULL, MCP_READS, 0, 0 }, { 0 } };
    static const mcp_tool negative[] = { { "t/save", sum, MCP_READS, -1, 0 }, { 0 } };

    (void)state;
    check_load(file, neither, "neither MCP_READS nor MCP_WRITES");
    check_load(file, paces, "both MCP_NONBLOCKING and MCP_LONG");
    check_load(file, both, "or both");
    check_load(file, nothing, "no function");
    check_load(file, negative, "negative");
}

static void two_names_must_not_become_one(void **state)
{
    static const char one_json[] = "{\"name\":\"a/b\",\"inputSchema\":{\"type\":\"object\"}}";
    static const char other_json[] = "{\"name\":\"a-b\",\"inputSchema\":{\"type\":\"object\"}}";
    static const mcp_file both[] = { FILE_OF("1", one_json), FILE_OF("2", other_json), { 0 } };
    static const mcp_tool rows[] = { { "a/b", sum, MCP_READS, 0, 0 },
                                     { "a-b", sum, MCP_READS, 0, 0 },
                                     { 0 } };

    (void)state;
    check_load(both, rows, "tools a-b and a/b have one safe name");
}

static void a_file_must_define_a_tool(void **state)
{
    static const char *const wrong[][2] = {
        { "{", "tools/x.json: " },
        { "[]", "tools/x.json: not a JSON object" },
        { "{}", "tools/x.json: no name" },
        { "{\"name\":\"x\"}", "tools/x.json: inputSchema must have type" },
        { "{\"name\":\"x\",\"inputSchema\":{}}", "tools/x.json: inputSchema must have type" },
        { "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"properties\":7}}",
          "tools/x.json: inputSchema: " },
        { "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"$ref\":\"#/$defs/none\"}}",
          "tools/x.json: inputSchema: " },
        { "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"what\"}}",
          "tools/x.json: outputSchema: " },
        { "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\",\"$schema\":\"http://json-schema.org/draft-04/schema#\"}}",
          "tools/x.json: inputSchema: " },
    };
    static const mcp_tool row[] = { { "x", sum, MCP_READS, 0, 0 }, { 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const mcp_file one[] = { { "tools/x.json", wrong[i][0], strlen(wrong[i][0]) }, { 0 } };
        check_load(one, row, wrong[i][1]);
    }
}

static mcp_status load_all(void *data)
{
    mcp_server_options options = { .name = "n", .version = "1" };
    mcp_server *server = NULL;
    mcp_status st = mcp_server_new(&server, &options, NULL);

    if (st == MCP_OK)
        st = mcp_server_add(server, data, NULL);
    mcp_server_free(server);
    return st;
}

static void memory_may_run_out_while_loading(void **state)
{
    mcp_features copy = features;

    (void)state;
    oom_walk(load_all, &copy);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* clang-format off */
#define SUM_INPUT \
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\",\"default\":40}}," \
    "\"required\":[\"a\"],\"additionalProperties\":false}"
#define SUM_OUTPUT \
    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"sum\":{\"$ref\":\"#/$defs/Sum\"}},\"required\":[\"sum\"]," \
    "\"$defs\":{\"Sum\":{\"type\":\"integer\"}}}"
/* clang-format on */

static void check_first_tool(const mcp_server_options *options, const char *revision,
                             const char *wanted, const char *pointer)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *expected = NULL;

    begin(options, revision);
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    const mcp_json *found = mcp_json_pointer(conversation_answer(&c, arena), pointer);
    assert_int_equal(mcp_json_read(&expected, arena, wanted, strlen(wanted), NULL), MCP_OK);
    if (!mcp_json_equal(found, expected)) {
        mcp_buf text;
        mcp_json_writer writer;
        mcp_buf_init(&text, 10000);
        mcp_json_writer_init(&writer, &text);
        mcp_write_value(&writer, found);
        fail_msg("%s got %s", revision, text.data);
    }
    conversation_close(&c);
    mcp_arena_free(arena);
}

static void an_entry_has_what_its_revision_knows(void **state)
{
    const char *pointer = "/result/tools/0";

    (void)state;
    check_first_tool(NULL, "2024-11-05",
                     "{\"name\":\"t/sum\",\"description\":\"Adds.\"," SUM_INPUT "}", pointer);
    check_first_tool(
        NULL, "2025-03-26",
        "{\"name\":\"t/sum\",\"description\":\"Adds.\",\"annotations\":{\"readOnlyHint\":true}," SUM_INPUT
        "}",
        pointer);
    check_first_tool(
        NULL, "2025-06-18",
        "{\"name\":\"t/sum\",\"title\":\"Sum\",\"description\":\"Adds.\",\"annotations\":{\"readOnlyHint\":true},\"_meta\":{\"own\":1}," SUM_INPUT
        "," SUM_OUTPUT "}",
        pointer);
    check_first_tool(
        NULL, "2025-11-25",
        "{\"name\":\"t/sum\",\"title\":\"Sum\",\"description\":\"Adds.\",\"annotations\":{\"readOnlyHint\":true},\"_meta\":{\"own\":1},\"icons\":[{\"src\":\"https://i\"}]," SUM_INPUT
        "," SUM_OUTPUT "}",
        pointer);
}

static void the_order_is_that_of_the_table(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    begin(NULL, "2025-06-18");
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}");
    const mcp_json *list = mcp_json_pointer(conversation_answer(&c, arena), "/result/tools");
    assert_int_equal(mcp_json_count(list), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(mcp_json_get_string(mcp_json_item(list, i), "name"), tools[i].name);
    conversation_close(&c);
    mcp_arena_free(arena);
}

static void a_tool_that_may_not_write_says_so(void **state)
{
    mcp_server_options may = { .allow_write = true };
    mcp_server_options noted = { .write_note = "Ask for more." };
    const char *pointer = "/result/tools/1";

    (void)state;
    check_first_tool(
        NULL, "2024-11-05",
        "{\"name\":\"t/save\",\"description\":\"Write operations are disabled.\","
        "\"annotation\":\"Write operations are disabled.\",\"inputSchema\":{\"type\":\"object\"}}",
        pointer);
    check_first_tool(
        &noted, "2025-06-18",
        "{\"name\":\"t/save\",\"description\":\"Ask for more.\",\"annotation\":\"Ask for more.\","
        "\"_meta\":{\"causeway/disabled\":\"Ask for more.\"},\"inputSchema\":{\"type\":\"object\"}}",
        pointer);
    check_first_tool(&may, "2025-06-18",
                     "{\"name\":\"t/save\",\"inputSchema\":{\"type\":\"object\"}}", pointer);
}

static void safe_names_are_shown_when_asked_for(void **state)
{
    mcp_server_options safe = { .tool_names = MCP_NAMES_SAFE, .allow_write = true };
    mcp_server_options by_revision = { .tool_names = MCP_NAMES_AUTO, .allow_write = true };
    const char *pointer = "/result/tools/1";

    (void)state;
    check_first_tool(&safe, "2024-11-05",
                     "{\"name\":\"t_save\",\"inputSchema\":{\"type\":\"object\"}}", pointer);
    check_first_tool(
        &safe, "2025-11-25",
        "{\"name\":\"t_save\",\"title\":\"t/save\",\"_meta\":{\"causeway/canonicalName\":\"t/save\"},"
        "\"inputSchema\":{\"type\":\"object\"}}",
        pointer);
    check_first_tool(&by_revision, "2025-03-26",
                     "{\"name\":\"t/save\",\"inputSchema\":{\"type\":\"object\"}}", pointer);
    check_first_tool(&by_revision, "2025-06-18", "\"t_save\"", "/result/tools/1/name");
    check_first_tool(&safe, "2025-06-18", "\"Sum\"", "/result/tools/0/title");
    check_first_tool(&safe, "2025-06-18", "{\"own\":1,\"causeway/canonicalName\":\"t/sum\"}",
                     "/result/tools/0/_meta");
    check_first_tool(
        &safe, "2025-06-18",
        "{\"name\":\"behave\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"how\":{\"type\":\"string\"}},\"required\":[\"how\"]}}",
        "/result/tools/2");
}

static const char talk_json[] =
    "{\"name\":\"t/talk\",\"description\":\"After t/sum, unlike x/t/sum or t/summary. See t/later.\","
    "\"inputSchema\":{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"properties\":{\"t/sum\":{\"description\":\"of t/sum\",\"default\":\"t/sum\"}}}}";
static const char later_json[] = "{\"name\":\"t/later\",\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file talk_files[] = { FILE_OF("talk", talk_json),
                                       FILE_OF("sum", sum_json),
                                       FILE_OF("_defs", defs_json),
                                       FILE_OF("later", later_json),
                                       { 0 } };
static const mcp_tool talk_tools[] = {
    { "t/talk", sum, MCP_READS, 0, 0 },
    { "t/sum", sum, MCP_READS, 0, 0 },
    { "t/later", sum, MCP_READS, 0, 0 },
    { 0 },
};
static const mcp_features talking = { .files = talk_files, .tools = talk_tools };

/* The member of the answer to a request that a pointer leads to must be this JSON text. */
static void check_member(const mcp_server_options *options, const char *request,
                         const char *pointer, const char *wanted)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *expected = NULL;
    char revision[] = "2025-11-25";

    conversation_open(&c, options, &talking);
    if (strstr(request, "initialize") == NULL)
        conversation_initialize(&c, revision);
    conversation_say(&c, request);
    assert_int_equal(mcp_json_read(&expected, arena, wanted, strlen(wanted), NULL), MCP_OK);
    const mcp_json *got = mcp_json_pointer(conversation_answer(&c, arena), pointer);
    if (!mcp_json_equal(got, expected))
        fail_msg("%s: %s", pointer, mcp_json_string(got, NULL) ? mcp_json_string(got, NULL) : "?");
    conversation_close(&c);
    mcp_arena_free(arena);
}

#define LIST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"
#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"

static void names_in_texts_follow_the_list(void **state)
{
    mcp_server_options safe = { .tool_names = MCP_NAMES_SAFE, .instructions = "Begin with t/sum." };
    mcp_server_options plain = { .instructions = "Begin with t/sum." };

    (void)state;
    check_member(&safe, LIST, "/result/tools/0/description",
                 "\"After t_sum, unlike x/t/sum or t/summary. See t_later.\"");
    check_member(&safe, LIST, "/result/tools/0/inputSchema",
                 "{\"type\":\"object\",\"properties\":{\"t/sum\":{\"description\":\"of t_sum\","
                 "\"default\":\"t/sum\"}}}");
    check_member(&safe, INITIALIZE, "/result/instructions", "\"Begin with t_sum.\"");
    check_member(&plain, LIST, "/result/tools/0/description",
                 "\"After t/sum, unlike x/t/sum or t/summary. See t/later.\"");
    check_member(&plain, INITIALIZE, "/result/instructions", "\"Begin with t/sum.\"");
}

static void a_schema_does_not_name_its_draft(void **state)
{
    mcp_server_options keeping = { .keep_schema_uri = true };

    (void)state;
    check_member(NULL, LIST, "/result/tools/0/inputSchema",
                 "{\"type\":\"object\",\"properties\":{\"t/sum\":{\"description\":\"of t/sum\","
                 "\"default\":\"t/sum\"}}}");
    check_member(&keeping, LIST, "/result/tools/0/inputSchema/$schema",
                 "\"https://json-schema.org/draft/2020-12/schema\"");
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void a_result_is_text_and_from_2025_06_18_structured(void **state)
{
    static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
                                             "2025-11-25" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        begin(NULL, revisions[i]);
        call("t/sum", "{\"a\":2}",
             i < 2 ? "\"result\":{\"content\":[" TEXT("{\\\"sum\\\":42}") "]}"
                   : "\"result\":{\"content\":[" TEXT(
                         "{\\\"sum\\\":42}") "],\"structuredContent\":{\"sum\":42}}");
        call("behave", "{\"how\":\"both\"}",
             "\"result\":{\"content\":[" TEXT("{\\\"object\\\":true}") "," TEXT("and text") "]}");
        call("behave", "{\"how\":\"text\"}", "\"result\":{\"content\":[" TEXT("only text") "]}");
        call("behave", "{\"how\":\"nothing\"}", "\"result\":{\"content\":[]}");
        call("behave", "{\"how\":\"refuse\"}", REFUSAL("no: 7"));
        conversation_close(&c);
    }
}

static void a_result_of_another_server_is_handed_on(void **state)
{
    static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18" };
    static const char *const audio[] = { TEXT("[audio]"), "{\"type\":\"audio\",\"data\":\"AA==\","
                                                          "\"mimeType\":\"a/b\"}" };
    char wanted[400];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        begin(NULL, revisions[i]);
        (void)snprintf(wanted, sizeof wanted,
                       "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\",\"x\":1},%s]%s,"
                       "\"isError\":true,\"_meta\":{\"own\":{\"k\":2}}}",
                       audio[i > 0], i < 2 ? "" : ",\"structuredContent\":{\"n\":[1]}");
        call("behave", "{\"how\":\"hand on\"}", wanted);
        call("behave", "{\"how\":\"hand on nothing\"}",
             ERROR("-32602", "a result of another server has no content"));
        conversation_close(&c);
    }
}

static void a_long_text_changes_nothing_of_the_answers_form(void **state)
{
    static const char *const revisions[] = { "2024-11-05", "2025-11-25" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin(NULL, revisions[i]);
        call("behave", "{\"how\":\"long, alone\"}",
             "\"result\":{\"content\":[" TEXT("in \\\"pieces\\\"") "]}");
        call("behave", "{\"how\":\"long, text after\"}",
             "\"result\":{\"content\":[" TEXT("in \\\"pieces\\\"") "," TEXT("and text") "]}");
        call("behave", "{\"how\":\"long, object\"}",
             "\"result\":{\"content\":[" TEXT("{\\\"object\\\":true}") "," TEXT(
                 "in \\\"pieces\\\"") "]}");
        call("behave", "{\"how\":\"long, object after\"}",
             "\"result\":{\"content\":[" TEXT("{\\\"object\\\":true}") "," TEXT(
                 "in \\\"pieces\\\"") "]}");
        call("behave", "{\"how\":\"long, refused\"}", REFUSAL("no: 8"));
        call("behave", "{\"how\":\"long, denied\"}", ERROR("-32603", "not yours"));
        call("behave", "{\"how\":\"long, unended\"}", ERROR("-32603", "internal error"));
        conversation_close(&c);
    }
}

static void both_names_are_taken_always(void **state)
{
    (void)state;
    begin(NULL, "2025-03-26");
    call("t_sum", "{\"a\":1}", "\"result\":{\"content\":[" TEXT("{\\\"sum\\\":41}") "]}");
    call("t/sum", "{\"a\":1}", "\"result\":{\"content\":[" TEXT("{\\\"sum\\\":41}") "]}");
    call("t-sum", "{\"a\":1}", ERROR("-32602", "there is no tool t-sum"));
    call("T/SUM", "{\"a\":1}", ERROR("-32602", "there is no tool T/SUM"));
    conversation_close(&c);
}

static void what_is_no_call_is_an_error(void **state)
{
    static const struct {
        const char *params;
        const char *message;
    } wrong[] = {
        { "{}", "params.name must be the name of a tool" },
        { "{\"name\":7}", "params.name must be the name of a tool" },
        { "{\"name\":\"t/sum\",\"arguments\":[]}", "params.arguments must be an object" },
        { "{\"name\":\"t/sum\",\"arguments\":\"a\"}", "params.arguments must be an object" },
        { "{\"name\":\"none\"}", "there is no tool none" },
    };
    char text[300];
    char wanted[300];

    (void)state;
    begin(NULL, "2025-11-25");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":%s}",
                       wrong[i].params);
        (void)snprintf(
            wanted, sizeof wanted,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"%s\"}}",
            wrong[i].message);
        conversation_ask(&c, text, wanted);
    }
    conversation_close(&c);
}

/* In every revision: the model reads it and tries again. */
static void arguments_that_do_not_fit_are_refused(void **state)
{
    static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
                                             "2025-11-25" };
    static const char *const wrong[][2] = {
        { "{}", "a" },
        { "{\"a\":\"x\"}", "/a" },
        { "{\"a\":1,\"z\":1}", "z" },
        { "{\"a\":1,\"b\":0.5}", "/b" },
    };
    mcp_arena *arena = mcp_arena_new(0);
    bool is_error;
    char text[300];

    (void)state;
    for (size_t r = 0; r < 4; r++) {
        begin(NULL, revisions[r]);
        for (size_t i = 0; i < 4; i++) {
            (void)snprintf(
                text, sizeof text,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t/sum\",\"arguments\":%s}}",
                wrong[i][0]);
            conversation_say(&c, text);
            const mcp_json *answer = conversation_answer(&c, arena);
            assert_true(mcp_json_bool(mcp_json_pointer(answer, "/result/isError"), &is_error) &&
                        is_error);
            const char *words = mcp_json_string(mcp_json_pointer(answer, "/result/content/0/text"),
                                                NULL);
            assert_non_null(strstr(words, "The arguments do not fit: "));
            assert_non_null(strstr(words, wrong[i][1]));
            assert_int_equal(mcp_json_count(mcp_json_get(answer, "result")), 2);
        }
        conversation_close(&c);
    }
    mcp_arena_free(arena);
}

static void writing_is_refused_before_arguments_are_read(void **state)
{
    mcp_server_options may = { .allow_write = true };

    (void)state;
    begin(NULL, "2025-06-18");
    call("t/save", "{\"a\":1}", REFUSAL("Write operations are disabled."));
    conversation_close(&c);
    begin(&may, "2025-06-18");
    call("t/save", "{\"a\":1}", "\"result\":{\"content\":[" TEXT("{\\\"sum\\\":1}") "]}");
    conversation_close(&c);
}

static mcp_status own_refusal(mcp_call *refused, mcp_refusal reason,
                              const mcp_schema_finding *finding, void *data)
{
    char text[100];
    int length = snprintf(text, sizeof text, "%s %s %s", (const char *)data,
                          reason == MCP_REFUSED_ARGUMENTS ? finding->keyword : "-",
                          mcp_call_name(refused));

    return mcp_call_tool_error_text(refused, text, (size_t)length);
}

static mcp_status fit(mcp_call *fitted, const char *tool, const mcp_json **arguments, void *data)
{
    (void)data;
    if (strcmp(tool, "t/sum") == 0 && mcp_json_is_string(mcp_json_get(*arguments, "a")))
        return mcp_json_read(arguments, mcp_call_arena(fitted), "{\"a\":100}", 9, NULL);
    return MCP_OK;
}

static void a_server_may_refuse_and_fit_in_its_own_way(void **state)
{
    static char mark[] = "own";
    mcp_server_options own = { .error_formatter = own_refusal,
                               .normalize_arguments = fit,
                               .data = mark };

    (void)state;
    begin(&own, "2025-03-26");
    call("t/save", "{}", REFUSAL("own - t/save"));
    call("t/sum", "{}", REFUSAL("own required t/sum"));
    call("t/sum", "{\"a\":\"100\"}", "\"result\":{\"content\":[" TEXT("{\\\"sum\\\":140}") "]}");
    conversation_close(&c);
}

static void a_broken_promise_is_the_servers_failure(void **state)
{
    (void)state;
    begin(NULL, "2025-06-18");
    call("promise", "{\"how\":\"wrong\"}", ERROR("-32603", "internal error"));
    call("promise", "{\"how\":\"text\"}", ERROR("-32603", "internal error"));
    assert_int_equal(*c.session.context.mismatches, 2);
    conversation_close(&c);
}

/* With an output schema in every build; without one in debug builds, as this is. */
static void a_duplicate_member_is_the_servers_failure(void **state)
{
    (void)state;
    begin(NULL, "2025-06-18");
    call("promise", "{\"how\":\"twice\"}", ERROR("-32603", "internal error"));
    call("behave", "{\"how\":\"twice\"}", ERROR("-32603", "internal error"));
    conversation_close(&c);
}

static void a_server_may_skip_the_check_of_results(void **state)
{
    mcp_server_options trusting = { .skip_output_check = true };

    (void)state;
    begin(&trusting, "2025-06-18");
    call("promise", "{\"how\":\"wrong\"}",
         "\"result\":{\"content\":[" TEXT(
             "{\\\"sum\\\":\\\"text\\\"}") "],\"structuredContent\":{\"sum\":\"text\"}}");
    assert_int_equal(*c.session.context.mismatches, 0);
    conversation_close(&c);
}

static void a_status_becomes_an_error(void **state)
{
    (void)state;
    begin(NULL, "2025-06-18");
    call("behave", "{\"how\":\"internal\"}", ERROR("-32603", "internal error"));
    call("behave", "{\"how\":\"denied\"}", ERROR("-32603", "not yours"));
    conversation_close(&c);
}

/* ---- shared shapes --------------------------------------------------------------------------- */

static const char shared_text[] =
    "{\"A\":{\"type\":\"integer\"},\"B\":{\"items\":{\"$ref\":\"#/$defs/A\"}},\"C\":{\"$ref\":\"#/$defs/C\"},"
    "\"D\":{\"const\":{\"$ref\":5}}}";

static void check_completed(const char *schema_text, const char *shared, const char *wanted)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *schema = NULL;
    const mcp_json *definitions = NULL;
    const mcp_json *merged = NULL;

    assert_int_equal(mcp_json_read(&schema, arena, schema_text, strlen(schema_text), NULL), MCP_OK);
    if (shared)
        assert_int_equal(mcp_json_read(&definitions, arena, shared, strlen(shared), NULL), MCP_OK);
    assert_int_equal(mcp__tool_complete_schema(&merged, arena, schema, definitions, NULL), MCP_OK);
    if (wanted)
        assert_json(merged, wanted, arena);
    else
        assert_ptr_equal(merged, schema);
    mcp_arena_free(arena);
}

static void without_references_the_schema_stays_itself(void **state)
{
    (void)state;
    check_completed("{\"type\":\"object\"}", shared_text, NULL);
    check_completed("{\"$ref\":\"#/$defs/A\"}", NULL, NULL);
    check_completed("{\"$ref\":\"#/$defs/Z\"}", shared_text, NULL);
    check_completed("{\"$ref\":\"https://x/#/$defs/A\"}", shared_text, NULL);
    check_completed("{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":true}}", shared_text, NULL);
}

static void what_is_named_is_copied(void **state)
{
    (void)state;
    check_completed(
        "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/A\"}}}", shared_text,
        "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/A\"}},\"$defs\":{\"A\":{\"type\":\"integer\"}}}");
    check_completed(
        "{\"$ref\":\"#/$defs/A/type\",\"$defs\":{\"Own\":true}}", shared_text,
        "{\"$ref\":\"#/$defs/A/type\",\"$defs\":{\"Own\":true,\"A\":{\"type\":\"integer\"}}}");
}

static void what_that_names_is_copied_too(void **state)
{
    (void)state;
    check_completed(
        "{\"$ref\":\"#/$defs/B\"}", shared_text,
        "{\"$ref\":\"#/$defs/B\",\"$defs\":{\"A\":{\"type\":\"integer\"},\"B\":{\"items\":{\"$ref\":\"#/$defs/A\"}}}}");
    check_completed(
        "{\"allOf\":[{\"$ref\":\"#/$defs/C\"}]}", shared_text,
        "{\"allOf\":[{\"$ref\":\"#/$defs/C\"}],\"$defs\":{\"C\":{\"$ref\":\"#/$defs/C\"}}}");
}

static void shapes_may_stand_in_defs(void **state)
{
    (void)state;
    check_completed("{\"$ref\":\"#/$defs/A\"}", "{\"$defs\":{\"A\":true}}",
                    "{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":true}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_files_match_one_to_one),
        cmocka_unit_test(a_row_must_make_sense),
        cmocka_unit_test(two_names_must_not_become_one),
        cmocka_unit_test(a_file_must_define_a_tool),
        cmocka_unit_test(memory_may_run_out_while_loading),
        cmocka_unit_test(an_entry_has_what_its_revision_knows),
        cmocka_unit_test(the_order_is_that_of_the_table),
        cmocka_unit_test(a_tool_that_may_not_write_says_so),
        cmocka_unit_test(safe_names_are_shown_when_asked_for),
        cmocka_unit_test(a_result_is_text_and_from_2025_06_18_structured),
        cmocka_unit_test(a_result_of_another_server_is_handed_on),
        cmocka_unit_test(a_long_text_changes_nothing_of_the_answers_form),
        cmocka_unit_test(both_names_are_taken_always),
        cmocka_unit_test(what_is_no_call_is_an_error),
        cmocka_unit_test(arguments_that_do_not_fit_are_refused),
        cmocka_unit_test(writing_is_refused_before_arguments_are_read),
        cmocka_unit_test(a_server_may_refuse_and_fit_in_its_own_way),
        cmocka_unit_test(a_broken_promise_is_the_servers_failure),
        cmocka_unit_test(a_duplicate_member_is_the_servers_failure),
        cmocka_unit_test(a_server_may_skip_the_check_of_results),
        cmocka_unit_test(names_in_texts_follow_the_list),
        cmocka_unit_test(a_schema_does_not_name_its_draft),
        cmocka_unit_test(a_status_becomes_an_error),
        cmocka_unit_test(without_references_the_schema_stays_itself),
        cmocka_unit_test(what_is_named_is_copied),
        cmocka_unit_test(what_that_names_is_copied_too),
        cmocka_unit_test(shapes_may_stand_in_defs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
