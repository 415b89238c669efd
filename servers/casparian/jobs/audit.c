/*
 * audit.c - the audit lines of jobs and approvals.
 */
#include "jobs/audit.h"

#include <stdio.h>

#include "jobs/store_int.h"

static void write_text(mcp_json_writer *out, const char *name, const char *text)
{
    if (text)
        mcp_write_member_string(out, name, text);
}

/* Job ids are texts wherever others see them. */
static void write_job(mcp_json_writer *out, int64_t job)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)job);
    if (job > 0)
        mcp_write_member_string(out, "job_id", text);
}

static mcp_status append(casparian_store *store, mcp_buf *buf, mcp_json_writer *out,
                         bool is_durable, mcp_error *err)
{
    mcp_write_end(out);
    mcp_status st = mcp_json_writer_status(out);
    if (st != MCP_OK)
        st = mcp_error_set(err, st, "an audit line cannot be written");
    else
        st = guard_audit_write(store->options.audit, buf->data, buf->length, is_durable, err);
    mcp_buf_clear(buf);
    return st;
}

mcp_status casparian_audit_approval_line(casparian_store *store,
                                         const casparian_audit_approval *line, mcp_error *err)
{
    mcp_json_writer out;
    mcp_buf buf;
    if (!store->options.audit)
        return MCP_OK;
    mcp_buf_init(&buf, GUARD_AUDIT_LINE_MAX);
    mcp_json_writer_init(&out, &buf);
    mcp_write_object(&out);
    mcp_write_member_string(&out, "type", "approval");
    write_text(&out, "approval_id", line->approval_id);
    write_text(&out, "action", line->action);
    write_text(&out, "operation", line->operation);
    write_text(&out, "decided_by", line->decided_by);
    write_job(&out, line->job);
    write_text(&out, "snapshot_sha256", line->snapshot_sha256);
    return append(store, &buf, &out, true, err);
}

/* One a folder; the home's first. */
static void write_manifests(mcp_json_writer *out, const char *const *hashes)
{
    write_text(out, "manifest_sha256", hashes[0]);
    if (!hashes[0] || !hashes[1])
        return;
    mcp_write_member_array(out, "manifests_sha256");
    for (; *hashes; hashes++)
        mcp_write_string(out, *hashes);
    mcp_write_end(out);
}

void casparian_audit_job_line(casparian_store *store, const casparian_audit_job *line)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_json_writer out;
    mcp_buf buf;
    if (!store->options.audit)
        return;
    mcp_buf_init(&buf, GUARD_AUDIT_LINE_MAX);
    mcp_json_writer_init(&out, &buf);
    mcp_write_object(&out);
    mcp_write_member_string(&out, "type", "job");
    write_job(&out, line->job);
    write_text(&out, "action", line->action);
    write_text(&out, "status", line->status);
    write_text(&out, "error_code", line->error_code);
    if (line->manifests)
        write_manifests(&out, line->manifests);
    write_text(&out, "by", line->by);
    if (append(store, &buf, &out, false, &err) != MCP_OK)
        mcp_log_write(&store->options.log, MCP_LOG_ERROR, "audit of job %lld: %s",
                      (long long)line->job, err.message);
}
