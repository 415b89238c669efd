/*
 * test_format.c - formats where they assert. Expectations: RFC 3339, 5321, 1123, 3986, 4291,
 * 6901, 9562.
 */
#include "fixture.h"

#include "schema/node.h"

typedef struct sample {
    const char *format;
    const char *accepted[12];
    const char *refused[17];
} sample;

static const sample samples[] = {
    { "date",
      { "2024-02-29", "2000-02-29", "1963-06-19", "0000-01-01" },
      { "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-04-31", "2024-1-01", "",
        "20240101", "2024-01-01 ", " 2024-01-01", "2024-01-0\xe0\xa7\xaa" } },
    { "time",
      { "08:30:06Z", "08:30:06.283185z", "23:59:60Z", "01:29:60+01:30", "23:29:60+23:30",
        "00:29:60+00:30", "15:59:60-08:00" },
      { "08:30:06", "24:00:00Z", "08:60:00Z", "22:59:60Z", "23:59:61Z", "08:30:06.Z", "8:30:06Z",
        "08:30:06+24:00", "08:30:06+00:60", "08:30:06+0100", "08:30:06 Z", "0830Z" } },
    { "date-time",
      { "1963-06-19T08:30:06.283185Z", "1963-06-19t08:30:06z", "1998-12-31T23:59:60Z",
        "1937-01-01T12:00:27.87+00:20" },
      { "1963-06-19 08:30:06Z", "1963-06-19T08:30:06", "1998-12-31T22:59:60Z", "1963-06-19T",
        "1990-02-31T15:59:59Z", "2013-350T01:01:01Z" } },
    { "duration",
      { "P4DT12H30M5S", "P4Y", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P1DT12H", "P2W", "P1Y2M3D" },
      { "", "P", "PT", "P2D1Y", "P1D2H", "P1Y2W", "P1", "4DT1H", "P2S", "PT1D", "P1YT", "P1Y3D",
        "PT1H3S", "P1W2W", "P1T1S" } },
    { "email",
      { "joe.bloggs@example.com", "te~st@example.com", "a+b@x.y", "\"joe bloggs\"@example.com",
        "\"joe\\\"b\"@example.com", "joe@[127.0.0.1]", "joe@[IPv6:::1]" },
      { "2962", "", "@example.com", "joe@", ".joe@x.y", "joe.@x.y", "j..oe@x.y", "joe@x@y",
        "joe bloggs@x.y", "\"joe@x.y", "joe@[127.0.0.300]", "joe@[::1]", "joe@[]", "joe@-x.y",
        "joe\n@x.y" } },
    { "hostname",
      { "www.example.com", "a", "1host", "xn--4gbwdl.xn--wgbh1c", "a-b.c",
        "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc.com" },
      { "", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b", "a.-b", "\xc3\xa9.com", "ab--cd",
        "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd.com" } },
    { "ipv4",
      { "127.0.0.1", "0.0.0.0", "255.255.255.255" },
      { "", "127.0.0", "127.0.0.0.1", "256.1.1.1", "01.1.1.1", "1.1.1.1 ", "1.1.1", "0x7f.0.0.1",
        "1.1.1.1/8", "1" } },
    { "ipv6",
      { "::", "::1", "1:2:3:4:5:6:7:8", "::ffff:192.168.0.1", "1::8", "fe80::abcd",
        "1:2:3:4:5:6::" },
      { "", ":", "1::2::3", "12345::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "fe80::1%eth0",
        "::1/64", " ::1", "::laptop", "1:2:3:4:5:6:7:", "::ffff:192.168.0.256" } },
    { "uri",
      { "http://foo.bar/?baz=qux#quux", "urn:oasis:names", "mailto:John.Doe@example.com",
        "ldap://[2001:db8::7]/c=GB?objectClass?one", "http://u:p@h:80/p", "tel:+1-816-555-1212",
        "http://[v1.a:b]/", "file:///c:/x", "x:", "http://h:/p", "http://%41/" },
      { "//foo.bar/", "/abc", "abc", "", "http:// x", "http://a b", "1http://a", ":a",
        "http://a/%zz", "http://[::1", "http://[12345::]/", "http://h:a/", "http://a/<b>",
        "http://a/\\b", "http://a/#b#c", "http://\xc3\xa9/" } },
    { "uri-reference",
      { "", "abc", "/abc", "//foo.bar/x", "#fragment", "?q", "http://a/b", "./a:b", "a/b:c" },
      { "\\\\WINDOWS\\x", "#frag\\ment", "1:a", "a b", "%", "//h:x/", "[", "\"" } },
    { "uuid",
      { "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
        "00000000-0000-0000-0000-000000000000" },
      { "", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380",
        "2eb8aa08-aa98-11ea-b4ga-73b441d16380", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380",
        "{2eb8aa08-aa98-11ea-b4aa-73b441d163}" } },
    { "json-pointer",
      { "", "/", "/foo/0", "/a~1b", "/m~0n", "/~01", "//" },
      { "foo", "#/foo", "/~", "/~2", "/foo~", "0" } },
    { "relative-json-pointer",
      { "0", "1", "0/foo", "2/0/a~1b", "0#", "10#" },
      { "", "/foo", "01", "00#", "-1/x", "+1", "0##", "1#/x", "#" } },
    { "regex", { "a|b", "^\\d{3}$", "" }, { "^(abc]", "\\a", "a**" } },
};

static mcp_schema *asserting(mcp_arena *arena, const char *format)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;

    options.assert_formats = true;
    return compile(arena, mcp_arena_printf(arena, "{\"format\":\"%s\"}", format), &options);
}

/* What the schema says to a string of these bytes. */
static bool accepts(const mcp_schema *schema, const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_json_writer writer;
    mcp_buf json;

    mcp_buf_init(&json, 1000000);
    mcp_json_writer_init(&writer, &json);
    mcp_write_string_n(&writer, text, length);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    mcp_status st = mcp_schema_check(schema, read_json(arena, json.data), arena, NULL, NULL);
    assert_true(st == MCP_OK || st == MCP_E_SCHEMA);
    mcp_buf_clear(&json);
    mcp_arena_free(arena);
    return st == MCP_OK;
}

static void samples_are_sorted_rightly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        mcp_schema *schema = asserting(arena, samples[i].format);
        for (size_t k = 0; k < 12 && samples[i].accepted[k]; k++) {
            const char *text = samples[i].accepted[k];
            if (!accepts(schema, text, strlen(text)))
                fail_msg("%s: \"%s\" should be accepted", samples[i].format, text);
        }
        for (size_t k = 0; k < 17 && samples[i].refused[k]; k++) {
            const char *text = samples[i].refused[k];
            if (accepts(schema, text, strlen(text)))
                fail_msg("%s: \"%s\" should be refused", samples[i].format, text);
        }
        mcp_schema_free(schema);
        mcp_arena_free(arena);
    }
}

/* A NUL inside is a character like any other, and none of these formats has it. */
static void nul_does_not_end_a_text(void **state)
{
    static const struct {
        const char *format;
        const char *text; /* and a NUL */
    } cases[] = {
        { "ipv4", "1.1.1.1" }, { "ipv6", "::1" }, { "date", "2024-02-29" }, { "hostname", "a" },
        { "email", "a@b" },    { "uri", "a:b" },  { "duration", "P1D" },    { "duration", "P1" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        mcp_schema *schema = asserting(arena, cases[i].format);
        if (accepts(schema, cases[i].text, strlen(cases[i].text) + 1))
            fail_msg("%s: \"%s\" and a NUL should be refused", cases[i].format, cases[i].text);
        mcp_schema_free(schema);
        mcp_arena_free(arena);
    }
}

/* AddressSanitizer watches what is behind the bytes. */
static void no_format_reads_past_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        mcp_schema *schema = asserting(arena, samples[i].format);
        for (size_t k = 0; k < 12 && samples[i].accepted[k]; k++) {
            for (size_t length = 0; length <= strlen(samples[i].accepted[k]); length++)
                (void)accepts(schema, samples[i].accepted[k], length);
        }
        mcp_schema_free(schema);
        mcp_arena_free(arena);
    }
}

/* Neither the limit of steps nor that of one match is near. */
static void long_texts_are_judged(void **state)
{
    static const struct {
        const char *format;
        const char *begin;
        const char *more;
        size_t length;
    } cases[] = {
        { "uri", "http://a.b/", "x", 300000 },
        { "uri", "data:image/svg+xml,", "%3C", 300000 },
        { "uri", "a:", "b/", 8000 },
        { "uri-reference", "?", "%20", 300000 },
        { "json-pointer", "/", "a/b~1", 300000 },
        { "relative-json-pointer", "1/", "~0", 300000 },
        { "regex", "a", "b", 8000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        mcp_schema *schema = asserting(arena, cases[i].format);
        mcp_buf text;
        mcp_buf_init(&text, 310000);
        mcp_buf_puts(&text, cases[i].begin);
        while (text.length < cases[i].length)
            mcp_buf_puts(&text, cases[i].more);
        if (!accepts(schema, text.data, text.length))
            fail_msg("%s: a long one should be accepted", cases[i].format);
        mcp_buf_puts(&text, "(\"~");
        if (accepts(schema, text.data, text.length))
            fail_msg("%s: a long wrong one should be refused", cases[i].format);
        mcp_buf_clear(&text);
        mcp_schema_free(schema);
        mcp_arena_free(arena);
    }
}

static void formats_assert_only_on_demand(void **state)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;

    (void)state;
    options.assert_formats = true;
    fits("{\"format\":\"ipv4\"}", "\"no address\"");
    assert_int_equal(verdict("{\"format\":\"ipv4\"}", "\"no address\"", &options), MCP_E_SCHEMA);
    assert_int_equal(verdict("{\"format\":\"ipv4\"}", "\"1.2.3.4\"", &options), MCP_OK);
    assert_int_equal(verdict("{\"format\":\"ipv4\"}", "12", &options), MCP_OK);
    assert_int_equal(verdict("{\"format\":\"made-up\"}", "\"x\"", &options), MCP_OK);
    assert_null(mcp__format_find("made-up"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_sorted_rightly),    cmocka_unit_test(nul_does_not_end_a_text),
        cmocka_unit_test(no_format_reads_past_the_end),  cmocka_unit_test(long_texts_are_judged),
        cmocka_unit_test(formats_assert_only_on_demand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
