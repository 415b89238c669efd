/*
 * format.h - what `format` means where it asserts.
 *
 * Served: date-time, date, time, duration, email, hostname, ipv4, ipv6, uri, uri-reference, uuid,
 * json-pointer, relative-json-pointer, regex. A format that is not served accepts everything.
 */
#ifndef MCP_SCHEMA_FORMAT_H
#define MCP_SCHEMA_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mcp__format {
    const char *name;
    bool (*accepts)(const char *text, size_t length);
    unsigned steps; /* what asking costs besides the length; compiling an expression is dear */
} mcp__format;

/* The format of that name; NULL when it is not served. */
const mcp__format *mcp__format_find(const char *name);

#endif
