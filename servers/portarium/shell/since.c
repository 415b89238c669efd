/*
 * since.c - an older checkpoint, and the proof of the tree of today.
 *
 * The proof comes from the entries, and is verified here against the root that the old checkpoint
 * was signed for, so neither a server nor a database has to be believed.
 */
#include "shell/since.h"

#include <stdio.h>
#include <string.h>

#include "evidence/proof.h"

static mcp_status read_checkpoint(portarium_checkpoint *out, const char *path,
                                  const portarium_key *key, mcp_error *err)
{
    char note[PORTARIUM_NOTE_MAX + 1];
    FILE *file = fopen(path, "rbe");
    if (!file)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%s cannot be opened", path);
    size_t length = fread(note, 1, sizeof note, file);
    bool is_read = !ferror(file);
    fclose(file);
    if (!is_read)
        return mcp_error_set(err, MCP_E_IO, "%s cannot be read", path);
    if (length == sizeof note)
        return mcp_error_set(err, MCP_E_PARSE, "%s is no checkpoint: it is too long", path);
    return portarium_checkpoint_open(out, note, length, key, err);
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
        st = portarium_session_run(session, "getConsistency",
                                   cli_string(session->line, "workspace"), arguments, NULL, err);
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
    const char *workspace = cli_string(session->line, "workspace");
    mcp_status st = read_checkpoint(&old, path, key, err);
    if (st != MCP_OK)
        return st;
    if (strncmp(old.origin, "portarium/", 10) != 0 || strcmp(old.origin + 10, workspace) != 0)
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
