/*
 * The persistent array: rows far apart, copies that do not change, memory given back.
 */
#include "../../world.h"

#include "model/pages/array.h"
#include "model/pages/memory.h"

static void test_rows(void **unused)
{
    static const uint32_t places[] = { 0, 1, 31, 32, 1000, 65535, 65536, 1u << 20, UINT32_MAX };
    universe_array array;
    (void)unused;

    universe_array_init(&array, 8, 5);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(*(const uint64_t *)universe_array_row(&array, places[i]), 0);
        uint64_t *row = universe_array_edit(&array, places[i]);
        assert_non_null(row);
        *row = i + 100;
    }
    universe_cursor cursor = { NULL, 0 };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(*(const uint64_t *)universe_array_row(&array, places[i]), i + 100);
        assert_int_equal(*(const uint64_t *)universe_array_at(&cursor, &array, places[i]), i + 100);
    }
    universe_array_drop(&array);
    assert_int_equal(*(const uint64_t *)universe_array_row(&array, 1000), 0);
    assert_int_equal(universe_memory_used(), 0);
}

static void test_copies_do_not_change(void **unused)
{
    universe_array array;
    universe_array frozen[4];
    (void)unused;

    universe_array_init(&array, 8, 5);
    for (uint64_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 5000; i++)
            *(uint64_t *)universe_array_edit(&array, i * (1 + (uint32_t)round)) = round * 100000 +
                                                                                  i;
        frozen[round] = array;
        universe_array_hold(&array);
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(*(const uint64_t *)universe_array_row(&frozen[0], i), i);
    size_t all = universe_memory_used();
    universe_array_drop(&array); /* the last copy has the same pages */
    assert_int_equal(universe_memory_used(), all);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(*(const uint64_t *)universe_array_row(&frozen[3], 4 * i), 300000 + i);
    for (int round = 0; round < 4; round++)
        universe_array_drop(&frozen[round]);
    assert_int_equal(universe_memory_used(), 0);
}

/* One write after a freeze copies the way to one row, not more. */
static void test_a_write_copies_little(void **unused)
{
    universe_array array;
    (void)unused;

    universe_array_init(&array, 64, 6);
    for (uint32_t i = 0; i < 100000; i++)
        *(uint64_t *)universe_array_edit(&array, i) = i;
    universe_array frozen = array;
    universe_array_hold(&array);
    size_t before = universe_memory_used();
    *(uint64_t *)universe_array_edit(&array, 77777) = 1;
    assert_true(universe_memory_used() - before < 8192);
    before = universe_memory_used();
    *(uint64_t *)universe_array_edit(&array, 77777) = 2; /* it is the writer's own now */
    assert_int_equal(universe_memory_used(), before);
    assert_int_equal(*(const uint64_t *)universe_array_row(&frozen, 77777), 77777);
    universe_array_drop(&array);
    universe_array_drop(&frozen);
    assert_int_equal(universe_memory_used(), 0);
}

static void keep(const universe_array *array, uint32_t index, uint32_t form, const char *text)
{
    universe_kept *kept = universe_kept_new(form, text, strlen(text));

    assert_non_null(kept);
    universe_array_keep(array, index, kept);
}

static void assert_kept(const universe_array *array, uint32_t index, uint32_t form,
                        const char *text)
{
    const universe_kept *kept = universe_array_kept(array, index, form);

    assert_int_equal(kept != NULL, text != NULL);
    if (!kept)
        return;
    assert_int_equal(kept->length, strlen(text));
    assert_memory_equal(kept->text, text, kept->length);
}

/* Leaves have 32 rows here: 0 to 31 are one, 32 to 63 another. */
static void test_texts_of_leaves(void **unused)
{
    universe_array array;
    (void)unused;

    universe_array_init(&array, 8, 5);
    for (uint32_t i = 0; i < 64; i++)
        *(uint64_t *)universe_array_edit(&array, i) = i;
    universe_array frozen = array;
    universe_array_hold(&array);
    assert_kept(&frozen, 5, 0, NULL);
    keep(&frozen, 5, 0, "first");
    keep(&frozen, 40, 0, "second");
    keep(&frozen, 41, 1, "second, otherwise");
    keep(&frozen, 6, 0, "too late"); /* somebody was sooner */
    keep(&frozen, 5000, 0, "of no leaf");
    assert_kept(&frozen, 31, 0, "first");
    assert_kept(&array, 0, 0, "first");
    assert_kept(&frozen, 32, 0, "second");
    assert_kept(&frozen, 32, 1, "second, otherwise");
    assert_kept(&frozen, 5000, 0, NULL);

    *(uint64_t *)universe_array_edit(&array, 33) = 1; /* a copy, which has no text yet */
    assert_kept(&array, 32, 0, NULL);
    assert_kept(&frozen, 32, 0, "second");
    universe_array_drop(&frozen);
    assert_kept(&array, 0, 0, "first");
    *(uint64_t *)universe_array_edit(&array, 0) = 1; /* the writer's own by now */
    assert_kept(&array, 0, 0, NULL);
    assert_int_equal(universe_kept_bytes(), 0);
    universe_array_drop(&array);
    assert_int_equal(universe_memory_used(), 0);
}

static void test_no_memory(void **unused)
{
    universe_array array;
    (void)unused;

    universe_array_init(&array, 8, 5);
    for (long successes = 0;; successes++) {
        universe_memory_refuse_after(successes);
        void *row = universe_array_edit(&array, 1u << 20);
        universe_memory_refuse_after(-1);
        assert_int_equal(*(const uint64_t *)universe_array_row(&array, 1u << 20), 0);
        if (row)
            break;
        assert_true(successes < 100);
    }
    universe_array_drop(&array);
    assert_int_equal(universe_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_copies_do_not_change),
        cmocka_unit_test(test_a_write_copies_little),
        cmocka_unit_test(test_texts_of_leaves),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
