/*
 * sweep.c - what the passing of time asks for.
 */
#include "jobs/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/approval.h"
#include "jobs/ephemeral.h"
#include "jobs/state/rows.h"
#include "mcp/clock.h"

enum { TTL_HOURS = 24, RETENTION_DAYS = 7, RUNNERS_HOURS = 24 };

static const int64_t hour_ms = 3600000;

static int64_t ttl_ms(const casparian_store *store)
{
    int64_t hours = casparian_store_settings(store)->jobs.ttl_hours;
    return (hours > 0 ? hours : TTL_HOURS) * hour_ms;
}

/* In this order: the details of jobs first, then the jobs that nothing refers to. */
static mcp_status sweep_jobs(int64_t *deleted, db_session *session, int64_t before_ms,
                             mcp_error *err)
{
    static const char *const details[] = {
        "DELETE FROM cf_api_events WHERE job_id IN (SELECT job_id FROM cf_api_jobs WHERE "
        "finished_at <= $1)",
        "DELETE FROM cf_api_job_files WHERE approval_id IS NULL AND job_id IN (SELECT job_id FROM "
        "cf_api_jobs WHERE finished_at <= $1)",
        "UPDATE cf_api_jobs SET progress_json = NULL, result_json = NULL WHERE finished_at <= $1 "
        "AND (progress_json IS NOT NULL OR result_json IS NOT NULL)",
    };
    const db_value value = db_int(before_ms);
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < sizeof details / sizeof details[0]; i++)
        st = db_run(session, NULL, details[i], &value, 1, err);
    return st == MCP_OK ? db_run(session, deleted,
                                 "DELETE FROM cf_api_jobs WHERE finished_at <= $1 AND NOT EXISTS "
                                 "(SELECT 1 FROM cf_api_approvals a WHERE a.approval_id = "
                                 "cf_api_jobs.approval_id)",
                                 &value, 1, err)
                        : st;
}

/* A request whose job has not ended yet stays: the job does what it says. */
static mcp_status sweep_approvals(int64_t *deleted, db_session *session, int64_t before_ms,
                                  mcp_error *err)
{
    static const char choice[] =
        "decided_at <= $1 AND status <> 'pending' AND NOT EXISTS (SELECT 1 FROM cf_api_jobs j "
        "WHERE j.job_id = cf_api_approvals.job_id AND j.finished_at IS NULL)";
    char sql[600];
    const db_value value = db_int(before_ms);
    snprintf(sql, sizeof sql,
             "DELETE FROM cf_api_job_files WHERE approval_id IN (SELECT approval_id FROM "
             "cf_api_approvals WHERE %s)",
             choice);
    mcp_status st = db_run(session, NULL, sql, &value, 1, err);
    snprintf(sql, sizeof sql, "DELETE FROM cf_api_approvals WHERE %s", choice);
    return st == MCP_OK ? db_run(session, deleted, sql, &value, 1, err) : st;
}

static mcp_status sweep_state(casparian_swept *out, casparian_store *store, db_session *session,
                              mcp_error *err)
{
    const casparian_settings *settings = casparian_store_settings(store);
    int64_t days = settings->approvals.retention_days > 0 ? settings->approvals.retention_days
                                                          : RETENTION_DAYS;
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    const db_value silent = db_int(now_ms - RUNNERS_HOURS * hour_ms);
    if (st == MCP_OK)
        st = sweep_approvals(&out->approvals, session, now_ms - days * 24 * hour_ms, err);
    if (st == MCP_OK)
        st = sweep_jobs(&out->jobs, session, now_ms - ttl_ms(store), err);
    return st == MCP_OK ? db_run(session, NULL, "DELETE FROM cf_runners WHERE seen_at <= $1",
                                 &silent, 1, err)
                        : st;
}

/* Logs of plugins, by their age: their jobs are gone, or about to go. */
static void sweep_logs(const casparian_store *store, int64_t before_ms)
{
    char path[PATH_MAX];
    struct stat what;
    int length = snprintf(path, sizeof path, "%s/logs/jobs", casparian_store_home(store));
    DIR *all = length > 0 && (size_t)length < sizeof path ? opendir(path) : NULL;
    if (!all)
        return;
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".log") == 0 &&
            fstatat(dirfd(all), entry->d_name, &what, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(what.st_mode) && (int64_t)what.st_mtime * 1000 <= before_ms)
            unlinkat(dirfd(all), entry->d_name, 0);
    }
    closedir(all);
}

mcp_status casparian_sweep(casparian_store *store, casparian_swept *out, mcp_error *err)
{
    casparian_swept swept = { 0 };
    db_session *session = NULL;
    mcp_status st = casparian_approval_expire(&swept.expired, store, err);
    if (st == MCP_OK)
        st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_store_end(session, sweep_state(&swept, store, session, err), err);
    if (st == MCP_OK)
        st = casparian_ephemeral_sweep(store, &swept.ephemerals, err);
    sweep_logs(store, mcp_clock_wall_ms() - ttl_ms(store));
    if (st == MCP_OK && out)
        *out = swept;
    return st;
}
