/*
 * test_page.c - a page of three files over a real socket: which are served, with which policy, in
 * which coding. More of it is in tests/unit/servers/universe/test_page.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "page/page.h"
#include "web_rig.h"

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
/* clang-format on */

/* In the order of their names, as the build embeds them. What stands for a gzip is none. */
static const mcp_file files[] = {
    FILE_OF("assets/page.js", "let a"),
    FILE_OF("assets/page.js.etag", "aa"),
    FILE_OF("assets/secret.key", "s"),
    FILE_OF("index.html", "<p>"),
    FILE_OF("index.html.etag", "0123ab"),
    FILE_OF("index.html.gz", "zipped"),
    { 0 },
};
static const mcp_file no_files[] = { { 0 } };

static const page whole = { .files = files };
static const page strict = { .files = files, .policy = "default-src 'none'" };
static const page missing = { .files = no_files };

static mcp_status index_of(mcp_call *call, void *data)
{
    const char *which = mcp_arg_string(call, "which");

    (void)data;
    return page_send(call, strcmp(which, "strict") == 0  ? &strict
                           : strcmp(which, "whole") == 0 ? &whole
                                                         : &missing);
}

static mcp_status asset_of(mcp_call *call, void *data)
{
    (void)data;
    return page_send_asset(call, &whole, mcp_arg_string(call, "name"));
}

static mcp_status asset_without_name(mcp_call *call, void *data)
{
    (void)data;
    return page_send_asset(call, &whole, NULL);
}

static const mcp_route routes[] = {
    { "GET", "/page/{which}", index_of, MCP_READS, 0 },
    { "GET", "/assets/{name}", asset_of, MCP_READS, 0 },
    { "GET", "/nothing", asset_without_name, MCP_READS, 0 },
    { 0 },
};

static web_rig *rig;
static web_answer answer;

static int begin(void **state)
{
    const mcp_http_options http = { .routes = routes };

    (void)state;
    rig = web_start(NULL, &http);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig) == MCP_OK ? 0 : -1;
}

static int ask(const char *path, const char *fields)
{
    web_ask(&answer, web_port(rig), "GET", path, fields, NULL);
    return answer.status;
}

static const char *field(const char *name)
{
    static char value[300];

    return web_field(&answer, name, value, sizeof value);
}

static void the_policy_is_the_servers(void **state)
{
    (void)state;
    assert_int_equal(ask("/page/whole", NULL), 200);
    assert_string_equal(answer.body, "<p>");
    assert_string_equal(field("Content-Security-Policy"),
                        "default-src 'self'; base-uri 'none'; form-action 'self'; "
                        "frame-ancestors 'none'; object-src 'none'");
    assert_int_equal(ask("/page/strict", NULL), 200);
    assert_string_equal(field("Content-Security-Policy"), "default-src 'none'");
}

static void a_client_that_takes_gzip_gets_it(void **state)
{
    static const char *const taken[] = { "gzip", "br, gzip;q=0.5", "GZIP ;q=1", "gzip;q=0.01" };
    static const char *const refused[] = { "br", "gzip;q=0", "gzip;q=0.00, br", "identity" };
    char fields[100];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(fields, sizeof fields, "Accept-Encoding: %s\r\n", taken[i]);
        assert_int_equal(ask("/page/whole", fields), 200);
        assert_string_equal(field("Content-Encoding"), "gzip");
        assert_string_equal(field("ETag"), "\"0123ab-gzip\"");
        assert_string_equal(answer.body, "zipped");
        (void)snprintf(fields, sizeof fields, "Accept-Encoding: %s\r\n", refused[i]);
        assert_int_equal(ask("/page/whole", fields), 200);
        assert_string_equal(field("Content-Encoding"), "");
        assert_string_equal(field("ETag"), "\"0123ab\"");
        assert_string_equal(answer.body, "<p>");
    }
    assert_int_equal(ask("/assets/page.js", "Accept-Encoding: gzip\r\n"), 200); /* has none */
    assert_string_equal(field("Content-Encoding"), "");
    assert_string_equal(answer.body, "let a");
}

static void what_has_no_type_is_not_served(void **state)
{
    static const char *const paths[] = {
        "/assets/secret.key",      "/assets/page.js.etag", "/assets/none.js",
        "/assets/..%2Findex.html", "/assets/page.js%00",   "/nothing",
        "/page/missing",
    };
    char long_name[200] = "/assets/";

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (ask(paths[i], NULL) == 200)
            fail_msg("%s was served", paths[i]);
    memset(long_name + 8, 'a', 100);
    memcpy(long_name + 108, ".js", 4);
    assert_int_equal(ask(long_name, NULL), 404);
    assert_int_equal(ask("/page/missing", NULL), 404);
    assert_non_null(strstr(answer.body, "this program was built without the page"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_is_the_servers),
        cmocka_unit_test(a_client_that_takes_gzip_gets_it),
        cmocka_unit_test(what_has_no_type_is_not_served),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
