/**
 * save.h - writes the policy directory so that a complete one is there at any moment.
 *
 * The new directory is written as "<path>.tmp" and put on the disk, its metadata.json last; then it
 * changes names with the old one in one step, and the old one is removed. Where the file system
 * cannot exchange two names, the old one becomes "<path>.old" for that moment. A process or a
 * machine that dies on the way leaves a complete policy, the old or the new one, which policy_open
 * (read.h) finds.
 *
 * One process at a time saves to a path: the run that holds the lock of the output directory.
 *
 * Source: the output page, 6.
 */
#ifndef COBRE_POLICY_SAVE_H
#define COBRE_POLICY_SAVE_H

#include <stdbool.h>

#include "mcp/error.h"

#include "policy/policy.h"

typedef struct policy_save_options {
    bool states; /* exports.states: the visited states have files of their own */
} policy_save_options;

/**
 * Make a path ready for policy_save before the work begins: its parents are made, and what an
 * interrupted save left is put in order. Saving does the same; this one fails early.
 *
 * @return as policy_save; MCP_E_PARAMS also when something else than a policy is there
 */
mcp_status policy_prepare(int dir_fd, const char *path, mcp_error *err);

/**
 * Save a policy. Its resume.bin and bases are written if it is_exact.
 *
 * @param dir_fd  the folder that `path` is relative to; parents are made if need be
 * @param path    as configured; not absolute
 * @param options NULL for the defaults
 * @return MCP_OK: the policy is on the disk; else the last saved policy is still there: MCP_E_IO
 *         (the disk is full, for one), MCP_E_DENIED, MCP_E_PARAMS (the path), MCP_E_LIMIT (a file
 *         above POLICY_FILE_MAX), MCP_E_NOMEM
 */
mcp_status policy_save(int dir_fd, const char *path, const policy *self,
                       const policy_save_options *options, mcp_error *err);

#endif
