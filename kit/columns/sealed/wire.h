/*
 * wire.h - frames between a program and its sealed process, over one socket.
 *
 * A frame is a byte, its kind, the length of its body in 4 bytes, and the body. Descriptors are
 * passed with the first byte of a frame. Both ends run on one machine and are one program, so
 * numbers have the order of the machine.
 *
 *     process                                program
 *     READY, or FAILED
 *                                            FILES with at most 64 descriptors; RULES with one
 *     TAKEN, of each
 *                                            REQUEST
 *     COLUMNS, any ROWS, END; or FAILED      INTERRUPT, at any time
 */
#ifndef COLUMNS_SEALED_WIRE_H
#define COLUMNS_SEALED_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

enum wire_kind {
    WIRE_READY = 1,
    WIRE_FAILED,    /* status, message, name */
    WIRE_FILES,     /* empty */
    WIRE_RULES,     /* empty; the descriptor of Landlock rules */
    WIRE_TAKEN,     /* empty */
    WIRE_REQUEST,   /* request.h */
    WIRE_COLUMNS,   /* count, then name and type of each */
    WIRE_ROWS,      /* count, then cells */
    WIRE_END,       /* is_cut, is_volatile, is_of_catalog */
    WIRE_INTERRUPT, /* empty */
    WIRE_KINDS
};

/* Descriptors of one frame. A sender may have only so many under way at a time. */
#define WIRE_FDS_MAX 64

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Append. Failures are in out->status. */
void wire_put_uint(mcp_buf *out, uint64_t number);
void wire_put_int(mcp_buf *out, int64_t number);
void wire_put_text(mcp_buf *out, const char *text, size_t length); /* no NUL */
void wire_put_string(mcp_buf *out, const char *text);              /* with its NUL */

/* Reads a body; after the first thing that is not there, `is_bad`, and everything is 0 or "". */
struct wire_reader {
    const char *bytes;
    size_t length;
    size_t at;
    bool is_bad;
};

unsigned wire_byte(struct wire_reader *in);
uint64_t wire_uint(struct wire_reader *in);
int64_t wire_int(struct wire_reader *in);
void wire_bytes(struct wire_reader *in, void *out, size_t length);
const char *wire_text(struct wire_reader *in, size_t *length); /* borrowed */
const char *wire_string(struct wire_reader *in);               /* borrowed; it has its NUL */

/* A count of things of which each takes a byte at least. */
size_t wire_count(struct wire_reader *in, size_t max);

/* ---- frames ---------------------------------------------------------------------------------- */

/* Send a frame, waiting until `until_ms` (of mcp_clock_mono_ms).
 * MCP_E_TIMEOUT; MCP_E_STOPPED: the other end is closed; MCP_E_IO. */
mcp_status wire_send(int fd, enum wire_kind kind, const void *body, size_t length, const int *fds,
                     size_t fd_count, int64_t until_ms, mcp_error *err);

/* A frame that is being received; all zero but `body` at first (mcp_buf_init with the longest
 * body). */
struct wire_frame {
    char head[5];
    size_t head_length;
    enum wire_kind kind; /* 0 until it is complete */
    mcp_buf body;
    size_t missing; /* bytes of the body */
    int fds[WIRE_FDS_MAX];
    size_t fd_count;
};

/* Receive a frame, waiting until `until_ms`. What has arrived at a timeout is kept in `frame`.
 * MCP_OK: `kind` is set; MCP_E_TIMEOUT; MCP_E_STOPPED: the other end is closed; MCP_E_PARSE: no
 * frame; MCP_E_LIMIT: longer than the body may be; MCP_E_NOMEM; MCP_E_IO. */
mcp_status wire_receive(int fd, struct wire_frame *frame, int64_t until_ms, mcp_error *err);

/* Make it ready for the next frame. Descriptors are not closed. */
void wire_frame_reset(struct wire_frame *frame);

#endif
