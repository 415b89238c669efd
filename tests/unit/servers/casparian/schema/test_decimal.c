/*
 * test_decimal.c - texts of decimals: what fits, what does not, and that nothing is rounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/decimal.h"

#define NINES_38 "99999999999999999999999999999999999999"

typedef struct sample {
    const char *text;
    casparian_decimal_type type;
    const char *written; /* NULL: it does not fit */
} sample;

static const sample samples[] = {
    { "0", { 1, 0 }, "0" },
    { "-0", { 5, 2 }, "0.00" },
    { "-0.00", { 5, 2 }, "0.00" },
    { "1.5", { 18, 4 }, "1.5000" },
    { "-1.5", { 18, 4 }, "-1.5000" },
    { "0007.25", { 3, 2 }, "7.25" },
    { "000000000000000000000000000000000000000000000000001", { 1, 0 }, "1" },
    { "0.05", { 2, 2 }, "0.05" },
    { "-0.05", { 2, 2 }, "-0.05" },
    { "1.00", { 2, 2 }, NULL },   /* one digit before the point is one too many */
    { "1.234", { 18, 2 }, NULL }, /* would be rounded */
    { "1.230", { 18, 2 }, NULL }, /* three digits, even where the last is 0 */
    { "123", { 4, 2 }, NULL },
    { "12", { 4, 2 }, "12.00" },
    { NINES_38, { 38, 0 }, NINES_38 },
    { "-" NINES_38, { 38, 0 }, "-" NINES_38 },
    { "9" NINES_38, { 38, 0 }, NULL },
    { "1", { 38, 38 }, NULL },
    { "0.99999999999999999999999999999999999999",
      { 38, 38 },
      "0.99999999999999999999999999999999999999" },
    { "12345678901234567890.123456789012345678",
      { 38, 18 },
      "12345678901234567890.123456789012345678" },
    { "", { 5, 2 }, NULL },
    { "-", { 5, 2 }, NULL },
    { "+1", { 5, 2 }, NULL },
    { ".5", { 5, 2 }, NULL },
    { "5.", { 5, 2 }, NULL },
    { "1e3", { 18, 2 }, NULL },
    { "1,000", { 18, 2 }, NULL },
    { " 1", { 18, 2 }, NULL },
    { "1 ", { 18, 2 }, NULL },
    { "1.2.3", { 18, 4 }, NULL },
    { "--1", { 18, 4 }, NULL },
};

static void texts_fit_or_do_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const sample *at = &samples[i];
        char text[CASPARIAN_DECIMAL_TEXT_SIZE];
        casparian_int128 value = 77;
        bool fits = casparian_decimal_parse(&value, at->text, strlen(at->text), at->type);
        if (fits != (at->written != NULL))
            fail_msg("'%s' as decimal(%d,%d) fits: %d", at->text, at->type.precision,
                     at->type.scale, fits);
        if (!fits) {
            assert_true(value == 77);
            continue;
        }
        assert_int_equal(casparian_decimal_write(text, value, at->type.scale), strlen(at->written));
        assert_string_equal(text, at->written);
    }
}

static void a_nul_is_no_digit(void **state)
{
    casparian_int128 value = 0;
    (void)state;
    assert_false(casparian_decimal_parse(&value, "1\0002", 3, (casparian_decimal_type){ 5, 0 }));
}

static void rescaling_is_exact(void **state)
{
    casparian_int128 value = 0;
    (void)state;
    assert_true(casparian_decimal_rescale(&value, 12345, 2, (casparian_decimal_type){ 10, 4 }));
    assert_true(value == 1234500);
    assert_true(casparian_decimal_rescale(&value, 12300, 4, (casparian_decimal_type){ 10, 2 }));
    assert_true(value == 123);
    assert_false(casparian_decimal_rescale(&value, 12345, 4, (casparian_decimal_type){ 10, 2 }));
    assert_true(casparian_decimal_rescale(&value, -99, 0, (casparian_decimal_type){ 4, 2 }));
    assert_true(value == -9900);
    assert_false(casparian_decimal_rescale(&value, -100, 0, (casparian_decimal_type){ 4, 2 }));
    assert_true(
        casparian_decimal_rescale(&value, INT64_MIN, 0, (casparian_decimal_type){ 38, 19 }));
    assert_false(
        casparian_decimal_rescale(&value, INT64_MIN, 0, (casparian_decimal_type){ 38, 20 }));
    assert_false(
        casparian_decimal_rescale(&value, INT64_MAX, 0, (casparian_decimal_type){ 38, 38 }));
}

static void doubles_are_the_nearest(void **state)
{
    (void)state;
    assert_true(casparian_decimal_double(1, 1) == 0.1);
    assert_true(casparian_decimal_double(-123456789, 4) == -12345.6789);
    assert_true(casparian_decimal_double(9007199254740993, 0) == 9007199254740992.0);
    assert_true(casparian_decimal_double(1, 38) == 1e-38);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_fit_or_do_not),
        cmocka_unit_test(a_nul_is_no_digit),
        cmocka_unit_test(rescaling_is_exact),
        cmocka_unit_test(doubles_are_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
