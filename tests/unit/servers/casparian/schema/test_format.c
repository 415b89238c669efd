/*
 * test_format.c - patterns that are refused, and what differs from Python's strptime on purpose.
 * What is the same is held against Python by against_python.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schema/format.h"

static mcp_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static void patterns_are_refused_with_the_reason(void **state)
{
    static const struct {
        casparian_temporal kind;
        const char *pattern, *why;
    } bad[] = {
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m", "needs year, month and day" },
        { CASPARIAN_TEMPORAL_DATE, "%m-%d", "needs year, month and day" },
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%d %H", "no time" },
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%j", "stands for month and day" },
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%d %Y", "already" },
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%q", "%q" },
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%d%", "write %%" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%F %T%z", "timestamp_tz" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%F %I:%M", "need each other" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%F %H:%M %p", "24 hours" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%F %M", "minutes need hours" },
        { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F %T %z %Z", "say the same" },
        { CASPARIAN_TEMPORAL_TIME, "%M:%S", "needs %H" },
        { CASPARIAN_TEMPORAL_TIME, "%F %T", "no date" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const casparian_format *format = NULL;
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(
            casparian_format_compile(&format, arena, bad[i].pattern, bad[i].kind, &err),
            MCP_E_PARAMS);
        assert_null(format);
        if (!strstr(err.message, bad[i].why))
            fail_msg("%s: '%s'", bad[i].pattern, err.message);
    }
}

typedef struct reading {
    casparian_temporal kind;
    const char *pattern; /* NULL: the form without a pattern */
    const char *text;
    const char *same; /* the same moment as RFC 3339 has it; NULL: the text does not fit */
} reading;

static const reading readings[] = {
    /* a fraction of up to nine digits is cut to microseconds */
    { CASPARIAN_TEMPORAL_TIME, "%H:%M:%S.%f", "01:02:03.123456789", "01:02:03.123456" },
    { CASPARIAN_TEMPORAL_TIME, "%H:%M:%S%.f", "01:02:03", "01:02:03" },
    { CASPARIAN_TEMPORAL_TIME, "%H:%M:%S%.3f", "01:02:03.5", "01:02:03.5" },
    { CASPARIAN_TEMPORAL_TIME, "%H:%M:%S.%3f", "01:02:03.5", NULL },
    { CASPARIAN_TEMPORAL_TIME, "%H:%M:%S.%3f", "01:02:03.512", "01:02:03.512" },
    /* a leap second */
    { CASPARIAN_TEMPORAL_TIME, "%T", "23:59:60", "23:59:59.999999" },
    { CASPARIAN_TEMPORAL_TIME, "%T", "23:59:61", NULL },
    { CASPARIAN_TEMPORAL_TIME, NULL, "23:59:60", "23:59:59.999999" },
    /* blanks */
    { CASPARIAN_TEMPORAL_DATE, "%d %b %Y", "5 \t mar   2024", "2024-03-05" },
    { CASPARIAN_TEMPORAL_DATE, "%d %b %Y", "5mar 2024", NULL },
    /* days that are not there */
    { CASPARIAN_TEMPORAL_DATE, "%d.%m.%Y", "31.04.2024", NULL },
    { CASPARIAN_TEMPORAL_DATE, "%d.%m.%Y", "29.02.2023", NULL },
    { CASPARIAN_TEMPORAL_DATE, "%Y/%j", "2023/366", NULL },
    { CASPARIAN_TEMPORAL_DATE, "%Y/%j", "2024/366", "2024-12-31" },
    { CASPARIAN_TEMPORAL_DATE, NULL, "2024-02-30", NULL },
    { CASPARIAN_TEMPORAL_DATE, NULL, "2024-2-3", NULL },
    { CASPARIAN_TEMPORAL_DATE, NULL, "2024-02-03T", NULL },
    /* years of two digits */
    { CASPARIAN_TEMPORAL_DATE, "%m/%d/%y", "01/02/68", "2068-01-02" },
    { CASPARIAN_TEMPORAL_DATE, "%D", "01/02/69", "1969-01-02" },
    /* zones */
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700",
      "2000-10-10T13:55:36-07:00" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F %T %Z", "2000-10-10 13:55:36 gmt",
      "2000-10-10T13:55:36Z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, "%F %T %Z", "2000-10-10 13:55:36 EST", NULL },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, NULL, "2000-10-10T13:55:36", NULL },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, NULL, "2000-10-10T13:55:36-0700", NULL },
    { CASPARIAN_TEMPORAL_TIMESTAMP_TZ, NULL, "2000-10-10 13:55:36.25Z", "2000-10-10T13:55:36.25Z" },
    { CASPARIAN_TEMPORAL_TIMESTAMP, NULL, "2000-10-10 13:55:36.", NULL },
    { CASPARIAN_TEMPORAL_TIMESTAMP, NULL, "2000-10-10  13:55:36", NULL },
    { CASPARIAN_TEMPORAL_TIMESTAMP, NULL, "2000-10-10T24:00:00", NULL },
};

static bool read_with(casparian_moment *out, const reading *at)
{
    const casparian_format *format = NULL;
    if (!at->pattern)
        return casparian_temporal_match(out, at->kind, at->text, strlen(at->text));
    assert_int_equal(casparian_format_compile(&format, arena, at->pattern, at->kind, NULL), MCP_OK);
    return casparian_format_match(out, format, at->text, strlen(at->text));
}

static void texts_fit_or_do_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        const reading *at = &readings[i];
        casparian_moment seen = { .hour = 0 }, same = { .hour = 0 };
        bool fits = read_with(&seen, at);
        if (fits != (at->same != NULL))
            fail_msg("'%s' by '%s' fits: %d", at->text, at->pattern ? at->pattern : "", fits);
        if (!fits)
            continue;
        assert_true(casparian_temporal_match(&same, at->kind, at->same, strlen(at->same)));
        if (at->kind != CASPARIAN_TEMPORAL_TIME)
            assert_int_equal(casparian_days_of(&seen.date), casparian_days_of(&same.date));
        assert_int_equal(casparian_time_of(&seen), casparian_time_of(&same));
        assert_int_equal(seen.has_offset, same.has_offset);
        assert_int_equal(seen.offset_s, same.offset_s);
    }
}

static void a_pattern_with_many_readings_ends(void **state)
{
    const casparian_format *format = NULL;
    casparian_moment out;
    static const char text[] = "1111111111111111111111111111111111111111x";
    (void)state;
    assert_int_equal(casparian_format_compile(&format, arena, "%d%m%H%M%S%f%Y",
                                              CASPARIAN_TEMPORAL_TIMESTAMP, NULL),
                     MCP_OK);
    assert_false(casparian_format_match(&out, format, text, strlen(text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_refused_with_the_reason),
        cmocka_unit_test(texts_fit_or_do_not),
        cmocka_unit_test(a_pattern_with_many_readings_ends),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
