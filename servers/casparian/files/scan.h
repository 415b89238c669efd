/**
 * scan.h - the files of a folder that match a pattern, with their hashes.
 *
 *     casparian_scan_options options = { .guard = guard, .start = &named, .is_recursive = true };
 *     st = casparian_scan_new(&scan, &options, err);
 *     st = casparian_scan_next(&file, scan, err);      until an error, or a file that is NULL
 *     casparian_scan_free(scan);
 *
 * Files come in the order of kit/guard/walk.h. Files whose names are no UTF-8 are left out and
 * counted, since no client could name them. One thread at a time uses a scan.
 */
#ifndef CASPARIAN_FILES_SCAN_H
#define CASPARIAN_FILES_SCAN_H

#include "files/glob.h"
#include "guard/named.h"

typedef enum casparian_hash_mode {
    CASPARIAN_HASH_NONE,
    CASPARIAN_HASH_FAST,  /* XXH64 with the seed 0, 16 hexadecimal digits */
    CASPARIAN_HASH_SHA256 /* 64 */
} casparian_hash_mode;

/** @return false: it is no name of one ("none", "fast", "sha256") */
bool casparian_hash_mode_read(casparian_hash_mode *out, const char *text);

/** Room for a hash with its NUL. */
#define CASPARIAN_SCAN_HASH_SIZE 65

/** Most errors that a scan tells. */
#define CASPARIAN_SCAN_ERRORS_MAX 10

typedef struct casparian_scan_file casparian_scan_file;

/** Borrowed while the scan lives. Zero is the default of every field that is not required. */
typedef struct casparian_scan_options {
    const guard *guard;         /* required */
    const guard_named *start;   /* a folder or a file; required */
    const casparian_glob *glob; /* of paths relative to the folder; required */
    bool is_recursive;
    int depth_max;     /* 0: as deep as a walk can be */
    const char *after; /* a `relative` of an earlier scan: begin after it */
    casparian_hash_mode hash_mode;
    int64_t hash_budget_ms;          /* of work for hashes, then there are none; 0: no limit */
    bool (*should_stop)(void *data); /* NULL: never */
    bool (*wants)(void *data, const casparian_scan_file *file); /* NULL: all; it has no hash yet */
    void *data;
} casparian_scan_options;

/** A file. Valid until the next step. */
struct casparian_scan_file {
    const char *path;     /* absolute */
    const char *relative; /* to the start; the name where that is a file */
    const char *name;
    int64_t size, mtime_ns;
    uint64_t device, inode;
    char hash[CASPARIAN_SCAN_HASH_SIZE]; /* "" where there is none */
};

/** What was left out. */
typedef struct casparian_scan_error {
    char path[256]; /* relative, cut; bytes that are no UTF-8 are "?" */
    char why[120];
} casparian_scan_error;

typedef struct casparian_scan_summary {
    uint64_t scanned;                                       /* names that were looked at */
    uint64_t skipped;                                       /* what could not be read */
    casparian_scan_error errors[CASPARIAN_SCAN_ERRORS_MAX]; /* the first ones */
    size_t error_count;
    bool is_hash_budget_spent; /* some files have no hash */
} casparian_scan_summary;

typedef struct casparian_scan casparian_scan;

/** @param out yours, free it with casparian_scan_free. @return as guard_walk_new */
mcp_status casparian_scan_new(casparian_scan **out, const casparian_scan_options *options,
                              mcp_error *err);

/** NULL is fine. */
void casparian_scan_free(casparian_scan *self);

/** The next file. @param out NULL after the last one. @return as guard_walk_next */
mcp_status casparian_scan_next(const casparian_scan_file **out, casparian_scan *self,
                               mcp_error *err);

/** What the scan has seen so far. Borrowed. */
const casparian_scan_summary *casparian_scan_result(casparian_scan *self);

/**
 * Hash an open file from its beginning.
 *
 * @param should_stop called for each piece; may be NULL
 * @return MCP_OK; MCP_E_STOPPED; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_hash_file(char out[CASPARIAN_SCAN_HASH_SIZE], int fd, casparian_hash_mode mode,
                               bool (*should_stop)(void *data), void *data, mcp_error *err);

#endif
