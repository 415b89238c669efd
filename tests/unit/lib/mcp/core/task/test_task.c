/*
 * test_task.c - the life of tasks in both eras: how they end, which clients are notified, what
 * bounds them. The whole messages stand in tests/wire/library/tasks-*.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "conversation.h"
#include "fixture_task.h"
#include "mcp/clock.h"

#define CALL(id, name, more)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name    \
    "\"" more "}}"
#define TASK ",\"task\":{}"
#define ENVELOPE                                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{},\"extensions\":{"          \
    "\"io.modelcontextprotocol/tasks\":{}}}}"

static void open_session(conversation *c, const mcp_server_options *options)
{
    conversation_open(c, options, &fixture_task);
    conversation_say(
        c,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{\"elicitation\":{}}}}");
    mcp__peer_memory_reset(&c->peer);
    c->executor.is_held = true;
}

/* A request about the newest task, with further params. */
static void about(conversation *c, const char *id, const char *method, const char *more)
{
    char text[1024];

    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{\"taskId\":\"%s\"%s}}", id,
        method, LIST_FIRST(&c->tasks->entries) ? LIST_FIRST(&c->tasks->entries)->id : "none", more);
    conversation_say(c, text);
}

static bool heard(const conversation *c, const char *words)
{
    return c->peer.text.data && strstr(c->peer.text.data, words);
}

/* Since the last look. */
static void assert_heard(conversation *c, const char *words)
{
    if (!heard(c, words))
        fail_msg("wanted: %s\ngot: %s", words, c->peer.text.data ? c->peer.text.data : "nothing");
    mcp__peer_memory_reset(&c->peer);
}

static void assert_status(conversation *c, const char *status)
{
    char words[64];

    mcp__peer_memory_reset(&c->peer);
    about(c, "900", "tasks/get", LIST_FIRST(&c->tasks->entries)->is_stateless ? "," ENVELOPE : "");
    (void)snprintf(words, sizeof words, "\"status\":\"%s\"", status);
    assert_heard(c, words);
}

/* ---- within a session ------------------------------------------------------------------------ */

static void the_answer_comes_twice_and_to_all_who_wait(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    assert_int_equal(c.peer.answers, 1);
    assert_true(heard(&c, "\"task\":{\"taskId\":"));
    assert_status(&c, "working");
    about(&c, "2", "tasks/result", "");
    about(&c, "3", "tasks/result", "");
    assert_int_equal(c.peer.answers, 0);
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(c.peer.answers, 2);
    assert_true(
        heard(&c, "\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]"));
    assert_true(
        heard(&c, "\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]"));
    assert_true(heard(&c, "related-task\":{\"taskId\":"));
    assert_status(&c, "completed");
    about(&c, "4", "tasks/result", "");
    assert_heard(&c, "\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]");
    conversation_close(&c);
}

static void a_failed_tool_is_a_failed_task(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/only", TASK));
    assert_status(&c, "failed");
    about(&c, "2", "tasks/get", "");
    assert_heard(&c, "\"statusMessage\":\"not today\"");
    about(&c, "3", "tasks/result", "");
    assert_heard(&c, "\"isError\":true");
    conversation_say(&c, CALL("4", "task/error", TASK));
    assert_status(&c, "failed");
    about(&c, "5", "tasks/result", "");
    assert_heard(&c, "\"id\":5,\"error\":{\"code\":-32603,\"message\":\"it cannot be\"}");
    conversation_close(&c);
}

static void a_cancelled_task_stays_so(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    about(&c, "2", "tasks/result", "");
    mcp__peer_memory_reset(&c.peer);
    about(&c, "3", "tasks/cancel", "");
    assert_true(
        heard(&c, "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"the task was cancelled\"}"));
    assert_true(heard(&c, "\"id\":3,\"result\":{\"taskId\":"));
    assert_status(&c, "cancelled");
    assert_true(mcp__inline_step(&c.executor)); /* its worker comes back */
    assert_status(&c, "cancelled");
    about(&c, "4", "tasks/cancel", "");
    assert_heard(&c, "\"id\":4,\"error\":{\"code\":-32602");
    conversation_close(&c);
}

/* notifications/cancelled does not reach a task, nor does an id that its call once had. */
static void the_request_itself_is_over(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("0", "task/plain", TASK));
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":0}}");
    assert_status(&c, "working");
    conversation_say(&c, CALL("0", "task/plain", ""));
    assert_int_equal(c.executor.held, 2);
    conversation_close(&c);
}

static void one_who_waits_may_leave(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    about(&c, "2", "tasks/result", "");
    about(&c, "3", "tasks/result", "");
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}");
    mcp__peer_memory_reset(&c.peer);
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(c.peer.answers, 1);
    assert_true(heard(&c, "\"id\":3"));
    assert_true(mcp__dispatch_is_idle(&c.session));
    conversation_close(&c);
}

static void sixteen_may_wait(void **state)
{
    conversation c;
    char id[16];

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    mcp__peer_memory_reset(&c.peer);
    for (int i = 0; i < 16; i++) {
        (void)snprintf(id, sizeof id, "%d", 10 + i);
        about(&c, id, "tasks/result", "");
    }
    assert_int_equal(c.peer.answers, 0);
    about(&c, "99", "tasks/result", "");
    assert_heard(&c, "\"id\":99,\"error\"");
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(c.peer.answers, 16);
    conversation_close(&c);
}

static void questions_wait_for_one_who_waits(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    c.executor.is_held = false;
    c.session.listener = NULL;
    conversation_say(&c, CALL("1", "task/ask", TASK));
    assert_false(heard(&c, "elicitation/create"));
    assert_status(&c, "input_required");
    about(&c, "2", "tasks/result", "");
    assert_true(heard(&c, "\"id\":1,\"method\":\"elicitation/create\""));
    assert_true(heard(&c, "\"id\":2,\"method\":\"elicitation/create\""));
    assert_heard(&c, "\"_meta\":{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"");
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}");
    assert_status(&c, "input_required");
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"B\"}}}");
    assert_heard(&c, "\"text\":\"A and B\"");
    assert_status(&c, "completed");
    conversation_close(&c);
}

/* The stream that the questions went to is gone: the next one has those that are open. */
static void questions_are_asked_again(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    c.executor.is_held = false;
    c.session.listener = NULL;
    conversation_say(&c, CALL("1", "task/ask", TASK));
    about(&c, "2", "tasks/result", "");
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"decline\"}}");
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}");
    mcp__peer_memory_reset(&c.peer);
    about(&c, "3", "tasks/result", "");
    assert_int_equal(c.peer.notifications, 1);
    assert_heard(&c, "\"id\":3,\"method\":\"elicitation/create\",\"params\":{\"message\":\"Two?\"");
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"B\"}}}");
    assert_heard(&c, "\"text\":\"decline and B\"");
    for (int id = 1; id <= 3; id++) { /* nothing waits for them any more */
        char late[100];
        (void)snprintf(late, sizeof late,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"cancel\"}}", id);
        conversation_ask(&c, late, "");
    }
    conversation_close(&c);
}

/* Clients that do not wait for the end are asked all the same; one that comes to wait is not asked
 * twice, unless the stream that the questions went on is another by then. */
static void questions_go_on_the_sessions_own_stream(void **state)
{
    mcp__peer_memory other;
    conversation c;

    (void)state;
    for (int is_other = 0; is_other < 2; is_other++) {
        open_session(&c, NULL);
        mcp__peer_memory_init(&other);
        c.executor.is_held = false;
        conversation_say(&c, CALL("1", "task/ask", TASK));
        assert_true(heard(&c, "\"id\":2,\"method\":\"elicitation/create\""));
        mcp__peer_memory_reset(&c.peer);
        if (is_other)
            c.session.listener = &other.peer;
        about(&c, "2", "tasks/result", "");
        assert_int_equal(c.peer.notifications, is_other ? 2 : 0);
        assert_int_equal(other.notifications, 0);
        conversation_close(&c);
        mcp__peer_memory_clear(&other);
    }
}

static void what_it_sends_says_whose_it_is(void **state)
{
    mcp_server_options options = { .logging = true };
    conversation c;

    (void)state;
    open_session(&c, &options);
    c.executor.is_held = false;
    conversation_say(&c,
                     CALL("1", "task/plain", ",\"task\":{},\"_meta\":{\"progressToken\":\"p\"}"));
    assert_true(heard(&c, "\"progressToken\":\"p\",\"progress\":1,\"message\":\"begun\",\"_meta\":{"
                          "\"io.modelcontextprotocol/related-task\":"));
    assert_true(
        heard(&c, "\"data\":\"logged\",\"_meta\":{\"io.modelcontextprotocol/related-task\":"));
    assert_heard(&c, "\"method\":\"notifications/tasks/status\"");
    conversation_close(&c);
}

static void its_last_report_is_its_message(void **state)
{
    const mcp_progress half_way = { .progress = 1, .message = "half\nway" };
    const mcp_progress silent = { .progress = 2 }; /* changes nothing */
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    assert_true(mcp_call_wants_progress(LIST_FIRST(&c.tasks->entries)->call));
    assert_int_equal(mcp_call_progress(LIST_FIRST(&c.tasks->entries)->call, &half_way), MCP_OK);
    about(&c, "2", "tasks/get", "");
    assert_heard(&c, "\"statusMessage\":\"half way\"");
    assert_int_equal(mcp_call_progress(LIST_FIRST(&c.tasks->entries)->call, &silent), MCP_OK);
    about(&c, "3", "tasks/get", "");
    assert_heard(&c, "\"statusMessage\":\"half way\"");
    conversation_close(&c);
}

static void a_time_limit_fails_it(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/short", TASK));
    about(&c, "2", "tasks/result", "");
    (void)mcp__dispatch_tasks_tick(c.tasks, mcp_clock_mono_ms() + 1001);
    assert_true(heard(
        &c,
        "\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"task/short ran longer"));
    assert_status(&c, "failed");
    conversation_close(&c);
}

/* ---- without one ----------------------------------------------------------------------------- */

static void open_stateless(conversation *c, const mcp_server_options *options)
{
    conversation_open(c, options, &fixture_task);
    c->executor.is_held = true;
}

static void answers_come_by_names_used_once(void **state)
{
    conversation c;

    (void)state;
    open_stateless(&c, NULL);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/ask", "," ENVELOPE));
    assert_heard(&c, "\"resultType\":\"task\"");
    about(&c, "2", "tasks/update",
          ",\"inputResponses\":{\"one-1\":{\"action\":\"accept\",\"content\":{\"name\":\"\"}},"
          "\"other\":7}," ENVELOPE);
    assert_heard(&c, "\"id\":2,\"result\":{\"resultType\":\"complete\"");
    about(&c, "3", "tasks/get", "," ENVELOPE);
    assert_false(heard(&c, "one-1"));
    assert_heard(&c, "\"inputRequests\":{\"two-1\":{\"method\":\"elicitation/create\"");
    about(&c, "4", "tasks/update",
          ",\"inputResponses\":{\"two-1\":{\"action\":\"decline\"}}," ENVELOPE);
    about(&c, "5", "tasks/get",
          "," ENVELOPE); /* the empty name does not fit: asked again, by another name */
    assert_heard(&c, "\"inputRequests\":{\"one-2\":{\"method\":\"elicitation/create\"");
    about(&c, "6", "tasks/update",
          ",\"inputResponses\":{\"one-1\":{\"action\":\"decline\"}}," ENVELOPE);
    assert_status(&c, "input_required");
    about(&c, "7", "tasks/update", ",\"inputResponses\":{\"one-2\":7}," ENVELOPE);
    assert_heard(&c, "\"id\":7,\"error\":{\"code\":-32602");
    about(
        &c, "8", "tasks/update",
        ",\"inputResponses\":{\"one-2\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}," ENVELOPE);
    about(&c, "9", "tasks/get", "," ENVELOPE);
    assert_heard(&c, "\"status\":\"completed\"");
    conversation_close(&c);
}

static void a_failed_tool_is_a_completed_task(void **state)
{
    conversation c;

    (void)state;
    open_stateless(&c, NULL);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/only", "," ENVELOPE));
    assert_status(&c, "completed");
    about(&c, "2", "tasks/get", "," ENVELOPE);
    assert_false(heard(&c, "related-task"));
    assert_heard(&c, "\"isError\":true");
    conversation_say(&c, CALL("3", "task/error", "," ENVELOPE));
    about(&c, "4", "tasks/get", "," ENVELOPE);
    assert_true(heard(&c, "\"status\":\"failed\""));
    assert_heard(&c, "\"error\":{\"code\":-32603,\"message\":\"it cannot be\"}");
    conversation_close(&c);
}

static void cancelling_is_always_acknowledged(void **state)
{
    conversation c;

    (void)state;
    open_stateless(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", "," ENVELOPE));
    for (int i = 0; i < 2; i++) {
        mcp__peer_memory_reset(&c.peer);
        about(&c, "2", "tasks/cancel", "," ENVELOPE);
        assert_heard(&c, "\"id\":2,\"result\":{\"resultType\":\"complete\",\"_meta\"");
    }
    assert_status(&c, "cancelled");
    conversation_close(&c);
}

static void nothing_is_sent_to_those_who_come_and_look(void **state)
{
    mcp_server_options options = { .logging = true };
    conversation c;

    (void)state;
    open_stateless(&c, &options);
    c.executor.is_held = false;
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"task/plain\",\"_meta\":{"
        "\"progressToken\":\"p\",\"io.modelcontextprotocol/logLevel\":\"debug\","
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{"
        "\"io.modelcontextprotocol/tasks\":{}}}}}}");
    assert_int_equal(c.peer.answers, 1);
    assert_int_equal(c.peer.notifications, 0);
    conversation_close(&c);
}

static void subscribers_are_notified(void **state)
{
    conversation c;
    char text[1024];

    (void)state;
    open_stateless(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", "," ENVELOPE));
    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\",\"params\":{"
        "\"notifications\":{\"taskIds\":[\"%s\",\"none\"]}," ENVELOPE "}}",
        LIST_FIRST(&c.tasks->entries)->id);
    conversation_say(&c, text);
    (void)snprintf(text, sizeof(text), "\"taskIds\":[\"%s\"]", LIST_FIRST(&c.tasks->entries)->id);
    assert_heard(&c, text);
    assert_true(mcp__inline_step(&c.executor));
    assert_true(heard(&c, "\"io.modelcontextprotocol/subscriptionId\":\"l\""));
    assert_true(heard(&c, "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]"));
    assert_heard(&c, "\"method\":\"notifications/tasks\"");
    mcp__dispatch_stop(&c.session, MCP_STOP_CANCELLED);
    conversation_close(&c);
}

static void a_handler_says_when(void **state)
{
    conversation c;

    (void)state;
    open_stateless(&c, NULL);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/later", "," ENVELOPE));
    assert_heard(&c, "\"resultType\":\"input_required\"");
    assert_null(LIST_FIRST(&c.tasks->entries));
    conversation_say(
        &c,
        CALL(
            "2", "task/later",
            ",\"inputResponses\":{\"who\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}," ENVELOPE));
    assert_false(heard(&c, "requestState"));
    assert_heard(&c, "\"id\":2,\"result\":{\"taskId\":");
    about(&c, "3", "tasks/get", "," ENVELOPE);
    assert_heard(&c, "\"text\":\"for A, kept\"");
    conversation_close(&c);
}

/* ---- whose they are, and how long ------------------------------------------------------------ */

static void a_task_is_its_principals(void **state)
{
    const mcp_principal ada = { .name = "ada", .scopes = "" };
    const mcp_principal bob = { .name = "bob", .scopes = "" };
    static const char *const methods[] = { "tasks/get", "tasks/result", "tasks/cancel" };
    conversation c;

    (void)state;
    open_session(&c, NULL);
    c.peer.peer.principal = &ada;
    conversation_say(&c, CALL("1", "task/plain", TASK));
    for (int who = 0; who < 2; who++) {
        c.peer.peer.principal = who ? &bob : NULL;
        for (size_t i = 0; i < 3; i++) {
            mcp__peer_memory_reset(&c.peer);
            about(&c, "2", methods[i], "");
            assert_heard(&c, "\"error\":{\"code\":-32602,\"message\":\"there is no such task\"}");
        }
        conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/list\"}",
                         "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tasks\":[]}}");
    }
    c.peer.peer.principal = &ada;
    assert_status(&c, "working");
    conversation_close(&c);
}

static void a_session_takes_its_tasks_with_it(void **state)
{
    const mcp_principal ada = { .name = "ada", .scopes = "" };
    mcp__context setup;
    mcp__session other;
    conversation c;

    (void)state;
    open_session(&c, NULL);
    setup = c.session.context;
    assert_int_equal(mcp__session_init(&other, &setup, NULL), MCP_OK);
    other.revision = MCP_2025_11_25;
    for (int i = 0; i < 2; i++) {
        const char *text = CALL("1", "task/plain", TASK);
        c.peer.peer.principal = i ? &ada : NULL;
        mcp__dispatch_message(&other, &c.peer.peer, text, strlen(text));
    }
    assert_int_equal(c.tasks->count, 2);
    mcp__session_clear(&other);
    assert_int_equal(c.tasks->count, 1);
    assert_status(&c, "working"); /* the principal's own continues */
    conversation_close(&c);
}

static void its_time_begins_with_it(void **state)
{
    conversation c;
    int64_t began_ms;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", ",\"task\":{\"ttl\":60000}"));
    assert_true(heard(&c, "\"ttl\":60000"));
    began_ms = LIST_FIRST(&c.tasks->entries)->began_ms;
    (void)mcp__dispatch_tasks_tick(c.tasks, began_ms + 59000); /* it works: never forgotten */
    assert_int_equal(c.tasks->count, 1);
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(mcp__dispatch_tasks_due_ms(c.tasks), began_ms + 60000);
    (void)mcp__dispatch_tasks_tick(c.tasks, began_ms + 59999);
    assert_int_equal(c.tasks->count, 1);
    (void)mcp__dispatch_tasks_tick(c.tasks, began_ms + 60000);
    assert_int_equal(c.tasks->count, 0);
    assert_int_equal(c.tasks->bytes, 0);
    mcp__peer_memory_reset(&c.peer);
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tasks/list\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tasks\":[]}}");
    conversation_close(&c);
}

static void one_that_waits_for_answers_has_an_end(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/ask", ",\"task\":{\"ttl\":60000}"));
    about(&c, "2", "tasks/result", "");
    mcp__peer_memory_reset(&c.peer);
    (void)mcp__dispatch_tasks_tick(c.tasks, LIST_FIRST(&c.tasks->entries)->began_ms + 60000);
    assert_heard(
        &c,
        "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"what the task asked was not answered in time\"}");
    assert_int_equal(c.tasks->count, 0);
    assert_true(mcp__dispatch_is_idle(&c.session));
    assert_true(mcp__dispatch_is_idle(&c.tasks->session));
    conversation_close(&c);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void so_many_are_kept(void **state)
{
    const mcp_principal ada = { .name = "ada", .scopes = "" };
    mcp_server_options options = { .limits.tasks_max = 3, .limits.tasks_max_per_client = 2 };
    conversation c;

    (void)state;
    open_session(&c, &options);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    conversation_say(&c, CALL("2", "task/plain", TASK));
    assert_int_equal(c.tasks->count, 2);
    mcp__peer_memory_reset(&c.peer);
    conversation_say(&c, CALL("3", "task/plain", TASK)); /* of one client */
    assert_heard(
        &c, "\"id\":3,\"error\":{\"code\":-32603,\"message\":\"2 tasks of this client are kept");
    c.peer.peer.principal = &ada;
    conversation_say(&c, CALL("4", "task/plain", TASK));
    assert_int_equal(c.tasks->count, 3);
    mcp__peer_memory_reset(&c.peer);
    conversation_say(&c, CALL("5", "task/plain", TASK)); /* of all */
    assert_heard(&c, "\"id\":5,\"error\":{\"code\":-32603,\"message\":\"3 tasks are kept");
    assert_int_equal(c.executor.held, 3);
    conversation_close(&c);
}

/* The bytes of a result of task/big are learnt from one that has room enough. */
static void so_many_bytes_are_kept(void **state)
{
    mcp_server_options options = { .limits.tasks_max_bytes = 0 };
    conversation c;
    size_t bytes;

    (void)state;
    open_session(&c, &options);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/big", TASK));
    bytes = c.tasks->bytes;
    assert_true(bytes > 1000);
    conversation_close(&c);
    for (int over = 0; over < 2; over++) {
        options.limits.tasks_max_bytes = 2 * bytes - (size_t)over;
        open_session(&c, &options);
        c.executor.is_held = false;
        conversation_say(&c, CALL("1", "task/big", TASK));
        conversation_say(&c, CALL("2", "task/big", TASK));
        assert_status(&c, over ? "failed" : "completed");
        about(&c, "3", "tasks/result", "");
        assert_heard(&c, over ? "there is no room for the task's result" : "xxxx");
        conversation_close(&c);
    }
}

static void a_result_that_could_not_be_told_is_not_kept(void **state)
{
    mcp_server_options options = { .limits.reply_max_bytes = 4096 + 1000 };
    conversation c;

    (void)state;
    open_session(&c, &options);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/plain", TASK));
    assert_status(&c, "completed");
    conversation_say(&c, CALL("2", "task/big", TASK));
    assert_status(&c, "failed");
    conversation_close(&c);
}

static void a_full_table_refuses_one_that_becomes_a_task_late(void **state)
{
    mcp_server_options options = { .limits.tasks_max = 1 };
    conversation c;

    (void)state;
    open_stateless(&c, &options);
    c.executor.is_held = false;
    conversation_say(&c, CALL("1", "task/plain", "," ENVELOPE));
    mcp__peer_memory_reset(&c.peer);
    conversation_say(
        &c,
        CALL(
            "2", "task/later",
            ",\"inputResponses\":{\"who\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}," ENVELOPE));
    assert_heard(&c, "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"1 tasks are kept");
    assert_true(mcp__dispatch_is_idle(&c.session));
    conversation_close(&c);
}

/* ---- the end of the server ------------------------------------------------------------------- */

static void only_those_waited_for_outlast_the_clients(void **state)
{
    static const mcp_stop reasons[] = { MCP_STOP_CLIENT_GONE, MCP_STOP_SHUTDOWN };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        conversation c;
        open_session(&c, NULL);
        conversation_say(&c, CALL("1", "task/plain", TASK));
        conversation_say(&c, CALL("2", "task/plain", TASK));
        about(&c, "3", "tasks/result", ""); /* for the second */
        mcp__peer_memory_reset(&c.peer);
        mcp__dispatch_tasks_stop(c.tasks, reasons[i]);
        assert_int_equal(LIST_NEXT(LIST_FIRST(&c.tasks->entries), older)->status,
                         MCP__TASK_CANCELLED);
        assert_int_equal(c.peer.answers, 0);
        while (mcp__inline_step(&c.executor))
            ;
        assert_heard(&c, "\"id\":3,\"result\":{\"content\"");
        assert_true(mcp__dispatch_is_idle(&c.tasks->session));
        conversation_close(&c);
    }
}

static void callers_of_abandoned_tasks_are_notified(void **state)
{
    conversation c;

    (void)state;
    open_session(&c, NULL);
    conversation_say(&c, CALL("1", "task/plain", TASK));
    about(&c, "2", "tasks/result", "");
    mcp__peer_memory_reset(&c.peer);
    mcp__dispatch_abandon(&c.session);
    assert_heard(&c,
                 "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"the server is going down\"}");
    mcp__dispatch_abandon(&c.tasks->session);
    assert_int_equal(LIST_FIRST(&c.tasks->entries)->status, MCP__TASK_FAILED);
    conversation_close(&c);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Both eras from beginning to end, with every allocation refused in turn: each request is answered,
 * or, where there is no memory even for that, skipped. */
static void memory_may_run_out_anywhere(void **state)
{
    static const char *const script[] = {
        CALL("1", "task/plain", TASK),
        CALL("2", "task/ask", TASK),
        CALL("3", "task/plain", "," ENVELOPE),
        CALL("4", "task/ask", "," ENVELOPE),
        CALL(
            "5", "task/later",
            ",\"inputResponses\":{\"who\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}," ENVELOPE),
        "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tasks/list\"}",
    };
    bool was_refused = true;
    long successes = 0;

    (void)state;
    for (; was_refused && successes < 10000; successes++) {
        conversation c;
        open_session(&c, NULL);
        c.executor.is_held = false;
        mcp__alloc_fail_after(successes);
        for (size_t i = 0; i < sizeof(script) / sizeof(script[0]); i++)
            conversation_say(&c, script[i]);
        about(&c, "7", "tasks/update",
              ",\"inputResponses\":{\"one-1\":{\"action\":\"decline\"},"
              "\"two-1\":{\"action\":\"decline\"}}," ENVELOPE);
        about(&c, "8", "tasks/get", "," ENVELOPE);
        was_refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        assert_int_equal(c.peer.answers + c.peer.skipped, 8);
        mcp__dispatch_stop(&c.session, MCP_STOP_CANCELLED);
        conversation_close(&c);
    }
    assert_false(was_refused);
    assert_true(successes > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_comes_twice_and_to_all_who_wait),
        cmocka_unit_test(a_failed_tool_is_a_failed_task),
        cmocka_unit_test(a_cancelled_task_stays_so),
        cmocka_unit_test(the_request_itself_is_over),
        cmocka_unit_test(one_who_waits_may_leave),
        cmocka_unit_test(sixteen_may_wait),
        cmocka_unit_test(questions_wait_for_one_who_waits),
        cmocka_unit_test(questions_are_asked_again),
        cmocka_unit_test(questions_go_on_the_sessions_own_stream),
        cmocka_unit_test(what_it_sends_says_whose_it_is),
        cmocka_unit_test(its_last_report_is_its_message),
        cmocka_unit_test(a_time_limit_fails_it),
        cmocka_unit_test(answers_come_by_names_used_once),
        cmocka_unit_test(a_failed_tool_is_a_completed_task),
        cmocka_unit_test(cancelling_is_always_acknowledged),
        cmocka_unit_test(nothing_is_sent_to_those_who_come_and_look),
        cmocka_unit_test(subscribers_are_notified),
        cmocka_unit_test(a_handler_says_when),
        cmocka_unit_test(a_task_is_its_principals),
        cmocka_unit_test(a_session_takes_its_tasks_with_it),
        cmocka_unit_test(its_time_begins_with_it),
        cmocka_unit_test(one_that_waits_for_answers_has_an_end),
        cmocka_unit_test(so_many_are_kept),
        cmocka_unit_test(so_many_bytes_are_kept),
        cmocka_unit_test(a_result_that_could_not_be_told_is_not_kept),
        cmocka_unit_test(a_full_table_refuses_one_that_becomes_a_task_late),
        cmocka_unit_test(only_those_waited_for_outlast_the_clients),
        cmocka_unit_test(callers_of_abandoned_tasks_are_notified),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
