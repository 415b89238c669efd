/*
 * test_deaths.c - what is left of a job whose process dies, at any point of its way: all of its
 * outputs or none, and in the end each row once.
 *
 * The process that dies is this program, started again.
 */
#include <signal.h>

#include "drive_rig.h"
#include "sinks/verify.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_UNDER_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define IS_UNDER_TSAN
#endif

/* What a second folder is: one of files, or that of a database. TSan reports races within
 * libduckdb, whose atomic operations it does not see: the other sanitizers run that part. */
#ifdef IS_UNDER_TSAN
enum { OF_FILES, OF_A_DATABASE, FOLDERS = OF_A_DATABASE };
#else
enum { OF_FILES, OF_A_DATABASE, FOLDERS };
#endif

#ifdef CAUSEWAY_FAULT_POINTS
static const char *own_path;

/* In a process of its own: claim the job of that home, and run it until the fault. */
static int run_until_fault(const char *home, const char *root)
{
    drive_rig rig = { .registry = NULL };
    casparian_claim claim;
    bool found = false;
    atomic_int stop = CASPARIAN_STOP_NONE;
    snprintf(rig.base.home, sizeof rig.base.home, "%s", home);
    snprintf(rig.root, sizeof rig.root, "%s", root);
    rig.base.arena = mcp_arena_new((size_t)64 << 20);
    rig.base.options = (casparian_store_options){ .home = rig.base.home,
                                                  .files = casparian_files,
                                                  .settings = &rig.base.settings };
    const casparian_registry_options plugins = { .allow_unsigned_python = true,
                                                 .allow_dev_plugins = true };
    mcp_status st = casparian_store_open(&rig.base.store, &rig.base.options, &rig.base.err);
    if (st == MCP_OK)
        st = casparian_registry_new(&rig.registry, &plugins, &rig.base.err);
    const casparian_driver_options options = { .store = rig.base.store, .registry = rig.registry };
    if (st == MCP_OK)
        st = casparian_driver_new(&rig.driver, &options, &rig.base.err);
    if (st == MCP_OK)
        st = casparian_claim_take(&claim, &found, rig.base.store, "dies", &rig.base.err);
    if (st == MCP_OK && found)
        st = casparian_driver_run(rig.driver, &claim, &stop, &rig.base.err);
    drive_stop(&rig);
    casparian_store_close(rig.base.store);
    mcp_arena_free(rig.base.arena);
    return st == MCP_OK ? 0 : 1;
}

/* False: the process ended by itself, because there is no such point any more. */
static bool dies_at(drive_rig *rig, const char *fault)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv("CAUSEWAY_FAULT", fault, 1);
        execl(own_path, own_path, "--die", rig->base.home, rig->root, (char *)NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Whether the outputs are there: all of them or none. */
static bool is_committed(drive_rig *rig)
{
    int files = drive_files(rig, ".csv");
    int64_t known = rig_count(&rig->base, "SELECT count(*) FROM cf_outputs WHERE is_committed = 1");
    if ((files != 0 && files != 2) || known != files)
        fail_msg("%d files, of which the state knows %d", files, (int)known);
    return files == 2;
}

/* A run of two files is queued. */
static int64_t queue_run(drive_rig *rig)
{
    drive_init(rig);
    drive_start(rig);
    drive_write(rig, "in/a.csv", "1,10\n2,20\n");
    drive_write(rig, "in/b.csv", "3,30\n");
    const casparian_sink_uri sink = drive_sink(rig, "csv");
    return drive_queue(rig, NULL, &sink, 0);
}

/* The job's process has died: the next runner recovers the job. */
static bool recover_run(drive_rig *rig, int64_t id)
{
    store_rig *base = &rig->base;
    casparian_claim claim;
    bool found = false;
    assert_int_equal(rig_job(base, id).state, CASPARIAN_JOB_RUNNING);
    assert_int_equal(rig_count(base, "SELECT count(*) FROM cf_outputs WHERE is_committed = 1"), 0);
    rig_sql(base, "UPDATE cf_api_jobs SET lease_until = 1");
    rig_expect(base, casparian_claim_take_expired(&claim, &found, base->store, "r2", &base->err),
               MCP_OK);
    assert_true(found);
    rig_expect(base, casparian_driver_recover(rig->driver, &claim, &base->err), MCP_OK);
    return is_committed(rig);
}

/* Whatever has happened before, each row is there once in the end. */
static void finish_run(drive_rig *rig, int64_t id, bool was_committed)
{
    if (!was_committed) {
        assert_int_equal(rig_job(&rig->base, id).state, CASPARIAN_JOB_QUEUED);
        drive_run_claimed(rig, MCP_OK);
    }
    casparian_job job = rig_job(&rig->base, id);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 3);
    assert_true(is_committed(rig));
    assert_int_equal(drive_lines(rig, "trades"), 3);
    assert_int_equal(rig_count(&rig->base, "SELECT count(*) FROM cf_api_events WHERE "
                                           "event_type = 'job_finished'"),
                     1);
    drive_close(rig);
}

static void a_process_that_dies_leaves_all_or_nothing(void **state)
{
    static const struct {
        const char *fault;
        bool commits; /* the job is complete once it was settled */
    } rows[] = {
        { "claimed:1", false },   { "file-begun:1", false }, { "file-begun:2", false },
        { "file-done:2", false }, { "prepared:1", false },   { "guarded:1", false },
        { "renamed:1", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        drive_rig rig;
        int64_t id = queue_run(&rig);
        if (!dies_at(&rig, rows[i].fault))
            fail_msg("%s: the process has not died", rows[i].fault);
        bool has_committed = recover_run(&rig, id);
        if (has_committed != rows[i].commits)
            fail_msg("%s: committed: %d", rows[i].fault, has_committed);
        finish_run(&rig, id, has_committed);
    }
}

static void at_each_step_of_a_commit_a_death_leaves_all_or_nothing(void **state)
{
    int steps = 0;
    (void)state;
    for (bool died = true; died; steps += died) {
        char fault[24];
        drive_rig rig;
        int64_t id = queue_run(&rig);
        snprintf(fault, sizeof fault, "commit:%d", steps + 1);
        died = dies_at(&rig, fault);
        finish_run(&rig, id, died ? recover_run(&rig, id) : true);
    }
    assert_true(steps >= 2); /* between two renames, for one */
}

/* ---- several sinks --------------------------------------------------------------------------- */

/* A run of the same files, whose two outputs go to two folders: trades into out2. */
static int64_t queue_routed(drive_rig *rig, bool is_database)
{
    drive_init(rig);
    drive_start(rig);
    drive_write(rig, "in/a.csv", "1,10\n2,20\n");
    drive_write(rig, "in/b.csv", "3,30\n");
    const casparian_sink_uri sink = drive_sink(rig, "csv");
    const char *scheme = is_database ? "duckdb" : "csv", *file = is_database ? "out2/x.db" : "out2";
    const casparian_route routes[] = { { .topic = "notes", .uri = sink.text },
                                       { .topic = "trades",
                                         .uri = mcp_arena_printf(rig->base.arena, "%s://%s/%s",
                                                                 scheme, rig->root, file) } };
    const casparian_spec spec = { .routes = routes, .route_count = 2 };
    return drive_queue(rig, &spec, &sink, 0);
}

/* What the manifests of a folder say is there: the outputs of one job, or nothing. */
static bool has_output(drive_rig *rig, const char *folder, bool is_database)
{
    casparian_verified found = { .manifests = 0 };
    int fd = open(drive_path(rig, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    rig_expect(&rig->base, casparian_verify(&found, fd, NULL, NULL, NULL, &rig->base.err), MCP_OK);
    close(fd);
    if (found.manifests == 0 && is_database)
        return false; /* the file may be there, and no manifest names it */
    assert_int_equal(found.failures, 0);
    assert_int_equal(found.outputs, found.manifests);
    assert_true(found.manifests <= 1);
    return found.manifests == 1;
}

static bool is_routed(drive_rig *rig, bool is_database)
{
    bool has_notes = has_output(rig, "out", false);
    bool has_trades = has_output(rig, "out2", is_database);
    int64_t known = rig_count(&rig->base, "SELECT count(*) FROM cf_outputs WHERE is_committed = 1");
    if (has_notes != has_trades || known != 2 * has_notes)
        fail_msg("notes: %d, trades: %d, and the state knows %d", has_notes, has_trades,
                 (int)known);
    return has_notes;
}

/* The job's process has died: the next runner recovers the job. */
static mcp_status recover(drive_rig *rig)
{
    store_rig *base = &rig->base;
    casparian_claim claim;
    bool found = false;
    rig_sql(base, "UPDATE cf_api_jobs SET lease_until = 1 WHERE lease_owner IS NOT NULL");
    rig_expect(base, casparian_claim_take_expired(&claim, &found, base->store, "r2", &base->err),
               MCP_OK);
    assert_true(found);
    return casparian_driver_recover(rig->driver, &claim, &base->err);
}

static void finish_routed(drive_rig *rig, int64_t id, bool is_database)
{
    if (!is_routed(rig, is_database)) {
        assert_int_equal(rig_job(&rig->base, id).state, CASPARIAN_JOB_QUEUED);
        drive_run_claimed(rig, MCP_OK);
    }
    casparian_job job = rig_job(&rig->base, id);
    drive_expect_state(&job, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(drive_int(job.result, "/outputs/trades/rows_written"), 3);
    assert_true(is_routed(rig, is_database));
    assert_int_equal(rig_count(&rig->base, "SELECT count(DISTINCT manifest_sha256) FROM "
                                           "cf_outputs"),
                     2);
    drive_close(rig);
}

static void a_death_leaves_all_or_nothing_in_several_folders(void **state)
{
    (void)state;
    for (int i = 0; i < FOLDERS; i++) {
        int steps = 0;
        for (bool died = true; died; steps += died) {
            char fault[24];
            drive_rig rig;
            int64_t id = queue_routed(&rig, i == OF_A_DATABASE);
            snprintf(fault, sizeof fault, "commit:%d", steps + 1);
            died = dies_at(&rig, fault);
            if (died)
                rig_expect(&rig.base, recover(&rig), MCP_OK);
            finish_routed(&rig, id, i == OF_A_DATABASE);
        }
        assert_true(steps >= 10); /* two outputs, two manifests, four renames and more */
    }
}

static void a_folder_that_is_away_keeps_one_job_alone_from_its_end(void **state)
{
    drive_rig rig;
    (void)state;
    int64_t id = queue_routed(&rig, false);
    assert_true(dies_at(&rig, "renamed:1"));
    const char *path = drive_path(&rig, "out2"), *away = drive_path(&rig, "away");
    assert_int_equal(rename(path, away), 0);
    rig_expect(&rig.base, recover(&rig), MCP_E_NOT_FOUND);
    assert_non_null(strstr(rig.base.err.message, path));
    assert_int_equal(rig_job(&rig.base, id).state, CASPARIAN_JOB_RUNNING);
    assert_int_equal(rig_count(&rig.base, "SELECT count(*) FROM cf_outputs WHERE is_committed = 1"),
                     0);
    /* The others go on, of which one may run at once. */
    drive_queue(&rig, NULL, NULL, 0);
    casparian_job other = drive_run_claimed(&rig, MCP_OK);
    drive_expect_state(&other, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(rename(away, path), 0);
    rig_expect(&rig.base, recover(&rig), MCP_OK);
    finish_routed(&rig, id, false);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_dies_leaves_all_or_nothing),
        cmocka_unit_test(at_each_step_of_a_commit_a_death_leaves_all_or_nothing),
        cmocka_unit_test(a_death_leaves_all_or_nothing_in_several_folders),
        cmocka_unit_test(a_folder_that_is_away_keeps_one_job_alone_from_its_end),
    };
    own_path = arguments[0];
    if (count == 4 && strcmp(arguments[1], "--die") == 0)
        return run_until_fault(arguments[2], arguments[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0; /* a build without the points has nothing to die at */
}
#endif
