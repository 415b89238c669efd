/*
 * tools.c - a call of a tool: its arguments to the client, the answer to the call.
 */
#include "features/tools.h"

#include <string.h>

#include "features/refusals.h"
#include "gateway/actors.h"
#include "gateway/wait.h"
#include "mcp/clock.h"
#include "model/identity.h"

/* A call must be answered before the library's time limit. */
enum { ANSWER_MS = 55000, REQUIRED_MAX = 5 };

static mcp_status run(mcp_call *call, void *data);
static mcp_status get_run(mcp_call *call, void *data);

typedef struct tool {
    const char *name;
    portarium_client_function *function;
    const char *required[REQUIRED_MAX];
    bool is_extension; /* there only where --allowed-tools names it */
} tool;

/* clang-format off */
const mcp_tool portarium_tools[] = {
    { "portarium_run_start",       run,     MCP_WRITES, 0, 0 },
    { "portarium_run_get",         get_run, MCP_READS,  0, 0 },
    { "portarium_run_cancel",      run,     MCP_WRITES, 0, 0 },
    { "portarium_work_items_list", run,     MCP_READS,  0, 0 },
    { "portarium_approval_submit", run,     MCP_WRITES, 0, 0 },
    { "portarium_agent_register",  run,     MCP_WRITES, 0, 0 },
    { "portarium_agent_heartbeat", run,     MCP_WRITES, 0, 0 },
    { "portarium_run_list",         run, MCP_READS,  0, 0 },
    { "portarium_approval_get",     run, MCP_READS,  0, 0 },
    { "portarium_approvals_list",   run, MCP_READS,  0, 0 },
    { "portarium_work_item_update", run, MCP_WRITES, 0, 0 },
    { 0 },
};

static const tool tools[] = {
    { "portarium_run_start", portarium_client_start_run, { "workspaceId", "workflowId" }, false },
    { "portarium_run_get", portarium_client_get_run, { "workspaceId", "runId" }, false },
    { "portarium_run_cancel", portarium_client_cancel_run, { "workspaceId", "runId" }, false },
    { "portarium_work_items_list", portarium_client_list_work_items, { "workspaceId" }, false },
    { "portarium_approval_submit", portarium_client_submit_approval,
      { "workspaceId", "approvalId", "decision" }, false },
    { "portarium_agent_register", portarium_client_register_agent,
      { "workspaceId", "machineId", "agentId", "displayName" }, false },
    { "portarium_agent_heartbeat", portarium_client_heartbeat,
      { "workspaceId", "machineId", "agentId" }, false },
    { "portarium_run_list", portarium_client_list_runs, { "workspaceId" }, true },
    { "portarium_approval_get", portarium_client_get_approval, { "workspaceId", "approvalId" }, true },
    { "portarium_approvals_list", portarium_client_list_approvals, { "workspaceId" }, true },
    { "portarium_work_item_update", portarium_client_update_work_item,
      { "workspaceId", "workItemId" }, true },
};
/* clang-format on */

static const tool *find(const char *name)
{
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    }
    return NULL;
}

const char *const *portarium_required(const char *name)
{
    const tool *found = find(name);
    return found ? found->required : NULL;
}

bool portarium_is_extension(const char *name)
{
    const tool *found = find(name);
    return found && found->is_extension;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static bool should_stop(void *call)
{
    return mcp_call_stop(call) != MCP_STOP_NONE;
}

/* A key of at most 255 visible characters; the operation judges the rest. */
static const char *key_of(mcp_call *call)
{
    const char *key = mcp_json_get_string(mcp_call_meta(call), "portarium/idempotencyKey");
    return key && *key ? key : NULL;
}

static mcp_status prepare(portarium_client_call *out, portarium_actor *actor, mcp_call *call,
                          const portarium_app *app)
{
    mcp_error *err = mcp_call_error(call);
    *out = (portarium_client_call){ .actor = actor,
                                    .arguments = mcp_call_arguments(call),
                                    .idempotency_key = key_of(call),
                                    .trace = portarium_trace_of(call),
                                    .deadline_mono_ms = mcp_clock_mono_ms() + ANSWER_MS,
                                    .should_stop = should_stop,
                                    .stop_data = call,
                                    .arena = mcp_call_arena(call) };
    mcp_status st = app->plane ? portarium_actor_of(actor, call, app, err) : MCP_OK;
    return st == MCP_OK ? portarium_id_new(&out->correlation_id, "", out->arena, err) : st;
}

static mcp_status run(mcp_call *call, void *data)
{
    const portarium_app *app = data;
    const tool *self = find(mcp_call_name(call));
    const char *missing = portarium_missing(call);
    portarium_client_call what;
    portarium_actor actor = { .subject = NULL };
    portarium_reply reply = { .status = 0 };
    if (missing)
        return portarium_refuse_arguments(call, app, "Missing required string parameter: %s",
                                          missing);
    mcp_status st = prepare(&what, &actor, call, app);
    if (st != MCP_OK)
        return st;
    self->function(&app->client, &what, mcp_call_result(call), &reply);
    return reply.status < 400 ? MCP_OK : portarium_answer_failure(call, &reply, &what);
}

/* ---- waiting for a change -------------------------------------------------------------------- */

static mcp_status answer(mcp_call *call, const portarium_request *request,
                         const portarium_reply *reply, void *data)
{
    (void)request;
    (void)reply;
    return run(call, data);
}

/* A call of portarium_run_get that waits. In the call's arena. */
typedef struct patient {
    portarium_waiting waiting;
    portarium_request request;
    portarium_actor actor;
} patient;

static mcp_status wait_for_change(patient *self, mcp_call *call, portarium_app *app, int seconds)
{
    portarium_client_call what;
    portarium_tx tx = { .arena = mcp_call_arena(call) };
    const mcp_json *arguments = NULL;
    mcp_status st = prepare(&what, &self->actor, call, app);
    if (st == MCP_OK)
        st = portarium_object(&tx, &arguments, mcp_call_error(call), "runId",
                              mcp_arg_string(call, "runId"), "view", "full", (char *)NULL);
    if (st != MCP_OK)
        return st;
    self->request = (portarium_request){ .actor = &self->actor,
                                         .workspace = mcp_arg_string(call, "workspaceId"),
                                         .arguments = arguments,
                                         .correlation_id = what.correlation_id,
                                         .trace = what.trace };
    self->waiting = (portarium_waiting){ .call = call,
                                         .app = app,
                                         .operation = portarium_operation_find("getRun"),
                                         .request = &self->request,
                                         .seconds = seconds,
                                         .answer = answer,
                                         .data = app };
    return portarium_wait_and_answer(&self->waiting);
}

static mcp_status get_run(mcp_call *call, void *data)
{
    portarium_app *app = data;
    int64_t wait_s = mcp_arg_int(call, "waitSeconds", 0);
    if (wait_s <= 0 || !app->plane || portarium_missing(call))
        return run(call, data);
    patient *self = mcp_arena_alloc(mcp_call_arena(call), sizeof *self);
    return self ? wait_for_change(self, call, app, (int)wait_s)
                : mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the wait");
}
