/*
 * approvals.c - casparian_approval_status, casparian_approval_list and casparian_approval_decide.
 *
 * An agent must not approve its own requests: by default approving asks the person at the client,
 * by elicitation, and a client that cannot ask gets the command for the terminal.
 */
#include "features/answer.h"
#include "features/tools.h"
#include "jobs/state/rows.h"

#include <string.h>

#include "jobs/approval.h"
#include "mcp/clock.h"

enum { LIST_LIMIT = 50, QUESTION_MAX = 4096 };

/* ---- one request ----------------------------------------------------------------------------- */

/* A call of casparian_approval_status on its way. */
typedef struct look {
    casparian_request *request;
    const char *id;
    int64_t until_ms; /* of mcp_clock_mono_ms */
} look;

static mcp_status refuse_unknown(casparian_request *request, const char *id)
{
    return casparian_refuse(request, CASPARIAN_CODE_NOT_FOUND,
                            "casparian_approval_list has the requests that are kept.",
                            "there is no approval %s", id);
}

static mcp_status look_again(casparian_request *request);

/* On the thread of the waits. */
static void resume(void *data, jobs_outcome outcome)
{
    (void)outcome;
    casparian_request_resume(data, look_again);
}

static mcp_status look_or_wait(look *self)
{
    casparian_request *request = self->request;
    casparian_store *store = request->app->store;
    mcp_error *err = mcp_call_error(request->call);
    jobs_waits *waits = casparian_store_waits(store);
    char key[CASPARIAN_KEY_SIZE];
    casparian_approval approval;
    casparian_approval_key(key, self->id);
    uint64_t mark = waits ? jobs_waits_mark(waits, key) : 0;
    mcp_status st = casparian_approval_read(&approval, store, mcp_call_arena(request->call),
                                            self->id, err);
    if (st == MCP_E_NOT_FOUND)
        return refuse_unknown(request, self->id);
    if (st != MCP_OK)
        return st;
    int64_t left_ms = self->until_ms - mcp_clock_mono_ms();
    int64_t life_ms = approval.expires_ms - mcp_clock_wall_ms();
    if (strcmp(approval.status, "pending") == 0 && waits && left_ms > 0 &&
        mcp_call_stop(request->call) == MCP_STOP_NONE) {
        /* It wakes for the expiry, too, of which nobody tells. */
        int64_t wait_ms = life_ms < left_ms ? (life_ms > 0 ? life_ms : 0) + 1 : left_ms;
        st = jobs_wait(waits, key, mark, mcp_clock_mono_ms() + wait_ms, resume, request, err);
        return st == MCP_OK ? MCP_E_DEFERRED : st;
    }
    casparian_approval_write(casparian_request_result(request), &approval);
    return MCP_OK;
}

static mcp_status look_again(casparian_request *request)
{
    return look_or_wait(request->state);
}

/* The argument approval_id; NULL: the call was refused. */
static const char *read_id(casparian_request *request)
{
    const char *id = mcp_arg_string(request->call, "approval_id");
    if (id && casparian_approval_id_is_valid(id))
        return id;
    casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                     "/approval_id: an approval id is a UUID, as it was returned");
    return NULL;
}

mcp_status casparian_approval_status_tool(casparian_request *request)
{
    look *self = mcp_arena_alloc(mcp_call_arena(request->call), sizeof *self);
    if (!self)
        return MCP_E_NOMEM;
    *self = (look){ .request = request,
                    .id = read_id(request),
                    .until_ms = mcp_clock_mono_ms() + mcp_arg_int(request->call, "wait_ms", 0) };
    request->state = self;
    return self->id ? look_or_wait(self) : MCP_OK;
}

/* ---- a list ---------------------------------------------------------------------------------- */

mcp_status casparian_approval_list_tool(casparian_request *request)
{
    const char *status = mcp_arg_string(request->call, "status");
    const casparian_approval *all = NULL;
    size_t count = 0, written = 0;
    mcp_status st = casparian_approval_list(
        &all, &count, request->app->store, mcp_call_arena(request->call),
        status ? status : "pending", (size_t)mcp_arg_int(request->call, "limit", LIST_LIMIT),
        mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_array(json, "approvals");
    for (; written < count && casparian_request_room(request) > 0; written++)
        casparian_approval_write_item(json, &all[written]);
    mcp_write_end(json);
    casparian_write_truncation(json, count - written);
    request->rows = (int64_t)written;
    return MCP_OK;
}

/* ---- a decision ------------------------------------------------------------------------------ */

/* Opens the folder of a promoted file beneath the allowed roots, as they are now. */
static mcp_status open_folder(int *fd, const char *path, void *data, mcp_error *err)
{
    casparian_request *request = data;
    return guard_open_dir(fd, NULL, request->app->roots, path, mcp_call_arena(request->call), err);
}

static mcp_status decide(casparian_request *request, const casparian_decision *decision)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    casparian_approval approval = { 0 };
    casparian_decided how = CASPARIAN_DECIDED_ABSENT;
    mcp_status st = casparian_approval_decide(&how, &approval, request->app->store, arena, decision,
                                              mcp_call_error(request->call));
    if (st == MCP_E_LIMIT)
        return casparian_refuse(request, CASPARIAN_CODE_QUEUE_FULL, "Wait until a job has ended.",
                                "the queue of jobs is full; the request is still pending");
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_string(json, "approval_id", decision->id);
    mcp_write_member_string(json, "decision", decision->approves ? "approve" : "reject");
    mcp_write_member_string(json, "status", casparian_decided_text(how));
    if (how == CASPARIAN_DECIDED_ABSENT)
        return MCP_OK;
    if (approval.job)
        mcp_write_member_string(json, "job_id",
                                mcp_arena_printf(arena, "%lld", (long long)approval.job));
    if (approval.result)
        mcp_write_member_value(json, "result", approval.result);
    if (mcp_json_get_string(approval.result, "error"))
        mcp_write_member_string(json, "error", mcp_json_get_string(approval.result, "error"));
    return MCP_OK;
}

/* What the person is asked. NULL: no memory. */
static const char *question_of(casparian_request *request, const casparian_approval *approval)
{
    const char *description = mcp_json_get_string(approval->summary, "description");
    const char *reason = mcp_json_get_string(approval->details, "reason");
    return mcp_arena_printf(mcp_call_arena(request->call), "%.*s%s%.500s\n\nApproval %s",
                            QUESTION_MAX, description ? description : approval->operation,
                            reason ? "\n\nReason given: " : "", reason ? reason : "", approval->id);
}

/* Ask the person at the client, and do what he answers. */
static mcp_status ask_person(casparian_request *request, const char *id)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"approve\":{\"type\":\"boolean\","
        "\"title\":\"Approve\",\"description\":\"Do exactly this, once\"}},"
        "\"required\":[\"approve\"]}";
    mcp_call *call = request->call;
    casparian_approval approval;
    bool approves = false;
    mcp_status st = casparian_approval_read(&approval, request->app->store, mcp_call_arena(call),
                                            id, mcp_call_error(call));
    if (st == MCP_E_NOT_FOUND || (st == MCP_OK && strcmp(approval.status, "pending") != 0))
        return decide(request, &(casparian_decision){ .id = id,
                                                      .approves = true,
                                                      .by = casparian_request_by(request, "tool"),
                                                      .open_folder = open_folder,
                                                      .data = request });
    if (st != MCP_OK)
        return st;
    if (!mcp_call_client_can(call, MCP_CLIENT_ELICITATION))
        return casparian_refuse(
            request, CASPARIAN_CODE_APPROVAL_REQUIRED,
            mcp_arena_printf(mcp_call_arena(call),
                             "Run in a terminal: casparian approvals approve %s", id),
            "a person must approve this, and this client cannot ask one");
    const char *question = question_of(request, &approval);
    if (!question)
        return MCP_E_NOMEM;
    const mcp_json *reply = mcp_call_elicit_form(call, "approve", question, schema);
    if (!reply)
        return mcp_call_input_required(call);
    mcp_json_bool(mcp_json_pointer(reply, "/content/approve"), &approves);
    const char *action = mcp_json_get_string(reply, "action");
    if (action && strcmp(action, "accept") == 0 && approves)
        return decide(request,
                      &(casparian_decision){ .id = id,
                                             .approves = true,
                                             .by = casparian_request_by(request, "elicitation"),
                                             .snapshot_sha256 = approval.snapshot_sha256,
                                             .open_folder = open_folder,
                                             .data = request });
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_string(json, "approval_id", id);
    mcp_write_member_string(json, "decision", "approve");
    mcp_write_member_string(json, "status", "pending");
    mcp_write_member_string(json, "error",
                            "The person has not approved it; the request is still pending.");
    return MCP_OK;
}

mcp_status casparian_approval_decide_tool(casparian_request *request)
{
    const char *id = read_id(request);
    const char *word = mcp_arg_string(request->call, "decision");
    if (!id)
        return MCP_OK;
    bool approves = word && strcmp(word, "approve") == 0;
    if (approves && request->app->config->decide != CASPARIAN_DECIDE_ALLOW)
        return ask_person(request, id);
    return decide(request, &(casparian_decision){ .id = id,
                                                  .approves = approves,
                                                  .by = casparian_request_by(request, "tool"),
                                                  .reason = mcp_arg_string(request->call, "reason"),
                                                  .open_folder = open_folder,
                                                  .data = request });
}
