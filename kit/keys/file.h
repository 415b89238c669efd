/**
 * file.h - small files with secrets, which nobody but their owner may read.
 */
#ifndef KEYS_FILE_H
#define KEYS_FILE_H

#include <stddef.h>

#include "mcp/error.h"

/**
 * Make a file of mode 0600. It appears whole, on disk, or not at all.
 *
 * @return MCP_OK; MCP_E_EXISTS: there is a file of that name, which is left as it is;
 *         MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO, MCP_E_PARAMS (too long a path): the message
 *         names the path
 */
mcp_status keys_file_create(const char *path, const void *bytes, size_t length, mcp_error *err);

/**
 * Read a whole file. Links are followed; what counts is the file they lead to.
 *
 * @param out    of `size` bytes; overwritten on a failure
 * @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_IO; MCP_E_DENIED: it cannot be read, or others than its
 *         owner can (any of the mode bits 077), or its owner is neither this process's user nor
 *         root; MCP_E_PARSE: it has more than `size` bytes or is no regular file
 */
mcp_status keys_file_read(void *out, size_t size, size_t *length, const char *path, mcp_error *err);

#endif
