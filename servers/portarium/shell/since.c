/*
 * since.c - an older checkpoint, and the proof of the tree of today.
 *
 * The proof comes from the entries, and is verified here against the root that the old checkpoint
 * was signed for, so neither a server nor a database has to be believed.
 */
#include "shell/since.h"

#include <stdio.h>
#include <string.h>

#include "evidence/notes.h"
#include "evidence/proof.h"

/* The last checkpoint of a workspace in a file; the last one of any, where it has none. */
typedef struct search {
    const char *origin;
    char note[PORTARIUM_NOTE_MAX];
    size_t length; /* 0: there is none */
    bool is_found;
} search;

static mcp_status on_note(const portarium_stored_note *note, void *data, mcp_error *err)
{
    search *self = data;
    bool is_right = strcmp(note->origin, self->origin) == 0;
    (void)err;
    if (self->is_found && !is_right)
        return MCP_OK;
    memcpy(self->note, note->note, note->length);
    self->length = note->length;
    self->is_found = is_right;
    return MCP_OK;
}

static mcp_status read_checkpoint(portarium_checkpoint *out, const char *path, const char *origin,
                                  const portarium_key *key, mcp_error *err)
{
    search found = { .origin = origin };
    FILE *file = fopen(path, "rbe");
    if (!file)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%s cannot be opened", path);
    mcp_status st = portarium_notes_read(file, on_note, &found, err);
    fclose(file);
    if (st == MCP_E_IO)
        return mcp_error_set(err, st, "%s cannot be read", path);
    if (st == MCP_OK && found.length == 0)
        return mcp_error_set(err, MCP_E_PARSE, "%s has no checkpoint", path);
    return st == MCP_OK ? portarium_checkpoint_open(out, found.note, found.length, key, err) : st;
}

static mcp_status ask(const mcp_json **out, portarium_session *session, uint64_t size,
                      mcp_error *err)
{
    const mcp_json *arguments = NULL;
    const char *text = mcp_arena_printf(session->arena, "{\"since\":\"%llu\"}",
                                        (unsigned long long)size);
    mcp_status st = text ? mcp_json_read(&arguments, session->arena, text, strlen(text), err)
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory for the command");
    if (st == MCP_OK)
        st = portarium_session_run(session, "getConsistency", session->workspace, arguments, NULL,
                                   err);
    return st == MCP_OK
               ? mcp_json_read(out, session->arena, session->reply.text, session->reply.length, err)
               : st;
}

static bool read_hash(uint8_t *out, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    return text && keys_unhex(out, text, length);
}

static bool read_proof(portarium_proof *out, uint8_t root[MCP_SHA256_SIZE], int64_t *size,
                       const mcp_json *answer)
{
    const mcp_json *hashes = mcp_json_get(answer, "proof");
    out->count = mcp_json_count(hashes);
    bool is_fit = out->count <= PORTARIUM_PROOF_MAX &&
                  read_hash(root, mcp_json_get(answer, "root")) &&
                  mcp_json_int(mcp_json_get(answer, "size"), size) && *size > 0;
    for (size_t i = 0; is_fit && i < out->count; i++)
        is_fit = read_hash(out->hashes[i], mcp_json_item(hashes, i));
    return is_fit;
}

static mcp_status prove(const portarium_checkpoint *old, const mcp_json *answer, mcp_error *err)
{
    portarium_proof proof;
    uint8_t root[MCP_SHA256_SIZE];
    int64_t size = 0;
    keys_digest *digest = NULL;
    if (!read_proof(&proof, root, &size, answer))
        return mcp_error_set(err, MCP_E_INTERNAL, "the answer has no proof");
    mcp_status st = keys_digest_new(&digest, err);
    if (st == MCP_OK)
        st = portarium_verify_consistency(digest, old->size, old->root, (uint64_t)size, root,
                                          &proof, err);
    keys_digest_free(digest);
    return st == MCP_E_DENIED
               ? mcp_error_set(
                     err, MCP_E_SCHEMA,
                     "the evidence was rewritten: its first %llu entries are not those of "
                     "the checkpoint",
                     (unsigned long long)old->size)
               : st;
}

mcp_status portarium_verify_since(uint64_t *size, portarium_session *session, const char *path,
                                  const portarium_key *key, uint64_t count, mcp_error *err)
{
    portarium_checkpoint old;
    const mcp_json *answer = NULL;
    const char *workspace = session->workspace;
    const char *origin = mcp_arena_printf(session->arena, "portarium/%s", workspace);
    mcp_status st = origin ? read_checkpoint(&old, path, origin, key, err)
                           : mcp_error_set(err, MCP_E_NOMEM, "no memory for the command");
    if (st != MCP_OK)
        return st;
    if (strcmp(old.origin, origin) != 0)
        return mcp_error_set(err, MCP_E_PARAMS, "%s is a checkpoint of %s, not of workspace %s",
                             path, old.origin, workspace);
    if (old.size > count)
        return mcp_error_set(err, MCP_E_SCHEMA,
                             "entries are missing: the checkpoint covers %llu, and there are %llu",
                             (unsigned long long)old.size, (unsigned long long)count);
    *size = old.size;
    if (old.size == 0)
        return MCP_OK;
    st = ask(&answer, session, old.size, err);
    return st == MCP_OK ? prove(&old, answer, err) : st;
}
