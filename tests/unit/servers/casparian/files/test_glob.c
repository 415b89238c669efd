/*
 * test_glob.c - which paths a pattern matches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "files/glob.h"
#include "mcp/clock.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])

static bool matches(const char *pattern, const char *path)
{
    casparian_glob *glob = NULL;
    mcp_error err = MCP_ERROR_INIT;
    if (casparian_glob_new(&glob, pattern, &err) != MCP_OK)
        fail_msg("%s: %s", pattern ? pattern : "NULL", err.message);
    bool is_match = casparian_glob_matches(glob, path);
    casparian_glob_free(glob);
    return is_match;
}

static void patterns_match(void **state)
{
    static const struct {
        const char *pattern, *path;
        bool is_match;
    } cases[] = {
        /* normalisation: all, names at any depth, a slash at the beginning */
        { NULL, "a", true },
        { NULL, "a/b/c", true },
        { "", "a/b", true },
        { "*", "a/b", true },
        { "**", "a/b", true },
        { "/", "a/b", true },
        { "*.fix", "a.fix", true },
        { "*.fix", "deep/er/a.fix", true },
        { "*.fix", "a.fix.bak", false },
        { "/logs/*.txt", "logs/a.txt", true },
        { "logs/*.txt", "x/logs/a.txt", false },
        /* case */
        { "*.FIX", "Order.fix", true },
        { "*.fix", "ORDER.FIX", true },
        { "\xc3\x84*", "\xc3\xa4rger", true },
        { "[A-C]x", "bX", true },
        { "[a-c]x", "BX", true },
        /* a star does not cross a slash */
        { "a/*", "a/b", true },
        { "a/*", "a/b/c", false },
        { "a*c", "abbbc", true },
        { "a*c", "ac", true },
        { "x/a?c", "x/abc", true },
        { "x/a?c", "x/ac", false },
        { "x/a?c", "x/a/c", false },
        { "x/?", "x/\xe2\x82\xac", true },
        /* any number of components */
        { "a/**/z", "a/z", true },
        { "a/**/z", "a/b/z", true },
        { "a/**/z", "a/b/c/z", true },
        { "a/**/z", "b/z", false },
        { "a/**", "a/b/c", true },
        { "a/**", "a", false },
        { "**/a/**", "x/y/a/z", true },
        { "**/a/**", "a/z", true },
        { "a**b/c", "axxb/c", true },
        { "a**b/c", "ax/xb/c", false },
        /* classes */
        { "x/[abc]", "x/b", true },
        { "x/[!abc]", "x/b", false },
        { "x/[^abc]", "x/d", true },
        { "x/[a-c0-9]", "x/7", true },
        { "x/[]]", "x/]", true },
        { "x/[!]]", "x/]", false },
        { "x/[a-]", "x/-", true },
        { "x[!a]y/z", "x/y/z", false },
        { "x/[0-9]", "x/a", false },
        /* alternatives */
        { "*.{fix,log}", "a.log", true },
        { "*.{fix,log}", "a.txt", false },
        { "{a,b}/{c,d}", "b/c", true },
        { "{a,{b,c}d}/x", "cd/x", true },
        { "{a,}b/x", "b/x", true },
        { "{a,b/**}/z", "b/q/z", true },
        { "x{,y}/z", "x/z", true },
        /* escapes */
        { "x/\\*", "x/*", true },
        { "x/\\*", "x/a", false },
        { "x/\\{a\\}", "x/{a}", true },
        /* hidden components */
        { "*", ".git", false },
        { "*", ".git/config", false },
        { "*.txt", ".txt", false },
        { "?git", ".git", false },
        { "[.]git", ".git", false },
        { ".*", ".git", true },
        { ".*", "a/.git", true },
        { ".*", ".git/config", false },
        { ".git/*", ".git/config", true },
        { "**/.git/**", "a/.git/b/c", true },
        { "**/.git/**", "a/.git/.b", false },
        { "{.a,b}*", ".ab", true },
        { "a*", "a.b", true },
    };
    (void)state;
    for (size_t i = 0; i < ROWS(cases); i++)
        if (matches(cases[i].pattern, cases[i].path) != cases[i].is_match)
            fail_msg("%s and %s", cases[i].pattern ? cases[i].pattern : "NULL", cases[i].path);
}

static void folders_without_matches_are_not_entered(void **state)
{
    static const struct {
        const char *pattern, *folder;
        bool enters;
    } cases[] = {
        { "*.fix", "a/b", true },          { "*.fix", ".git", false },
        { "logs/*.txt", "logs", true },    { "logs/*.txt", "x", false },
        { "logs/*.txt", "logs/a", false }, { "a/**/b", "a/x/y", true },
        { ".git/*", ".git", true },        { "a/b/c", "a/b", true },
    };
    (void)state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        casparian_glob *glob = NULL;
        assert_int_equal(casparian_glob_new(&glob, cases[i].pattern, NULL), MCP_OK);
        if (casparian_glob_enters(glob, cases[i].folder) != cases[i].enters)
            fail_msg("%s and %s", cases[i].pattern, cases[i].folder);
        casparian_glob_free(glob);
    }
}

static void wrong_patterns_are_refused(void **state)
{
    static const char *const bad[] = {
        "[abc", "x/[", "[!", "{a,b", "a}", "{a,{b}", "[]", "{{{{{{{{{{{{{{{{{a}}}}}}}}}}}}}}}}}"
    };
    char endless[CASPARIAN_GLOB_MAX + 2];
    casparian_glob *glob = NULL;
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < ROWS(bad); i++) {
        assert_int_equal(casparian_glob_new(&glob, bad[i], &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, "pattern"));
    }
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_int_equal(casparian_glob_new(&glob, endless, &err), MCP_E_PARAMS);
    endless[CASPARIAN_GLOB_MAX] = '\0';
    assert_int_equal(casparian_glob_new(&glob, endless, &err), MCP_OK);
    casparian_glob_free(glob);
}

/* A matcher that tries one star after the other would need the age of the universe. */
static void many_stars_take_no_more_time_than_their_number(void **state)
{
    char pattern[CASPARIAN_GLOB_MAX], path[3000];
    size_t length = 0;
    (void)state;
    while (length + 4 < sizeof pattern)
        length += (size_t)snprintf(pattern + length, sizeof pattern - length, "*a");
    snprintf(pattern + length, sizeof pattern - length, "b");
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    int64_t started_ms = mcp_clock_mono_ms();
    assert_false(matches(pattern, path));
    assert_false(matches("{*a*,*a*}{*a*,*a*}{*a*,*a*}{*a*,*a*}{*a*,*a*}{*a*,*a*}{*a*,*a*}b", path));
    assert_false(matches("**/**/**/**/**/**/**/**/**/**/**/**/a", "a/a/a/a/a/a/a/a/a/a/a/a/a/b"));
    assert_true(mcp_clock_mono_ms() - started_ms < 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match),
        cmocka_unit_test(folders_without_matches_are_not_entered),
        cmocka_unit_test(wrong_patterns_are_refused),
        cmocka_unit_test(many_stars_take_no_more_time_than_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
