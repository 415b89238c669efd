/*
 * test_pattern.c - ECMA-262 as it is meant, not as PCRE2 has it. Expectations: ECMA-262, section
 * 22.2.
 */
#include "fixture.h"

#include "schema/pattern.h"

static mcp_status match(bool *out, const char *expression, const char *text, uint64_t steps)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp__pattern *list = NULL;
    mcp__matcher matcher = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__pattern_compile(&list, arena, expression, strlen(expression), &err) != MCP_OK)
        fail_msg("%s: %s", expression, err.message);
    mcp_status st = mcp__pattern_match(out, list, &matcher, text, strlen(text), &steps, &err);
    mcp__matcher_clear(&matcher);
    mcp__pattern_free_all(list);
    mcp_arena_free(arena);
    return st;
}

static void check(const char *expression, const char *text, bool should)
{
    bool matches = !should;

    assert_int_equal(match(&matches, expression, text, 1000000), MCP_OK);
    if (matches != should)
        fail_msg("%s on %s: %d", expression, text, matches);
}

static void yes(const char *expression, const char *text)
{
    check(expression, text, true);
}

static void no(const char *expression, const char *text)
{
    check(expression, text, false);
}

static void anchors_and_lines(void **state)
{
    (void)state;
    yes("b", "abc");
    yes("", "");
    yes("^abc$", "abc");
    no("^abc$", "abc\n");
    no("^b", "a\nb");
    no("^.$", "\n");
    no("^.$", "\r");
    no("^.$", "\xe2\x80\xa8"); /* U+2028 */
    yes("^.$", "\xc2\x85");    /* U+0085 is a line end for others only */
    yes("^.$", "\xf0\x9f\x98\x80");
}

static void sets(void **state)
{
    (void)state;
    yes("^\\d$", "7");
    no("^\\d$", "\xdf\x80"); /* NKO DIGIT ZERO */
    no("^\\w$", "\xc3\xa9");
    yes("^\\W$", "\xc3\xa9");
    yes("^\\s$", "\xc2\xa0");     /* U+00A0 */
    yes("^\\s$", "\xef\xbb\xbf"); /* U+FEFF */
    yes("^\\s$", "\xe2\x80\xa9");
    yes("^\\s$", "\v");
    no("^\\s$", "\xc2\x85");
    no("^\\s$", "\xe1\xa0\x8e"); /* U+180E is no space since Unicode 6.3 */
    yes("^\\S$", "\xc2\x85");
    yes("^[\\s]$", "\xe3\x80\x80");
    no("^[\\S]$", "\xe3\x80\x80");
    yes("^[^\\S]$", " ");
    yes("^[\\S]$", "x");
    yes("^[\\d\\-x]+$", "4-x");
    yes("^[\\w.-]+$", "a.b-c");
    yes("^[\\w-.]+$", "a.b-c");
}

static void escapes(void **state)
{
    (void)state;
    yes("^\\t\\n\\v\\f\\r$", "\t\n\v\f\r");
    no("^\\v$", "\n"); /* elsewhere a class of vertical space */
    yes("^\\cC$", "\x03");
    yes("^\\cc$", "\x03");
    yes("^\\x41\\u0042\\u{43}$", "ABC");
    yes("^\\uD83D\\uDE00$", "\xf0\x9f\x98\x80");
    yes("^[\\u{1F600}-\\u{1F64F}]$", "\xf0\x9f\x98\x80");
    yes("^[\\b]$", "\b");
    yes("^\\$\\^\\/\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\\\$", "$^/.*+?()[]{}|\\");
    yes("^\\-$", "-");
    yes("a\\b", "a b");
    no("a\\b", "ab");
    yes("a\\B", "ab");
}

static void classes(void **state)
{
    (void)state;
    no("[]", "a");
    yes("[^]", "\n");
    yes("^[[:alpha:]]$", ":]");
    no("^[[:alpha:]]$", "b");
    yes("^[a^-]+$", "-^a");
}

static void groups_and_references(void **state)
{
    (void)state;
    yes("^(a)(?:b)(?<n>c)\\1\\k<n>$", "abcac");
    yes("^(?:(a)|b)\\1$", "b"); /* a group that took no part matches empty */
    yes("^(?=a)a(?!c)b$", "ab");
    yes("(?<=a)b", "ab");
    no("(?<!a)b", "ab");
    yes("^a{2,3}?$", "aaa");
    yes("^{a}$", "{a}");
    yes("^a{,3}$", "a{,3}");
    yes("^x{1$", "x{1");
}

static void properties(void **state)
{
    (void)state;
    yes("^\\p{Letter}+$", "\xc3\xa9z");
    yes("^\\p{L}\\P{L}$", "a1");
    yes("^\\p{Uppercase_Letter}$", "A");
    yes("^\\p{gc=Decimal_Number}$", "\xdf\x80");
    yes("^\\p{General_Category=Nd}$", "7");
    yes("^\\p{digit}$", "7");
    yes("^\\p{Script=Greek}$", "\xce\xb1");
    yes("^\\p{sc=Cyrillic}$", "\xd0\x96");
    no("^\\p{Script=Greek}$", "a");
    yes("^[\\p{Lu}\\p{Nd}]+$", "A7");
    yes("^\\p{Alphabetic}$", "x");
    yes("^\\p{ASCII}$", "x");
}

static void what_is_not_ecma(void **state)
{
    static const char *const wrong[] = {
        "\\a",     "\\Z",         "\\A",       "\\h",       "\\R",    "\\e",
        "\\Q.\\E", "\\C",         "\\N",       "\\g{1}",    "\\G",    "\\K",
        "\\012",   "\\_",         "(?i)a",     "(?>a)",     "(?#a)",  "(?P<n>a)",
        "(?'n'a)", "(*UTF)a",     "(*ACCEPT)", "a++",       "a*+",    "a?+",
        "a{2}+",   "a**",         "(+a)",      "*a",        "(a",     "a)",
        "[a",      "[z-a]",       "a{3,2}",    "\\",        "\\x4",   "\\u12",
        "\\u{}",   "\\u{11ffff}", "\\u{41",    "\\uD83D",   "\\c1",   "\\c",
        "\\p",     "\\pL",        "\\p{}",     "\\p{Nope}", "\\p{L",  "\\p{^L}",
        "\\k",     "\\k<n>",      "\\k<n",     "(?<n",      "(?<>a)", "(?<n>a)(?<n>b)",
        "\\2(a)",  "[\\a]",       "(?<=a+)b",  "[\\B]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (mcp__pattern_is_valid(wrong[i], strlen(wrong[i])))
            fail_msg("%s is taken for an expression", wrong[i]);
    }
}

static void nul_is_a_character(void **state)
{
    (void)state;
    assert_true(mcp__pattern_is_valid("a\0b", 3));
    assert_false(mcp__pattern_is_valid("a\\\0", 3));
    yes("^[^\\0]$", "a");
}

static void long_and_deep_expressions_are_refused(void **state)
{
    char *text = malloc(20001);

    (void)state;
    memset(text, 'a', 20000);
    assert_false(mcp__pattern_is_valid(text, 20000));
    assert_false(mcp__pattern_is_valid(text, 16000)); /* compiled it would have more than 64 KiB */
    assert_true(mcp__pattern_is_valid(text, 8000));
    text[0] = '[';
    /* One set: compiled it is small. */
    for (size_t length = 16 * 1024 - 1; length <= 16 * 1024 + 1; length++) {
        text[length - 1] = ']';
        assert_int_equal(mcp__pattern_is_valid(text, length), length <= 16 * 1024);
        text[length - 1] = 'a';
    }
    memset(text, '(', 1000);
    memset(text + 1000, ')', 1000);
    assert_false(mcp__pattern_is_valid(text, 2000));
    for (size_t i = 0; i < 8000; i++)
        memcpy(text + 2 * i, "\\S", 2);
    mcp__pattern_is_valid(text, 16000); /* may or may not compile; must come back */
    free(text);
}

static void exponential_matches_end(void **state)
{
    bool matches = false;

    (void)state;
    assert_int_equal(match(&matches, "(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 1000000),
                     MCP_E_LIMIT);
    assert_int_equal(
        match(&matches, "^(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 1000000),
        MCP_E_LIMIT);
}

/* One blank after the other may begin the run: 10^12 comparisons, were they not counted. */
static void quadratic_matches_end(void **state)
{
    size_t length = 1 << 20;
    char *text = malloc(length + 1);
    bool matches = false;

    (void)state;
    memset(text, ' ', length);
    text[length - 1] = 'x';
    text[length] = '\0';
    assert_int_equal(match(&matches, "\\s+$", text, 1000000), MCP_E_LIMIT);
    assert_int_equal(match(&matches, "^\\s+x$", text, 1000000), MCP_OK);
    assert_true(matches);
    free(text);
}

static void steps_are_counted(void **state)
{
    bool matches = false;

    (void)state;
    assert_int_equal(match(&matches, "^a$", "a", 100), MCP_OK);
    assert_int_equal(match(&matches, "^a*b$", "aaaaaaaa", 0), MCP_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anchors_and_lines),
        cmocka_unit_test(sets),
        cmocka_unit_test(escapes),
        cmocka_unit_test(classes),
        cmocka_unit_test(groups_and_references),
        cmocka_unit_test(properties),
        cmocka_unit_test(what_is_not_ecma),
        cmocka_unit_test(nul_is_a_character),
        cmocka_unit_test(long_and_deep_expressions_are_refused),
        cmocka_unit_test(exponential_matches_end),
        cmocka_unit_test(quadratic_matches_end),
        cmocka_unit_test(steps_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
