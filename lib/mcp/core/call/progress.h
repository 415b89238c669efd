/*
 * progress.h - reports on the way from a handler to its client.
 */
#ifndef MCP_CORE_PROGRESS_H
#define MCP_CORE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/call.h"
#include "net/queue.h"

/** A call's reports: written by its worker, sent by the loop. */
typedef struct mcp__progress {
    const mcp_json *token; /* NULL: the client wants none */

    /* the worker's */
    double last;
    bool has_last;

    pthread_mutex_t lock; /* guards the reports under way */
    struct mcp__report *first;
    struct mcp__report *newest;
    size_t count;
    bool is_posted; /* `node` is on its way to the loop */
    char *said;     /* of a task: the message of the last report, MCP__TASK_MESSAGE_SIZE; NULL: of none */
    int64_t said_wall_ms;
    mcp__node node;

    /* the loop's */
    int64_t sent_ms; /* when the last one left; 0: none yet */
} mcp__progress;

/** Ready `progress` for a call whose request carried `token`, or NULL. */
void mcp__progress_init(mcp__progress *progress, const mcp_json *token);

/** Drop what was not sent. */
void mcp__progress_clear(mcp__progress *progress);

/**
 * Loop only. Send what is due.
 *
 * @return when to call again, or INT64_MAX when nothing waits for time (a slow peer is asked again
 *         when it has taken something)
 */
int64_t mcp__progress_deliver(mcp_call *call, int64_t now_ms);

/** Loop only. Send the newest report whatever the clock says: the answer follows at once. */
void mcp__progress_finish(mcp_call *call);

#endif
