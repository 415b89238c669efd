/*
 * test_uri_template.c - URI templates read backwards.
 *
 * Where RFC 6570 section 3.2 gives an expansion with its values, the URI is that expansion and the
 * values are those; what we refuse or leave apart is named in each test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/arena.h"
#include "mcp/feature/uri_template.h"
#include "mcp/json.h"
#include "oom.h"

struct row {
    const char *template;
    const char *uri;
    const char *variables; /* NULL: does not match */
};

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

static const mcp__uri_template *compiled(const char *text)
{
    const mcp__uri_template *template = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__uri_template_compile(&template, arena, text, &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return template;
}

static mcp_status match(const mcp_json **out, const char *template, const char *uri,
                        mcp__uri_slashes slashes)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp__uri_template_match(out, compiled(template), uri, strlen(uri), slashes,
                                            arena, &err);

    assert_true(st == MCP_OK || (err.status == st && err.message[0]));
    return st;
}

static void check_row(const struct row *row, mcp__uri_slashes slashes)
{
    const mcp_json *got = NULL, *want = NULL;
    mcp_status st = match(&got, row->template, row->uri, slashes);

    if (!row->variables) {
        if (st != MCP_E_NOT_FOUND)
            fail_msg("'%s' matched '%s'", row->template, row->uri);
        assert_null(got);
        return;
    }
    assert_int_equal(mcp_json_read(&want, arena, row->variables, strlen(row->variables), NULL),
                     MCP_OK);
    if (st != MCP_OK || !mcp_json_equal(got, want))
        fail_msg("'%s' on '%s': status %d, not %s", row->template, row->uri, st, row->variables);
}

static void check_rows(const struct row *rows, mcp__uri_slashes slashes)
{
    for (; rows->template; rows++)
        check_row(rows, slashes);
}

static void test_reads_back_the_expansions_of_the_rfc(void **state)
{
    /* values of section 3.2: var value, hello Hello World!, path /foo/bar, x 1024, y 768,
     * list (red, green, blue), half 50%, dub me/too, who fred, base http://example.com/home/,
     * v 6, empty "" */
    static const struct row rows[] = {
        { "{var}", "value", "{\"var\":\"value\"}" },
        { "{hello}", "Hello%20World%21", "{\"hello\":\"Hello World!\"}" },
        { "{half}", "50%25", "{\"half\":\"50%\"}" },
        { "{x,y}", "1024,768", "{\"x\":\"1024\",\"y\":\"768\"}" },
        { "{x,hello,y}", "1024,Hello%20World%21,768",
          "{\"x\":\"1024\",\"hello\":\"Hello World!\",\"y\":\"768\"}" },
        { "map?{x,y}", "map?1024,768", "{\"x\":\"1024\",\"y\":\"768\"}" },
        { "{list*}", "red,green,blue", "{\"list\":[\"red\",\"green\",\"blue\"]}" },
        { "{list}", "red,green,blue", "{\"list\":\"red,green,blue\"}" },
        { "{+var}", "value", "{\"var\":\"value\"}" },
        { "{+hello}", "Hello%20World!", "{\"hello\":\"Hello World!\"}" },
        { "{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex",
          "{\"base\":\"http://example.com/home/\"}" },
        { "{+base}index", "http://example.com/home/index",
          "{\"base\":\"http://example.com/home/\"}" },
        { "{+path}/here", "/foo/bar/here", "{\"path\":\"/foo/bar\"}" },
        { "here?ref={+path}", "here?ref=/foo/bar", "{\"path\":\"/foo/bar\"}" },
        { "{+x,hello,y}", "1024,Hello%20World!,768",
          "{\"x\":\"1024\",\"hello\":\"Hello World!\",\"y\":\"768\"}" },
        { "{+list*}", "red,green,blue", "{\"list\":[\"red\",\"green\",\"blue\"]}" },
        { "{#var}", "#value", "{\"var\":\"value\"}" },
        { "{#hello}", "#Hello%20World!", "{\"hello\":\"Hello World!\"}" },
        { "foo{#empty}", "foo#", "{\"empty\":\"\"}" },
        { "{#x,hello,y}", "#1024,Hello%20World!,768",
          "{\"x\":\"1024\",\"hello\":\"Hello World!\",\"y\":\"768\"}" },
        { "{.who}", ".fred", "{\"who\":\"fred\"}" },
        { "{.half,who}", ".50%25.fred", "{\"half\":\"50%\",\"who\":\"fred\"}" },
        { "www{.dom*}", "www.example.com", "{\"dom\":[\"example\",\"com\"]}" },
        { "X{.empty}", "X.", "{\"empty\":\"\"}" },
        { "{/half,who}", "/50%25/fred", "{\"half\":\"50%\",\"who\":\"fred\"}" },
        { "{/who,dub}", "/fred/me%2Ftoo", "{\"who\":\"fred\",\"dub\":\"me/too\"}" },
        { "{/var,x}/here", "/value/1024/here", "{\"var\":\"value\",\"x\":\"1024\"}" },
        { "{/list*}", "/red/green/blue", "{\"list\":[\"red\",\"green\",\"blue\"]}" },
        { "{?who}", "?who=fred", "{\"who\":\"fred\"}" },
        { "{?x,y}", "?x=1024&y=768", "{\"x\":\"1024\",\"y\":\"768\"}" },
        { "{?x,y,empty}", "?x=1024&y=768&empty=", "{\"x\":\"1024\",\"y\":\"768\",\"empty\":\"\"}" },
        { "{?list*}", "?list=red&list=green&list=blue", "{\"list\":[\"red\",\"green\",\"blue\"]}" },
        { "{?list}", "?list=red,green,blue", "{\"list\":\"red,green,blue\"}" },
        { "?fixed=yes{&x}", "?fixed=yes&x=1024", "{\"x\":\"1024\"}" },
        { "{&x,y,empty}", "&x=1024&y=768&empty=", "{\"x\":\"1024\",\"y\":\"768\",\"empty\":\"\"}" },
        { 0 }
    };

    (void)state;
    check_rows(rows, MCP__SLASHES_ENCODED);
}

static void test_a_query_comes_in_any_order_and_may_be_left_out(void **state)
{
    static const struct row rows[] = { { "a{?x,y}", "a", "{}" },
                                       { "a{?x,y}", "a?", "{}" },
                                       { "a{?x,y}", "a?y=2", "{\"y\":\"2\"}" },
                                       { "a{?x,y}", "a?y=2&x=1", "{\"x\":\"1\",\"y\":\"2\"}" },
                                       { "a{?x}{&y}", "a?y=2", "{\"y\":\"2\"}" },
                                       { "a{?x}", "a?x", "{\"x\":\"\"}" },
                                       { "a{?x}", "a?x=1=2", "{\"x\":\"1=2\"}" },
                                       { "a{?x}{#f}", "a?x=1#end", "{\"x\":\"1\",\"f\":\"end\"}" },
                                       { "{+path}{?x}", "/a/b?x=1",
                                         "{\"path\":\"/a/b\",\"x\":\"1\"}" },
                                       { "a{?x}", "a?z=1", NULL },
                                       { "a{?x}", "a?x=1&z=1", NULL },
                                       { "a{?x}", "a&x=1", NULL },
                                       { 0 } };
    const mcp_json *got = NULL;

    (void)state;
    check_rows(rows, MCP__SLASHES_ENCODED);
    assert_int_equal(match(&got, "a{?x}", "a?x=1&x=2", MCP__SLASHES_ENCODED), MCP_E_PARAMS);
}

static void test_a_plain_variable_is_one_segment(void **state)
{
    static const struct row rows[] = { { "case/{dir}/config", "case/%2Fdata%2Fa/config",
                                         "{\"dir\":\"/data/a\"}" },
                                       { "case/{dir}/config", "case/a/config", "{\"dir\":\"a\"}" },
                                       { "case/{dir}/config", "case//config", NULL },
                                       { "case/{dir}/config", "case/a/b/config", NULL },
                                       { "case/{dir}/config", "case/a/config/", NULL },
                                       { "case/{dir}/config", "case/a/confi", NULL },
                                       { "case/{dir}/config", "Case/a/config", NULL },
                                       { "case/{dir}/config", "", NULL },
                                       { "case/{dir}", "case/a?b", NULL },
                                       { "case/{dir}", "case/a#b", NULL },
                                       { "{a}.{b}", "x.y.z", "{\"a\":\"x\",\"b\":\"y.z\"}" },
                                       { "{a}{.b}", "x.y.z", "{\"a\":\"x.y\",\"b\":\"z\"}" },
                                       { "{a}-{b}!", "x-y-z!", "{\"a\":\"x\",\"b\":\"y-z\"}" },
                                       { "{a}/{b}", "x/y", "{\"a\":\"x\",\"b\":\"y\"}" },
                                       { "plain", "plain", "{}" },
                                       { "plain", "plainer", NULL },
                                       { "", "", "{}" },
                                       { "", "a", NULL },
                                       { 0 } };

    (void)state;
    check_rows(rows, MCP__SLASHES_ENCODED);
}

/* A way that takes the first text it finds and never looks back misses these. */
static void test_finds_a_match_wherever_there_is_one(void **state)
{
    static const struct row rows[] = {
        { "{+a}/x/{b}", "p/x/q/x/r", "{\"a\":\"p/x/q\",\"b\":\"r\"}" },
        { "{+a}/x/{b}/y", "1/x/2/3/x/4/y", "{\"a\":\"1/x/2/3\",\"b\":\"4\"}" },
        { "{a}aa{b}c", "xaaaac", "{\"a\":\"x\",\"b\":\"aa\"}" },
        { "{+a}config", "configconfig", "{\"a\":\"config\"}" },
        { "{+a},{+b}!", "1,2,3!", "{\"a\":\"1\",\"b\":\"2,3\"}" },
        { 0 }
    };

    (void)state;
    check_rows(rows, MCP__SLASHES_ENCODED);
}

static void test_raw_slashes_are_taken_up_to_the_fixed_tail(void **state)
{
    static const struct row rows[] = {
        { "cobre://case/{case_dir}/config", "cobre://case//data/cases/a/config",
          "{\"case_dir\":\"/data/cases/a\"}" },
        { "cobre://case/{case_dir}/config", "cobre://case//data/config/a/config/config",
          "{\"case_dir\":\"/data/config/a/config\"}" },
        { "cobre://case/{case_dir}/config", "cobre://case//data/my%20case/config",
          "{\"case_dir\":\"/data/my case\"}" },
        { "cobre://case/{case_dir}/entities/{entity_type}",
          "cobre://case//d/entities/x/entities/hydros",
          "{\"case_dir\":\"/d/entities/x\",\"entity_type\":\"hydros\"}" },
        { "cobre://case/{case_dir}/entities/{entity_type}", "cobre://case//d/entities/hydros/more",
          NULL },
        { "cobre://case/{case_dir}/config", "cobre://case//a?b/config", NULL },
        { "cobre://case/{case_dir}/config", "cobre://case//config", NULL },
        { "cobre://case/{case_dir}", "cobre://case//a/b", NULL }, /* no tail: where would it end */
        { "x{/a}/config", "x/1/2/config", NULL },                 /* no plain variable */
        { "x/{+a}/config", "x/1/2/config", NULL },                /* takes them anyway */
        { "plain", "plain", NULL },
        { 0 }
    };

    (void)state;
    check_rows(rows, MCP__SLASHES_RAW);
}

static void test_decodes_once(void **state)
{
    static const struct row rows[] = {
        { "a/{x}", "a/%252e%252E", "{\"x\":\"%2e%2E\"}" },
        { "a/{x}", "a/%2fetc", "{\"x\":\"/etc\"}" },
        { "a/{x}", "a/%C3%a9%c3%89", "{\"x\":\"\\u00e9\\u00c9\"}" },
        { "a/{x}", "a/\xc3\xa9", "{\"x\":\"\\u00e9\"}" }, /* an IRI's own bytes */
        { "caf\xc3\xa9/{x}", "caf%c3%A9/1", "{\"x\":\"1\"}" },
        { "a%2fb/{x}", "a%2Fb/1", "{\"x\":\"1\"}" },
        { "a/{x}", "a/+", "{\"x\":\"+\"}" },       /* a plus is a plus: URIs are not forms */
        { "a/{x}2F", "a/%2F2F", "{\"x\":\"/\"}" }, /* an escape is never cut in two */
        { "a/{x}2F", "a/%2F", NULL },
        { 0 }
    };

    (void)state;
    check_rows(rows, MCP__SLASHES_ENCODED);
}

static void test_refuses_what_is_no_text(void **state)
{
    static const char *const uris[] = {
        "a/%",   "a/%2",  "a/%2g",  "a/%g2",       "a/%%20",   "a/x%00y",        "%00",
        "a/%ff", "a/%c3", "a/\xff", "a/%ED%A0%80", "a/%C0%AF", "a/%F4%90%80%80", NULL
    };
    const mcp_json *got = NULL;

    (void)state;
    for (size_t i = 0; uris[i]; i++) {
        mcp_status st = match(&got, "a/{x}", uris[i], MCP__SLASHES_ENCODED);
        if (st != MCP_E_PARAMS)
            fail_msg("'%s' gives %s", uris[i], mcp_status_name(st));
    }
    assert_int_equal(mcp__uri_template_match(&got, compiled("a/{x}"), "a/x\0y", 5,
                                             MCP__SLASHES_ENCODED, arena, NULL),
                     MCP_E_PARAMS);
    assert_null(got);
}

static void test_refuses_templates_that_cannot_be_matched(void **state)
{
    static const char *const templates[] = {
        "{",        "{x",       "a}b",   "{}",      "{x{y}}",   "{x,}",   "{,x}",
        "{x y}",    "{x:3}",    "{;x}",  "{=x}",    "{!x}",     "{|x}",   "{@x}",
        "{x}{y}",   "{x}{+y}",  "{x,x}", "{x}/{x}", "{?x}{&x}", "{x*,y}", "{?a}/b",
        "{?a}{/b}", "{?a}{?b}", "a b",   "a<b",     "a\\b",     "a%2",    "a%zz",
        "a%00",     "\x01",     "{x**}", "{*}",     "{+}",      NULL
    };
    const mcp__uri_template *template = NULL;

    (void)state;
    for (size_t i = 0; templates[i]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        mcp_status st = mcp__uri_template_compile(&template, arena, templates[i], &err);
        if (st != MCP_E_PARAMS || !err.message[0])
            fail_msg("'%s' gives %s", templates[i], mcp_status_name(st));
    }
    assert_null(template);
}

/* `count` times `piece`, with its '#' replaced by a letter that changes. */
static const char *repeated(const char *piece, size_t count)
{
    size_t length = strlen(piece);
    char *text = mcp_arena_alloc(arena, length * count + 1);

    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * length, piece, length);
        for (size_t k = 0; k < length; k++) {
            if (piece[k] == '~')
                text[i * length + k] = (char)(i < 26 ? 'a' + i : 'A' + (i - 26));
        }
    }
    return text;
}

static mcp_status compile_status(const char *text)
{
    const mcp__uri_template *template = NULL;

    return mcp__uri_template_compile(&template, arena, text, NULL);
}

static void test_templates_and_uris_are_bounded(void **state)
{
    const mcp_json *got = NULL;
    const char *uri = repeated("a", MCP__URI_MAX + 1);

    (void)state;
    assert_int_equal(compile_status(repeated("{~}/", 15)), MCP_OK);
    assert_int_equal(compile_status(repeated("{~}/", 16)), MCP_OK);
    assert_int_equal(compile_status(repeated("{~}/", 17)), MCP_E_LIMIT);
    assert_int_equal(compile_status(repeated("{?a~,b~}", 1)), MCP_OK);
    assert_int_equal(compile_status(repeated("{/a~,b~}", 16)), MCP_OK);
    assert_int_equal(compile_status(repeated("{/a~,b~,c~}", 11)), MCP_E_LIMIT);
    assert_int_equal(compile_status(repeated("{/a~,b~,c~}", 10)), MCP_OK);
    assert_int_equal(compile_status(repeated("a", 2047)), MCP_OK);
    assert_int_equal(compile_status(repeated("a", 2048)), MCP_OK);
    assert_int_equal(compile_status(repeated("a", 2049)), MCP_E_LIMIT);
    for (size_t length = MCP__URI_MAX - 1; length <= MCP__URI_MAX; length++)
        assert_int_equal(mcp__uri_template_match(&got, compiled("{x}"), uri, length,
                                                 MCP__SLASHES_ENCODED, arena, NULL),
                         MCP_OK);
    assert_int_equal(mcp__uri_template_match(&got, compiled("{x}"), uri, MCP__URI_MAX + 1,
                                             MCP__SLASHES_ENCODED, arena, NULL),
                     MCP_E_PARAMS);
}

/* CVE-2026-0621: a matcher by regular expression took exponential time on such pairs. With k
 * variables a matcher that backtracks takes n^k steps; with 16384^16 this test would not end. */
static void test_no_uri_makes_it_slow(void **state)
{
    const mcp__uri_template *template = compiled(
        "{+a},{+b},{+c},{+d},{+e},{+f},{+g},{+h},{+i},{+j},{+k},{+l},{+m},{+n},{+o},{p*}!");
    const mcp_json *got = NULL;

    (void)state;
    assert_int_equal(mcp__uri_template_match(&got, template, repeated(",", MCP__URI_MAX),
                                             MCP__URI_MAX, MCP__SLASHES_ENCODED, arena, NULL),
                     MCP_E_NOT_FOUND);
    assert_int_equal(mcp__uri_template_match(&got, template, repeated("a,", MCP__URI_MAX / 2),
                                             MCP__URI_MAX, MCP__SLASHES_ENCODED, arena, NULL),
                     MCP_E_NOT_FOUND);
}

static mcp_status compile_and_match(void *data)
{
    static const char uri[] = "x/%41/b?list=1&list=2#f";
    mcp_arena *own = mcp_arena_new(0);
    const mcp__uri_template *template = NULL;
    const mcp_json *got = NULL;
    mcp_status st = own ? MCP_OK : MCP_E_NOMEM;

    (void)data;
    if (st == MCP_OK)
        st = mcp__uri_template_compile(&template, own, "x/{a}{/b*}{?list*}{#f}", NULL);
    if (st == MCP_OK)
        st = mcp__uri_template_match(&got, template, uri, strlen(uri), MCP__SLASHES_ENCODED, own,
                                     NULL);
    if (st != MCP_OK)
        assert_null(got);
    mcp_arena_free(own);
    return st;
}

static void test_memory_can_run_out_anywhere(void **state)
{
    (void)state;
    oom_walk(compile_and_match, NULL);
}

static void test_tells_templates_from_uris(void **state)
{
    (void)state;
    assert_true(mcp__uri_is_template("a/{x}"));
    assert_false(mcp__uri_is_template("a/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_back_the_expansions_of_the_rfc),
        cmocka_unit_test(test_a_query_comes_in_any_order_and_may_be_left_out),
        cmocka_unit_test(test_a_plain_variable_is_one_segment),
        cmocka_unit_test(test_finds_a_match_wherever_there_is_one),
        cmocka_unit_test(test_raw_slashes_are_taken_up_to_the_fixed_tail),
        cmocka_unit_test(test_decodes_once),
        cmocka_unit_test(test_refuses_what_is_no_text),
        cmocka_unit_test(test_refuses_templates_that_cannot_be_matched),
        cmocka_unit_test(test_templates_and_uris_are_bounded),
        cmocka_unit_test(test_no_uri_makes_it_slow),
        cmocka_unit_test(test_memory_can_run_out_anywhere),
        cmocka_unit_test(test_tells_templates_from_uris),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
