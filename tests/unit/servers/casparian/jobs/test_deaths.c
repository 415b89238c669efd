/*
 * test_deaths.c - what is left of a job whose process dies, at any point of its way: all of its
 * outputs or none, and in the end each row once.
 *
 * The process that dies is this program, started again.
 */
#include <signal.h>

#include "drive_rig.h"

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

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_dies_leaves_all_or_nothing),
        cmocka_unit_test(at_each_step_of_a_commit_a_death_leaves_all_or_nothing),
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
