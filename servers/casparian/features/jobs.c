/*
 * jobs.c - casparian_job_status, casparian_job_cancel and casparian_job_list.
 */
#include "features/answer.h"
#include "features/tools.h"
#include "jobs/state/rows.h"

#include <string.h>

#include "jobs/job.h"
#include "mcp/clock.h"

enum { EVENTS_MAX = 100, LIST_LIMIT = 20 };

/* ---- one job --------------------------------------------------------------------------------- */

/* A call of casparian_job_status on its way. */
typedef struct look {
    casparian_request *request;
    int64_t id;
    int64_t until_ms; /* of mcp_clock_mono_ms */
    uint64_t mark;
    bool is_known; /* what was seen first, below, is set */
    casparian_job_state state;
    bool is_stalled;
    int64_t progress_ms;
} look;

/* Whether there is news: another state, or a second of progress. */
static bool has_changed(look *self, const casparian_job *job)
{
    if (!self->is_known) {
        self->is_known = true;
        self->state = job->state;
        self->is_stalled = job->is_stalled;
        self->progress_ms = job->progress_ms;
        return job->state > CASPARIAN_JOB_RUNNING;
    }
    return job->state != self->state || job->is_stalled != self->is_stalled ||
           job->progress_ms - self->progress_ms >= 1000;
}

static mcp_status write_events(mcp_json_writer *json, look *self, int64_t after)
{
    casparian_request *request = self->request;
    const casparian_event *events = NULL;
    size_t count = 0;
    mcp_status st = casparian_job_events(&events, &count, request->app->store,
                                         mcp_call_arena(request->call), self->id, after, EVENTS_MAX,
                                         mcp_call_error(request->call));
    mcp_write_member_array(json, "events");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(json);
        mcp_write_member_int(json, "event_id", events[i].id);
        mcp_write_member_string(json, "type", events[i].type);
        casparian_write_time(json, "timestamp", events[i].timestamp_ms);
        mcp_write_member_value(json, "payload", events[i].payload);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    mcp_write_member_int(json, "next_event_id", count > 0 ? events[count - 1].id : after);
    return st;
}

static mcp_status answer(look *self, const casparian_job *job)
{
    casparian_request *request = self->request;
    mcp_json_writer *json = casparian_request_result(request);
    int64_t after = mcp_arg_int(request->call, "events_after", -1);
    casparian_job_write(json, job);
    return after < 0 ? MCP_OK : write_events(json, self, after);
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
    casparian_job job;
    casparian_job_key(key, self->id);
    uint64_t mark = waits ? jobs_waits_mark(waits, key) : 0;
    mcp_status st = casparian_job_read(&job, store, mcp_call_arena(request->call), self->id, err);
    if (st == MCP_E_NOT_FOUND)
        return casparian_refuse(request, CASPARIAN_CODE_NOT_FOUND,
                                "casparian_job_list has the jobs that are kept.",
                                "there is no job %lld", (long long)self->id);
    if (st != MCP_OK)
        return st;
    if (has_changed(self, &job) || !waits || mcp_clock_mono_ms() >= self->until_ms ||
        mcp_call_stop(request->call) != MCP_STOP_NONE)
        return answer(self, &job);
    st = jobs_wait(waits, key, mark, self->until_ms, resume, request, err);
    return st == MCP_OK ? MCP_E_DEFERRED : st;
}

static mcp_status look_again(casparian_request *request)
{
    return look_or_wait(request->state);
}

/* The argument job_id; false: the call was refused. */
static bool read_id(int64_t *out, casparian_request *request)
{
    const char *text = mcp_arg_string(request->call, "job_id");
    if (text && casparian_job_id_read(out, text))
        return true;
    casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                     "/job_id: a job id is a decimal number, as it was returned");
    return false;
}

mcp_status casparian_job_status_tool(casparian_request *request)
{
    look *self = mcp_arena_alloc(mcp_call_arena(request->call), sizeof *self);
    if (!self)
        return MCP_E_NOMEM;
    *self = (look){ .request = request,
                    .until_ms = mcp_clock_mono_ms() + mcp_arg_int(request->call, "wait_ms", 0) };
    request->state = self;
    return read_id(&self->id, request) ? look_or_wait(self) : MCP_OK;
}

mcp_status casparian_job_cancel_tool(casparian_request *request)
{
    static const char *const words[] = { [CASPARIAN_CANCEL_DONE] = "cancelled",
                                         [CASPARIAN_CANCEL_LATE] = "already_completed",
                                         [CASPARIAN_CANCEL_ABSENT] = "not_found" };
    casparian_cancelled how = CASPARIAN_CANCEL_ABSENT;
    int64_t id;
    if (!read_id(&id, request))
        return MCP_OK;
    mcp_status st = casparian_job_cancel(&how, request->app->store, id,
                                         casparian_request_by(request, "tool"),
                                         mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_string(json, "job_id", mcp_arg_string(request->call, "job_id"));
    mcp_write_member_string(json, "status", words[how]);
    return MCP_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

mcp_status casparian_job_list_tool(casparian_request *request)
{
    const casparian_job_filter filter = { .status = mcp_arg_string(request->call, "status"),
                                          .limit = mcp_arg_int(request->call, "limit",
                                                               LIST_LIMIT) };
    const casparian_job *jobs = NULL;
    size_t count = 0, written = 0;
    mcp_status st = casparian_job_list(&jobs, &count, request->app->store,
                                       mcp_call_arena(request->call), &filter,
                                       mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_array(json, "jobs");
    for (; written < count && casparian_request_room(request) > 0; written++)
        casparian_job_write_item(json, &jobs[written]);
    mcp_write_end(json);
    casparian_write_truncation(json, count - written);
    request->rows = (int64_t)written;
    return MCP_OK;
}
