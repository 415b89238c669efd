/*
 * store_rig.h - a casparian home in a temporary folder, and jobs and requests in its state.
 */
#ifndef STORE_RIG_H
#define STORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "jobs/approval.h"
#include "jobs/ephemeral.h"
#include "jobs/job.h"
#include "jobs/state/claim.h"
#include "jobs/store.h"

extern const mcp_file casparian_files[];

typedef struct store_rig {
    char home[64];
    casparian_settings settings;
    casparian_store_options options;
    casparian_store *store;
    mcp_arena *arena;
    mcp_error err;
} store_rig;

static inline void rig_expect(store_rig *rig, mcp_status st, mcp_status expected)
{
    if (st != expected)
        fail_msg("%s instead of %s: %s", mcp_status_words(st), mcp_status_words(expected),
                 rig->err.message);
}

/* Settings and options may be changed between this and rig_open. */
static inline void rig_init(store_rig *rig)
{
    *rig = (store_rig){ .err = MCP_ERROR_INIT };
    snprintf(rig->home, sizeof rig->home, "/tmp/casparian-XXXXXX");
    assert_non_null(mkdtemp(rig->home));
    rig->arena = mcp_arena_new((size_t)256 << 20);
    rig->options.home = rig->home;
    rig->options.files = casparian_files;
    rig->options.settings = &rig->settings;
}

static inline void rig_open(store_rig *rig)
{
    rig_expect(rig, casparian_store_open(&rig->store, &rig->options, &rig->err), MCP_OK);
}

static inline void rig_close(store_rig *rig)
{
    casparian_store_close(rig->store);
    mcp_arena_free(rig->arena);
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", rig->home, (char *)NULL);
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
}

static inline const mcp_json *rig_json(store_rig *rig, const char *text)
{
    const mcp_json *json = NULL;
    rig_expect(rig, mcp_json_read(&json, rig->arena, text, strlen(text), &rig->err), MCP_OK);
    return json;
}

static inline casparian_job_request rig_backtest(store_rig *rig)
{
    return (casparian_job_request){
        .type = CASPARIAN_JOB_BACKTEST,
        .plugin = { .name = "fix_parser",
                    .version = "1.2.0",
                    .artifact_hash = "aa",
                    .ref = rig_json(rig, "{\"plugin\":\"fix_parser\"}") },
        .input_dir = "/data/fix",
    };
}

static inline int64_t rig_queue(store_rig *rig)
{
    const casparian_job_request request = rig_backtest(rig);
    int64_t id = 0;
    rig_expect(rig, casparian_job_create(&id, NULL, rig->store, &request, &rig->err), MCP_OK);
    return id;
}

static inline casparian_job rig_job(store_rig *rig, int64_t id)
{
    casparian_job job;
    rig_expect(rig, casparian_job_read(&job, rig->store, rig->arena, id, &rig->err), MCP_OK);
    return job;
}

static inline casparian_claim rig_claim(store_rig *rig, const char *runner)
{
    casparian_claim claim = { .job = 0 };
    bool found = false;
    rig_expect(rig, casparian_claim_take(&claim, &found, rig->store, runner, &rig->err), MCP_OK);
    assert_true(found);
    return claim;
}

/* The types of a job's events, joined by spaces. */
static inline const char *rig_events(store_rig *rig, int64_t job)
{
    const casparian_event *events = NULL;
    size_t count = 0;
    static char text[2000];
    rig_expect(
        rig, casparian_job_events(&events, &count, rig->store, rig->arena, job, 0, 1000, &rig->err),
        MCP_OK);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].id, (int64_t)i + 1);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 events[i].type);
    }
    return text;
}

/* Run a statement on the state, as a test that lets time pass does. */
static inline void rig_sql(store_rig *rig, const char *sql)
{
    db_session *session = NULL;
    rig_expect(rig, db_begin(&session, casparian_store_database(rig->store), DB_WRITE, &rig->err),
               MCP_OK);
    rig_expect(rig, db_run(session, NULL, sql, NULL, 0, &rig->err), MCP_OK);
    rig_expect(rig, db_commit(session, &rig->err), MCP_OK);
}

static inline int64_t rig_count(store_rig *rig, const char *sql)
{
    db_session *session = NULL;
    int64_t value = 0;
    rig_expect(rig, db_begin(&session, casparian_store_database(rig->store), DB_READ, &rig->err),
               MCP_OK);
    rig_expect(rig, casparian_query_int(&value, -1, session, sql, NULL, 0, &rig->err), MCP_OK);
    rig_expect(rig, db_commit(session, &rig->err), MCP_OK);
    return value;
}

static inline casparian_schemas rig_schemas(store_rig *rig, const char *text)
{
    casparian_schemas schemas;
    rig_expect(
        rig,
        casparian_schemas_read(&schemas, rig->arena, rig_json(rig, text), NULL, NULL, &rig->err),
        MCP_OK);
    return schemas;
}

/* A request to run with two files. */
static inline casparian_approval rig_request(store_rig *rig)
{
    static const casparian_job_file files[] = {
        { .path = "/data/fix/a.fix", .size = 7000, .mtime_ns = 1700000000000000001, .inode = 5 },
        { .path = "/data/fix/b.fix", .size = 800, .mtime_ns = 1700000000000000002, .inode = 6 },
    };
    const casparian_run_request request = {
        .plugin = { .name = "fix_parser",
                    .version = "1.2.0",
                    .artifact_hash = "aa",
                    .ref = rig_json(rig, "{\"plugin\":\"fix_parser\"}") },
        .input_dir = "/data/fix",
        .sink_uri = "parquet:///data/out",
        .target_path = "/data/out",
        .files = files,
        .file_count = 2,
        .quarantine = casparian_quarantine_of_run(&rig->settings.quarantine, NULL, NULL),
        .requested_by = "client 1",
        .estimated_rows = -1,
    };
    casparian_approval approval;
    rig_expect(
        rig, casparian_approval_request_run(&approval, rig->store, rig->arena, &request, &rig->err),
        MCP_OK);
    return approval;
}

#endif
