/*
 * test_limits.c - bounds of messages and calls, each just below, at, and above.
 *
 * docs/limits.md has the table of all; those of a part alone are tested with that part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "fixture_task.h"
#include "mcp/core/task/task.h"

/* ---- features -------------------------------------------------------------------------------- */

static const char text_file[] = "{\"name\":\"limit/text\",\"description\":\"x\",\"inputSchema\":{"
                                "\"type\":\"object\"}}";
static const char keep_file[] = "{\"name\":\"limit/keep\",\"description\":\"x\",\"inputSchema\":{"
                                "\"type\":\"object\"}}";
static const char prompt_file[] =
    "---\nname: limit\ndescription: x\nargument: word, optional, x\n---\nx\n";

static char *filled(char c, size_t length)
{
    char *text = malloc(length + 1);

    memset(text, c, length);
    text[length] = '\0';
    return text;
}

/* `bytes` of text. */
static mcp_status give_text(mcp_call *call, void *data)
{
    char *text = filled('x', (size_t)mcp_arg_int(call, "bytes", 0));

    (void)data;
    mcp_status st = mcp_call_text(call, text);
    free(text);
    return st;
}

/* Keeps `bytes` and asks. */
static mcp_status keep_text(mcp_call *call, void *data)
{
    char *text = filled('x', (size_t)mcp_arg_int(call, "bytes", 0));

    (void)data;
    mcp_status st = mcp_call_set_request_state(call, text);
    free(text);
    (void)mcp_call_request_input(call, "roots", "roots/list", NULL);
    return st == MCP_OK ? mcp_call_input_required(call) : st;
}

/* As many values as the number that was typed. */
static mcp_status suggest(mcp_call *call, void *data)
{
    long count = strtol(mcp_call_completion_value(call), NULL, 10);
    mcp_status st = MCP_OK;

    (void)data;
    for (long i = 0; i < count && st == MCP_OK; i++)
        st = mcp_call_add_completion(call, "v");
    return st;
}

static const mcp_file files[] = {
    { "tools/limit/text.json", text_file, sizeof text_file - 1 },
    { "tools/limit/keep.json", keep_file, sizeof keep_file - 1 },
    { "prompts/limit.md", prompt_file, sizeof prompt_file - 1 },
    { 0 },
};
static const mcp_tool tools[] = { { "limit/text", give_text, MCP_READS, 0, 0 },
                                  { "limit/keep", keep_text, MCP_READS, 0, 0 },
                                  { 0 } };
static const mcp_prompt prompts[] = { { "limit", NULL, 0, 0 }, { 0 } };
static const mcp_completion completions[] = { { "limit", "word", suggest }, { 0 } };
static const mcp_resource resources[] = { { 0 } };
static const mcp_features features = { .files = files,
                                       .tools = tools,
                                       .prompts = prompts,
                                       .resources = resources,
                                       .completions = completions };

/* ---- a conversation -------------------------------------------------------------------------- */

static conversation talk;

static void open_talk(const mcp_server_options *options)
{
    conversation_open(&talk, options, &features);
}

/* Says it and hands back what came; free() that. */
static char *answer_to(const char *format, ...) MCP_PRINTF(1, 2);

static char *answer_to(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    assert_true(vasprintf(&text, format, arguments) >= 0);
    va_end(arguments);
    mcp__peer_memory_reset(&talk.peer);
    conversation_say(&talk, text);
    free(text);
    return strdup(talk.peer.text.data ? talk.peer.text.data : "");
}

static void expect(char *answer, const char *words)
{
    if (!strstr(answer, words))
        fail_msg("no \"%s\" in: %.300s", words, answer);
    free(answer);
}

#define CLAIM(capabilities)                                                                        \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{" capabilities "}}"

/* ---- the limits ------------------------------------------------------------------------------ */

static void an_id_has_1024_bytes(void **state)
{
    (void)state;
    open_talk(NULL);
    for (size_t length = 1023; length <= 1025; length++) {
        char *id = filled('i', length);
        expect(answer_to("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"ping\"}", id),
               length <= 1024 ? "\"result\":{}" : "id may have 1024 bytes at most");
        free(id);
    }
    conversation_close(&talk);
}

static void a_progress_token_has_1024_bytes(void **state)
{
    (void)state;
    open_talk(NULL);
    for (size_t length = 1023; length <= 1025; length++) {
        char *token = filled('t', length);
        expect(answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{"
                         "\"progressToken\":\"%s\"}}}",
                         token),
               length <= 1024 ? "\"result\":{}" : "progressToken may have 1024 bytes at most");
        free(token);
    }
    conversation_close(&talk);
}

static char *ask_text(size_t bytes)
{
    return answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"limit/text\",\"arguments\":{\"bytes\":%zu}}}",
                     bytes);
}

static void an_answer_has_reply_max_bytes(void **state)
{
    const mcp_server_options options = { .limits.reply_max_bytes = 4000 };
    char *empty;

    (void)state;
    open_talk(&options);
    empty = ask_text(0);
    size_t around = strlen(empty) - 1; /* without its newline */
    free(empty);
    for (size_t total = 3999; total <= 4001; total++) {
        char *answer = ask_text(total - around);
        if (total <= 4000)
            assert_int_equal(strlen(answer) - 1, total);
        else
            assert_true(strlen(answer) < 1000);
        expect(answer, total <= 4000 ? "\"result\"" : "\"error\"");
    }
    conversation_close(&talk);
}

/* Of one client: two run, three more wait, then it is not read. */
static void calls_have_their_places(void **state)
{
    const mcp_server_options options = { .limits.calls_max_running = 2,
                                         .limits.calls_max_queued = 3 };

    (void)state;
    open_talk(&options);
    talk.executor.is_held = true;
    for (size_t calls = 1; calls <= 5; calls++) {
        free(answer_to("{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"limit/text\",\"arguments\":{}}}",
                       calls));
        assert_int_equal(talk.executor.held, calls < 2 ? calls : 2);
        assert_int_equal(mcp__dispatch_is_full(&talk.session), calls >= 5);
    }
    assert_true(mcp__inline_step(&talk.executor));
    assert_int_equal(talk.executor.held, 2); /* one that waited has its turn */
    assert_false(mcp__dispatch_is_full(&talk.session));
    conversation_close(&talk);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void a_hundred_values_are_suggested(void **state)
{
    (void)state;
    open_talk(NULL);
    for (size_t count = 99; count <= 101; count++) {
        char total[40];
        char *answer = answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/complete\","
                                 "\"params\":{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"limit\"},"
                                 "\"argument\":{\"name\":\"word\",\"value\":\"%zu\"}}}",
                                 count);
        assert_int_equal(count_of(answer, "\"v\""), count < 100 ? count : 100);
        assert_int_equal(count_of(answer, "\"hasMore\":true"), count > 100);
        (void)snprintf(total, sizeof total, "\"total\":%zu", count);
        expect(answer, total);
    }
    conversation_close(&talk);
}

/* "v1.", the base64 of 40 bytes and the payload, ".", that of a signature: 256 KiB in all. */
static void a_kept_state_has_256_kib(void **state)
{
    static const char payload[] = "{\"rounds\":1,\"kept\":\"\",\"answers\":{}}";
    const size_t most = (size_t)256 * 1024 - 3 - 1 - 43; /* characters for the body */
    const size_t bytes = most * 3 / 4 - 40 - (sizeof payload - 1);

    (void)state;
    open_talk(NULL);
    for (size_t i = 0; i < 3; i++)
        expect(answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"limit/keep\",\"arguments\":{\"bytes\":%zu}," CLAIM(
                             "\"roots\":{}") "}}",
                         bytes - 1 + i),
               i < 2 ? "\"requestState\":\"v1." : "too large to be kept");
    conversation_close(&talk);
}

static void a_subscribed_uri_has_16_kib(void **state)
{
    const mcp_server_options options = { .subscriptions = true };

    (void)state;
    open_talk(&options);
    conversation_initialize(&talk, "2025-11-25");
    for (size_t length = 16383; length <= 16385; length++) {
        char *uri = filled('u', length);
        expect(answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\","
                         "\"params\":{\"uri\":\"%s\"}}",
                         uri),
               length <= 16384 ? "\"result\":{}" : "a URI longer than 16384 bytes");
        expect(
            answer_to("{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"subscriptions/listen\","
                      "\"params\":{\"notifications\":{\"resourceSubscriptions\":[\"%s\"]}," CLAIM(
                          "") "}}",
                      length, uri),
            length <= 16384 ? "acknowledged" : "at most 16384 bytes");
        free(uri);
    }
    mcp__dispatch_stop(&talk.session, MCP_STOP_SHUTDOWN);
    conversation_close(&talk);
}

static char *listen_as(int id)
{
    return answer_to(
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscriptions/listen\",\"params\":{"
        "\"notifications\":{}," CLAIM("") "}}",
        id);
}

static void ten_thousand_calls_listen(void **state)
{
    const mcp_server_options options = { .list_changed = true };

    (void)state;
    open_talk(&options);
    for (int i = 1; i < 9999; i++)
        free(listen_as(i));
    expect(listen_as(9999), "acknowledged");
    expect(listen_as(10000), "acknowledged");
    expect(listen_as(10001), "10000 calls are listening already");
    expect(answer_to("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                     "\"requestId\":77}}"),
           "");
    expect(listen_as(10002), "acknowledged"); /* its place is free again */
    mcp__dispatch_stop(&talk.session, MCP_STOP_SHUTDOWN);
    conversation_close(&talk);
}

/* The arguments are two levels below the message. */
static void a_message_nests_64_deep(void **state)
{
    (void)state;
    open_talk(NULL);
    for (size_t depth = 63; depth <= 65; depth++) {
        char *opened = filled('[', depth - 3);
        char *closed = filled(']', depth - 3);
        expect(answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"limit/text\",\"arguments\":{\"deep\":%s%s}}}",
                         opened, closed),
               depth <= 64 ? "\"result\"" : "-32700");
        free(opened);
        free(closed);
    }
    conversation_close(&talk);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void open_tasks(const mcp_server_options *options, bool is_held)
{
    conversation_open(&talk, options, &fixture_task);
    conversation_initialize(&talk, "2025-11-25");
    talk.executor.is_held = is_held;
}

static char *begin_task(int id, const char *tool)
{
    return answer_to("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"%s\",\"task\":{}}}",
                     id, tool);
}

static void tasks_have_their_places(void **state)
{
    const mcp_principal other = { .name = "other", .scopes = "" };
    const mcp_server_options options = { .limits.tasks_max = 3, .limits.tasks_max_per_client = 2 };

    (void)state;
    open_tasks(&options, true);
    expect(begin_task(1, "task/plain"), "\"taskId\"");
    expect(begin_task(2, "task/plain"), "\"taskId\"");
    expect(begin_task(3, "task/plain"), "2 tasks of this client are kept");
    talk.peer.peer.principal = &other;
    expect(begin_task(4, "task/plain"), "\"taskId\"");
    expect(begin_task(5, "task/plain"), "3 tasks are kept");
    conversation_close(&talk);
}

/* Room for two outcomes, to the byte; and one byte less or more. */
static void outcomes_of_tasks_have_their_bytes(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;

    (void)state;
    open_tasks(&options, false);
    free(begin_task(1, "task/big"));
    size_t bytes = talk.tasks->bytes;
    assert_true(bytes > 1000);
    conversation_close(&talk);
    for (int more = -1; more <= 1; more++) {
        options.limits.tasks_max_bytes = (size_t)((int)bytes * 2 + more);
        open_tasks(&options, false);
        free(begin_task(1, "task/big"));
        free(begin_task(2, "task/big"));
        assert_int_equal(LIST_FIRST(&talk.tasks->entries)->status,
                         more < 0 ? MCP__TASK_FAILED : MCP__TASK_COMPLETED);
        conversation_close(&talk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_has_1024_bytes),
        cmocka_unit_test(a_progress_token_has_1024_bytes),
        cmocka_unit_test(an_answer_has_reply_max_bytes),
        cmocka_unit_test(calls_have_their_places),
        cmocka_unit_test(a_hundred_values_are_suggested),
        cmocka_unit_test(a_kept_state_has_256_kib),
        cmocka_unit_test(a_subscribed_uri_has_16_kib),
        cmocka_unit_test(ten_thousand_calls_listen),
        cmocka_unit_test(a_message_nests_64_deep),
        cmocka_unit_test(tasks_have_their_places),
        cmocka_unit_test(outcomes_of_tasks_have_their_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
