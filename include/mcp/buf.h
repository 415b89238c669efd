/**
 * buf.h - a growing byte buffer with a size limit.
 *
 * Appending never aborts. The first failure is kept in `status` and later appends do nothing, so
 * the caller checks once, at the end. The bytes are always followed by a NUL that is not counted.
 */
#ifndef MCP_BUF_H
#define MCP_BUF_H

#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer. Callers may read its fields; only the functions below change them. */
typedef struct mcp_buf {
    char *data;        /* NULL until the first byte */
    size_t length;     /* bytes held, without the NUL */
    size_t capacity;   /* bytes allocated */
    size_t max_bytes;  /* limit of `length` */
    mcp_status status; /* MCP_OK, MCP_E_LIMIT, MCP_E_NOMEM, MCP_E_PARAMS (NULL); until reset */
} mcp_buf;

/** Make `buf` empty and set its limit. `max_bytes` must not be 0. */
void mcp_buf_init(mcp_buf *buf, size_t max_bytes);

/** Free the bytes. `buf` is then as after mcp_buf_init with the same limit. */
void mcp_buf_clear(mcp_buf *buf);

/** Drop the bytes and the status but keep the memory. */
void mcp_buf_reset(mcp_buf *buf);

/** Append bytes. */
mcp_status mcp_buf_append(mcp_buf *buf, const void *bytes, size_t length);

/** Append a C string. */
mcp_status mcp_buf_puts(mcp_buf *buf, const char *text);

/** Append one byte. */
mcp_status mcp_buf_putc(mcp_buf *buf, char byte);

/** Append formatted text, as printf does. */
mcp_status mcp_buf_printf(mcp_buf *buf, const char *format, ...) MCP_PRINTF(2, 3);

/**
 * Reserve space for `length` more bytes. Write there, then call mcp_buf_commit.
 *
 * @return the space, or NULL (see `status`)
 */
char *mcp_buf_reserve(mcp_buf *buf, size_t length);

/** Add to the contents `length` bytes written into the space from mcp_buf_reserve. */
void mcp_buf_commit(mcp_buf *buf, size_t length);

/**
 * Hand the bytes to the caller; `buf` is empty afterwards.
 *
 * @return yours, release with free(); NULL when `buf` holds nothing
 */
char *mcp_buf_take(mcp_buf *buf, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
