/**
 * buf.h - a growing run of bytes that cannot grow without bound.
 *
 * Appending never aborts: the first failure sticks in `status`, later appends do nothing, and the
 * writer looks once at the end. The bytes are always followed by a NUL that is not counted.
 */
#ifndef MCP_BUF_H
#define MCP_BUF_H

#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_buf {
    char *data;    /* NULL until the first byte */
    size_t length; /* bytes held, without the NUL */
    size_t capacity;
    size_t max_bytes;  /* `length` never passes this */
    mcp_status status; /* MCP_OK, MCP_E_LIMIT or MCP_E_NOMEM; sticks */
} mcp_buf;

/** Make `buf` empty and bounded. `max_bytes` must not be 0. */
void mcp_buf_init(mcp_buf *buf, size_t max_bytes);

/** Free the bytes and make `buf` as after mcp_buf_init with the same bound. */
void mcp_buf_clear(mcp_buf *buf);

/** Forget the bytes and the status but keep the memory. */
void mcp_buf_reset(mcp_buf *buf);

/** Append bytes. */
mcp_status mcp_buf_append(mcp_buf *buf, const void *bytes, size_t length);

/** Append a C string. */
mcp_status mcp_buf_puts(mcp_buf *buf, const char *text);

/** Append one byte. */
mcp_status mcp_buf_putc(mcp_buf *buf, char byte);

/** Append as printf does. */
mcp_status mcp_buf_printf(mcp_buf *buf, const char *format, ...) MCP_PRINTF(2, 3);

/**
 * Make room for `length` more bytes and say where they go; then mcp_buf_commit what was written.
 *
 * @return the room, or NULL (see `status`)
 */
char *mcp_buf_reserve(mcp_buf *buf, size_t length);

/** Count `length` bytes written into the room that mcp_buf_reserve gave. */
void mcp_buf_commit(mcp_buf *buf, size_t length);

/**
 * Give the bytes away: `buf` is empty afterwards.
 *
 * @return yours, release with free(); NULL when `buf` holds nothing
 */
char *mcp_buf_take(mcp_buf *buf, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
