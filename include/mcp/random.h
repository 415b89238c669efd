/**
 * random.h - random bytes that nobody can foresee.
 */
#ifndef MCP_RANDOM_H
#define MCP_RANDOM_H

#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fill `bytes` from the kernel's generator. Any thread.
 *
 * @return MCP_OK; MCP_E_IO: there is no randomness, `bytes` is untouched or partly filled, use nothing
 */
mcp_status mcp_random_bytes(void *bytes, size_t length, mcp_error *err);

/** Room for an id of mcp_random_id, with its NUL. */
#define MCP_RANDOM_ID_SIZE 33

/** 128 random bits as 32 lower-case hexadecimal digits. Any thread. */
mcp_status mcp_random_id(char out[MCP_RANDOM_ID_SIZE], mcp_error *err);

#ifdef __cplusplus
}
#endif

#endif
