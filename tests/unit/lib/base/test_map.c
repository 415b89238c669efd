/*
 * test_map.c - the hash map, held against a plain array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_int.h"
#include "base/map.h"
#include "oom.h"

enum { KEYS = 2000 };

static char keys[KEYS][16];
static int values[KEYS];

static int make_keys(void **state)
{
    (void)state;
    for (int i = 0; i < KEYS; i++)
        snprintf(keys[i], sizeof keys[i], "key-%d", i);
    return 0;
}

static void puts_gets_and_replaces(void **state)
{
    mcp__map map;

    (void)state;
    mcp__map_init(&map, NULL);
    assert_null(mcp__map_get(&map, "a", 1));
    assert_null(mcp__map_remove(&map, "a", 1));
    assert_int_equal(mcp__map_put(&map, "a", 1, &values[0]), MCP_OK);
    assert_int_equal(mcp__map_put(&map, "", 0, &values[1]), MCP_OK);
    assert_int_equal(mcp__map_put(&map, "a\0b", 3, &values[2]), MCP_OK);
    assert_int_equal(map.count, 3);
    assert_ptr_equal(mcp__map_get(&map, "a", 1), &values[0]);
    assert_ptr_equal(mcp__map_get(&map, "", 0), &values[1]);
    assert_ptr_equal(mcp__map_get(&map, "a\0b", 3), &values[2]);
    assert_null(mcp__map_get(&map, "a\0c", 3));
    assert_int_equal(mcp__map_put(&map, "a", 1, &values[3]), MCP_OK);
    assert_int_equal(map.count, 3);
    assert_ptr_equal(mcp__map_get(&map, "a", 1), &values[3]);
    mcp__map_clear(&map);
    assert_int_equal(map.count, 0);
    assert_null(mcp__map_get(&map, "a", 1));
    assert_int_equal(mcp__map_put(&map, "a", 1, &values[0]), MCP_OK);
    mcp__map_clear(&map);
}

static void equals_an_array_through_many_changes(void **state)
{
    mcp__map map;
    bool is_in[KEYS] = { false };
    size_t count = 0;
    uint32_t random = 12345;

    (void)state;
    mcp__map_init(&map, NULL);
    for (int round = 0; round < 60000; round++) {
        random = random * 1664525 + 1013904223;
        int at = (int)(random >> 8) % KEYS;
        /* Grow for a while, then shrink, then grow again. */
        bool put = (random >> 28) < (round / 20000 == 1 ? 5u : 11u);
        if (put) {
            assert_int_equal(mcp__map_put(&map, keys[at], strlen(keys[at]), &values[at]), MCP_OK);
            count += !is_in[at];
        } else {
            void *removed = mcp__map_remove(&map, keys[at], strlen(keys[at]));
            assert_ptr_equal(removed, is_in[at] ? &values[at] : NULL);
            count -= is_in[at];
        }
        is_in[at] = put;
        assert_int_equal(map.count, count);
    }
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(mcp__map_get(&map, keys[i], strlen(keys[i])),
                         is_in[i] ? &values[i] : NULL);
    mcp__map_clear(&map);
}

static void visits_each_once(void **state)
{
    mcp__map map;
    bool seen[KEYS] = { false };
    size_t at = 0;
    size_t visited = 0;

    (void)state;
    mcp__map_init(&map, NULL);
    assert_null(mcp__map_next(&map, &at));
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(mcp__map_put(&map, keys[i], strlen(keys[i]), &values[i]), MCP_OK);
    at = 0;
    for (int *value = mcp__map_next(&map, &at); value; value = mcp__map_next(&map, &at)) {
        assert_false(seen[value - values]);
        seen[value - values] = true;
        visited++;
    }
    assert_int_equal(visited, KEYS);
    mcp__map_clear(&map);
}

static void the_hash_spreads(void **state)
{
    int buckets[64] = { 0 };

    (void)state;
    for (int i = 0; i < KEYS; i++)
        buckets[mcp__map_hash(keys[i], strlen(keys[i])) & 63]++;
    /* 2000 over 64: 31 expected; twelve standard deviations off is no accident. */
    for (int i = 0; i < 64; i++)
        assert_in_range(buckets[i], 1, 100);
    for (size_t length = 1; length < 15; length++)
        assert_true(mcp__map_hash("aaaaaaaaaaaaaaa", length) !=
                    mcp__map_hash("aaaaaaaaaaaaaaa", length + 1));
    assert_true(mcp__map_hash("\0", 1) != mcp__map_hash("\0\0", 2));
}

static mcp_status fill(void *data)
{
    mcp_arena *arena = data ? mcp_arena_new(0) : NULL;
    mcp__map map;
    mcp_status st = data && !arena ? MCP_E_NOMEM : MCP_OK;

    mcp__map_init(&map, arena);
    for (int i = 0; i < KEYS && st == MCP_OK; i++)
        st = mcp__map_put(&map, keys[i], strlen(keys[i]), &values[i]);
    /* What went in before memory ran out is still there. */
    for (size_t i = 0; i < map.count; i++)
        assert_ptr_equal(mcp__map_get(&map, keys[i], strlen(keys[i])), &values[i]);
    mcp__map_clear(&map);
    mcp_arena_free(arena);
    return st;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    oom_walk(fill, NULL);
    oom_walk(fill, keys);
}

static void an_arenas_bound_is_named(void **state)
{
    mcp_arena *arena = mcp_arena_new(2000);
    mcp__map map;
    mcp_status st = MCP_OK;

    (void)state;
    mcp__map_init(&map, arena);
    for (int i = 0; i < KEYS && st == MCP_OK; i++)
        st = mcp__map_put(&map, keys[i], strlen(keys[i]), &values[i]);
    assert_int_equal(st, MCP_E_LIMIT);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_gets_and_replaces),
        cmocka_unit_test(equals_an_array_through_many_changes),
        cmocka_unit_test(visits_each_once),
        cmocka_unit_test(the_hash_spreads),
        cmocka_unit_test(survives_running_out_of_memory),
        cmocka_unit_test(an_arenas_bound_is_named),
    };
    return cmocka_run_group_tests(tests, make_keys, NULL);
}
