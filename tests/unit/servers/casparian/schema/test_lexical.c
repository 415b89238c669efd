/*
 * test_lexical.c - numbers, booleans and decimals in texts, held against regular expressions and
 * sums of one digit after the other.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plain.h"
#include "schema/digits.h"
#include "schema/lexical.h"

enum { CASES = 1000000 };

static char *memory;
static pcre2_code *integer, *number, *decimal, *boolean;
static pcre2_match_data *data;

static int set_up(void **state)
{
    (void)state;
    integer = plain_expression("-?(?:0|[1-9][0-9]{0,18})");
    number = plain_expression("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
    decimal = plain_expression("(-?)(?=[0-9])0*+([0-9]*)(?:\\.([0-9]+))?");
    boolean = plain_expression("(?i:(true|t|yes|y|1)|false|f|no|n|0)");
    data = pcre2_match_data_create(8, NULL);
    memory = malloc(PLAIN_TEXT_MAX);
    return memory && data ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(memory);
    pcre2_match_data_free(data);
    pcre2_code_free(integer);
    pcre2_code_free(number);
    pcre2_code_free(decimal);
    pcre2_code_free(boolean);
    return 0;
}

static bool fits(const pcre2_code *code, const char *text, size_t length)
{
    return pcre2_match(code, (PCRE2_SPTR)text, length, 0, 0, data, NULL) >= 0;
}

/* ---- digits ---------------------------------------------------------------------------------- */

static void each_byte_at_each_place_of_a_number(void **state)
{
    (void)state;
    for (size_t length = 1; length <= 19; length++) {
        plain_text text = { .length = length };
        for (size_t place = 0; place < length; place++) {
            for (int byte = 0; byte < 256; byte++) {
                uint64_t seen = 0, expected = 0;
                for (size_t i = 0; i < length; i++)
                    text.bytes[i] = (char)('0' + (7 * i + place) % 10);
                text.bytes[place] = (char)byte;
                for (size_t i = 0; i < length; i++)
                    expected = expected * 10 + (uint64_t)(text.bytes[i] - '0');
                bool are_digits = byte >= '0' && byte <= '9';
                const char *bytes = plain_at_end(memory, PLAIN_TEXT_MAX, &text);
                assert_int_equal(casparian_digits(&seen, bytes, length), are_digits);
                if (are_digits)
                    assert_int_equal(seen, expected);
            }
        }
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void check_int64(const char *text, size_t length)
{
    char copy[PLAIN_TEXT_MAX + 1];
    int64_t seen = 0;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    long long expected = strtoll(copy, NULL, 10);
    bool is_one = fits(integer, text, length) && errno == 0;
    if (casparian_lexical_int64(&seen, text, length) != is_one || (is_one && seen != expected))
        fail_msg("'%s' as an int64", copy);
}

static void check_float64(const char *text, size_t length)
{
    char copy[PLAIN_TEXT_MAX + 1];
    double seen = 0;
    memcpy(copy, text, length);
    copy[length] = '\0';
    double expected = strtod(copy, NULL);
    bool is_one = fits(number, text, length) && isfinite(expected);
    bool is_named = !strcasecmp(copy, "nan") || !strcasecmp(copy, "inf") ||
                    !strcasecmp(copy, "-inf");
    is_named = is_named && strlen(copy) == length;
    if (casparian_lexical_float64(&seen, text, length) != (is_one || is_named) ||
        (is_one && memcmp(&seen, &expected, sizeof seen) != 0))
        fail_msg("'%s' as a float64", copy);
}

static void check_boolean(const char *text, size_t length)
{
    bool seen = false, is_one = fits(boolean, text, length);
    bool is_true = is_one && pcre2_get_ovector_pointer(data)[2] != PCRE2_UNSET;
    if (casparian_lexical_boolean(&seen, text, length) != is_one || (is_one && seen != is_true))
        fail_msg("'%.*s' as a boolean", (int)length, text);
}

static void check_decimal(const char *text, size_t length, casparian_decimal_type type)
{
    casparian_int128 seen = 0, expected = 0;
    bool is_one = fits(decimal, text, length);
    if (is_one) {
        const PCRE2_SIZE *place = pcre2_get_ovector_pointer(data);
        size_t whole = place[5] - place[4];
        size_t fraction = place[6] == PCRE2_UNSET ? 0 : place[7] - place[6];
        is_one = fraction <= type.scale && whole + type.scale <= type.precision;
        for (size_t i = 0; is_one && i < length; i++)
            expected = text[i] >= '0' && text[i] <= '9' ? expected * 10 + (text[i] - '0')
                                                        : expected;
        for (size_t i = fraction; is_one && i < type.scale; i++)
            expected *= 10;
        expected = place[3] > place[2] ? -expected : expected;
    }
    if (casparian_lexical_decimal(&seen, text, length, type) != is_one ||
        (is_one && seen != expected))
        fail_msg("'%.*s' as a decimal(%u,%u)", (int)length, text, type.precision, type.scale);
}

static void check_all(const plain_text *text, casparian_decimal_type type)
{
    const char *bytes = plain_at_end(memory, PLAIN_TEXT_MAX, text);
    check_int64(bytes, text->length);
    check_float64(bytes, text->length);
    check_boolean(bytes, text->length);
    check_decimal(bytes, text->length, type);
}

static void make_number(plain_text *out, uint64_t *seed)
{
    static const char *const words[] = { "true",
                                         "FALSE",
                                         "Yes",
                                         "no",
                                         "t",
                                         "F",
                                         "y",
                                         "N",
                                         "nan",
                                         "-Inf",
                                         "inf",
                                         "",
                                         "-",
                                         ".",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "-9223372036854775809",
                                         "1e308",
                                         "1e309",
                                         "-0",
                                         "0.0" };
    *out = (plain_text){ .length = 0 };
    if (plain_below(seed, 8) == 0) {
        const char *word = words[plain_below(seed, sizeof words / sizeof words[0])];
        plain_add(out, word, strlen(word));
        return;
    }
    if (plain_below(seed, 3) == 0)
        plain_add(out, "-", 1);
    for (unsigned zeros = plain_below(seed, 12); zeros > 9; zeros--)
        plain_add(out, "0", 1);
    plain_add_digits(out, seed, plain_below(seed, plain_below(seed, 4) ? 12 : 24));
    if (plain_below(seed, 2)) {
        plain_add(out, ".", 1);
        plain_add_digits(out, seed, plain_below(seed, 10));
    }
    if (plain_below(seed, 8) == 0) {
        plain_add(out, "e+", 1 + plain_below(seed, 2));
        plain_add_digits(out, seed, plain_below(seed, 4));
    }
}

static void random_texts_are_values_the_plain_way(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        plain_text text;
        uint8_t precision = (uint8_t)(1 + plain_below(&seed, plain_below(&seed, 2) ? 18 : 38));
        const casparian_decimal_type type = { precision,
                                              (uint8_t)plain_below(&seed, precision + 1u) };
        make_number(&text, &seed);
        if (plain_below(&seed, 3) == 0)
            plain_spoil(&text, &seed);
        check_all(&text, type);
    }
}

static void each_change_of_a_byte_is_seen(void **state)
{
    static const char *const texts[] = { "0",
                                         "-7",
                                         "12",
                                         "123.45",
                                         "-0.0001",
                                         "1234567",
                                         "12345678.1234",
                                         "123456789012345678",
                                         "true",
                                         "false",
                                         "1e-5",
                                         "9.9e22",
                                         "0012.50",
                                         "nan" };
    static const casparian_decimal_type types[] = {
        { 18, 4 }, { 12, 2 }, { 18, 0 }, { 9, 8 }, { 38, 10 }
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        plain_text text = { .length = strlen(texts[i]) };
        for (size_t place = 0; place < text.length; place++) {
            for (int byte = 0; byte < 256; byte++) {
                memcpy(text.bytes, texts[i], text.length);
                text.bytes[place] = (char)byte;
                for (size_t type = 0; type < sizeof types / sizeof types[0]; type++)
                    check_all(&text, types[type]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_at_each_place_of_a_number),
        cmocka_unit_test(each_change_of_a_byte_is_seen),
        cmocka_unit_test(random_texts_are_values_the_plain_way),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
