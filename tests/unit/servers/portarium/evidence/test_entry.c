/*
 * test_entry.c - evidence entries and chains: the vectors, and what is found in a changed chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/chain.h"
#include "evidence/entry.h"
#include "oom.h"

#define FIRST_HASH "225a56728c0ff558097eb05e0ff8ecd420799607da0b587b242aec10b036a294"
#define SECOND_HASH "dcf9e9af8d05eaf54a7297b4d7668d3453436cd0cc5475a274d6a3d4e5e0feba"
#define FIRST                                                                                        \
    "{\"actor\":{\"kind\":\"User\",\"userId\":\"alice\"},\"category\":\"Action\",\"correlationId\":" \
    "\"c-1\",\"evidenceId\":\"ev-1\",\"links\":{\"runId\":\"run-1\"},\"occurredAtIso\":"             \
    "\"2026-01-02T03:04:05.000Z\",\"schemaVersion\":1,\"summary\":\"Run started\","                  \
    "\"workspaceId\":\"ws-1\"}"
#define FIRST_MS INT64_C(1767323045000) /* 2026-01-02T03:04:05Z, by date(1) */

static portarium_entry first(void)
{
    return (portarium_entry){
        .evidence_id = "ev-1",
        .workspace_id = "ws-1",
        .correlation_id = "c-1",
        .occurred_at_ms = FIRST_MS,
        .category = "Action",
        .summary = "Run started",
        .actor = { .kind = "User", .id = "alice" },
        .run_id = "run-1",
    };
}

static portarium_entry second(void)
{
    portarium_entry entry = first();

    entry.evidence_id = "ev-2";
    entry.occurred_at_ms = FIRST_MS + 1000;
    entry.category = "Approval";
    entry.summary = "Approval granted";
    entry.actor.id = "bob";
    entry.approval_id = "ap-1";
    return entry;
}

static void the_vectors(void **state)
{
    portarium_entry entry = first();
    char hash[KEYS_HEX_SIZE];
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 10000);
    assert_int_equal(portarium_entry_write(&out, hash, &entry, NULL, NULL), MCP_OK);
    assert_string_equal(out.data, FIRST);
    assert_string_equal(hash, FIRST_HASH);
    entry = second();
    mcp_buf_reset(&out);
    assert_int_equal(portarium_entry_write(&out, hash, &entry, FIRST_HASH, NULL), MCP_OK);
    assert_string_equal(hash, SECOND_HASH);
    mcp_buf_clear(&out);
}

/* The complete text is canonical, too: it has two more members, and all in their order. */
static void expect_completed(const mcp_buf *canonical, const char *hash)
{
    const mcp_json *before = NULL, *value = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_buf out, again;

    mcp_buf_init(&out, 10000);
    mcp_buf_init(&again, 10000);
    assert_int_equal(
        portarium_entry_complete(&out, canonical->data, canonical->length, hash, "c2ln", NULL),
        MCP_OK);
    assert_int_equal(mcp_json_read(&before, arena, canonical->data, canonical->length, NULL),
                     MCP_OK);
    assert_int_equal(mcp_json_read(&value, arena, out.data, out.length, NULL), MCP_OK);
    assert_int_equal(mcp_json_count(value), mcp_json_count(before) + 2);
    assert_string_equal(mcp_json_get_string(value, "hashSha256"), hash);
    assert_string_equal(mcp_json_get_string(value, "signatureBase64"), "c2ln");
    assert_int_equal(keys_canonical(&again, value, NULL), MCP_OK);
    assert_string_equal(again.data, out.data);
    mcp_buf_clear(&out);
    mcp_buf_clear(&again);
    mcp_arena_free(arena);
}

/* Between its neighbours in the order of RFC 8785, and part of the hash. */
static void a_trace_is_a_member_where_there_is_one(void **state)
{
    portarium_entry entry = first();
    char hash[KEYS_HEX_SIZE];
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 10000);
    entry.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_int_equal(portarium_entry_write(&out, hash, &entry, NULL, NULL), MCP_OK);
    assert_non_null(strstr(out.data, "\"summary\":\"Run started\",\"traceparent\":\"00-"
                                     "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\","
                                     "\"workspaceId\":\"ws-1\"}"));
    assert_string_not_equal(hash, FIRST_HASH);
    expect_completed(&out, hash);
    mcp_buf_clear(&out);
}

static void what_is_no_entry_is_not_completed(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "{}",
        "[]",
        "{\"a\":1}",
        "{\"a\":\"}",
        "{\"a\":\"\\\"}",
        "{\"a\":[1,\"workspaceId\":2}",
        "{\"evidenceId\":\"e\",\"hashSha256\":\"0\",\"workspaceId\":\"w\"}",
    };
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 10000);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(
            portarium_entry_complete(&out, texts[i], strlen(texts[i]), FIRST_HASH, NULL, NULL),
            MCP_E_PARSE);
    mcp_buf_clear(&out);
}

static void all_members_are_canonical(void **state)
{
    static const char references[] =
        "[{\"sorName\":\"jira\",\"externalId\":\"A-1\",\"weight\":1.0}]";
    static const portarium_payload_ref payloads[] = {
        { "Artifact", "portarium://ws-1/payloads/p1", "text/plain", FIRST_HASH },
        { "Log", "portarium://ws-1/payloads/p2", NULL, NULL },
    };
    portarium_entry entry = second();
    const mcp_json *value = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    char hash[KEYS_HEX_SIZE];
    mcp_buf out, again;

    (void)state;
    mcp_buf_init(&out, 10000);
    mcp_buf_init(&again, 10000);
    assert_int_equal(
        mcp_json_read(&entry.external_refs, arena, references, strlen(references), NULL), MCP_OK);
    entry.actor = (portarium_evidence_actor){ "Machine", "m-1", "agent-\"1\"" };
    entry.plan_id = "p";
    entry.work_item_id = "wi";
    entry.payloads = payloads;
    entry.payload_count = 2;
    entry.summary = "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \x07";
    assert_int_equal(portarium_entry_write(&out, hash, &entry, FIRST_HASH, NULL), MCP_OK);
    assert_non_null(strstr(out.data, "\"actor\":{\"agentId\":\"agent-\\\"1\\\"\",\"kind\":"
                                     "\"Machine\",\"machineId\":\"m-1\"}"));
    assert_non_null(strstr(out.data,
                           "\"externalRefs\":[{\"externalId\":\"A-1\",\"sorName\":\"jira\","
                           "\"weight\":1}]"));
    assert_int_equal(mcp_json_read(&value, arena, out.data, out.length, NULL), MCP_OK);
    assert_int_equal(keys_canonical(&again, value, NULL), MCP_OK);
    assert_string_equal(again.data, out.data);
    expect_completed(&out, hash);
    mcp_buf_clear(&out);
    mcp_buf_clear(&again);
    mcp_arena_free(arena);
}

static void expect_refused(const portarium_entry *entry, const char *previous_hash)
{
    char hash[KEYS_HEX_SIZE];
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf out;

    mcp_buf_init(&out, 10000);
    assert_int_equal(portarium_entry_write(&out, hash, entry, previous_hash, &err), MCP_E_PARAMS);
    assert_string_not_equal(err.message, "");
    mcp_buf_clear(&out);
}

static void what_must_not_be_written_is_refused(void **state)
{
    static const char *const addresses[] = { "by a@b.example", "x.y+z@sub.host.org, done",
                                             "<\xc3\xa4@host.de>" };
    static const char *const fine[] = { "at @home", "a@b", "3 @ 4.50 each", "user@", "a@.com" };
    portarium_payload_ref payload = { "Log", "portarium://w/p?x", NULL, NULL };
    char hash[KEYS_HEX_SIZE];
    mcp_buf out;

    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        portarium_entry entry = first();
        entry.summary = addresses[i];
        expect_refused(&entry, NULL);
    }
    mcp_buf_init(&out, 10000);
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        portarium_entry entry = first();
        entry.summary = fine[i];
        assert_int_equal(portarium_entry_write(&out, hash, &entry, NULL, NULL), MCP_OK);
    }
    mcp_buf_clear(&out);
    portarium_entry entry = first();
    entry.payloads = &payload;
    entry.payload_count = 1;
    expect_refused(&entry, NULL);
    entry = first();
    entry.category = "Other";
    expect_refused(&entry, NULL);
    entry = first();
    entry.actor = (portarium_evidence_actor){ "User", NULL, NULL };
    expect_refused(&entry, NULL);
    entry.actor = (portarium_evidence_actor){ "System", "s", NULL };
    expect_refused(&entry, NULL);
    entry.actor = (portarium_evidence_actor){ "User", "u", "agent" };
    expect_refused(&entry, NULL);
    entry = first();
    entry.correlation_id = "";
    expect_refused(&entry, NULL);
    entry = first();
    expect_refused(&entry, "sha256:" FIRST_HASH);
    entry.summary = "\xff";
    expect_refused(&entry, NULL);
}

/* ---- chains ---------------------------------------------------------------------------------- */

#define CHAIN 5

/* A chain of signed entries. */
struct made {
    mcp_buf lines[CHAIN];
    keys_pair *pair;
    uint8_t key[KEYS_PUBLIC_SIZE];
};

static void make(struct made *made)
{
    static const uint8_t seed[KEYS_SEED_SIZE] = { 1, 2, 3 };
    char hash[KEYS_HEX_SIZE], previous[KEYS_HEX_SIZE] = "", signature[PORTARIUM_SIGNATURE_SIZE];

    assert_int_equal(keys_pair_new(&made->pair, seed, NULL), MCP_OK);
    keys_pair_public(made->pair, made->key);
    for (int i = 0; i < CHAIN; i++) {
        portarium_entry entry = i % 2 ? second() : first();
        mcp_buf canonical, complete;
        mcp_buf_init(&canonical, 10000);
        mcp_buf_init(&complete, 10000);
        mcp_buf_init(&made->lines[i], 10000);
        entry.occurred_at_ms = FIRST_MS + i / 2 * 1000;
        assert_int_equal(portarium_entry_write(&canonical, hash, &entry, i ? previous : NULL, NULL),
                         MCP_OK);
        assert_int_equal(
            portarium_entry_complete(&complete, canonical.data, canonical.length, hash, NULL, NULL),
            MCP_OK);
        assert_int_equal(
            portarium_entry_sign(signature, complete.data, complete.length, made->pair, NULL),
            MCP_OK);
        assert_int_equal(portarium_entry_complete(&made->lines[i], canonical.data, canonical.length,
                                                  hash, signature, NULL),
                         MCP_OK);
        memcpy(previous, hash, sizeof previous);
        mcp_buf_clear(&canonical);
        mcp_buf_clear(&complete);
    }
}

static void drop(struct made *made)
{
    for (int i = 0; i < CHAIN; i++)
        mcp_buf_clear(&made->lines[i]);
    keys_pair_free(made->pair);
}

/* Verify lines in this order. @return the status of the first that is wrong */
static mcp_status verify(portarium_flaw *flaw, const struct made *made, const int *order, int count,
                         bool with_key)
{
    portarium_chain_options options = { .key = with_key ? made->key : NULL, .all_signed = true };
    portarium_chain *chain = NULL;
    mcp_status st = portarium_chain_new(&chain, &options, NULL);

    for (int i = 0; i < count && st == MCP_OK; i++)
        st = portarium_chain_add(chain, flaw, made->lines[order[i]].data,
                                 made->lines[order[i]].length, NULL);
    if (st == MCP_OK)
        assert_int_equal(portarium_chain_size(chain), count);
    portarium_chain_free(chain);
    return st;
}

static void a_whole_chain_verifies(void **state)
{
    static const int all[] = { 0, 1, 2, 3, 4 };
    struct made made;
    portarium_flaw flaw;

    (void)state;
    make(&made);
    assert_int_equal(verify(&flaw, &made, all, CHAIN, true), MCP_OK);
    assert_null(flaw.reason);
    assert_int_equal(verify(&flaw, &made, all, CHAIN, false), MCP_OK);
    drop(&made);
}

static void lost_and_swapped_entries_are_located(void **state)
{
    static const struct {
        int order[CHAIN];
        int count;
        uint64_t index;
        const char *reason;
    } rows[] = {
        { { 1, 2, 3, 4 }, 4, 0, PORTARIUM_FLAW_UNEXPECTED_PREVIOUS },
        { { 0, 1, 3, 4 }, 4, 2, PORTARIUM_FLAW_PREVIOUS },
        { { 0, 2, 1, 3, 4 }, 5, 1, PORTARIUM_FLAW_PREVIOUS },
        { { 0, 1, 1, 2 }, 4, 2, PORTARIUM_FLAW_PREVIOUS },
        { { 0, 1, 2, 0 }, 4, 3, PORTARIUM_FLAW_TIMESTAMP },
        { { 2, 3, 4 }, 3, 0, PORTARIUM_FLAW_UNEXPECTED_PREVIOUS },
    };
    struct made made;
    portarium_flaw flaw;

    (void)state;
    make(&made);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(verify(&flaw, &made, rows[i].order, rows[i].count, true), MCP_E_SCHEMA);
        assert_string_equal(flaw.reason, rows[i].reason);
        assert_int_equal(flaw.index, rows[i].index);
    }
    drop(&made);
}

/* Every byte of the third entry, each in several ways. */
static void every_changed_byte_is_located(void **state)
{
    static const int all[] = { 0, 1, 2, 3, 4 };
    static const char changes[] = { 1, 2, 32, 64 };
    struct made made;
    portarium_flaw flaw;

    (void)state;
    make(&made);
    for (size_t at = 0; at < made.lines[2].length; at++) {
        for (size_t i = 0; i < sizeof changes; i++) {
            made.lines[2].data[at] ^= changes[i];
            mcp_status st = verify(&flaw, &made, all, CHAIN, true);
            made.lines[2].data[at] ^= changes[i];
            if (st != MCP_E_SCHEMA && st != MCP_E_PARSE)
                fail_msg("byte %zu: %s", at, mcp_status_name(st));
            assert_int_equal(flaw.index, 2);
        }
    }
    drop(&made);
}

static void each_reason_is_given(void **state)
{
    static const int all[] = { 0, 1, 2, 3, 4 };
    mcp_json_writer writer;
    portarium_flaw flaw;
    struct made made;
    mcp_buf out;

    (void)state;
    make(&made);
    char *signature = strstr(made.lines[1].data, "signatureBase64\":\"") + 18;
    *signature = *signature == 'A' ? 'B' : 'A';
    assert_int_equal(verify(&flaw, &made, all, CHAIN, false), MCP_OK);
    assert_int_equal(verify(&flaw, &made, all, CHAIN, true), MCP_E_SCHEMA);
    assert_string_equal(flaw.reason, PORTARIUM_FLAW_SIGNATURE);
    char *name = strstr(made.lines[0].data, "alice");
    name[0] = 'A';
    assert_int_equal(verify(&flaw, &made, all, CHAIN, false), MCP_E_SCHEMA);
    assert_string_equal(flaw.reason, PORTARIUM_FLAW_HASH);
    assert_string_equal(flaw.actual, FIRST_HASH);
    mcp_buf_init(&out, 1000);
    mcp_json_writer_init(&writer, &out);
    portarium_flaw_write(&writer, &flaw);
    assert_memory_equal(out.data, "{\"ok\":false,\"index\":0,\"reason\":\"hash_mismatch\",\"exp",
                        50);
    mcp_buf_clear(&out);
    drop(&made);
}

static mcp_status make_once(void *data)
{
    portarium_entry entry = first();
    portarium_chain *chain = NULL;
    portarium_flaw flaw;
    char hash[KEYS_HEX_SIZE];
    mcp_buf canonical, complete;

    (void)data;
    mcp_buf_init(&canonical, 10000);
    mcp_buf_init(&complete, 10000);
    mcp_status st = portarium_entry_write(&canonical, hash, &entry, NULL, NULL);
    if (st == MCP_OK)
        st = portarium_entry_complete(&complete, canonical.data, canonical.length, hash, NULL,
                                      NULL);
    if (st == MCP_OK)
        st = portarium_chain_new(&chain, NULL, NULL);
    if (st == MCP_OK)
        st = portarium_chain_add(chain, &flaw, complete.data, complete.length, NULL);
    portarium_chain_free(chain);
    mcp_buf_clear(&canonical);
    mcp_buf_clear(&complete);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(make_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors),
        cmocka_unit_test(a_trace_is_a_member_where_there_is_one),
        cmocka_unit_test(all_members_are_canonical),
        cmocka_unit_test(what_is_no_entry_is_not_completed),
        cmocka_unit_test(what_must_not_be_written_is_refused),
        cmocka_unit_test(a_whole_chain_verifies),
        cmocka_unit_test(lost_and_swapped_entries_are_located),
        cmocka_unit_test(every_changed_byte_is_located),
        cmocka_unit_test(each_reason_is_given),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
