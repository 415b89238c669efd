/**
 * sources.h - registered folders (sources), the rules that tag their files, and the files.
 *
 * A source is a folder; a sync finds its files. A rule is a glob on the path below the source with
 * a tag; of the rules that fit a file the one with the highest priority tags it (of equal ones the
 * older). A tag by hand is never taken away by a sync.
 */
#ifndef CASPARIAN_JOBS_STATE_SOURCES_H
#define CASPARIAN_JOBS_STATE_SOURCES_H

#include "jobs/store.h"

#define CASPARIAN_SOURCE_NAME_MAX 128
#define CASPARIAN_TAG_MAX 128
#define CASPARIAN_SOURCES_MAX 1000
#define CASPARIAN_RULES_MAX 1000 /* of a source */
#define CASPARIAN_FILES_LISTED_MAX 1000

/** A rule. Strings are the arena's. */
typedef struct casparian_rule {
    int64_t id;
    const char *pattern, *tag;
    int64_t priority;
    bool is_enabled;
} casparian_rule;

/** A source. Strings are the arena's. */
typedef struct casparian_source {
    int64_t id;
    const char *name, *path;
    bool is_enabled;
    int64_t created_ms, last_scan_ms;             /* 0: never */
    int64_t file_count, total_size, tagged_count; /* without deleted files */
    const casparian_rule *rules;
    size_t rule_count;
} casparian_source;

/** Register a folder. @param path absolute, without links. @return MCP_OK; MCP_E_EXISTS: the name
 *  or the path is registered; MCP_E_PARAMS: no such name is possible; statuses of db.h */
mcp_status casparian_source_register(int64_t *id, casparian_store *store, const char *name,
                                     const char *path, mcp_error *err);

/** Forget a source with its rules and files; nothing is deleted on disk. @return MCP_OK;
 *  MCP_E_NOT_FOUND; statuses of db.h */
mcp_status casparian_source_remove(casparian_store *store, int64_t id, mcp_error *err);

/** Read all sources by name, with their rules by priority. */
mcp_status casparian_source_list(const casparian_source **out, size_t *count,
                                 casparian_store *store, mcp_arena *arena, mcp_error *err);

/** Find a source by its name or id. @return MCP_OK; MCP_E_NOT_FOUND; statuses of db.h */
mcp_status casparian_source_find(casparian_source *out, casparian_store *store, mcp_arena *arena,
                                 const char *name, mcp_error *err);

/** Add a rule. @return MCP_OK; MCP_E_EXISTS; MCP_E_PARAMS: the tag; statuses of db.h */
mcp_status casparian_rule_add(int64_t *id, casparian_store *store, int64_t source,
                              const char *pattern, const char *tag, int64_t priority,
                              mcp_error *err);

/** @return MCP_OK; MCP_E_NOT_FOUND; statuses of db.h */
mcp_status casparian_rule_remove(casparian_store *store, int64_t id, mcp_error *err);

/** A file that was found in a source. Texts are copied, but for the tag. */
typedef struct casparian_found {
    const char *path, *relative, *name;
    int64_t size, mtime_s;
    uint64_t device, inode;
    const char *hash;           /* NULL: it was not hashed */
    const char *tag;            /* by hand; NULL: none; outlives the sync */
    const casparian_rule *rule; /* that tags it; NULL: none does; outlives the sync */
} casparian_found;

/**
 * A sync under way. Files are written in batches, a short transaction each, so a sync that takes an
 * hour to hash its files keeps nobody from writing. Batches that were written stay where it fails.
 */
typedef struct casparian_sync casparian_sync;

/** Begin. @param is_whole what is not found is deleted; false: only a part is looked at.
 *  @param store outlives it @param out ended by casparian_sync_end; NULL where it cannot begin */
mcp_status casparian_sync_begin(casparian_sync **out, casparian_store *store, int64_t source,
                                bool is_whole, mcp_error *err);

/** Register a file, or what is new about it. @return MCP_OK; MCP_E_NOT_FOUND: the source was
 *  removed; statuses of db.h */
mcp_status casparian_sync_file(casparian_sync *self, const casparian_found *file, mcp_error *err);

/**
 * Write the last batch, and mark the files that a whole sync has not found as deleted; where `st`
 * is a failure, do neither. NULL is fine.
 *
 * @return `st`, or the failure
 */
mcp_status casparian_sync_end(casparian_sync *self, mcp_status st, mcp_error *err);

/** A registered file. Strings are the arena's. */
typedef struct casparian_registered {
    int64_t id;
    const char *path, *relative, *source; /* `source` NULL: only a job has seen it */
    const char *status, *last_error, *hash;
    int64_t size, mtime_s;
    const char *tags; /* "TAG" and how it came, one a line: "fix\trule\n"; "" for none */
} casparian_registered;

/** Which files; NULL and zero: all but deleted ones. */
typedef struct casparian_registered_filter {
    int64_t source; /* 0: any */
    const char *tag, *status;
    bool untagged;
    int64_t after; /* the id of the last one of the page before */
    size_t limit;  /* at most CASPARIAN_FILES_LISTED_MAX; 0: 100 */
} casparian_registered_filter;

/** List files by id. */
mcp_status casparian_registered_list(const casparian_registered **out, size_t *count,
                                     casparian_store *store, mcp_arena *arena,
                                     const casparian_registered_filter *filter, mcp_error *err);

/** Tag a registered file by hand. @return MCP_OK; MCP_E_NOT_FOUND: the file is not registered;
 *  MCP_E_PARAMS: the tag; statuses of db.h */
mcp_status casparian_tag_add(casparian_store *store, const char *path, const char *tag,
                             mcp_error *err);

/** @return MCP_OK; MCP_E_NOT_FOUND: it has no such tag */
mcp_status casparian_tag_remove(casparian_store *store, const char *path, const char *tag,
                                mcp_error *err);

#endif
