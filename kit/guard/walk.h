/**
 * walk.h - the files of a folder and of the folders below it, in a fixed order.
 *
 * In each folder entries come in the order of the bytes of their names, and what is in a folder
 * comes in its place, so a walk can go on after any file of an earlier one. Only regular files are
 * given; a link to a file is given where its target is below a root, a link to a folder is not
 * followed; FIFOs, devices and sockets are never opened. Every folder is opened by its descriptor,
 * so nothing that is exchanged meanwhile leads out.
 *
 *     guard_walk_options options = { .guard = guard, .dir_fd = named.fd, .path = named.path,
 *                                    .is_recursive = true };
 *     st = guard_walk_new(&walk, &options, err);
 *     st = guard_walk_next(&entry, walk, err);         until an error, or an entry that is NULL
 *     guard_walk_free(walk);
 *
 * One thread at a time uses a walk.
 */
#ifndef GUARD_WALK_H
#define GUARD_WALK_H

#include "guard/named.h"

/** Names that a walk holds at one time: those of the folders from the top to where it is. */
#define GUARD_WALK_NAMES_MAX ((size_t)2000000)

/** Deepest nesting; what is deeper is skipped. */
#define GUARD_WALK_DEPTH_MAX 64

typedef struct guard_walk guard_walk;

/** A file. Valid until the next step of the walk. */
typedef struct guard_entry {
    const char *relative; /* to the folder of the walk; any bytes but NUL */
    const char *name;     /* its last component */
    bool is_link;         /* the name is a link, and the rest of this struct is of its target */
    int64_t size, mtime_ns;
    uint64_t device, inode;
} guard_entry;

/** Borrowed while the walk lives. Zero is the default of every field that is not required. */
typedef struct guard_walk_options {
    const guard *guard; /* required */
    int dir_fd;         /* the folder; required */
    const char *path;   /* its absolute path without links; required */
    bool is_recursive;
    int depth_max;     /* of folders below it; 0: GUARD_WALK_DEPTH_MAX */
    const char *after; /* a `relative` of an earlier walk: begin after it; NULL: at the beginning */
    /** Whether to give a file, or to enter a folder. Called before it is looked at. NULL: all. */
    bool (*wants)(void *data, const char *relative, const char *name, bool is_dir);
    /** Something was left out: a folder that cannot be read, a link that leads out. */
    void (*skipped)(void *data, const char *relative, const char *why);
    /** Called for every name. NULL: never. */
    bool (*should_stop)(void *data);
    void *data;
} guard_walk_options;

/** @param out yours, free it with guard_walk_free. @return MCP_OK; MCP_E_IO: the folder cannot be
 *  read; MCP_E_LIMIT: it has too many names; MCP_E_NOMEM */
mcp_status guard_walk_new(guard_walk **out, const guard_walk_options *options, mcp_error *err);

/** NULL is fine. */
void guard_walk_free(guard_walk *self);

/**
 * The next file.
 *
 * @param out NULL after the last one
 * @return MCP_OK; MCP_E_STOPPED: `should_stop` said so; MCP_E_LIMIT: too many names; MCP_E_NOMEM
 */
mcp_status guard_walk_next(const guard_entry **out, guard_walk *self, mcp_error *err);

/** Open the file that guard_walk_next gave last, for reading. @return MCP_OK; MCP_E_NOT_FOUND: it
 *  is gone, or no regular file any more; MCP_E_DENIED: it leads out now; MCP_E_IO */
mcp_status guard_walk_open(int *fd, const guard_walk *self, mcp_error *err);

/** How many names the walk has looked at. */
uint64_t guard_walk_scanned(const guard_walk *self);

#endif
