/**
 * wait.h - operations whose answer may come later, when what they look at has changed. Such a call
 * occupies no thread while it waits.
 */
#ifndef PORTARIUM_GATEWAY_WAIT_H
#define PORTARIUM_GATEWAY_WAIT_H

#include "gateway/app.h"

enum { PORTARIUM_WAIT_MAX_S = 60 };

/** Answers the call with a reply. */
typedef mcp_status portarium_answer(mcp_call *call, const portarium_request *request,
                                    const portarium_reply *reply, void *data);

/** A call that waits. All of it lives as long as the call: in its arena, or longer. */
typedef struct portarium_waiting {
    mcp_call *call; /* first, see portarium_plane_waits */
    portarium_app *app;
    const portarium_operation *operation;
    const portarium_request *request;
    int seconds;       /* at most; 0: answer at once */
    const char *known; /* entity tag that the caller has: anything else is a change; NULL: none */
    portarium_answer *answer;
    void *data; /* passed to it */
    /* Its own: zero at first. */
    int64_t deadline_ms;
    const char *state;
} portarium_waiting;

/**
 * For a handler: run the operation and answer; where it says that it may wait, answer when the
 * state that it reports is another one than at first, or the time is over.
 *
 * @param self in the call's arena
 * @return what the handler returns: MCP_E_DEFERRED while it waits
 */
mcp_status portarium_wait_and_answer(portarium_waiting *self);

#endif
