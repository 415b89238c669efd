/*
 * test_entries.c - ticks that follow one another share an entry of the log, and come out of it as
 * they went in.
 */
#include "../service_rig.h"

#include "service/entries.h"

static universe_entry tick(int64_t version, double dt, double time, const char *actor)
{
    static char texts[8][32];
    char *text = texts[version % 8];
    int length = snprintf(text, sizeof texts[0], "{\"type\":\"tick\",\"dt\":%g}", dt);
    return (universe_entry){ .first_version = version,
                             .version = version,
                             .kind = UNIVERSE_ENTRY_TICKS,
                             .command = text,
                             .command_length = (size_t)length,
                             .events = "[]",
                             .events_length = 2,
                             .time = time,
                             .dt = dt,
                             .actor = actor,
                             .applied_ms = 1 };
}

static void ticks_are_joined_and_split(void **unused)
{
    const universe_entry written[] = { tick(1, 1, 1, NULL), tick(2, 0.5, 1.5, NULL),
                                       tick(3, 2, 3.5, "ann"), tick(4, -1, 2.5, "ann") };
    service_rig rig = service_rig_open("memory", (universe_service_options){ 0 });
    db_session *session = NULL;
    universe_log *log = NULL;
    int64_t bytes = 0;
    size_t stored = 0, at = 0;
    bool has = true;
    (void)unused;
    service_rig_create(&rig, "u", NULL);
    assert_int_equal(db_begin(&session, rig.db, DB_WRITE, &rig.err), MCP_OK);
    assert_int_equal(universe_entries_write(written, 4, &bytes, session, "u", rig.arena, &rig.err),
                     MCP_OK);
    assert_true(bytes > 0);
    assert_int_equal(universe_log_open(&log, session, "u", 0, INT64_MAX, &rig.err), MCP_OK);
    for (;; stored++) {
        universe_entry entry = { 0 }, *split = NULL;
        size_t count = 0;
        assert_int_equal(universe_log_next(&entry, &has, log, rig.arena, &rig.err), MCP_OK);
        if (!has)
            break;
        assert_int_equal(universe_entries_split(&split, &count, &entry, rig.arena, &rig.err),
                         MCP_OK);
        assert_int_equal(count, 2);
        for (size_t i = 0; i < count; i++, at++) {
            assert_int_equal(split[i].first_version, written[at].version);
            assert_int_equal(split[i].version, written[at].version);
            assert_true(split[i].dt == written[at].dt);
            assert_true(split[i].time == written[at].time);
            assert_int_equal(split[i].command_length, written[at].command_length);
            assert_memory_equal(split[i].command, written[at].command, split[i].command_length);
        }
    }
    assert_int_equal(stored, 2); /* one for each actor */
    assert_int_equal(at, 4);
    universe_log_close(log);
    db_rollback(session);
    service_rig_close(&rig);
}

static void a_copy_lives_without_the_original(void **unused)
{
    char command[] = "{\"type\":\"tick\",\"dt\":1}";
    const universe_entry entry = { .version = 7,
                                   .command = command,
                                   .command_length = strlen(command),
                                   .events = "[]",
                                   .events_length = 2,
                                   .actor = "ann" };
    mcp_arena *arena = mcp_arena_new(0);
    (void)unused;
    const universe_entry *copy = universe_entries_copy(&entry, 1, arena);
    assert_non_null(copy);
    memset(command, 'x', sizeof command - 1);
    assert_int_equal(copy->version, 7);
    assert_string_equal(copy->command, "{\"type\":\"tick\",\"dt\":1}");
    assert_null(copy->actor);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_joined_and_split),
        cmocka_unit_test(a_copy_lives_without_the_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
