/*
 * test_clock.c - the server's own ticks: many clocks share commits and none is left behind, and no
 * time is lost where a clock is set again.
 */
#include "../service_rig.h"

#include "mcp/clock.h"

enum { CLOCKS = 64, TICKS = 5 };

static const char *id_of(char out[16], int number)
{
    snprintf(out, 16, "u-%d", number);
    return out;
}

static universe_record record_of(service_rig *rig, const char *id)
{
    universe_version current = { 0 };
    if (universe_service_get(&current, rig->service, id, rig->arena, &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    universe_view_free(current.view);
    return current.record;
}

static mcp_status wind(service_rig *rig, const char *id, bool running, double scale, double hz)
{
    const universe_clock clock = { .running = running, .time_scale = scale, .hz = hz };
    return universe_service_set_clock(rig->service, id, &clock, &rig->err);
}

/* Waits until a universe has so many versions. */
static void await_version(service_rig *rig, const char *id, int64_t version)
{
    int64_t until = mcp_clock_mono_ms() + PATIENCE_MS;
    while (record_of(rig, id).version < version) {
        if (mcp_clock_mono_ms() > until)
            fail_msg("%s stands at version %lld", id, (long long)record_of(rig, id).version);
        service_rig_pause();
    }
}

static void clocks_share_commits_and_none_is_left_behind(void **unused)
{
    const universe_service_options options = { 0 };
    universe_figures before = { 0 }, after = { 0 };
    scratch folder;
    char url[SCRATCH_PATH_MAX + 16], id[16];
    (void)unused;

    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    service_rig rig = service_rig_open(url, options);
    for (int i = 0; i <= CLOCKS; i++)
        service_rig_create(&rig, id_of(id, i), NULL);
    for (int i = 0; i < CLOCKS; i++)
        assert_int_equal(wind(&rig, id_of(id, i), true, 1, 20), MCP_OK);
    assert_int_equal(wind(&rig, id_of(id, CLOCKS), true, 1, 20), MCP_E_LIMIT);
    for (int i = 0; i < CLOCKS; i++)
        await_version(&rig, id_of(id, i), 1);

    /* From here on all run: a clock that waited for the others' commits would need one of its own
     * for each tick. */
    universe_service_figures(&before, rig.service);
    for (int i = 0; i < CLOCKS; i++)
        await_version(&rig, id_of(id, i), record_of(&rig, id_of(id, i)).version + TICKS);
    universe_service_figures(&after, rig.service);
    assert_true(after.commands - before.commands >= (int64_t)CLOCKS * TICKS);
    assert_true((after.commits - before.commits) * 4 <= after.commands - before.commands);

    for (int i = 0; i < CLOCKS; i++)
        assert_int_equal(wind(&rig, id_of(id, i), false, 1, 20), MCP_OK);
    service_rig_close(&rig);
    scratch_close(&folder);
}

/* The first tick would come in 1,000 s; wound to come soon, it has all that has passed since the
 * beginning. */
static void time_before_a_clock_is_set_again_is_published(void **unused)
{
    const universe_service_options options = { 0 };
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    service_rig_create(&rig, "u-1", NULL);

    assert_int_equal(wind(&rig, "u-1", true, 50, 0.001), MCP_OK);
    int64_t from = mcp_clock_mono_ms();
    while (mcp_clock_mono_ms() - from < 300)
        service_rig_pause();
    double passed = (double)(mcp_clock_mono_ms() - from) / 1000 * 50;
    assert_int_equal(record_of(&rig, "u-1").version, 0);
    assert_int_equal(wind(&rig, "u-1", true, 0.001, 20), MCP_OK);
    await_version(&rig, "u-1", 1);
    assert_true(record_of(&rig, "u-1").time >= passed);
    service_rig_close(&rig);
}

static void a_clock_that_stands_owes_nothing(void **unused)
{
    const universe_service_options options = { 0 };
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    service_rig_create(&rig, "u-1", NULL);

    assert_int_equal(wind(&rig, "u-1", true, 50, 0.001), MCP_OK);
    for (int i = 0; i < 10; i++)
        service_rig_pause();
    assert_int_equal(wind(&rig, "u-1", false, 50, 0.001), MCP_OK);
    assert_int_equal(wind(&rig, "u-1", true, 1e-6, 20), MCP_OK);
    await_version(&rig, "u-1", 1);
    assert_int_equal(wind(&rig, "u-1", false, 1, 20), MCP_OK);
    assert_true(record_of(&rig, "u-1").time < 0.1);
    service_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_share_commits_and_none_is_left_behind),
        cmocka_unit_test(time_before_a_clock_is_set_again_is_published),
        cmocka_unit_test(a_clock_that_stands_owes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
