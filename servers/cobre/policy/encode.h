/*
 * encode.h - the files of a policy directory as bytes.
 *
 * Each function appends one file to the buffer, which must be empty; a failure is in its `status`.
 */
#ifndef COBRE_POLICY_ENCODE_H
#define COBRE_POLICY_ENCODE_H

#include <stddef.h>

#include "mcp/buf.h"

#include "policy/policy.h"

/* cuts/stage_NNN.bin. */
void policy_encode_cuts(mcp_buf *to, const policy *self, size_t stage);

/* basis/stage_NNN.bin: the first of the stage's bases. */
void policy_encode_basis(mcp_buf *to, const policy *self, size_t stage);

/* states/stage_NNN.bin. */
void policy_encode_states(mcp_buf *to, const policy *self, size_t stage);

/* resume.bin, with the visited states unless they have files of their own. */
void policy_encode_resume(mcp_buf *to, const policy *self, bool with_states);

/* metadata.json. */
void policy_encode_metadata(mcp_buf *to, const policy *self);

#endif
