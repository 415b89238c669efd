/*
 * writer.h - lines to a descriptor, without ever making the loop wait for a reader.
 */
#ifndef NET_WRITER_H
#define NET_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/error.h"
#include "net/loop.h"

typedef struct mcp__writer mcp__writer;

/**
 * Ready a writer. Loop only, like all functions here.
 *
 * @param out     yours, free it with mcp__writer_free
 * @param fd      borrowed. A pipe or socket is written without blocking and is left, at the end,
 *                with the flags it came with; a file, terminal or device is written plainly
 * @param is_gone called once, from the loop or from mcp__writer_flush, when nothing can be written
 *                any more
 */
mcp_status mcp__writer_new(mcp__writer **out, mcp__loop *loop, int fd, mcp__loop_callback *is_gone,
                           void *data, mcp_error *err);

/** Queue one line; the newline is added. Takes the bytes: `line` is empty afterwards. */
mcp_status mcp__writer_put(mcp__writer *writer, mcp_buf *line, mcp_error *err);

/** Write what is queued, as far as it goes; the remainder goes when the reader has taken some. */
void mcp__writer_flush(mcp__writer *writer);

/** Bytes that wait to be written. */
size_t mcp__writer_queued(const mcp__writer *writer);

/** True while the reader takes nothing. */
bool mcp__writer_is_blocked(const mcp__writer *writer);

/** True once nothing can be written; what is put is dropped. */
bool mcp__writer_is_gone(const mcp__writer *writer);

/** The errno for which nothing can be written; 0: it can, or the reader has closed its end. */
int mcp__writer_errno(const mcp__writer *writer);

/** Free; what is queued is dropped. NULL is fine. */
void mcp__writer_free(mcp__writer *writer);

#endif
