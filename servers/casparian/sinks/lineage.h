/**
 * lineage.h - where a row of an output comes from, as the manifests of its folder say.
 *
 * Source: casparian's data model, 9.6.
 */
#ifndef CASPARIAN_SINKS_LINEAGE_H
#define CASPARIAN_SINKS_LINEAGE_H

#include "sinks/manifest.h"

/** The lineage columns of a row. */
typedef struct casparian_lineage_row {
    const char *output;
    const char *job;         /* _cf_job_id */
    const char *source_hash; /* _cf_source_hash */
    int64_t row;             /* __cf_row_id; negative: the output has none */
} casparian_lineage_row;

/** Whether the output has the row. */
typedef enum casparian_row_check {
    CASPARIAN_ROW_UNCHECKED, /* it cannot be read: see `unchecked` */
    CASPARIAN_ROW_FOUND,
    CASPARIAN_ROW_ABSENT,
} casparian_row_check;

/** Where it comes from. Strings are the arena's; NULL where the manifest says nothing. */
typedef struct casparian_lineage {
    const char *manifest, *manifest_sha256; /* the file "42.manifest.json" */
    const char *file;                       /* of the output, in the folder */
    const char *table;
    const char *created_at, *program;
    const char *const *paths; /* of the source: files with the same bytes are all named */
    size_t path_count;
    int64_t row; /* as given: line or record of the source, as the parser counts */
    const char *plugin, *version, *artifact_hash, *signer;
    const char *approval_id, *decided_by, *decided_at, *snapshot_sha256;
    bool is_signed; /* and the signature is right */
    casparian_row_check check;
    const char *unchecked;     /* why */
    int64_t rows, source_rows; /* of the output, and of them those of the job and source */
    bool has_row_ids;          /* the output has __cf_row_id */
} casparian_lineage;

/**
 * Find the origin of a row.
 *
 * @param out    strings in the arena
 * @param dir_fd the sink's folder
 * @return MCP_OK; MCP_E_NOT_FOUND: no manifest of the job, no output of that name in it, or no
 *         input with that hash (err says which); MCP_E_PARSE: the manifest is damaged, MCP_E_DENIED: its
 *         signature is wrong; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_lineage_find(casparian_lineage *out, int dir_fd,
                                  const casparian_lineage_row *row, mcp_arena *arena,
                                  mcp_error *err);

#endif
