/*
 * test_registry.c - universes in memory next to the database: replaced elsewhere, deleted
 * elsewhere, too large, too many.
 */
#include "../service_rig.h"

#include <pthread.h>

static char url[SCRATCH_PATH_MAX + 16];
static scratch folder;

static int begin(void **unused)
{
    (void)unused;
    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    scratch_close(&folder);
    return 0;
}

static void a_universe_replaced_elsewhere_is_not_the_one_in_memory(void **unused)
{
    const universe_service_options options = { 0 };
    universe_result result;
    int64_t version = 0;
    (void)unused;
    service_rig here = service_rig_open(url, options), there = service_rig_open(url, options);
    service_rig_create(&here, "u-1", NULL);
    service_rig_send(&here, "u-1", service_rig_body(&here, "old"));
    assert_int_equal(
        universe_service_delete(&version, there.service, "u-1", UNIVERSE_ANY_VERSION, &there.err),
        MCP_OK);
    service_rig_create(&there, "u-1", NULL);
    service_rig_send(&there, "u-1", service_rig_body(&there, "new"));

    assert_int_equal(service_rig_try(&result, &here, "u-1", service_rig_body(&here, "next")),
                     MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    assert_int_equal(result.current.record.version, 2);
    assert_true(service_rig_has_body(result.current.view, "new"));
    assert_false(service_rig_has_body(result.current.view, "old"));
    universe_view_free(result.current.view);
    service_rig_close(&here);
    service_rig_close(&there);
}

static void a_universe_deleted_elsewhere_is_soon_gone_here(void **unused)
{
    const universe_service_options options = { 0 };
    mcp_status st = MCP_OK;
    int64_t version = 0;
    (void)unused;
    service_rig here = service_rig_open(url, options), there = service_rig_open(url, options);
    service_rig_create(&here, "u-1", NULL);
    assert_int_equal(
        universe_service_delete(&version, there.service, "u-1", UNIVERSE_ANY_VERSION, &there.err),
        MCP_OK);
    for (int ms = 0; st == MCP_OK && ms < PATIENCE_MS; ms += 20) {
        universe_version current = { 0 };
        service_rig_pause();
        st = universe_service_get(&current, here.service, "u-1", here.arena, &here.err);
        universe_view_free(current.view);
    }
    assert_int_equal(st, MCP_E_NOT_FOUND);
    service_rig_close(&here);
    service_rig_close(&there);
}

/* ---- what cannot be loaded ------------------------------------------------------------------- */

enum { READERS = 8, LOOKS = 40 };

struct reader {
    universe_service *service;
    int limits, others;
};

static void *look_often(void *data)
{
    struct reader *reader = data;
    for (int i = 0; i < LOOKS; i++) {
        universe_version current = { 0 };
        mcp_arena *arena = mcp_arena_new(0);
        mcp_status st = universe_service_get(&current, reader->service, "large", arena, NULL);
        reader->limits += st == MCP_E_LIMIT;
        reader->others += st != MCP_E_LIMIT;
        universe_view_free(current.view);
        mcp_arena_free(arena);
    }
    return NULL;
}

static void waiters_for_a_load_that_fails_get_its_cause(void **unused)
{
    universe_service_options options = { 0 };
    struct reader readers[READERS];
    pthread_t threads[READERS];
    (void)unused;
    service_rig rig = service_rig_open(url, options);
    service_rig_create(&rig, "large", NULL);
    service_rig_send(&rig, "large", service_rig_body(&rig, "a"));
    service_rig_send(&rig, "large", service_rig_body(&rig, "b"));
    service_rig_close(&rig);

    options.bodies_max = 1;
    rig = service_rig_open(url, options);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ .service = rig.service };
        assert_int_equal(pthread_create(&threads[i], NULL, look_often, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(readers[i].limits, LOOKS);
        assert_int_equal(readers[i].others, 0);
    }
    service_rig_close(&rig);
}

static void universes_without_bodies_make_room_too(void **unused)
{
    const universe_service_options options = { .loaded_max = 4 };
    universe_figures figures;
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    for (int i = 0; i < 20; i++) {
        const char *id = mcp_arena_printf(rig.arena, "u-%d", i);
        universe_version current = { 0 };
        service_rig_create(&rig, id, NULL);
        assert_int_equal(universe_service_get(&current, rig.service, id, rig.arena, &rig.err),
                         MCP_OK);
        universe_view_free(current.view);
    }
    universe_service_figures(&figures, rig.service);
    assert_in_range(figures.loaded, 1, 4);
    service_rig_close(&rig);
}

static void an_id_is_text(void **unused)
{
    static const char *const bad[] = { "",      "a\nb",         "\x7f",     "\xff",
                                       "a\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80" };
    static const char *const good[] = { "__proto__", "a b/%", "\xc3\xbc", "\xe2\x82\xac",
                                        "\xf0\x9f\xaa\x90" };
    const universe_service_options options = { 0 };
    universe_version current = { 0 };
    (void)unused;
    service_rig rig = service_rig_open("memory", options);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(universe_service_create(&current, NULL, rig.service, bad[i], "Test", NULL,
                                                 NULL, rig.arena, &rig.err),
                         MCP_E_PARAMS);
        assert_int_equal(universe_service_get(&current, rig.service, bad[i], rig.arena, &rig.err),
                         MCP_E_NOT_FOUND);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        service_rig_create(&rig, good[i], NULL);
    service_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_universe_replaced_elsewhere_is_not_the_one_in_memory,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_universe_deleted_elsewhere_is_soon_gone_here, begin, end),
        cmocka_unit_test_setup_teardown(waiters_for_a_load_that_fails_get_its_cause, begin, end),
        cmocka_unit_test(universes_without_bodies_make_room_too),
        cmocka_unit_test(an_id_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
