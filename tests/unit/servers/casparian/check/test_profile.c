/*
 * test_profile.c - what a profile says that a text fits, held against a regular expression for each
 * type and a plain reading of each pattern.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../schema/plain.h"
#include "check/profile.h"

enum { CASES = 1000000, PATTERN_TEXT_MAX = 40, PATTERN_DIGITS_MIN = 3, GROUPS = 8 };

static mcp_arena *arena;
static casparian_patterns patterns;
static plain_pattern plain[CASPARIAN_FORMATS];
static pcre2_code *integer, *number, *decimal, *boolean, *duration, *clock_time, *sentinel;
static pcre2_match_data *data;
static char *memory;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    memory = malloc(PLAIN_TEXT_MAX);
    data = pcre2_match_data_create(GROUPS, NULL);
    integer = plain_expression("-?(?:0|[1-9][0-9]{0,18})");
    number = plain_expression("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
                              "|(?i:nan|-?inf)");
    decimal = plain_expression("-?(?=[0-9])0*+([0-9]*)(?:\\.([0-9]+))?");
    boolean = plain_expression("(?i:true|t|yes|y|1|false|f|no|n|0)");
    duration = plain_expression(
        "-?P(?:[0-9]{1,13}D)?(?:T(?=[0-9])(?:[0-9]{1,13}H)?(?:[0-9]{1,13}M)?"
        "(?:[0-9]{1,13}(?:\\.[0-9]{1,6})?S)?)?(?<=[DHMS])");
    clock_time = plain_expression("(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)"
                                  "(?:\\.[0-9]{1,9})?");
    sentinel = plain_expression("N/A|NA|NULL|null|None|nan|PENDING|UNKNOWN|-|--|\\?|");
    if (!arena || casparian_patterns_compile(&patterns, arena, NULL) != MCP_OK)
        return -1;
    for (size_t i = 0; i < CASPARIAN_FORMATS; i++)
        plain[i] = plain_compile(patterns.items[i].text);
    return 0;
}

static int tear_down(void **state)
{
    pcre2_code *const codes[] = {
        integer, number, decimal, boolean, duration, clock_time, sentinel
    };
    (void)state;
    for (size_t i = 0; i < CASPARIAN_FORMATS; i++)
        plain_free(&plain[i]);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        pcre2_code_free(codes[i]);
    pcre2_match_data_free(data);
    free(memory);
    mcp_arena_free(arena);
    return 0;
}

static bool fits(const pcre2_code *code, const char *text, size_t length)
{
    return pcre2_match(code, (PCRE2_SPTR)text, length, 0, 0, data, NULL) >= 0;
}

/* ---- the plain way --------------------------------------------------------------------------- */

static bool fits_number(casparian_candidate candidate, const char *text, size_t length)
{
    char copy[PLAIN_TEXT_MAX + 1];
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    if (candidate == CASPARIAN_FITS_INT64)
        return fits(integer, text, length) && (strtoll(copy, NULL, 10), errno == 0);
    double value = strtod(copy, NULL);
    bool is_infinite = isinf(value) && copy[length - 1] >= '0' && copy[length - 1] <= '9';
    return fits(number, text, length) && !is_infinite;
}

/* @param whole digits before the point, without zeros in front */
static bool fits_decimal(size_t *whole, size_t *fraction, const char *text, size_t length)
{
    if (!fits(decimal, text, length))
        return false;
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(data);
    *whole = place[3] - place[2];
    *fraction = place[4] == PCRE2_UNSET ? 0 : place[5] - place[4];
    return *whole + *fraction <= 38;
}

/* Dates are looked for in short texts of some digits, and those of nothing else in texts of one
 * length. */
static bool fits_pattern(size_t i, const char *text, size_t length)
{
    plain_reading ignored;
    size_t digits = 0;
    for (size_t at = 0; at < length; at++)
        digits += text[at] >= '0' && text[at] <= '9';
    return length <= PATTERN_TEXT_MAX && digits >= PATTERN_DIGITS_MIN &&
           (patterns.items[i].digits == 0 || length == patterns.items[i].digits) &&
           plain_match(&ignored, &plain[i], text, length);
}

static bool fits_plainly(size_t candidate, const char *text, size_t length)
{
    size_t whole, fraction;
    if (candidate < CASPARIAN_FORMATS)
        return fits_pattern(candidate, text, length);
    switch ((casparian_candidate)candidate) {
    case CASPARIAN_FITS_BOOLEAN:
        return fits(boolean, text, length);
    case CASPARIAN_FITS_INT64:
    case CASPARIAN_FITS_FLOAT64:
        return fits_number((casparian_candidate)candidate, text, length);
    case CASPARIAN_FITS_DECIMAL:
        return fits_decimal(&whole, &fraction, text, length);
    case CASPARIAN_FITS_TIME:
        return fits(clock_time, text, length);
    case CASPARIAN_FITS_DURATION:
        return fits(duration, text, length);
    default:
        return candidate == CASPARIAN_FITS_STRING;
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* @return what the profile says */
static casparian_profile check_text(const plain_text *text)
{
    casparian_profile profile = { .cells = 0 };
    const char *bytes = plain_at_end(memory, PLAIN_TEXT_MAX, text);
    const casparian_cell cell = { .kind = CASPARIAN_KIND_STRING,
                                  .text = { .bytes = bytes, .length = text->length } };
    size_t whole = 0, fraction = 0;
    bool is_sentinel = fits(sentinel, bytes, text->length);
    casparian_profile_add(&profile, &patterns, &cell, CASPARIAN_STANDS);
    casparian_profile_add(&profile, &patterns, &cell, CASPARIAN_FAILS_ALONE);
    casparian_profile_add(&profile, &patterns, &cell, CASPARIAN_FAILS);
    assert_int_equal(profile.sentinels, is_sentinel ? 3 : 0);
    for (size_t i = 0; i < CASPARIAN_CANDIDATES; i++) {
        const casparian_fits *seen = &profile.of[i];
        bool expected = fits_plainly(i, bytes, text->length);
        if (seen->kept != expected || seen->won != 2 * expected || seen->healed != expected ||
            seen->fits != (is_sentinel ? 0 : 3 * expected))
            fail_msg("'%.*s' (%zu bytes) fits %zu (%s): %d", (int)text->length, bytes, text->length,
                     i, i < CASPARIAN_FORMATS ? patterns.items[i].text : "a type", !expected);
    }
    bool is_decimal = fits_decimal(&whole, &fraction, bytes, text->length);
    assert_int_equal(profile.whole, is_decimal ? whole : 0);
    assert_int_equal(profile.fraction, is_decimal ? fraction : 0);
    return profile;
}

static void make_text(plain_text *out, uint64_t *seed)
{
    static const char *const words[] = { "N/A",
                                         "NULL",
                                         "null",
                                         "None",
                                         "nan",
                                         "PENDING",
                                         "UNKNOWN",
                                         "-",
                                         "--",
                                         "?",
                                         "",
                                         "true",
                                         "Yes",
                                         "n",
                                         "-inf",
                                         "INF",
                                         "1",
                                         "P1D",
                                         "-PT2H3.5S",
                                         "P1DT",
                                         "PT1M2H",
                                         "12:34:56",
                                         "23:59:60.5",
                                         "1e-5",
                                         "1-5",
                                         "-1-5",
                                         "-1e-5",
                                         "2024-01-01T00:00:00+02:00",
                                         "9223372036854775808",
                                         "order 66 of 2024-01-01" };
    *out = (plain_text){ .length = 0 };
    unsigned which = plain_below(seed, CASPARIAN_FORMATS + 12);
    if (which < CASPARIAN_FORMATS) {
        plain_text_for(out, seed, patterns.items[which].text);
    } else if (which < CASPARIAN_FORMATS + 4) {
        const char *word = words[plain_below(seed, sizeof words / sizeof words[0])];
        plain_add(out, word, strlen(word));
    } else if (which < CASPARIAN_FORMATS + 10) {
        plain_add(out, "-", plain_below(seed, 3) == 0);
        plain_add_digits(out, seed, plain_below(seed, plain_below(seed, 8) ? 14 : 50));
        plain_add(out, ".", plain_below(seed, 2));
        plain_add_digits(out, seed, plain_below(seed, 8));
    } else { /* any of the bytes that are looked at */
        for (unsigned left = plain_below(seed, 60); left > 0; left--)
            plain_add(out, plain_bytes + plain_below(seed, PLAIN_BYTES), 1);
    }
}

static void random_texts_fit_the_plain_way(void **state)
{
    uint64_t seed = 4;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        plain_text text;
        make_text(&text, &seed);
        for (unsigned changes = plain_below(&seed, 4); changes > 1; changes--)
            plain_spoil(&text, &seed);
        check_text(&text);
    }
}

static void each_change_of_a_byte_is_seen(void **state)
{
    static const char *const texts[] = { "2024-02-29T23:59:59.5+01:00",
                                         "29/Feb/2024:10:20:30 -0330",
                                         "20240229-10:20:30.123",
                                         "29.02.2024",
                                         "-12.50",
                                         "1e-5",
                                         "2024/02/29 10:20:30",
                                         "20240229102030",
                                         "-P1DT2H3M4.5S" };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        plain_text text = { .length = strlen(texts[i]) };
        for (size_t place = 0; place < text.length; place++) {
            for (int byte = 0; byte < 256; byte++) {
                memcpy(text.bytes, texts[i], text.length);
                text.bytes[place] = (char)byte;
                check_text(&text);
            }
        }
    }
}

static void each_pattern_takes_its_shortest_and_longest_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASPARIAN_FORMATS; i++) {
        plain_text text;
        size_t length = patterns.items[i].digits;
        plain_extreme(&text, patterns.items[i].text, false);
        bool has_length = length == 0 || length == text.length;
        assert_int_equal(check_text(&text).of[i].kept, has_length);
        plain_extreme(&text, patterns.items[i].text, true);
        assert_int_equal(check_text(&text).of[i].kept, 1);
    }
}

/* The rest of a long text is not looked at for separators. */
static void long_texts_fit_as_short_ones_do(void **state)
{
    static const char *const begins[] = { "1", "-1", "0", "1.5", "2024-01-01", "P1D", "x", "1e-" };
    (void)state;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        for (size_t byte = 0; byte < PLAIN_BYTES; byte++) {
            plain_text text = { .length = 0 };
            plain_add(&text, begins[i], strlen(begins[i]));
            while (text.length < 60)
                plain_add(&text, "7", 1);
            plain_add(&text, plain_bytes + byte, 1);
            check_text(&text);
            plain_add(&text, "8", 1);
            check_text(&text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_of_a_byte_is_seen),
        cmocka_unit_test(each_pattern_takes_its_shortest_and_longest_texts),
        cmocka_unit_test(long_texts_fit_as_short_ones_do),
        cmocka_unit_test(random_texts_fit_the_plain_way),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
