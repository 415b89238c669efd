/**
 * named.h - files and folders that a client names, and why a name was refused.
 *
 * Stricter than guard_open_dir: a ".." is refused wherever it leads, and each refusal tells its
 * rule. What is given is open, so that it cannot be exchanged between the check and the use; it is
 * a regular file or a folder, never a FIFO, a device or a socket.
 *
 *     guard_named file;
 *     guard_refusal why;
 *     st = guard_open_named(&file, &why, guard, path, GUARD_FILES, arena, err);
 *     ... read file.fd
 */
#ifndef GUARD_NAMED_H
#define GUARD_NAMED_H

#include <stdint.h>

#include "guard/paths.h"

/** The rule that refused a name. */
typedef enum guard_refusal {
    GUARD_REFUSED_NOT,       /* it was not refused by a rule */
    GUARD_REFUSED_INVALID,   /* empty, too long, or no UTF-8; MCP_E_PARAMS */
    GUARD_REFUSED_TRAVERSAL, /* it has a component ".."; MCP_E_DENIED */
    GUARD_REFUSED_LINK,      /* a link in it leads out of the roots; MCP_E_DENIED */
    GUARD_REFUSED_OUTSIDE,   /* it is below no root, or in an excluded folder; MCP_E_DENIED */
    GUARD_REFUSED_KIND,      /* it is something else than was asked for; MCP_E_PARAMS */
    GUARD_REFUSED_MISSING    /* it is below a root and does not exist; MCP_E_NOT_FOUND */
} guard_refusal;

/** What may be opened, as bits. */
enum guard_kinds {
    GUARD_FILES = 1 << 0, /* regular ones */
    GUARD_DIRS = 1 << 1
};

/** What was opened. */
typedef struct guard_named {
    int fd;           /* for reading; the caller's */
    const char *path; /* absolute, without links; the arena's */
    bool is_dir;
    int64_t size, mtime_ns;
    uint64_t device, inode;
} guard_named;

/**
 * Open a file or folder that a client names.
 *
 * @param why  the rule, on MCP_E_DENIED, MCP_E_PARAMS and MCP_E_NOT_FOUND; may be NULL
 * @param path absolute, or relative to the current directory
 * @return MCP_OK; MCP_E_PARAMS, MCP_E_DENIED, MCP_E_NOT_FOUND: see `why`; MCP_E_IO: it cannot be
 *         read, or the device fails; MCP_E_NOMEM
 */
mcp_status guard_open_named(guard_named *out, guard_refusal *why, const guard *all,
                            const char *path, unsigned kinds, mcp_arena *arena, mcp_error *err);

/** Something that may be made. */
typedef struct guard_target {
    int dir_fd;       /* the nearest folder on its way that exists; the caller's */
    const char *rest; /* its name beneath dir_fd, for guard_make_dir and guard_write_file; "" where
                         the target is a folder that exists */
    const char *path; /* absolute, without links; the arena's */
    bool exists, is_dir;
} guard_target;

/**
 * Check a name that something may be made at: what exists of it is below a root, and what does not
 * are plain names. Nothing is made.
 *
 * @return as guard_open_named, without GUARD_REFUSED_MISSING
 */
mcp_status guard_open_target(guard_target *out, guard_refusal *why, const guard *all,
                             const char *path, mcp_arena *arena, mcp_error *err);

/** Whether a path without links is below a root, and in no excluded folder. */
bool guard_allows(const guard *all, const char *canonical);

#endif
