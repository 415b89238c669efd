/*
 * test_tokens.c - API tokens: unknown, revoked, expired; and answers by key.
 */
#include "../store_rig.h"
#include "store/idempotency.h"
#include "store/tokens.h"

static store_rig rig;

static void create(char secret[PORTARIUM_TOKEN_SIZE], portarium_tx *tx, const char *id,
                   int64_t expires_ms)
{
    const portarium_token token = { .id = id,
                                    .subject = "ada@example.org",
                                    .roles = PORTARIUM_ROLE(ADMIN) | PORTARIUM_ROLE(AUDITOR),
                                    .agent_id = "agent-1",
                                    .machine_id = "m-1",
                                    .owner = "otto",
                                    .expires_ms = expires_ms };
    store_expect(&rig, portarium_token_create(secret, tx, &token, &rig.err), MCP_OK);
}

static void expect(portarium_tx *tx, const char *secret, mcp_status expected, const char *message)
{
    char hash[65];
    portarium_token token;
    assert_true(portarium_token_hash(hash, secret));
    store_expect(&rig, portarium_token_read(&token, tx, hash, &rig.err), expected);
    if (message)
        assert_string_equal(rig.err.message, message);
}

static void a_token_says_who_may_do_what(void **state)
{
    char secret[PORTARIUM_TOKEN_SIZE], hash[65];
    portarium_token token;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    create(secret, tx, "t-1", 0);
    assert_int_equal(strlen(secret), PORTARIUM_TOKEN_SIZE - 1);
    assert_true(portarium_token_hash(hash, secret));
    store_expect(&rig, portarium_token_read(&token, tx, hash, &rig.err), MCP_OK);
    assert_string_equal(token.workspace, "ws-1");
    assert_string_equal(token.subject, "ada@example.org");
    assert_int_equal(token.roles, PORTARIUM_ROLE(ADMIN) | PORTARIUM_ROLE(AUDITOR));
    assert_string_equal(token.agent_id, "agent-1");
    assert_string_equal(token.machine_id, "m-1");
    assert_string_equal(token.owner, "otto");
    assert_null(token.tier);
    store_commit(&rig);
    assert_int_equal(engine_int(rig.engine->db,
                                "SELECT COUNT(*) FROM api_tokens WHERE hash LIKE 'ptm%' OR id LIKE "
                                "'ptm%'"),
                     0);
    store_close(&rig);
}

static void a_token_that_ended_is_refused(void **state)
{
    char first[PORTARIUM_TOKEN_SIZE], second[PORTARIUM_TOKEN_SIZE], third[PORTARIUM_TOKEN_SIZE];
    char hash[65];
    portarium_token *list = NULL;
    size_t count = 0;
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    create(first, tx, "t-1", 0);
    create(second, tx, "t-2", tx->now_ms);
    create(third, tx, "t-3", tx->now_ms + 3600000);
    expect(tx, first, MCP_OK, NULL);
    expect(tx, second, MCP_E_DENIED, "The token has expired.");
    expect(tx, third, MCP_OK, NULL);
    store_expect(&rig, portarium_token_revoke(tx, "t-1", &rig.err), MCP_OK);
    store_expect(&rig, portarium_token_revoke(tx, "t-1", &rig.err), MCP_OK);
    store_expect(&rig, portarium_token_revoke(tx, "t-9", &rig.err), MCP_E_NOT_FOUND);
    expect(tx, first, MCP_E_DENIED, "The token was revoked.");
    third[10] = third[10] == 'a' ? 'b' : 'a';
    expect(tx, third, MCP_E_DENIED, "The token is unknown.");
    store_expect(&rig, portarium_token_list(&list, &count, tx, &rig.err), MCP_OK);
    assert_int_equal(count, 3);
    tx->workspace = "ws-2";
    store_expect(&rig, portarium_token_list(&list, &count, tx, &rig.err), MCP_OK);
    assert_int_equal(count, 0);
    store_expect(&rig, portarium_token_revoke(tx, "t-2", &rig.err), MCP_E_NOT_FOUND);
    assert_false(portarium_token_hash(hash, ""));
    assert_false(portarium_token_hash(hash, "ptm_"));
    third[0] = 'x';
    assert_false(portarium_token_hash(hash, third));
    store_commit(&rig);
    store_close(&rig);
}

/* The next command of the same session: it knows what this one has read. */
static portarium_tx *next(void)
{
    store_expect(&rig, portarium_tx_end(&rig.tx, &rig.err), MCP_OK);
    store_expect(&rig, portarium_tx_begin(&rig.tx, &rig.err), MCP_OK);
    return &rig.tx;
}

static void a_token_that_was_read_before_is_refused_when_it_has_ended(void **state)
{
    char first[PORTARIUM_TOKEN_SIZE], second[PORTARIUM_TOKEN_SIZE];
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    create(first, tx, "t-1", 0);
    create(second, tx, "t-2", tx->now_ms + 3600000);
    tx = next();
    expect(tx, first, MCP_OK, NULL);
    expect(tx, second, MCP_OK, NULL);
    tx = next();
    expect(tx, first, MCP_OK, NULL);
    tx->now_ms += 3600000;
    expect(tx, second, MCP_E_DENIED, "The token has expired.");
    store_expect(&rig, portarium_token_revoke(tx, "t-1", &rig.err), MCP_OK);
    expect(tx, first, MCP_E_DENIED, "The token was revoked.");
    tx = next();
    expect(tx, first, MCP_E_DENIED, "The token was revoked.");
    expect(tx, second, MCP_OK, NULL);
    store_commit(&rig);
    store_close(&rig);
}

/* What the commands of the next transaction say of a token. */
static mcp_status use(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_token token;
    return portarium_token_read(&token, tx, data, err);
}

static mcp_status revoke(portarium_tx *tx, void *data, mcp_error *err)
{
    return portarium_token_revoke(tx, data, err);
}

/* By another process: this one has no news of it but the row. */
static void a_token_that_another_process_has_revoked_is_refused(void **state)
{
    char secret[PORTARIUM_TOKEN_SIZE], hash[65], id[] = "t-1";
    portarium_committer *other = NULL;
    engine *e = *state;
    store_open(&rig, e);
    create(secret, store_begin(&rig), id, 0);
    store_commit(&rig);
    assert_true(portarium_token_hash(hash, secret));
    db *database = e->is_memory ? e->db : engine_connect(e, NULL);
    store_expect(&rig,
                 portarium_committer_new(&other, database, &rig.settings, NULL, NULL, &rig.err),
                 MCP_OK);
    const portarium_tx as = store_as(&rig, "ws-1");
    store_expect(&rig, portarium_commit(rig.committer, &as, use, hash, &rig.err), MCP_OK);
    store_expect(&rig, portarium_commit(other, &as, revoke, id, &rig.err), MCP_OK);
    store_expect(&rig, portarium_commit(rig.committer, &as, use, hash, &rig.err), MCP_E_DENIED);
    portarium_committer_free(other);
    if (database != e->db)
        db_close(database);
    store_close(&rig);
}

static bool find(portarium_tx *tx, const char *key, const char *fingerprint, mcp_status expected,
                 portarium_stored_answer *out)
{
    bool found = false;
    store_expect(
        &rig, portarium_idempotency_find(out, &found, tx, "startRun", key, fingerprint, &rig.err),
        expected);
    return found;
}

static void set_active(portarium_tx *tx, int active)
{
    db_value values[] = { db_text(tx->workspace), db_text("ada@example.org"), db_int(active) };
    store_expect(&rig,
                 db_run(tx->session, NULL,
                        "INSERT INTO users (workspace, id, revision, created_at, json, active, "
                        "email) VALUES ($1, $2, 1, 1, '{}', $3, 'a') ON CONFLICT (workspace, id) "
                        "DO UPDATE SET active = $3",
                        values, 3, &rig.err),
                 MCP_OK);
    portarium_tokens_forget(tx);
}

static void the_tokens_of_a_subject_are_revoked(void **state)
{
    char first[PORTARIUM_TOKEN_SIZE], second[PORTARIUM_TOKEN_SIZE], other[PORTARIUM_TOKEN_SIZE];
    const portarium_token of_other = { .id = "t-4", .subject = "otto", .roles = 1 };
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    create(first, tx, "t-1", 0);
    create(second, tx, "t-2", 0);
    store_expect(&rig, portarium_token_create(other, tx, &of_other, &rig.err), MCP_OK);
    expect(tx, first, MCP_OK, NULL);
    store_expect(&rig, portarium_token_revoke(tx, "t-2", &rig.err), MCP_OK);
    store_expect(&rig, portarium_tokens_revoke(tx, "nobody", &rig.err), MCP_OK);
    expect(tx, first, MCP_OK, NULL);
    store_expect(&rig, portarium_tokens_revoke(tx, "ada@example.org", &rig.err), MCP_OK);
    expect(tx, first, MCP_E_DENIED, "The token was revoked.");
    expect(tx, second, MCP_E_DENIED, "The token was revoked.");
    expect(tx, other, MCP_OK, NULL);
    store_commit(&rig);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM outbox"), 2);
    store_close(&rig);
}

static void a_subject_that_is_a_user_is_active(void **state)
{
    static const char ada[] = "ada@example.org";
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    store_expect(&rig, portarium_subject_check(tx, ada, &rig.err), MCP_OK);
    set_active(tx, 1);
    store_expect(&rig, portarium_subject_check(tx, ada, &rig.err), MCP_OK);
    set_active(tx, 0);
    store_expect(&rig, portarium_subject_check(tx, ada, &rig.err), MCP_E_DENIED);
    store_expect(&rig, portarium_subject_check(tx, ada, &rig.err), MCP_E_DENIED);
    store_expect(&rig, portarium_subject_check(tx, "otto", &rig.err), MCP_OK);
    store_commit(&rig);
    store_close(&rig);
}

static mcp_status require_token(portarium_tx *tx, void *data, mcp_error *err)
{
    return portarium_token_require(tx, data, err);
}

static mcp_status view_required(char *hash)
{
    const portarium_tx as = store_as(&rig, "ws-1");
    return portarium_view(rig.committer, &as, require_token, hash, &rig.err);
}

/* In the transaction of the change, in the one that read it before, and by those that only read. */
static void a_token_of_an_inactive_user_is_refused(void **state)
{
    char secret[PORTARIUM_TOKEN_SIZE], hash[65];
    store_open(&rig, *state);
    portarium_tx *tx = store_begin(&rig);
    create(secret, tx, "t-1", 0);
    assert_true(portarium_token_hash(hash, secret));
    expect(tx, secret, MCP_OK, NULL);
    set_active(tx, 1);
    expect(tx, secret, MCP_OK, NULL);
    tx = next();
    set_active(tx, 0);
    expect(tx, secret, MCP_E_DENIED, "The user of the token is not active.");
    tx = next();
    expect(tx, secret, MCP_E_DENIED, "The user of the token is not active.");
    store_commit(&rig);
    store_expect(&rig, view_required(hash), MCP_E_DENIED);
    tx = store_begin(&rig);
    set_active(tx, 1);
    expect(tx, secret, MCP_OK, NULL);
    store_commit(&rig);
    store_expect(&rig, view_required(hash), MCP_OK);
    store_close(&rig);
}

static void an_answer_is_kept_for_its_time(void **state)
{
    const portarium_stored_answer answer = { .status = 201, .text = "{\"a\":1}" };
    portarium_stored_answer known;
    store_open(&rig, *state);
    rig.settings.idempotency_ms = 1000;
    portarium_tx *tx = store_begin(&rig);
    assert_false(find(tx, "k", "one", MCP_OK, &known));
    store_expect(&rig, portarium_idempotency_add(tx, "startRun", "k", "one", &answer, &rig.err),
                 MCP_OK);
    assert_true(find(tx, "k", "one", MCP_OK, &known));
    assert_int_equal(known.status, 201);
    assert_string_equal(known.text, "{\"a\":1}");
    assert_null(known.location);
    find(tx, "k", "two", MCP_E_EXISTS, &known);
    assert_false(find(tx, "K", "one", MCP_OK, &known));
    tx->now_ms += 1000;
    assert_true(find(tx, "k", "one", MCP_OK, &known));
    tx->now_ms++; /* too old: the key may be used again */
    assert_false(find(tx, "k", "two", MCP_OK, &known));
    store_expect(&rig, portarium_idempotency_add(tx, "startRun", "k", "two", &answer, &rig.err),
                 MCP_OK);
    assert_true(find(tx, "k", "two", MCP_OK, &known));
    tx->now_ms += 1001;
    store_expect(&rig, portarium_idempotency_expire(tx, &rig.err), MCP_OK);
    store_commit(&rig);
    assert_int_equal(engine_int(rig.engine->db, "SELECT COUNT(*) FROM idempotency"), 0);
    store_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(a_token_says_who_may_do_what),
        ENGINE_TESTS(a_token_that_ended_is_refused),
        ENGINE_TESTS(a_token_that_was_read_before_is_refused_when_it_has_ended),
        ENGINE_TESTS(a_token_that_another_process_has_revoked_is_refused),
        ENGINE_TESTS(the_tokens_of_a_subject_are_revoked),
        ENGINE_TESTS(a_subject_that_is_a_user_is_active),
        ENGINE_TESTS(a_token_of_an_inactive_user_is_refused),
        ENGINE_TESTS(an_answer_is_kept_for_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
