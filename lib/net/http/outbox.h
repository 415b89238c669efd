/*
 * outbox.h - bytes that wait to be written to a socket.
 *
 * Small runs are gathered in pieces, so that what a turn of the loop produces leaves in few parts;
 * a large run is a piece of its own. An empty outbox owns no memory: ten thousand idle connections
 * cost nothing.
 */
#ifndef NET_HTTP_OUTBOX_H
#define NET_HTTP_OUTBOX_H

#include <stddef.h>
#include <sys/uio.h>

#include "mcp/buf.h"
#include "mcp/error.h"

typedef struct mcp__piece mcp__piece;

/** Bytes of somebody's who keeps them until `release` is called. */
typedef struct mcp__shared {
    const char *bytes;
    size_t length;
    void (*release)(void *owner);
    void *owner;
} mcp__shared;

/** Empty pieces, kept for the next outbox that needs one; shared by all outboxes of a server. */
typedef struct mcp__pieces {
    mcp__piece *spare;
    size_t count;
    size_t taken; /* bytes of memory that was taken over, by mcp__outbox_put_buf, and waits */
} mcp__pieces;

typedef struct mcp__outbox {
    mcp__piece *first, *last;
    size_t queued; /* bytes, in all pieces */
} mcp__outbox;

/** Queue a copy of the bytes. MCP_E_NOMEM: nothing was queued. */
mcp_status mcp__outbox_put(mcp__outbox *out, mcp__pieces *pieces, const void *bytes, size_t length);

/** Queue the bytes of `buf`, a large run without copying it. Takes them: `buf` is empty
 *  afterwards. */
mcp_status mcp__outbox_put_buf(mcp__outbox *out, mcp__pieces *pieces, mcp_buf *buf);

/** Queue the bytes where they are; `release` is called when they have left or cannot be queued. */
mcp_status mcp__outbox_put_shared(mcp__outbox *out, const mcp__shared *run);

/** What goes first, as parts for a write. @return how many parts were filled in */
int mcp__outbox_parts(const mcp__outbox *out, struct iovec *parts, int room);

/** The first `count` bytes are written. */
void mcp__outbox_drop(mcp__outbox *out, mcp__pieces *pieces, size_t count);

/** Drop everything. */
void mcp__outbox_clear(mcp__outbox *out, mcp__pieces *pieces);

/** Free the spare pieces. */
void mcp__pieces_clear(mcp__pieces *pieces);

#endif
