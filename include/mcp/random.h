/**
 * random.h - cryptographically secure random bytes.
 */
#ifndef MCP_RANDOM_H
#define MCP_RANDOM_H

#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fill `bytes` from the kernel's random generator. Any thread.
 *
 * @return MCP_OK; MCP_E_IO: the generator failed; `bytes` is untouched or partly filled and must
 *         not be used
 */
mcp_status mcp_random_bytes(void *bytes, size_t length, mcp_error *err);

/** Size of an id of mcp_random_id, with its NUL. */
#define MCP_RANDOM_ID_SIZE 33

/** Write 128 random bits as 32 lower-case hexadecimal digits. Any thread. 
 *  @return as mcp_random_bytes */
mcp_status mcp_random_id(char out[MCP_RANDOM_ID_SIZE], mcp_error *err);

#ifdef __cplusplus
}
#endif

#endif
