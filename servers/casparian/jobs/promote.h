/**
 * promote.h - schemas as code: a Python module with one literal, or schema files of native plugins.
 *
 * The text is made when the promotion is requested, so what a person approves is what is written.
 * Python's ast.literal_eval of the literal, hashed as data 2.1 says, gives the hashes again.
 */
#ifndef CASPARIAN_JOBS_PROMOTE_H
#define CASPARIAN_JOBS_PROMOTE_H

#include "mcp/arena.h"
#include "schema/definition.h"

/** A file to write. */
typedef struct casparian_promoted_file {
    const char *path; /* absolute */
    const char *text;
    size_t length;
    char sha256[CASPARIAN_HASH_SIZE];
} casparian_promoted_file;

/** Generated code, in the arena of its maker. */
typedef struct casparian_promotion {
    const casparian_promoted_file *files;
    size_t count;
    char sha256[CASPARIAN_HASH_SIZE]; /* of the file; of several: of their paths and hashes */
} casparian_promotion;

/**
 * Generate the code of schemas.
 *
 * `*.py`: one Python module with `outputs = {...}`. `*.schema.json`: the one output, in the form
 * that native plugins have. A path that ends in '/': a file OUTPUT.schema.json in it for each
 * output.
 *
 * @param ephemeral_id for the module's comment; NULL: none
 * @return MCP_OK; MCP_E_PARAMS: another suffix, or several outputs for one .schema.json;
 *         MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status casparian_promote(casparian_promotion *out, mcp_arena *arena,
                             const casparian_schemas *schemas, const char *ephemeral_id,
                             const char *output_path, mcp_error *err);

/**
 * Write the files of a promotion, none of which may exist yet: all of them, or none.
 *
 * @param folder_fd the folder that they go into
 * @return MCP_OK; MCP_E_EXISTS; MCP_E_DENIED, MCP_E_STORAGE, MCP_E_IO
 */
mcp_status casparian_promote_write(int folder_fd, const casparian_promotion *code, mcp_error *err);

/** How many files of a promotion are there, each as it was generated. */
size_t casparian_promote_count(const casparian_promotion *code);

#endif
