/*
 * test_uri.c - RFC 3986 section 5.4, its own examples, and what `$id` and `$ref` do with URIs.
 */
#include "fixture.h"

#include "schema/compile.h"

static void resolves(const char *base, const char *reference, const char *should)
{
    mcp_arena *arena = mcp_arena_new(0);
    const char *is = mcp__uri_resolve(arena, base, reference);

    if (strcmp(is, should) != 0)
        fail_msg("%s against %s: %s instead of %s", reference, base, is, should);
    mcp_arena_free(arena);
}

static void normal_examples_of_the_rfc(void **state)
{
    static const char *const examples[][2] = {
        { "g:h", "g:h" },
        { "g", "http://a/b/c/g" },
        { "./g", "http://a/b/c/g" },
        { "g/", "http://a/b/c/g/" },
        { "/g", "http://a/g" },
        { "//g", "http://g" },
        { "?y", "http://a/b/c/d;p?y" },
        { "g?y", "http://a/b/c/g?y" },
        { "#s", "http://a/b/c/d;p?q#s" },
        { "g#s", "http://a/b/c/g#s" },
        { "g?y#s", "http://a/b/c/g?y#s" },
        { ";x", "http://a/b/c/;x" },
        { "g;x?y#s", "http://a/b/c/g;x?y#s" },
        { "", "http://a/b/c/d;p?q" },
        { ".", "http://a/b/c/" },
        { "./", "http://a/b/c/" },
        { "..", "http://a/b/" },
        { "../", "http://a/b/" },
        { "../g", "http://a/b/g" },
        { "../..", "http://a/" },
        { "../../", "http://a/" },
        { "../../g", "http://a/g" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        resolves("http://a/b/c/d;p?q", examples[i][0], examples[i][1]);
}

static void abnormal_examples_of_the_rfc(void **state)
{
    static const char *const examples[][2] = {
        { "../../../g", "http://a/g" },
        { "../../../../g", "http://a/g" },
        { "/./g", "http://a/g" },
        { "/../g", "http://a/g" },
        { "g.", "http://a/b/c/g." },
        { ".g", "http://a/b/c/.g" },
        { "g..", "http://a/b/c/g.." },
        { "..g", "http://a/b/c/..g" },
        { "./../g", "http://a/b/g" },
        { "./g/.", "http://a/b/c/g/" },
        { "g/./h", "http://a/b/c/g/h" },
        { "g/../h", "http://a/b/c/h" },
        { "g;x=1/./y", "http://a/b/c/g;x=1/y" },
        { "g;x=1/../y", "http://a/b/c/y" },
        { "g?y/./x", "http://a/b/c/g?y/./x" },
        { "g#s/../x", "http://a/b/c/g#s/../x" },
        { "http:g", "http:g" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        resolves("http://a/b/c/d;p?q", examples[i][0], examples[i][1]);
}

static void bases_without_scheme_or_hierarchy(void **state)
{
    (void)state;
    resolves("", "#/a", "#/a");
    resolves("", "int.json", "int.json");
    resolves("", "./int.json", "int.json");
    resolves("", "../../int.json", "int.json");
    resolves("/a/b.json", "c.json", "/a/c.json");
    resolves("http://a", "b", "http://a/b");
    resolves("urn:uuid:deadbeef", "#/$defs/a", "urn:uuid:deadbeef#/$defs/a");
    resolves("urn:example:a?+b=c", "#x", "urn:example:a?+b=c#x");
    resolves("file:///c:/folder/file.json", "other.json", "file:///c:/folder/other.json");
}

static void splits(const char *uri, const char *base, const char *fragment)
{
    char copy[100];

    memset(copy, 0, sizeof copy);
    memcpy(copy, uri, strlen(uri));
    const char *is = mcp__uri_split(copy);
    if (!fragment) {
        assert_null(is);
        return;
    }
    assert_string_equal(copy, base);
    assert_string_equal(is, fragment);
}

static void fragments_are_decoded(void **state)
{
    (void)state;
    splits("http://a/b", "http://a/b", "");
    splits("http://a/b#", "http://a/b", "");
    splits("http://a/b#/x%25y/%22", "http://a/b", "/x%y/\"");
    splits("#%c3%A9", "", "\xc3\xa9");
    splits("#%2", NULL, NULL);
    splits("#%zz", NULL, NULL);
    splits("#a%00b", NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_examples_of_the_rfc),
        cmocka_unit_test(abnormal_examples_of_the_rfc),
        cmocka_unit_test(bases_without_scheme_or_hierarchy),
        cmocka_unit_test(fragments_are_decoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
