/**
 * sink.h - writes the outputs of one job, to one place or to several.
 *
 *     casparian_sink_open(&sink, &options, err);                  (its first place)
 *     casparian_sink_add(&trades, sink, 0, definition, 0, err);
 *     for each source file:
 *         casparian_sink_file_begin(&file, sink, processed_at, err);
 *         casparian_sink_append(file, trades, &batch, err);       any number of times
 *         casparian_sink_file_commit(file, source_sha256, err);   or casparian_sink_file_discard
 *     casparian_commit_prepare(&commit, sink, &facts, err);       (sinks/commit.h), or
 *     casparian_sink_abort(sink);
 *
 * Each output has a file of its own, written under a temporary name, and a thread that writes it,
 * so it writes while the next rows are parsed. At most four batches wait for a thread;
 * casparian_sink_append waits then, at most five minutes.
 *
 * The rows of a source file stay apart until the file has succeeded: up to 64 MiB in memory, more
 * of them in a file without a name in the folder of the first place. A file that fails leaves
 * nothing. In a job of one file the rows are written at once, as soon as its hash is known, since
 * its failure fails the job.
 *
 * After the declared columns come those of lineage: _cf_source_hash, _cf_job_id, _cf_processed_at
 * and _cf_parser_version. A quarantine table has the declared columns, all nullable, its own seven
 * (check/check.h, casparian_checked.invalid), then those of lineage.
 *
 * One thread uses a sink and its files. Several files may be open at once; each has its own bound
 * of memory, and their rows are written in the order of their commits.
 *
 * Source: casparian's data model, 8 and 9.
 */
#ifndef CASPARIAN_SINKS_SINK_H
#define CASPARIAN_SINKS_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "check/batch.h"
#include "mcp/error.h"
#include "schema/definition.h"
#include "sinks/uri.h"

#define CASPARIAN_SINK_OUTPUTS_MAX 200 /* tables of a sink, with those of quarantine */
#define CASPARIAN_SINK_MEMORY_MAX ((size_t)64 << 20) /* of the rows of a source file, in memory */
#define CASPARIAN_SINK_SPOOL_MAX (INT64_C(64) << 30) /* of the same, on disk */

/** The columns of lineage. */
#define CASPARIAN_SOURCE_HASH "_cf_source_hash"
#define CASPARIAN_JOB_ID "_cf_job_id"
#define CASPARIAN_PROCESSED_AT "_cf_processed_at"
#define CASPARIAN_PARSER_VERSION "_cf_parser_version"

/** Places of a job: sinks whose texts differ. */
#define CASPARIAN_SINK_PLACES_MAX 16

typedef struct casparian_sink casparian_sink;
typedef struct casparian_sink_output casparian_sink_output;
typedef struct casparian_sink_file casparian_sink_file;

/** Everything but the numbers is required. Texts are copied. */
typedef struct casparian_sink_options {
    const casparian_sink_uri *uri; /* of the first place */
    int dir_fd;                    /* the folder `uri->dir`, open; duplicated */
    const char *job;               /* its id, "42": letters, digits, '_' and '-' */
    const char *plugin;            /* "fix_parser" */
    const char *version;           /* of the plugin */
    int attempt;                   /* how often the job was given to a runner before. Temporary
                                    * files of an attempt have names of their own: its runner may
                                    * be alive, only suspended, and remove them later */
    bool is_single_file;           /* the job has one source file */
    size_t memory_max;             /* 0: CASPARIAN_SINK_MEMORY_MAX */
    const char *const *taken;      /* paths, ended by NULL, that are never written: the server's own
                                    * state; NULL: none */
} casparian_sink_options;

/** How a table differs from the plain output of a declared schema. */
typedef enum casparian_sink_flags {
    CASPARIAN_SINK_QUARANTINE = 1, /* the table "<output>_quarantine" */
    CASPARIAN_SINK_INFERRED = 2,   /* nobody declared the schema */
} casparian_sink_flags;

/**
 * Open a sink for a job. Nothing is written yet.
 *
 * @param out yours, ended by casparian_sink_abort or casparian_commit_prepare
 * @return MCP_OK; MCP_E_PARAMS: the database is one of `taken`; MCP_E_UNSUPPORTED: the sink is
 *         DuckDB, which is missing (the message names the path); MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_sink_open(casparian_sink **out, const casparian_sink_options *options,
                               mcp_error *err);

/**
 * Add a place for tables, unless it is there. Several may be in one folder.
 *
 * @param out    its index; that of the first place is 0
 * @param dir_fd the folder `uri->dir`, open; duplicated
 * @return MCP_OK; MCP_E_LIMIT: more than CASPARIAN_SINK_PLACES_MAX; MCP_E_PARAMS: the job has
 *         another DuckDB file already, and two files cannot change in one transaction; else as
 *         casparian_sink_open
 */
mcp_status casparian_sink_add_place(size_t *out, casparian_sink *self,
                                    const casparian_sink_uri *uri, int dir_fd, mcp_error *err);

/**
 * Add a table, at any time before the commit. Its file is created.
 *
 * @param out        the sink's
 * @param place      where it is
 * @param definition of the output, also for its quarantine; outlives the sink and its commit
 * @param flags      of casparian_sink_flags
 * @return MCP_OK; MCP_E_EXISTS: the folder has a file of that name, which another home's job of the
 *         same number wrote, or two outputs have one table; MCP_E_LIMIT: too many tables or
 *         columns; MCP_E_NOT_FOUND, MCP_E_PARSE: the zone of a column (CSV); MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_sink_add(casparian_sink_output **out, casparian_sink *self, size_t place,
                              const casparian_definition *definition, unsigned flags,
                              mcp_error *err);

/**
 * The key of the place that a table would have (sinks/identity.h), without a sink: for the decision
 * which files a run skips.
 *
 * @return MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM; MCP_E_INTERNAL
 */
mcp_status casparian_sink_target_key(char out[CASPARIAN_HASH_SIZE], const casparian_sink_uri *uri,
                                     const casparian_definition *definition, unsigned flags,
                                     mcp_error *err);

/** The table of an output, or of its quarantine; NULL: it was not added. */
casparian_sink_output *casparian_sink_find(casparian_sink *self, const char *output,
                                           bool is_quarantine);

/**
 * A source file begins.
 *
 * @param out          the sink's, ended by casparian_sink_file_commit or _discard
 * @param processed_at RFC 3339 in UTC, for _cf_processed_at; copied
 */
mcp_status casparian_sink_file_begin(casparian_sink_file **out, casparian_sink *self,
                                     const char *processed_at, mcp_error *err);

/**
 * The hash of the source file is known: in a job of one file its rows may be written from now on.
 * Calling it is never needed.
 *
 * @param sha256 64 hexadecimal digits; copied
 */
mcp_status casparian_sink_file_identify(casparian_sink_file *self, const char *sha256,
                                        mcp_error *err);

/**
 * Append rows of a source file. After a failure the job cannot be committed.
 *
 * @param batch has the declared columns (of quarantine: with the seven) under their names, in any
 *              order, with the declared types and no odd cells; a nullable column may be missing or
 *              of type NULL. Copied
 * @return MCP_OK; MCP_E_PARAMS: another type, or no value where one must be; MCP_E_LIMIT: the
 *         file's rows on disk; MCP_E_TIMEOUT: the writer takes no rows; MCP_E_IO (a full disk, for
 *         one; also of rows that were appended before); MCP_E_NOMEM
 */
mcp_status casparian_sink_append(casparian_sink_file *self, casparian_sink_output *output,
                                 const casparian_batch *batch, mcp_error *err);

/**
 * The source file has succeeded: its rows go to the writers. Ends the file, also when it fails.
 *
 * @param sha256 as in casparian_sink_file_identify; the same, if that was called
 * @return as casparian_sink_append
 */
mcp_status casparian_sink_file_commit(casparian_sink_file *self, const char *sha256,
                                      mcp_error *err);

/** The source file has failed: its rows go. In a job of one file the job cannot be committed then,
 *  if rows were written. NULL is fine. */
void casparian_sink_file_discard(casparian_sink_file *self);

/** Rows that were committed to a table so far. */
int64_t casparian_sink_rows(const casparian_sink_output *output);

/** End the sink and its files, and remove what it has written. NULL is fine. */
void casparian_sink_abort(casparian_sink *self);

#endif
