/**
 * functions.h - the client of a control plane that the tools call: a function for each tool, and
 * two ways in which its operation reaches the plane.
 *
 * Each function turns the arguments of its tool into the request of an operation, has it sent, and
 * writes the tool's result from the answer. An operation is sent to the plane of this process
 * (portarium_client_here) or over REST to another (portarium_remote); both give the same reply.
 */
#ifndef PORTARIUM_CLIENT_FUNCTIONS_H
#define PORTARIUM_CLIENT_FUNCTIONS_H

#include "service/plane.h"

/** One call of a tool. Everything is borrowed. */
typedef struct portarium_client_call {
    const portarium_actor *actor; /* who calls; a remote plane knows it by the token instead */
    const mcp_json *arguments;    /* of the tool; they fit its schema */
    const char *idempotency_key;  /* NULL: none */
    const char *correlation_id;
    portarium_trace trace;
    int64_t deadline_mono_ms;
    bool (*should_stop)(void *stop_data); /* may be NULL */
    void *stop_data;
    mcp_error *cause; /* why a plane elsewhere gave no answer: for the user, not for tools. NULL:
                       * nobody asks */
    mcp_arena *arena;
} portarium_client_call;

/**
 * Sends an operation. Blocks. Any thread, many at once. Whatever goes wrong is a reply of 400 or
 * above; the detail of one is text that the control plane wrote, or a general one.
 */
typedef void portarium_client_send(void *data, const portarium_operation *operation,
                                   const portarium_request *request,
                                   const portarium_client_call *call, portarium_reply *reply);

typedef struct portarium_client {
    portarium_client_send *send;
    void *data;
} portarium_client;

/**
 * A function of the client: ask, and write the members of the tool's result.
 *
 * @param result inside an open object; untouched when the reply is 400 or above
 * @param reply  in the call's arena; `detail` is set from 400 on
 */
typedef void portarium_client_function(const portarium_client *self,
                                       const portarium_client_call *call, mcp_json_writer *result,
                                       portarium_reply *reply);

portarium_client_function portarium_client_start_run, portarium_client_get_run,
    portarium_client_cancel_run, portarium_client_list_work_items, portarium_client_submit_approval,
    portarium_client_register_agent, portarium_client_heartbeat;

/** Those of the extensions. */
portarium_client_function portarium_client_list_runs, portarium_client_get_approval,
    portarium_client_list_approvals, portarium_client_update_work_item;

/** The client of a plane in this process; it runs operations as the call's actor. */
portarium_client portarium_client_here(portarium_plane *plane);

/** What the reply says of an error that no control plane has explained. */
extern const char portarium_client_failed[];

#endif
