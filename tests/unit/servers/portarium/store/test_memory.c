/*
 * test_memory.c - memory that runs out at any place: never a part of a record, never a leak.
 */
#include "../store_rig.h"
#include "oom.h"
#include "store/idempotency.h"
#include "store/page.h"
#include "store/tokens.h"

static store_rig rig;
static char hash[65];

/* Run work in a transaction with an arena of its own, and roll it back. */
static mcp_status within(portarium_work *work)
{
    portarium_tx tx = store_as(&rig, "ws-1");
    tx.writes = true;
    tx.arena = mcp_arena_new(0);
    mcp_status st = tx.arena ? db_begin(&tx.session, rig.engine->db, DB_WRITE, NULL) : MCP_E_NOMEM;
    if (st == MCP_OK)
        st = portarium_tx_begin(&tx, NULL);
    if (st == MCP_OK)
        st = work(&tx, NULL, NULL);
    db_rollback(tx.session);
    mcp_arena_free(tx.arena);
    return st;
}

static mcp_status read_token(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_token token;
    (void)data;
    mcp_status st = portarium_token_read(&token, tx, hash, err);
    /* A token without its agent would be a person's. */
    return st != MCP_OK || (token.agent_id && token.machine_id && token.owner) ? st
                                                                               : MCP_E_INTERNAL;
}

static mcp_status find_answer(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_stored_answer answer;
    bool found = false;
    (void)data;
    mcp_status st = portarium_idempotency_find(&answer, &found, tx, "startRun", "k", "f", err);
    return st != MCP_OK || (found && answer.text && answer.location) ? st : MCP_E_INTERNAL;
}

static mcp_status read_page(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_page page;
    const portarium_query query = { .search = "m", .limit = 2 };
    (void)data;
    mcp_status st = portarium_page_read(&page, tx, &portarium_machines, &query, err);
    return st != MCP_OK || (page.count == 2 && page.next_cursor) ? st : MCP_E_INTERNAL;
}

static mcp_status change_record(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_record record;
    const mcp_json *patch = NULL;
    (void)data;
    mcp_status st = portarium_record_get(&record, tx, &portarium_machines, "m-1", err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "displayName", "other", NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(&record, tx, &portarium_machines, patch, patch, err);
    return st;
}

static mcp_status step(void *data)
{
    portarium_work *const *work = data;
    return within(*work);
}

static void memory_may_run_out(void **state)
{
    static portarium_work *works[] = { read_token, find_answer, read_page, change_record };
    const portarium_stored_answer answer = { .status = 201, .text = "{}", .location = "/x" };
    const portarium_token token = {
        .id = "t", .subject = "agent", .agent_id = "a", .machine_id = "m", .owner = "otto"
    };
    char secret[PORTARIUM_TOKEN_SIZE];
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig, portarium_token_create(secret, tx, &token, &rig.err), MCP_OK);
    assert_true(portarium_token_hash(hash, secret));
    store_expect(&rig, portarium_idempotency_add(tx, "startRun", "k", "f", &answer, &rig.err),
                 MCP_OK);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "m-%d", i);
        store_expect(&rig,
                     portarium_record_insert(NULL, tx, &portarium_machines, id,
                                             store_json(&rig, "{\"active\":true}"), NULL, &rig.err),
                     MCP_OK);
    }
    store_commit(&rig);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        store_expect(&rig, step(&works[i]), MCP_OK); /* its statements are prepared then */
        oom_walk(step, &works[i]);
    }
    store_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ENGINE_TESTS(memory_may_run_out) };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
