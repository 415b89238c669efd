/*
 * test_approvals.c - requests: what they bind, who decides first, when they are over, and what
 * follows.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "guard/audit.h"
#include "jobs/sweep.h"
#include "store_rig.h"

static casparian_decided decide(store_rig *rig, const char *id, bool approves,
                                casparian_approval *approval)
{
    const casparian_decision decision = {
        .id = id, .approves = approves, .by = "cli:ada@host", .reason = approves ? NULL : "not now"
    };
    casparian_decided decided = CASPARIAN_DECIDED_ABSENT;
    rig_expect(
        rig,
        casparian_approval_decide(&decided, approval, rig->store, rig->arena, &decision, &rig->err),
        MCP_OK);
    return decided;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void a_request_says_what_it_binds(void **state)
{
    store_rig rig;
    int64_t count = 0;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    casparian_approval approval = rig_request(&rig);
    assert_string_equal(approval.status, "pending");
    assert_string_equal(approval.operation, "run");
    assert_true(casparian_approval_id_is_valid(approval.id));
    assert_int_equal(approval.expires_ms - approval.created_ms, 3600000);
    assert_string_equal(mcp_json_get_string(approval.summary, "description"),
                        "Run fix_parser@1.2.0 on 2 files (7.6 KiB) from /data/fix → "
                        "parquet:///data/out; schemas: none, inferred; quarantine: not allowed");
    assert_true(mcp_json_int(mcp_json_get(approval.summary, "file_count"), &count));
    assert_int_equal(count, 2);
    assert_string_equal(mcp_json_get_string(approval.snapshot, "artifact_hash"), "aa");
    assert_true(mcp_json_int(mcp_json_get(approval.snapshot, "total_bytes"), &count));
    assert_int_equal(count, 7800);
    /* printf '/data/fix/a.fix\x1f7000\x1f1700000000000000001\x1f5\x1f...' | sha256sum */
    assert_string_equal(mcp_json_get_string(approval.snapshot, "files_sha256"),
                        "7a0b5612d392f92599b16dba9d59d0856d325b6ed5307680ff86dbe158bb8fd3");
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_jobs"), 0);
    rig_close(&rig);
}

static void an_approved_run_has_its_job_and_its_files(void **state)
{
    const casparian_job_outcome *files = NULL;
    casparian_approval approval;
    size_t count = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const char *id = rig_request(&rig).id;
    assert_int_equal(decide(&rig, id, true, &approval), CASPARIAN_DECIDED_APPROVED);
    assert_true(approval.job > 0);
    assert_string_equal(approval.decided_by, "cli:ada@host");
    casparian_job job = rig_job(&rig, approval.job);
    assert_int_equal(job.state, CASPARIAN_JOB_QUEUED);
    assert_int_equal(job.type, CASPARIAN_JOB_RUN);
    assert_string_equal(job.approval_id, id);
    assert_string_equal(job.sink_uri, "parquet:///data/out");
    assert_string_equal(rig_events(&rig, job.id), "job_queued");
    rig_expect(
        &rig, casparian_job_files(&files, &count, rig.store, rig.arena, job.id, NULL, 10, &rig.err),
        MCP_OK);
    assert_int_equal(count, 2);
    assert_string_equal(files[1].file.path, "/data/fix/b.fix");
    assert_int_equal(files[1].file.mtime_ns, 1700000000000000002);
    assert_string_equal(files[1].status, "pending");

    assert_int_equal(decide(&rig, id, true, &approval), CASPARIAN_DECIDED_ALREADY_APPROVED);
    assert_int_equal(decide(&rig, id, false, &approval), CASPARIAN_DECIDED_ALREADY_APPROVED);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_jobs"), 1);
    rig_close(&rig);
}

static void a_rejected_run_keeps_its_reason(void **state)
{
    casparian_approval approval;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const char *id = rig_request(&rig).id;
    assert_int_equal(decide(&rig, id, false, &approval), CASPARIAN_DECIDED_REJECTED);
    assert_string_equal(approval.rejection_reason, "not now");
    assert_int_equal(decide(&rig, id, true, &approval), CASPARIAN_DECIDED_ALREADY_REJECTED);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_jobs"), 0);
    assert_int_equal(decide(&rig, "00000000-0000-4000-8000-000000000000", true, &approval),
                     CASPARIAN_DECIDED_ABSENT);
    assert_int_equal(decide(&rig, "../../etc/passwd", true, &approval), CASPARIAN_DECIDED_ABSENT);
    rig_close(&rig);
}

static void an_overdue_request_cannot_be_approved(void **state)
{
    const casparian_approval *all = NULL;
    casparian_approval approval;
    size_t count = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const char *first = rig_request(&rig).id;
    const char *second = rig_request(&rig).id;
    const char *third = rig_request(&rig).id;
    rig_sql(&rig, "UPDATE cf_api_approvals SET expires_at = 1");
    assert_int_equal(decide(&rig, first, true, &approval), CASPARIAN_DECIDED_EXPIRED);
    assert_string_equal(approval.status, "expired");
    rig_expect(&rig, casparian_approval_read(&approval, rig.store, rig.arena, second, &rig.err),
               MCP_OK);
    assert_string_equal(approval.status, "expired");
    rig_expect(&rig,
               casparian_approval_list(&all, &count, rig.store, rig.arena, "pending", 50, &rig.err),
               MCP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(decide(&rig, third, false, &approval), CASPARIAN_DECIDED_EXPIRED);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_jobs"), 0);
    rig_close(&rig);
}

static void a_full_queue_leaves_the_request_pending(void **state)
{
    casparian_decided decided;
    casparian_approval approval;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig.settings.jobs.max_queued = 1;
    rig_open(&rig);
    rig_queue(&rig);
    const char *id = rig_request(&rig).id;
    const casparian_decision decision = { .id = id, .approves = true, .by = "cli:ada@host" };
    rig_expect(
        &rig,
        casparian_approval_decide(&decided, &approval, rig.store, rig.arena, &decision, &rig.err),
        MCP_E_LIMIT);
    rig_expect(&rig, casparian_approval_read(&approval, rig.store, rig.arena, id, &rig.err),
               MCP_OK);
    assert_string_equal(approval.status, "pending");
    rig_close(&rig);
}

static void a_decision_about_another_snapshot_is_refused(void **state)
{
    casparian_decided decided;
    casparian_approval approval;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    casparian_approval request = rig_request(&rig);
    casparian_decision decision = {
        .id = request.id, .approves = true, .by = "cli:ada@host", .snapshot_sha256 = "0000"
    };
    rig_expect(
        &rig,
        casparian_approval_decide(&decided, &approval, rig.store, rig.arena, &decision, &rig.err),
        MCP_E_EXISTS);
    decision.snapshot_sha256 = request.snapshot_sha256;
    rig_expect(
        &rig,
        casparian_approval_decide(&decided, &approval, rig.store, rig.arena, &decision, &rig.err),
        MCP_OK);
    assert_int_equal(decided, CASPARIAN_DECIDED_APPROVED);
    rig_close(&rig);
}

/* ---- races ----------------------------------------------------------------------------------- */

typedef struct decider {
    pthread_t thread;
    const store_rig *rig;
    const char *id;
    bool approves;
    casparian_decided decided;
} decider;

static void *run_decider(void *data)
{
    decider *self = data;
    casparian_store *store = NULL;
    casparian_approval approval;
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(1 << 20);
    const casparian_decision decision = { .id = self->id,
                                          .approves = self->approves,
                                          .by = "cli:ada@host" };
    mcp_status st = casparian_store_open(&store, &self->rig->options, &err);
    if (st == MCP_OK)
        st = casparian_approval_decide(&self->decided, &approval, store, arena, &decision, &err);
    casparian_store_close(store);
    mcp_arena_free(arena);
    return st == MCP_OK ? NULL : self;
}

static void of_two_deciders_one_decides(void **state)
{
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig.settings.jobs.max_queued = 1000;
    rig_open(&rig);
    for (int round = 0; round < 30; round++) {
        decider both[2];
        int decisions = 0;
        const char *id = rig_request(&rig).id;
        for (int i = 0; i < 2; i++) {
            both[i] = (decider){ .rig = &rig, .id = id, .approves = i == 0 || round % 2 == 0 };
            assert_int_equal(pthread_create(&both[i].thread, NULL, run_decider, &both[i]), 0);
        }
        for (int i = 0; i < 2; i++) {
            void *failed = NULL;
            pthread_join(both[i].thread, &failed);
            assert_null(failed);
            decisions += both[i].decided <= CASPARIAN_DECIDED_REJECTED;
        }
        assert_int_equal(decisions, 1);
    }
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_jobs"),
                     rig_count(&rig, "SELECT count(*) FROM cf_api_approvals WHERE "
                                     "status = 'approved'"));
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_approvals WHERE "
                                     "status = 'pending'"),
                     0);
    rig_close(&rig);
}

/* ---- promotions ------------------------------------------------------------------------------ */

static const char *promote(store_rig *rig, const char *path)
{
    const casparian_schemas schemas = rig_schemas(
        rig, "{\"trades\":{\"output_name\":\"trades\",\"columns\":[{\"name\":\"id\","
             "\"type\":\"int64\",\"nullable\":false}]}}");
    casparian_promotion code;
    casparian_approval approval;
    rig_expect(rig,
               casparian_promote(&code, rig->arena, &schemas,
                                 "eph_00000000-0000-4000-8000-000000000000", path, &rig->err),
               MCP_OK);
    const casparian_promote_request request = {
        .ephemeral_id = "eph_00000000-0000-4000-8000-000000000000",
        .output_path = path,
        .code = &code
    };
    rig_expect(
        rig,
        casparian_approval_request_promote(&approval, rig->store, rig->arena, &request, &rig->err),
        MCP_OK);
    return approval.id;
}

static void an_approved_promotion_is_written_once(void **state)
{
    char path[128];
    struct stat what;
    int64_t bytes = 0;
    casparian_approval approval;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    snprintf(path, sizeof path, "%s/trades.py", rig.home);
    const char *first = promote(&rig, path);
    const char *second = promote(&rig, path);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(decide(&rig, first, true, &approval), CASPARIAN_DECIDED_APPROVED);
    assert_int_equal(stat(path, &what), 0);
    assert_true(mcp_json_int(mcp_json_get(approval.result, "bytes"), &bytes));
    assert_int_equal(bytes, what.st_size);
    assert_string_equal(mcp_json_get_string(approval.result, "sha256"),
                        mcp_json_get_string(approval.snapshot, "code_sha256"));
    assert_int_equal(approval.job, 0);
    assert_int_equal(decide(&rig, second, true, &approval), CASPARIAN_DECIDED_APPROVED);
    assert_non_null(strstr(mcp_json_get_string(approval.result, "error"), "exists already"));
    rig_close(&rig);
}

/* As a process leaves it that is killed after the decision. */
static void forget_result(store_rig *rig, const char *id)
{
    const db_value value = db_text(id);
    db_session *session = NULL;
    rig_expect(rig, db_begin(&session, casparian_store_database(rig->store), DB_WRITE, &rig->err),
               MCP_OK);
    rig_expect(rig,
               db_run(session, NULL,
                      "UPDATE cf_api_approvals SET result_json = NULL, decided_at = decided_at - "
                      "60000 WHERE approval_id = $1",
                      &value, 1, &rig->err),
               MCP_OK);
    rig_expect(rig, db_commit(session, &rig->err), MCP_OK);
}

static void a_promotion_that_was_killed_is_settled(void **state)
{
    char path[128], other[128];
    casparian_approval approval;
    int64_t bytes = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    snprintf(path, sizeof path, "%s/trades.py", rig.home);
    snprintf(other, sizeof other, "%s/others.py", rig.home);
    const char *id = promote(&rig, path);
    const char *lost = promote(&rig, other);
    assert_int_equal(decide(&rig, id, true, &approval), CASPARIAN_DECIDED_APPROVED);
    assert_int_equal(decide(&rig, lost, true, &approval), CASPARIAN_DECIDED_APPROVED);
    forget_result(&rig, id);
    forget_result(&rig, lost);
    assert_int_equal(unlink(other), 0);
    rig_expect(&rig, casparian_sweep(rig.store, NULL, &rig.err), MCP_OK);
    rig_expect(&rig, casparian_approval_read(&approval, rig.store, rig.arena, id, &rig.err),
               MCP_OK);
    assert_true(mcp_json_int(mcp_json_get(approval.result, "bytes"), &bytes));
    assert_null(mcp_json_get_string(approval.result, "error"));
    rig_expect(&rig, casparian_approval_read(&approval, rig.store, rig.arena, lost, &rig.err),
               MCP_OK);
    const char *why = mcp_json_get_string(approval.result, "error");
    assert_non_null(why);
    assert_non_null(strstr(why, "interrupted"));
    assert_int_equal(access(other, F_OK), -1);
    forget_result(&rig, lost); /* a read alone says so, too */
    rig_expect(&rig, casparian_approval_read(&approval, rig.store, rig.arena, lost, &rig.err),
               MCP_OK);
    assert_non_null(mcp_json_get_string(approval.result, "error"));
    rig_close(&rig);
}

static mcp_status refuse_folder(int *fd, const char *path, void *data, mcp_error *err)
{
    (void)fd;
    (void)data;
    return mcp_error_set(err, MCP_E_DENIED, "%s is not allowed", path);
}

static void a_promotion_outside_the_roots_is_not_written(void **state)
{
    char path[128];
    casparian_decided decided;
    casparian_approval approval;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    snprintf(path, sizeof path, "%s/trades.py", rig.home);
    const casparian_decision decision = {
        .id = promote(&rig, path), .approves = true, .by = "tool:x", .open_folder = refuse_folder
    };
    rig_expect(
        &rig,
        casparian_approval_decide(&decided, &approval, rig.store, rig.arena, &decision, &rig.err),
        MCP_OK);
    assert_non_null(strstr(mcp_json_get_string(approval.result, "error"), "is not allowed"));
    assert_int_equal(access(path, F_OK), -1);
    rig_close(&rig);
}

/* ---- the audit and the sweep ----------------------------------------------------------------- */

static int lines_of(const char *path, const char *part)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, part) != NULL;
    fclose(file);
    return count;
}

static void each_step_is_in_the_audit(void **state)
{
    char path[128];
    casparian_approval approval;
    guard_audit *audit = NULL;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    snprintf(path, sizeof path, "%s/audit.ndjson", rig.home);
    rig_expect(&rig, guard_audit_open(&audit, path, NULL, &rig.err), MCP_OK);
    rig.options.audit = audit;
    rig_open(&rig);
    decide(&rig, rig_request(&rig).id, true, &approval);
    decide(&rig, rig_request(&rig).id, false, &approval);
    const char *late = rig_request(&rig).id;
    rig_sql(&rig, "UPDATE cf_api_approvals SET expires_at = 1");
    decide(&rig, late, true, &approval);
    assert_int_equal(lines_of(path, "\"action\":\"requested\""), 3);
    assert_int_equal(lines_of(path, "\"action\":\"approved\""), 1);
    assert_int_equal(lines_of(path, "\"action\":\"rejected\""), 1);
    assert_int_equal(lines_of(path, "\"action\":\"expired\""), 1);
    assert_int_equal(lines_of(path, "\"decided_by\":\"cli:ada@host\""), 2);
    rig_close(&rig);
    guard_audit_close(audit);
}

static void without_its_audit_nothing_is_decided(void **state)
{
    char path[128];
    char moved[160];
    casparian_decided decided;
    casparian_approval approval;
    guard_audit *audit = NULL;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    snprintf(path, sizeof path, "%s/logs", rig.home);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(moved, sizeof moved, "%s/audit.ndjson", path);
    rig_expect(&rig, guard_audit_open(&audit, moved, NULL, &rig.err), MCP_OK);
    rig.options.audit = audit;
    rig.options.is_audit_required = true;
    rig_open(&rig);
    const char *id = rig_request(&rig).id;
    snprintf(moved, sizeof moved, "%s/gone", rig.home);
    assert_int_equal(rename(path, moved), 0);
    const casparian_decision decision = { .id = id, .approves = true, .by = "cli:ada@host" };
    assert_int_not_equal(
        casparian_approval_decide(&decided, &approval, rig.store, rig.arena, &decision, &rig.err),
        MCP_OK);
    assert_non_null(strstr(rig.err.message, "audit"));
    rig_expect(&rig, casparian_approval_read(&approval, rig.store, rig.arena, id, &rig.err),
               MCP_OK);
    assert_string_equal(approval.status, "pending");
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_jobs"), 0);
    rig_close(&rig);
    guard_audit_close(audit);
}

static void old_jobs_and_requests_go(void **state)
{
    casparian_approval approval;
    casparian_swept swept;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    decide(&rig, rig_request(&rig).id, true, &approval);
    int64_t of_request = approval.job;
    casparian_claim claim = rig_claim(&rig, "r");
    const casparian_end end = { .state = CASPARIAN_JOB_COMPLETED, .result = "{}" };
    rig_expect(&rig, casparian_claim_finish(rig.store, &claim, &end, &rig.err), MCP_OK);
    int64_t alone = rig_queue(&rig);
    claim = rig_claim(&rig, "r");
    rig_expect(&rig, casparian_claim_finish(rig.store, &claim, &end, &rig.err), MCP_OK);
    int64_t waiting = rig_queue(&rig);
    rig_expect(&rig, casparian_sweep(rig.store, &swept, &rig.err), MCP_OK);
    assert_int_equal(swept.jobs, 0);

    rig_sql(&rig, "UPDATE cf_api_jobs SET finished_at = finished_at - 25 * 3600000");
    rig_expect(&rig, casparian_sweep(rig.store, &swept, &rig.err), MCP_OK);
    assert_int_equal(swept.jobs, 1);
    assert_string_equal(rig_events(&rig, of_request), "");
    assert_int_equal(rig_job(&rig, of_request).state, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(
        casparian_job_read(&(casparian_job){ .id = 0 }, rig.store, rig.arena, alone, &rig.err),
        MCP_E_NOT_FOUND);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_job_files"), 2);

    rig_sql(&rig, "UPDATE cf_api_approvals SET decided_at = decided_at - 8 * 86400000");
    rig_expect(&rig, casparian_sweep(rig.store, &swept, &rig.err), MCP_OK);
    assert_int_equal(swept.approvals, 1);
    assert_int_equal(swept.jobs, 1);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_job_files"), 0);
    assert_int_equal(rig_job(&rig, waiting).state, CASPARIAN_JOB_QUEUED);
    rig_close(&rig);
}

/* A log that was written last `hours` ago. */
static void write_log(const store_rig *rig, int64_t job, int hours)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/logs", rig->home);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/logs/jobs", rig->home);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/logs/jobs/%lld.log", rig->home, (long long)job);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
                                 { .tv_sec = time(NULL) - (time_t)hours * 3600 } };
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static bool has_log(const store_rig *rig, int64_t job)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/logs/jobs/%lld.log", rig->home, (long long)job);
    return access(path, F_OK) == 0;
}

/* However long it has been silent. */
static void the_log_of_a_job_stays_as_long_as_the_job(void **state)
{
    const casparian_end end = { .state = CASPARIAN_JOB_COMPLETED, .result = "{}" };
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t ended = rig_queue(&rig);
    casparian_claim claim = rig_claim(&rig, "r");
    rig_expect(&rig, casparian_claim_finish(rig.store, &claim, &end, &rig.err), MCP_OK);
    int64_t running = rig_queue(&rig);
    claim = rig_claim(&rig, "r");
    write_log(&rig, ended, 25);
    write_log(&rig, running, 25);
    write_log(&rig, 77777, 25); /* its job is gone */
    rig_expect(&rig, casparian_sweep(rig.store, NULL, &rig.err), MCP_OK);
    assert_true(has_log(&rig, ended));
    assert_true(has_log(&rig, running));
    assert_false(has_log(&rig, 77777));
    rig_sql(&rig, "UPDATE cf_api_jobs SET finished_at = finished_at - 25 * 3600000");
    rig_expect(&rig, casparian_sweep(rig.store, NULL, &rig.err), MCP_OK);
    assert_false(has_log(&rig, ended));
    assert_true(has_log(&rig, running));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_says_what_it_binds),
        cmocka_unit_test(an_approved_run_has_its_job_and_its_files),
        cmocka_unit_test(a_rejected_run_keeps_its_reason),
        cmocka_unit_test(an_overdue_request_cannot_be_approved),
        cmocka_unit_test(a_full_queue_leaves_the_request_pending),
        cmocka_unit_test(a_decision_about_another_snapshot_is_refused),
        cmocka_unit_test(of_two_deciders_one_decides),
        cmocka_unit_test(an_approved_promotion_is_written_once),
        cmocka_unit_test(a_promotion_that_was_killed_is_settled),
        cmocka_unit_test(a_promotion_outside_the_roots_is_not_written),
        cmocka_unit_test(each_step_is_in_the_audit),
        cmocka_unit_test(without_its_audit_nothing_is_decided),
        cmocka_unit_test(old_jobs_and_requests_go),
        cmocka_unit_test(the_log_of_a_job_stays_as_long_as_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
