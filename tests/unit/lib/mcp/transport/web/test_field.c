/*
 * test_field.c - Accept, Content-Type, Host and Origin: what counts and what does not (RFC 9110, RFC 6454).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/transport/web/field.h"

static void accept_is_read_with_its_weights(void **state)
{
    static const struct {
        const char *value;
        bool json, events;
    } rows[] = {
        { "application/json, text/event-stream", true, true },
        { "text/event-stream", false, true },
        { "APPLICATION/JSON", true, false },
        { "*/*", true, true },
        { "application/*;q=0.5", true, false },
        { "text/*", false, true },
        { "application/json;q=0", false, false },
        { "application/json; q=0.000, */*;q=0.1", true, true },
        { "application/json;version=\"a,b;q=0\", text/html", true, false },
        { "text/html", false, false },
        { "application/jsonx", false, false },
        { ",, ,application/json,", true, false },
        { "", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        mcp__accepted accepted = { .json = false };
        mcp__field_accept(&accepted, rows[i].value);
        if (accepted.json != rows[i].json || accepted.events != rows[i].events)
            fail_msg("row %zu", i);
    }
}

static void types_ignore_parameters_and_case(void **state)
{
    (void)state;
    assert_true(mcp__field_is_type("application/json", "application/json"));
    assert_true(mcp__field_is_type("Application/JSON ; charset=utf-8", "application/json"));
    assert_false(mcp__field_is_type("application/json5", "application/json"));
    assert_false(mcp__field_is_type("", "application/json"));
    assert_false(mcp__field_is_type("application/json, text/plain", "application/json"));
}

static void hosts_are_names_in_full(void **state)
{
    static const char *const hosts[] = { "mcp.example", NULL };
    static const char *const good[] = { "localhost", "LocalHost:80", "127.0.0.1:65535", "[::1]",
                                        "[::1]:1",   "mcp.example",  "MCP.EXAMPLE:443" };
    static const char *const bad[] = { "",
                                       "localhost.",
                                       "localhost:",
                                       "localhost:x",
                                       "localhost:123456",
                                       "localhost.evil.example",
                                       "evil.example",
                                       "[::2]",
                                       "[::1",
                                       "[::1]x",
                                       "127.0.0.2",
                                       "mcp.example.evil",
                                       "a@localhost",
                                       "localhost:80:80",
                                       ":80",
                                       "localhost/" };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(mcp__field_host_is_known(good[i], hosts));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(mcp__field_host_is_known(bad[i], hosts));
    assert_false(mcp__field_host_is_known("mcp.example", NULL));
}

static void origins_are_web_origins_of_such_hosts(void **state)
{
    static const char *const bad[] = { "null",
                                       "",
                                       "localhost",
                                       "file://localhost",
                                       "http://",
                                       "http://localhost/",
                                       "http://evil.example",
                                       "https://localhost@evil.example",
                                       "http://localhost evil" };

    (void)state;
    assert_true(mcp__field_origin_is_known("http://localhost:3000", NULL));
    assert_true(mcp__field_origin_is_known("HTTPS://[::1]", NULL));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(mcp__field_origin_is_known(bad[i], NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accept_is_read_with_its_weights),
        cmocka_unit_test(types_ignore_parameters_and_case),
        cmocka_unit_test(hosts_are_names_in_full),
        cmocka_unit_test(origins_are_web_origins_of_such_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
