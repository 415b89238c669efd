/*
 * proofs.c - verification of the evidence, checkpoints, and the bundle of a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/bundle.h"
#include "evidence/chain.h"
#include "service/list.h"
#include "service/operations.h"
#include "service/trail/checkpoints.h"

enum { VERIFIED_MAX = 100000, BUNDLE_MAX = 15 << 20 };

/* ---- verification ---------------------------------------------------------------------------- */

/* A verification on its way: of the entries from..to, up to the last one that was reached. */
typedef struct walking {
    portarium_tx *tx;
    portarium_chain *chain;
    portarium_flaw flaw;
    int64_t from, to, last;
    size_t count; /* of entries that were read */
} walking;

/* The entry before the first one is taken as it is. */
static mcp_status walk(walking *self, mcp_error *err)
{
    db_rows *rows = NULL;
    size_t length = 0;
    db_value values[] = { db_text(self->tx->workspace), db_int(self->from - 1), db_int(self->to),
                          db_int(VERIFIED_MAX + 1) };
    mcp_status st = db_query(&rows, self->tx->session,
                             "SELECT seq, json FROM evidence WHERE workspace = $1 AND seq >= $2 "
                             "AND seq <= $3 ORDER BY seq LIMIT $4",
                             values, 4, err);
    while (portarium_next(rows, &st, err)) {
        int64_t seq = db_int_at(rows, 0);
        const char *text = db_text_at(rows, 1, &length);
        st = seq < self->from
                 ? portarium_chain_resume(self->chain, (uint64_t)seq - 1, text, length, err)
                 : portarium_chain_add(self->chain, &self->flaw, text, length, err);
        if (st == MCP_OK && seq >= self->from)
            self->last = seq;
        self->count++;
    }
    db_rows_free(rows);
    return st;
}

/* What is wrong with the last entry, where the head is that one. */
static bool has_flaw(const walking *self, int64_t seq, const char *hash)
{
    int64_t end = self->to < seq ? self->to : seq;
    bool is_limited = self->count > VERIFIED_MAX;
    bool is_missing = self->last < end && self->from <= end && !is_limited;
    bool is_other = self->last == seq && strcmp(hash, portarium_chain_head(self->chain)) != 0;
    return is_missing || is_other || self->last > seq;
}

/* Entries that are missing at the end leave no gap between two others: the head tells of them. */
static mcp_status compare_with_head(walking *self, mcp_error *err)
{
    db_rows *rows = NULL;
    portarium_flaw *flaw = &self->flaw;
    db_value values[] = { db_text(self->tx->workspace) };
    mcp_status st = db_query(&rows, self->tx->session,
                             "SELECT evidence_seq, COALESCE(evidence_hash, '') FROM heads WHERE "
                             "workspace = $1",
                             values, 1, err);
    if (portarium_next(rows, &st, err) &&
        has_flaw(self, db_int_at(rows, 0), db_text_at(rows, 1, NULL))) {
        int64_t last = self->last > 0 ? self->last : self->from - 1;
        int64_t seq = db_int_at(rows, 0);
        *flaw = (portarium_flaw){ .reason = PORTARIUM_FLAW_HEAD,
                                  .index = (uint64_t)(last < seq ? last : seq - 1) };
        snprintf(flaw->expected, sizeof flaw->expected, "%s", db_text_at(rows, 1, NULL));
        snprintf(flaw->actual, sizeof flaw->actual, "%s", portarium_chain_head(self->chain));
    }
    db_rows_free(rows);
    return st;
}

static mcp_status verify(portarium_tx *tx, const portarium_request *request, portarium_reply *reply,
                         mcp_error *err)
{
    portarium_draft draft;
    portarium_record workspace;
    walking self = { .tx = tx, .from = 1, .to = INT64_MAX };
    if (!portarium_argument_number(&self.from, reply, request, "from") ||
        !portarium_argument_number(&self.to, reply, request, "to"))
        return portarium_fields_status(&reply->fields, err);
    if (self.to < self.from) {
        portarium_fields_add(&reply->fields, "to", "must not be before from");
        return portarium_fields_status(&reply->fields, err);
    }
    /* Who may read all workspaces may name one that there is not: nothing of it is unbroken. */
    mcp_status st = portarium_record_get(&workspace, tx, &portarium_workspaces, tx->workspace, err);
    if (st == MCP_OK)
        st = portarium_chain_new(&self.chain, NULL, err);
    if (st == MCP_OK)
        st = walk(&self, err);
    if (st == MCP_OK)
        st = compare_with_head(&self, err);
    portarium_chain_free(self.chain);
    if (st != MCP_OK && !self.flaw.reason)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_bool(&draft.json, "ok", !self.flaw.reason);
    if (self.flaw.reason) {
        mcp_write_member_int(&draft.json, "index", (int64_t)self.flaw.index);
        mcp_write_member_string(&draft.json, "reason", self.flaw.reason);
        if (*self.flaw.expected)
            mcp_write_member_string(&draft.json, "expected", self.flaw.expected);
        if (*self.flaw.actual)
            mcp_write_member_string(&draft.json, "actual", self.flaw.actual);
    }
    mcp_write_member_int(&draft.json, "from", self.from);
    mcp_write_member_int(&draft.json, "to", self.last); /* less than asked for: at most 100,000 */
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static mcp_status get_checkpoint(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_made_checkpoint made;
    (void)request;
    mcp_status st = portarium_checkpoint_make(&made, NULL, tx, err);
    if (st != MCP_OK)
        return st;
    *reply = (portarium_reply){ .status = 200,
                                .text = made.note,
                                .length = made.length,
                                .media = "text/plain; charset=utf-8" };
    return MCP_OK;
}

/* ---- consistency ----------------------------------------------------------------------------- */

static void write_hash(mcp_json_writer *json, const char *name, const uint8_t *hash)
{
    char hex[KEYS_HEX_SIZE];
    keys_hex(hex, hash);
    if (name)
        mcp_write_member_string(json, name, hex);
    else
        mcp_write_string(json, hex);
}

static mcp_status write_consistency(portarium_draft *draft, portarium_tree *tree, uint64_t size,
                                    mcp_error *err)
{
    portarium_proof proof;
    uint8_t root[MCP_SHA256_SIZE];
    uint64_t now = portarium_tree_size(tree);
    mcp_status st = portarium_tree_consistency(tree, size, now, &proof, err);
    if (st == MCP_OK)
        st = portarium_tree_root(tree, now, root, err);
    if (st != MCP_OK)
        return st;
    mcp_write_member_int(&draft->json, "since", (int64_t)size);
    mcp_write_member_int(&draft->json, "size", (int64_t)now);
    write_hash(&draft->json, "root", root);
    mcp_write_member_array(&draft->json, "proof");
    for (size_t i = 0; i < proof.count; i++)
        write_hash(&draft->json, NULL, proof.hashes[i]);
    mcp_write_end(&draft->json);
    return MCP_OK;
}

/* The proof of RFC 6962, section 2.1.2: the first `since` entries are still as they were. */
static mcp_status get_consistency(portarium_tx *tx, const portarium_request *request,
                                  portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    portarium_tree *tree = NULL;
    int64_t since = 0;
    if (!portarium_argument_number(&since, reply, request, "since"))
        return portarium_fields_status(&reply->fields, err);
    if (since == 0)
        portarium_fields_add(&reply->fields, "since", "missing: the size of an older checkpoint");
    else if (since > tx->head.evidence_seq)
        portarium_fields_add(&reply->fields, "since", "there are only %lld entries",
                             (long long)tx->head.evidence_seq);
    mcp_status st = portarium_fields_status(&reply->fields, err);
    if (st == MCP_OK)
        st = portarium_checkpoint_tree(&tree, tx, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    st = write_consistency(&draft, tree, (uint64_t)since, err);
    portarium_tree_free(tree);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

/* ---- bundles --------------------------------------------------------------------------------- */

/* A bundle on its way. */
typedef struct packing {
    portarium_tx *tx;
    const char *run_id;
    portarium_tree *tree;
    portarium_made_checkpoint checkpoint;
    portarium_bundle *bundle;
    mcp_buf text;
} packing;

static mcp_status take(const char *bytes, size_t length, void *data, mcp_error *err)
{
    packing *self = data;
    mcp_status st = mcp_buf_append(&self->text, bytes, length);
    return st == MCP_OK ? st : mcp_error_set(err, st, "the run has too much evidence for a bundle");
}

static mcp_status count_of(uint64_t *out, packing *self, const char *sql, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(self->tx->workspace), db_text(self->run_id) };
    mcp_status st = db_query(&rows, self->tx->session, sql, values, 2, err);
    if (portarium_next(rows, &st, err))
        *out = (uint64_t)db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

static mcp_status begin(packing *self, mcp_error *err)
{
    portarium_bundle_options options = {
        .origin = self->checkpoint.origin,
        .run_id = self->run_id,
        .checkpoint = self->checkpoint.note,
        .checkpoint_length = self->checkpoint.length,
        .signer = { .name = PORTARIUM_SIGNER, .pair = self->tx->settings->evidence_key },
        .sink = take,
        .data = self,
    };
    mcp_status st = count_of(&options.entries, self,
                             "SELECT COUNT(*) FROM evidence WHERE workspace = $1 AND run_id = $2",
                             err);
    if (st == MCP_OK)
        st = count_of(&options.payloads, self,
                      "SELECT COUNT(*) FROM payloads WHERE workspace = $1 AND run_id = $2 AND "
                      "disposed_at IS NULL",
                      err);
    return st == MCP_OK ? portarium_bundle_new(&self->bundle, &options, err) : st;
}

/* An entry's proof may read tiles, so entries are read one by one. */
static mcp_status pack_entry(packing *self, int64_t *after, bool *found, mcp_error *err)
{
    db_rows *rows = NULL;
    portarium_proof proof;
    const char *text = NULL;
    size_t length = 0;
    db_value values[] = { db_text(self->tx->workspace), db_text(self->run_id), db_int(*after) };
    mcp_status st = db_query(&rows, self->tx->session,
                             "SELECT seq, json FROM evidence WHERE workspace = $1 AND run_id = $2 "
                             "AND seq > $3 ORDER BY seq LIMIT 1",
                             values, 3, err);
    *found = portarium_next(rows, &st, err);
    if (*found) {
        *after = db_int_at(rows, 0);
        text = db_text_at(rows, 1, &length);
        text = mcp_arena_strndup(self->tx->arena, text, length);
    }
    db_rows_free(rows);
    if (st != MCP_OK || !*found)
        return st;
    if (!text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a bundle");
    uint64_t index = (uint64_t)*after - 1;
    st = portarium_tree_inclusion(self->tree, index, self->checkpoint.size, &proof, err);
    return st == MCP_OK ? portarium_bundle_entry(self->bundle, text, length, index, &proof, err)
                        : st;
}

static mcp_status pack_payloads(packing *self, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(self->tx->workspace), db_text(self->run_id) };
    mcp_status st = db_query(&rows, self->tx->session,
                             "SELECT id, bytes FROM payloads WHERE workspace = $1 AND run_id = $2 "
                             "AND disposed_at IS NULL ORDER BY created_at, id",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        size_t length = 0;
        const void *bytes = db_blob_at(rows, 1, &length);
        const char *uri = mcp_arena_printf(self->tx->arena, "portarium://%s/payloads/%s",
                                           self->tx->workspace, db_text_at(rows, 0, NULL));
        st = portarium_bundle_payload(self->bundle, uri, bytes, length, err);
    }
    db_rows_free(rows);
    return st;
}

static mcp_status pack(packing *self, mcp_error *err)
{
    int64_t after = 0;
    bool found = true;
    mcp_status st = portarium_checkpoint_make(&self->checkpoint, &self->tree, self->tx, err);
    if (st == MCP_OK)
        st = begin(self, err);
    while (st == MCP_OK && found)
        st = pack_entry(self, &after, &found, err);
    if (st == MCP_OK)
        st = pack_payloads(self, err);
    return st == MCP_OK ? portarium_bundle_end(self->bundle, err) : st;
}

static mcp_status get_bundle(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_record run;
    packing self = { .tx = tx };
    mcp_status st = portarium_record_get(&run, tx, &portarium_runs,
                                         portarium_argument(request, "runId"), err);
    if (st != MCP_OK)
        return st;
    self.run_id = run.id;
    mcp_buf_init(&self.text, BUNDLE_MAX);
    st = pack(&self, err);
    if (st == MCP_OK) {
        *reply = (portarium_reply){ .status = 200, .media = "application/jsonl" };
        reply->text = mcp_arena_strndup(tx->arena, self.text.data, self.text.length);
        reply->length = self.text.length;
        st = reply->text ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a bundle");
    }
    portarium_bundle_free(self.bundle);
    portarium_tree_free(self.tree);
    mcp_buf_clear(&self.text);
    return st;
}

/* clang-format off */
const portarium_operation portarium_proof_operations[] = {
    { "verifyEvidence", "GET", "/evidence/verify", PORTARIUM_MAY_VERIFY_EVIDENCE, 0,
      PORTARIUM_NO_BODY, NULL, "hold the chain of entries against their hashes", verify },
    { "getCheckpoint", "GET", "/evidence/checkpoint", PORTARIUM_MAY_VERIFY_EVIDENCE,
      PORTARIUM_COMMAND, PORTARIUM_NO_BODY, NULL, "a signed checkpoint of all entries",
      get_checkpoint },
    { "getConsistency", "GET", "/evidence/consistency", PORTARIUM_MAY_VERIFY_EVIDENCE,
      PORTARIUM_COMMAND, PORTARIUM_NO_BODY, NULL,
      "the proof that the first `since` entries are as an older checkpoint has them",
      get_consistency },
    { "getRunBundle", "GET", "/runs/{runId}/evidence:bundle", PORTARIUM_MAY_READ,
      PORTARIUM_COMMAND | PORTARIUM_EVIDENCE, PORTARIUM_NO_BODY, NULL, "the evidence of a run, which verifies alone",
      get_bundle },
    { 0 },
};
/* clang-format on */
