/*
 * test_page.c - the page over real sockets: types, fields, ETags (RFC 9110, 13.1.2 and 15.4.5),
 * HEAD, what is not there; and that it alone of all routes is given without a token.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gateway/app.h"
#include "page.h"
#include "scratch.h"
#include "web_rig.h"

static scratch folder;
static web_rig *rig;
static web_answer answer;

/* Every request but those of open routes is refused before a handler sees it. */
static int begin(void **state)
{
    /* SHA-256 of "abc" (FIPS 180-4, appendix B.1) */
    static const char line[] =
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ann\n";
    static char path[SCRATCH_PATH_MAX + 8];
    static mcp_http_auth auth;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "tokens", line, sizeof line - 1);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "tokens"));
    auth = (mcp_http_auth){ .tokens_file = path };
    http.auth = &auth;
    http.routes = universe_routes;
    rig = web_start(NULL, &http);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_close(&folder);
    return web_end(rig) == MCP_OK ? 0 : -1;
}

static void ask(const char *method, const char *path, const char *fields)
{
    web_ask(&answer, web_port(rig), method, path, fields, NULL);
}

static const char *field(const char *name)
{
    static char value[1024];
    return web_field(&answer, name, value, sizeof value);
}

static void parts_have_their_types_and_fields(void **state)
{
    static const struct {
        const char *path, *file, *type;
    } parts[] = {
        { "/", "index.html", "text/html; charset=utf-8" },
        { "/ui", "index.html", "text/html; charset=utf-8" },
        { "/assets/style.css", "assets/style.css", "text/css; charset=utf-8" },
        { "/assets/icon.svg", "assets/icon.svg", "image/svg+xml" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const mcp_file *file = mcp_files_find(universe_page_files, parts[i].file);
        assert_non_null(file);
        ask("GET", parts[i].path, NULL);
        assert_int_equal(answer.status, 200);
        assert_string_equal(field("Content-Type"), parts[i].type);
        assert_int_equal(strlen(answer.body), file->length);
        assert_memory_equal(answer.body, file->bytes, file->length);
        assert_string_equal(field("Cache-Control"), "no-cache");
        assert_string_equal(field("Content-Security-Policy"),
                            "default-src 'self'; base-uri 'none'; form-action 'self'; "
                            "frame-ancestors 'none'; object-src 'none'");
        assert_string_equal(field("Cross-Origin-Opener-Policy"), "same-origin");
        assert_string_equal(field("Cross-Origin-Resource-Policy"), "same-origin");
        assert_string_equal(field("Referrer-Policy"), "no-referrer");
        assert_string_equal(field("X-Content-Type-Options"), "nosniff");
        assert_string_equal(field("Vary"), "Accept-Encoding");
        assert_string_equal(field("Content-Encoding"), "");
    }
}

static void an_etag_spares_sending_it_twice(void **state)
{
    char etag[80], fields[256];
    (void)state;
    ask("GET", "/", NULL);
    snprintf(etag, sizeof etag, "%s", field("ETag"));
    assert_int_equal(strlen(etag), 34); /* 128 bits in hexadecimal, and quotes */
    static const char *const forms[] = { "%s", "\"other\", %s", "W/%s", "\"a\" ,%s, \"b\"" };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char tags[160];
        size_t before = strcspn(forms[i], "%");
        snprintf(tags, sizeof tags, "%.*s%s%s", (int)before, forms[i], etag, forms[i] + before + 2);
        snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", tags);
        ask("GET", "/", fields);
        assert_int_equal(answer.status, 304);
        assert_string_equal(answer.body, "");
        assert_string_equal(field("ETag"), etag);
        assert_string_equal(field("Cache-Control"), "no-cache");
    }
    ask("GET", "/", "If-None-Match: *\r\n");
    assert_int_equal(answer.status, 304);
    ask("GET", "/", "If-None-Match: \"other\"\r\n");
    assert_int_equal(answer.status, 200);
    snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", etag);
    ask("GET", "/assets/style.css", fields);
    assert_int_equal(answer.status, 200);
}

/* The compressed form is another one: its ETag differs, and a gzip's first bytes are 1f 8b (RFC
 * 1952, 2.3.1). */
static void who_takes_gzip_gets_it(void **state)
{
    char plain[80];
    (void)state;
    ask("GET", "/", NULL);
    snprintf(plain, sizeof plain, "%s", field("ETag"));
    ask("GET", "/", "Accept-Encoding: br, gzip;q=0.5\r\n");
    assert_int_equal(answer.status, 200);
    assert_string_equal(field("Content-Encoding"), "gzip");
    assert_string_equal(field("Content-Type"), "text/html; charset=utf-8");
    assert_memory_equal(answer.body, "\x1f\x8b", 2);
    assert_string_not_equal(field("ETag"), plain);
    static const char *const refusing[] = { "gzip;q=0", "gzip;q=0.000, br", "identity" };
    for (size_t i = 0; i < sizeof refusing / sizeof refusing[0]; i++) {
        char fields[80];
        snprintf(fields, sizeof fields, "Accept-Encoding: %s\r\n", refusing[i]);
        ask("GET", "/", fields);
        assert_string_equal(field("Content-Encoding"), "");
        assert_string_equal(field("ETag"), plain);
    }
}

static void head_has_the_fields_and_no_body(void **state)
{
    char length[32];
    (void)state;
    ask("GET", "/ui", NULL);
    snprintf(length, sizeof length, "%zu", strlen(answer.body));
    ask("HEAD", "/ui", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(field("Content-Length"), length);
    assert_string_equal(field("Content-Type"), "text/html; charset=utf-8");
    assert_string_equal(answer.body, "");
}

static void nothing_else_is_handed_out(void **state)
{
    static const char *const paths[] = {
        "/assets/nothing.js",        "/assets/style.css.gz",       "/assets/style.css.etag",
        "/assets/..%2Findex.html",   "/assets/index.html",         "/assets/style",
        "/assets/style.css%00.html", "/assets/%2e%2e%2findex.html"
    };
    char longest[600] = "/assets/";
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        ask("GET", paths[i], NULL);
        if (answer.status != 404 && answer.status != 400)
            fail_msg("%s: %d", paths[i], answer.status);
    }
    memset(longest + 8, 'x', 500);
    memcpy(longest + 508, ".css", 5);
    ask("GET", longest, NULL);
    assert_int_equal(answer.status, 404);
}

static void of_all_routes_only_the_page_is_open(void **state)
{
    size_t open = 0;
    (void)state;
    for (const mcp_route *route = universe_routes; route->method; route++) {
        bool is_page = route->run == universe_page || route->run == universe_page_asset;
        assert_int_equal((route->flags & MCP_PUBLIC) != 0, is_page);
        open += is_page;
        if (is_page)
            continue;
        ask(route->method, route->path, NULL);
        if (answer.status != 401)
            fail_msg("%s %s: %d", route->method, route->path, answer.status);
    }
    assert_int_equal(open, 3);
    ask("POST", "/mcp", NULL);
    assert_int_equal(answer.status, 401);
    ask("POST", "/", NULL); /* that path, but not that route */
    assert_int_equal(answer.status, 401);
    ask("GET", "/assets", NULL);
    assert_int_equal(answer.status, 401);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_have_their_types_and_fields, begin, end),
        cmocka_unit_test_setup_teardown(an_etag_spares_sending_it_twice, begin, end),
        cmocka_unit_test_setup_teardown(who_takes_gzip_gets_it, begin, end),
        cmocka_unit_test_setup_teardown(head_has_the_fields_and_no_body, begin, end),
        cmocka_unit_test_setup_teardown(nothing_else_is_handed_out, begin, end),
        cmocka_unit_test_setup_teardown(of_all_routes_only_the_page_is_open, begin, end),
    };
    return cmocka_run_group_tests_name("servers/universe/page", tests, NULL, NULL);
}
