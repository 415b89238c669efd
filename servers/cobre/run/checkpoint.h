/*
 * checkpoint.h - the saved policy of a run: when it is saved, and what a run begins from.
 *
 * The place of a policy is config.json's policy.path: below the output directory, or absolute, and
 * then in one of the directories that the run may use.
 *
 * Source: the output page, 6.3; the method page, 10 and 11.
 */
#ifndef RUN_CHECKPOINT_H
#define RUN_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "guard/paths.h"
#include "policy/policy.h"
#include "policy/read.h"
#include "sddp/sddp.h"

/* Of the memory that a policy is read into. */
#define POLICY_BYTES_MAX ((size_t)16 << 30)

/* Where a policy is. */
typedef struct checkpoint_place {
    int dir_fd;
    const char *path;  /* relative to it */
    const char *shown; /* the whole path, for messages */
} checkpoint_place;

/*
 * Find the place of a policy.
 *
 * @param out    close with checkpoint_place_close
 * @param path   as configured
 * @param allowed of absolute paths; NULL: they are refused
 * @param arena  pays for the texts
 * @return MCP_OK; MCP_E_PARAMS, MCP_E_DENIED, MCP_E_NOT_FOUND (the parent of an absolute path),
 *         MCP_E_IO, MCP_E_NOMEM. `shown` is set in any case but the last.
 */
mcp_status checkpoint_place_open(checkpoint_place *out, int out_fd, const char *output_dir,
                                 const char *path, const guard *allowed, mcp_arena *arena,
                                 mcp_error *err);
void checkpoint_place_close(checkpoint_place *place);

/* Whether it holds a complete policy; false for a place that was not found. */
bool checkpoint_place_is_taken(const checkpoint_place *place);

/* Read the policy of a place; one that is replaced meanwhile is read again. As policy_open and
 * policy_read (policy/read.h). */
mcp_status checkpoint_place_read(const policy **out, const checkpoint_place *place,
                                 policy_parts parts, mcp_arena *arena, mcp_error *err);

/* The saving of a training's policy. */
typedef struct checkpoint {
    const cobre_case *input;
    checkpoint_place place;
    const char *version;    /* cobre_version */
    uint32_t latest, saved; /* iterations of this run: completed, and on the disk; 0: none */
    int64_t saved_ms;       /* when */
    double *means;          /* what the rules look back on after the last iteration, before they saw
                              it: a resume lets them see it, and ends where the training ended */
    size_t mean_count, mean_room;
    mcp_arena *arena; /* of `means` */
} checkpoint;

/* Begin to save, before the training: the place is put in order. `place` passes to the checkpoint.
 * MCP_OK; as policy_prepare. */
mcp_status checkpoint_begin(checkpoint *out, const cobre_case *input, const checkpoint_place *place,
                            const char *version, mcp_arena *arena, mcp_error *err);

/* After an iteration, from the observer: save when it is time. *saved says whether. */
mcp_status checkpoint_iteration(checkpoint *self, const sddp *study, uint32_t iteration,
                                bool *saved, mcp_error *err);

/* At the end of the training: save what is not on the disk yet. */
mcp_status checkpoint_end(checkpoint *self, const sddp *study, mcp_error *err);

#endif
