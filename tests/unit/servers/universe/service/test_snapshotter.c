/*
 * test_snapshotter.c - snapshots and the trimmed log: what can still be read, and what must not be
 * made up.
 */
#include "../service_rig.h"

static int64_t parts(service_rig *rig)
{
    return service_rig_count(rig, "SELECT COUNT(*) FROM universe_snapshot_parts");
}

/* The state of a universe with one body. */
static universe_view *one_body(service_rig *rig)
{
    universe_version current = { 0 };
    service_rig_create(rig, "pattern", NULL);
    service_rig_send(rig, "pattern", service_rig_body(rig, "first"));
    assert_int_equal(universe_service_get(&current, rig->service, "pattern", rig->arena, &rig->err),
                     MCP_OK);
    return current.view;
}

static void wait_for_trimming(service_rig *rig)
{
    int64_t first = 1;
    for (int ms = 0; first <= 1 && ms < PATIENCE_MS; ms += 20) {
        service_rig_pause();
        first = service_rig_count(
            rig, "SELECT MIN(first_version) FROM universe_commands WHERE universe_id = 'u-1'");
    }
    assert_true(first > 1);
}

static void a_version_before_the_log_is_not_made_up(void **unused)
{
    const universe_service_options options = { .snapshot_entries = 5, .log_entries_max = 5 };
    universe_view *view = NULL;
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    universe_view *start = one_body(&rig);
    service_rig_create(&rig, "u-1", start);
    universe_view_free(start);
    for (int round = 0; round < 3; round++) {
        universe_figures figures = { 0 };
        for (int i = 0; i < 20; i++)
            service_rig_send(&rig, "u-1", "{\"type\":\"tick\"}");
        for (int ms = 0; figures.snapshots <= round && ms < PATIENCE_MS; ms += 20) {
            service_rig_pause();
            universe_service_figures(&figures, rig.service);
        }
    }
    wait_for_trimming(&rig);
    mcp_status st = universe_service_at(&view, rig.service, "u-1", 0, &rig.err);
    universe_view_free(view);
    assert_int_equal(st, MCP_E_NOT_FOUND);
    assert_int_equal(universe_service_at(&view, rig.service, "u-1", 60, &rig.err), MCP_OK);
    assert_true(universe_view_time(view) == 60.0);
    assert_true(service_rig_has_body(view, "first"));
    universe_view_free(view);
    service_rig_close(&rig);
}

#define NEWEST_SNAPSHOT "SELECT MAX(version) FROM universe_snapshots"
#define SNAPSHOTS "SELECT COUNT(*) FROM universe_snapshots"

/* Every version is either made as it was, or refused with words that say from which on they are
 * there; and they are. */
static void cut_parts_are_reported_and_the_rest_is_complete(void **unused)
{
    const universe_service_options options = { .snapshot_entries = 5, .log_entries_max = 30 };
    char words[80];
    int64_t first = -1;
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    service_rig_create(&rig, "u-1", NULL);
    for (int round = 0; round < 4; round++) {
        universe_figures figures = { 0 };
        for (int i = 0; i < 20; i++)
            service_rig_send(&rig, "u-1", "{\"type\":\"tick\"}");
        for (int ms = 0; figures.snapshots <= round && ms < PATIENCE_MS; ms += 20) {
            service_rig_pause();
            universe_service_figures(&figures, rig.service);
        }
    }
    wait_for_trimming(&rig);
    /* Nothing more is due when the last snapshot is that near, and those before the last two have
     * gone. */
    for (int ms = 0; ms < PATIENCE_MS && (service_rig_count(&rig, NEWEST_SNAPSHOT) < 75 ||
                                          service_rig_count(&rig, SNAPSHOTS) > 2);
         ms += 20)
        service_rig_pause();
    for (int64_t version = 80; version >= 0; version--) {
        universe_view *view = NULL;
        universe_replayed what;
        mcp_status st = universe_service_at(&view, rig.service, "u-1", version, &rig.err);
        if (st == MCP_OK) {
            assert_int_equal(first, -1); /* no hole behind the first that is refused */
            assert_true(universe_view_time(view) == (double)version);
            universe_view_free(view);
            continue;
        }
        assert_int_equal(st, MCP_E_NOT_FOUND);
        if (first < 0)
            first = version + 1;
        snprintf(words, sizeof words, "versions %d to 80 are there", (int)first);
        if (!strstr(rig.err.message, words))
            fail_msg("%s, not: %s", words, rig.err.message);
        rig.err.message[0] = '\0';
        assert_int_equal(universe_service_replay(&view, &what, rig.service, "u-1", version, NULL,
                                                 NULL, &rig.err),
                         MCP_E_NOT_FOUND);
        assert_non_null(strstr(rig.err.message, words));
    }
    assert_in_range(first, 1, 79);
    service_rig_close(&rig);
}

static void what_is_refused_leaves_no_parts(void **unused)
{
    const universe_service_options options = { 0 };
    universe_version current = { 0 };
    universe_result result = { 0 };
    bool taken = false;
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    universe_replacement by = { .view = one_body(&rig) };
    service_rig_create(&rig, "u-1", by.view);
    int64_t before = parts(&rig);
    assert_true(before > 0);

    assert_int_equal(
        universe_service_replace(&result, rig.service, "u-1", &by, 7, NULL, rig.arena, &rig.err),
        MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_CONFLICT);
    universe_view_free(result.current.view);
    assert_int_equal(universe_service_replace(&result, rig.service, "u-missing", &by,
                                              UNIVERSE_ANY_VERSION, NULL, rig.arena, &rig.err),
                     MCP_E_NOT_FOUND);
    assert_int_not_equal(universe_service_create(&current, &taken, rig.service, "u-1", "Test",
                                                 by.view, NULL, rig.arena, &rig.err),
                         MCP_OK);
    assert_true(taken);
    assert_int_equal(parts(&rig), before);
    universe_view_free(by.view);
    service_rig_close(&rig);
}

static void closing_leaves_a_short_start(void **unused)
{
    const universe_service_options options = { 0 };
    char url[SCRATCH_PATH_MAX + 16];
    scratch folder;
    (void)unused;
    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    service_rig rig = service_rig_open(url, options);
    service_rig_create(&rig, "u-1", NULL);
    for (int i = 0; i < 150; i++)
        service_rig_send(&rig, "u-1", "{\"type\":\"tick\"}");
    service_rig_close(&rig);
    rig = service_rig_open(url, options);
    assert_int_equal(service_rig_count(&rig, "SELECT MAX(version) FROM universe_snapshots"), 150);
    service_rig_close(&rig);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_parts_are_reported_and_the_rest_is_complete),
        cmocka_unit_test(a_version_before_the_log_is_not_made_up),
        cmocka_unit_test(what_is_refused_leaves_no_parts),
        cmocka_unit_test(closing_leaves_a_short_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
