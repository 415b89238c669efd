/*
 * checkpoints.c - tiles in the database, and notes about the tree.
 */
#include "service/trail/checkpoints.h"

#include <string.h>

#include "fault/fault.h"

/* ---- tiles ----------------------------------------------------------------------------------- */

static mcp_status write_tile(unsigned level, uint64_t number, const uint8_t *hashes, void *data,
                             mcp_error *err)
{
    portarium_tx *tx = data;
    db_value values[] = { db_text(tx->workspace), db_int((int64_t)level), db_int((int64_t)number),
                          db_blob(hashes, PORTARIUM_TILE_SIZE) };
    return db_run(tx->session, NULL,
                  "INSERT INTO evidence_tiles (workspace, level, n, hashes) VALUES ($1, $2, $3, $4)"
                  " ON CONFLICT (workspace, level, n) DO NOTHING",
                  values, 4, err);
}

static mcp_status read_tile(unsigned level, uint64_t number, uint8_t *hashes, void *data,
                            mcp_error *err)
{
    portarium_tx *tx = data;
    db_rows *rows = NULL;
    size_t length = 0;
    db_value values[] = { db_text(tx->workspace), db_int((int64_t)level), db_int((int64_t)number) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT hashes FROM evidence_tiles WHERE workspace = $1 AND "
                             "level = $2 AND n = $3",
                             values, 3, err);
    const void *bytes = portarium_next(rows, &st, err) ? db_blob_at(rows, 0, &length) : NULL;
    if (bytes && length == PORTARIUM_TILE_SIZE)
        memcpy(hashes, bytes, length);
    else if (st == MCP_OK)
        st = mcp_error_set(err, MCP_E_INTERNAL, "tile %u/%llu of the evidence is missing", level,
                           (unsigned long long)number);
    db_rows_free(rows);
    return st;
}

/* How many leaves the stored tiles have. */
static mcp_status stored_size(uint64_t *out, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT MAX(n) FROM evidence_tiles WHERE workspace = $1 AND level = 0",
                             values, 1, err);
    *out = 0;
    if (portarium_next(rows, &st, err) && !db_null_at(rows, 0))
        *out = (uint64_t)(db_int_at(rows, 0) + 1) * PORTARIUM_TILE_HASHES;
    db_rows_free(rows);
    return st;
}

/* ---- the tree -------------------------------------------------------------------------------- */

typedef uint8_t batch[PORTARIUM_TILE_HASHES][MCP_SHA256_SIZE];

static mcp_status read_hashes(batch *out, size_t *count, portarium_tx *tx, uint64_t after,
                              mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_int((int64_t)after),
                          db_int(PORTARIUM_TILE_HASHES) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT hash FROM evidence WHERE workspace = $1 AND seq > $2 "
                             "ORDER BY seq LIMIT $3",
                             values, 3, err);
    for (*count = 0; portarium_next(rows, &st, err); ++*count) {
        size_t length = 0;
        const char *hash = db_text_at(rows, 0, &length);
        if (!keys_unhex((*out)[*count], hash, length))
            st = mcp_error_set(err, MCP_E_INTERNAL, "a stored hash of evidence is none");
    }
    db_rows_free(rows);
    return st;
}

mcp_status portarium_checkpoint_tree(portarium_tree **out, portarium_tx *tx, mcp_error *err)
{
    const portarium_tiles tiles = { .write = write_tile, .read = read_tile, .data = tx };
    portarium_tree *tree = NULL;
    uint64_t size = 0;
    batch hashes;
    mcp_status st = stored_size(&size, tx, err);
    if (st == MCP_OK)
        st = portarium_tree_new(&tree, &tiles, size, err);
    for (size_t count = 1; st == MCP_OK && count > 0;) {
        st = read_hashes(&hashes, &count, tx, portarium_tree_size(tree), err);
        for (size_t i = 0; st == MCP_OK && i < count; i++)
            st = portarium_tree_append(tree, hashes[i], err);
    }
    if (st == MCP_OK && portarium_tree_size(tree) != (uint64_t)tx->head.evidence_seq)
        st = mcp_error_set(err, MCP_E_INTERNAL, "entries of evidence are missing");
    if (st == MCP_OK)
        *out = tree;
    else
        portarium_tree_free(tree);
    return st;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static mcp_status find(portarium_made_checkpoint *out, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_int((int64_t)out->size) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT note FROM checkpoints WHERE workspace = $1 AND size = $2",
                             values, 2, err);
    if (portarium_next(rows, &st, err)) {
        const char *note = db_text_at(rows, 0, &out->length);
        out->note = mcp_arena_strndup(tx->arena, note, out->length);
    }
    db_rows_free(rows);
    return st;
}

static mcp_status make(portarium_made_checkpoint *out, portarium_tree *tree, portarium_tx *tx,
                       mcp_error *err)
{
    portarium_checkpoint checkpoint = { .size = out->size };
    const portarium_signer signer = { .name = PORTARIUM_SIGNER,
                                      .pair = tx->settings->evidence_key };
    mcp_buf note;
    if (strlen(out->origin) > PORTARIUM_ORIGIN_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the workspace's id is too long for a checkpoint");
    memcpy(checkpoint.origin, out->origin, strlen(out->origin) + 1);
    memcpy(checkpoint.chain, tx->head.evidence_hash, sizeof checkpoint.chain);
    mcp_status st = portarium_tree_root(tree, out->size, checkpoint.root, err);
    mcp_buf_init(&note, PORTARIUM_NOTE_MAX);
    if (st == MCP_OK)
        st = portarium_checkpoint_sign(&note, &checkpoint, &signer, err);
    if (st == MCP_OK) {
        out->note = mcp_arena_strndup(tx->arena, note.data, note.length);
        out->length = note.length;
    }
    mcp_buf_clear(&note);
    db_value values[] = { db_text(tx->workspace), db_int((int64_t)out->size),
                          db_text_n(out->note, out->length), db_int(tx->now_ms) };
    return st == MCP_OK ? db_run(tx->session, NULL,
                                 "INSERT INTO checkpoints (workspace, size, note, created_at) "
                                 "VALUES ($1, $2, $3, $4)",
                                 values, 4, err)
                        : st;
}

mcp_status portarium_checkpoint_make(portarium_made_checkpoint *out, portarium_tree **tree,
                                     portarium_tx *tx, mcp_error *err)
{
    portarium_tree *opened = NULL;
    *out = (portarium_made_checkpoint){
        .size = (uint64_t)tx->head.evidence_seq,
        .origin = mcp_arena_printf(tx->arena, "portarium/%s", tx->workspace),
    };
    if (!tx->settings->evidence_key)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "This server has no key to sign checkpoints with.");
    mcp_status st = find(out, tx, err);
    if (st == MCP_OK && (!out->note || tree))
        st = portarium_checkpoint_tree(&opened, tx, err);
    if (st == MCP_OK && !out->note)
        st = make(out, opened, tx, err);
    FAULT_POINT("checkpoint-made");
    if (st == MCP_OK && tree)
        *tree = opened;
    else
        portarium_tree_free(opened);
    return st;
}
