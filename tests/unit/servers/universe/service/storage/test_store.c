/*
 * test_store.c - the tables of universes: records, lists, the log and what is trimmed of it.
 */
#include "../../service_rig.h"

#include "service/storage/store.h"

static service_rig rig;
static db_session *session;

static int setup(void **unused)
{
    (void)unused;
    rig = service_rig_open("memory", (universe_service_options){ 0 });
    return db_begin(&session, rig.db, DB_WRITE, &rig.err) == MCP_OK ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    db_rollback(session);
    service_rig_close(&rig);
    return 0;
}

static void insert(const char *id, int64_t created_ms)
{
    const universe_record record = {
        .id = id, .name = id, .created_ms = created_ms, .updated_ms = created_ms, .bytes = -1
    };
    bool taken = true;
    assert_int_equal(universe_store_insert(&taken, session, &record, &rig.err), MCP_OK);
    assert_false(taken);
    assert_int_equal(universe_store_insert(&taken, session, &record, &rig.err), MCP_OK);
    assert_true(taken);
}

static void append(int64_t version, int64_t applied_ms)
{
    const universe_entry entry = { .first_version = version,
                                   .version = version,
                                   .kind = UNIVERSE_ENTRY_COMMAND,
                                   .command = "{}",
                                   .command_length = 2,
                                   .events = "[]",
                                   .events_length = 2,
                                   .applied_ms = applied_ms };
    assert_int_equal(universe_store_append(session, "u", &entry, rig.arena, &rig.err), MCP_OK);
}

static void rules_are_remembered(void **unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++) {
        const universe_rules rules = { .lenient = i & 1,
                                       .refuse_negative_dt = i & 2,
                                       .keep_nested_null = i & 4 };
        universe_rules back = universe_store_rules_of(universe_store_rules(&rules));
        assert_int_equal(back.lenient, rules.lenient);
        assert_int_equal(back.refuse_negative_dt, rules.refuse_negative_dt);
        assert_int_equal(back.keep_nested_null, rules.keep_nested_null);
    }
    /* entries of the first logs: they knew two rules, and kept null within members */
    assert_true(universe_store_rules_of(0).keep_nested_null);
    assert_true(universe_store_rules_of(1).lenient);
}

static void records_are_listed_newest_first_page_by_page(void **unused)
{
    universe_record *records = NULL;
    size_t count = 0;
    bool found = false;
    (void)unused;
    insert("a", 1);
    insert("c", 3);
    insert("b", 3);
    insert("d", 2);
    assert_int_equal(
        universe_store_list(&records, &count, session, 0, NULL, 3, rig.arena, &rig.err), MCP_OK);
    assert_int_equal(count, 3);
    universe_record last = records[2];
    assert_string_equal(last.id, "d");
    assert_int_equal(universe_store_list(&records, &count, session, last.created_ms, last.id, 3,
                                         rig.arena, &rig.err),
                     MCP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(records[0].id, "a");

    assert_int_equal(universe_store_delete(&found, session, "a", 9, &rig.err), MCP_OK);
    assert_true(found);
    assert_int_equal(universe_store_find(&last, &found, session, "a", false, rig.arena, &rig.err),
                     MCP_OK);
    assert_false(found);
    assert_int_equal(universe_store_delete(&found, session, "a", 9, &rig.err), MCP_OK);
    assert_false(found);
}

static void a_log_is_trimmed_by_age_and_by_number(void **unused)
{
    int64_t number = 0;
    (void)unused;
    insert("u", 1);
    assert_int_equal(universe_store_log_begin(&number, session, "u", 0, &rig.err), MCP_OK);
    assert_int_equal(number, 1); /* an empty one begins at the next version */
    for (int64_t version = 1; version <= 6; version++)
        append(version, version * 100);
    assert_int_equal(universe_store_trimmable(&number, session, "u", 300, 1000, &rig.err), MCP_OK);
    assert_int_equal(number, 2); /* what is younger than 300 stays */
    assert_int_equal(universe_store_trimmable(&number, session, "u", 0, 2, &rig.err), MCP_OK);
    assert_int_equal(number, 4);
    assert_int_equal(universe_store_trim(&number, session, "u", 4, &rig.err), MCP_OK);
    assert_int_equal(number, 4);
    assert_int_equal(universe_store_log_begin(&number, session, "u", 6, &rig.err), MCP_OK);
    assert_int_equal(number, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_remembered),
        cmocka_unit_test_setup_teardown(records_are_listed_newest_first_page_by_page, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_log_is_trimmed_by_age_and_by_number, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
