/*
 * field.h - what stands in the header fields that MCP looks at.
 */
#ifndef MCP_TRANSPORT_WEB_FIELD_H
#define MCP_TRANSPORT_WEB_FIELD_H

#include <stdbool.h>
#include <stddef.h>

/** What a client says that it can read. */
typedef struct mcp__accepted {
    bool json;
    bool events;
} mcp__accepted;

/**
 * Read one value of an Accept field (RFC 9110, 12.5.1) and add what it allows. Ranges with wildcards
 * count, those with q=0 do not.
 */
void mcp__field_accept(mcp__accepted *accepted, const char *value);

/** Whether a Content-Type is that media type, whatever its parameters. */
bool mcp__field_is_type(const char *value, const char *type);

/** Whether a Host field names one of `hosts` (ends with NULL; may be NULL) or this machine. */
bool mcp__field_host_is_known(const char *value, const char *const *hosts);

/** Whether an Origin field is http or https of such a host. */
bool mcp__field_origin_is_known(const char *value, const char *const *hosts);

#endif
