/*
 * buf.c - a byte buffer that knows how large it may grow.
 *
 * Capacity doubles, so appending costs amortised constant time, but never passes max_bytes plus
 * the NUL that always follows the bytes. A failed append changes nothing but `status`, which
 * sticks: what was there before stays whole, and nothing is appended after a gap.
 */
#include "mcp/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_CAPACITY ((size_t)128)
#define LARGEST ((size_t)PTRDIFF_MAX) /* no object is larger */

void mcp_buf_init(mcp_buf *buf, size_t max_bytes)
{
    assert(max_bytes > 0);
    *buf = (mcp_buf){ .max_bytes = max_bytes };
}

void mcp_buf_clear(mcp_buf *buf)
{
    free(buf->data);
    *buf = (mcp_buf){ .max_bytes = buf->max_bytes };
}

void mcp_buf_reset(mcp_buf *buf)
{
    buf->length = 0;
    buf->status = MCP_OK;
    if (buf->data)
        buf->data[0] = '\0';
}

/* The next capacity that holds `needed` bytes: doubled, but not far beyond what the bound
 * allows. */
static size_t next_capacity(const mcp_buf *buf, size_t needed)
{
    size_t most = buf->max_bytes < LARGEST ? buf->max_bytes + 1 : LARGEST;
    size_t next = buf->capacity < most / 2 ? buf->capacity * 2 : most;

    if (next < FIRST_CAPACITY)
        next = FIRST_CAPACITY;
    if (next > most)
        next = most;
    return next < needed ? needed : next;
}

/* Make the memory larger, for `length` bytes more and the NUL behind them. */
static mcp_status grow(mcp_buf *buf, size_t length)
{
    if (buf->status != MCP_OK)
        return buf->status;
    if (length > buf->max_bytes - buf->length || length >= LARGEST - buf->length)
        return buf->status = MCP_E_LIMIT;

    size_t needed = buf->length + length + 1;
    size_t capacity = next_capacity(buf, needed);
    char *larger = mcp_realloc(buf->data, capacity);
    if (!larger)
        return buf->status = MCP_E_NOMEM;
    buf->data = larger;
    buf->capacity = capacity;
    return MCP_OK;
}

mcp_status mcp_buf_append(mcp_buf *buf, const void *bytes, size_t length)
{
    char *room = mcp_buf_reserve(buf, length);

    if (!room)
        return buf->status;
    if (length > 0) {
        if (!bytes)
            return buf->status = MCP_E_PARAMS;
        memcpy(room, bytes, length);
    }
    mcp_buf_commit(buf, length);
    return MCP_OK;
}

mcp_status mcp_buf_puts(mcp_buf *buf, const char *text)
{
    return mcp_buf_append(buf, text, text ? strlen(text) : 1);
}

mcp_status mcp_buf_putc(mcp_buf *buf, char byte)
{
    return mcp_buf_append(buf, &byte, 1);
}

mcp_status mcp_buf_printf(mcp_buf *buf, const char *format, ...)
{
    va_list measured;
    va_list written;

    va_start(measured, format);
    va_copy(written, measured);
    int length = vsnprintf(NULL, 0, format, measured);
    char *room = length < 0 ? NULL : mcp_buf_reserve(buf, (size_t)length);
    if (room) {
        (void)vsnprintf(room, (size_t)length + 1, format, written);
        mcp_buf_commit(buf, (size_t)length);
    }
    va_end(written);
    va_end(measured);
    /* vsnprintf refuses only what is longer than an int can say. */
    if (length < 0 && buf->status == MCP_OK)
        buf->status = MCP_E_LIMIT;
    return buf->status;
}

char *mcp_buf_reserve(mcp_buf *buf, size_t length)
{
    /* The capacity never passes the bound, so what fits into it needs no other look. */
    bool fits = buf->status == MCP_OK && length < buf->capacity - buf->length;

    return fits || grow(buf, length) == MCP_OK ? buf->data + buf->length : NULL;
}

void mcp_buf_commit(mcp_buf *buf, size_t length)
{
    assert(buf->data && length < buf->capacity - buf->length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

char *mcp_buf_take(mcp_buf *buf, size_t *length)
{
    char *bytes = buf->length > 0 ? buf->data : NULL;

    if (length)
        *length = buf->length;
    if (bytes)
        *buf = (mcp_buf){ .max_bytes = buf->max_bytes };
    else
        mcp_buf_clear(buf);
    return bytes;
}
