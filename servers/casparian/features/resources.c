/*
 * resources.c - a job and an approval as resources, and the prompts. The texts of the prompts are
 * in prompts/.
 */
#include "features/resources.h"

#include <stdio.h>

#include "gateway/app.h"
#include "jobs/approval.h"
#include "jobs/job.h"
#include "mcp/tool.h"

enum { PLACE_SIZE = 64 };

#define CONTENTS_MAX ((size_t)16 << 20)

static mcp_status read_job(mcp_call *call, void *data);
static mcp_status read_approval(mcp_call *call, void *data);
static mcp_status place_job(mcp_call *call, void *data);

const mcp_resource casparian_resources[] = {
    { CASPARIAN_JOB_URI "{id}", read_job, MCP_READS, 0 },
    { CASPARIAN_APPROVAL_URI "{id}", read_approval, MCP_READS, 0 },
    { 0 },
};

const mcp_prompt casparian_prompts[] = {
    { .name = "iterate_schema" },
    { .name = "triage_quarantine", .fill = place_job },
    { 0 },
};

/* Begin an object; end_contents must follow. */
static void begin_contents(mcp_buf *text, mcp_json_writer *json)
{
    mcp_buf_init(text, CONTENTS_MAX);
    mcp_json_writer_init(json, text);
    mcp_write_object(json);
}

static mcp_status end_contents(mcp_call *call, mcp_buf *text, mcp_json_writer *json)
{
    mcp_write_end(json);
    mcp_status st = mcp_json_writer_status(json);
    if (st == MCP_OK)
        st = mcp_call_contents_text(call, NULL, NULL, text->data, text->length);
    mcp_buf_clear(text);
    return st;
}

static mcp_status not_found(mcp_call *call, const char *what, const char *id)
{
    return mcp_error_set(mcp_call_error(call), MCP_E_RESOURCE, "there is no %s %.64s", what, id);
}

static mcp_status read_job(mcp_call *call, void *data)
{
    casparian_app *app = data;
    const char *text = mcp_arg_string(call, "id");
    mcp_json_writer json;
    casparian_job job;
    mcp_buf contents;
    int64_t id;
    if (!casparian_job_id_read(&id, text))
        return not_found(call, "job", text);
    mcp_status st = casparian_job_read(&job, app->store, mcp_call_arena(call), id,
                                       mcp_call_error(call));
    if (st == MCP_E_NOT_FOUND)
        return not_found(call, "job", text);
    if (st != MCP_OK)
        return st;
    begin_contents(&contents, &json);
    casparian_job_write(&json, &job);
    return end_contents(call, &contents, &json);
}

static mcp_status read_approval(mcp_call *call, void *data)
{
    casparian_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    casparian_approval approval;
    mcp_json_writer json;
    mcp_buf contents;
    if (!casparian_approval_id_is_valid(id))
        return not_found(call, "approval", id);
    mcp_status st = casparian_approval_read(&approval, app->store, mcp_call_arena(call), id,
                                            mcp_call_error(call));
    if (st == MCP_E_NOT_FOUND)
        return not_found(call, "approval", id);
    if (st != MCP_OK)
        return st;
    begin_contents(&contents, &json);
    casparian_approval_write(&json, &approval);
    return end_contents(call, &contents, &json);
}

/* "in the latest jobs", or " in job 42". */
static mcp_status place_job(mcp_call *call, void *data)
{
    const char *id = mcp_arg_string(call, "job_id");
    char text[PLACE_SIZE] = " in the latest jobs";
    int64_t job;
    (void)data;
    if (id && *id) {
        if (!casparian_job_id_read(&job, id))
            return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS,
                                 "job_id: a job id is a decimal number");
        snprintf(text, sizeof text, " in job %s", id);
    }
    return mcp_call_set_placeholder(call, "of_job", text);
}
