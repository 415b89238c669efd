/*
 * decode.h - a policy from the bytes of its files, which may be damaged.
 *
 * All return MCP_OK; MCP_E_PARSE (damaged, or not of this policy: the message says where);
 * MCP_E_NOMEM. Out parameters change only on success and are the arena's; the bytes are not kept.
 */
#ifndef COBRE_POLICY_DECODE_H
#define COBRE_POLICY_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "policy/policy.h"

typedef struct policy_bytes {
    const void *bytes;
    size_t length;
} policy_bytes;

/* The cuts that a file holds; slots that were never filled do not count. */
typedef struct policy_counts {
    uint32_t warm;
    size_t cuts, active;
} policy_counts;

/* metadata.json. The stages get their warm_count; all other members are zero. */
mcp_status policy_decode_metadata(policy *out, policy_bytes from, mcp_arena *arena, mcp_error *err);

/* cuts/stage_NNN.bin of a policy with states of that dimension: cuts, coefficients, warm_count and
 * opening_count of `stage`. */
mcp_status policy_decode_cuts(policy_stage *stage, policy_bytes from, size_t dimension,
                              mcp_arena *arena, mcp_error *err);

/* The same file, without its coefficients. */
mcp_status policy_decode_counts(policy_counts *out, policy_bytes from, size_t dimension,
                                mcp_error *err);

/* states/stage_NNN.bin: the visited states of `stage`. */
mcp_status policy_decode_states(policy_stage *stage, policy_bytes from, size_t dimension,
                                mcp_arena *arena, mcp_error *err);

/* resume.bin, once the cuts of all stages are read: sets is_exact and the members that go with it.
 * `stages` are those of `out`. */
mcp_status policy_decode_resume(policy *out, policy_stage *stages, policy_bytes from,
                                mcp_arena *arena, mcp_error *err);

#endif
