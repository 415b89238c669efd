/*
 * policies.c - policies of the workspace, and the policy of what tools it shows.
 */
#include <string.h>

#include "engine/gates/judge.h"
#include "model/identity.h"
#include "policy/exposure.h"
#include "service/list.h"
#include "service/operations.h"
#include "store/journal.h"

enum { LAST_MAX = 10000 };

static mcp_status list_policies(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_policies, request, NULL, err);
}

static mcp_status get_policy(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_record policy;
    mcp_status st = portarium_record_get(&policy, tx, &portarium_policies,
                                         portarium_argument(request, "policyId"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, policy.json, err) : st;
}

/* The exposure of tools is a policy with rules of another kind, and operations of its own. */
static mcp_status check_id(const char *id, mcp_error *err)
{
    return strcmp(id, PORTARIUM_EXPOSURE_ID) == 0
               ? mcp_error_set(err, MCP_E_EXISTS, "%s is set by PUT /tool-exposure.", id)
               : MCP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* With one more than fit, nothing of the workspace could be judged. */
static mcp_status check_room(portarium_tx *tx, portarium_reply *reply, const char *id,
                             const mcp_json *json, mcp_error *err)
{
    db_rows *rows = NULL;
    bool is_active = false;
    db_value values[] = { db_text(tx->workspace), db_text(id), db_text(PORTARIUM_EXPOSURE_ID) };
    mcp_json_bool(mcp_json_get(json, "active"), &is_active);
    if (!is_active)
        return MCP_OK;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM policies WHERE workspace = $1 AND active = 1 "
                             "AND id <> $2 AND id <> $3",
                             values, 3, err);
    bool is_full = portarium_next(rows, &st, err) && db_int_at(rows, 0) >= PORTARIUM_POLICIES_MAX;
    db_rows_free(rows);
    return st == MCP_OK && is_full
               ? portarium_refuse(reply, tx, err, 409, "The workspace has %d active policies.",
                                  PORTARIUM_POLICIES_MAX)
               : st;
}

static mcp_status note(portarium_tx *tx, const char *type, const char *id, const char *what,
                       mcp_error *err)
{
    const portarium_evidence entry = {
        .category = "Policy",
        .summary = mcp_arena_printf(tx->arena, "Policy %s %s", id, what),
    };
    const portarium_event event = { .type = type, .kind = "policy", .id = id };
    tx->after.changes_policies = true;
    mcp_status st = portarium_evidence_add(tx, &entry, err);
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

/* Whether a document is a policy that can be judged by. */
static mcp_status check_policy(portarium_tx *tx, const mcp_json *json, const char *id,
                               int64_t version, portarium_fields *fields, mcp_error *err)
{
    const portarium_policy *policy = NULL;
    return portarium_policy_read(&policy, tx->arena, tx->settings->shapes, json, id, version,
                                 fields, err);
}

/* The members that are the plane's. */
static mcp_status stamp(portarium_tx *tx, const mcp_json **out, const char *id, int64_t version,
                        const mcp_json *before, mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "policyId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_int(&draft.json, "version", version);
    if (before) {
        mcp_write_member_value(&draft.json, "createdAtIso", mcp_json_get(before, "createdAtIso"));
        mcp_write_member_value(&draft.json, "createdByUserId",
                               mcp_json_get(before, "createdByUserId"));
    } else {
        mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
        mcp_write_member_string(&draft.json, "createdByUserId", tx->actor->subject);
    }
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status defaults_of(portarium_tx *tx, const mcp_json **out, mcp_error *err)
{
    static const char text[] = "{\"active\":true,\"priority\":0}";
    return mcp_json_read(out, tx->arena, text, sizeof text - 1, err);
}

static mcp_status create_policy(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    const mcp_json *json = NULL, *stamped = NULL;
    const char *id = portarium_body_string(request, "policyId");
    mcp_status st = id ? MCP_OK : portarium_id_new(&id, "pol-", tx->arena, err);
    if (st == MCP_OK)
        st = check_id(id, err);
    if (st == MCP_OK)
        st = defaults_of(tx, &json, err);
    if (st == MCP_OK)
        st = portarium_assign(tx, &json, json, request->body, err);
    if (st == MCP_OK)
        st = stamp(tx, &stamped, id, 1, NULL, err);
    if (st == MCP_OK)
        st = portarium_assign(tx, &json, json, stamped, err);
    if (st == MCP_OK)
        st = check_policy(tx, json, id, 1, &reply->fields, err);
    if (st == MCP_OK)
        st = check_room(tx, reply, id, json, err);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_policies, id, json, NULL, err);
    if (st == MCP_OK)
        st = note(tx, "PolicyCreated", id, "created", err);
    if (st != MCP_OK)
        return st;
    portarium_reply_location(reply, tx, "policies", id);
    return portarium_reply_json(reply, tx, 201, json, err);
}

/* The document with a merge patch, and its own stamps. */
static mcp_status patched(portarium_tx *tx, const mcp_json **out, const portarium_record *policy,
                          const mcp_json *patch, int64_t version, mcp_error *err)
{
    const mcp_json *stamped = NULL, *json = NULL;
    mcp_status st = defaults_of(tx, &json, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, out, policy->json, patch, err);
    if (st == MCP_OK)
        st = portarium_assign(tx, out, json, *out, err);
    if (st == MCP_OK)
        st = stamp(tx, &stamped, policy->id, version, policy->json, err);
    return st == MCP_OK ? portarium_assign(tx, out, *out, stamped, err) : st;
}

static mcp_status patch_policy(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record policy;
    const mcp_json *json = NULL;
    const char *id = portarium_argument(request, "policyId");
    mcp_status st = check_id(id, err);
    if (st == MCP_OK)
        st = portarium_record_get(&policy, tx, &portarium_policies, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, policy.json, err);
    if (st == MCP_OK)
        st = patched(tx, &json, &policy, request->body, policy.revision, err);
    if (st == MCP_OK && mcp_json_equal(json, policy.json))
        return portarium_reply_json(reply, tx, 200, policy.json, err);
    if (st == MCP_OK)
        st = patched(tx, &json, &policy, request->body, policy.revision + 1, err);
    if (st == MCP_OK)
        st = check_policy(tx, json, id, policy.revision + 1, &reply->fields, err);
    if (st == MCP_OK)
        st = check_room(tx, reply, id, json, err);
    if (st == MCP_OK)
        st = portarium_record_replace(&policy, tx, &portarium_policies, json, err);
    if (st == MCP_OK)
        st = note(tx, "PolicyUpdated", id, "changed", err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, policy.json, err) : st;
}

/* ---- simulating ------------------------------------------------------------------------------ */

static void write_change(const portarium_simulated *change, void *data)
{
    mcp_json_writer *json = data;
    char at[MCP_CLOCK_UTC_SIZE];
    const struct {
        const char *name, *value;
    } members[] = { { "atIso", at },
                    { "runId", change->run_id },
                    { "actionId", change->action_id },
                    { "was", change->was },
                    { "would", change->would },
                    { "policyId", change->policy_id },
                    { "ruleId", change->rule_id } };
    portarium_time_write(at, change->at_ms);
    mcp_write_object(json);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].value)
            mcp_write_member_string(json, members[i].name, members[i].value);
    }
    mcp_write_end(json);
}

static mcp_status simulate(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    const portarium_policy *policy = NULL;
    const mcp_json *body = mcp_json_get(request->body, "policy");
    const char *id = mcp_json_get_string(body, "policyId");
    int64_t last = LAST_MAX, judged = 0;
    mcp_json_int(mcp_json_get(request->body, "last"), &last);
    mcp_status st = portarium_policy_read(&policy, tx->arena, tx->settings->shapes, body,
                                          id ? id : "(simulated)", 1, &reply->fields, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "changes");
    st = portarium_simulate(tx, policy, last, write_change, &draft.json, &judged, err);
    mcp_write_end(&draft.json);
    mcp_write_member_int(&draft.json, "judged", judged);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

/* ---- the exposure of tools ------------------------------------------------------------------- */

static mcp_status get_exposure(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record policy;
    (void)request;
    mcp_status st = portarium_record_get(&policy, tx, &portarium_policies, PORTARIUM_EXPOSURE_ID,
                                         err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, policy.json, err) : st;
}

static mcp_status check_exposure(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    const portarium_exposure *policy = NULL;
    const char *said = portarium_body_string(request, "workspaceId");
    if (said && strcmp(said, tx->workspace) != 0)
        portarium_fields_add(&reply->fields, "/workspaceId", "is '%s' here", tx->workspace);
    portarium_exposure_judge_patterns(request->body, &reply->fields);
    mcp_status st = portarium_fields_status(&reply->fields, err);
    return st == MCP_OK ? portarium_exposure_read(&policy, tx->arena, tx->settings->shapes,
                                                  request->body, &reply->fields, err)
                        : st;
}

static mcp_status exposure_of(portarium_tx *tx, const mcp_json **out, const mcp_json *body,
                              mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "name", "Exposure of tools");
    mcp_write_member_bool(&draft.json, "active", true);
    mcp_write_member_int(&draft.json, "priority", 0);
    mcp_write_member_value(&draft.json, "rules", mcp_json_get(body, "rules"));
    if (mcp_json_get(body, "toolClasses"))
        mcp_write_member_value(&draft.json, "toolClasses", mcp_json_get(body, "toolClasses"));
    mcp_write_member_value(&draft.json, "defaultEffect", mcp_json_get(body, "defaultEffect"));
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status store_exposure(portarium_tx *tx, const mcp_json **json, portarium_record *before,
                                 mcp_error *err)
{
    const mcp_json *stamped = NULL;
    bool is_new = !before->id;
    mcp_status st = stamp(tx, &stamped, PORTARIUM_EXPOSURE_ID, is_new ? 1 : before->revision + 1,
                          is_new ? NULL : before->json, err);
    if (st == MCP_OK)
        st = portarium_assign(tx, json, *json, stamped, err);
    if (st != MCP_OK)
        return st;
    return is_new ? portarium_record_insert(NULL, tx, &portarium_policies, PORTARIUM_EXPOSURE_ID,
                                            *json, NULL, err)
                  : portarium_record_replace(before, tx, &portarium_policies, *json, err);
}

static mcp_status put_exposure(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record before = { .id = NULL };
    const mcp_json *json = NULL;
    mcp_status st = check_exposure(tx, request, reply, err);
    if (st != MCP_OK)
        return st;
    st = portarium_record_get(&before, tx, &portarium_policies, PORTARIUM_EXPOSURE_ID, err);
    if (st == MCP_E_NOT_FOUND) {
        before = (portarium_record){ .id = NULL };
        st = MCP_OK;
    }
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, before.json, err);
    if (st == MCP_OK)
        st = exposure_of(tx, &json, request->body, err);
    if (st == MCP_OK)
        st = store_exposure(tx, &json, &before, err);
    if (st == MCP_OK)
        st = note(tx, "PolicyUpdated", PORTARIUM_EXPOSURE_ID, "changed", err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, json, err) : st;
}

/* The exposure of the workspace; NULL: it has none, so everything is shown. */
static mcp_status read_exposure(const portarium_exposure **out, portarium_tx *tx, mcp_error *err)
{
    portarium_record policy;
    portarium_fields fields;
    *out = NULL;
    portarium_fields_init(&fields, tx->arena);
    mcp_status st = portarium_record_get(&policy, tx, &portarium_policies, PORTARIUM_EXPOSURE_ID,
                                         err);
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    return st == MCP_OK ? portarium_exposure_read(out, tx->arena, tx->settings->shapes, policy.json,
                                                  &fields, err)
                        : st;
}

/* Which of the names the caller may see. */
static mcp_status judge_tools(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    const portarium_exposure *exposure = NULL;
    const portarium_actor *actor = request->actor;
    const mcp_json *tools = mcp_json_get(request->body, "tools");
    portarium_tier tier = PORTARIUM_TIER_HUMAN_APPROVE;
    if (actor->tier)
        portarium_tier_read(&tier, actor->tier);
    mcp_status st = read_exposure(&exposure, tx, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "tools");
    for (size_t i = 0; i < mcp_json_count(tools); i++) {
        const char *name = mcp_json_string(mcp_json_item(tools, i), NULL);
        if (name && portarium_exposure_allows(exposure, name, actor->roles, tier))
            mcp_write_string(&draft.json, name);
    }
    mcp_write_end(&draft.json);
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

/* clang-format off */
const portarium_operation portarium_policy_operations[] = {
    { "listPolicies", "GET", "/policies", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, "Policy", "the policies of the workspace", list_policies },
    { "createPolicy", "POST", "/policies", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Policy, "Policy", "store a policy", create_policy },
    { "getPolicy", "GET", "/policies/{policyId}", PORTARIUM_MAY_READ, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "Policy", "one policy", get_policy },
    { "updatePolicy", "PATCH", "/policies/{policyId}", PORTARIUM_MAY_ADMINISTER,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH | PORTARIUM_PATCH,
      PORTARIUM_NO_BODY, "Policy", "store the next version of a policy", patch_policy },
    { "simulatePolicy", "POST", "/policies:simulate", PORTARIUM_MAY_VERIFY_EVIDENCE, 0,
      PORTARIUM_SHAPE_PolicySimulation, "PolicyChanges",
      "which of the last judgements a policy would change; stores nothing", simulate },
    { "getToolExposure", "GET", "/tool-exposure", PORTARIUM_MAY_READ, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "ToolExposurePolicy", "which tools the workspace shows", get_exposure },
    { "setToolExposure", "PUT", "/tool-exposure", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND | PORTARIUM_IF_MATCH,
      PORTARIUM_SHAPE_ToolExposurePolicy, "ToolExposurePolicy",
      "say which tools the workspace shows", put_exposure },
    { "judgeTools", "POST", "/tool-exposure:judge", PORTARIUM_MAY_READ, PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_ToolNames, "ToolNames", "which of these tools the caller may see; stores nothing",
      judge_tools },
    { 0 },
};
/* clang-format on */
