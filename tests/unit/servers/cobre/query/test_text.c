/*
 * test_text.c - values as JSON and CSV: each type, null, what is no number, dates of the calendar.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "query/text.h"

static void assert_value(columns_type type, const void *value, const char *json, const char *csv)
{
    const columns_column column = { "x", type, value, NULL };
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1000);
    mcp_json_writer_init(&writer, &text);
    query_json_value(&writer, &column, 0);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_string_equal(text.data, json);
    mcp_buf_reset(&text);
    query_csv_value(&text, &column, 0);
    assert_int_equal(text.status, MCP_OK);
    assert_int_equal(text.length, strlen(csv));
    assert_memory_equal(text.length > 0 ? text.data : "", csv, text.length);
    mcp_buf_clear(&text);
}

#define VALUE(type, c_type, value, json, csv)                                                      \
    assert_value(type, &(const c_type){ value }, json, csv)

static void each_type_has_its_form(void **state)
{
    (void)state;
    VALUE(COLUMNS_BOOL, uint8_t, 1, "true", "true");
    VALUE(COLUMNS_I8, int8_t, -128, "-128", "-128");
    VALUE(COLUMNS_U32, uint32_t, UINT32_MAX, "4294967295", "4294967295");
    VALUE(COLUMNS_I64, int64_t, INT64_MIN, "-9223372036854775808", "-9223372036854775808");
    VALUE(COLUMNS_U64, uint64_t, UINT64_MAX, "18446744073709551615", "18446744073709551615");
    VALUE(COLUMNS_F64, double, 0.1, "0.1", "0.1");
    VALUE(COLUMNS_F32, float, 0.5F, "0.5", "0.5");
    VALUE(COLUMNS_F64, double, NAN, "null", "");
    VALUE(COLUMNS_F64, double, INFINITY, "null", "");
    VALUE(COLUMNS_F32, float, -INFINITY, "null", "");
    VALUE(COLUMNS_TEXT, char *, "a", "\"a\"", "a");
    VALUE(COLUMNS_TEXT, char *, "a,\"b\"\n", "\"a,\\\"b\\\"\\n\"", "\"a,\"\"b\"\"\n\"");
}

static void dates_are_those_of_the_calendar(void **state)
{
    (void)state;
    VALUE(COLUMNS_DATE, int32_t, 0, "\"1970-01-01\"", "1970-01-01");
    VALUE(COLUMNS_DATE, int32_t, -1, "\"1969-12-31\"", "1969-12-31");
    VALUE(COLUMNS_DATE, int32_t, 11016, "\"2000-02-29\"", "2000-02-29");
    VALUE(COLUMNS_DATE, int32_t, 11017, "\"2000-03-01\"", "2000-03-01");
    VALUE(COLUMNS_DATE, int32_t, 47540, "\"2100-02-28\"", "2100-02-28");
    VALUE(COLUMNS_DATE, int32_t, 47541, "\"2100-03-01\"", "2100-03-01");
    VALUE(COLUMNS_DATE, int32_t, -719528, "\"0000-01-01\"", "0000-01-01");
}

static void a_missing_value_is_null(void **state)
{
    static const uint8_t valid[] = { 0 };
    static const int32_t values[] = { 7 };
    const columns_column column = { "x", COLUMNS_I32, values, valid };
    mcp_json_writer writer;
    mcp_buf text;

    (void)state;
    mcp_buf_init(&text, 100);
    query_csv_value(&text, &column, 0);
    assert_int_equal(text.length, 0);
    mcp_json_writer_init(&writer, &text);
    query_json_value(&writer, &column, 0);
    assert_string_equal(text.data, "null");
    mcp_buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_form),
        cmocka_unit_test(dates_are_those_of_the_calendar),
        cmocka_unit_test(a_missing_value_is_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
