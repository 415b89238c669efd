/*
 * body.h - bodies of routes' answers that are written while they are sent.
 */
#ifndef MCP_TRANSPORT_HTTP_REST_BODY_H
#define MCP_TRANSPORT_HTTP_REST_BODY_H

#include "mcp/transport/http/http_int.h"

typedef struct mcp__body mcp__body;

/**
 * On a worker: get ready for a body whose first piece does not end it.
 *
 * @param out       yours until mcp__body_begin or mcp__body_abandon
 * @param source    its data is taken where MCP_OK is returned
 * @param max_bytes of a piece
 */
mcp_status mcp__body_new(mcp__body **out, const mcp_body_source *source, size_t max_bytes,
                         mcp_error *err);

/**
 * Answer with the first piece, and see to the others from now on. Takes `body` and the exchange.
 *
 * @param first   its bytes are taken
 * @param is_bare the head is all
 */
void mcp__body_begin(mcp__body *body, mcp__web *web, mcp__http_exchange *exchange,
                     const mcp__http_head_out *head, mcp_buf *first, bool is_bare);

/** It will not begin. NULL is fine. */
void mcp__body_abandon(mcp__body *body);

#endif
