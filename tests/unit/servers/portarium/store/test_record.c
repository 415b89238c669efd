/*
 * test_record.c - records: insert, read, change, delete, and merge patches.
 */
#include <stdlib.h>

#include "../store_rig.h"
#include "store/record.h"

static store_rig rig;

static void insert(portarium_tx *tx, const char *id, const char *json, mcp_status expected)
{
    store_expect(&rig,
                 portarium_record_insert(NULL, tx, &portarium_machines, id, store_json(&rig, json),
                                         NULL, &rig.err),
                 expected);
}

static void get(portarium_record *out, portarium_tx *tx, const char *id, mcp_status expected)
{
    store_expect(&rig, portarium_record_get(out, tx, &portarium_machines, id, &rig.err), expected);
}

#define MACHINE "{\"machineId\":\"m\",\"active\":true,\"displayName\":\"M\",\"more\":{\"a\":1}}"

static void a_record_is_read_as_it_was_stored(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig,
                 portarium_record_insert(&record, tx, &portarium_machines, "m",
                                         store_json(&rig, MACHINE),
                                         store_json(&rig, "{\"secret\":[1,null]}"), &rig.err),
                 MCP_OK);
    assert_int_equal(record.revision, 1);
    store_commit(&rig);
    tx = store_begin(&rig);
    get(&record, tx, "m", MCP_OK);
    assert_string_equal(record.id, "m");
    assert_int_equal(record.revision, 1);
    assert_true(mcp_json_equal(record.json, store_json(&rig, MACHINE)));
    assert_true(mcp_json_equal(record.hidden, store_json(&rig, "{\"secret\":[1,null]}")));
    tx->workspace = "ws-2";
    get(&record, tx, "m", MCP_E_NOT_FOUND);
    assert_string_equal(rig.err.message, "Machine m not found.");
    store_commit(&rig);
    store_close(&rig);
}

static void expect_kept(portarium_tx *tx, const char *id, mcp_status expected, int64_t revision)
{
    portarium_record record = { .revision = 0 };
    store_expect(&rig, portarium_record_get_kept(&record, tx, &portarium_machines, id, &rig.err),
                 expected);
    assert_int_equal(record.revision, revision);
}

static void a_record_that_is_kept_is_read_again_when_it_changes(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    insert(tx, "m", MACHINE, MCP_OK);
    expect_kept(tx, "m", MCP_OK, 1);
    expect_kept(tx, "m", MCP_OK, 1);
    get(&record, tx, "m", MCP_OK);
    store_expect(&rig,
                 portarium_record_patch(&record, tx, &portarium_machines,
                                        store_json(&rig, "{\"active\":false}"), NULL, &rig.err),
                 MCP_OK);
    expect_kept(tx, "m", MCP_OK, 2);
    tx->workspace = "ws-2"; /* what is kept of one workspace is not another's */
    expect_kept(tx, "m", MCP_E_NOT_FOUND, 0);
    tx->workspace = "ws-1";
    expect_kept(tx, "m", MCP_OK, 2);
    store_expect(&rig, portarium_record_delete(tx, &portarium_machines, "m", &rig.err), MCP_OK);
    expect_kept(tx, "m", MCP_E_NOT_FOUND, 0);
    store_commit(&rig);
    store_close(&rig);
}

#define RUN "{\"runId\":\"r\",\"status\":\"Pending\",\"workflowId\":\"w\"}"

/* A process with an engine begins it at once; others look for it later. */
static void a_run_is_due_when_it_is_stored(void **state)
{
    store_open(&rig, *state);
    for (int i = 0; i < 2; i++) {
        rig.settings.has_engine = i == 1;
        portarium_tx *tx = store_begin(&rig);
        store_expect(&rig,
                     portarium_record_make(NULL, tx, &portarium_runs, i ? "of-engine" : "of-other",
                                           store_json(&rig, RUN), NULL, &rig.err),
                     MCP_OK);
        store_commit(&rig);
    }
    assert_int_equal(
        engine_int(rig.engine->db, "SELECT due_at - created_at FROM runs WHERE id = 'of-other'"),
        0);
    assert_int_equal(
        engine_int(rig.engine->db, "SELECT due_at - created_at FROM runs WHERE id = 'of-engine'"),
        3000);
    store_close(&rig);
}

static void an_id_is_used_once(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    insert(tx, "m", MACHINE, MCP_OK);
    insert(tx, "m", "{\"active\":false}", MCP_E_EXISTS);
    assert_string_equal(rig.err.message, "Machine m exists already.");
    get(&record, tx, "m", MCP_OK); /* the transaction is still usable */
    assert_true(mcp_json_equal(record.json, store_json(&rig, MACHINE)));
    store_expect(&rig, portarium_record_delete(tx, &portarium_machines, "m", &rig.err), MCP_OK);
    store_expect(&rig, portarium_record_delete(tx, &portarium_machines, "m", &rig.err),
                 MCP_E_NOT_FOUND);
    store_commit(&rig);
    store_close(&rig);
}

static void a_patch_changes_and_removes_members(void **state)
{
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    insert(tx, "m", MACHINE, MCP_OK);
    get(&record, tx, "m", MCP_OK);
    store_expect(&rig,
                 portarium_record_patch(&record, tx, &portarium_machines,
                                        store_json(&rig, "{\"displayName\":null,\"active\":false,"
                                                         "\"more\":{\"a\":null,\"b\":{\"c\":2}}}"),
                                        store_json(&rig, "{\"kept\":{\"x\":null}}"), &rig.err),
                 MCP_OK);
    assert_int_equal(record.revision, 2);
    get(&record, tx, "m", MCP_OK);
    assert_int_equal(record.revision, 2);
    assert_true(mcp_json_equal(
        record.json,
        store_json(&rig, "{\"machineId\":\"m\",\"active\":false,\"more\":{\"b\":{\"c\":2}}}")));
    assert_true(mcp_json_equal(record.hidden, store_json(&rig, "{\"kept\":{\"x\":null}}")));
    store_commit(&rig);
    assert_int_equal(engine_int(rig.engine->db, "SELECT active FROM machines"), 0);
    assert_int_equal(
        engine_int(rig.engine->db, "SELECT COUNT(*) FROM machines WHERE display_name IS NULL"), 1);
    store_close(&rig);
}

/* By the patch where the engine answers at once, else by the commit; never stored. */
static void a_stale_patch_is_refused(void **state)
{
    portarium_record record, stale;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    insert(tx, "m", MACHINE, MCP_OK);
    get(&record, tx, "m", MCP_OK);
    stale = record;
    const mcp_json *off = store_json(&rig, "{\"active\":false}");
    const mcp_json *name = store_json(&rig, "{\"displayName\":\"stale\"}");
    store_expect(&rig,
                 portarium_record_patch(&record, tx, &portarium_machines, off, NULL, &rig.err),
                 MCP_OK);
    store_commit(&rig);
    tx = store_begin(&rig);
    get(&record, tx, "m", MCP_OK);
    assert_int_equal(record.revision, 2);
    mcp_status st = portarium_record_patch(&stale, tx, &portarium_machines, name, NULL, &rig.err);
    store_expect(&rig, st, db_is_shared(rig.engine->db) ? MCP_OK : MCP_E_BUSY);
    store_expect(&rig, db_commit(tx->session, &rig.err), MCP_E_BUSY);
    assert_int_equal(engine_int(rig.engine->db, "SELECT active FROM machines"), 0);
    assert_int_equal(engine_int(rig.engine->db, "SELECT revision FROM machines"), 2);
    store_close(&rig);
}

static void ids_may_have_any_sign(void **state)
{
    static const char *const ids[] = { "a%b_c\\d",       "'; DROP TABLE runs; --",
                                       "\"$1\" {x} 50%", "..",
                                       "/a/../b?c#d",    "\xf0\x9f\x98\x80\xc3\xa9" };
    portarium_record record;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        insert(tx, ids[i], "{\"active\":true}", MCP_OK);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        get(&record, tx, ids[i], MCP_OK);
        assert_string_equal(record.id, ids[i]);
        store_expect(&rig, portarium_record_delete(tx, &portarium_machines, ids[i], &rig.err),
                     MCP_OK);
    }
    store_commit(&rig);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM machines"), 0);
    store_close(&rig);
}

static void a_document_has_a_limit(void **state)
{
    enum { SIZE = 5 << 20, HEAD = 17 };
    char *text = malloc(SIZE + HEAD + 3);
    store_open(&rig, *state);
    assert_non_null(text);
    memcpy(text, "{\"active\":1,\"x\":\"", HEAD);
    memset(text + HEAD, 'x', SIZE);
    memcpy(text + HEAD + SIZE, "\"}", 3);
    portarium_tx *tx = store_begin(&rig);
    insert(tx, "m", text, MCP_E_LIMIT);
    memcpy(text + HEAD + (3 << 20), "\"}", 3);
    insert(tx, "m", text, MCP_OK);
    store_commit(&rig);
    free(text);
    store_close(&rig);
}

/* The examples of RFC 7396, appendix A. */
static void merge_patches_are_those_of_the_rfc(void **state)
{
    static const char *const examples[][3] = {
        { "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
        { "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
        { "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
        { "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
        { "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
        { "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
        { "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
        { "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
        { "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
        { "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
        { "{\"a\":\"foo\"}", "null", "null" },
        { "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
        { "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
        { "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
        { "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
    };
    (void)state;
    rig = (store_rig){ .arena = mcp_arena_new(0) };
    portarium_tx tx = store_as(&rig, "ws-1");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const mcp_json *merged = NULL;
        store_expect(&rig,
                     portarium_merge(&tx, &merged, store_json(&rig, examples[i][0]),
                                     store_json(&rig, examples[i][1]), &rig.err),
                     MCP_OK);
        if (!mcp_json_equal(merged, store_json(&rig, examples[i][2])))
            fail_msg("%s with %s is not %s", examples[i][0], examples[i][1], examples[i][2]);
    }
    mcp_arena_free(rig.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(a_record_is_read_as_it_was_stored),
        ENGINE_TESTS(a_record_that_is_kept_is_read_again_when_it_changes),
        ENGINE_TESTS(a_run_is_due_when_it_is_stored),
        ENGINE_TESTS(an_id_is_used_once),
        ENGINE_TESTS(a_patch_changes_and_removes_members),
        ENGINE_TESTS(a_stale_patch_is_refused),
        ENGINE_TESTS(ids_may_have_any_sign),
        ENGINE_TESTS(a_document_has_a_limit),
        cmocka_unit_test(merge_patches_are_those_of_the_rfc),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
