/*
 * test_dispatch.c - a message's way: ids, faults, batches, lines, cancellation, time-outs, going
 * down, and memory that runs out anywhere on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "conversation.h"
#include "mcp/clock.h"
#include <cmocka.h>

static mcp_status echo(mcp_call *call, void *data)
{
    int *runs = data;

    if (runs)
        (*runs)++;
    mcp_write_member_value(mcp_call_result(call), "got", mcp_call_arguments(call));
    return MCP_OK;
}

/* Declared quick; `dawdles_us` says how long it takes. */
static useconds_t dawdles_us;

static mcp_status swift(mcp_call *call, void *data)
{
    mcp_progress report = { .progress = 1, .total = 1 };

    if (dawdles_us > 0)
        (void)usleep(dawdles_us);
    (void)mcp_call_progress(call, &report);
    return echo(call, data);
}

/* Wants more memory than all calls together may have in `memory_is_shared`. */
static mcp_status greedy(mcp_call *call, void *data)
{
    (void)data;
    if (mcp_arena_alloc(mcp_call_arena(call), (size_t)1 << 20))
        return mcp_call_text(call, "enough");
    return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a case");
}

static const char greedy_json[] = "{\"name\":\"greedy\",\"inputSchema\":{\"type\":\"object\"}}";
static const char echo_json[] = "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}";
static const char long_json[] = "{\"name\":\"long\",\"inputSchema\":{\"type\":\"object\"}}";
static const char gone_json[] = "{\"name\":\"gone\",\"inputSchema\":{\"type\":\"object\"}}";
static const char swift_json[] = "{\"name\":\"swift\",\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file files[] = {
    { "tools/echo.json", echo_json, sizeof echo_json - 1 },
    { "tools/long.json", long_json, sizeof long_json - 1 },
    { "tools/gone.json", gone_json, sizeof gone_json - 1 },
    { "tools/swift.json", swift_json, sizeof swift_json - 1 },
    { "tools/greedy.json", greedy_json, sizeof greedy_json - 1 },
    { 0 },
};
static const mcp_tool tools[] = {
    { "echo", echo, MCP_READS, 1000, 0 },
    { "long", echo, MCP_READS | MCP_LONG, 0, 2 },
    { "gone", echo, MCP_READS | MCP_LONG | MCP_STOP_ON_HANGUP, 0, 8 },
    { "swift", swift, MCP_READS | MCP_NONBLOCKING, 0, 0 },
    { "greedy", greedy, MCP_READS, 0, 0 },
    { 0 },
};

static int runs;
static const mcp_features features = { .files = files, .tools = tools, .data = &runs };

static conversation c;

static int set_up(void **state)
{
    (void)state;
    runs = 0;
    dawdles_us = 0;
    conversation_open(&c, NULL, &features);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    conversation_close(&c);
    return 0;
}

/* clang-format off */
#define CALL(id, name) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define ANSWER(id) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"got\\\":{}}\"}]}}"
#define ERROR(id, code, message) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"" message "\"}}"
#define CANCEL(id) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"
/* clang-format on */

static void ids_come_back_as_they_were(void **state)
{
    static const char *const ids[] = { "1",
                                       "\"1\"",
                                       "0",
                                       "-5",
                                       "9007199254740993",
                                       "\"\"",
                                       "\"\\u00e9\\n\\\"\"",
                                       "18446744073709551615",
                                       "9223372036854775807" };
    char asked[200];
    char wanted[200];

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        (void)snprintf(asked, sizeof asked, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
                       ids[i]);
        (void)snprintf(wanted, sizeof wanted, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
                       ids[i]);
        conversation_ask(&c, asked, wanted);
    }
    /* Equality of JSON numbers would not tell 9007199254740993 from its neighbour: look at the
       bytes. */
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}");
    assert_non_null(strstr(c.peer.text.data, "\"id\":9007199254740993,"));
}

/* A call that gets no memory because others have it is refused as such, and those that need little
 * are served. */
static void memory_is_shared(void **state)
{
    mcp_server_options options = { .name = "t",
                                   .version = "1",
                                   .limits.calls_max_bytes = 256 * 1024 };

    (void)state;
    conversation_ask(
        &c, CALL("1", "greedy"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
        "\"enough\"}]}}");
    conversation_close(&c);
    conversation_open(&c, &options, &features);
    conversation_ask(
        &c, CALL("1", "greedy"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
        "\"the server's memory for calls is in use: try again when others have ended\"}],"
        "\"isError\":true}}");
    conversation_ask(&c, CALL("2", "echo"), ANSWER("2"));
}

static void an_id_in_use_is_refused(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_ask(&c, CALL("1", "echo"), "");
    conversation_ask(&c, CALL("1", "echo"),
                     ERROR("1", "-32600", "a request with this id is still being answered"));
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
                     ERROR("1", "-32600", "a request with this id is still being answered"));
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"ping\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("1"));
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
}

static void what_is_no_message_is_answered_once(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    int64_t code = 0;

    (void)state;
    conversation_say(&c, "{");
    const mcp_json *answer = conversation_answer(&c, arena);
    assert_true(mcp_json_int(mcp_json_pointer(answer, "/error/code"), &code));
    assert_int_equal(code, -32700);
    assert_true(mcp_json_is_null(mcp_json_get(answer, "id")));
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
                     ERROR("null", "-32600", "id must be a string or an integer"));
    conversation_ask(&c, "{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"ping\"}",
                     ERROR("4", "-32600", "jsonrpc must be \\\"2.0\\\""));
    mcp_arena_free(arena);
}

static void an_unknown_id_is_null_until_a_revision_lets_it_be_left_out(void **state)
{
    static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18" };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        conversation_initialize(&c, revisions[i]);
        conversation_ask(&c, "7", ERROR("null", "-32600", "a message must be an object"));
    }
    conversation_initialize(&c, "2025-11-25");
    conversation_ask(
        &c, "7",
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"a message must be an object\"}}");
    mcp__dispatch_overlong(&c.session, &c.peer.peer, NULL);
    conversation_expect(
        &c,
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"a message may have 4194304 bytes at most\"}}");
}

static void a_batch_is_answered_as_one(void **state)
{
    (void)state;
    conversation_initialize(&c, "2025-03-26");
    conversation_ask(
        &c,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"nope\"},5]",
        "["
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
        "," ERROR("2", "-32601", "Unknown method: nope") "," ERROR(
            "null", "-32600", "a message must be an object") "]");
    conversation_ask(
        &c, "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"},{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}]",
        "");
    assert_int_equal(c.peer.answers, 0);
}

static void a_batch_waits_for_its_last_call(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_ask(&c, "[" CALL("1", "echo") "," CALL("2", "echo") "," CALL("3", "echo") "]", "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_ask(&c, CANCEL("2"), "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, "[" ANSWER("1") "," ANSWER("3") "]");
}

static void a_batch_whose_calls_were_all_cancelled_is_silent(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_ask(&c, "[" CALL("1", "echo") "]", "");
    conversation_ask(&c, CANCEL("1"), "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, "");
    assert_int_equal(runs, 0);
}

static void batches_have_their_bounds(void **state)
{
    char text[8192] = "[";

    (void)state;
    conversation_ask(&c, "[]", ERROR("null", "-32600", "a batch must not be empty"));
    for (int i = 0; i < 101; i++)
        strcat(text, i == 0 ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}" : ",1");
    strcat(text, "]");
    conversation_ask(&c, text, ERROR("null", "-32600", "a batch may have 100 messages at most"));
    conversation_ask(
        &c,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-26\"}}]",
        "[" ERROR("1", "-32600", "initialize must not be part of a batch") "]");
    conversation_ask(&c, "[[]]", "[" ERROR("null", "-32600", "a message must be an object") "]");
}

static void batches_belong_to_one_revision(void **state)
{
    static const char *const others[] = { "2024-11-05", "2025-06-18" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        conversation_initialize(&c, others[i]);
        conversation_ask(&c, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
                         ERROR("null", "-32600", "batches are not part of this revision"));
    }
}

static void more_than_32_calls_wait_in_line(void **state)
{
    char text[128];

    (void)state;
    c.executor.is_held = true;
    for (int i = 0; i < 32 + 256; i++) {
        assert_false(mcp__dispatch_is_full(&c.session));
        (void)snprintf(text, sizeof(text), CALL("%d", "echo"), i);
        conversation_say(&c, text);
    }
    assert_true(mcp__dispatch_is_full(&c.session));
    assert_int_equal(c.executor.held, 32);
    assert_int_equal(c.session.calls.waiting, 256);
    conversation_ask(&c, CANCEL("100"), ""); /* one in the line */
    assert_false(mcp__dispatch_is_full(&c.session));
    conversation_ask(&c, CANCEL("287"), ""); /* the last of it */
    assert_int_equal(c.session.calls.waiting, 254);
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("0"));
    assert_int_equal(c.executor.held, 32);
    while (mcp__inline_step(&c.executor))
        ;
    assert_int_equal(c.peer.answers, 32 + 256 - 3);
    assert_true(mcp__dispatch_is_idle(&c.session));
    mcp__peer_memory_reset(&c.peer);
}

static void a_cancelled_call_is_not_answered(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL("1", "echo"));
    conversation_say(&c, CALL("\"1\"", "echo"));
    conversation_ask(&c, CANCEL("1"), "");
    conversation_ask(&c, CANCEL("1"), "");
    conversation_say(&c, CALL("1", "echo")); /* the id is free again */
    while (mcp__inline_step(&c.executor))
        ;
    conversation_expect(&c, ANSWER("\"1\"") "\n" ANSWER("1"));
    assert_int_equal(runs, 2);
}

static void a_late_call_is_answered_at_its_deadline(void **state)
{
    int64_t now = mcp_clock_mono_ms();

    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL("1", "echo"));
    int64_t due = mcp__dispatch_tick(&c.session, now);
    assert_in_range(due, now + 1000, mcp_clock_mono_ms() + 1000);
    conversation_expect(&c, "");
    assert_true(mcp__dispatch_tick(&c.session, due) == INT64_MAX);
    conversation_expect(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
            "\"echo ran longer than its time limit of 1000 ms\"}],\"isError\":true}}");
    assert_false(mcp__dispatch_is_idle(&c.session));
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, "");
    assert_true(mcp__dispatch_is_idle(&c.session));
}

static void a_long_call_has_no_deadline(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL("1", "long"));
    assert_true(mcp__dispatch_tick(&c.session, mcp_clock_mono_ms()) == INT64_MAX);
}

static void a_long_tool_runs_so_often_at_once(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL("1", "long"));
    conversation_say(&c, CALL("2", "long"));
    conversation_expect(&c, "");
    conversation_ask(
        &c, CALL("3", "long"),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"long is running "
        "already; try again when it has ended.\"}],\"isError\":true}}");
    conversation_ask(&c, CANCEL("1"), "");
    conversation_say(&c, CALL("4", "long")); /* the cancelled one still has its thread */
    assert_int_equal(c.peer.answers, 1);
    mcp__peer_memory_reset(&c.peer);
    assert_true(mcp__inline_step(&c.executor));
    conversation_ask(&c, CALL("5", "long"), "");
    while (mcp__inline_step(&c.executor))
        ;
    conversation_expect(&c, ANSWER("2") "\n" ANSWER("5"));
}

/* ---- on the loop itself ---------------------------------------------------------------------- */

static void a_quick_call_needs_no_worker(void **state)
{
    (void)state;
    c.executor.is_held = true;
    c.executor.is_full = true;
    conversation_ask(&c, CALL("1", "swift"), ANSWER("1"));
    conversation_ask(&c, "[" CALL("2", "swift") "," CALL("3", "swift") "]",
                     "[" ANSWER("2") "," ANSWER("3") "]");
    assert_true(mcp__dispatch_is_idle(&c.session));
    assert_int_equal(runs, 3);
}

static int warnings;

static void count_warnings(mcp_log_level level, const char *message, void *data)
{
    (void)data;
    warnings += level == MCP_LOG_WARNING && strstr(message, "swift") != NULL;
}

static void a_quick_tool_that_dawdles_is_given_to_workers(void **state)
{
    mcp_server_options options = { .name = "test", .version = "1.0" };

    (void)state;
    conversation_close(&c);
    options.log = (mcp_log){ .sink = count_warnings, .level = MCP_LOG_WARNING };
    conversation_open(&c, &options, &features);
    warnings = 0;
    c.executor.is_held = true;
    dawdles_us = 15000;
    conversation_ask(&c, CALL("1", "swift"), ANSWER("1"));
    assert_int_equal(warnings, 1);
    conversation_ask(&c, CALL("2", "swift"), "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("2"));
    assert_int_equal(warnings, 1);
}

static void a_quick_tool_works_on_long_messages_elsewhere(void **state)
{
    static char call[80000];
    int head = snprintf(call, sizeof call,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"swift\",\"arguments\":{\"text\":\"");

    (void)state;
    memset(call + head, 'x', 70000);
    (void)snprintf(call + head + 70000, 10, "\"}}}");
    c.executor.is_held = true;
    conversation_ask(&c, call, "");
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(c.peer.answers, 1);
    mcp__peer_memory_reset(&c.peer);
}

/* An executor whose loop comes to what is posted later, as the real one does. */
static mcp__node *posted[4];
static int posted_count;

static void post_later(mcp__executor *self, mcp__node *node)
{
    (void)self;
    assert_in_range(posted_count, 0, 3);
    posted[posted_count++] = node;
}

static void what_a_quick_handler_reports_comes_before_its_answer(void **state)
{
    (void)state;
    posted_count = 0;
    c.executor.executor.post = post_later;
    conversation_ask(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"swift\","
        "\"_meta\":{\"progressToken\":7}}}",
        "");
    assert_false(mcp__dispatch_is_idle(&c.session));
    for (int i = 0; i < posted_count; i++)
        posted[i]->run(posted[i]);
    conversation_expect(&c,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                        "\"progressToken\":7,\"progress\":1,\"total\":1}}\n" ANSWER("1"));
    assert_true(mcp__dispatch_is_idle(&c.session));
}

static void no_thread_is_an_answer_too(void **state)
{
    (void)state;
    c.executor.is_full = true;
    conversation_ask(&c, CALL("1", "long"), ERROR("1", "-32603", "no thread is free"));
    c.executor.is_full = false;
    conversation_ask(&c, CALL("1", "long"), ANSWER("1"));
}

static void a_hang_up_stops_who_asked_for_it(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL("1", "long"));
    conversation_say(&c, CALL("2", "gone"));
    mcp__dispatch_stop(&c.session, MCP_STOP_CLIENT_GONE);
    assert_int_equal(mcp_call_stop(TAILQ_FIRST(&c.session.calls.open)), MCP_STOP_NONE);
    assert_int_equal(mcp_call_stop(TAILQ_NEXT(TAILQ_FIRST(&c.session.calls.open), loop.open)),
                     MCP_STOP_CLIENT_GONE);
    mcp__dispatch_stop(&c.session, MCP_STOP_SHUTDOWN);
    assert_int_equal(mcp_call_stop(TAILQ_FIRST(&c.session.calls.open)), MCP_STOP_SHUTDOWN);
    assert_int_equal(mcp_call_stop(TAILQ_NEXT(TAILQ_FIRST(&c.session.calls.open), loop.open)),
                     MCP_STOP_CLIENT_GONE);
    while (mcp__inline_step(&c.executor))
        ;
    conversation_expect(&c, ANSWER("1") "\n" ANSWER("2")); /* given soon, still sent */
}

#define PEERS 3
#define MODERN(id, name)                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name    \
    "\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                    \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c\",\"version\":\"1\"},"                   \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"

static const int orders[][PEERS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

/* What the calls see that are open, in the order of coming: a digit for each, enum mcp_stop. */
static void expect_stops(const char *digits)
{
    char seen[32] = "";
    size_t count = 0;

    for (const mcp_call *call = TAILQ_FIRST(&c.session.calls.open); call && count < 31;
         call = TAILQ_NEXT(call, loop.open))
        seen[count++] = (char)('0' + mcp_call_stop(call));
    assert_string_equal(seen, digits);
}

/* Of an earlier revision; the calls of a batch are those of the peer that it came by. */
static void a_hang_up_stops_calls_of_its_peer_alone(void **state)
{
    static const char *const batches[PEERS] = {
        "[" CALL("1", "gone") "," CALL("2", "long") "," CALL("3", "gone") "]",
        "[" CALL("4", "gone") "," CALL("5", "gone") "]",
        "[" CALL("6", "long") "," CALL("7", "gone") "]",
    };
    static const struct {
        int first;
        int count;
        const char *stops; /* of the calls that ask for it */
    } own[PEERS] = { { 0, 3, "101" }, { 3, 2, "11" }, { 5, 2, "01" } };

    (void)state;
    assert_int_equal(MCP_STOP_CLIENT_GONE, 1);
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        mcp__peer_memory peers[PEERS];
        char stops[] = "0000000";
        c.executor.is_held = true;
        for (int i = 0; i < PEERS; i++) {
            mcp__peer_memory_init(&peers[i]);
            mcp__dispatch_message(&c.session, &peers[i].peer, batches[i], strlen(batches[i]));
        }
        for (int i = 0; i < PEERS; i++) {
            int gone = orders[k][i];
            mcp__dispatch_hang_up(&peers[gone].peer);
            memcpy(stops + own[gone].first, own[gone].stops, (size_t)own[gone].count);
            expect_stops(stops);
        }
        while (mcp__inline_step(&c.executor))
            ;
        for (int i = 0; i < PEERS; i++) {
            assert_int_equal(peers[i].answers, 1);
            mcp__dispatch_hang_up(&peers[i].peer); /* nothing of it is open any more */
            mcp__peer_memory_clear(&peers[i]);
        }
    }
}

static void a_hang_up_ends_stateless_calls_of_its_peer_alone(void **state)
{
    static const char *const asked[] = { MODERN("1", "echo"), MODERN("2", "gone"),
                                         MODERN("3", "echo") };

    (void)state;
    c.session.context.is_shared = true; /* so each peer has the same ids */
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        mcp__peer_memory peers[PEERS];
        c.executor.is_held = true;
        for (int i = 0; i < PEERS; i++)
            mcp__peer_memory_init(&peers[i]);
        for (int call = 0; call < 2 * PEERS; call++)
            mcp__dispatch_message(&c.session, &peers[call % PEERS].peer, asked[call / PEERS],
                                  strlen(asked[call / PEERS]));
        mcp__dispatch_hang_up(&peers[orders[k][0]].peer);
        assert_int_equal(peers[orders[k][0]].skipped, 2);
        assert_true(mcp__inline_step(&c.executor)); /* the call of the first peer's */
        mcp__dispatch_hang_up(&peers[orders[k][1]].peer);
        mcp__dispatch_message(&c.session, &peers[orders[k][2]].peer, asked[2], strlen(asked[2]));
        while (mcp__inline_step(&c.executor))
            ;
        assert_int_equal(peers[orders[k][0]].answers, 0);
        assert_int_equal(peers[orders[k][1]].answers + peers[orders[k][1]].skipped, 2);
        assert_int_equal(peers[orders[k][1]].answers, orders[k][1] == 0 ? 1 : 0);
        assert_int_equal(peers[orders[k][2]].answers, 3);
        assert_true(mcp__dispatch_is_idle(&c.session));
        for (int i = 0; i < PEERS; i++)
            mcp__peer_memory_clear(&peers[i]);
    }
}

/* Ends with its last call, as the peers of HTTP do. */
struct mortal {
    mcp__peer peer; /* first */
    int pending;
};

static void mortal_no_reply(mcp__peer *peer)
{
    struct mortal *mortal = (struct mortal *)peer;

    if (--mortal->pending == 0)
        free(mortal);
}

static void a_hang_up_may_end_its_peer(void **state)
{
    static const char *const asked[] = { MODERN("1", "echo"), MODERN("2", "gone"),
                                         MODERN("3", "long") };

    (void)state;
    for (int count = 1; count <= 3; count++) {
        struct mortal *mortal = calloc(1, sizeof *mortal);
        assert_non_null(mortal);
        mortal->peer = c.peer.peer;
        mortal->peer.no_reply = mortal_no_reply;
        mortal->pending = count;
        c.executor.is_held = true;
        for (int i = 0; i < count; i++)
            mcp__dispatch_message(&c.session, &mortal->peer, asked[i], strlen(asked[i]));
        conversation_say(&c, CALL("9", "echo"));
        mcp__dispatch_hang_up(&mortal->peer);
        while (mcp__inline_step(&c.executor))
            ;
        conversation_expect(&c, ANSWER("9"));
    }
}

static void cancelling_all_leaves_nothing_open(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL("1", "long"));
    conversation_say(&c, CALL("2", "echo"));
    mcp__dispatch_stop(&c.session, MCP_STOP_CANCELLED);
    assert_true(TAILQ_EMPTY(&c.session.calls.open));
    while (mcp__inline_step(&c.executor))
        ;
    conversation_expect(&c, "");
    assert_true(mcp__dispatch_is_idle(&c.session));
}

static void going_down_answers_what_waits_and_what_is_left(void **state)
{
    char text[128];

    (void)state;
    c.executor.is_held = true;
    for (int i = 0; i < 33; i++) {
        (void)snprintf(text, sizeof(text), CALL("%d", "echo"), i);
        conversation_say(&c, text);
    }
    mcp__dispatch_refuse_waiting(&c.session);
    conversation_expect(&c, ERROR("32", "-32603", "the server is going down"));
    mcp__dispatch_abandon(&c.session);
    assert_int_equal(c.peer.answers, 32);
    mcp__peer_memory_reset(&c.peer);
    while (mcp__inline_step(&c.executor))
        ;
    conversation_expect(&c, "");
    assert_true(mcp__dispatch_is_idle(&c.session));
}

/* Whatever allocation fails: one answer comes (or, where not even an error can be made, none),
 * nothing leaks, and the server works afterwards. */
static void check_out_of_memory(const char *text, size_t answers)
{
    bool refused = true;

    for (long successes = 0; refused; successes++) {
        assert_true(successes < 10000);
        mcp__peer_memory_reset(&c.peer);
        mcp__alloc_fail_after(successes);
        conversation_say(&c, text);
        mcp__dispatch_stop(&c.session, MCP_STOP_CANCELLED);
        refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        assert_true(c.peer.answers <= answers);
        assert_true(mcp__dispatch_is_idle(&c.session));
        if (refused && c.peer.answers == 1 && c.peer.text.length > 1)
            assert_non_null(strstr(c.peer.text.data, "jsonrpc"));
    }
    assert_int_equal(c.peer.answers, answers);
    mcp__peer_memory_reset(&c.peer);
    conversation_ask(&c, CALL("1", "echo"), ANSWER("1"));
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    (void)mcp_buf_reserve(&c.peer.text, 65536); /* the peer is not what is tested */
    check_out_of_memory(CALL("1", "echo"), 1);
    check_out_of_memory("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 1);
    check_out_of_memory(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
        1);
    check_out_of_memory("[" CALL("1", "echo") "," CALL("2", "echo") "]", 1);
    check_out_of_memory(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":7}}",
        1);
    check_out_of_memory("{", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ids_come_back_as_they_were, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_is_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_id_in_use_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_message_is_answered_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_id_is_null_until_a_revision_lets_it_be_left_out,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_is_answered_as_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_waits_for_its_last_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_whose_calls_were_all_cancelled_is_silent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(batches_have_their_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(batches_belong_to_one_revision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_than_32_calls_wait_in_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_call_is_not_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_call_is_answered_at_its_deadline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_call_has_no_deadline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_tool_runs_so_often_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_quick_call_needs_no_worker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_quick_tool_that_dawdles_is_given_to_workers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_quick_tool_works_on_long_messages_elsewhere, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_quick_handler_reports_comes_before_its_answer,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_thread_is_an_answer_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hang_up_stops_who_asked_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hang_up_stops_calls_of_its_peer_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hang_up_ends_stateless_calls_of_its_peer_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_hang_up_may_end_its_peer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelling_all_leaves_nothing_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(going_down_answers_what_waits_and_what_is_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out_anywhere, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
