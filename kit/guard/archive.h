/**
 * archive.h - files of lines that nobody writes any more: compressed by gzip, and read whether they
 * are or not.
 */
#ifndef GUARD_ARCHIVE_H
#define GUARD_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

/** The longest line that is read, with its newline. */
#define GUARD_ARCHIVE_LINE_MAX ((size_t)64 << 10)

/**
 * Replace a file by "<path>.gz", of mode 0600, with its time of modification. The file stays until
 * that is whole.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_STORAGE, MCP_E_IO: nothing has changed;
 *         MCP_E_PARAMS: not a regular file, or too long a path; MCP_E_NOMEM
 */
mcp_status guard_archive_pack(const char *path, mcp_error *err);

typedef struct guard_archive guard_archive;

/** Open a file, compressed or not. @param out yours, close it with guard_archive_close. @return
 *  MCP_OK; MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO; MCP_E_NOMEM */
mcp_status guard_archive_open(guard_archive **out, const char *path, mcp_error *err);

/**
 * The next line without its newline.
 *
 * @param out  NULL after the last one; valid until the next call
 * @return MCP_OK; MCP_E_LIMIT: it is longer than GUARD_ARCHIVE_LINE_MAX; MCP_E_IO: the file is
 *         damaged or cannot be read
 */
mcp_status guard_archive_line(const char **out, size_t *length, guard_archive *self,
                              mcp_error *err);

/**
 * Unpack the beginning of bytes that gzip has packed.
 *
 * @param out       room for `size` bytes: no more is unpacked
 * @param is_whole  set to whether `packed` is complete and holds nothing more
 * @return how many bytes were unpacked; 0: none, or `packed` is not of gzip
 */
size_t guard_archive_head(char *out, size_t size, bool *is_whole, const char *packed,
                          size_t length);

/** NULL is fine. */
void guard_archive_close(guard_archive *self);

#endif
