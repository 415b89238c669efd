/*
 * scan.h - where a text stops being JSON, and why.
 */
#ifndef MCP_JSON_SCAN_H
#define MCP_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp__json_fault {
    mcp_status status; /* MCP_E_PARSE or MCP_E_LIMIT */
    size_t offset; /* the first byte that no JSON text could have there; the length at its end */
    const char *reason; /* constant */
} mcp__json_fault;

/* True when the text is JSON that mcp_json_read takes; else *fault says what is wrong first. */
bool mcp__json_scan(const char *text, size_t length, mcp__json_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
