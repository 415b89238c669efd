/*
 * intent.h - what a commit is about to do, as JSON that outlives the process, and doing it.
 *
 * {"version":1,"dir":"/data/out","pairs":[{"tmp":".x.parquet.tmp","final":"x.parquet"},...]} and of
 * a database also "database" (its path), "marker" (sinks/duckdb.h) and "stages" (files that go when
 * it is over). Names are relative to the folder; the manifest's pair is the last.
 */
#ifndef CASPARIAN_SINKS_INTENT_H
#define CASPARIAN_SINKS_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/error.h"

typedef struct intent_pair {
    const char *temporary, *final;
} intent_pair;

typedef struct intent {
    const char *dir;
    const char *database, *marker; /* NULL: of files alone */
    const intent_pair *pairs;
    size_t pair_count;
    const char *const *stages;
    size_t stage_count;
} intent;

/* Append the JSON. @return its status */
mcp_status intent_write(mcp_buf *out, const intent *self);

/* Read it. @param out in the arena. MCP_E_PARSE, MCP_E_NOMEM. */
mcp_status intent_read(intent *out, mcp_arena *arena, const char *text, size_t length,
                       mcp_error *err);

/* Give every file that has its temporary name the final one, and wait until the disk has that. */
mcp_status intent_rename(const intent *self, int dir_fd, mcp_error *err);

/* Remove the files of staged rows. Those that are left are swept one day. */
void intent_remove_stages(const intent *self, int dir_fd);

/* The database's name in the folder of the sink; NULL: it has none. */
const char *intent_database_name(const intent *self);

/* Drop the marker of a database. As casparian_duckdb_unmark. */
mcp_status intent_unmark(const intent *self, int dir_fd, mcp_error *err);

/* Remove every file that it names, under whatever name. */
mcp_status intent_remove(const intent *self, int dir_fd, mcp_error *err);

/* What casparian_commit_settle and casparian_commit_sweep do. */
mcp_status intent_settle(bool *is_committed, const char *text, size_t length, mcp_error *err);
mcp_status intent_sweep(int dir_fd, int64_t now_ms, bool (*is_live)(void *data, const char *name),
                        void *data, size_t *removed, mcp_error *err);

#endif
