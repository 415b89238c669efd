/*
 * submit.h - the one path of commands from a call, of the MCP tool or of a REST route, to the
 * service and back.
 *
 * The call does not hold a thread while its commands wait for their commit: it is resumed when they
 * are durable.
 */
#ifndef UNIVERSE_SUBMIT_H
#define UNIVERSE_SUBMIT_H

#include "gateway/replies.h"

typedef struct universe_request universe_request;

/** Whether the commands are to be submitted again, at another version; then `result` is spent. */
typedef bool universe_request_again(universe_request *request, universe_result *result);

/**
 * Answer the call of a request.
 *
 * @param result where `status` is MCP_OK; its view is the function's to free
 * @return what a handler returns
 */
typedef mcp_status universe_request_done(universe_request *request, mcp_status status,
                                         universe_result *result, const mcp_error *cause);

/** A call that submits commands; in the call's arena. */
struct universe_request {
    mcp_call *call;
    const universe_app *app;
    universe_log_part part; /* these two are for the log */
    const char *type;
    universe_return how;           /* decides which thread writes the answer */
    universe_request_again *again; /* NULL: never */
    universe_request_done *done;
    universe_submission submission; /* its id, commands, count and expected version */
    int64_t began_ns;               /* universe_submit sets it */
};

/** Submit the commands of a request. @return what the call's handler returns */
mcp_status universe_submit(universe_request *request);

/** Give a command its text, written from its JSON; the arena's. */
mcp_status universe_command_write(universe_command *command, mcp_arena *arena, mcp_error *err);

#endif
