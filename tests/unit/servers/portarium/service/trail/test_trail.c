/*
 * test_trail.c - evidence and webhooks, by operations, on both engines.
 */
#include "../../plane_rig.h"
#include "evidence/bundle.h"
#include "http_peer.h"
#include "keys/canonical.h"
#include "postgres.h"
#include "scratch.h"
#include "service/trail/upkeep.h"

#include <pthread.h>

static plane_rig rig;
static scratch folder;
static char key_path[SCRATCH_PATH_MAX + 32];

static const uint8_t seal_key[32] = { 7 };

static void open_at(const char *url)
{
    scratch_open(&folder);
    snprintf(key_path, sizeof key_path, "%s/evidence.pem", folder.path);
    static const char *const egress[] = { "localhost", "hooks.example.com" };
    const portarium_plane_options options = {
        .url = url,
        .settings = { .seal_key = seal_key, .instance = "test" },
        .evidence_key = key_path,
        .webhooks = { .egress = egress, .egress_count = 2, .retry_ms = 10 },
    };
    rig_open_with(&rig, options);
}

static int begin_memory(void **state)
{
    (void)state;
    open_at("memory");
    return 0;
}

static int begin_postgres(void **state)
{
    (void)state;
    open_at(postgres_url());
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_close(&rig);
    scratch_close(&folder);
    return 0;
}

static int end_postgres(void **state)
{
    end(state);
    postgres_stop();
    return 0;
}

static const char *text_at(const char *pointer)
{
    const char *text = mcp_json_string(mcp_json_pointer(rig_body(&rig), pointer), NULL);
    return text ? text : "";
}

/* -1: there is none. */
static int64_t int_at(const char *pointer)
{
    int64_t value = -1;
    mcp_json_int(mcp_json_pointer(rig_body(&rig), pointer), &value);
    return value;
}

static void make_items(int count)
{
    for (int i = 0; i < count; i++)
        rig_expect(&rig, &rig_operator, "createWorkItem", NULL, "{\"title\":\"Look\"}", 201);
}

/* ---- evidence -------------------------------------------------------------------------------- */

static void entries_are_a_chain(void **state)
{
    const char *next = NULL;
    char previous[KEYS_HEX_SIZE] = "", hash[KEYS_HEX_SIZE];
    int count = 0;
    (void)state;
    make_items(5);
    do {
        const char *arguments = mcp_arena_printf(rig.arena,
                                                 "{\"limit\":\"2\",\"sort\":"
                                                 "\"occurredAtIso:asc\"%s%s%s}",
                                                 next ? ",\"cursor\":\"" : "", next ? next : "",
                                                 next ? "\"" : "");
        rig_expect(&rig, &rig_approver, "listEvidence", arguments, NULL, 200);
        const mcp_json *page = rig_body(&rig), *items = mcp_json_get(page, "items");
        for (size_t i = 0; i < mcp_json_count(items); i++, count++) {
            static const char *const except[] = { "hashSha256", NULL };
            const mcp_json *entry = mcp_json_item(items, i);
            const char *before = mcp_json_get_string(entry, "previousHash");
            uint8_t digest[MCP_SHA256_SIZE];
            mcp_buf text;
            mcp_buf_init(&text, 1 << 20);
            assert_int_equal(keys_canonical_without(&text, entry, except, NULL), MCP_OK);
            assert_int_equal(mcp_sha256(digest, text.data, text.length, NULL), MCP_OK);
            keys_hex(hash, digest);
            mcp_buf_clear(&text);
            assert_string_equal(mcp_json_get_string(entry, "hashSha256"), hash);
            assert_string_equal(before ? before : "", previous);
            snprintf(previous, sizeof previous, "%s", hash);
        }
        next = mcp_json_get_string(page, "nextCursor");
    } while (next);
    assert_true(count >= 6);
    rig_expect(&rig, &rig_approver, "getEvidenceHead", NULL, NULL, 403);
    rig_expect(&rig, &rig_admin, "getEvidenceHead", NULL, NULL, 200);
    assert_string_equal(text_at("/hash"), previous);
}

static void lists_of_evidence_are_filtered(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"category\":\"System\"}", NULL, 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "items")), 1);
    assert_string_equal(text_at("/items/0/summary"), "Workspace created");
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"limit\":\"1\"}", NULL, 200);
    const char *last = text_at("/items/0/evidenceId");
    assert_string_not_equal(text_at("/items/0/summary"), "Workspace created");
    rig_expect(&rig, &rig_admin, "listEvidence",
               mcp_arena_printf(rig.arena, "{\"cursor\":\"%s\",\"category\":\"System\"}", last),
               NULL, 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "items")), 1);
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"sort\":\"summary:asc\"}", NULL, 422);
    rig_expect(&rig, &rig_admin, "listRunEvidence", "{\"runId\":\"none\"}", NULL, 404);
    rig_expect(&rig, &rig_admin, "getPayload", "{\"payloadId\":\"none\"}", NULL, 404);
}

/* ---- proofs ---------------------------------------------------------------------------------- */

#define WORKFLOW                                                                                   \
    "{\"schemaVersion\":1,\"workflowId\":\"wf\",\"workspaceId\":\"ws-1\",\"name\":\"wf\","         \
    "\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":[{\"actionId\":\"one\"," \
    "\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":\"control:noop\",\"input\":{\"n\":7}}]}"

static void the_chain_verifies(void **state)
{
    int64_t last = 0, part = 0;
    bool ok = false;
    (void)state;
    rig_expect(&rig, &rig_operator, "verifyEvidence", NULL, NULL, 403);
    rig_expect(&rig, &rig_admin, "verifyEvidence", NULL, NULL, 200);
    assert_true(mcp_json_bool(mcp_json_get(rig_body(&rig), "ok"), &ok) && ok);
    assert_true(mcp_json_int(mcp_json_get(rig_body(&rig), "to"), &last) && last >= 6);
    rig_expect(&rig, &rig_admin, "verifyEvidence", "{\"from\":\"3\",\"to\":\"5\"}", NULL, 200);
    assert_true(mcp_json_bool(mcp_json_get(rig_body(&rig), "ok"), &ok) && ok);
    assert_true(mcp_json_int(mcp_json_get(rig_body(&rig), "to"), &part));
    assert_int_equal(part, 5);
    rig_expect(&rig, &rig_admin, "verifyEvidence", "{\"from\":\"0\"}", NULL, 422);
}

static portarium_key public_key(void)
{
    portarium_key key = { .name = "portarium" };
    keys_pair *pair = NULL;
    assert_int_equal(keys_pair_read(&pair, key_path, NULL), MCP_OK);
    keys_pair_public(pair, key.bytes);
    keys_pair_free(pair);
    return key;
}

static void a_checkpoint_is_of_the_head(void **state)
{
    portarium_checkpoint checkpoint;
    const portarium_key key = public_key();
    int64_t seq = 0;
    (void)state;
    make_items(300); /* more than a tile */
    rig_expect(&rig, &rig_admin, "getEvidenceHead", NULL, NULL, 200);
    const mcp_json *head = rig_body(&rig);
    assert_true(mcp_json_int(mcp_json_get(head, "seq"), &seq));
    rig_expect(&rig, &rig_admin, "getCheckpoint", NULL, NULL, 200);
    assert_int_equal(
        portarium_checkpoint_open(&checkpoint, rig.reply.text, rig.reply.length, &key, NULL),
        MCP_OK);
    assert_int_equal(checkpoint.size, seq);
    assert_string_equal(checkpoint.origin, "portarium/ws-1");
    assert_string_equal(checkpoint.chain, mcp_json_get_string(head, "hash"));
}

static portarium_checkpoint checkpoint_now(void)
{
    portarium_checkpoint out;
    const portarium_key key = public_key();
    rig_expect(&rig, &rig_admin, "getCheckpoint", NULL, NULL, 200);
    assert_int_equal(portarium_checkpoint_open(&out, rig.reply.text, rig.reply.length, &key, NULL),
                     MCP_OK);
    return out;
}

/* Two signed checkpoints, and the proof in between, which a changed old root does not fit. */
static void an_older_checkpoint_is_a_beginning(void **state)
{
    portarium_proof proof;
    keys_digest *digest = NULL;
    portarium_checkpoint old = checkpoint_now();
    (void)state;
    make_items(7);
    rig_expect(&rig, &rig_operator, "getConsistency", "{\"since\":\"1\"}", NULL, 403);
    rig_expect(&rig, &rig_admin, "getConsistency", NULL, NULL, 422);
    rig_expect(&rig, &rig_admin, "getConsistency", "{\"since\":\"1000000\"}", NULL, 422);
    rig_expect(&rig, &rig_admin, "getConsistency",
               mcp_arena_printf(rig.arena, "{\"since\":\"%d\"}", (int)old.size), NULL, 200);
    const mcp_json *hashes = mcp_json_get(rig_body(&rig), "proof");
    portarium_checkpoint now = checkpoint_now();
    assert_true(now.size >= old.size + 7);
    proof.count = mcp_json_count(hashes);
    assert_in_range(proof.count, 1, PORTARIUM_PROOF_MAX);
    for (size_t i = 0; i < proof.count; i++) {
        size_t length = 0;
        const char *text = mcp_json_string(mcp_json_item(hashes, i), &length);
        assert_true(keys_unhex(proof.hashes[i], text, length));
    }
    assert_int_equal(keys_digest_new(&digest, NULL), MCP_OK);
    assert_int_equal(
        portarium_verify_consistency(digest, old.size, old.root, now.size, now.root, &proof, NULL),
        MCP_OK);
    old.root[0] ^= 1;
    assert_int_equal(
        portarium_verify_consistency(digest, old.size, old.root, now.size, now.root, &proof, NULL),
        MCP_E_DENIED);
    keys_digest_free(digest);
}

static void the_bundle_of_a_run_verifies_alone(void **state)
{
    portarium_verdict verdict;
    const portarium_key key = public_key();
    (void)state;
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, WORKFLOW, 201);
    rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf\"}", 201);
    const char *run = text_at("/runId");
    rig_await(&rig, run, "Succeeded");
    const char *arguments = mcp_arena_printf(rig.arena, "{\"runId\":\"%s\"}", run);
    rig_expect(&rig, &rig_approver, "getRunBundle", arguments, NULL, 200);
    mcp_error err = MCP_ERROR_INIT;
    if (portarium_bundle_verify(&verdict, rig.reply.text, rig.reply.length, &key, &err) != MCP_OK)
        fail_msg("line %d: %s: %s", (int)verdict.line, verdict.reason, err.message);
    rig_expect(&rig, &rig_approver, "listRunEvidence", arguments, NULL, 200);
    assert_int_equal(verdict.entries, mcp_json_count(mcp_json_get(rig_body(&rig), "items")));
    assert_int_equal(verdict.payloads, 1);
}

static mcp_status dispose_later(portarium_tx *tx, void *data, mcp_error *err)
{
    int64_t later = tx->now_ms + (int64_t)31 * 24 * 3600 * 1000;
    (void)data;
    return portarium_dispose(tx, &later, err);
}

static void dispose(void)
{
    mcp_error err = MCP_ERROR_INIT;
    if (portarium_plane_write(rig.plane, "ws-1", rig.arena, dispose_later, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

/* A place in the path, for get and release. @param run "": the whole workspace */
static const char *place_hold(const char *run)
{
    const char *of = *run ? mcp_arena_printf(rig.arena, "\"runId\":\"%s\",", run) : "";
    const char *body = mcp_arena_printf(rig.arena, "{%s\"rationale\":\"case 7\"}", of);
    rig_expect(&rig, &rig_operator, "placeLegalHold", NULL, body, 403);
    rig_expect(&rig, &rig_admin, "placeLegalHold", NULL, body, 201);
    assert_string_equal(text_at("/createdByUserId"), "ada");
    return mcp_arena_printf(rig.arena, "{\"legalHoldId\":\"%s\"}", text_at("/legalHoldId"));
}

static const char *last_summary(void)
{
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"limit\":\"1\"}", NULL, 200);
    return text_at("/items/0/summary");
}

/* While it is there, the end of the retention changes nothing. */
static void hold_and_release(const char *run, const char *payload)
{
    const char *hold = place_hold(run);
    assert_non_null(strstr(last_summary(), "placed: case 7"));
    dispose();
    rig_expect(&rig, &rig_approver, "getPayload", payload, NULL, 200);
    rig_expect(&rig, &rig_auditor, "getLegalHold", hold, NULL, 200);
    assert_string_equal(text_at("/rationale"), "case 7");
    assert_string_equal(text_at("/runId"), run);
    rig_expect(&rig, &rig_operator, "releaseLegalHold", hold, NULL, 403);
    rig_expect(&rig, &rig_admin, "releaseLegalHold", hold, NULL, 204);
    assert_non_null(strstr(last_summary(), "released"));
    rig_expect(&rig, &rig_admin, "releaseLegalHold", hold, NULL, 404);
}

static void payloads_go_when_their_retention_ends(void **state)
{
    const char *entry = NULL, *run = NULL;
    (void)state;
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"category\":\"Action\",\"limit\":\"200\"}",
               NULL, 200);
    const mcp_json *items = mcp_json_get(rig_body(&rig), "items");
    for (size_t i = 0; i < mcp_json_count(items) && !entry; i++) {
        const mcp_json *item = mcp_json_item(items, i);
        entry = mcp_json_string(mcp_json_pointer(item, "/payloadRefs/0/uri"), NULL);
        run = mcp_json_string(mcp_json_pointer(item, "/links/runId"), NULL);
    }
    assert_non_null(entry);
    const char *arguments = mcp_arena_printf(rig.arena, "{\"payloadId\":\"%s\"}",
                                             strrchr(entry, '/') + 1);
    rig_expect(&rig, &rig_approver, "getPayload", arguments, NULL, 200);
    assert_string_equal(rig.reply.text, "{\"n\":7}");
    hold_and_release(run, arguments);
    hold_and_release("", arguments);
    rig_expect(&rig, &rig_admin, "placeLegalHold", NULL,
               "{\"runId\":\"none\",\"rationale\":\"case 7\"}", 404);
    dispose();
    rig_expect(&rig, &rig_approver, "getPayload", arguments, NULL, 410);
    rig_expect(&rig, &rig_admin, "listEvidence", "{\"limit\":\"1\"}", NULL, 200);
    assert_string_equal(text_at("/items/0/summary"), "1 Operational payloads disposed of");
    rig_expect(&rig, &rig_admin, "verifyEvidence", NULL, NULL, 200);
}

static void legal_holds_are_bounded(void **state)
{
    static const char body[] = "{\"rationale\":\"case 8\"}";
    (void)state;
    for (int i = 0; i < 200; i++)
        rig_expect(&rig, &rig_admin, "placeLegalHold", NULL, body, 201);
    rig_expect(&rig, &rig_admin, "placeLegalHold", NULL, body, 409);
    rig_expect(&rig, &rig_admin, "listLegalHolds", "{\"limit\":\"200\"}", NULL, 200);
    const mcp_json *items = mcp_json_get(rig_body(&rig), "items");
    assert_int_equal(mcp_json_count(items), 200);
    for (size_t i = 0; i < 200; i++)
        rig_expect(&rig, &rig_admin, "releaseLegalHold",
                   mcp_arena_printf(rig.arena, "{\"legalHoldId\":\"%s\"}",
                                    mcp_json_get_string(mcp_json_item(items, i), "legalHoldId")),
                   NULL, 204);
}

static void stored_evidence_cannot_be_changed(void **state)
{
    static const char *const attempts[] = { "UPDATE evidence SET json = '{}'",
                                            "DELETE FROM evidence WHERE seq = 1" };
    (void)state;
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        db_session *session = NULL;
        assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_WRITE, &err),
                         MCP_OK);
        assert_int_not_equal(db_run(session, NULL, attempts[i], NULL, 0, &err), MCP_OK);
        db_rollback(session);
    }
}

static void another_workspace_is_behind_a_fence(void **state)
{
    static const char *const make[] = { "CREATE ROLE fenced NOLOGIN",
                                        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO fenced",
                                        "SET LOCAL ROLE fenced" };
    static const char *const names[] = { "ws-1", "ws-2" };
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    (void)state;
    if (strcmp(db_engine(portarium_plane_database(rig.plane)), "postgres") != 0)
        skip();
    assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_WRITE, &err),
                     MCP_OK);
    for (size_t i = 0; i < sizeof make / sizeof make[0]; i++)
        assert_int_equal(db_run(session, NULL, make[i], NULL, 0, &err), MCP_OK);
    for (size_t i = 0; i < 2; i++) {
        db_rows *rows = NULL;
        bool found = false;
        db_value values[] = { db_text(names[i]) };
        assert_int_equal(db_run(session, NULL, "SELECT set_config('portarium.workspace', $1, true)",
                                values, 1, &err),
                         MCP_OK);
        assert_int_equal(db_query(&rows, session, "SELECT COUNT(*) FROM evidence", NULL, 0, &err),
                         MCP_OK);
        assert_int_equal(db_next(rows, &found, &err), MCP_OK);
        assert_int_equal(db_int_at(rows, 0) > 0, i == 0);
        db_rows_free(rows);
    }
    db_rollback(session);
}

/* ---- webhooks -------------------------------------------------------------------------------- */

enum { EVENTS = 6 };

/* A receiver, which refuses the first delivery. */
typedef struct receiver {
    pthread_mutex_t lock;
    const char *secret;
    int count, refused;
    int64_t last; /* number of the last work item */
    char ids[EVENTS][64];
    bool is_signed;
} receiver;

static char long_body[6 << 20];

static bool receive(void *data, http_peer *peer, int fd, const http_peer_request *request)
{
    receiver *self = data;
    char id[64], timestamp[32], signature[128], expected[KEYS_HEX_SIZE];
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf text;
    (void)peer;
    http_peer_field(request, "webhook-id", id, sizeof id);
    http_peer_field(request, "webhook-timestamp", timestamp, sizeof timestamp);
    http_peer_field(request, "webhook-signature", signature, sizeof signature);
    mcp_buf_init(&text, 1 << 20);
    mcp_buf_printf(&text, "%s.%s.%s", id, timestamp, request->body);
    pthread_mutex_lock(&self->lock);
    mcp_hmac_sha256(digest, self->secret, strlen(self->secret), text.data, text.length, NULL);
    keys_hex(expected, digest);
    self->is_signed &= strncmp(signature, "v1=", 3) == 0 && strcmp(signature + 3, expected) == 0;
    bool refuses = self->refused == 0, is_second = self->count == 1;
    if (refuses)
        self->refused++;
    else if (self->count < EVENTS)
        snprintf(self->ids[self->count++], sizeof id, "%s", id);
    pthread_mutex_unlock(&self->lock);
    mcp_buf_clear(&text);
    if (is_second) { /* longer than what is read of an answer */
        memset(long_body, 'x', sizeof long_body - 1);
        return http_peer_reply(fd, "200 OK", long_body);
    }
    return http_peer_reply(fd, refuses ? "500 No" : "204 OK", "");
}

static void run_sql(const char *sql, const char *text)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    int64_t changed = 0;
    db_value values[] = { db_text(text) };
    assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_WRITE, &err),
                     MCP_OK);
    assert_int_equal(db_run(session, &changed, sql, values, 1, &err), MCP_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(db_commit(session, &err), MCP_OK);
}

static int received(receiver *self)
{
    pthread_mutex_lock(&self->lock);
    int count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

static const char *hidden_of_webhook(const char *id)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool found = false;
    db_value values[] = { db_text(id) };
    assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_READ, &err),
                     MCP_OK);
    assert_int_equal(
        db_query(&rows, session, "SELECT hidden FROM webhooks WHERE id = $1", values, 1, &err),
        MCP_OK);
    assert_int_equal(db_next(rows, &found, &err), MCP_OK);
    assert_true(found);
    const char *hidden = mcp_arena_strdup(rig.arena, db_text_at(rows, 0, NULL));
    db_rows_free(rows);
    db_rollback(session);
    return hidden;
}

static void list_webhooks_later(void)
{
    usleep(10000);
    rig_expect(&rig, &rig_admin, "listWebhooks", NULL, NULL, 200);
}

/* The port is closed. Neither it nor the address behind the name is in what admins see. */
static void failed_deliveries_are_shown(void **state)
{
    (void)state;
    http_peer *peer = http_peer_start(receive, NULL);
    int port = http_peer_port(peer);
    http_peer_end(peer);
    rig_expect(&rig, &rig_admin, "createWebhook", NULL, "{\"url\":\"https://hooks.example.com/x\"}",
               201);
    const char *id = text_at("/webhookId"), *secret = text_at("/secret");
    run_sql("UPDATE webhooks SET json = $1",
            mcp_arena_printf(rig.arena, "{\"webhookId\":\"%s\",\"url\":\"http://localhost:%d/x\"}",
                             id, port));
    make_items(1);
    rig_expect(&rig, &rig_admin, "listWebhooks", NULL, NULL, 200);
    for (int i = 0; i < 3000 && int_at("/items/0/consecutiveFailures") < 2; i++)
        list_webhooks_later();
    assert_true(int_at("/items/0/consecutiveFailures") >= 2);
    assert_string_equal(text_at("/items/0/lastFailure/reason"),
                        "the receiver could not be reached");
    assert_non_null(text_at("/items/0/nextAttemptAtIso"));
    assert_null(strstr(rig.reply.text, secret));
    assert_null(strstr(rig.reply.text, "127.0.0.1"));
    rig_expect(&rig, &rig_admin, "deleteWebhook",
               mcp_arena_printf(rig.arena, "{\"webhookId\":\"%s\"}", id), NULL, 204);
}

static void a_type_that_no_event_has_is_refused(void **state)
{
    (void)state;
    rig_expect(&rig, &rig_admin, "createWebhook", NULL,
               "{\"url\":\"https://hooks.example.com/x\",\"types\":[\"RunStarted\","
               "\"RunSuceeded\"]}",
               422);
    assert_int_equal(rig.reply.fields.count, 1);
    assert_string_equal(rig.reply.fields.items[0].field, "/types/1");
    assert_non_null(strstr(rig.reply.fields.items[0].message, "RunSuceeded"));
    assert_non_null(strstr(rig.reply.fields.items[0].message, "EventType"));
    rig_expect(&rig, &rig_admin, "listWebhooks", NULL, NULL, 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "items")), 0);
}

/* The document that the refusal names has exactly the types that there are. */
static void the_schema_has_the_types_of_events(void **state)
{
    portarium_event_type type;
    mcp_buf text;
    mcp_json_writer writer;
    const mcp_json *schemas = NULL;
    (void)state;
    mcp_buf_init(&text, 4 << 20);
    mcp_json_writer_init(&writer, &text);
    portarium_shapes_write(&writer, portarium_plane_shapes(rig.plane));
    assert_int_equal(mcp_json_read(&schemas, rig.arena, text.data, text.length, NULL), MCP_OK);
    const mcp_json *types = mcp_json_pointer(schemas, "/EventType/enum");
    assert_int_equal(mcp_json_count(types), PORTARIUM_COUNT(PORTARIUM_EVENT_TYPE_MAP));
    for (size_t i = 0; i < mcp_json_count(types); i++) {
        assert_true(
            portarium_event_type_read(&type, mcp_json_string(mcp_json_item(types, i), NULL)));
        assert_int_equal(type, i);
    }
    mcp_buf_clear(&text);
}

/* Registered addresses are https; this one is changed to the test's own. */
static void events_are_delivered_in_order(void **state)
{
    receiver self = { .lock = PTHREAD_MUTEX_INITIALIZER, .is_signed = true };
    int64_t failed = 0;
    (void)state;
    rig_expect(&rig, &rig_admin, "createWebhook", NULL,
               "{\"url\":\"https://elsewhere.example.com/x\"}", 422);
    rig_expect(&rig, &rig_operator, "createWebhook", NULL,
               "{\"url\":\"https://hooks.example.com/x\"}", 403);
    rig_expect(&rig, &rig_admin, "createWebhook", NULL,
               "{\"url\":\"https://hooks.example.com/x\",\"types\":[\"WorkItemCreated\"]}", 201);
    const char *id = text_at("/webhookId");
    self.secret = text_at("/secret");
    assert_true(strlen(self.secret) > 64);
    http_peer *peer = http_peer_start(receive, &self);
    run_sql("UPDATE webhooks SET json = $1",
            mcp_arena_printf(rig.arena,
                             "{\"webhookId\":\"%s\",\"url\":\"http://localhost:%d/x\","
                             "\"types\":[\"WorkItemCreated\"]}",
                             id, http_peer_port(peer)));
    rig_expect(&rig, &rig_admin, "listWebhooks", NULL, NULL, 200);
    assert_null(strstr(rig.reply.text, self.secret));
    assert_null(strstr(hidden_of_webhook(id), self.secret));
    assert_int_equal(int_at("/items/0/consecutiveFailures"), 0);
    assert_null(mcp_json_pointer(rig_body(&rig), "/items/0/lastFailure"));
    make_items(EVENTS - 1);
    rig_expect(&rig, &rig_admin, "createUser", NULL,
               "{\"userId\":\"u-1\",\"email\":\"x@example.com\",\"roles\":[\"admin\"]}", 201);
    make_items(1);
    for (int i = 0; i < 3000 && received(&self) < EVENTS; i++)
        usleep(10000);
    assert_int_equal(received(&self), EVENTS);
    assert_true(self.is_signed);
    for (int i = 0; i < 3000 && int_at("/items/0/consecutiveFailures") != 0; i++)
        list_webhooks_later();
    assert_string_equal(text_at("/items/0/lastFailure/reason"), "the receiver answered 500");
    assert_true(portarium_time_read(&failed, text_at("/items/0/lastFailure/atIso")));
    assert_null(mcp_json_pointer(rig_body(&rig), "/items/0/nextAttemptAtIso"));
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool found = false;
    assert_int_equal(db_begin(&session, portarium_plane_database(rig.plane), DB_READ, &err),
                     MCP_OK);
    assert_int_equal(db_query(&rows, session,
                              "SELECT json FROM outbox WHERE type = 'WorkItemCreated' AND seq > "
                              "(SELECT MAX(seq) FROM outbox) - 6 ORDER BY seq",
                              NULL, 0, &err),
                     MCP_OK);
    for (int i = 0; i < EVENTS; i++) {
        assert_int_equal(db_next(rows, &found, &err), MCP_OK);
        assert_true(found);
        assert_non_null(strstr(db_text_at(rows, 0, NULL), self.ids[i]));
    }
    db_rows_free(rows);
    db_rollback(session);
    rig_expect(&rig, &rig_admin, "deleteWebhook",
               mcp_arena_printf(rig.arena, "{\"webhookId\":\"%s\"}", id), NULL, 204);
    http_peer_end(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_a_chain),
        cmocka_unit_test(lists_of_evidence_are_filtered),
        cmocka_unit_test(the_chain_verifies),
        cmocka_unit_test(a_checkpoint_is_of_the_head),
        cmocka_unit_test(an_older_checkpoint_is_a_beginning),
        cmocka_unit_test(the_bundle_of_a_run_verifies_alone),
        cmocka_unit_test(payloads_go_when_their_retention_ends),
        cmocka_unit_test(legal_holds_are_bounded),
        cmocka_unit_test(stored_evidence_cannot_be_changed),
        cmocka_unit_test(another_workspace_is_behind_a_fence),
        cmocka_unit_test(a_type_that_no_event_has_is_refused),
        cmocka_unit_test(the_schema_has_the_types_of_events),
        cmocka_unit_test(failed_deliveries_are_shown),
        cmocka_unit_test(events_are_delivered_in_order),
    };
    int failures = cmocka_run_group_tests_name("in memory", tests, begin_memory, end);
    return failures +
           cmocka_run_group_tests_name("PostgreSQL", tests, begin_postgres, end_postgres);
}
