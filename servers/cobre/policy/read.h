/**
 * read.h - reads the policy directory.
 *
 * A run saves its policy by exchanging directories (save.h), so a reader opens one first and then
 * reads from it: what it reads is of one moment. A directory that is replaced meanwhile is removed
 * file by file; then a read returns MCP_E_BUSY, and the caller opens again.
 *
 *     policy_open(&fd, out_fd, "policy", err);
 *     policy_read(&read, fd, POLICY_ALL, arena, err);       or one of the others
 *     close(fd);
 *
 * All return MCP_OK; MCP_E_NOT_FOUND (no policy: no directory, or one without metadata.json);
 * MCP_E_PARSE (a file is missing, damaged or too large: the message begins with its name);
 * MCP_E_BUSY; MCP_E_PARAMS, MCP_E_DENIED (the path); MCP_E_IO; MCP_E_NOMEM.
 *
 * Source: the output page, 6.
 */
#ifndef COBRE_POLICY_READ_H
#define COBRE_POLICY_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "policy/policy.h"

/** Bytes of one file of a policy: 2 GiB, where FlatBuffers end. */
#define POLICY_FILE_MAX ((size_t)1 << 31)

/** The cuts of one stage, counted; slots that were never filled do not count. */
typedef struct policy_stage_count {
    size_t cuts, active; /* cuts: active or not */
} policy_stage_count;

typedef struct policy_summary {
    policy_metadata metadata;
    size_t dimension, stage_count;
    const policy_stage_count *stages;
    size_t cuts, active; /* of all stages */
} policy_summary;

/** What policy_read reads. */
typedef enum policy_parts {
    POLICY_CUTS, /* metadata and cuts */
    POLICY_ALL   /* also resume.bin and the visited states, where they are there */
} policy_parts;

/**
 * Open the policy directory; where it is not complete, the complete one that an interrupted save
 * left: "<path>.tmp", then "<path>.old".
 *
 * @param fd   yours to close
 * @param path relative to the folder: "./policy" as configured is fine
 */
mcp_status policy_open(int *fd, int dir_fd, const char *path, mcp_error *err);

/** Whether the directory is complete: it has a metadata.json. */
bool policy_is_complete(int fd);

/** Read a policy into the arena. */
mcp_status policy_read(const policy **out, int fd, policy_parts parts, mcp_arena *arena,
                       mcp_error *err);

/** Read its metadata and count its cuts. */
mcp_status policy_read_summary(const policy_summary **out, int fd, mcp_arena *arena,
                               mcp_error *err);

/**
 * Read the cuts of one stage.
 *
 * @param out   stages[stage] has them; the other stages have none
 * @return also MCP_E_LIMIT (the policy has fewer stages)
 */
mcp_status policy_read_stage(const policy **out, int fd, size_t stage, mcp_arena *arena,
                             mcp_error *err);

#endif
