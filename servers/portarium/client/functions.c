/*
 * functions.c - from a tool's arguments to an operation, and from its answer to the tool's result.
 */
#include "client/functions.h"

#include <string.h>

#include "model/mapping.h"

enum {
    HEARTBEAT_INTERVAL_S = 30,
    EXPIRES_AFTER_S = 300,
    STATUSES_MAX = 2,
    PAGE = 20,
    ITEMS_MAX = 200
};

const char portarium_client_failed[] = "The control plane could not complete the request.";

/* ---- asking ---------------------------------------------------------------------------------- */

static const char *text_of(const portarium_client_call *call, const char *name)
{
    return mcp_json_get_string(call->arguments, name);
}

static const mcp_json *fail(portarium_reply *reply, int status, const char *detail)
{
    *reply = (portarium_reply){ .status = status, .detail = detail };
    return NULL;
}

/* The answer of an operation; NULL, with a reply of 400 or above. @param body NULL: none */
static const mcp_json *ask(const portarium_client *self, const portarium_client_call *call,
                           const char *name, const mcp_json *arguments, const mcp_json *body,
                           portarium_reply *reply)
{
    const mcp_json *answer = NULL;
    const portarium_operation *operation = portarium_operation_find(name);
    const portarium_request request = { .actor = call->actor,
                                        .workspace = text_of(call, "workspaceId"),
                                        .arguments = arguments,
                                        .body = body,
                                        .idempotency_key = call->idempotency_key,
                                        .correlation_id = call->correlation_id,
                                        .trace = call->trace };
    if (!operation)
        return fail(reply, 501, mcp_arena_printf(call->arena, "%s is not served.", name));
    self->send(self->data, operation, &request, call, reply);
    if (reply->status >= 400)
        return NULL;
    const char *text = reply->text ? reply->text : "";
    if (mcp_json_read(&answer, call->arena, text, reply->length, NULL) != MCP_OK ||
        !mcp_json_is_object(answer))
        return fail(reply, 502, portarium_client_failed);
    return answer;
}

/* Texts by name as an object; NULL: no memory. Pairs, ended by NULL. */
#define OBJECT(call, out, ...)                                                                     \
    (portarium_object(&(portarium_tx){ .arena = (call)->arena }, out, NULL, __VA_ARGS__,           \
                      (char *)NULL) == MCP_OK)

static void no_memory(portarium_reply *reply)
{
    fail(reply, 503, portarium_client_failed);
}

static const mcp_json *end_body(const portarium_client_call *call, portarium_draft *draft)
{
    const mcp_json *body = NULL;
    portarium_tx tx = { .arena = call->arena };
    return portarium_draft_read(draft, &tx, &body, NULL) == MCP_OK ? body : NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

static void write_members(mcp_json_writer *out, const mcp_json *object)
{
    for (size_t i = 0; i < mcp_json_count(object); i++) {
        mcp_write_name(out, mcp_json_name(object, i, NULL));
        mcp_write_value(out, mcp_json_item(object, i));
    }
}

/* The members of these names, as far as the object has them. */
static void write_some(mcp_json_writer *out, const mcp_json *object, const char *const *names)
{
    for (; *names; names++) {
        if (mcp_json_get(object, *names))
            mcp_write_member_value(out, *names, mcp_json_get(object, *names));
    }
}

/* Ask for a list: its filters, and the page that the caller wants. @param filter a pair of name and
 * value; a NULL value: none */
static void list(const portarium_client *self, const portarium_client_call *call, const char *name,
                 const char *const filter[2], mcp_json_writer *result, portarium_reply *reply)
{
    int64_t limit = PAGE;
    const mcp_json *arguments = NULL;
    mcp_json_int(mcp_json_get(call->arguments, "limit"), &limit);
    if (!OBJECT(call, &arguments, "limit", mcp_arena_printf(call->arena, "%d", (int)limit),
                "cursor", text_of(call, "cursor"), "status", text_of(call, "status"), filter[0],
                filter[1])) {
        no_memory(reply);
        return;
    }
    const mcp_json *page = ask(self, call, name, arguments, NULL, reply);
    if (page)
        write_members(result, page);
}

/* ---- runs ------------------------------------------------------------------------------------ */

void portarium_client_list_runs(const portarium_client *self, const portarium_client_call *call,
                                mcp_json_writer *result, portarium_reply *reply)
{
    const char *const filter[] = { "workflowId", text_of(call, "workflowId") };
    list(self, call, "listRuns", filter, result, reply);
}

void portarium_client_start_run(const portarium_client *self, const portarium_client_call *call,
                                mcp_json_writer *result, portarium_reply *reply)
{
    portarium_draft draft;
    const mcp_json *arguments = NULL, *input = mcp_json_get(call->arguments, "input");
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "workflowId", text_of(call, "workflowId"));
    if (input)
        mcp_write_member_value(&draft.json, "parameters", input);
    const mcp_json *body = end_body(call, &draft);
    if (!body || !OBJECT(call, &arguments, "workspaceId", NULL)) {
        no_memory(reply);
        return;
    }
    const mcp_json *run = ask(self, call, "startRun", arguments, body, reply);
    if (run)
        write_members(result, run);
}

void portarium_client_get_run(const portarium_client *self, const portarium_client_call *call,
                              mcp_json_writer *result, portarium_reply *reply)
{
    int64_t wait_s = 0;
    const mcp_json *arguments = NULL;
    const char *wait = NULL;
    if (mcp_json_int(mcp_json_get(call->arguments, "waitSeconds"), &wait_s) && wait_s > 0)
        wait = mcp_arena_printf(call->arena, "%d", (int)wait_s);
    if (!OBJECT(call, &arguments, "runId", text_of(call, "runId"), "view", "full", "wait", wait)) {
        no_memory(reply);
        return;
    }
    const mcp_json *run = ask(self, call, "getRun", arguments, NULL, reply);
    if (run)
        write_members(result, run);
}

void portarium_client_cancel_run(const portarium_client *self, const portarium_client_call *call,
                                 mcp_json_writer *result, portarium_reply *reply)
{
    const mcp_json *arguments = NULL, *body = NULL;
    if (!OBJECT(call, &arguments, "runId", text_of(call, "runId")) ||
        !OBJECT(call, &body, "rationale", text_of(call, "reason"))) {
        no_memory(reply);
        return;
    }
    const mcp_json *run = ask(self, call, "cancelRun", arguments, body, reply);
    if (run)
        write_members(result, run);
}

/* ---- work items ------------------------------------------------------------------------------ */

/* With the tool's word for its status. */
static void write_item(mcp_json_writer *out, const mcp_json *item)
{
    portarium_work_item_status status = PORTARIUM_WORK_ITEM_OPEN;
    const char *text = mcp_json_get_string(item, "status");
    write_members(out, item);
    if (text && portarium_work_item_status_read(&status, text))
        mcp_write_member_string(out, "mcpStatus", portarium_work_item_word(status));
}

/* Pages of items, each the newest first, as one. */
typedef struct pages {
    const mcp_json *pages[STATUSES_MAX];
    size_t at[STATUSES_MAX];
    size_t count;
} pages;

/* Whether the item comes before the other one: it is newer, or of the same time with the greater
 * id. */
static bool is_before(const mcp_json *item, const mcp_json *other)
{
    const char *const members[] = { "createdAtIso", "workItemId" };
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof members / sizeof members[0]; i++) {
        const char *a = mcp_json_get_string(item, members[i]);
        const char *b = mcp_json_get_string(other, members[i]);
        order = strcmp(a ? a : "", b ? b : "");
    }
    return order > 0;
}

/* The next item; NULL when there is none, or one page has ended and has another behind it. */
static const mcp_json *next_item(pages *self)
{
    const mcp_json *first = NULL;
    size_t from = 0;
    for (size_t i = 0; i < self->count; i++) {
        const mcp_json *item = mcp_json_item(mcp_json_get(self->pages[i], "items"), self->at[i]);
        if (!item && mcp_json_get(self->pages[i], "nextCursor"))
            return NULL;
        if (item && (!first || is_before(item, first))) {
            first = item;
            from = i;
        }
    }
    if (first)
        self->at[from]++;
    return first;
}

static bool has_more(const pages *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (mcp_json_get(self->pages[i], "nextCursor") ||
            self->at[i] < mcp_json_count(mcp_json_get(self->pages[i], "items")))
            return true;
    }
    return false;
}

/* An id is a cursor, too. */
static void write_items(mcp_json_writer *out, pages *all)
{
    const mcp_json *last = NULL, *item = next_item(all);
    mcp_write_member_array(out, "items");
    for (size_t i = 0; item; item = ++i < ITEMS_MAX ? next_item(all) : NULL) {
        mcp_write_object(out);
        write_item(out, item);
        mcp_write_end(out);
        last = item;
    }
    mcp_write_end(out);
    const char *own = all->count == 1 ? mcp_json_get_string(all->pages[0], "nextCursor") : NULL;
    if (last && has_more(all))
        mcp_write_member_string(out, "nextCursor",
                                own ? own : mcp_json_get_string(last, "workItemId"));
}

static const mcp_json *ask_items(const portarium_client *self, const portarium_client_call *call,
                                 const char *status, portarium_reply *reply)
{
    const mcp_json *arguments = NULL;
    if (!OBJECT(call, &arguments, "limit", "200", "runId", text_of(call, "runId"), "status",
                status))
        return fail(reply, 503, portarium_client_failed);
    return ask(self, call, "listWorkItems", arguments, NULL, reply);
}

/* A word of the tool stands for one status of the domain, or for two: then there are two lists. */
void portarium_client_list_work_items(const portarium_client *self,
                                      const portarium_client_call *call, mcp_json_writer *result,
                                      portarium_reply *reply)
{
    unsigned wanted = 0;
    pages all = { .count = 0 };
    const char *word = text_of(call, "status");
    if (word && !portarium_work_items_of(&wanted, word, true)) {
        fail(reply, 422, "status: no status of work items");
        return;
    }
    for (int i = 0; word && i < PORTARIUM_COUNT(PORTARIUM_WORK_ITEM_STATUS_MAP); i++) {
        if (!(wanted & (1u << i)) || all.count == STATUSES_MAX)
            continue;
        const char *text = portarium_work_item_status_text((portarium_work_item_status)i);
        all.pages[all.count] = ask_items(self, call, text, reply);
        if (!all.pages[all.count++])
            return;
    }
    if (!word)
        all.pages[all.count++] = ask_items(self, call, NULL, reply);
    if (all.count > 0 && all.pages[all.count - 1])
        write_items(result, &all);
}

void portarium_client_update_work_item(const portarium_client *self,
                                       const portarium_client_call *call, mcp_json_writer *result,
                                       portarium_reply *reply)
{
    static const char *const given[] = { "title", "ownerUserId", "status", NULL };
    const char *due = text_of(call, "dueAtIso");
    const mcp_json *arguments = NULL;
    portarium_draft draft;
    portarium_draft_object(&draft);
    write_some(&draft.json, call->arguments, given);
    if (due) {
        mcp_write_member_object(&draft.json, "sla");
        mcp_write_member_string(&draft.json, "dueAtIso", due);
        mcp_write_end(&draft.json);
    }
    const mcp_json *body = end_body(call, &draft);
    if (!body || !OBJECT(call, &arguments, "workItemId", text_of(call, "workItemId"))) {
        no_memory(reply);
        return;
    }
    const mcp_json *item = ask(self, call, "updateWorkItem", arguments, body, reply);
    if (item)
        write_item(result, item);
}

/* ---- approvals ------------------------------------------------------------------------------- */

void portarium_client_get_approval(const portarium_client *self, const portarium_client_call *call,
                                   mcp_json_writer *result, portarium_reply *reply)
{
    const mcp_json *arguments = NULL;
    if (!OBJECT(call, &arguments, "approvalId", text_of(call, "approvalId"))) {
        no_memory(reply);
        return;
    }
    const mcp_json *approval = ask(self, call, "getApproval", arguments, NULL, reply);
    if (approval)
        write_members(result, approval);
}

void portarium_client_list_approvals(const portarium_client *self,
                                     const portarium_client_call *call, mcp_json_writer *result,
                                     portarium_reply *reply)
{
    const char *const filter[] = { "runId", text_of(call, "runId") };
    list(self, call, "listApprovals", filter, result, reply);
}

void portarium_client_submit_approval(const portarium_client *self,
                                      const portarium_client_call *call, mcp_json_writer *result,
                                      portarium_reply *reply)
{
    static const char *const names[] = { "approvalId", "runId", "status", "decidedAtIso", NULL };
    const char *decision = text_of(call, "decision"), *comment = text_of(call, "comment");
    const mcp_json *arguments = NULL, *body = NULL;
    if (!comment || !*comment)
        comment = mcp_arena_printf(call->arena, "%s via portarium_approval_submit", decision);
    if (!comment || !OBJECT(call, &arguments, "approvalId", text_of(call, "approvalId")) ||
        !OBJECT(call, &body, "decision", decision, "rationale", comment)) {
        no_memory(reply);
        return;
    }
    const mcp_json *approval = ask(self, call, "decideApproval", arguments, body, reply);
    if (approval)
        write_some(result, approval, names);
}

/* ---- agents ---------------------------------------------------------------------------------- */

static void write_capabilities(mcp_json_writer *out, const mcp_json *words, mcp_arena *arena)
{
    mcp_write_member_array(out, "capabilities");
    for (size_t i = 0; i < mcp_json_count(words); i++) {
        const char *word = mcp_json_string(mcp_json_item(words, i), NULL);
        const char *capability = portarium_capability_of(word ? word : "", arena);
        mcp_write_string(out, capability ? capability : "");
    }
    mcp_write_end(out);
}

void portarium_client_register_agent(const portarium_client *self,
                                     const portarium_client_call *call, mcp_json_writer *result,
                                     portarium_reply *reply)
{
    static const char *const given[] = { "agentId", "machineId", "displayName", NULL };
    const mcp_json *arguments = NULL, *words = mcp_json_get(call->arguments, "capabilities");
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    write_some(&draft.json, call->arguments, given);
    if (words)
        write_capabilities(&draft.json, words, call->arena);
    const mcp_json *body = end_body(call, &draft);
    if (!body || !OBJECT(call, &arguments, "agentId", NULL)) {
        no_memory(reply);
        return;
    }
    const mcp_json *agent = ask(self, call, "createAgent", arguments, body, reply);
    if (!agent)
        return;
    write_members(result, agent);
    if (!mcp_json_get(agent, "heartbeatIntervalSeconds"))
        mcp_write_member_int(result, "heartbeatIntervalSeconds", HEARTBEAT_INTERVAL_S);
    if (!mcp_json_get(agent, "expiresAfterSeconds"))
        mcp_write_member_int(result, "expiresAfterSeconds", EXPIRES_AFTER_S);
}

void portarium_client_heartbeat(const portarium_client *self, const portarium_client_call *call,
                                mcp_json_writer *result, portarium_reply *reply)
{
    static const char *const names[] = { "lastHeartbeatAtIso", "expiresAtIso", NULL };
    const char *agent = text_of(call, "agentId"), *machine = text_of(call, "machineId");
    const mcp_json *arguments = NULL, *body = NULL;
    portarium_heartbeat status = PORTARIUM_HEARTBEAT_OK;
    if (!portarium_heartbeat_of(&status, text_of(call, "status"), true)) {
        fail(reply, 422, "status: no status of heartbeats");
        return;
    }
    if (!OBJECT(call, &arguments, "agentId", agent) ||
        !OBJECT(call, &body, "status", portarium_heartbeat_text(status), "machineId", machine)) {
        no_memory(reply);
        return;
    }
    const mcp_json *beat = ask(self, call, "agentHeartbeat", arguments, body, reply);
    if (!beat)
        return;
    mcp_write_member_string(result, "agentId", agent);
    mcp_write_member_string(result, "machineId", machine);
    mcp_write_member_string(result, "status", portarium_heartbeat_word(status));
    write_some(result, beat, names);
}

/* ---- the plane of this process --------------------------------------------------------------- */

static void send_here(void *data, const portarium_operation *operation,
                      const portarium_request *request, const portarium_client_call *call,
                      portarium_reply *reply)
{
    portarium_plane_run(data, operation, request, call->arena, reply);
}

portarium_client portarium_client_here(portarium_plane *plane)
{
    return (portarium_client){ .send = send_here, .data = plane };
}
