/*
 * test_cache.c - the statements used last stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "db/cache.h"

static int statements[DB_CACHE_SIZE + 2];

static const char *text_of(int i)
{
    static char text[32];

    snprintf(text, sizeof text, "SELECT %d", i);
    return text;
}

static void put(struct db_cache *cache, int i, void *expected_out)
{
    void *dropped = NULL;

    assert_int_equal(db_cache_put(&dropped, cache, text_of(i), &statements[i], NULL), MCP_OK);
    assert_ptr_equal(dropped, expected_out);
}

static void clear(struct db_cache *cache)
{
    while (db_cache_take(cache, NULL))
        ;
}

static void what_was_not_used_for_longest_makes_room(void **state)
{
    struct db_cache cache = { 0 };

    (void)state;
    for (int i = 0; i < DB_CACHE_SIZE; i++)
        put(&cache, i, NULL);
    assert_ptr_equal(db_cache_find(&cache, text_of(0)), &statements[0]);
    put(&cache, DB_CACHE_SIZE, &statements[1]);
    assert_null(db_cache_find(&cache, text_of(1)));
    assert_ptr_equal(db_cache_find(&cache, text_of(0)), &statements[0]);
    assert_ptr_equal(db_cache_find(&cache, text_of(DB_CACHE_SIZE)), &statements[DB_CACHE_SIZE]);
    clear(&cache);
}

static void one_can_be_taken_out(void **state)
{
    struct db_cache cache = { 0 };

    (void)state;
    put(&cache, 0, NULL);
    put(&cache, 1, NULL);
    assert_ptr_equal(db_cache_take(&cache, &statements[0]), &statements[0]);
    assert_null(db_cache_take(&cache, &statements[0]));
    assert_null(db_cache_find(&cache, text_of(0)));
    assert_ptr_equal(db_cache_find(&cache, text_of(1)), &statements[1]);
    clear(&cache);
    assert_null(db_cache_take(&cache, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_used_for_longest_makes_room),
        cmocka_unit_test(one_can_be_taken_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
