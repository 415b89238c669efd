/*
 * peek.c - what there is to do for a runner.
 */
#include "jobs/state/peek.h"

#include "jobs/state/job_row.h"

static mcp_status peek(casparian_peek *out, casparian_store *store, db_session *session,
                       mcp_error *err)
{
    int64_t now_ms = 0;
    int64_t queued = 0;
    int64_t running = 0;
    int64_t expired = 0;
    int64_t stalled = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value now = db_int(now_ms);
    const db_value times[] = { now, db_int(now_ms + casparian_lease_ms(store)) };
    const db_value silent = db_int(now_ms -
                                   casparian_stall_ms(&casparian_store_settings(store)->jobs));
    if (st == MCP_OK)
        st = casparian_query_int(&queued, 0, session,
                                 "SELECT 1 FROM cf_api_jobs WHERE status = 'queued' LIMIT 1", NULL,
                                 0, err);
    if (st == MCP_OK)
        st = casparian_query_int(&running, 0, session, CASPARIAN_COUNT_RUNNING, &now, 1, err);
    if (st == MCP_OK)
        st = casparian_query_int(&expired, 0, session,
                                 "SELECT 1 FROM cf_api_jobs WHERE lease_owner IS NOT NULL AND "
                                 "(lease_until <= $1 OR lease_until > $2) LIMIT 1",
                                 times, 2, err);
    if (st == MCP_OK)
        st = casparian_query_int(&stalled, 0, session,
                                 "SELECT 1 FROM cf_api_jobs WHERE status = 'running' AND "
                                 "is_stalled = 0 AND progress_updated_at <= $1 LIMIT 1",
                                 &silent, 1, err);
    *out = (casparian_peek){ .can_claim = queued && running < casparian_max_concurrent(store),
                             .has_queued = queued,
                             .has_expired = expired,
                             .has_stalled = stalled };
    return st;
}

mcp_status casparian_peek_read(casparian_peek *out, casparian_store *store, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = peek(out, store, session, err);
    return casparian_store_end(session, st, err);
}

const char *const casparian_job_states[CASPARIAN_JOB_STATES] = { "queued", "running", "completed",
                                                                 "failed", "cancelled" };

mcp_status casparian_peek_jobs(int64_t out[CASPARIAN_JOB_STATES], casparian_store *store,
                               mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    for (size_t i = 0; i < CASPARIAN_JOB_STATES && st == MCP_OK; i++) {
        const db_value state = db_text(casparian_job_states[i]);
        st = casparian_query_int(&out[i], 0, session,
                                 "SELECT count(*) FROM cf_api_jobs WHERE status = $1", &state, 1,
                                 err);
    }
    return casparian_store_end(session, st, err);
}

mcp_status casparian_peek_claim(bool *is_held, bool *is_cancelled, casparian_store *store,
                                const casparian_claim *claim, mcp_error *err)
{
    const db_value values[] = { db_int(claim->job), db_int(claim->lease.fence) };
    db_session *session = NULL;
    int64_t asked = -1;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = casparian_query_int(&asked, -1, session,
                                 "SELECT cancel_requested FROM cf_api_jobs WHERE job_id = $1 AND "
                                 "fence = $2 AND lease_owner IS NOT NULL AND status = 'running'",
                                 values, 2, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK) {
        *is_held = asked >= 0;
        *is_cancelled = asked == 1;
    }
    return st;
}

static mcp_status write_runner(casparian_store *store, const char *runner, const char *sql,
                               mcp_error *err)
{
    db_session *session = NULL;
    int64_t now_ms = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    const db_value values[] = { db_text(runner), db_int(now_ms) };
    if (st == MCP_OK)
        st = db_run(session, NULL, sql, values, 2, err);
    return casparian_store_end(session, st, err);
}

mcp_status casparian_runner_note(casparian_store *store, const char *runner, mcp_error *err)
{
    return write_runner(store, runner,
                        "INSERT INTO cf_runners (runner_id, seen_at) VALUES ($1, $2) "
                        "ON CONFLICT (runner_id) DO UPDATE SET seen_at = $2",
                        err);
}

mcp_status casparian_runner_forget(casparian_store *store, const char *runner, mcp_error *err)
{
    return write_runner(store, runner,
                        "DELETE FROM cf_runners WHERE runner_id = $1 AND seen_at <= $2", err);
}
