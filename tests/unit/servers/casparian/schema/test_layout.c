/*
 * test_layout.c - texts that a layout reads, held against a plain reading of the pattern: what it
 * says to match has the same moment, what it says to differ does not match, and the rest it leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plain.h"
#include "schema/layout.h"

enum { CASES = 1000000, SPOILT_TEXTS = 4 };

/* A pattern in its three forms. */
struct subject {
    char pattern[CASPARIAN_FORMAT_MAX + 1];
    casparian_temporal kind;
    const casparian_format *format;
    casparian_layout layout;
    plain_pattern plain;
};

/* How often a layout gave each answer. */
static size_t answers[3];
static mcp_arena *arena;
static char *memory;

static const struct {
    casparian_temporal kind;
    const char *pattern;
} patterns[] = {
    { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%d" },
    { CASPARIAN_TEMPORAL_DATE, "%d/%m/%Y" },
    { CASPARIAN_TEMPORAL_DATE, "%m.%d.%y" },
    { CASPARIAN_TEMPORAL_DATE, "%Y%m%d" },
    { CASPARIAN_TEMPORAL_DATE, "%y%m%d" },
    { CASPARIAN_TEMPORAL_DATE, "%d%Y%m" },
    { CASPARIAN_TEMPORAL_DATE, "%d %b %Y" },
    { CASPARIAN_TEMPORAL_DATE, " %d  %m\t%Y " },
    { CASPARIAN_TEMPORAL_DATE, "on %F" },
    { CASPARIAN_TEMPORAL_DATE, "%F!" },
    { CASPARIAN_TEMPORAL_TIME, "%H" },
    { CASPARIAN_TEMPORAL_TIME, "%H:%M" },
    { CASPARIAN_TEMPORAL_TIME, "%H%M%S" },
    { CASPARIAN_TEMPORAL_TIME, "%T%.f" },
    { CASPARIAN_TEMPORAL_TIME, "%T.%3f" },
    { CASPARIAN_TEMPORAL_TIME, "%H%M%S%f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y-%m-%d %H:%M:%S" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y-%m-%dT%H:%M:%S%.f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y-%m-%d %H:%M:%S.%f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%d/%m/%Y %H:%M:%S" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y%m%d-%H:%M:%S.%f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y%m%d%H%M%S" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y%m%d%H%M%S%.3f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%F %T%.6f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%S%M%H%d%m%y" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%y%m%d %H%M " },
    { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y-%m-%dT%H:%M:%S %f" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%Y-%m-%dT%H:%M:%S%.f%z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%Y-%m-%dT%H:%M:%S%z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F %T.%f%z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F %T %z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%d/%b/%Y:%H:%M:%S %z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F%z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%z %F" },
};

enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new((size_t)64 << 20);
    memory = malloc(PLAIN_TEXT_MAX);
    return arena && memory ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(memory);
    mcp_arena_free(arena);
    return 0;
}

/* @return false: it is no pattern */
static bool open_subject(struct subject *out, const char *pattern, casparian_temporal kind)
{
    *out = (struct subject){ .kind = kind };
    snprintf(out->pattern, sizeof out->pattern, "%s", pattern);
    if (casparian_format_compile(&out->format, arena, pattern, kind, NULL) != MCP_OK)
        return false;
    out->layout = casparian_layout_of(pattern);
    out->plain = plain_compile(pattern);
    return true;
}

static void fail_text(const struct subject *at, const plain_text *text, const char *why)
{
    char shown[PLAIN_TEXT_MAX * 4 + 1] = "";
    size_t length = 0;
    for (size_t i = 0; i < text->length; i++) {
        unsigned char byte = (unsigned char)text->bytes[i];
        bool is_plain = byte >= ' ' && byte < 0x7F;
        length += (size_t)snprintf(shown + length, sizeof shown - length,
                                   is_plain ? "%c" : "\\x%02x", byte);
    }
    fail_msg("'%s' by '%s': %s", shown, at->pattern, why);
}

static casparian_layout_match check_text(const struct subject *at, const plain_text *text)
{
    casparian_moment moment = { .hour = 0 };
    plain_reading plain;
    const char *bytes = plain_at_end(memory, PLAIN_TEXT_MAX, text);
    bool fits = plain_match(&plain, &at->plain, bytes, text->length);
    casparian_layout_match answer = casparian_layout_read(&moment, &at->layout, bytes,
                                                          text->length);
    if (answer == CASPARIAN_MATCHES && (!fits || !plain_is_same(&plain, &moment)))
        fail_text(at, text, fits ? "the layout reads another moment" : "the layout reads it");
    if (answer == CASPARIAN_DIFFERS && fits)
        fail_text(at, text, "the layout refuses it");
    if (casparian_read_moment(&moment, &at->layout, at->format, bytes, text->length) != fits)
        fail_text(at, text, fits ? "it is not read" : "it is read");
    if (fits && !plain_is_same(&plain, &moment))
        fail_text(at, text, "another moment is read");
    answers[answer]++;
    return answer;
}

static void each_change_of_a_byte_is_seen(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < PATTERNS; i++) {
        struct subject subject;
        assert_true(open_subject(&subject, patterns[i].pattern, patterns[i].kind));
        for (int made = 0; made < SPOILT_TEXTS; made++) {
            plain_text text, changed;
            plain_text_for(&text, &seed, subject.pattern);
            check_text(&subject, &text);
            for (size_t place = 0; place < text.length; place++) {
                changed = text;
                for (size_t byte = 0; byte < PLAIN_BYTES; byte++) {
                    changed.bytes[place] = plain_bytes[byte];
                    check_text(&subject, &changed);
                }
                changed = text;
                changed.length = place; /* cut off */
                check_text(&subject, &changed);
            }
        }
        plain_free(&subject.plain);
    }
}

/* Directives in any order with any separators, of which many are no pattern. */
static void make_pattern(char out[CASPARIAN_FORMAT_MAX + 1], uint64_t *seed)
{
    static const char *const dates[] = { "Ymd", "dmY", "mdy", "ymd", "F", "Ydm", "" };
    static const char *const times[] = { "HMS", "HM", "T", "H", "" };
    static const char *const fractions[] = { "%.f", ".%f", "%f", "%.3f", "%.6f", "%3f", "", "" };
    static const char *const separators[] = { "-", "/", ".", ":", " ", "", "T", ", ", "\t", "é" };
    const char *date = dates[plain_below(seed, sizeof dates / sizeof dates[0])];
    const char *time = times[plain_below(seed, sizeof times / sizeof times[0])];
    const char *fraction = fractions[plain_below(seed, sizeof fractions / sizeof fractions[0])];
    char directives[16];
    size_t length = 0;
    snprintf(directives, sizeof directives, "%s%s", date, time);
    for (const char *at = directives; *at; at++) {
        const char *between = separators[plain_below(seed, sizeof separators / sizeof *separators)];
        bool is_last = at[1] == '\0';
        length += (size_t)snprintf(out + length, CASPARIAN_FORMAT_MAX + 1 - length, "%%%c%s", *at,
                                   is_last && plain_below(seed, 4) ? "" : between);
    }
    snprintf(out + length, CASPARIAN_FORMAT_MAX + 1 - length, "%s%s", *time ? fraction : "",
             plain_below(seed, 4) ? "" : "%z");
}

static casparian_temporal kind_of(const char *pattern)
{
    bool has_date = strstr(pattern, "%d") || strstr(pattern, "%F");
    bool has_time = strstr(pattern, "%H") || strstr(pattern, "%T");
    if (strstr(pattern, "%z"))
        return CASPARIAN_TEMPORAL_TIMESTAMP_TZ;
    return !has_date  ? CASPARIAN_TEMPORAL_TIME
           : has_time ? CASPARIAN_TEMPORAL_TIMESTAMP
                      : CASPARIAN_TEMPORAL_DATE;
}

static void random_texts_are_read_the_plain_way(void **state)
{
    enum { OF_A_PATTERN = 200 };
    uint64_t seed = 2;
    (void)state;
    memset(answers, 0, sizeof answers);
    for (size_t cases = 0; cases < CASES;) {
        struct subject subject;
        char pattern[CASPARIAN_FORMAT_MAX + 1] = "";
        make_pattern(pattern, &seed);
        size_t known = plain_below(&seed, 2 * PATTERNS);
        bool is_pattern = known < PATTERNS ? open_subject(&subject, patterns[known].pattern,
                                                          patterns[known].kind)
                                           : open_subject(&subject, pattern, kind_of(pattern));
        for (int i = 0; is_pattern && i < OF_A_PATTERN; i++, cases++) {
            plain_text text;
            plain_text_for(&text, &seed, subject.pattern);
            for (unsigned changes = plain_below(&seed, 4); changes > 1; changes--)
                plain_spoil(&text, &seed);
            check_text(&subject, &text);
        }
        if (is_pattern)
            plain_free(&subject.plain);
    }
    /* Each answer was given often, so the layouts were at work. */
    assert_true(answers[CASPARIAN_MATCHES] > CASES / 8);
    assert_true(answers[CASPARIAN_DIFFERS] > CASES / 50);
    assert_true(answers[CASPARIAN_MAY_MATCH] > CASES / 8);
}

static void common_patterns_need_no_other_reader(void **state)
{
    static const struct {
        casparian_temporal kind;
        const char *pattern, *matches, *differs;
    } cases[] = {
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%d", "2024-02-29", "2023-02-29" },
        { CASPARIAN_TEMPORAL_DATE, "%d/%m/%y", "31/12/99", "31/11/99" },
        { CASPARIAN_TEMPORAL_DATE, "%y%m%d", "991231", "991232" },
        { CASPARIAN_TEMPORAL_TIME, "%H:%M", "23:59", "24:00" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%d/%m/%Y %H:%M:%S", "01/02/2024 03:04:05",
          "01/02/2024 03:64:05" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y-%m-%dT%H:%M:%S%.f", "2024-01-02T03:04:05.123456789",
          "2024-01-02T03:04:05.1234567890" },
        { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F %T.%f%z", "2024-01-02 03:04:05.5-23:59",
          "2024-01-02 03:04:05.5-24:00" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct subject subject;
        plain_text text = { .length = strlen(cases[i].matches) };
        assert_true(open_subject(&subject, cases[i].pattern, cases[i].kind));
        memcpy(text.bytes, cases[i].matches, text.length);
        if (check_text(&subject, &text) != CASPARIAN_MATCHES)
            fail_text(&subject, &text, "the layout does not read it");
        text.length = strlen(cases[i].differs);
        memcpy(text.bytes, cases[i].differs, text.length);
        if (check_text(&subject, &text) != CASPARIAN_DIFFERS)
            fail_text(&subject, &text, "the layout does not refuse it");
        plain_free(&subject.plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_patterns_need_no_other_reader),
        cmocka_unit_test(each_change_of_a_byte_is_seen),
        cmocka_unit_test(random_texts_are_read_the_plain_way),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
