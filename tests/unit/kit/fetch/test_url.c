/*
 * test_url.c - where URLs lead, and which are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "fetch/url.h"

static void parts_are_read(void **state)
{
    static const struct {
        const char *url;
        const char *host;
        int port;
        bool is_tls;
        int family;
    } rows[] = {
        { "http://example.com", "example.com", 80, false, 0 },
        { "https://example.com/", "example.com", 443, true, 0 },
        { "HTTPS://API.Example.COM:8443/a?b#c", "api.example.com", 8443, true, 0 },
        { "http://127.0.0.1:1/x", "127.0.0.1", 1, false, AF_INET },
        { "http://[::1]:65535?q", "::1", 65535, false, AF_INET6 },
        { "http://[2001:DB8:0:0:0:0:0:1]/", "2001:db8::1", 80, false, AF_INET6 },
        { "http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1", 80, false, AF_INET6 },
        { "http://a_b-c.example/%0d%0a", "a_b-c.example", 80, false, 0 },
        { "http://1.example/", "1.example", 80, false, 0 },
        { "http://example.com/a@b:c", "example.com", 80, false, 0 },
    };
    fetch_url url;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(fetch_url_read(&url, rows[i].url, NULL), MCP_OK);
        assert_string_equal(url.host, rows[i].host);
        assert_int_equal(url.port, rows[i].port);
        assert_int_equal(url.is_tls, rows[i].is_tls);
        assert_int_equal(url.family, rows[i].family);
    }
}

static void what_is_no_plain_url_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "example.com",
        "//example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "http:/example.com",
        "http://",
        "http:///x",
        "http://ann@example.com/",
        "http://ann:secret@example.com/",
        "http://example.com@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com:80:90/",
        "http://example.com:/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:+80/",
        "http://example.com/a b",
        "http://example.com/\r\nHost: x",
        "http://example.com/\x7f",
        "http://ex\xc3\xa4mple.com/",
        "http://%31%32%37.0.0.1/",
        "http://example..com/",
        "http://.example.com/",
        "http://example.com./",
        "http://127.0.0.1./",
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[]/",
        "http://[1.2.3.4]/",
        "http://a!b/",
    };
    fetch_url url;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(fetch_url_read(&url, bad[i], NULL), MCP_E_PARAMS);
}

/* All of these are 127.0.0.1 or a private address to inet_aton(). */
static void unusual_spellings_of_addresses_are_denied(void **state)
{
    static const char *const spellings[] = {
        "http://2130706433/",  "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
        "http://127.1/",       "http://127.0.1/",    "http://0/",          "http://017700000001/",
        "http://127.0.0.01/",  "http://0x7F.1/",     "http://10.0xA/",     "http://10.0x/",
        "http://127.0.0.1.2/", "http://256.0.0.1/",  "http://example.1/",
    };
    fetch_url url;

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        assert_int_equal(fetch_url_read(&url, spellings[i], NULL), MCP_E_DENIED);
}

static void lengths_are_bounded(void **state)
{
    char text[FETCH_URL_MAX + 16];
    fetch_url url;

    (void)state;
    memset(text, 'a', sizeof text);
    memcpy(text, "http://x/", 9);
    text[FETCH_URL_MAX] = '\0';
    assert_int_equal(fetch_url_read(&url, text, NULL), MCP_OK);
    text[FETCH_URL_MAX] = 'a';
    text[FETCH_URL_MAX + 1] = '\0';
    assert_int_equal(fetch_url_read(&url, text, NULL), MCP_E_PARAMS);
    memset(text, 'a', sizeof text);
    memcpy(text, "http://", 7);
    text[7 + 64] = '\0'; /* a label of RFC 1035 has at most 63 */
    assert_int_equal(fetch_url_read(&url, text, NULL), MCP_E_PARAMS);
    text[7 + 63] = '\0';
    assert_int_equal(fetch_url_read(&url, text, NULL), MCP_OK);
}

static void a_refusal_does_not_repeat_the_url(void **state)
{
    fetch_url url;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    fetch_url_read(&url, "http://ann:secret@example.com/?key=secret", &err);
    assert_null(strstr(err.message, "secret"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_read),
        cmocka_unit_test(what_is_no_plain_url_is_refused),
        cmocka_unit_test(unusual_spellings_of_addresses_are_denied),
        cmocka_unit_test(lengths_are_bounded),
        cmocka_unit_test(a_refusal_does_not_repeat_the_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
