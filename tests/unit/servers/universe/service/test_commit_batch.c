/*
 * test_commit_batch.c - a commit in which the reducer fails (MCP-15): the sender gets the error in
 * words, nothing has changed, and all the others of that commit are served.
 *
 * The linker puts __wrap_universe_apply in the reducer's place (tests/CMakeLists.txt). It lets the
 * reducer work first and fails then, which is the worst that it can do to the state.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "conversation.h"
#include "features/tools.h"
#include "gateway/app.h"
#include "gateway/replies.h"
#include "service/service.h"

mcp_status __real_universe_apply(universe_outcome *out, universe_state *state,
                                 const mcp_json *command, const char *text, size_t text_length,
                                 const universe_rules *rules, mcp_arena *arena, mcp_error *err);
mcp_status __wrap_universe_apply(universe_outcome *out, universe_state *state,
                                 const mcp_json *command, const char *text, size_t text_length,
                                 const universe_rules *rules, mcp_arena *arena, mcp_error *err);

static atomic_int undone; /* commands that the reducer had applied before it failed */

/* A command with a member "fault" fails with the status that is its value. */
mcp_status __wrap_universe_apply(universe_outcome *out, universe_state *state,
                                 const mcp_json *command, const char *text, size_t text_length,
                                 const universe_rules *rules, mcp_arena *arena, mcp_error *err)
{
    int64_t fault = MCP_OK;
    mcp_status st = __real_universe_apply(out, state, command, text, text_length, rules, arena,
                                          err);
    mcp_json_int(mcp_json_get(command, "fault"), &fault);
    undone += fault != MCP_OK && st == MCP_OK && out->verdict == UNIVERSE_APPLIED;
    return fault == MCP_OK ? st
                           : mcp_error_set(err, (mcp_status)fault, "the reducer came to grief");
}

struct rig {
    db *db;
    universe_service *service;
    mcp_arena *arena;
    mcp_error err;
};

static void rig_open(struct rig *rig, const char *const *ids)
{
    universe_service_options options = { .files = universe_files };
    *rig = (struct rig){ .arena = mcp_arena_new((size_t)1 << 30) };
    assert_int_equal(db_open(&rig->db, "memory", NULL, &rig->err), MCP_OK);
    options.db = rig->db;
    assert_int_equal(universe_service_open(&rig->service, &options, &rig->err), MCP_OK);
    for (; *ids; ids++) {
        universe_version current = { 0 };
        assert_int_equal(universe_service_create(&current, NULL, rig->service, *ids, "Test", NULL,
                                                 NULL, rig->arena, &rig->err),
                         MCP_OK);
        universe_view_free(current.view);
    }
}

static void rig_close(struct rig *rig)
{
    universe_service_close(rig->service);
    db_close(rig->db);
    mcp_arena_free(rig->arena);
}

static void add_command(struct rig *rig, universe_command *command, const char *id,
                        mcp_status fault)
{
    command->text = mcp_arena_printf(
        rig->arena,
        "{\"type\":\"addStar\",\"id\":\"%s\",\"payload\":{\"name\":\"a\",\"mass\":1,\"radius\":1,"
        "\"color\":\"#4A90E2\",\"parentId\":null,\"orbitalDistance\":0,\"orbitalSpeed\":0}%s%s}",
        id, fault == MCP_OK ? "" : ",\"fault\":",
        fault == MCP_OK ? "" : mcp_arena_printf(rig->arena, "%d", (int)fault));
    command->length = strlen(command->text);
    assert_int_equal(
        mcp_json_read(&command->json, rig->arena, command->text, command->length, &rig->err),
        MCP_OK);
}

/* The universe has these bodies and this version, in memory and, if asked, in its log. */
static void expect_bodies(struct rig *rig, const char *id, size_t bodies, int64_t version)
{
    universe_version current = { 0 };
    assert_int_equal(universe_service_get(&current, rig->service, id, rig->arena, &rig->err),
                     MCP_OK);
    assert_int_equal(universe_view_count(current.view, UNIVERSE_STARS), bodies);
    assert_int_equal(current.record.version, version);
    universe_view_free(current.view);
}

/* What the clock says: the state that the next command starts from, not only the one that is
 * shown. */
static void expect_next(struct rig *rig, const char *id, size_t bodies, int64_t version)
{
    universe_command command;
    universe_result result = { 0 };
    add_command(rig, &command, "the-next", MCP_OK);
    assert_int_equal(universe_service_submit(&result, rig->service, id, &command, 1,
                                             UNIVERSE_ANY_VERSION, NULL, rig->arena, &rig->err),
                     MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    assert_int_equal(result.current.record.version, version);
    assert_int_equal(universe_view_count(result.current.view, UNIVERSE_STARS), bodies);
    universe_view_free(result.current.view);
}

static void a_failing_reducer_changes_nothing(void **unused)
{
    static const mcp_status faults[] = { MCP_E_INTERNAL, MCP_E_NOMEM, MCP_E_LIMIT };
    static const char *const ids[] = { "u-42", NULL };
    struct rig rig;
    (void)unused;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        universe_command command;
        universe_result result = { 0 };
        rig_open(&rig, ids);
        undone = 0;
        add_command(&rig, &command, "never", faults[i]);
        assert_int_equal(universe_service_submit(&result, rig.service, "u-42", &command, 1,
                                                 UNIVERSE_ANY_VERSION, NULL, rig.arena, &rig.err),
                         faults[i]);
        assert_null(result.current.view);
        assert_int_equal(undone, 1);
        assert_string_equal(rig.err.message, "the reducer came to grief");
        expect_bodies(&rig, "u-42", 0, 0);
        expect_next(&rig, "u-42", 1, 1);
        rig_close(&rig);
    }
}

static void a_batch_whose_last_order_fails_leaves_nothing(void **unused)
{
    static const char *const ids[] = { "u-42", NULL };
    universe_command commands[3];
    universe_result result = { 0 };
    struct rig rig;
    (void)unused;
    rig_open(&rig, ids);
    add_command(&rig, &commands[0], "first", MCP_OK);
    add_command(&rig, &commands[1], "second", MCP_OK);
    add_command(&rig, &commands[2], "third", MCP_E_INTERNAL);
    assert_int_equal(universe_service_submit(&result, rig.service, "u-42", commands, 3,
                                             UNIVERSE_ANY_VERSION, NULL, rig.arena, &rig.err),
                     MCP_E_INTERNAL);
    expect_bodies(&rig, "u-42", 0, 0);
    expect_next(&rig, "u-42", 1, 1);
    rig_close(&rig);
}

/* ---- others next to it ----------------------------------------------------------------------- */

enum { WRITERS = 8, EACH = 40 };

struct writer {
    universe_service *service;
    int number;
    int accepted, failed;
};

/* Every second order fails, by turns in two universes. */
static void *write_some(void *data)
{
    struct writer *writer = data;
    for (int i = 0; i < EACH; i++) {
        struct rig own = { .arena = mcp_arena_new(0) };
        universe_command command;
        universe_result result = { 0 };
        char id[32];
        snprintf(id, sizeof id, "b-%d-%d", writer->number, i);
        add_command(&own, &command, id, i % 2 == 1 ? MCP_E_INTERNAL : MCP_OK);
        mcp_status st = universe_service_submit(&result, writer->service,
                                                i % 4 < 2 ? "u-1" : "u-42", &command, 1,
                                                UNIVERSE_ANY_VERSION, NULL, own.arena, &own.err);
        writer->accepted += st == MCP_OK && i % 2 == 0;
        writer->failed += st == MCP_E_INTERNAL && i % 2 == 1;
        universe_view_free(result.current.view);
        mcp_arena_free(own.arena);
    }
    return NULL;
}

static void others_in_the_same_commit_are_served(void **unused)
{
    static const char *const ids[] = { "u-1", "u-42", NULL };
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    struct rig rig;
    (void)unused;
    rig_open(&rig, ids);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .service = rig.service, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(writers[i].accepted, EACH / 2);
        assert_int_equal(writers[i].failed, EACH / 2);
    }
    expect_bodies(&rig, "u-1", WRITERS * EACH / 4, WRITERS * EACH / 4);
    expect_bodies(&rig, "u-42", WRITERS * EACH / 4, WRITERS * EACH / 4);
    rig_close(&rig);
}

/* ---- MCP-15, by the tool --------------------------------------------------------------------- */

static const mcp_json *result_of(conversation *c, mcp_arena *arena, const char *command)
{
    conversation_say(
        c, mcp_arena_printf(arena,
                            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
                            "{\"name\":\"send_universe_command\",\"arguments\":"
                            "{\"universeId\":\"u-42\",\"command\":%s}}}",
                            command));
    while (c->peer.answers == 0) /* the service's own thread says when it is durable */
        assert_true(mcp__inline_await(&c->executor, 20000));
    const mcp_json *result = mcp_json_get(conversation_answer(c, arena), "result");
    assert_non_null(result);
    return result;
}

static const char *text_of(const mcp_json *result)
{
    const mcp_json *content = mcp_json_get(result, "content");
    assert_int_equal(mcp_json_count(content), 1);
    assert_string_equal(mcp_json_get_string(mcp_json_item(content, 0), "type"), "text");
    return mcp_json_get_string(mcp_json_item(content, 0), "text");
}

static void mcp_15_the_tool_reports_it_and_continues(void **unused)
{
    static const char *const ids[] = { "u-42", NULL };
    struct rig rig;
    rig_open(&rig, ids);
    universe_app app = { .service = rig.service, .inline_state_bytes = UNIVERSE_INLINE_STATE };
    const mcp_features features = { .files = universe_files,
                                    .tools = universe_tools,
                                    .data = &app };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    conversation c;
    bool is_error = false;
    char fault[64];
    (void)unused;

    options.name = "universe";
    options.version = "1";
    options.allow_write = true;
    conversation_open(&c, &options, &features);
    conversation_initialize(&c, "2025-11-25");
    snprintf(fault, sizeof fault, "{\"type\":\"tick\",\"fault\":%d}", (int)MCP_E_INTERNAL);
    const mcp_json *result = result_of(&c, rig.arena, fault);
    assert_true(mcp_json_bool(mcp_json_get(result, "isError"), &is_error) && is_error);
    assert_non_null(strstr(text_of(result), "\"Command processing failed\""));
    assert_non_null(strstr(text_of(result), "\"u-42\""));
    assert_null(strstr(text_of(result), "came to grief")); /* the log's, not the client's */

    result = result_of(&c, rig.arena, "{\"type\":\"tick\"}");
    is_error = false;
    mcp_json_bool(mcp_json_get(result, "isError"), &is_error);
    assert_false(is_error);
    assert_non_null(strstr(text_of(result), "\"time\":1"));
    expect_bodies(&rig, "u-42", 0, 1);
    conversation_close(&c);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_reducer_changes_nothing),
        cmocka_unit_test(a_batch_whose_last_order_fails_leaves_nothing),
        cmocka_unit_test(others_in_the_same_commit_are_served),
        cmocka_unit_test(mcp_15_the_tool_reports_it_and_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
