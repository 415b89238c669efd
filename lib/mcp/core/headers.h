/*
 * headers.h - what HTTP's headers say of a message, and whether that agrees with its body.
 *
 * From 2026-07-28 a request over HTTP says a few things twice, so that proxies can route it without
 * reading its body; the server has to check that both say the same.
 */
#ifndef MCP_CORE_HEADERS_H
#define MCP_CORE_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

typedef struct mcp__headers mcp__headers;

/** The headers of one message. A transport fills it in. */
struct mcp__headers {
    /**
     * The first value of a field without white space around it, NULL when it is absent. Names are
     * found in any case.
     *
     * @param count how often the field comes
     */
    const char *(*field)(const mcp__headers *self, const char *name, size_t *count);
    /** All values of a field as one list, "a, b" (RFC 9110, section 5.3), in `arena`; NULL when it
     *  is absent, or memory is out. NULL: fields that are lists are not read. */
    const char *(*list)(const mcp__headers *self, const char *name, mcp_arena *arena);
};

/**
 * Whether a field says what the body says. All of these return MCP_OK or MCP_E_HEADERS.
 *
 * @param is_required absent is a fault too
 */
mcp_status mcp__headers_check(const mcp__headers *headers, const char *field, const char *wanted,
                              bool is_required, mcp_error *err);

/** As mcp__headers_check, always required, for a field whose value may be base64 between
 *  markers. */
mcp_status mcp__headers_check_name(const mcp__headers *headers, const char *field,
                                   const mcp_json *wanted, mcp_arena *arena, mcp_error *err);

/**
 * Whether Mcp-Param-<name> says what an argument says; an argument that is absent or null wants
 * none.
 *
 * @param wanted a string, an integer or a boolean
 */
mcp_status mcp__headers_check_parameter(const mcp__headers *headers, const char *name,
                                        const mcp_json *wanted, mcp_arena *arena, mcp_error *err);

#endif
