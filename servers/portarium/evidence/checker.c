/*
 * checker.c - verifying a bundle.
 *
 * The header says which kind each line has to be of; a line that fails ends the verification. What
 * outlives its line: the header, the checkpoint, the running digest, and the payloads that entries
 * refer to.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/bundle.h"
#include "evidence/entry.h"
#include "keys/base64.h"
#include "keys/digest.h"
#include "mcp/alloc.h"
#include "mcp/json.h"

#define REFS_MAX ((size_t)64 << 20) /* the memory of all references */
#define CHAINS 1024

/* A payload that an entry refers to. */
struct ref {
    struct ref *next;
    const char *uri, *sha256;
    bool is_there;
};

struct portarium_checker {
    portarium_key key;
    char key_name[PORTARIUM_KEY_NAME_MAX + 1];
    keys_digest *all;   /* of the lines so far */
    keys_digest *other; /* of everything else */
    mcp_buf form;       /* the canonical form of a line, or of an entry */
    mcp_arena *held;    /* the header and the references */
    const char *origin, *run_id;
    uint64_t entries_due, payloads_due, next_index, lines;
    bool is_sealed;
    struct ref *refs[CHAINS];
    portarium_verdict verdict;
};

mcp_status portarium_checker_new(portarium_checker **out, const portarium_key *key, mcp_error *err)
{
    if (strlen(key->name) > PORTARIUM_KEY_NAME_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "the name of a key is too long");
    portarium_checker *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a bundle");
    self->key = *key;
    memcpy(self->key_name, key->name, strlen(key->name) + 1);
    self->key.name = self->key_name;
    mcp_buf_init(&self->form, 2 * PORTARIUM_LINE_MAX);
    self->held = mcp_arena_new(REFS_MAX);
    mcp_status st = self->held ? MCP_OK
                               : mcp_error_set(err, MCP_E_NOMEM, "out of memory for a bundle");
    if (st == MCP_OK)
        st = keys_digest_new(&self->all, err);
    if (st == MCP_OK)
        st = keys_digest_new(&self->other, err);
    if (st != MCP_OK) {
        portarium_checker_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_checker_free(portarium_checker *self)
{
    if (!self)
        return;
    keys_digest_free(self->all);
    keys_digest_free(self->other);
    mcp_buf_clear(&self->form);
    mcp_arena_free(self->held);
    free(self);
}

static mcp_status refuse(portarium_checker *self, const char *reason, mcp_error *err)
{
    self->verdict.reason = reason;
    self->verdict.line = self->lines + 1;
    return mcp_error_set(err, MCP_E_SCHEMA, "line %" PRIu64 " of the bundle: %s",
                         self->verdict.line, reason);
}

/* A status that says something about the bundle becomes a refusal; others stay. */
static mcp_status judge(portarium_checker *self, mcp_status st, const char *reason, mcp_error *err)
{
    bool is_verdict = st == MCP_E_PARSE || st == MCP_E_PARAMS || st == MCP_E_DENIED ||
                      st == MCP_E_NOT_FOUND;

    return is_verdict ? refuse(self, reason, err) : st;
}

/* A string of an object. NULL also where it has a NUL, which would hide what is after it. */
static const char *text_of(const mcp_json *object, const char *name, size_t *length)
{
    const char *text = mcp_json_string(mcp_json_get(object, name), length);

    return text && strlen(text) == *length ? text : NULL;
}

static bool count_of(const mcp_json *object, const char *name, uint64_t *out)
{
    int64_t number = -1;

    if (!mcp_json_int(mcp_json_get(object, name), &number) || number < 0)
        return false;
    *out = (uint64_t)number;
    return true;
}

/* ---- the lines ------------------------------------------------------------------------------- */

static mcp_status check_header(portarium_checker *self, const mcp_json *line, mcp_error *err)
{
    uint64_t version = 0;
    size_t origin_length = 0, run_length = 0;
    const char *origin = text_of(line, "origin", &origin_length);
    const char *run_id = text_of(line, "runId", &run_length);

    if (mcp_json_count(line) != 5 || !count_of(line, "bundle", &version) || version != 1 ||
        !count_of(line, "entries", &self->entries_due) ||
        !count_of(line, "payloads", &self->payloads_due) || !origin || !run_id)
        return refuse(self, PORTARIUM_BAD_HEADER, err);
    self->origin = mcp_arena_strdup(self->held, origin);
    self->run_id = mcp_arena_strdup(self->held, run_id);
    if (!self->origin || !self->run_id)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a bundle");
    return MCP_OK;
}

static mcp_status check_checkpoint(portarium_checker *self, const mcp_json *line, mcp_error *err)
{
    size_t length = 0;
    const char *note = text_of(line, "checkpoint", &length);
    mcp_status st = MCP_E_PARSE;

    if (note && mcp_json_count(line) == 1)
        st = portarium_checkpoint_open(&self->verdict.checkpoint, note, length, &self->key, err);
    if (st == MCP_OK && strcmp(self->verdict.checkpoint.origin, self->origin) != 0)
        st = MCP_E_DENIED;
    return judge(self, st, PORTARIUM_BAD_CHECKPOINT, err);
}

static bool read_proof(portarium_proof *out, const mcp_json *array)
{
    out->count = mcp_json_count(array);
    if (!mcp_json_is_array(array) || out->count > PORTARIUM_PROOF_MAX)
        return false;
    for (size_t i = 0; i < out->count; i++) {
        size_t length = 0;
        const char *text = mcp_json_string(mcp_json_item(array, i), &length);
        if (!keys_unbase64_exact(out->hashes[i], MCP_SHA256_SIZE, text, length))
            return false;
    }
    return true;
}

static mcp_status check_entry_hash(portarium_checker *self, const mcp_json *entry,
                                   uint8_t hash[MCP_SHA256_SIZE], mcp_error *err)
{
    static const char *const except[] = { "hashSha256", "signatureBase64", NULL };
    uint8_t given[MCP_SHA256_SIZE];
    size_t length = 0;
    const char *text = text_of(entry, "hashSha256", &length);

    mcp_buf_reset(&self->form);
    mcp_status st = keys_canonical_without(&self->form, entry, except, err);
    if (st != MCP_OK)
        return st;
    keys_digest_add(self->other, self->form.data, self->form.length);
    st = keys_digest_end(self->other, hash, err);
    if (st == MCP_OK &&
        (!keys_unhex(given, text, length) || memcmp(given, hash, MCP_SHA256_SIZE) != 0))
        return refuse(self, PORTARIUM_BAD_HASH, err);
    return st;
}

static mcp_status check_entry_signature(portarium_checker *self, const mcp_json *entry,
                                        mcp_error *err)
{
    static const char *const except[] = { "signatureBase64", NULL };
    uint8_t signature[KEYS_SIGNATURE_SIZE];
    size_t length = 0;
    const char *text = text_of(entry, "signatureBase64", &length);

    if (!mcp_json_get(entry, "signatureBase64"))
        return MCP_OK;
    if (!keys_unbase64_exact(signature, sizeof signature, text, length))
        return refuse(self, PORTARIUM_BAD_SIGNATURE, err);
    mcp_buf_reset(&self->form);
    mcp_status st = keys_canonical_without(&self->form, entry, except, err);
    if (st == MCP_OK)
        st = keys_verify(self->key.bytes, signature, self->form.data, self->form.length, err);
    return judge(self, st, PORTARIUM_BAD_SIGNATURE, err);
}

/* Whether the entry is of the run and of the workspace that the origin names. */
static bool is_of_run(const portarium_checker *self, const mcp_json *entry)
{
    static const char prefix[] = "portarium/";
    size_t length = 0;
    const char *run_id = text_of(mcp_json_get(entry, "links"), "runId", &length);
    const char *workspace = text_of(entry, "workspaceId", &length);

    return run_id && workspace && strcmp(run_id, self->run_id) == 0 &&
           strncmp(self->origin, prefix, sizeof prefix - 1) == 0 &&
           strcmp(self->origin + sizeof prefix - 1, workspace) == 0;
}

static struct ref **ref_chain(portarium_checker *self, const char *uri)
{
    return &self->refs[mcp_fnv1a(uri) % CHAINS];
}

static mcp_status keep_refs(portarium_checker *self, const mcp_json *entry, mcp_error *err)
{
    const mcp_json *refs = mcp_json_get(entry, "payloadRefs");

    for (size_t i = 0; i < mcp_json_count(refs); i++) {
        size_t length = 0;
        const char *uri = text_of(mcp_json_item(refs, i), "uri", &length);
        const char *sha256 = text_of(mcp_json_item(refs, i), "sha256", &length);
        if (!uri || !sha256)
            continue;
        struct ref *ref = mcp_arena_alloc(self->held, sizeof *ref);
        char *uri_copy = mcp_arena_strdup(self->held, uri);
        char *sha256_copy = mcp_arena_strdup(self->held, sha256);
        if (!ref || !uri_copy || !sha256_copy)
            return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a bundle");
        struct ref **chain = ref_chain(self, uri);
        *ref = (struct ref){ .next = *chain, .uri = uri_copy, .sha256 = sha256_copy };
        *chain = ref;
    }
    return MCP_OK;
}

static mcp_status check_entry(portarium_checker *self, const mcp_json *line, mcp_error *err)
{
    const mcp_json *entry = mcp_json_get(line, "entry");
    const portarium_checkpoint *checkpoint = &self->verdict.checkpoint;
    uint8_t hash[MCP_SHA256_SIZE];
    uint64_t index = 0;
    portarium_proof proof;

    if (mcp_json_count(line) != 3 || !mcp_json_is_object(entry) ||
        !count_of(line, "index", &index) || !read_proof(&proof, mcp_json_get(line, "proof")))
        return refuse(self, PORTARIUM_BAD_ENTRY, err);
    if (index < self->next_index || index >= checkpoint->size)
        return refuse(self, PORTARIUM_BAD_PLACE, err);
    mcp_status st = check_entry_hash(self, entry, hash, err);
    if (st == MCP_OK)
        st = check_entry_signature(self, entry, err);
    if (st != MCP_OK)
        return st;
    if (!is_of_run(self, entry))
        return refuse(self, PORTARIUM_BAD_RUN, err);
    st = portarium_verify_inclusion(self->other, index, checkpoint->size, hash, checkpoint->root,
                                    &proof, err);
    if (st != MCP_OK)
        return judge(self, st, PORTARIUM_BAD_PROOF, err);
    self->next_index = index + 1;
    self->verdict.entries++;
    return keep_refs(self, entry, err);
}

/* The reference that a payload answers; each is answered once. */
static bool take_ref(portarium_checker *self, const char *uri, const char *sha256)
{
    for (struct ref *ref = *ref_chain(self, uri); ref; ref = ref->next) {
        if (ref->is_there || strcmp(ref->uri, uri) != 0 || strcmp(ref->sha256, sha256) != 0)
            continue;
        ref->is_there = true;
        return true;
    }
    return false;
}

static mcp_status check_payload(portarium_checker *self, const mcp_json *line, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE] = "";
    size_t length = 0, ignored = 0;
    const char *payload = text_of(line, "payload", &length);
    const char *sha256 = text_of(line, "sha256", &ignored), *uri = text_of(line, "uri", &ignored);

    if (mcp_json_count(line) != 3 || !payload || !sha256 || !uri)
        return refuse(self, PORTARIUM_BAD_PAYLOAD, err);
    mcp_buf_reset(&self->form);
    mcp_status st = keys_unbase64(&self->form, payload, length, err);
    if (st != MCP_OK)
        return judge(self, st, PORTARIUM_BAD_PAYLOAD, err);
    keys_digest_add(self->other, self->form.data, self->form.length);
    st = keys_digest_end(self->other, digest, err);
    if (st != MCP_OK)
        return st;
    keys_hex(hex, digest);
    if (strcmp(hex, sha256) != 0 || !take_ref(self, uri, sha256))
        return refuse(self, PORTARIUM_BAD_PAYLOAD, err);
    self->verdict.payloads++;
    return MCP_OK;
}

static mcp_status check_seal(portarium_checker *self, const mcp_json *line, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    size_t length = 0, text_length = 0;
    const char *note = text_of(line, "seal", &length);
    mcp_status st = keys_digest_end(self->all, digest, err);

    if (st != MCP_OK)
        return st;
    st = MCP_E_PARSE;
    if (note && mcp_json_count(line) == 1)
        st = portarium_note_open(&text_length, note, length, &self->key, err);
    if (st != MCP_OK)
        return judge(self, st, PORTARIUM_BAD_SEAL, err);
    mcp_buf_reset(&self->form);
    mcp_buf_printf(&self->form, "%s/bundle\n%" PRIu64 "\n", self->origin, self->lines);
    keys_base64(&self->form, digest, sizeof digest);
    st = mcp_buf_putc(&self->form, '\n');
    if (st != MCP_OK)
        return mcp_error_set(err, st, "a bundle: %s", mcp_status_words(st));
    /* One signature, so that none of its bytes is outside of what is verified. */
    bool is_right = self->form.length == text_length &&
                    memcmp(self->form.data, note, text_length) == 0 &&
                    memchr(note + text_length + 1, '\n', length - text_length - 1) ==
                        note + length - 1;
    self->is_sealed = is_right;
    return is_right ? MCP_OK : refuse(self, PORTARIUM_BAD_SEAL, err);
}

/* ---- line by line ---------------------------------------------------------------------------- */

static mcp_status check_line(portarium_checker *self, const mcp_json *line, mcp_error *err)
{
    if (self->lines == 0)
        return check_header(self, line, err);
    if (self->lines == 1)
        return check_checkpoint(self, line, err);
    if (self->verdict.entries < self->entries_due)
        return check_entry(self, line, err);
    if (self->verdict.payloads < self->payloads_due)
        return check_payload(self, line, err);
    return check_seal(self, line, err);
}

/* Read a line without its newline, which must be in the canonical form. */
static mcp_status read_line(portarium_checker *self, const mcp_json **out, mcp_arena *arena,
                            const char *line, size_t length, mcp_error *err)
{
    mcp_status st = mcp_json_read(out, arena, line, length, err);

    if (st == MCP_E_LIMIT)
        st = MCP_E_PARSE; /* nested too deep */
    mcp_buf_reset(&self->form);
    if (st == MCP_OK)
        st = keys_canonical(&self->form, *out, err);
    if (st == MCP_OK && (self->form.length != length || memcmp(self->form.data, line, length) != 0))
        st = MCP_E_PARSE;
    return judge(self, st, PORTARIUM_BAD_FORM, err);
}

mcp_status portarium_checker_line(portarium_checker *self, const char *line, size_t length,
                                  mcp_error *err)
{
    const mcp_json *value = NULL;

    if (self->verdict.reason)
        return mcp_error_set(err, MCP_E_SCHEMA, "the bundle was refused");
    if (self->is_sealed)
        return refuse(self, PORTARIUM_BAD_TRAILING, err);
    if (length == 0 || line[length - 1] != '\n')
        return refuse(self, PORTARIUM_BAD_CUT, err);
    if (length > PORTARIUM_LINE_MAX)
        return refuse(self, PORTARIUM_BAD_FORM, err);
    mcp_arena *arena = mcp_arena_new(16 * PORTARIUM_LINE_MAX + length);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a bundle");
    mcp_status st = read_line(self, &value, arena, line, length - 1, err);
    if (st == MCP_OK)
        st = check_line(self, value, err);
    mcp_arena_free(arena);
    if (st != MCP_OK)
        return st;
    keys_digest_add(self->all, line, length);
    self->lines++;
    return MCP_OK;
}

mcp_status portarium_checker_end(portarium_checker *self, portarium_verdict *out, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!self->verdict.reason && !self->is_sealed)
        st = refuse(self, PORTARIUM_BAD_CUT, err);
    *out = self->verdict;
    return out->reason && st == MCP_OK
               ? mcp_error_set(err, MCP_E_SCHEMA, "line %" PRIu64 " of the bundle: %s", out->line,
                               out->reason)
               : st;
}

mcp_status portarium_bundle_verify(portarium_verdict *out, const char *bundle, size_t length,
                                   const portarium_key *key, mcp_error *err)
{
    portarium_checker *checker = NULL;
    mcp_status st = portarium_checker_new(&checker, key, err);

    while (st == MCP_OK && length > 0) {
        const char *end = memchr(bundle, '\n', length);
        size_t size = end ? (size_t)(end - bundle) + 1 : length;
        st = portarium_checker_line(checker, bundle, size, err);
        bundle += size;
        length -= size;
    }
    if (st == MCP_OK || st == MCP_E_SCHEMA)
        st = portarium_checker_end(checker, out, err);
    portarium_checker_free(checker);
    return st;
}
