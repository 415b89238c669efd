/*
 * lines.h - lines from a descriptor, taken one by one, and lines to one, without ever making the
 * loop wait for a reader. Loop only.
 *
 * Descriptors are borrowed. A pipe or socket is left, at the end, with the flags it came with.
 */
#ifndef NET_LINES_H
#define NET_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/error.h"
#include "net/loop.h"

/* ---- from a descriptor ----------------------------------------------------------------------- */

typedef struct mcp__lines mcp__lines;

typedef enum mcp__line {
    MCP__LINE_NONE,     /* nothing more for now: the callback follows */
    MCP__LINE_TEXT,     /* a line, not empty, without its "\n" or "\r\n" */
    MCP__LINE_OVERLONG, /* a line that was too long; only its ends are known */
    MCP__LINE_END       /* the descriptor has ended or cannot be read; stays so */
} mcp__line;

/**
 * Start reading: what one read brings, once all lines of the one before are taken. When no line is
 * taken, nothing is read; the pipe fills, and its writer waits.
 *
 * @param out         yours, free it with mcp__lines_free
 * @param fd          pipe, socket, file, terminal or device
 * @param line_max    the longest line that is taken, in bytes
 * @param has_input   called when mcp__lines_next may have something again
 */
mcp_status mcp__lines_new(mcp__lines **out, mcp__loop *loop, int fd, size_t line_max,
                          mcp__loop_callback *has_input, void *data, mcp_error *err);

/** The next line. `*text` is the reader's and good until the next call. */
mcp__line mcp__lines_next(mcp__lines *lines, const char **text, size_t *length);

/** How much is kept of either end of a line that was too long, in bytes. */
#define MCP__LINE_END_MAX ((size_t)4096)

/** The first and last bytes of a line that was too long. */
typedef struct mcp__line_ends {
    char head[MCP__LINE_END_MAX], tail[MCP__LINE_END_MAX];
    size_t head_length, tail_length;
} mcp__line_ends;

/** After MCP__LINE_OVERLONG, until the next call of mcp__lines_next. */
const mcp__line_ends *mcp__lines_ends(const mcp__lines *lines);

/** After MCP__LINE_END: the errno for which the descriptor cannot be read; 0: it has ended. */
int mcp__lines_errno(const mcp__lines *lines);

/** Stop reading and free. NULL is fine. */
void mcp__lines_free(mcp__lines *lines);

/* ---- to a descriptor ------------------------------------------------------------------------- */

typedef struct mcp__writer mcp__writer;

/**
 * Ready a writer.
 *
 * @param out     yours, free it with mcp__writer_free
 * @param fd      a pipe or socket is written without blocking; a file, terminal or device plainly
 * @param is_gone called once, from the loop or from mcp__writer_flush, when nothing can be written
 *                any more
 */
mcp_status mcp__writer_new(mcp__writer **out, mcp__loop *loop, int fd, mcp__loop_callback *is_gone,
                           void *data, mcp_error *err);

/** Queue one line of JSON; the newline is added, and line ends within it, which are white space
 *  between tokens, become spaces. Takes the bytes: `line` is empty afterwards. */
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
