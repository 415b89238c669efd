/*
 * test_egress.c - the list, held against hosts and against addresses.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fetch/egress.h"
#include "oom.h"

static fetch_egress *list_of(const char *const *entries)
{
    fetch_egress *list = NULL;
    size_t count = 0;

    while (entries[count])
        count++;
    assert_int_equal(fetch_egress_new(&list, entries, count, NULL), MCP_OK);
    return list;
}

static mcp_status check_url(const fetch_egress *list, const char *text)
{
    fetch_url url;

    assert_int_equal(fetch_url_read(&url, text, NULL), MCP_OK);
    return fetch_egress_check_url(list, &url, NULL);
}

static mcp_status check_address(const fetch_egress *list, const char *url_text, const char *address)
{
    fetch_url url;
    struct sockaddr_storage target = { 0 };
    struct sockaddr_in *v4 = (struct sockaddr_in *)&target;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&target;
    bool is_v6 = strchr(address, ':');

    assert_int_equal(fetch_url_read(&url, url_text, NULL), MCP_OK);
    target.ss_family = is_v6 ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(target.ss_family, address,
                               is_v6 ? (void *)&v6->sin6_addr : (void *)&v4->sin_addr),
                     1);
    return fetch_egress_check_address(list, &url, (struct sockaddr *)&target,
                                      is_v6 ? sizeof *v6 : sizeof *v4, NULL);
}

static void hosts_are_matched(void **state)
{
    static const char *const entries[] = { "api.example.com",
                                           "*.corp.example",
                                           "https://only.tls",
                                           "port.example:8443",
                                           "http://both.example:81",
                                           "10.1.2.3:8080",
                                           "[::1]",
                                           "192.168.0.0/16",
                                           NULL };
    static const struct {
        const char *url;
        mcp_status st;
    } rows[] = {
        { "https://api.example.com/x", MCP_OK },
        { "http://API.example.com:99/", MCP_OK },
        { "http://xapi.example.com/", MCP_E_DENIED },
        { "http://api.example.com.evil.example/", MCP_E_DENIED },
        { "http://a.corp.example/", MCP_OK },
        { "http://a.b.corp.example/", MCP_OK },
        { "http://corp.example/", MCP_E_DENIED },
        { "http://xcorp.example/", MCP_E_DENIED },
        { "https://only.tls/", MCP_OK },
        { "http://only.tls/", MCP_E_DENIED },
        { "http://port.example:8443/", MCP_OK },
        { "https://port.example/", MCP_E_DENIED },
        { "http://both.example:81/", MCP_OK },
        { "https://both.example:81/", MCP_E_DENIED },
        { "http://both.example/", MCP_E_DENIED },
        { "http://10.1.2.3:8080/", MCP_OK },
        { "http://10.1.2.3/", MCP_E_DENIED },
        { "http://[::1]:5/", MCP_OK },
        { "http://[0:0:0:0:0:0:0:1]/", MCP_OK },
        { "http://192.168.255.1/", MCP_OK },
        { "http://192.169.0.1/", MCP_E_DENIED },
        { "http://8.8.8.8/", MCP_E_DENIED },
    };
    fetch_egress *list = list_of(entries);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(check_url(list, rows[i].url), rows[i].st);
    fetch_egress_free(list);
}

/* Addresses of each row of the IANA special-purpose registries, and neighbours that are public. */
static void a_name_leads_to_public_addresses_only(void **state)
{
    static const char *const entries[] = { "*", "10.9.9.9", NULL };
    static const char *const refused[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.1",
        "10.9.9.9",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:8.8.8.8",
        "::ffff:127.0.0.1",
        "64:ff9b::808:808",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:808:808::1",
        "2002:7f00:1::1",
        "3fff::1",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "5f00::1",
        "4000::1",
    };
    static const char *const public[] = {
        "1.1.1.1",         "9.255.255.255", "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",   "126.0.0.1",
        "128.0.0.1",       "169.253.0.1",   "172.15.0.1",
        "172.32.0.1",      "192.0.1.1",     "192.169.0.1",
        "198.17.0.1",      "198.20.0.1",    "223.255.255.255",
        "2000::1",         "2001:200::1",   "2001:4860:4860::8888",
        "2606:4700::1111", "3ffe::1",
    };
    fetch_egress *list = list_of(entries);

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(check_address(list, "http://name.example/", refused[i]), MCP_E_DENIED);
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
        assert_int_equal(check_address(list, "http://name.example/", public[i]), MCP_OK);
    fetch_egress_free(list);
}

static void listed_addresses_are_allowed(void **state)
{
    static const char *const entries[] = { "name.example",      "10.0.0.0/8", "fd00:1::/32",
                                           "localhost",         "172.16.0.5", "64:ff9b::/96",
                                           "::ffff:0.0.0.0/96", NULL };
    fetch_egress *list = list_of(entries);
    const char *url = "http://name.example/";

    (void)state;
    assert_int_equal(check_address(list, url, "10.255.0.1"), MCP_OK);
    assert_int_equal(check_address(list, url, "fd00:1::5"), MCP_OK);
    assert_int_equal(check_address(list, url, "fd00:2::5"), MCP_E_DENIED);
    /* Loopback is localhost's alone, and an address of the list that of its own URL. */
    assert_int_equal(check_address(list, url, "127.0.0.1"), MCP_E_DENIED);
    assert_int_equal(check_address(list, "http://localhost/", "127.0.0.1"), MCP_OK);
    assert_int_equal(check_address(list, "http://localhost/", "::1"), MCP_OK);
    assert_int_equal(check_address(list, "http://localhost/", "192.168.0.1"), MCP_E_DENIED);
    assert_int_equal(check_address(list, url, "172.16.0.5"), MCP_E_DENIED);
    assert_int_equal(check_address(list, "http://172.16.0.5/", "172.16.0.5"), MCP_OK);
    /* The address inside is judged, too. */
    assert_int_equal(check_address(list, url, "64:ff9b::8.8.8.8"), MCP_OK);
    assert_int_equal(check_address(list, url, "64:ff9b::10.0.0.1"), MCP_OK);
    assert_int_equal(check_address(list, url, "64:ff9b::127.0.0.1"), MCP_E_DENIED);
    assert_int_equal(check_address(list, url, "::ffff:8.8.8.8"), MCP_OK);
    assert_int_equal(check_address(list, url, "::ffff:169.254.169.254"), MCP_E_DENIED);
    fetch_egress_free(list);
}

static void another_family_is_refused(void **state)
{
    static const char *const entries[] = { "*", NULL };
    const struct sockaddr other = { .sa_family = AF_UNIX };
    const struct sockaddr cut = { .sa_family = AF_INET6 };
    fetch_egress *list = list_of(entries);
    fetch_url url;

    (void)state;
    fetch_url_read(&url, "http://x/", NULL);
    assert_int_equal(fetch_egress_check_address(list, &url, &other, sizeof other, NULL),
                     MCP_E_DENIED);
    assert_int_equal(fetch_egress_check_address(list, &url, &cut, sizeof cut, NULL), MCP_E_DENIED);
    fetch_egress_free(list);
}

static void an_empty_list_refuses_everything(void **state)
{
    static const char *const entries[] = { NULL };
    fetch_egress *list = list_of(entries);

    (void)state;
    assert_int_equal(check_url(list, "https://example.com/"), MCP_E_DENIED);
    fetch_egress_free(list);
}

static void bad_entries_are_named(void **state)
{
    static const char *const bad[] = {
        "",
        "*.",
        "*.*.example",
        "a*.example",
        "ftp://x",
        "http://",
        "x:0",
        "x:port",
        "x/y",
        "10.0.0.0/33",
        "10.0.0.1/8",
        "10.0.0.0/",
        "fd00::/129",
        "fd00::1/64",
        "0x7f.1",
        "2130706433",
        "a@b",
        "a b",
        "*.10.0.0.1",
        "10.0.0.0/+8",
        "https://10.0.0.0/8",
    };
    fetch_egress *list = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(fetch_egress_new(&list, &bad[i], 1, &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, bad[i]));
    }
    assert_null(list);
}

static void a_list_is_bounded(void **state)
{
    static const char *entries[FETCH_EGRESS_MAX + 1];
    fetch_egress *list = NULL;

    (void)state;
    for (size_t i = 0; i <= FETCH_EGRESS_MAX; i++)
        entries[i] = "x.example";
    assert_int_equal(fetch_egress_new(&list, entries, FETCH_EGRESS_MAX + 1, NULL), MCP_E_LIMIT);
    assert_int_equal(fetch_egress_new(&list, entries, FETCH_EGRESS_MAX, NULL), MCP_OK);
    fetch_egress_free(list);
}

static mcp_status make_and_free(void *data)
{
    static const char *const entries[] = { "a.example", "10.0.0.0/8" };
    fetch_egress *list = NULL;
    mcp_status st = fetch_egress_new(&list, entries, 2, NULL);

    (void)data;
    fetch_egress_free(list);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    oom_walk(make_and_free, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_matched),
        cmocka_unit_test(a_name_leads_to_public_addresses_only),
        cmocka_unit_test(listed_addresses_are_allowed),
        cmocka_unit_test(another_family_is_refused),
        cmocka_unit_test(an_empty_list_refuses_everything),
        cmocka_unit_test(bad_entries_are_named),
        cmocka_unit_test(a_list_is_bounded),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
