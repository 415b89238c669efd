/*
 * head.h - the header fields of an answer.
 */
#ifndef MCP_TRANSPORT_WEB_HEAD_H
#define MCP_TRANSPORT_WEB_HEAD_H

#include <stddef.h>

#include "mcp/core/call/call_int.h"
#include "net/http.h"

#define MCP__HEAD_FIELDS (8 + MCP__REST_FIELDS_MAX)

/** Fields that are put together on the stack; the texts are borrowed. */
typedef struct mcp__head {
    mcp__http_field_out fields[MCP__HEAD_FIELDS];
    size_t count;
} mcp__head;

/** Add a field; `value` NULL: not. */
void mcp__head_add(mcp__head *head, const char *name, const char *value);

/** Let a page of that origin read the answer; NULL: no page may. */
void mcp__head_share(mcp__head *head, const char *origin);

/** The same with the fields that answers of routes may have. */
void mcp__head_share_route(mcp__head *head, const char *origin);

/** The head of a stream of events. */
void mcp__head_events(mcp__head *head);

mcp__http_head_out mcp__head_out(const mcp__head *head, int status);

#endif
