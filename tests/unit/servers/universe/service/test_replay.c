/*
 * test_replay.c - a log makes its universe again, whatever snapshots there are, and a log that was
 * tampered with does not pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "gateway/app.h"
#include "service/service.h"

struct rig {
    db *db;
    universe_service *service;
    mcp_arena *arena;
    mcp_error err;
};

static void rig_open(struct rig *rig)
{
    universe_service_options options = { .files = universe_files };
    universe_version current = { 0 };
    *rig = (struct rig){ .arena = mcp_arena_new((size_t)1 << 28) };
    assert_non_null(rig->arena);
    assert_int_equal(db_open(&rig->db, "memory", NULL, &rig->err), MCP_OK);
    options.db = rig->db;
    assert_int_equal(universe_service_open(&rig->service, &options, &rig->err), MCP_OK);
    assert_int_equal(universe_service_create(&current, NULL, rig->service, "u", "Test", NULL, NULL,
                                             rig->arena, &rig->err),
                     MCP_OK);
    universe_view_free(current.view);
}

static void rig_close(struct rig *rig)
{
    universe_service_close(rig->service);
    db_close(rig->db);
    mcp_arena_free(rig->arena);
}

static void send(struct rig *rig, const char *text)
{
    universe_command command = { .text = text, .length = strlen(text) };
    universe_result result = { 0 };
    assert_int_equal(mcp_json_read(&command.json, rig->arena, text, command.length, &rig->err),
                     MCP_OK);
    assert_int_equal(universe_service_submit(&result, rig->service, "u", &command, 1,
                                             UNIVERSE_ANY_VERSION, NULL, rig->arena, &rig->err),
                     MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    universe_view_free(result.current.view);
}

static void add_star(struct rig *rig, int number)
{
    send(rig, mcp_arena_printf(rig->arena,
                               "{\"type\":\"addStar\",\"id\":\"s%d\",\"payload\":{\"name\":\"S\","
                               "\"mass\":1,\"radius\":1,\"color\":\"#FFFFFF\",\"parentId\":null,"
                               "\"orbitalDistance\":0,\"orbitalSpeed\":0}}",
                               number));
}

static mcp_status replay(struct rig *rig, int64_t to, universe_replayed *what, size_t *stars,
                         double *time)
{
    universe_view *view = NULL;
    mcp_status st = universe_service_replay(&view, what, rig->service, "u", to, NULL, NULL,
                                            &rig->err);
    if (st == MCP_OK) {
        *stars = universe_view_count(view, UNIVERSE_STARS);
        *time = universe_view_time(view);
        assert_int_equal(universe_view_check(view, NULL, &rig->err), MCP_OK);
    }
    universe_view_free(view);
    return st;
}

static void every_version_is_made_again(void **state)
{
    universe_replayed what;
    struct rig rig;
    size_t stars = 0;
    double time = 0;

    (void)state;
    rig_open(&rig);
    for (int i = 0; i < 700; i++) /* more than one step of a replay */
        send(&rig, "{\"type\":\"tick\",\"dt\":0.5}");
    for (int i = 0; i < 10; i++)
        add_star(&rig, i);
    for (int64_t to = 0; to <= 710; to += 71) {
        assert_int_equal(replay(&rig, to, &what, &stars, &time), MCP_OK);
        assert_int_equal(what.from, 0);
        assert_int_equal(what.to, to);
        assert_int_equal(stars, to <= 700 ? 0 : to - 700);
        assert_true(time == (double)(to < 700 ? to : 700) * 0.5);
    }
    assert_int_equal(replay(&rig, UNIVERSE_ANY_VERSION, &what, &stars, &time), MCP_OK);
    assert_int_equal(what.to, 710);
    assert_int_equal(replay(&rig, 711, &what, &stars, &time), MCP_E_NOT_FOUND);
    assert_int_equal(replay(&rig, -2, &what, &stars, &time), MCP_E_NOT_FOUND);
    rig_close(&rig);
}

/* A state from elsewhere has no commands: a replay begins with it. */
static void a_replaced_state_is_where_it_begins(void **state)
{
    universe_replacement by = { 0 };
    universe_result result = { 0 };
    universe_replayed what;
    struct rig rig;
    size_t stars = 0;
    double time = 0;

    (void)state;
    rig_open(&rig);
    add_star(&rig, 1);
    assert_int_equal(universe_service_at(&by.view, rig.service, "u", 0, &rig.err), MCP_OK);
    assert_int_equal(universe_service_replace(&result, rig.service, "u", &by, UNIVERSE_ANY_VERSION,
                                              NULL, rig.arena, &rig.err),
                     MCP_OK);
    universe_view_free(result.current.view);
    universe_view_free(by.view);
    add_star(&rig, 2);
    assert_int_equal(replay(&rig, 3, &what, &stars, &time), MCP_OK);
    assert_int_equal(what.from, 2);
    assert_int_equal(stars, 1);
    assert_int_equal(replay(&rig, 1, &what, &stars, &time), MCP_OK);
    assert_int_equal(what.from, 0);
    assert_int_equal(stars, 1);
    rig_close(&rig);
}

static void a_log_with_a_gap_does_not_pass(void **state)
{
    db_session *session = NULL;
    universe_replayed what;
    struct rig rig;
    size_t stars = 0;
    double time = 0;

    (void)state;
    rig_open(&rig);
    for (int i = 0; i < 5; i++)
        add_star(&rig, i);
    assert_int_equal(db_begin(&session, rig.db, DB_WRITE, &rig.err), MCP_OK);
    assert_int_equal(
        db_run(session, NULL, "DELETE FROM universe_commands WHERE version = 3", NULL, 0, &rig.err),
        MCP_OK);
    assert_int_equal(db_commit(session, &rig.err), MCP_OK);
    assert_int_not_equal(replay(&rig, 5, &what, &stars, &time), MCP_OK);
    rig_close(&rig);
}

static bool stop_at_once(int64_t done, int64_t total, void *data)
{
    (void)total;
    *(int64_t *)data = done;
    return true;
}

static void it_can_be_stopped(void **state)
{
    universe_view *view = NULL;
    universe_replayed what;
    struct rig rig;
    int64_t done = -1;

    (void)state;
    rig_open(&rig);
    add_star(&rig, 1);
    assert_int_equal(universe_service_replay(&view, &what, rig.service, "u", UNIVERSE_ANY_VERSION,
                                             stop_at_once, &done, &rig.err),
                     MCP_E_STOPPED);
    assert_null(view);
    assert_int_equal(done, 0);
    assert_int_equal(universe_service_replay(&view, &what, rig.service, "nobody",
                                             UNIVERSE_ANY_VERSION, NULL, NULL, &rig.err),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(rig.err.message, "nobody"));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_made_again),
        cmocka_unit_test(a_replaced_state_is_where_it_begins),
        cmocka_unit_test(a_log_with_a_gap_does_not_pass),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
