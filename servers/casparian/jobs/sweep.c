/*
 * sweep.c - what the passing of time asks for.
 */
#include "jobs/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/paths.h"
#include "jobs/approval.h"
#include "jobs/ephemeral.h"
#include "jobs/state/rows.h"
#include "mcp/clock.h"

enum { TTL_HOURS = 24, RETENTION_DAYS = 7, RUNNERS_HOURS = 24, GUEST_HOURS = 24 };

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

/* A folder of the home; NULL: it is not there. */
static DIR *open_of_home(const casparian_store *store, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", casparian_store_home(store), name);
    return length > 0 && (size_t)length < sizeof path ? opendir(path) : NULL;
}

/* Whether the job of a log runs or has ended only lately: it may have been silent for long. */
static bool is_wanted(const char *log, db_session *session, int64_t before_ms, mcp_status *st,
                      mcp_error *err)
{
    const db_value values[] = { db_int(strtoll(log, NULL, 10)), db_int(before_ms) };
    int64_t count = 0;
    if (*st == MCP_OK)
        *st = casparian_query_int(&count, 0, session,
                                  "SELECT count(*) FROM cf_api_jobs WHERE job_id = $1 AND "
                                  "(finished_at IS NULL OR finished_at > $2)",
                                  values, 2, err);
    return *st != MCP_OK || count > 0;
}

/* Logs of plugins, by their age: their jobs are gone, or about to go. */
static mcp_status sweep_logs(casparian_store *store, int64_t before_ms, mcp_error *err)
{
    struct stat what;
    db_session *session = NULL;
    DIR *all = open_of_home(store, "logs/jobs");
    if (!all)
        return MCP_OK;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".log") == 0 &&
            fstatat(dirfd(all), entry->d_name, &what, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(what.st_mode) && (int64_t)what.st_mtime * 1000 <= before_ms &&
            !is_wanted(entry->d_name, session, before_ms, &st, err))
            unlinkat(dirfd(all), entry->d_name, 0);
    }
    closedir(all);
    return casparian_store_end(session, st, err);
}

/* Folders that guests of a killed process have left. None of a job that runs is as old. */
static void sweep_guests(const casparian_store *store, int64_t now_ms)
{
    int64_t timeout_ms = casparian_store_settings(store)->jobs.timeout_ms;
    int64_t age_ms = (timeout_ms > 0 ? timeout_ms : 0) + GUEST_HOURS * hour_ms;
    struct stat what;
    DIR *all = open_of_home(store, "tmp");
    if (!all)
        return;
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all))
        if (strncmp(entry->d_name, "guest-", strlen("guest-")) == 0 &&
            fstatat(dirfd(all), entry->d_name, &what, AT_SYMLINK_NOFOLLOW) == 0 &&
            (int64_t)what.st_mtime * 1000 + age_ms <= now_ms)
            (void)guard_remove_tree(dirfd(all), entry->d_name,
                                    NULL); /* the next sweep tries again */
    closedir(all);
}

mcp_status casparian_sweep(casparian_store *store, casparian_swept *out, mcp_error *err)
{
    casparian_swept swept = { 0 };
    db_session *session = NULL;
    mcp_status st = casparian_approval_expire(&swept.expired, store, err);
    if (st == MCP_OK)
        st = casparian_approval_settle(store, err);
    if (st == MCP_OK)
        st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_store_end(session, sweep_state(&swept, store, session, err), err);
    if (st == MCP_OK)
        st = casparian_ephemeral_sweep(store, &swept.ephemerals, err);
    mcp_status logs = sweep_logs(store, mcp_clock_wall_ms() - ttl_ms(store),
                                 st == MCP_OK ? err : NULL);
    st = st == MCP_OK ? logs : st;
    sweep_guests(store, mcp_clock_wall_ms());
    if (st == MCP_OK && out)
        *out = swept;
    return st;
}
