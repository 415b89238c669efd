/*
 * intent.h - what a commit is about to do, as JSON that outlives the process, and doing it.
 *
 * Of one folder: {"version":1,"dir":"/data/out","pairs":[{"tmp":".x.parquet.tmp","final":
 * "x.parquet"},...]} and of a database also "database" (its path), "marker" (sinks/duckdb.h) and
 * "stages" (files that go when it is over). Of several folders the same with version 2, of the
 * first of them, its home, and "also": [{"dir":...,"pairs":[...]},...] of the others. Names are
 * relative to their folder; the manifest's pair is the last of each.
 *
 * The home decides. No file of another folder gets its name before the disk has the names of the
 * home, and the first of these (of a database its transaction) is the one act that makes the commit
 * happen.
 */
#ifndef CASPARIAN_SINKS_INTENT_H
#define CASPARIAN_SINKS_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/error.h"
#include "sinks/lock.h"

typedef struct intent_pair {
    const char *temporary, *final;
} intent_pair;

typedef struct intent_folder {
    const char *dir;
    const intent_pair *pairs;
    size_t pair_count;
} intent_folder;

typedef struct intent {
    const intent_folder *folders; /* the home is the first */
    size_t folder_count;
    const char *database, *marker; /* in the home; NULL: of files alone */
    const char *const *stages;     /* in the home */
    size_t stage_count;
} intent;

/* Append the JSON. @return its status */
mcp_status intent_write(mcp_buf *out, const intent *self);

/* Read it. @param out in the arena. MCP_E_PARSE, MCP_E_NOMEM. */
mcp_status intent_read(intent *out, mcp_arena *arena, const char *text, size_t length,
                       mcp_error *err);

/* The functions below have `dirs`, the folders of the intent, open. */

/* Whether a file of that name is in the folder. MCP_E_IO: it cannot be told, which is no "no". */
mcp_status intent_look(bool *is_there, const sink_dir *dir, const char *name, mcp_error *err);

/* Give every file that has its temporary name the final one, folder by folder from the home on, and
 * wait after each until the disk has that. */
mcp_status intent_rename(const intent *self, const sink_dir *dirs, mcp_error *err);

/* The same as far as the files are there, whatever is missing. */
mcp_status intent_rename_rest(const intent *self, const sink_dir *dirs, mcp_error *err);

/* Remove the files of staged rows. Those that are left are swept one day. */
void intent_remove_stages(const intent *self, const sink_dir *dirs);

/* The database's name in the home; NULL: it has none. */
const char *intent_database_name(const intent *self);

/* Drop the marker of a database. As casparian_duckdb_unmark. */
mcp_status intent_unmark(const intent *self, const sink_dir *dirs, mcp_error *err);

/* Remove every file that it names, under the name that it has: next to a temporary file, one with
 * its final name is another job's. Those of the home go last, since they tell that the commit has
 * happened. */
mcp_status intent_remove(const intent *self, const sink_dir *dirs, mcp_error *err);

#endif
