/*
 * test_redact.c - what is shown of values: the hashes of the description, cuts at code points,
 * columns that are sensitive by their names, floors, and shapes; and the texts of values.
 */
#include "check/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/text.h"

static casparian_redaction policy(casparian_redaction_mode mode)
{
    casparian_redaction out;
    casparian_redaction_read(&out, &casparian_redaction_defaults, NULL, NULL);
    out.mode = mode;
    return out;
}

static void expect(const casparian_redaction *how, bool is_sensitive, const char *text,
                   const char *shown)
{
    mcp_buf out;
    mcp_buf_init(&out, 1 << 16);
    assert_int_equal(casparian_redact_text(&out, how, is_sensitive, text, strlen(text)), MCP_OK);
    assert_string_equal(out.data ? out.data : "", shown);
    mcp_buf_clear(&out);
}

/* The digits are those of `printf TEXT | sha256sum`. */
static void test_hash(void **state)
{
    casparian_redaction how = policy(CASPARIAN_REDACTION_HASH);
    (void)state;
    expect(&how, false, "sensitive-data-12345", "[hash:75740b32]");
    expect(&how, false, "123.5", "[hash:99de02da]");
    expect(&how, false, "42", "[hash:73475cb4]");
    expect(&how, false, "john@example.com", "[hash:855f96e9]");
    expect(&how, false, "", "");
    how.hash_prefix_length = 4;
    expect(&how, false, "42", "[hash:7347]");
}

static void test_truncate(void **state)
{
    casparian_redaction how = policy(CASPARIAN_REDACTION_TRUNCATE);
    (void)state;
    how.max_value_length = 4;
    expect(&how, false, "abcd", "abcd");
    expect(&how, false, "abcde", "abcd...");
    expect(&how, false, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9");
    expect(&how, false, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9",
           "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9...");
    expect(&how, true, "42", "[hash:73475cb4]");
}

static void test_none_protects_sensitive(void **state)
{
    casparian_redaction_settings settings = casparian_redaction_defaults;
    casparian_redaction how = policy(CASPARIAN_REDACTION_NONE);
    (void)state;
    expect(&how, false, "42", "42");
    expect(&how, true, "42", "[hash:73475cb4]");
    settings.protect_sensitive = false;
    how.settings = &settings;
    expect(&how, true, "42", "42");
    settings.hmac_key = (const uint8_t *)"key";
    settings.hmac_key_length = 3;
    how.mode = CASPARIAN_REDACTION_HASH;
    /* printf 'The quick brown fox jumps over the lazy dog' | openssl dgst -sha256 -hmac key */
    expect(&how, false, "The quick brown fox jumps over the lazy dog", "[hmac:f7bc83f4]");
}

static void test_objects_in_texts(void **state)
{
    static const char row[] = "{\"a\":\"x\",\"email\":\"john@example.com\"}";
    casparian_redaction_settings settings = casparian_redaction_defaults;
    casparian_redaction how = policy(CASPARIAN_REDACTION_NONE);
    (void)state;
    expect(&how, false, row, "{\"a\":\"x\",\"email\":\"[hash:855f96e9]\"}");
    expect(&how, false, "{\"p\":[{\"user_id\":\"42\"}],\"n\":1}",
           "{\"p\":[{\"user_id\":\"[hash:73475cb4]\"}],\"n\":1}");
    expect(&how, false, "{ \"a\" : 1.50 }", "{ \"a\" : 1.50 }");
    expect(&how, false, "{\"email", "{\"email");
    how.mode = CASPARIAN_REDACTION_TRUNCATE;
    how.max_value_length = 30;
    expect(&how, false, row, "{\"a\":\"x\",\"email\":\"[hash:855f96...");
    settings.protect_sensitive = false;
    how = policy(CASPARIAN_REDACTION_NONE);
    how.settings = &settings;
    expect(&how, false, row, row);
}

static void test_policy(void **state)
{
    static const char text[] =
        "{\"mode\":\"none\",\"max_sample_count\":99,\"hash_prefix_length\":1}";
    casparian_redaction_settings settings = casparian_redaction_defaults;
    mcp_arena *arena = mcp_arena_new(1 << 16);
    const mcp_json *json = NULL;
    casparian_redaction how;
    mcp_json_writer writer;
    mcp_buf warnings;
    mcp_error err;
    (void)state;
    settings.floor = CASPARIAN_REDACTION_TRUNCATE;
    assert_int_equal(mcp_json_read(&json, arena, text, strlen(text), &err), MCP_OK);
    mcp_buf_init(&warnings, 1 << 12);
    mcp_json_writer_init(&writer, &warnings);
    mcp_write_array(&writer);
    casparian_redaction_read(&how, &settings, json, &writer);
    mcp_write_end(&writer);
    assert_int_equal(how.mode, CASPARIAN_REDACTION_TRUNCATE);
    assert_int_equal(how.max_sample_count, 20);
    assert_int_equal(how.hash_prefix_length, 4);
    assert_int_equal(how.max_value_length, 100);
    assert_non_null(strstr(warnings.data, "redaction.mode was raised to 'truncate'"));
    assert_non_null(strstr(warnings.data, "redaction.max_sample_count was set to 20"));
    assert_non_null(strstr(warnings.data, "redaction.hash_prefix_length was set to 4"));
    mcp_buf_clear(&warnings);
    mcp_arena_free(arena);
}

static void test_sensitive_columns(void **state)
{
    static const char *const sensitive[] = { "email",      "EMAIL",        "customer_email",
                                             "ssn",        "phone_home",   "address_street",
                                             "user_id",    "api_key",      "home_ip_address_v4",
                                             "auth_token", "Phone Number", "ip-address",
                                             "max(ssn)" };
    static const char *const plain[] = { "price",    "emails", "authority",   "patient_id",
                                         "keyboard", "sphinx", "tokens_used2" };
    static const char *const more[] = { "cust_*" }, *const fewer[] = { "phone_model" };
    casparian_redaction_settings settings = casparian_redaction_defaults;
    casparian_redaction how = policy(CASPARIAN_REDACTION_HASH);
    (void)state;
    for (size_t i = 0; i < sizeof sensitive / sizeof sensitive[0]; i++)
        assert_true(casparian_redaction_is_sensitive(&how, sensitive[i]));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_false(casparian_redaction_is_sensitive(&how, plain[i]));
    assert_true(casparian_redaction_is_sensitive(&how, "phone_model"));
    settings.sensitive = more;
    settings.sensitive_count = 1;
    settings.nonsensitive = fewer;
    settings.nonsensitive_count = 1;
    how.settings = &settings;
    assert_true(casparian_redaction_is_sensitive(&how, "cust_no"));
    assert_false(casparian_redaction_is_sensitive(&how, "phone_model"));
}

static void expect_cell(const casparian_redaction *how, bool is_sensitive, casparian_cell cell,
                        const char *shown)
{
    mcp_json_writer writer;
    mcp_buf out;
    mcp_buf_init(&out, 1 << 16);
    mcp_json_writer_init(&writer, &out);
    casparian_redact_cell(&writer, how, is_sensitive, &cell, NULL);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_string_equal(out.data, shown);
    mcp_buf_clear(&out);
}

static void test_cells(void **state)
{
    casparian_redaction how = policy(CASPARIAN_REDACTION_HASH);
    (void)state;
    expect_cell(&how, false, (casparian_cell){ .kind = CASPARIAN_KIND_INT64, .integer = 42 }, "42");
    expect_cell(&how, true, (casparian_cell){ .kind = CASPARIAN_KIND_INT64, .integer = 42 },
                "\"[hash:73475cb4]\"");
    expect_cell(&how, true, (casparian_cell){ .kind = CASPARIAN_KIND_FLOAT64, .number = 123.5 },
                "\"[hash:99de02da]\"");
    expect_cell(&how, true, (casparian_cell){ .kind = CASPARIAN_KIND_NULL }, "null");
    expect_cell(&how, true, (casparian_cell){ .kind = CASPARIAN_KIND_BOOLEAN, .boolean = true },
                "true");
    expect_cell(&how, false, (casparian_cell){ .kind = CASPARIAN_KIND_STRING, .text = { "42", 2 } },
                "\"[hash:73475cb4]\"");
    expect_cell(&how, false, (casparian_cell){ .kind = CASPARIAN_KIND_BINARY, .text = { "42", 2 } },
                "\"[hash:73475cb4]\"");
    how.mode = CASPARIAN_REDACTION_NONE;
    expect_cell(&how, false,
                (casparian_cell){ .kind = CASPARIAN_KIND_BINARY, .text = { "\xFF\0z", 3 } },
                "\"/wB6\"");
    expect_cell(
        &how, false,
        (casparian_cell){ .kind = CASPARIAN_KIND_INT64, .integer = INT64_C(9007199254740993) },
        "\"9007199254740993\"");
}

static void test_messages(void **state)
{
    casparian_redaction how = policy(CASPARIAN_REDACTION_HASH);
    static const char text[] = "ValueError: invalid literal for int(): '42' in line 7, it isn't";
    mcp_buf out;
    (void)state;
    mcp_buf_init(&out, 1 << 12);
    assert_int_equal(casparian_redact_message(&out, &how, text, strlen(text)), MCP_OK);
    assert_string_equal(
        out.data, "ValueError: invalid literal for int(): '[hash:73475cb4]' in line 7, it isn't");
    mcp_buf_clear(&out);
}

static bool is_in(void *data, const char *word, size_t length)
{
    for (const char *at = data; *at; at += strcspn(at, " ") + 1)
        if (strcspn(at, " ") == length && memcmp(at, word, length) == 0)
            return true;
    return false;
}

/* Of what a plugin said only known words are shown; a quote without an end hides nothing. */
static void test_said(void **state)
{
    static char known[] = "cannot read row of account 12345 12 ";
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "cannot read", "cannot read" },
        { "cannot read Smith, row 12 of 7", "cannot read Aaaaa, row 12 of 9" },
        { "cannot reader unread", "cannot a{6} a{6}" },
        { "account 12345 of x@example.com", "account 9{5} of a@a{7}.aaa" },
        { "row '42' of row", "row '[hash:73475cb4]' of row" },
        { "isn't Smith", "aaa'a Aaaaa" },
        { "cannot read 'Smi", "cannot read 'Aaa" },
        { "of \xC3\xA9t\xC3\xA9_1", "of UaU_9" },
        { "", "" },
    };
    casparian_redaction how = policy(CASPARIAN_REDACTION_HASH);
    mcp_buf out;
    (void)state;
    how.is_known = is_in;
    how.words = known;
    mcp_buf_init(&out, 1 << 12);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mcp_buf_reset(&out);
        casparian_redact_said(&out, &how, rows[i].text, strlen(rows[i].text));
        assert_int_equal(out.status, MCP_OK);
        assert_string_equal(out.data ? out.data : "", rows[i].shown);
    }
    how.is_known = NULL;
    mcp_buf_reset(&out);
    casparian_redact_said(&out, &how, "cannot read", 11);
    assert_string_equal(out.data, "a{6} aaaa");
    how.mode = CASPARIAN_REDACTION_NONE;
    mcp_buf_reset(&out);
    casparian_redact_said(&out, &how, "cannot read 'Smith'", 19);
    assert_string_equal(out.data, "cannot read 'Smith'");
    mcp_buf_clear(&out);
}

static void test_shapes(void **state)
{
    static const struct {
        const char *text, *shape;
    } rows[] = {
        { "2024-01-05 JFK", "9999-99-99 AAA" },
        { "john@example.com", "aaaa@a{7}.aaa" },
        { "", "" },
        { "12345", "9{5}" },
        { "\xC3\xA9t\xC3\xA9", "UaU" },
        { "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
          "a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9\xE2\x80\xA6" },
    };
    char shape[CASPARIAN_SHAPE_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(casparian_shape(shape, rows[i].text, strlen(rows[i].text)),
                         strlen(rows[i].shape));
        assert_string_equal(shape, rows[i].shape);
    }
}

static void expect_text(casparian_cell cell, const char *zone_name, const char *text)
{
    mcp_arena *arena = mcp_arena_new(1 << 20);
    const casparian_zone *zone = NULL;
    mcp_error err;
    mcp_buf out;
    if (zone_name)
        assert_int_equal(casparian_zone_load(&zone, arena, zone_name, &err), MCP_OK);
    mcp_buf_init(&out, 1 << 12);
    assert_int_equal(casparian_text_append(&out, &cell, zone), MCP_OK);
    assert_string_equal(out.data ? out.data : "", text);
    mcp_buf_clear(&out);
    mcp_arena_free(arena);
}

static casparian_cell of(casparian_kind kind, int64_t value)
{
    return (casparian_cell){ .kind = kind, .integer = value };
}

/* Times are those of `date -u -d @SECONDS` and, with a zone, of `TZ=ZONE date -d @SECONDS`. */
static void test_texts(void **state)
{
    (void)state;
    expect_text(of(CASPARIAN_KIND_DATE, 19723), NULL, "2024-01-01");
    expect_text(of(CASPARIAN_KIND_DATE, -1), NULL, "1969-12-31");
    expect_text(of(CASPARIAN_KIND_TIMESTAMP, INT64_C(1700000000000000)), NULL,
                "2023-11-14T22:13:20");
    expect_text(of(CASPARIAN_KIND_TIMESTAMP, -1), NULL, "1969-12-31T23:59:59.999999");
    expect_text(of(CASPARIAN_KIND_TIMESTAMP_TZ, INT64_C(1700000000500000)), NULL,
                "2023-11-14T22:13:20.500000Z");
    expect_text(of(CASPARIAN_KIND_TIMESTAMP_TZ, INT64_C(1700000000000000)), "Europe/Berlin",
                "2023-11-14T23:13:20+01:00");
    expect_text(of(CASPARIAN_KIND_TIMESTAMP_TZ, INT64_C(1700000000000000)), "-03:30",
                "2023-11-14T18:43:20-03:30");
    expect_text(of(CASPARIAN_KIND_TIME, INT64_C(86399999999)), NULL, "23:59:59.999999");
    expect_text(of(CASPARIAN_KIND_DURATION, INT64_C(-90500000)), NULL, "-PT90.5S");
    expect_text(of(CASPARIAN_KIND_DURATION, 0), NULL, "PT0S");
    expect_text(of(CASPARIAN_KIND_DURATION, INT64_MIN), NULL, "-PT9223372036854.775808S");
    expect_text(of(CASPARIAN_KIND_INT64, INT64_MIN), NULL, "-9223372036854775808");
    expect_text((casparian_cell){ .kind = CASPARIAN_KIND_FLOAT64, .number = 0.1 }, NULL, "0.1");
    expect_text((casparian_cell){ .kind = CASPARIAN_KIND_FLOAT64, .number = 1.0 / 3 }, NULL,
                "0.3333333333333333");
    expect_text((casparian_cell){ .kind = CASPARIAN_KIND_FLOAT64, .number = -1.0 / 0.0 }, NULL,
                "-inf");
    expect_text((casparian_cell){ .kind = CASPARIAN_KIND_DECIMAL, .decimal = -5, .scale = 3 }, NULL,
                "-0.005");
    expect_text((casparian_cell){ .kind = CASPARIAN_KIND_BOOLEAN, .boolean = false }, NULL,
                "false");
    expect_text((casparian_cell){ .kind = CASPARIAN_KIND_NULL }, NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_none_protects_sensitive),
        cmocka_unit_test(test_objects_in_texts),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_sensitive_columns),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_said),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
