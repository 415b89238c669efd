/*
 * header_fields.h - media types of a request, and the header fields of an answer.
 */
#ifndef MCP_TRANSPORT_HTTP_HEADER_FIELDS_H
#define MCP_TRANSPORT_HTTP_HEADER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "net/http.h"

/** The media types that a client accepts. */
typedef struct mcp__accepted {
    bool json;
    bool events;
} mcp__accepted;

/**
 * Read one value of an Accept field (RFC 9110, 12.5.1) and add what it allows. Ranges with
 * wildcards count, those with q=0 do not.
 */
void mcp__field_accept(mcp__accepted *accepted, const char *value);

/** Whether a Content-Type is that media type, whatever its parameters. NULL: it is absent. */
bool mcp__field_is_type(const char *value, const char *type);

/** Whether a Content-Type is JSON: application/json, or a type with the suffix +json. NULL: it is
 *  absent. */
bool mcp__field_is_json(const char *value);

/** Header fields that a route's handler may set. */
#define MCP__REST_FIELDS_MAX 16

#define MCP__HEAD_FIELDS (10 + MCP__REST_FIELDS_MAX)

/** Fields of an answer; the texts are borrowed. */
typedef struct mcp__head {
    mcp__http_field_out fields[MCP__HEAD_FIELDS];
    size_t count;
} mcp__head;

/** Add a field; not where `value` is NULL. */
void mcp__head_add(mcp__head *head, const char *name, const char *value);

/** Add the fields of a stream of events. */
void mcp__head_events(mcp__head *head);

mcp__http_head_out mcp__head_out(const mcp__head *head, int status);

#endif
