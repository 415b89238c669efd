/*
 * test_verdicts.c - what is remembered, and for how long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "auth/verdicts.h"

#define NOW INT64_C(1000000)

struct world {
    mcp_arena *arena;
    auth_verdicts *all;
    uint8_t hash[AUTH_HASH_SIZE];
};

static const mcp_principal ann = { "ann", "read write", NOW + 60000 };

static int set_up(void **state)
{
    static struct world world;

    memset(&world, 0, sizeof world);
    world.arena = mcp_arena_new(0);
    *state = &world;
    return auth_verdicts_new(&world.all, NULL) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    auth_verdicts_free(world->all);
    mcp_arena_free(world->arena);
    return 0;
}

static bool finds(struct world *world, uint64_t generation, int64_t now_ms)
{
    mcp_principal found = { NULL, NULL, 0 };

    if (!auth_verdicts_find(&found, world->all, world->hash, generation, now_ms, world->arena)) {
        assert_null(found.name);
        return false;
    }
    return true;
}

static void a_verdict_is_found_again(void **state)
{
    struct world *world = *state;
    mcp_principal found;

    assert_false(finds(world, 1, NOW));
    auth_verdicts_keep(world->all, world->hash, 1, NOW, &ann);
    assert_true(auth_verdicts_find(&found, world->all, world->hash, 1, NOW, world->arena));
    assert_string_equal(found.name, "ann");
    assert_string_equal(found.scopes, "read write");
    assert_int_equal(found.expires_ms, ann.expires_ms);
    world->hash[31] ^= 1;
    assert_false(finds(world, 1, NOW));
}

static void it_ends_when_it_says(void **state)
{
    struct world *world = *state;

    auth_verdicts_keep(world->all, world->hash, 1, NOW, &ann);
    assert_true(finds(world, 1, NOW + 59999));
    assert_false(finds(world, 1, NOW + 60000));
}

static void it_ends_with_its_keys(void **state)
{
    struct world *world = *state;

    auth_verdicts_keep(world->all, world->hash, 1, NOW, &ann);
    assert_false(finds(world, 2, NOW));
}

static void a_clock_set_back_gives_it_no_more_time(void **state)
{
    struct world *world = *state;

    auth_verdicts_keep(world->all, world->hash, 1, NOW, &ann);
    assert_false(finds(world, 1, NOW - 1));
}

static void a_newer_verdict_replaces_it(void **state)
{
    struct world *world = *state;
    const mcp_principal later = { "ann", "read", NOW + 60001 };
    mcp_principal found;

    auth_verdicts_keep(world->all, world->hash, 1, NOW, &ann);
    auth_verdicts_keep(world->all, world->hash, 1, NOW + 1, &later);
    assert_true(auth_verdicts_find(&found, world->all, world->hash, 1, NOW + 1, world->arena));
    assert_string_equal(found.scopes, "read");
}

/* Five tokens whose hashes begin alike: the one that ends first makes room. */
static void a_full_row_gives_up_what_ends_first(void **state)
{
    struct world *world = *state;

    for (uint8_t i = 0; i < 5; i++) {
        mcp_principal principal = { "p", "", NOW + 1000 + (i == 2 ? 0 : 100 * (i + 1)) };
        world->hash[1] = i;
        auth_verdicts_keep(world->all, world->hash, 1, NOW, &principal);
    }
    for (uint8_t i = 0; i < 5; i++) {
        world->hash[1] = i;
        assert_int_equal(finds(world, 1, NOW), i != 2);
    }
}

static void long_texts_are_not_kept(void **state)
{
    struct world *world = *state;
    char scopes[2048];
    mcp_principal principal = { "p", scopes, NOW + 1000 };

    memset(scopes, 's', sizeof scopes);
    scopes[2045] = '\0'; /* with the name and two NULs: 2048 */
    auth_verdicts_keep(world->all, world->hash, 1, NOW, &principal);
    assert_true(finds(world, 1, NOW));
    scopes[2045] = 's';
    scopes[2046] = '\0';
    world->hash[0] = 1;
    auth_verdicts_keep(world->all, world->hash, 1, NOW, &principal);
    assert_false(finds(world, 1, NOW));
}

static void without_memory_nothing_is_found(void **state)
{
    struct world *world = *state;
    mcp_arena *small = mcp_arena_new(4);
    mcp_principal found = { NULL, NULL, 0 };

    auth_verdicts_keep(world->all, world->hash, 1, NOW, &ann);
    assert_false(auth_verdicts_find(&found, world->all, world->hash, 1, NOW, small));
    assert_null(found.name);
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_verdict_is_found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_when_it_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_with_its_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clock_set_back_gives_it_no_more_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_newer_verdict_replaces_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_row_gives_up_what_ends_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_texts_are_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_found, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
