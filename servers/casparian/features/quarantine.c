/*
 * quarantine.c - casparian_quarantine_summary: what was invalid, by plugin, output and violation.
 */
#include "features/answer.h"
#include "features/tools.h"
#include "jobs/state/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/job.h"
#include "jobs/state/quarantined.h"
#include "schema/civil.h"
#include "schema/format.h"

enum { OUTPUTS_LIMIT = 20, SUMS_MAX = 1000, WARNINGS_MAX = 1 << 16 };

/* Rows by a name. */
typedef struct sum {
    const char *name;
    int64_t rows;
} sum;

typedef struct sums {
    sum *items;
    size_t count;
} sums;

static bool sums_new(sums *out, mcp_arena *arena)
{
    *out = (sums){ .items = mcp_arena_array(arena, SUMS_MAX, sizeof *out->items) };
    return out->items != NULL;
}

/* Names beyond SUMS_MAX are in "(other)". */
static void add(sums *self, const char *name, int64_t rows)
{
    size_t at = 0;
    if (rows == 0)
        return;
    while (at < self->count && strcmp(self->items[at].name, name) != 0)
        at++;
    if (at == SUMS_MAX)
        self->items[--at].name = "(other)";
    else if (at == self->count)
        self->items[self->count++] = (sum){ .name = name };
    self->items[at].rows += rows;
}

static void write_sums(mcp_json_writer *json, const char *name, const sums *self)
{
    mcp_write_member_object(json, name);
    for (size_t i = 0; i < self->count; i++)
        mcp_write_member_int(json, self->items[i].name, self->items[i].rows);
    mcp_write_end(json);
}

static double percent(const casparian_quarantined *one)
{
    if (one->rows_emitted == 0)
        return 0;
    return round(1e6 * (double)one->rows_quarantined / (double)one->rows_emitted) / 1e4;
}

static int most_rows_first(const void *a, const void *b)
{
    const casparian_quarantined *one = *(const casparian_quarantined *const *)a;
    const casparian_quarantined *other = *(const casparian_quarantined *const *)b;
    if (one->rows_quarantined != other->rows_quarantined)
        return one->rows_quarantined < other->rows_quarantined ? 1 : -1;
    return one->job < other->job ? 1 : -1;
}

/* Of a context its samples and the keys of its distribution were redacted by the job; a stronger
 * policy of this call is applied to them again. */
static void write_contexts(mcp_json_writer *json, const casparian_quarantined *one,
                           const casparian_redaction *redaction)
{
    mcp_write_member_array(json, "violations");
    for (size_t i = 0; i < mcp_json_count(one->violations); i++)
        casparian_redact_context(json, redaction, mcp_json_item(one->violations, i));
    mcp_write_end(json);
    if (one->parser_errors)
        mcp_write_member_value(json, "parser_errors", one->parser_errors);
}

static void write_output(mcp_json_writer *json, const casparian_quarantined *one,
                         const casparian_redaction *redaction)
{
    mcp_write_object(json);
    casparian_write_job(json, "job_id", one->job);
    mcp_write_member_string(json, "job_type", one->job_type);
    mcp_write_member_string(json, "plugin", one->plugin);
    mcp_write_member_string(json, "version", one->version);
    mcp_write_member_string(json, "output_name", one->output);
    mcp_write_member_int(json, "rows_emitted", one->rows_emitted);
    mcp_write_member_int(json, "rows_quarantined", one->rows_quarantined);
    mcp_write_member_double(json, "quarantine_pct", percent(one));
    casparian_write_text(json, "location", one->location);
    write_contexts(json, one, redaction);
    mcp_write_end(json);
}

/* The last jobs of each output, oldest first. */
static void write_trends(mcp_json_writer *json, const casparian_quarantined *all, size_t count,
                         const sums *outputs)
{
    mcp_write_member_object(json, "trend");
    for (size_t i = 0; i < outputs->count; i++) {
        const casparian_quarantined *last[CASPARIAN_TREND_MAX];
        size_t points = 0;
        for (size_t j = 0; j < count && points < CASPARIAN_TREND_MAX; j++) {
            if (strcmp(all[j].output, outputs->items[i].name) == 0)
                last[points++] = &all[j];
        }
        mcp_write_member_array(json, outputs->items[i].name);
        while (points-- > 0) {
            mcp_write_object(json);
            casparian_write_job(json, "job_id", last[points]->job);
            casparian_write_time(json, "finished_at", last[points]->created_ms);
            mcp_write_member_double(json, "quarantine_pct", percent(last[points]));
            mcp_write_end(json);
        }
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

/* The time of the argument `since`; false: the call was refused. */
static bool read_since(int64_t *out, casparian_request *request)
{
    const char *text = mcp_arg_string(request->call, "since");
    casparian_moment moment;
    *out = 0;
    if (!text)
        return true;
    if (!casparian_temporal_match(&moment, CASPARIAN_TEMPORAL_TIMESTAMP_TZ, text, strlen(text))) {
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                         "/since: a time as in 2026-01-31T08:00:00Z is required");
        return false;
    }
    *out = (casparian_micros_of(&moment) - moment.offset_s * CASPARIAN_MICROS_PER_SECOND) / 1000;
    return true;
}

static bool read_filter(casparian_quarantined_filter *out, casparian_request *request)
{
    const char *job = mcp_arg_string(request->call, "job_id");
    *out = (casparian_quarantined_filter){ .plugin = mcp_arg_string(request->call, "plugin"),
                                           .output = mcp_arg_string(request->call, "output") };
    if (job && !casparian_job_id_read(&out->job, job)) {
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                         "/job_id: a job id is a decimal number, as it was returned");
        return false;
    }
    return read_since(&out->since_ms, request);
}

static mcp_status write_answer(casparian_request *request, const casparian_quarantined *all,
                               size_t count, const casparian_redaction *redaction,
                               const mcp_buf *warnings)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    mcp_json_writer *json = casparian_request_result(request);
    size_t limit = (size_t)mcp_arg_int(request->call, "limit", OUTPUTS_LIMIT), written = 0;
    const casparian_quarantined **sorted = mcp_arena_array(arena, count + 1, sizeof *sorted);
    int64_t emitted = 0, quarantined = 0;
    sums plugins, outputs, violations;
    if (!sorted || !sums_new(&plugins, arena) || !sums_new(&outputs, arena) ||
        !sums_new(&violations, arena))
        return MCP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &all[i];
        emitted += all[i].rows_emitted;
        quarantined += all[i].rows_quarantined;
        add(&plugins, all[i].plugin, all[i].rows_quarantined);
        add(&outputs, all[i].output, all[i].rows_quarantined);
        for (size_t j = 0; j < mcp_json_count(all[i].violations); j++) {
            const mcp_json *context = mcp_json_item(all[i].violations, j);
            int64_t rows = 0;
            mcp_json_int(mcp_json_get(context, "count"), &rows);
            add(&violations, mcp_json_get_string(context, "violation_type"), rows);
        }
    }
    qsort(sorted, count, sizeof *sorted, most_rows_first);
    mcp_write_member_int(json, "total_rows", quarantined);
    mcp_write_member_int(json, "rows_emitted", emitted);
    write_sums(json, "by_plugin", &plugins);
    write_sums(json, "by_output", &outputs);
    write_sums(json, "by_violation_type", &violations);
    write_trends(json, all, count, &outputs);
    if (count > 0 && sorted[0]->location)
        mcp_write_member_string(
            json, "hint",
            mcp_arena_printf(arena,
                             "SELECT _violation_type, count(*) FROM quarantine.\"%s\" GROUP BY 1",
                             sorted[0]->output));
    mcp_write_member_array(json, "outputs");
    for (; written < count && written < limit && casparian_request_room(request) > 0; written++)
        write_output(json, sorted[written], redaction);
    mcp_write_end(json);
    casparian_write_truncation(json, count - written);
    if (warnings->length > 0) {
        mcp_write_member_array(json, "warnings");
        mcp_write_raw(json, warnings->data, warnings->length);
        mcp_write_end(json);
    }
    request->rows = (int64_t)written;
    return MCP_OK;
}

mcp_status casparian_quarantine_summary_tool(casparian_request *request)
{
    casparian_quarantined_filter filter;
    const casparian_quarantined *all = NULL;
    casparian_redaction redaction;
    mcp_buf warnings;
    size_t count = 0;
    if (!read_filter(&filter, request))
        return MCP_OK;
    mcp_buf_init(&warnings, WARNINGS_MAX);
    casparian_request_redaction(&redaction, &warnings, request);
    mcp_status st = casparian_quarantined_read(&all, &count, request->app->store,
                                               mcp_call_arena(request->call), &filter,
                                               mcp_call_error(request->call));
    if (st == MCP_OK)
        st = write_answer(request, all, count, &redaction, &warnings);
    mcp_buf_clear(&warnings);
    return st;
}
