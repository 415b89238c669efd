/*
 * test_engine.c - an engine that cannot keep up: it looks again and again at runs whose steps wait
 * for the database already, or have no room to wait.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "../plane_rig.h"
#include "engine/engine.h"
#include "store/definitions.h"

enum { COMMITS_MAX = 4, RUNS = 300, LOOKS = 100, POLL_MS = 5, WAIT_S = 60 };

static plane_rig rig;
static char folder[] = "/tmp/causeway-engine-XXXXXX";

static const char workflow[] =
    "{\"schemaVersion\":1,\"workflowId\":\"wf-1\",\"workspaceId\":\"ws-1\",\"name\":\"one\","
    "\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":[{\"actionId\":\"a\","
    "\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":\"control:noop\"}]}";

/* A command that holds the database until it is let go. */
typedef struct hold {
    sem_t begun, go, ended;
    mcp_status status;
} hold;

static void wait_for(sem_t *told)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(told, &until), 0);
}

static mcp_status hold_database(portarium_tx *tx, void *data, mcp_error *err)
{
    hold *self = data;
    (void)tx, (void)err;
    sem_post(&self->begun);
    wait_for(&self->go);
    return MCP_OK;
}

static mcp_status do_nothing(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)tx, (void)data, (void)err;
    return MCP_OK;
}

static void ended(mcp_status status, const mcp_error *err, void *data)
{
    hold *self = data;
    (void)err;
    self->status = status;
    sem_post(&self->ended);
}

static mcp_status count_ended(portarium_tx *tx, void *data, mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM runs WHERE status = 'Succeeded'", NULL, 0, err);
    *(int64_t *)data = portarium_next(rows, &st, err) ? db_int_at(rows, 0) : -1;
    db_rows_free(rows);
    return st;
}

static void start_runs(void)
{
    char url[64];
    snprintf(url, sizeof url, "sqlite:%s/p.db", folder);
    rig_open_with(&rig, (portarium_plane_options){ .url = url, .has_no_engine = true });
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, workflow, 201);
    for (int i = 0; i < RUNS; i++)
        rig_expect(&rig, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-1\"}", 201);
}

static void expect_all_ended(void)
{
    mcp_error err = MCP_ERROR_INIT;
    int64_t count = 0;
    for (int i = 0; i < WAIT_S * 100 && count != RUNS; i++) {
        assert_int_equal(
            portarium_plane_read(rig.plane, "ws-1", rig.arena, count_ended, &count, &err), MCP_OK);
        usleep(10000);
    }
    assert_int_equal(count, RUNS);
}

static void remove_database(void)
{
    char path[64];
    static const char *const names[] = { "p.db", "p.db-wal", "p.db-shm" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
}

/* A hundred looks at 300 runs that are due, while nothing can be written. @param later the end of a
 * command that is submitted then */
static void look_while_held(portarium_settings settings, hold *later)
{
    static hold first;
    const portarium_engine_options options = { .poll_ms = POLL_MS };
    portarium_committer *committer = NULL;
    portarium_engine *engine = NULL;
    mcp_error err = MCP_ERROR_INIT;
    start_runs();
    const portarium_tx as = { .arena = rig.arena, .workspace = "ws-1", .actor = &rig_admin };
    db *database = portarium_plane_database(rig.plane);
    const portarium_shapes *shapes = portarium_plane_shapes(rig.plane);
    assert_int_equal(portarium_definitions_new(&settings.definitions, shapes, &err), MCP_OK);
    assert_int_equal(portarium_committer_new(&committer, database, &settings, NULL, NULL, &err),
                     MCP_OK);
    sem_init(&first.begun, 0, 0), sem_init(&first.go, 0, 0), sem_init(&first.ended, 0, 0);
    sem_init(&later->ended, 0, 0);
    portarium_commit_submit(committer, &as, hold_database, ended, &first);
    wait_for(&first.begun);
    assert_int_equal(portarium_engine_new(&engine, database, committer, &settings, &options, &err),
                     MCP_OK);
    usleep(LOOKS * 2 * POLL_MS * 1000);
    portarium_commit_submit(committer, &as, do_nothing, ended, later);
    sem_post(&first.go);
    wait_for(&first.ended);
    wait_for(&later->ended);
    expect_all_ended();
    portarium_engine_free(engine);
    portarium_committer_free(committer);
    portarium_definitions_free(settings.definitions);
    rig_close(&rig);
    remove_database();
}

/* The queue of the committer has room for 10,000 commands. */
static void a_run_is_queued_once(void **state)
{
    hold later;
    (void)state;
    look_while_held((portarium_settings){ .instance = "test", .has_engine = true }, &later);
    assert_int_equal(later.status, MCP_OK);
}

/* The steps that have no room are not of runs that cannot go on: all succeed. */
static void a_full_queue_ends_no_run(void **state)
{
    hold later;
    (void)state;
    look_while_held(
        (portarium_settings){ .instance = "test", .has_engine = true, .commits_max = COMMITS_MAX },
        &later);
    assert_int_equal(later.status, MCP_E_LIMIT);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_run_is_queued_once),
                                        cmocka_unit_test(a_full_queue_ends_no_run) };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
