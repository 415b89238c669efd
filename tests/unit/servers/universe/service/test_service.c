/*
 * test_service.c - the one door to universes: what a change comes to, that it lasts, that nothing
 * is lost between many who change at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/app.h"
#include "gateway/replies.h"
#include "scratch.h"
#include "service/service.h"

/* A service on a database, and an arena for what it answers. */
struct rig {
    db *db;
    universe_service *service;
    mcp_arena *arena;
    mcp_error err;
};

static void rig_open(struct rig *rig, const char *url)
{
    universe_service_options options = { .files = universe_files };
    *rig = (struct rig){ .arena = mcp_arena_new((size_t)1 << 30) };
    assert_non_null(rig->arena);
    if (db_open(&rig->db, url, NULL, &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    options.db = rig->db;
    if (universe_service_open(&rig->service, &options, &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
}

static void rig_close(struct rig *rig)
{
    universe_service_close(rig->service);
    db_close(rig->db);
    mcp_arena_free(rig->arena);
}

static void create(struct rig *rig, const char *id)
{
    universe_version current = { 0 };
    if (universe_service_create(&current, NULL, rig->service, id, "Test", NULL, NULL, rig->arena,
                                &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    assert_int_equal(current.record.version, 0);
    universe_view_free(current.view);
}

static universe_command command_of(struct rig *rig, const char *text)
{
    universe_command command = { .text = text, .length = strlen(text) };
    assert_int_equal(mcp_json_read(&command.json, rig->arena, text, command.length, &rig->err),
                     MCP_OK);
    return command;
}

static universe_result submission(struct rig *rig, const char *id, const char *text,
                                  int64_t expected)
{
    universe_command command = command_of(rig, text);
    universe_result result = { 0 };
    if (universe_service_submit(&result, rig->service, id, &command, 1, expected, NULL, rig->arena,
                                &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    return result;
}

static int64_t told(struct rig *rig, const char *id, const char *text)
{
    universe_result result = submission(rig, id, text, UNIVERSE_ANY_VERSION);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    int64_t version = result.current.record.version;
    universe_view_free(result.current.view);
    return version;
}

static char *state_of(struct rig *rig, universe_view *view)
{
    mcp_buf text;
    mcp_buf_init(&text, 1 << 24);
    assert_int_equal(universe_view_write(view, NULL, universe_into_buf, &text, NULL, &rig->err),
                     MCP_OK);
    char *copy = mcp_arena_strndup(rig->arena, text.data, text.length);
    mcp_buf_clear(&text);
    return copy;
}

static char *present(struct rig *rig, const char *id, int64_t *version)
{
    universe_version current = { 0 };
    if (universe_service_get(&current, rig->service, id, rig->arena, &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    char *text = state_of(rig, current.view);
    if (version)
        *version = current.record.version;
    universe_view_free(current.view);
    return text;
}

#define SOL                                                                                        \
    "{\"type\":\"addStar\",\"id\":\"sol\",\"payload\":{\"name\":\"Sol\",\"mass\":333000,"          \
    "\"radius\":109,\"color\":\"#FFF4EA\",\"parentId\":null,\"orbitalDistance\":0,"                \
    "\"orbitalSpeed\":0}}"

static const char *body(struct rig *rig, const char *id, const char *parent)
{
    return mcp_arena_printf(rig->arena,
                            "{\"type\":\"addStar\",\"id\":\"%s\",\"payload\":{\"name\":\"%s\","
                            "\"mass\":1,\"radius\":1,\"color\":\"#4A90E2\",\"parentId\":%s%s%s,"
                            "\"orbitalDistance\":50,\"orbitalSpeed\":1}}",
                            id, id, parent ? "\"" : "", parent ? parent : "null",
                            parent ? "\"" : "");
}

/* ---- changes --------------------------------------------------------------------------------- */

static void a_tick_without_dt_advances_by_one_second(void **unused)
{
    struct rig rig;
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    universe_result result = submission(&rig, "u-1", "{\"type\":\"tick\"}", UNIVERSE_ANY_VERSION);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    assert_int_equal(result.current.record.version, 1);
    assert_true(universe_view_time(result.current.view) == 1.0);
    assert_string_equal(result.events, "[]");
    universe_view_free(result.current.view);
    rig_close(&rig);
}

static void a_rejected_command_leaves_no_trace(void **unused)
{
    struct rig rig;
    int64_t version = -1;
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    char *before = present(&rig, "u-1", NULL);
    universe_result result = submission(&rig, "u-1", "{\"type\":\"removeStar\",\"id\":\"nobody\"}",
                                        UNIVERSE_ANY_VERSION);
    assert_int_equal(result.answer, UNIVERSE_REFUSED);
    assert_string_equal(result.reason, "starNotFound");
    universe_view_free(result.current.view);
    assert_string_equal(present(&rig, "u-1", &version), before);
    assert_int_equal(version, 0);
    rig_close(&rig);
}

static void a_batch_stands_or_falls_as_one(void **unused)
{
    struct rig rig;
    int64_t version = -1;
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    char *before = present(&rig, "u-1", NULL);
    universe_command commands[] = {
        command_of(&rig, SOL), command_of(&rig, body(&rig, "earth", "sol")),
        command_of(&rig, "{\"type\":\"removeStar\",\"id\":\"nobody\"}")
    };
    universe_result result = { 0 };
    assert_int_equal(universe_service_submit(&result, rig.service, "u-1", commands, 3,
                                             UNIVERSE_ANY_VERSION, NULL, rig.arena, &rig.err),
                     MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_REFUSED);
    assert_int_equal(result.at, 2);
    universe_view_free(result.current.view);
    assert_string_equal(present(&rig, "u-1", &version), before);
    assert_int_equal(version, 0);

    assert_int_equal(universe_service_submit(&result, rig.service, "u-1", commands, 2, 0, NULL,
                                             rig.arena, &rig.err),
                     MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    assert_int_equal(result.current.record.version, 2);
    assert_int_equal(result.changes.count, 2);
    universe_view_free(result.current.view);
    rig_close(&rig);
}

static void another_version_than_expected_is_a_conflict(void **unused)
{
    struct rig rig;
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    assert_int_equal(told(&rig, "u-1", SOL), 1);
    universe_result result = submission(&rig, "u-1", "{\"type\":\"tick\"}", 0);
    assert_int_equal(result.answer, UNIVERSE_CONFLICT);
    assert_int_equal(result.current.record.version, 1);
    universe_view_free(result.current.view);
    rig_close(&rig);
}

static void an_unknown_universe_is_named(void **unused)
{
    struct rig rig;
    universe_version current;
    (void)unused;
    rig_open(&rig, "memory");
    assert_int_equal(universe_service_get(&current, rig.service, "u-missing", rig.arena, &rig.err),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(rig.err.message, "u-missing"));
    rig_close(&rig);
}

/* ---- what lasts ------------------------------------------------------------------------------ */

static void what_was_accepted_is_there_after_a_restart(void **unused)
{
    struct rig rig;
    scratch folder;
    char url[SCRATCH_PATH_MAX + 16];
    int64_t version = 0;
    (void)unused;

    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    rig_open(&rig, url);
    create(&rig, "u-1");
    told(&rig, "u-1", SOL);
    told(&rig, "u-1", body(&rig, "earth", "sol"));
    for (int i = 0; i < 20; i++)
        told(&rig, "u-1", "{\"type\":\"tick\",\"dt\":0.1}");
    char before[4096];
    snprintf(before, sizeof before, "%s", present(&rig, "u-1", NULL));
    rig_close(&rig);

    rig_open(&rig, url);
    assert_string_equal(present(&rig, "u-1", &version), before);
    assert_int_equal(version, 22);
    rig_close(&rig);
    scratch_close(&folder);
}

static void an_earlier_version_can_be_read_and_restored(void **unused)
{
    struct rig rig;
    universe_view *view = NULL;
    universe_result result = { 0 };
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    told(&rig, "u-1", SOL);
    told(&rig, "u-1", "{\"type\":\"tick\",\"dt\":2.5}");
    char *then = present(&rig, "u-1", NULL);
    told(&rig, "u-1", body(&rig, "earth", "sol"));
    told(&rig, "u-1", "{\"type\":\"tick\",\"dt\":7}");

    assert_int_equal(universe_service_at(&view, rig.service, "u-1", 2, &rig.err), MCP_OK);
    assert_string_equal(state_of(&rig, view), then);
    universe_replacement by = { .view = view };
    assert_int_equal(universe_service_replace(&result, rig.service, "u-1", &by,
                                              UNIVERSE_ANY_VERSION, NULL, rig.arena, &rig.err),
                     MCP_OK);
    assert_int_equal(result.current.record.version, 5);
    assert_true(result.changes.everything);
    assert_string_equal(state_of(&rig, result.current.view), then);
    universe_view_free(result.current.view);
    universe_view_free(view);

    /* Versions on both sides of the replacement can still be read. */
    assert_int_equal(universe_service_at(&view, rig.service, "u-1", 5, &rig.err), MCP_OK);
    assert_string_equal(state_of(&rig, view), then);
    universe_view_free(view);
    assert_int_equal(universe_service_at(&view, rig.service, "u-1", 3, &rig.err), MCP_OK);
    assert_int_equal(universe_view_count(view, UNIVERSE_STARS), 2);
    universe_view_free(view);
    rig_close(&rig);
}

static void what_changed_since_a_version_is_each_entity_once(void **unused)
{
    struct rig rig;
    universe_version current = { 0 };
    universe_changes changes;
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    told(&rig, "u-1", SOL);
    told(&rig, "u-1", body(&rig, "earth", "sol"));
    told(&rig, "u-1", body(&rig, "mars", "sol"));
    told(&rig, "u-1", "{\"type\":\"updateStar\",\"id\":\"mars\",\"payload\":{\"mass\":2}}");
    told(&rig, "u-1", "{\"type\":\"updateStar\",\"id\":\"mars\",\"payload\":{\"mass\":3}}");
    assert_int_equal(universe_service_get(&current, rig.service, "u-1", rig.arena, &rig.err),
                     MCP_OK);
    assert_int_equal(
        universe_service_changes(&changes, rig.service, &current, 3, rig.arena, &rig.err), MCP_OK);
    assert_false(changes.everything);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.touches[0].length, 4);
    assert_memory_equal(changes.touches[0].id, "mars", 4);
    universe_view_free(current.view);
    rig_close(&rig);
}

static void a_deleted_universe_is_gone_and_its_id_free(void **unused)
{
    struct rig rig;
    int64_t version = 0;
    universe_version current = { 0 };
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    told(&rig, "u-1", SOL);
    assert_int_equal(
        universe_service_delete(&version, rig.service, "u-1", UNIVERSE_ANY_VERSION, &rig.err),
        MCP_OK);
    assert_int_equal(universe_service_get(&current, rig.service, "u-1", rig.arena, &rig.err),
                     MCP_E_NOT_FOUND);
    assert_int_equal(
        universe_service_delete(&version, rig.service, "u-1", UNIVERSE_ANY_VERSION, &rig.err),
        MCP_E_NOT_FOUND);
    create(&rig, "u-1");
    assert_non_null(strstr(present(&rig, "u-1", NULL), "\"stars\":{}"));
    rig_close(&rig);
}

/* ---- many at once ---------------------------------------------------------------------------- */

enum { WRITERS = 16, EACH = 25 };

struct writer {
    struct rig *rig;
    int number;
    int64_t versions[EACH];
};

static void *write_bodies(void *data)
{
    struct writer *writer = data;
    for (int i = 0; i < EACH; i++) {
        struct rig own = *writer->rig;
        char text[512];
        universe_result result = { 0 };
        own.arena = mcp_arena_new(0);
        int length = snprintf(
            text, sizeof text,
            "{\"type\":\"addStar\",\"id\":\"b-%d-%d\",\"payload\":{\"name\":\"b\","
            "\"mass\":1,\"radius\":1,\"color\":\"#4A90E2\",\"parentId\":null,"
            "\"orbitalDistance\":1,\"orbitalSpeed\":1}}",
            writer->number, i);
        universe_command command = { .text = text, .length = (size_t)length };
        writer->versions[i] = -1;
        if (mcp_json_read(&command.json, own.arena, text, command.length, NULL) == MCP_OK &&
            universe_service_submit(&result, own.service, "u-1", &command, 1, UNIVERSE_ANY_VERSION,
                                    NULL, own.arena, NULL) == MCP_OK)
            writer->versions[i] = result.current.record.version;
        universe_view_free(result.current.view);
        mcp_arena_free(own.arena);
    }
    return NULL;
}

static void many_writers_lose_nothing(void **unused)
{
    struct rig rig;
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    universe_version current = { 0 };
    (void)unused;
    rig_open(&rig, "memory");
    create(&rig, "u-1");
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .rig = &rig, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, write_bodies, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);

    for (int i = 0; i < WRITERS; i++) {
        for (int j = 0; j < EACH; j++) {
            assert_in_range(writers[i].versions[j], 1, WRITERS * EACH);
            assert_true(j == 0 || writers[i].versions[j] > writers[i].versions[j - 1]);
        }
    }
    assert_int_equal(universe_service_get(&current, rig.service, "u-1", rig.arena, &rig.err),
                     MCP_OK);
    assert_int_equal(current.record.version, WRITERS * EACH);
    assert_int_equal(universe_view_count(current.view, UNIVERSE_STARS), WRITERS * EACH);
    universe_view_free(current.view);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tick_without_dt_advances_by_one_second),
        cmocka_unit_test(a_rejected_command_leaves_no_trace),
        cmocka_unit_test(a_batch_stands_or_falls_as_one),
        cmocka_unit_test(another_version_than_expected_is_a_conflict),
        cmocka_unit_test(an_unknown_universe_is_named),
        cmocka_unit_test(what_was_accepted_is_there_after_a_restart),
        cmocka_unit_test(an_earlier_version_can_be_read_and_restored),
        cmocka_unit_test(what_changed_since_a_version_is_each_entity_once),
        cmocka_unit_test(a_deleted_universe_is_gone_and_its_id_free),
        cmocka_unit_test(many_writers_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
