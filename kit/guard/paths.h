/**
 * paths.h - opening files with names from outside.
 *
 * A guard has the folders that may be accessed. A folder that a user names is canonicalised,
 * compared with them and opened beneath the one that contains it; from then on files are named by
 * descriptor and relative name, and no name leaves the descriptor's folder, neither by ".." nor by
 * a link.
 *
 * The simplest way to use it:
 *
 *     guard_open_dir(&case_fd, &canonical, guard, path_from_outside, arena, err);
 *     guard_read_file(&bytes, &length, case_fd, "system/hydros.json", 16 << 20, arena, err);
 *
 * A guard never changes, so threads may share it. The caller closes descriptors; they have
 * FD_CLOEXEC. Relative names are bounded by PATH_MAX; one that is empty or absolute is
 * MCP_E_PARAMS; one that leads out of the folder or over a link is MCP_E_DENIED.
 */
#ifndef GUARD_PATHS_H
#define GUARD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

typedef struct guard guard;

/**
 * Open the roots: the folders that may be accessed, with everything below.
 *
 * @param out   yours, free it with guard_free
 * @param roots folders that exist; links in them are resolved now, once
 * @return MCP_OK; MCP_E_PARAMS (no root); MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO (a root that
 *         cannot be opened; the message names it); MCP_E_NOMEM
 */
mcp_status guard_new(guard **out, const char *const *roots, size_t count, mcp_error *err);

/**
 * Open roots as guard_new does, without some folders below them.
 *
 * @param excluded folders that may not be accessed, with everything below, also where they do not
 *                 exist; a root that is below one is a root all the same
 * @return as guard_new
 */
mcp_status guard_new_without(guard **out, const char *const *roots, size_t count,
                             const char *const *excluded, size_t excluded_count, mcp_error *err);

/** NULL is fine. */
void guard_free(guard *all);

/**
 * Open the folder that a user names.
 *
 * Links are resolved first, so a link from one root into another is legal; then the path must be a
 * root or lie below one. The error does not reveal whether a path outside exists.
 *
 * @param fd        the folder
 * @param canonical its absolute path without links, the arena's; may be NULL
 * @param path      absolute, or relative to the current directory
 * @return MCP_OK; MCP_E_DENIED (outside, "Path '...' is not within the allowed directories");
 *         MCP_E_NOT_FOUND (inside, but absent or no folder); MCP_E_PARAMS (empty or over-long);
 *         MCP_E_IO; MCP_E_NOMEM
 */
mcp_status guard_open_dir(int *fd, const char **canonical, const guard *all, const char *path,
                          mcp_arena *arena, mcp_error *err);

/**
 * Open the folder that a user names, made with its missing parents if need be (as
 * guard_make_durable_dir does). As guard_open_dir otherwise: nothing is made outside the roots.
 */
mcp_status guard_open_or_make_dir(int *fd, const char **canonical, const guard *all,
                                  const char *path, mcp_arena *arena, mcp_error *err);

/* ---- beneath a folder that is open ----------------------------------------------------------- */

/** Open a regular file for reading. Anything else of that name is MCP_E_NOT_FOUND. */
mcp_status guard_open_file(int *fd, int dir_fd, const char *relative, mcp_error *err);

/** Open a folder for reading. Anything else of that name is MCP_E_NOT_FOUND. */
mcp_status guard_open_subdir(int *fd, int dir_fd, const char *relative, mcp_error *err);

/** Whether there is a regular file or a folder of that name, reached without a link. */
bool guard_exists(int dir_fd, const char *relative);

/** Whether the open folder is the one that an absolute path leads to without a link. False where
 *  that cannot be found out. */
bool guard_is_at(int dir_fd, const char *path);

/** Whether anything has that name: a file, a folder, a FIFO, a link. */
bool guard_is_taken(int dir_fd, const char *relative);

/**
 * Read a whole regular file.
 *
 * @param bytes the arena's, followed by a NUL that is not counted
 * @return as guard_open_file; MCP_E_LIMIT when it is longer than `max_bytes`; MCP_E_IO
 */
mcp_status guard_read_file(const char **bytes, size_t *length, int dir_fd, const char *relative,
                           size_t max_bytes, mcp_arena *arena, mcp_error *err);

/**
 * Open a folder, made with its missing parents if need be (mode 0777 less the umask).
 *
 * @param fd may be NULL when the folder only has to be there
 */
mcp_status guard_make_dir(int *fd, int dir_fd, const char *relative, mcp_error *err);

/**
 * The same, for files that have to be there after a crash: each folder that is made has its name on
 * disk, in its parent, when this returns.
 */
mcp_status guard_make_durable_dir(int *fd, int dir_fd, const char *relative, mcp_error *err);

/**
 * Create a file for writing directly in the folder; a stale one of that name is removed first,
 * because it may be a link.
 *
 * @param name one component, "data.parquet.tmp"
 */
mcp_status guard_create(int *fd, int dir_fd, const char *name, mcp_error *err);

/** Rename within the folder, replacing what has the new name. Both are one component. */
mcp_status guard_replace(int dir_fd, const char *from, const char *to, mcp_error *err);

/**
 * Write a whole file: to "<relative>.tmp" in the same folder, then renamed over it, so a reader
 * sees the old file or the new one. The folder must exist.
 */
mcp_status guard_write_file(int dir_fd, const char *relative, const void *bytes, size_t length,
                            mcp_error *err);

/**
 * Remove a file, or a folder with all that is in it; links are removed, never followed. A missing
 * file is MCP_OK, and so is what somebody else removes at the same time. Folders nested deeper than
 * 64 are MCP_E_LIMIT.
 */
mcp_status guard_remove_tree(int dir_fd, const char *relative, mcp_error *err);

#endif
