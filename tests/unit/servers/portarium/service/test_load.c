/*
 * test_load.c - many runs that are started, moved and cancelled by many threads at once.
 */
#include "../plane_rig.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 6, RUNS = 20 };

static plane_rig rig;
static atomic_int performed, refused;

static void perform(portarium_result *out, const portarium_attempt *attempt,
                    const portarium_stop *stop, mcp_arena *arena, void *data)
{
    (void)arena, (void)data;
    atomic_fetch_add(&performed, 1);
    *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_DONE, .output = attempt->input };
    if (stop->is_set(stop->data))
        *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_FAILED,
                                   .error_class = PORTARIUM_CLASS_TRANSPORT };
}

static const portarium_executor fake = { .kind = "fake", .perform = perform };
static const portarium_executors executors = { .items = { { &fake, NULL } }, .count = 1 };

static mcp_status insert_adapter(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    return rig_insert_adapter(tx, "ad-1", "SoftwareDev", "fake", err);
}

static const char workflow[] =
    "{\"schemaVersion\":1,\"workflowId\":\"wf-1\",\"workspaceId\":\"ws-1\",\"name\":\"one\","
    "\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":["
    "{\"actionId\":\"a\",\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":\"pr:write\","
    "\"input\":{\"n\":1}},"
    "{\"actionId\":\"b\",\"order\":2,\"portFamily\":\"SoftwareDev\",\"operation\":"
    "\"control:wait\",\"input\":{\"durationMs\":5}},"
    "{\"actionId\":\"c\",\"order\":3,\"portFamily\":\"SoftwareDev\",\"operation\":\"pr:write\"}]}";

/* Start runs; pause and resume each third, cancel each fourth. */
static void *start_runs(void *data)
{
    plane_rig own = { .plane = rig.plane, .arena = mcp_arena_new((size_t)64 << 20) };
    (void)data;
    for (int i = 0; i < RUNS; i++) {
        if (rig_run(&own, &rig_operator, "startRun", NULL, "{\"workflowId\":\"wf-1\"}") != 201) {
            atomic_fetch_add(&refused, 1);
            continue;
        }
        const char *run = mcp_arena_printf(own.arena, "{\"runId\":\"%s\"}",
                                           mcp_json_get_string(rig_body(&own), "runId"));
        if (i % 3 == 0 &&
            rig_run(&own, &rig_operator, "interveneInRun", run,
                    "{\"interventionType\":\"pause\",\"rationale\":\"look here\"}") == 200)
            rig_run(&own, &rig_operator, "interveneInRun", run,
                    "{\"interventionType\":\"resume\",\"rationale\":\"continue\"}");
        if (i % 4 == 0)
            rig_run(&own, &rig_operator, "cancelRun", run, NULL);
    }
    mcp_arena_free(own.arena);
    return NULL;
}

static mcp_status count_open(portarium_tx *tx, void *data, mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM runs WHERE status NOT IN ('Succeeded', "
                             "'Cancelled')",
                             NULL, 0, err);
    *(int64_t *)data = portarium_next(rows, &st, err) ? db_int_at(rows, 0) : -1;
    db_rows_free(rows);
    return st;
}

static void every_run_ends(void **state)
{
    pthread_t threads[THREADS];
    mcp_error err = MCP_ERROR_INIT;
    int64_t open = -1;
    (void)state;
    rig_open_with(
        &rig, (portarium_plane_options){ .url = "memory", .engine = { .executors = &executors } });
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, insert_adapter, NULL, &err), MCP_OK);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, workflow, 201);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_runs, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&refused), 0);
    for (int i = 0; i < 6000 && open != 0; i++) {
        assert_int_equal(
            portarium_plane_read(rig.plane, "ws-1", rig.arena, count_open, &open, &err), MCP_OK);
        usleep(10000);
    }
    assert_int_equal(open, 0);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_run_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
