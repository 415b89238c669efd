/**
 * manifest.h - what a job has done, in a file with its outputs: `_casparian/<job>.manifest.json`.
 *
 * Canonical JSON (RFC 8785): which program and parser, who approved it, which inputs with their
 * hashes, which outputs with theirs, and the hash of the manifest that was written before it in the
 * same folder. With a signing key it has `public_key` and `signature`, both in base64: Ed25519 of
 * the canonical form without `signature`.
 *
 * Source: casparian's data model, 9.6.
 */
#ifndef CASPARIAN_SINKS_MANIFEST_H
#define CASPARIAN_SINKS_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "keys/sign.h"
#include "mcp/buf.h"
#include "mcp/json.h"
#include "schema/definition.h"

#define CASPARIAN_MANIFEST_VERSION 2
#define CASPARIAN_MANIFEST_MAX ((size_t)64 << 20) /* bytes of one */
#define CASPARIAN_MANIFESTS_MAX 100000            /* in a folder */
#define CASPARIAN_MANIFEST_DIR "_casparian"

/** An input file. */
typedef struct casparian_manifest_input {
    const char *path; /* bytes that are not UTF-8 are written as U+FFFD */
    int64_t size, mtime_s;
    const char *sha256; /* NULL: it was not read */
    const char *status; /* "ok", "failed", "skipped" or "changed" */
    int64_t rows;
} casparian_manifest_input;

/** What the job knows. Texts that are not required may be NULL and are left out then. */
typedef struct casparian_manifest_facts {
    const char *created_at;    /* RFC 3339; required */
    const char *program;       /* "casparian 0.1.0"; required */
    const char *artifact_hash; /* of the plugin; required */
    const char *signer;        /* of the plugin */
    const char *approval_id, *decided_by, *decided_at, *snapshot_sha256; /* of the approval */
    const mcp_json *quarantine; /* the policy; NULL: left out */
    const casparian_manifest_input *inputs;
    size_t input_count;
    const keys_pair *key; /* signs it; NULL: it is not signed */
} casparian_manifest_facts;

/** An output, as a manifest names it. */
typedef struct casparian_manifest_output {
    const char *name;        /* of the output; of quarantine "<output>_quarantine" */
    const char *file;        /* in the sink's folder */
    const char *table;       /* in the database `file`; NULL: the file is the output */
    const char *schema_hash; /* NULL: of quarantine */
    int64_t rows, bytes;
    const char *sha256; /* of the file; NULL: of a table */
} casparian_manifest_output;

/** The rest of what a manifest says. */
typedef struct casparian_manifest_outcome {
    const char *job, *plugin, *version;
    const char *previous; /* hash of the manifest before it; NULL: it is the first */
    const casparian_manifest_output *outputs;
    size_t output_count;
} casparian_manifest_outcome;

/**
 * Append a manifest's bytes.
 *
 * @return MCP_OK; MCP_E_LIMIT: longer than CASPARIAN_MANIFEST_MAX; MCP_E_NOMEM; MCP_E_INTERNAL
 */
mcp_status casparian_manifest_write(mcp_buf *out, const casparian_manifest_facts *facts,
                                    const casparian_manifest_outcome *outcome, mcp_error *err);

/** A manifest of a folder. Strings are the arena's. */
typedef struct casparian_manifest {
    const char *file;     /* "42.manifest.json" */
    const mcp_json *json; /* an object; NULL: it is none, see `damage` */
    const char *damage;   /* why; NULL: it could be read */
    char sha256[CASPARIAN_HASH_SIZE];
} casparian_manifest;

/**
 * Read all manifests of a sink's folder, in the order of their names. A folder without any is
 * MCP_OK.
 *
 * @param out    in the arena
 * @param dir_fd the sink's folder
 * @return MCP_OK; MCP_E_LIMIT: more than CASPARIAN_MANIFESTS_MAX, or the arena's bound; MCP_E_IO;
 *         MCP_E_NOMEM
 */
mcp_status casparian_manifests_read(const casparian_manifest **out, size_t *count, int dir_fd,
                                    mcp_arena *arena, mcp_error *err);

/**
 * Read the manifest of a job.
 *
 * @param out as casparian_manifests_read has it; may have `damage`
 * @return MCP_OK; MCP_E_NOT_FOUND: the folder has none; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_manifest_read(casparian_manifest *out, int dir_fd, const char *job,
                                   mcp_arena *arena, mcp_error *err);

/**
 * The hash of the manifest that the next one follows: no other names it as `previous`; of several
 * the one created last.
 *
 * @param out   one of `all`; NULL: there is none
 * @param arena for room
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status casparian_manifests_head(const char **out, const casparian_manifest *all, size_t count,
                                    mcp_arena *arena, mcp_error *err);

/** Whether its content is what it was when it was written, by `content_sha256`: against accidents,
 *  since one who changes it on purpose can change the hash as well.
 *  @return MCP_OK; MCP_E_PARSE: it was changed */
mcp_status casparian_manifest_check(const casparian_manifest *self, mcp_error *err);

/** The same, and whether the signature is that of its `public_key`. @return MCP_OK, also without a
 *  signature (`key` is then all zero); MCP_E_DENIED: it is not; MCP_E_PARSE: it has no form of one,
 *  or the manifest was changed */
mcp_status casparian_manifest_verify(uint8_t key[KEYS_PUBLIC_SIZE], const casparian_manifest *self,
                                     mcp_error *err);

#endif
