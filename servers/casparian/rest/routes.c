/*
 * routes.c - the requests, the decisions and the jobs, as JSON for the page.
 */
#include "rest/rest.h"

#include <string.h>

#include "gateway/app.h"
#include "gateway/user.h"
#include "jobs/approval.h"
#include "jobs/state/quarantined.h"
#include "jobs/state/rows.h"
#include "mcp/tool.h"
#include "page/page.h"

/* What the build made of web/. */
extern const mcp_file casparian_page_files[];

enum { LIST_MAX = 100, JOBS_MAX = 20, FILES_SHOWN = 100 };

/* ---- the page -------------------------------------------------------------------------------- */

static const page inbox = {
    .files = casparian_page_files,
    .policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
              "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

static mcp_status send_page(mcp_call *call, void *data)
{
    (void)data;
    return page_send(call, &inbox);
}

static mcp_status send_asset(mcp_call *call, void *data)
{
    (void)data;
    return page_send_asset(call, &inbox, mcp_arg_string(call, "name"));
}

/* ---- requests -------------------------------------------------------------------------------- */

static mcp_status list_approvals(mcp_call *call, void *data)
{
    const casparian_app *app = data;
    const char *status = mcp_arg_string(call, "status");
    const casparian_approval *all = NULL;
    size_t count = 0;
    mcp_call_header_set(call, "Cache-Control", "no-store");
    mcp_status st = casparian_approval_list(&all, &count, app->store, mcp_call_arena(call),
                                            status ? status : "pending", LIST_MAX,
                                            mcp_call_error(call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = mcp_call_result(call);
    mcp_write_member_array(json, "approvals");
    for (size_t i = 0; i < count; i++)
        casparian_approval_write_item(json, &all[i]);
    mcp_write_end(json);
    return MCP_OK;
}

static mcp_status refuse_id(mcp_call *call)
{
    return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "there is no such approval");
}

static mcp_status get_approval(mcp_call *call, void *data)
{
    const casparian_app *app = data;
    mcp_arena *arena = mcp_call_arena(call);
    mcp_error *err = mcp_call_error(call);
    const char *id = mcp_arg_string(call, "id");
    const casparian_job_outcome *files = NULL;
    casparian_approval approval;
    size_t count = 0;
    mcp_call_header_set(call, "Cache-Control", "no-store");
    if (!casparian_approval_id_is_valid(id))
        return refuse_id(call);
    mcp_status st = casparian_approval_read(&approval, app->store, arena, id, err);
    if (st == MCP_OK)
        st = casparian_approval_files(&files, &count, app->store, arena, id, NULL, FILES_SHOWN,
                                      err);
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = mcp_call_result(call);
    casparian_approval_write(json, &approval);
    casparian_write_text(json, "requested_by", approval.requested_by);
    mcp_write_member_value(json, "details", approval.details);
    mcp_write_member_value(json, "snapshot", approval.snapshot);
    mcp_write_member_string(json, "snapshot_sha256", approval.snapshot_sha256);
    mcp_write_member_array(json, "files");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "path", files[i].file.path);
        mcp_write_member_int(json, "size", files[i].file.size);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return MCP_OK;
}

/* ---- a decision ------------------------------------------------------------------------------ */

/* A body that everybody reads in the same way: an object without a member twice. */
static mcp_status read_body(const mcp_json **out, mcp_call *call)
{
    mcp_error *err = mcp_call_error(call);
    const mcp_json *body = mcp_call_body_json(call, err);
    if (!body)
        return err->status;
    const char *twice = mcp_json_duplicate(body);
    if (twice)
        return mcp_error_set(err, MCP_E_PARAMS, "duplicate member '%.40s'", twice);
    *out = body;
    return MCP_OK;
}

/* The text of a member; NULL where it is none, or has a NUL byte, behind which nobody looks. */
static const char *text_of(const mcp_json *body, const char *name)
{
    size_t length = 0;
    const char *text = mcp_json_string(mcp_json_get(body, name), &length);
    return text && strlen(text) == length ? text : NULL;
}

/* The decision of the body. A person decides what he was shown, so the hash is required. */
static mcp_status read_decision(casparian_decision *out, mcp_call *call)
{
    mcp_error *err = mcp_call_error(call);
    const mcp_json *body = NULL;
    mcp_status st = read_body(&body, call);
    if (st != MCP_OK)
        return st;
    const char *word = text_of(body, "decision");
    const char *user = casparian_local_user(mcp_call_arena(call));
    *out = (casparian_decision){
        .id = mcp_arg_string(call, "id"),
        .approves = word && strcmp(word, "approve") == 0,
        .by = user ? mcp_arena_printf(mcp_call_arena(call), "page:%s", user) : NULL,
        .snapshot_sha256 = text_of(body, "snapshot_sha256"),
    };
    if (!out->approves)
        out->reason = text_of(body, "reason");
    if (!word || (!out->approves && strcmp(word, "reject") != 0))
        return mcp_error_set(err, MCP_E_PARAMS, "/decision: \"approve\" or \"reject\" is required");
    if (!out->approves && !out->reason && mcp_json_get(body, "reason"))
        return mcp_error_set(err, MCP_E_PARAMS, "/reason: a text without NUL bytes is required");
    if (!out->snapshot_sha256)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "/snapshot_sha256: the hash of what was shown is required");
    return casparian_approval_id_is_valid(out->id) ? MCP_OK : refuse_id(call);
}

static mcp_status decide(mcp_call *call, void *data)
{
    const casparian_app *app = data;
    casparian_approval approval = { 0 };
    casparian_decided how = CASPARIAN_DECIDED_ABSENT;
    casparian_decision decision;
    mcp_call_header_set(call, "Cache-Control", "no-store");
    mcp_status st = read_decision(&decision, call);
    if (st == MCP_OK)
        st = casparian_approval_decide(&how, &approval, app->store, mcp_call_arena(call), &decision,
                                       mcp_call_error(call));
    if (st != MCP_OK)
        return st;
    if (how == CASPARIAN_DECIDED_ABSENT)
        return refuse_id(call);
    mcp_json_writer *json = mcp_call_result(call);
    mcp_write_member_string(json, "outcome", casparian_decided_text(how));
    casparian_approval_write(json, &approval);
    return MCP_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static mcp_status list_jobs(mcp_call *call, void *data)
{
    const casparian_app *app = data;
    const casparian_job_filter filter = { .limit = JOBS_MAX };
    const casparian_job *jobs = NULL;
    size_t count = 0;
    mcp_call_header_set(call, "Cache-Control", "no-store");
    mcp_status st = casparian_job_list(&jobs, &count, app->store, mcp_call_arena(call), &filter,
                                       mcp_call_error(call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = mcp_call_result(call);
    mcp_write_member_array(json, "jobs");
    for (size_t i = 0; i < count; i++)
        casparian_job_write_item(json, &jobs[i]);
    mcp_write_end(json);
    return MCP_OK;
}

static mcp_status write_violations(mcp_json_writer *json, mcp_call *call, const casparian_app *app,
                                   int64_t id)
{
    const casparian_quarantined_filter filter = { .job = id };
    const casparian_quarantined *all = NULL;
    size_t count = 0;
    mcp_status st = casparian_quarantined_read(&all, &count, app->store, mcp_call_arena(call),
                                               &filter, mcp_call_error(call));
    mcp_write_member_array(json, "quarantine");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "output_name", all[i].output);
        mcp_write_member_int(json, "rows_emitted", all[i].rows_emitted);
        mcp_write_member_int(json, "rows_quarantined", all[i].rows_quarantined);
        if (all[i].violations)
            mcp_write_member_value(json, "violations", all[i].violations);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return st;
}

static mcp_status get_job(mcp_call *call, void *data)
{
    const casparian_app *app = data;
    int64_t id = 0;
    casparian_job job;
    mcp_call_header_set(call, "Cache-Control", "no-store");
    if (!casparian_job_id_read(&id, mcp_arg_string(call, "id")))
        return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "there is no such job");
    mcp_status st = casparian_job_read(&job, app->store, mcp_call_arena(call), id,
                                       mcp_call_error(call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = mcp_call_result(call);
    casparian_job_write(json, &job);
    return write_violations(json, call, app, id);
}

/* ---- the routes ------------------------------------------------------------------------------ */

/* clang-format off */
const mcp_route casparian_page_routes[] = {
    { "GET",  "/",                            send_page,      MCP_READS | MCP_PUBLIC, 0 },
    { "GET",  "/assets/{name}",               send_asset,     MCP_READS | MCP_PUBLIC, 0 },
    { "GET",  "/api/approvals",               list_approvals, MCP_READS,  0 },
    { "GET",  "/api/approvals/{id}",          get_approval,   MCP_READS,  0 },
    { "POST", "/api/approvals/{id}/decision", decide,         MCP_WRITES, 0 },
    { "GET",  "/api/jobs",                    list_jobs,      MCP_READS,  0 },
    { "GET",  "/api/jobs/{id}",               get_job,        MCP_READS,  0 },
    { 0 },
};
/* clang-format on */
