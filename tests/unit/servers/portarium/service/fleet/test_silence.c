/*
 * test_silence.c - agents that fall silent, by a clock that the test sets: the limits are those of
 * the defaults, to the millisecond.
 *
 * SQLite asks the process for the time: the linker puts __wrap_mcp_clock_wall_ms in that function's
 * place (tests/CMakeLists.txt). PostgreSQL asks itself: a schema with another clock_timestamp
 * precedes pg_catalog.
 */
#include "../../plane_rig.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "engine.h"
#include "mcp/clock.h"

enum { STALE_MS = 60000, OFFLINE_MS = 300000 };

/* How much later the second one reports. The clock of these tests stands still, and what only
 * reads adds what has passed here (db_now_recent). */
enum { LATER_MS = 30000 };

static const int64_t begin_ms = 1900000000000;

static plane_rig rig;
static _Atomic int64_t clock_ms;

int64_t __wrap_mcp_clock_wall_ms(void);
int64_t __wrap_mcp_clock_wall_ms(void)
{
    return clock_ms;
}

/* ---- the clock ------------------------------------------------------------------------------- */

static bool is_postgres(const engine *e)
{
    return strncmp(e->url, "postgres", 8) == 0;
}

static void set_clock(const engine *e, int64_t ms)
{
    char sql[96];
    clock_ms = ms;
    snprintf(sql, sizeof sql, "UPDATE fake.clock SET ms = %" PRId64, ms);
    if (is_postgres(e))
        engine_run(e->db, sql);
}

static void make_clock(const engine *e)
{
    static const char *const statements[] = {
        "DROP SCHEMA IF EXISTS fake CASCADE",
        "CREATE SCHEMA fake",
        "CREATE TABLE fake.clock (ms BIGINT)",
        "INSERT INTO fake.clock VALUES (0)",
        ("CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
         "'SELECT timestamptz ''epoch'' + ms * interval ''1 ms'' FROM fake.clock'"),
    };
    for (size_t i = 0; is_postgres(e) && i < sizeof statements / sizeof statements[0]; i++)
        engine_run(e->db, statements[i]);
    set_clock(e, begin_ms);
}

/* ---- agents ---------------------------------------------------------------------------------- */

/* Where unqualified names are looked for: the test's schema, then the one of the clock. */
static const char *url_of(const engine *e)
{
    static char url[sizeof(engine)];
    snprintf(url, sizeof url, "%s%s", e->url, is_postgres(e) ? "%2Cfake%2Cpg_catalog" : "");
    return url;
}

static void open_plane(const engine *e)
{
    rig_open_with(&rig, (portarium_plane_options){
                            .url = url_of(e), .settings = { .instance = "test", .flush_ms = 10 } });
}

static void make_agents(void)
{
    rig_expect(&rig, &rig_operator, "createMachine", NULL,
               "{\"machineId\":\"m-1\",\"endpointUrl\":\"https://m.example.com\",\"active\":true,"
               "\"displayName\":\"m-1\",\"capabilities\":[\"notify\"],\"executionPolicy\":{"
               "\"isolationMode\":\"PerTenantWorker\",\"egressAllowlist\":[],\"workloadIdentity\":"
               "\"Required\"},\"authConfig\":{\"kind\":\"mtls\"}}",
               201);
    for (int i = 1; i <= 2; i++) {
        char body[128];
        snprintf(body, sizeof body,
                 "{\"agentId\":\"ag-%d\",\"machineId\":\"m-1\",\"displayName\":\"Bot\"}", i);
        rig_expect(&rig, &rig_operator, "createAgent", NULL, body, 201);
    }
}

static const char *arguments_of(const char *agent)
{
    return mcp_arena_printf(rig.arena, "{\"agentId\":\"%s\"}", agent);
}

static void beat(const char *agent, const char *status)
{
    char body[32];
    snprintf(body, sizeof body, "{\"status\":\"%s\"}", status);
    rig_expect(&rig, &rig_operator, "agentHeartbeat", arguments_of(agent), body, 200);
}

static const char *liveness_of(const char *agent)
{
    rig_expect(&rig, &rig_admin, "getAgent", arguments_of(agent), NULL, 200);
    return mcp_json_get_string(rig_body(&rig), "liveness");
}

/* What only reads sees a step of the clock up to 250 ms later (db_now_recent). */
static void expect_liveness(const char *agent, const char *expected)
{
    for (int i = 0; i < 6000 && strcmp(liveness_of(agent), expected) != 0; i++)
        usleep(10000);
    assert_string_equal(liveness_of(agent), expected);
}

/* How many events of that type the agent has. */
typedef struct question {
    const char *type, *agent;
    int64_t count;
} question;

static mcp_status count_events(portarium_tx *tx, void *data, mcp_error *err)
{
    question *self = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text(self->type), db_text(self->agent) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM outbox WHERE type = $1 AND json LIKE "
                             "'%\"' || $2 || '\"%'",
                             values, 2, err);
    self->count = portarium_next(rows, &st, err) ? db_int_at(rows, 0) : -1;
    db_rows_free(rows);
    return st;
}

static int64_t events(const char *type, const char *agent)
{
    mcp_error err = MCP_ERROR_INIT;
    question of = { .type = type, .agent = agent };
    if (portarium_plane_read(rig.plane, "ws-1", rig.arena, count_events, &of, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return of.count;
}

static void await_events(const char *type, const char *agent, int64_t count)
{
    for (int i = 0; i < 6000 && events(type, agent) < count; i++)
        usleep(10000);
    assert_int_equal(events(type, agent), count);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void silence_makes_stale_then_offline(void **state)
{
    const engine *e = *state;
    make_clock(e);
    open_plane(e);
    make_agents();
    expect_liveness("ag-1", "never-seen");
    beat("ag-2", "ok");
    set_clock(e, begin_ms + LATER_MS);
    beat("ag-1", "ok");
    await_events("AgentStatusChanged", "ag-1", 1);
    await_events("AgentStatusChanged", "ag-2", 1);
    expect_liveness("ag-1", "online");

    set_clock(e, begin_ms + 1 + STALE_MS);
    expect_liveness("ag-2", "stale");
    expect_liveness("ag-1", "online");
    set_clock(e, begin_ms + 1 + OFFLINE_MS);
    expect_liveness("ag-2", "offline");
    expect_liveness("ag-1", "stale");
    await_events("AgentWentOffline", "ag-2", 1); /* so the silent were looked for */
    assert_int_equal(events("AgentWentOffline", "ag-1"), 0);
    set_clock(e, begin_ms + 1 + LATER_MS + OFFLINE_MS);
    expect_liveness("ag-1", "offline");
    await_events("AgentWentOffline", "ag-1", 1);
    rig_expect(&rig, &rig_operator, "testAgent", arguments_of("ag-1"), NULL, 200);
    assert_string_equal(mcp_json_get_string(rig_body(&rig), "reason"),
                        "it is stale, offline or draining");
    rig_close(&rig);
}

static void who_comes_back_is_online_again(void **state)
{
    const engine *e = *state;
    make_clock(e);
    open_plane(e);
    make_agents();
    beat("ag-1", "ok");
    await_events("AgentStatusChanged", "ag-1", 1);
    set_clock(e, begin_ms + OFFLINE_MS + 1);
    await_events("AgentWentOffline", "ag-1", 1);
    beat("ag-1", "draining");
    expect_liveness("ag-1", "draining");
    await_events("AgentStatusChanged", "ag-1", 2);
    beat("ag-1", "ok");
    await_events("AgentStatusChanged", "ag-1", 3);
    expect_liveness("ag-1", "online");
    set_clock(e, begin_ms + 2 * (OFFLINE_MS + 1));
    expect_liveness("ag-1", "offline");
    await_events("AgentWentOffline", "ag-1", 2);
    rig_close(&rig);
}

static void a_plane_that_starts_finds_the_silent(void **state)
{
    const engine *e = *state;
    mcp_error err = MCP_ERROR_INIT;
    make_clock(e);
    open_plane(e);
    make_agents();
    beat("ag-1", "ok");
    await_events("AgentStatusChanged", "ag-1", 1);
    portarium_plane_close(rig.plane);
    set_clock(e, begin_ms + OFFLINE_MS + 1);
    const portarium_plane_options options = { .url = url_of(e),
                                              .files = portarium_files,
                                              .settings = { .instance = "test", .flush_ms = 10 } };
    if (portarium_plane_open(&rig.plane, &options, &err) != MCP_OK)
        fail_msg("%s", err.message);
    expect_liveness("ag-1", "offline");
    await_events("AgentWentOffline", "ag-1", 1);
    rig_close(&rig);
}

#define ONLY(test, name)                                                                           \
    {                                                                                              \
#test " (" #name ")", test, engine_##name, engine_end, NULL                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(silence_makes_stale_then_offline),
        ENGINE_TESTS(who_comes_back_is_online_again),
        ONLY(a_plane_that_starts_finds_the_silent, sqlite),
        ONLY(a_plane_that_starts_finds_the_silent, postgres),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
