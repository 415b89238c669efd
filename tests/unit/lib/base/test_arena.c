/*
 * test_arena.c - zeroed, aligned, bounded memory that ends at once.
 */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_int.h"
#include "oom.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(HAS_ASAN)
#include <sanitizer/asan_interface.h>
#endif

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    static const size_t sizes[] = { 1, 3, 16, 17, 100, 4000, 4096, 5000, 70000, 3000000, 8, 1 };
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    unsigned char *pieces[COUNT];
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_non_null(arena);
    for (size_t i = 0; i < COUNT; i++) {
        pieces[i] = mcp_arena_alloc(arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i + 1);
    }
    mcp_arena_free(arena);
}

/* Two arenas take from one budget; what one gives back the other may have. Each has its first 4
 * KiB in any case, and a refusal differs from that of the arena's own bound. */
static void arenas_share_a_budget(void **state)
{
    mcp__arena_budget budget = { .max_bytes = 64 * 1024 };
    mcp_arena *one = mcp__arena_new_within(0, &budget);
    mcp_arena *other = mcp__arena_new_within(0, &budget);

    (void)state;
    assert_int_equal(atomic_load(&budget.used), 2 * 4096);
    assert_non_null(mcp_arena_alloc(one, 40000));
    assert_null(mcp_arena_alloc(other, 40000));
    assert_int_equal(mcp__arena_failure(other), MCP_E_BUSY);
    assert_int_equal(mcp__arena_failure(one), MCP_OK);
    assert_non_null(mcp_arena_alloc(other, 100));
    mcp_arena_free(one);
    assert_non_null(mcp_arena_alloc(other, 40000));
    one = mcp__arena_new_within(100, &budget);
    assert_null(mcp_arena_alloc(one, 200));
    assert_int_equal(mcp__arena_failure(one), MCP_E_LIMIT);
    mcp_arena_free(one);
    mcp_arena_free(other);
    assert_int_equal(atomic_load(&budget.used), 0);
}

static void many_small_pieces_stay_whole(void **state)
{
    enum { COUNT = 20000 };
    static int *pieces[COUNT];
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        pieces[i] = mcp_arena_alloc(arena, sizeof(int));
        assert_non_null(pieces[i]);
        *pieces[i] = i;
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(*pieces[i], i);
    assert_int_equal(mcp_arena_used(arena), COUNT * sizeof(int));
    mcp_arena_free(arena);
}

static void the_bound_holds_and_is_named(void **state)
{
    mcp_arena *arena = mcp_arena_new(100);

    (void)state;
    assert_int_equal(mcp_arena_used(arena), 0);
    assert_int_equal(mcp__arena_failure(arena), MCP_OK);
    assert_non_null(mcp_arena_alloc(arena, 60));
    assert_null(mcp_arena_alloc(arena, 41));
    assert_int_equal(mcp__arena_failure(arena), MCP_E_LIMIT);
    assert_non_null(mcp_arena_alloc(arena, 40)); /* refusing changed nothing */
    assert_int_equal(mcp_arena_used(arena), 100);
    assert_null(mcp_arena_alloc(arena, 0)); /* even nothing counts as one, else it had no bound */
    assert_null(mcp_arena_strdup(arena, ""));
    mcp_arena_free(arena);
}

static void the_default_bound_is_64_mib(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_null(mcp_arena_alloc(arena, ((size_t)64 << 20) + 1));
    assert_non_null(mcp_arena_alloc(arena, (size_t)64 << 20));
    mcp_arena_free(arena);
}

static void sizes_that_overflow_are_refused(void **state)
{
    mcp_arena *arena = mcp_arena_new(SIZE_MAX);

    (void)state;
    assert_null(mcp_arena_alloc(arena, SIZE_MAX));
    assert_null(mcp_arena_alloc(arena, SIZE_MAX - 64));
    assert_null(mcp_arena_array(arena, SIZE_MAX / 2, 3));
    assert_null(mcp_arena_array(arena, SIZE_MAX / 16 + 1, 16));
    assert_null(mcp_arena_strndup(arena, "", SIZE_MAX));
    assert_non_null(mcp_arena_array(arena, 0, 16));
    assert_non_null(mcp_arena_array(arena, 16, 0));
    assert_non_null(mcp_arena_array(arena, 3, 7));
    mcp_arena_free(arena);
}

static void copies_strings(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_string_equal(mcp_arena_strdup(arena, "hydro"), "hydro");
    assert_string_equal(mcp_arena_strdup(arena, ""), "");
    assert_null(mcp_arena_strdup(arena, NULL));
    assert_memory_equal(mcp_arena_strndup(arena, "a\0b", 3), "a\0b", 4);
    assert_string_equal(mcp_arena_strndup(arena, "thermal", 3), "the");
    assert_string_equal(mcp_arena_strndup(arena, NULL, 0), "");
    mcp_arena_free(arena);
}

static void prints(void **state)
{
    char wide[3001];
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    memset(wide, 'x', 3000);
    wide[3000] = '\0';
    assert_string_equal(mcp_arena_printf(arena, "stage %d of %s", 3, "1dtoy"), "stage 3 of 1dtoy");
    assert_string_equal(mcp_arena_printf(arena, "%s", ""), "");
    for (int i = 0; i < 5; i++)
        assert_int_equal(strlen(mcp_arena_printf(arena, "%s%s", wide, wide)), 6000);
    mcp_arena_free(arena);
    arena = mcp_arena_new(100);
    assert_null(mcp_arena_printf(arena, "%s", wide));
    mcp_arena_free(arena);
    mcp_arena_free(NULL);
}

static void reading_past_a_piece_is_found(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(HAS_ASAN)
    mcp_arena *arena = mcp_arena_new(0);
    char *piece = mcp_arena_strndup(arena, "0123456789", 10);
    char *next = mcp_arena_strndup(arena, "0123456789", 10);
    assert_false(__asan_address_is_poisoned(piece));
    assert_false(__asan_address_is_poisoned(piece + 10));
    assert_true(__asan_address_is_poisoned(piece + 11));
    assert_false(__asan_address_is_poisoned(next));
    assert_true(__asan_address_is_poisoned(next + 11));
    mcp_arena_free(arena);
#else
    skip();
#endif
}

static mcp_status fill(void *data)
{
    size_t size = *(size_t *)data;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? MCP_OK : MCP_E_NOMEM;

    for (int i = 0; i < 50 && st == MCP_OK; i++) {
        if (!mcp_arena_alloc(arena, size))
            st = mcp__arena_failure(arena);
    }
    mcp_arena_free(arena);
    return st;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    oom_walk(fill, &(size_t){ 100 });
    oom_walk(fill, &(size_t){ 10000 });
    oom_walk(fill, &(size_t){ 1200000 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arenas_share_a_budget),
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(many_small_pieces_stay_whole),
        cmocka_unit_test(the_bound_holds_and_is_named),
        cmocka_unit_test(the_default_bound_is_64_mib),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(copies_strings),
        cmocka_unit_test(prints),
        cmocka_unit_test(reading_past_a_piece_is_found),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
