/*
 * metrics.c - the plane's families in /metrics: those of memory, and those that are sampled from
 * the database, for all workspaces together.
 */
#include "serve/metrics.h"
#include "jobs/waits.h"
#include "mcp/clock.h"
#include "model/vocabulary.h"
#include "rest/rest.h"
#include "rest/routes.h"

enum { ARENA_MAX = 1 << 20, RUN_STATES = PORTARIUM_COUNT(PORTARIUM_RUN_STATUS_MAP) };

/* ---- of memory ------------------------------------------------------------------------------- */

void portarium_rest_metrics(mcp_buf *out, void *data)
{
    portarium_app *app = data;
    bus_counts events;
    bus_count(portarium_plane_events(app->plane), &events);
    serve_metric(out, "portarium_waiting_calls", "gauge", "Calls that wait for a change.",
                 (double)jobs_waits_count(portarium_plane_waits(app->plane)));
    serve_metric(out, "portarium_event_readers", "gauge", "Open streams of events.",
                 (double)events.subscribers);
    serve_metric(out, "portarium_events_published_total", "counter", "Events of workspaces.",
                 (double)events.published);
    serve_metric(out, "portarium_events_delivered_total", "counter", "Events handed to streams.",
                 (double)events.delivered);
    serve_metric(out, "portarium_event_readers_resynced_total", "counter",
                 "Readers that fell behind.", (double)events.resynced);
    serve_metric(out, "portarium_rate_limited_total", "counter", "Requests refused by rate limits.",
                 (double)portarium_limits_refused(app->limits));
}

/* ---- of the database ------------------------------------------------------------------------- */

struct sampled {
    int64_t runs[RUN_STATES];
    int64_t approvals_pending;
    int64_t lag_ms;
};

static mcp_status count_runs(struct sampled *out, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    portarium_run_status state;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT status, COUNT(*) FROM runs GROUP BY status", NULL, 0, err);
    while (portarium_next(rows, &st, err))
        if (portarium_run_status_read(&state, db_text_at(rows, 0, NULL)))
            out->runs[state] = db_int_at(rows, 1);
    db_rows_free(rows);
    return st;
}

static mcp_status read_one(int64_t *out, portarium_tx *tx, const char *sql, mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, tx->session, sql, NULL, 0, err);
    *out = portarium_next(rows, &st, err) ? db_int_at(rows, 0) : 0;
    db_rows_free(rows);
    return st;
}

/* The age of the oldest event that a webhook which has something to deliver has not delivered. */
static mcp_status read_lag(struct sampled *out, portarium_tx *tx, mcp_error *err)
{
    int64_t oldest_ms = 0, now_ms = 0;
    mcp_status st = read_one(&oldest_ms, tx,
                             "SELECT MIN((SELECT o.created_at FROM outbox AS o WHERE o.workspace = "
                             "w.workspace AND o.seq > w.delivered ORDER BY o.seq LIMIT 1)) FROM "
                             "webhooks AS w WHERE w.next_at IS NOT NULL",
                             err);
    if (st == MCP_OK)
        st = db_now(tx->session, &now_ms, err);
    out->lag_ms = oldest_ms > 0 && now_ms > oldest_ms ? now_ms - oldest_ms : 0;
    return st;
}

static mcp_status read_all(portarium_tx *tx, void *data, mcp_error *err)
{
    struct sampled *out = data;
    mcp_status st = count_runs(out, tx, err);
    if (st == MCP_OK)
        st = read_one(&out->approvals_pending, tx,
                      "SELECT COUNT(*) FROM approvals WHERE status = 'Pending'", err);
    return st == MCP_OK ? read_lag(out, tx, err) : st;
}

mcp_status portarium_rest_sample(mcp_buf *out, void *data, mcp_error *err)
{
    static const char runs[] = "portarium_runs";
    portarium_app *app = data;
    struct sampled sampled = { .lag_ms = 0 };
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the figures of the plane");
    mcp_status st = portarium_plane_read(app->plane, NULL, arena, read_all, &sampled, err);
    mcp_arena_free(arena);
    if (st != MCP_OK)
        return st;
    serve_metric_begin(out, runs, "gauge", "Runs, by their state.");
    for (int i = 0; i < RUN_STATES; i++)
        serve_metric_put(out, runs, "state", portarium_run_status_text((portarium_run_status)i),
                         (double)sampled.runs[i]);
    serve_metric(out, "portarium_approvals_pending", "gauge", "Approvals that wait for a decision.",
                 (double)sampled.approvals_pending);
    serve_metric(out, "portarium_outbox_lag_seconds", "gauge",
                 "Age of the oldest event that a webhook still has to deliver.",
                 (double)sampled.lag_ms / 1000);
    return MCP_OK;
}
