/*
 * response.h - statuses on the wire, error messages that no call writes, notifications, and the
 * answers of a batch.
 */
#ifndef MCP_CORE_RESPONSE_H
#define MCP_CORE_RESPONSE_H

#include "mcp/core/context.h"
#include "mcp/core/peer.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/version.h"

/** Bytes kept ready for an error message when memory is out. */
#define MCP__RESPONSE_SPARE ((size_t)512)

/** The JSON-RPC error code of a status in that revision. */
int mcp__response_code(mcp_status status, mcp_revision revision);

/** HTTP's status for an answer of that status: 200, 400, 403 or 404. */
int mcp__response_http(mcp_status status, mcp_revision revision);

/** Whether the message of an error of that status is for the log alone, and the client gets
 *  constant words. */
bool mcp__response_is_hidden(mcp_status status);

/** Begin a message that answers: its object is open. @param id NULL: it is not known; `revision`
 *  decides how that is written, NONE: nothing is negotiated */
void mcp__response_begin(mcp_json_writer *writer, mcp_buf *out, const mcp_json *id,
                         mcp_revision revision);

/** Write a whole error message. @param data an object's bytes; NULL or empty: none */
mcp_status mcp__response_write_error(mcp_buf *out, const mcp_json *id, mcp_revision revision,
                                     mcp_status status, const char *message, const mcp_buf *data);

/** Begin a notification: its object is open. @param out initialized here */
void mcp__notification_begin(mcp_json_writer *writer, mcp_buf *out, size_t max_bytes,
                             const char *method);

/** End all that is open in it, send it unless it could not be written, and clear its buffer. */
void mcp__notification_send(mcp__peer *peer, mcp_json_writer *writer, mcp_buf *message);

/** Answer with an error for which there may be no memory: then context->spare serves. */
void mcp__response_error(const mcp__context *context, mcp__peer *peer, const mcp_json *id,
                         mcp_revision revision, mcp_status status, const char *message);

/**
 * The peer of a batch (2025-03-26): it expects `count` messages to end, then sends their answers to
 * `behind` as one array and frees itself.
 *
 * @param max_bytes of one array; what does not fit goes into a further one
 * @return NULL when there is no memory
 */
mcp__peer *mcp__batch_new(mcp__peer *behind, size_t count, size_t max_bytes);

#endif
