/*
 * test_route_table.c - paths that fit and paths that do not; what arguments are decoded to (RFC
 * 3986).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/transport/rest/route_table.h"

static mcp_status nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static const mcp_route routes[] = { { "GET", "/things", nothing, MCP_READS, 0 },
                                    { "POST", "/things", nothing, MCP_WRITES | MCP_LONG, 0 },
                                    { "GET", "/things/{id}", nothing, MCP_READS, 0 },
                                    { "GET", "/things/{id}/parts/{part}", nothing, MCP_READS, 0 },
                                    { "GET", "/things:all", nothing, MCP_READS, 0 },
                                    { 0 } };

static const mcp_route *find(const char *method, const char *path, char allowed[64])
{
    mcp_buf list;

    mcp_buf_init(&list, 64);
    const mcp_route *route = mcp__route_find(routes, method, path, strlen(path), &list);
    (void)snprintf(allowed, 64, "%s", list.data ? list.data : "");
    mcp_buf_clear(&list);
    return route;
}

static void paths_fit_segment_by_segment(void **state)
{
    static const char *const strangers[] = { "/",
                                             "//",
                                             "/thing",
                                             "/things//",
                                             "/things//parts/1",
                                             "/things/1/parts",
                                             "/things/1/parts/2/3",
                                             "/Things",
                                             "/things%2F1",
                                             "/things%3",
                                             "/things%3Aal",
                                             "/things%3Aall%",
                                             "/things%3aalls" };
    char allowed[64];

    (void)state;
    assert_ptr_equal(find("GET", "/things", allowed), &routes[0]);
    assert_ptr_equal(find("HEAD", "/things", allowed), &routes[0]);
    assert_ptr_equal(find("POST", "/things", allowed), &routes[1]);
    assert_ptr_equal(find("GET", "/things/a%2Fb", allowed), &routes[2]);
    assert_ptr_equal(find("GET", "/things/1/parts/2", allowed), &routes[3]);
    assert_ptr_equal(find("GET", "/things/", allowed), &routes[0]); /* as web frameworks take it */
    assert_ptr_equal(find("GET", "/things/1/", allowed), &routes[2]);
    assert_ptr_equal(find("GET", "/th%69ngs:all", allowed), &routes[4]);
    assert_ptr_equal(find("GET", "/things%3Aall", allowed), &routes[4]);
    assert_null(find("DELETE", "/things", allowed));
    assert_string_equal(allowed, "GET, HEAD, POST");
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        assert_null(find("GET", strangers[i], allowed));
        assert_string_equal(allowed, "");
    }
    assert_int_equal(mcp__route_long_count(routes), 1);
}

static mcp_arena *arena;

static mcp_error err;

static mcp_status read(const mcp_json **out, const char *path, const char *query)
{
    return mcp__route_arguments(out, arena, &routes[3], path, strlen(path), query, &err);
}

static void arguments_are_decoded(void **state)
{
    const mcp_json *value = NULL;

    (void)state;
    arena = mcp_arena_new(0);
    assert_int_equal(read(&value, "/things/a%2Fb%c3%a9/parts/+", "q=a+b%26&id=other&flag&q=2&&e="),
                     MCP_OK);
    assert_string_equal(mcp_json_get_string(value, "id"), "a/b\xc3\xa9");
    assert_string_equal(mcp_json_get_string(value, "part"), "+");
    assert_string_equal(mcp_json_get_string(value, "q"), "a b&");
    assert_string_equal(mcp_json_get_string(value, "flag"), "");
    assert_string_equal(mcp_json_get_string(value, "e"), "");
    assert_int_equal(mcp_json_count(value), 5);
    mcp_arena_free(arena);
}

static void what_cannot_be_a_text_is_refused(void **state)
{
    static const char *const paths[] = { "/things/%/parts/1",   "/things/%4/parts/1",
                                         "/things/%g0/parts/1", "/things/%00/parts/1",
                                         "/things/%ff/parts/1", "/things/1/parts/%4" };
    const mcp_json *value = NULL;

    (void)state;
    arena = mcp_arena_new(0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_int_equal(read(&value, paths[i], NULL), MCP_E_PARAMS);
    assert_int_equal(read(&value, "/things/1/parts/2", "a=%c3"), MCP_E_PARAMS);
    mcp_arena_free(arena);
}

/* Two of the 64 are the path's; one that came before is no further one. */
static void a_path_and_its_query_have_64_parts(void **state)
{
    const mcp_json *value = NULL;
    char query[1024] = "";
    size_t used = 0;

    (void)state;
    arena = mcp_arena_new(0);
    for (int i = 1; i <= 62; i++)
        used += (size_t)snprintf(query + used, sizeof query - used, "m%d=&", i);
    assert_int_equal(read(&value, "/things/1/parts/2", query), MCP_OK);
    assert_int_equal(mcp_json_count(value), 64);
    (void)snprintf(query + used, sizeof query - used, "m1=again");
    assert_int_equal(read(&value, "/things/1/parts/2", query), MCP_OK);
    (void)snprintf(query + used, sizeof query - used, "one-more=");
    assert_int_equal(read(&value, "/things/1/parts/2", query), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "64"));
    mcp_arena_free(arena);
}

static void tables_are_checked(void **state)
{
    static const mcp_route methodless[] = { { "FETCH", "/x", nothing, 0, 0 }, { 0 } };
    static const mcp_route rootless[] = { { "GET", "x", nothing, 0, 0 }, { 0 } };
    static const mcp_route idle[] = { { "GET", "/x", NULL, 0, 0 }, { 0 } };

    (void)state;
    assert_int_equal(mcp__route_check(routes, NULL), MCP_OK);
    assert_int_equal(mcp__route_check(NULL, NULL), MCP_OK);
    assert_int_equal(mcp__route_check(methodless, NULL), MCP_E_PARAMS);
    assert_int_equal(mcp__route_check(rootless, NULL), MCP_E_PARAMS);
    assert_int_equal(mcp__route_check(idle, NULL), MCP_E_PARAMS);
}

/* A row that could never answer a request is a mistake of its author. */
static void rows_without_requests_are_named(void **state)
{
    static const struct {
        mcp_route rows[3];
        const char *words;
    } wrong[] = {
        { { { "GET", "/x/{id", nothing, MCP_READS, 0 } }, "GET /x/{id has a variable" },
        { { { "GET", "/x/id}", nothing, MCP_READS, 0 } }, "a whole segment" },
        { { { "GET", "/x/{}", nothing, MCP_READS, 0 } }, "a whole segment" },
        { { { "GET", "/x/{a}{b}", nothing, MCP_READS, 0 } }, "a whole segment" },
        { { { "GET", "/x/{a}.json", nothing, MCP_READS, 0 } }, "a whole segment" },
        { { { "GET", "/{a}/x/{a}", nothing, MCP_READS, 0 } },
          "GET /{a}/x/{a} has a variable twice" },
        { { { "GET", "/x", nothing, MCP_READS, 0 }, { "GET", "/x", nothing, MCP_READS, 0 } },
          "GET /x is in the table twice" },
        { { { "PUT", "/x", nothing, MCP_WRITES, -1 } }, "PUT /x has a negative bound" },
    };
    static const mcp_route good[] = { { "GET", "/{a}/{b}/{aa}", nothing, MCP_READS, 0 },
                                      { "PUT", "/{a}/{b}/{aa}", nothing, MCP_WRITES, 0 },
                                      { "GET", "/", nothing, MCP_READS, 0 },
                                      { "GET", "/a/a", nothing, MCP_READS, 0 },
                                      { 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(mcp__route_check(wrong[i].rows, &err), MCP_E_PARAMS);
        if (!strstr(err.message, wrong[i].words))
            fail_msg("expected \"%s\" in \"%s\"", wrong[i].words, err.message);
    }
    assert_int_equal(mcp__route_check(good, NULL), MCP_OK);
}

static void a_slash_at_the_end_of_a_pattern_is_ignored_too(void **state)
{
    static const mcp_route slashed[] = { { "GET", "/x/", nothing, MCP_READS, 0 },
                                         { "GET", "/y/{id}/", nothing, MCP_READS, 0 },
                                         { 0 } };

    (void)state;
    assert_int_equal(mcp__route_check(slashed, NULL), MCP_OK);
    assert_ptr_equal(mcp__route_find(slashed, "GET", "/x", 2, NULL), &slashed[0]);
    assert_ptr_equal(mcp__route_find(slashed, "GET", "/x/", 3, NULL), &slashed[0]);
    assert_ptr_equal(mcp__route_find(slashed, "GET", "/y/1", 4, NULL), &slashed[1]);
    assert_null(mcp__route_find(slashed, "GET", "/x//", 4, NULL));
    assert_null(mcp__route_find(slashed, "GET", "/y/", 3, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_fit_segment_by_segment),
        cmocka_unit_test(arguments_are_decoded),
        cmocka_unit_test(what_cannot_be_a_text_is_refused),
        cmocka_unit_test(a_path_and_its_query_have_64_parts),
        cmocka_unit_test(tables_are_checked),
        cmocka_unit_test(rows_without_requests_are_named),
        cmocka_unit_test(a_slash_at_the_end_of_a_pattern_is_ignored_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
