/*
 * lines.h - lines from a descriptor, taken one by one.
 *
 * Reading is two batches ahead of the taking at most. When no line is taken, nothing is
 * read; the pipe fills, and its writer waits.
 */
#ifndef NET_LINES_H
#define NET_LINES_H

#include <stddef.h>

#include "mcp/error.h"
#include "net/loop.h"

typedef struct mcp__lines mcp__lines;

typedef enum mcp__line {
    MCP__LINE_NONE,     /* nothing more for now: the callback follows */
    MCP__LINE_TEXT,     /* a line, not empty, without its "\n" or "\r\n" */
    MCP__LINE_OVERLONG, /* a line that was too long and is skipped to its end; once for each */
    MCP__LINE_END       /* the descriptor has ended or cannot be read; stays so */
} mcp__line;

/**
 * Start reading.
 *
 * @param out         yours, free it with mcp__lines_free
 * @param fd          pipe, socket, file, terminal or device; borrowed
 * @param line_max    the longest line that is taken, in bytes
 * @param has_input   called on the loop when mcp__lines_next may have something again
 */
mcp_status mcp__lines_new(mcp__lines **out, mcp__loop *loop, int fd, size_t line_max,
                          mcp__loop_callback *has_input, void *data, mcp_error *err);

/** The next line. `*text` is the reader's and good until the next call. */
mcp__line mcp__lines_next(mcp__lines *lines, const char **text, size_t *length);

/** After MCP__LINE_END: the errno for which the descriptor cannot be read; 0: it has ended. */
int mcp__lines_errno(const mcp__lines *lines);

/** Stop reading and free; no thread is left behind, whatever it waits for. NULL is fine. */
void mcp__lines_free(mcp__lines *lines);

#endif
