/**
 * identity.h - the names of files and tables that hold outputs, and the keys by which a run knows
 * that a file was already processed.
 *
 * Every function is pure; any thread.
 *
 * Source: casparian's data model, 9.2 and 9.5.
 */
#ifndef CASPARIAN_SINKS_IDENTITY_H
#define CASPARIAN_SINKS_IDENTITY_H

#include <stdint.h>

#include "mcp/error.h"
#include "schema/definition.h"

/** Longest name of an output, of whatever bytes. */
#define CASPARIAN_OUTPUT_ID_MAX 128

/** Room for each of the names below, with its NUL. */
#define CASPARIAN_SAFE_ID_SIZE (CASPARIAN_OUTPUT_ID_MAX + 32)
#define CASPARIAN_FILE_NAME_SIZE (CASPARIAN_SAFE_ID_SIZE + 32)

/**
 * A name of lower-case letters, digits and '_' for an output of any name: itself where it is one,
 * else what is left of it and eight digits of its hash ("Orders/2024": "orders_2024_8ed2798a").
 *
 * @return MCP_OK; MCP_E_LIMIT: longer than CASPARIAN_OUTPUT_ID_MAX; MCP_E_INTERNAL
 */
mcp_status casparian_safe_output_id(char out[CASPARIAN_SAFE_ID_SIZE], const char *name,
                                    mcp_error *err);

/**
 * The file of an output in a job: "events_73475cb40a568e8d.parquet".
 *
 * @param job       the job's id as a text
 * @param extension "parquet" or "csv"
 * @return as casparian_safe_output_id
 */
mcp_status casparian_output_file_name(char out[CASPARIAN_FILE_NAME_SIZE], const char *output,
                                      const char *job, const char *extension, mcp_error *err);

/**
 * The table of an output: "events__schema_75cece4d".
 *
 * @param base          the output's name, or that of `?table=`
 * @param protocol_hash of its schema (casparian_definition_protocol_hash); NULL: the schema was
 *                      inferred, and the table has the name of the base alone
 * @return MCP_OK; MCP_E_LIMIT: longer than CASPARIAN_OUTPUT_ID_MAX
 */
mcp_status casparian_output_table_name(char out[CASPARIAN_FILE_NAME_SIZE], const char *base,
                                       const char *protocol_hash, mcp_error *err);

/** The name of an output's rows that wait for their commit: "__cf_stage_dc3571ad42fedd62".
 *  @return as casparian_safe_output_id */
mcp_status casparian_stage_name(char out[CASPARIAN_FILE_NAME_SIZE], const char *output,
                                const char *job, mcp_error *err);

/** What an output's place is known by. Texts may be NULL where there is none. */
typedef struct casparian_target {
    const char *output;
    const char *uri;  /* casparian_sink_uri.text */
    const char *mode; /* casparian_sink_mode_text */
    const char *table;
    const char *protocol_hash;
} casparian_target;

/** The key of an output's place. @return MCP_OK; MCP_E_NOMEM, MCP_E_INTERNAL */
mcp_status casparian_target_key(char out[CASPARIAN_HASH_SIZE], const casparian_target *target,
                                mcp_error *err);

/** A version of an input file, and what reads it. */
typedef struct casparian_materialization {
    int64_t file_id, mtime_s, size;
    const char *fingerprint; /* the artifact hash of the plugin */
    const char *target_key;
} casparian_materialization;

/** The key of a file's rows in an output. @return MCP_OK; MCP_E_NOMEM, MCP_E_INTERNAL */
mcp_status casparian_materialization_key(char out[CASPARIAN_HASH_SIZE],
                                         const casparian_materialization *what, mcp_error *err);

/**
 * The hash of a plugin: of its source ("binary_sha256:..." of a native one), lock file, manifest
 * and schemas. NULL is an empty text.
 *
 * @return MCP_OK; MCP_E_NOMEM, MCP_E_INTERNAL
 */
mcp_status casparian_artifact_hash(char out[CASPARIAN_HASH_SIZE], const char *source,
                                   const char *lockfile, const char *manifest_json,
                                   const char *schemas_json, mcp_error *err);

#endif
