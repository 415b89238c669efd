/*
 * test_statistics.c - bounds over several batches, of numbers and of texts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "columns/parquet/statistics.h"

static void expect_bounds(const statistics *range, const void *min, const void *max, size_t size)
{
    char out[STATISTICS_TEXT_MAX];
    size_t length = 0;

    assert_true(statistics_min(range, out, &length));
    assert_int_equal(length, size);
    assert_memory_equal(out, min, size);
    assert_true(statistics_max(range, out, &length));
    assert_int_equal(length, size);
    assert_memory_equal(out, max, size);
}

static bool has_bounds(const statistics *range)
{
    char out[STATISTICS_TEXT_MAX];
    size_t length = 0;
    bool has_min = statistics_min(range, out, &length);

    assert_int_equal(has_min, statistics_max(range, out, &length));
    return has_min;
}

static void batches_add_up(void **state)
{
    static const int16_t numbers[] = { 5, -7, 300, 2, 900 };
    static const uint8_t valid[] = { 1, 0, 1, 1, 0 };
    const columns_column column = { "x", COLUMNS_I16, numbers, valid };
    statistics range;

    (void)state;
    statistics_begin(&range, COLUMNS_I16);
    assert_false(has_bounds(&range));
    statistics_add(&range, &column, 4, 1); /* a null */
    assert_false(has_bounds(&range));
    statistics_add(&range, &column, 0, 1);
    expect_bounds(&range, &(int32_t){ 5 }, &(int32_t){ 5 }, 4);
    statistics_add(&range, &column, 0, 5);
    expect_bounds(&range, &(int32_t){ 2 }, &(int32_t){ 300 }, 4);
    statistics_begin(&range, COLUMNS_I16);
    assert_false(has_bounds(&range));
}

static void every_integer_has_its_own_order(void **state)
{
    static const uint64_t bits[] = { 1, UINT64_MAX, (uint64_t)1 << 63 };
    static const int64_t lowest = INT64_MIN, one = 1;
    const columns_column u64 = { "u", COLUMNS_U64, bits, NULL },
                         i64 = { "i", COLUMNS_I64, bits, NULL };
    statistics range;

    (void)state;
    statistics_begin(&range, COLUMNS_U64);
    statistics_add(&range, &u64, 0, 3);
    expect_bounds(&range, &bits[0], &bits[1], 8);
    statistics_begin(&range, COLUMNS_I64);
    statistics_add(&range, &i64, 0, 3);
    expect_bounds(&range, &lowest, &one, 8);
}

static void zeros_have_both_signs_and_nan_no_bounds(void **state)
{
    static const double zeros[] = { 0.0, 0.0 }, minus[] = { -0.0 }, nans[] = { NAN, 1.0 };
    static const double infinities[] = { -INFINITY, INFINITY };
    static const float small[] = { -1.5f, 0.25f };
    const columns_column columns[] = { { "a", COLUMNS_F64, zeros, NULL },
                                       { "b", COLUMNS_F64, minus, NULL },
                                       { "c", COLUMNS_F64, infinities, NULL },
                                       { "d", COLUMNS_F64, nans, NULL },
                                       { "e", COLUMNS_F32, small, NULL } };
    statistics range;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        statistics_begin(&range, COLUMNS_F64);
        statistics_add(&range, &columns[i], 0, 1);
        expect_bounds(&range, minus, zeros, 8);
    }
    statistics_add(&range, &columns[2], 0, 2);
    expect_bounds(&range, &infinities[0], &infinities[1], 8);
    statistics_add(&range, &columns[3], 0, 2);
    assert_false(has_bounds(&range));
    statistics_add(&range, &columns[0], 0, 2);
    assert_false(has_bounds(&range));
    statistics_begin(&range, COLUMNS_F32);
    statistics_add(&range, &columns[4], 0, 2);
    expect_bounds(&range, &small[0], &small[1], 4);
}

/* The digits 0 to 9 again and again, `length` of them, with a last byte. */
static void add_long(statistics *range, size_t length, char last)
{
    char text[200];

    for (size_t i = 0; i < length; i++)
        text[i] = (char)('0' + i % 10);
    text[length - 1] = last;
    text[length] = '\0';
    statistics_add_text(range, text, length);
}

static void texts_are_compared_by_their_bytes(void **state)
{
    statistics range;

    (void)state;
    statistics_begin(&range, COLUMNS_TEXT);
    statistics_add_text(&range, "b", 1);
    statistics_add_text(&range, "ab", 2);
    statistics_add_text(&range, "\xC3", 1); /* above ASCII: unsigned */
    statistics_add_text(&range, "a", 1);
    expect_bounds(&range, "a", "\xC3", 1);
    statistics_add_text(&range, "", 0);
    char out[STATISTICS_TEXT_MAX];
    size_t length = 9;
    assert_true(statistics_min(&range, out, &length));
    assert_int_equal(length, 0);
}

static void a_bound_that_is_long_is_left_out(void **state)
{
    char out[STATISTICS_TEXT_MAX];
    size_t length = 0;
    statistics range;

    (void)state;
    statistics_begin(&range, COLUMNS_TEXT);
    add_long(&range, 64, 'x');
    assert_true(statistics_min(&range, out, &length));
    assert_int_equal(length, 64);
    add_long(&range, 65, 'a'); /* smaller in the 64th byte */
    assert_false(statistics_min(&range, out, &length));
    assert_true(statistics_max(&range, out, &length)); /* the one of 64 still */
    assert_int_equal(length, 64);
    statistics_add_text(&range, "0", 1);
    assert_true(statistics_min(&range, out, &length));
    assert_int_equal(length, 1);
    add_long(&range, 100, 'z');
    assert_int_equal(out[0], '0');
    assert_true(statistics_max(&range, out, &length));
    assert_int_equal(out[63], 'x');
    statistics_add_text(&range, "1", 1);
    assert_true(statistics_max(&range, out, &length));
    assert_int_equal(length, 1);
}

/* Both begin with the same 64 bytes: the longer one is the larger. */
static void of_equal_beginnings_the_longer_is_the_larger(void **state)
{
    char out[STATISTICS_TEXT_MAX], text[65];
    size_t length = 0;
    statistics range;

    (void)state;
    memset(text, 'm', sizeof text);
    for (int i = 0; i < 2; i++) {
        statistics_begin(&range, COLUMNS_TEXT);
        statistics_add_text(&range, text, i ? 65 : 64);
        statistics_add_text(&range, text, i ? 64 : 65);
        assert_true(statistics_min(&range, out, &length));
        assert_int_equal(length, 64);
        assert_false(statistics_max(&range, out, &length));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_add_up),
        cmocka_unit_test(every_integer_has_its_own_order),
        cmocka_unit_test(zeros_have_both_signs_and_nan_no_bounds),
        cmocka_unit_test(texts_are_compared_by_their_bytes),
        cmocka_unit_test(a_bound_that_is_long_is_left_out),
        cmocka_unit_test(of_equal_beginnings_the_longer_is_the_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
