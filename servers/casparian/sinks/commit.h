/**
 * commit.h - makes all outputs of a job visible, or none.
 *
 *     casparian_commit_prepare(&commit, sink, &facts, err);
 *     in one transaction of the state: read whether the job may still commit, and store
 *         casparian_commit_intent(commit);                    else casparian_commit_abort(commit)
 *     casparian_commit_apply(commit, err);
 *     in one transaction: rows of casparian_commit_written, the job is completed, no more intent
 *     casparian_commit_free(commit);
 *
 * Prepared files are complete and on disk under temporary names. The intent names them and what
 * they will be called; applying renames them and waits until the disk has the folders. A process
 * that dies in between leaves an intent: casparian_commit_settle makes of it all or none, over all
 * folders of the job. If the state's second transaction fails, settle says that the outputs are
 * there. Each folder has a manifest of its own outputs.
 *
 * From prepare to free a commit holds a lock of each folder (`_casparian/.lock`, and `<db>.lock` of
 * a database), so that jobs of several processes commit there one after the other.
 *
 * In a build with CAUSEWAY_FAULT_POINTS, CAUSEWAY_FAULT=commit:N kills the process at the N-th
 * step of prepare and apply.
 *
 * Source: casparian's data model, 9.4 and 9.6.
 */
#ifndef CASPARIAN_SINKS_COMMIT_H
#define CASPARIAN_SINKS_COMMIT_H

#include "sinks/manifest.h"
#include "sinks/sink.h"

#define CASPARIAN_INTENT_MAX ((size_t)1 << 20)

typedef struct casparian_commit casparian_commit;

/** A table that a commit writes. Strings are the commit's. */
typedef struct casparian_written {
    const char *output;
    bool is_quarantine, is_inferred;
    const casparian_definition *definition; /* of the output, as casparian_sink_add had it */
    const casparian_sink_uri *sink;         /* that it was routed to */
    const char *format;                     /* "parquet", "csv" or "duckdb" */
    const char *location;                   /* absolute path of the file, or "<database>#<table>" */
    const char *file;                       /* its name in the sink's folder */
    const char *table;         /* "events__schema_75cece4d", also where the sink has no tables */
    const char *protocol_hash; /* of the schema; "" for an inferred one */
    char target_key[CASPARIAN_HASH_SIZE]; /* sinks/identity.h */
    int64_t rows;
    int64_t bytes;                    /* of the file; of DuckDB those of the staged rows */
    char sha256[CASPARIAN_HASH_SIZE]; /* of the file; "" for DuckDB */
    const char *manifest_sha256;      /* of the bytes of its folder's manifest */
} casparian_written;

/**
 * Finish all files, take the folders' locks, and write the manifests. Takes `sink`: it ends, also
 * on a failure, and then nothing is left. A quarantine table without rows is not written.
 *
 * @param out   yours, ended by casparian_commit_free or casparian_commit_abort
 * @param facts what the manifest says besides the outputs; not kept
 * @return MCP_OK; the failure of an append; MCP_E_BUSY: another process commits here for longer
 *         than 20 seconds; MCP_E_EXISTS: a file that would be written is there;
 *         MCP_E_IO; MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status casparian_commit_prepare(casparian_commit **out, casparian_sink *sink,
                                    const casparian_manifest_facts *facts, mcp_error *err);

/** What will be written. Strings live as long as the commit. */
const casparian_written *casparian_commit_written(const casparian_commit *self, size_t *count);

/** The SHA-256 of a manifest's bytes, as hexadecimal digits, for the audit log: of each folder that
 *  is written to. @param at from 0 on. @return NULL: there are no more */
const char *casparian_commit_manifest_hash(const casparian_commit *self, size_t at);

/** The intent: JSON of at most CASPARIAN_INTENT_MAX bytes. Lives as long as the commit. */
const char *casparian_commit_intent(const casparian_commit *self);

/**
 * Make the outputs visible. On a failure some of them may be: the intent must stay, and settling it
 * makes all or none of them.
 *
 * @return MCP_OK; MCP_E_IO; MCP_E_EXISTS: a table exists and the mode is `error`; MCP_E_BUSY:
 *         another program has the database open; MCP_E_NOMEM
 */
mcp_status casparian_commit_apply(casparian_commit *self, mcp_error *err);

/** Remove the temporary files and end the commit. Not after casparian_commit_apply. NULL is
 *  fine. */
void casparian_commit_abort(casparian_commit *self);

/** End the commit, release the lock; files stay as they are. NULL is fine. */
void casparian_commit_free(casparian_commit *self);

/**
 * Settle an intent that a process has left: complete it if the commit has happened and every file
 * is there under one of its names, else remove whatever of it is there. May be repeated.
 *
 * @param is_committed whether all outputs are visible now; else none is
 * @return MCP_OK; MCP_E_PARSE: that is no intent; MCP_E_NOT_FOUND: one of its several folders is
 *         away, and nothing was changed; MCP_E_BUSY: another process commits there;
 *         MCP_E_UNSUPPORTED: it is of a database, and DuckDB is missing; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_commit_settle(bool *is_committed, const char *intent, size_t length,
                                   mcp_error *err);

/**
 * Remove temporary files of sinks that are older than a day: of processes that died before they had
 * an intent.
 *
 * @param dir_fd  a sink's folder
 * @param is_live asked for each of them, with the file's name; false: remove it. NULL: none is live
 * @param removed how many; may be NULL
 */
mcp_status casparian_commit_sweep(int dir_fd, int64_t now_ms,
                                  bool (*is_live)(void *data, const char *name), void *data,
                                  size_t *removed, mcp_error *err);

#endif
