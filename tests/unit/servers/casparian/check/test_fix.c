/*
 * test_fix.c - suggested fixes: each rule of the data page by an example, the sample of the
 * sales parser from its wrong schema to 383 of 400 rows, and the promise that fixes keep on data
 * that is made at random: applied together they never make more rows invalid, and where each row
 * has one fault at most they make some valid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "rows.h"

enum { COLUMNS_MAX = 8, ROUNDS = 1500 };

static mcp_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new((size_t)512 << 20);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

/* Tests write JSON with ' for ". */
static const mcp_json *json_of(const char *text)
{
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    char *copy = mcp_arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (mcp_json_read(&json, arena, copy, strlen(copy), &err) != MCP_OK)
        fail_msg("%s: %s", copy, err.message);
    return json;
}

static const char *text_of(const mcp_json *json)
{
    mcp_json_writer out;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 22);
    mcp_json_writer_init(&out, &text);
    mcp_write_value(&out, json);
    char *copy = mcp_arena_strndup(arena, text.data, text.length);
    mcp_buf_clear(&text);
    return copy;
}

/* What a backtest says of one file. */
static const mcp_json *result_of(const mcp_json *schema, const mcp_json *rows)
{
    casparian_redaction_settings settings = casparian_redaction_defaults;
    casparian_definition definition;
    casparian_redaction redaction;
    casparian_check *check = NULL;
    casparian_checked checked;
    mcp_error err = MCP_ERROR_INIT;
    mcp_json_writer out;
    mcp_buf text;
    casparian_redaction_read(&redaction, &settings, NULL, NULL);
    if (casparian_definition_read(&definition, arena, schema, NULL, NULL, &err) != MCP_OK)
        fail_msg("%s: %s", text_of(schema), err.message);
    const casparian_check_options options = { .output = definition.output,
                                              .definition = &definition,
                                              .redaction = &redaction };
    casparian_batch batch = batch_of(rows, arena);
    assert_int_equal(casparian_check_new(&check, &options, &err), MCP_OK);
    assert_int_equal(casparian_check_begin(check, "f", &err), MCP_OK);
    assert_int_equal(casparian_check_batch(check, &checked, &batch, arena, &err), MCP_OK);
    casparian_check_end(check, true);
    mcp_buf_init(&text, 1 << 22);
    mcp_json_writer_init(&out, &text);
    mcp_write_object(&out);
    casparian_check_write(check, &out);
    mcp_write_end(&out);
    assert_int_equal(mcp_json_writer_status(&out), MCP_OK);
    const mcp_json *result = NULL;
    assert_int_equal(mcp_json_read(&result, arena, text.data, text.length, &err), MCP_OK);
    mcp_buf_clear(&text);
    casparian_check_free(check);
    return result;
}

/* ---- applying fixes -------------------------------------------------------------------------- */

struct column {
    const char *name;
    const mcp_json *type;
    const char *format;
    bool is_nullable, is_removed;
};

struct schema {
    struct column columns[2 * COLUMNS_MAX];
    size_t count;
    const char *mode;
};

static void read_schema(struct schema *out, const mcp_json *json)
{
    const mcp_json *columns = mcp_json_get(json, "columns");
    out->mode = mcp_json_get_string(json, "mode");
    out->count = mcp_json_count(columns);
    for (size_t i = 0; i < out->count; i++) {
        const mcp_json *column = mcp_json_item(columns, i);
        out->columns[i] = (struct column){ mcp_json_get_string(column, "name"),
                                           mcp_json_get(column, "type"),
                                           mcp_json_get_string(column, "format"), true, false };
        mcp_json_bool(mcp_json_get(column, "nullable"), &out->columns[i].is_nullable);
    }
}

static const mcp_json *write_schema(const struct schema *schema)
{
    const mcp_json *json = NULL;
    mcp_json_writer out;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&out, &text);
    mcp_write_object(&out);
    mcp_write_member_string(&out, "output_name", "o");
    mcp_write_member_string(&out, "mode", schema->mode ? schema->mode : "strict");
    mcp_write_member_array(&out, "columns");
    for (size_t i = 0; i < schema->count; i++) {
        const struct column *column = &schema->columns[i];
        if (column->is_removed)
            continue;
        mcp_write_object(&out);
        mcp_write_member_string(&out, "name", column->name);
        mcp_write_member_value(&out, "type", column->type);
        mcp_write_member_bool(&out, "nullable", column->is_nullable);
        if (column->format)
            mcp_write_member_string(&out, "format", column->format);
        mcp_write_end(&out);
    }
    mcp_write_end(&out);
    mcp_write_end(&out);
    assert_int_equal(mcp_json_read(&json, arena, text.data, text.length, NULL), MCP_OK);
    mcp_buf_clear(&text);
    return json;
}

static void apply(struct schema *schema, const mcp_json *violation)
{
    const mcp_json *fix = mcp_json_get(violation, "suggested_fix");
    const char *action = mcp_json_get_string(fix, "action");
    const char *name = mcp_json_get_string(violation, "column");
    if (strcmp(action, "add_column") == 0) {
        for (size_t i = 0; i < schema->count; i++) {
            if (!schema->columns[i].is_removed && strcmp(schema->columns[i].name, name) == 0)
                return; /* suggested for rows of both kinds of mismatch */
        }
        schema->columns[schema->count++] = (struct column){ name, mcp_json_get(fix, "type"), NULL,
                                                            true, false };
        return;
    }
    for (size_t i = 0; i < schema->count; i++) {
        struct column *column = &schema->columns[i];
        if (strcmp(column->name, name) != 0)
            continue;
        if (strcmp(action, "make_nullable") == 0)
            column->is_nullable = true;
        else if (strcmp(action, "remove_column") == 0)
            column->is_removed = true;
        else if (strcmp(action, "change_format") == 0)
            column->format = mcp_json_get_string(fix, "suggested");
        else {
            column->type = mcp_json_get(fix, "to");
            column->format = mcp_json_get_string(fix, "format");
        }
    }
}

/* Apply all fixes. @param must_help set if one of them is of a rule that makes rows valid */
static const mcp_json *fixed(const mcp_json *schema, const mcp_json *result, bool *must_help)
{
    struct schema made;
    const mcp_json *violations = mcp_json_get(result, "violations");
    read_schema(&made, schema);
    *must_help = false;
    for (size_t i = 0; i < mcp_json_count(violations); i++) {
        const mcp_json *violation = mcp_json_item(violations, i);
        const char *action = mcp_json_get_string(mcp_json_get(violation, "suggested_fix"),
                                                 "action");
        const char *type = mcp_json_get_string(violation, "violation_type");
        if (!action)
            continue;
        apply(&made, violation);
        *must_help |= strcmp(action, "make_nullable") != 0 || strcmp(type, "null_not_allowed") == 0;
    }
    return write_schema(&made);
}

static int64_t number_of(const mcp_json *result, const char *name)
{
    int64_t number = -1;
    assert_true(mcp_json_int(mcp_json_get(result, name), &number));
    return number;
}

/* ---- each rule ------------------------------------------------------------------------------- */

/* Rows are written as their repetition and the row. */
static const mcp_json *repeated(const char *rows)
{
    const mcp_json *list = json_of(rows), *json = NULL;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 22);
    for (size_t i = 0; i < mcp_json_count(list); i += 2) {
        int64_t times = 0;
        assert_true(mcp_json_int(mcp_json_item(list, i), &times));
        for (; times > 0; times--)
            mcp_buf_printf(&text, "%s%s", text.length ? "," : "[",
                           text_of(mcp_json_item(list, i + 1)));
    }
    mcp_buf_putc(&text, ']');
    assert_int_equal(mcp_json_read(&json, arena, text.data, text.length, NULL), MCP_OK);
    mcp_buf_clear(&text);
    return json;
}

static void every_rule_has_its_fix(void **state)
{
    static const struct {
        const char *rule, *column, *rows, *fix, *hint;
    } rules[] = {
        { "N1", "'type':'int64','nullable':false", "[50,{'x':1},1,{'x':null}]",
          "{'action':'make_nullable'}", NULL },
        { "N1 rare", "'type':'int64','nullable':false", "[200,{'x':1},1,{'x':null}]",
          "{'action':'make_nullable'}", "fewer than 1 %" },
        { "T1", "'type':'int64','nullable':false", "[9,{'x':'1'},2,{'x':'N/A'},1,{'x':'-'}]",
          "{'action':'make_nullable'}", "emit null" },
        { "T1 nullable", "'type':'int64'", "[9,{'x':'1'},2,{'x':'NULL'}]", NULL, "emit null" },
        { "T2", "'type':'int64'", "[9,{'x':'17'},2,{'x':'1234.5678'},1,{'x':'N/A'}]",
          "{'action':'change_type','from':'int64','to':{'kind':'decimal','precision':18,'scale':4}}",
          NULL },
        { "T2 long", "'type':'int64'", "[9,{'x':17},2,{'x':'12345678901234567890.25'}]",
          "{'action':'change_type','from':'int64','to':{'kind':'decimal','precision':22,'scale':2}}",
          NULL },
        { "T2 exponents", "'type':'int64'", "[9,{'x':'17'},2,{'x':'1e3'}]",
          "{'action':'change_type','from':'int64','to':'float64'}", NULL },
        { "T3", "'type':{'kind':'decimal','precision':6,'scale':2}",
          "[9,{'x':'1234.50'},2,{'x':'12.125'}]",
          "{'action':'change_type','from':{'kind':'decimal','precision':6,'scale':2},"
          "'to':{'kind':'decimal','precision':7,'scale':3}}",
          NULL },
        { "T4 boolean", "'type':'duration'", "[3,{'x':'yes'},2,{'x':'0'},1,{'x':'None'}]",
          "{'action':'change_type','from':'duration','to':'boolean'}", NULL },
        { "T4 date", "'type':'int64'", "[3,{'x':'31/01/2024'},2,{'x':'01/02/2024'}]",
          "{'action':'change_type','from':'int64','to':'date','format':'%d/%m/%Y'}", NULL },
        { "T4 typed", "'type':'string'", "[3,{'x':7}]",
          "{'action':'change_type','from':'string','to':'int64'}", NULL },
        { "T5", "'type':'int64'", "[300,{'x':'7'},1,{'x':'seven'}]", NULL, "fewer than 1 %" },
        { "T6", "'type':'int64'", "[30,{'x':'7'},1,{'x':'seven'}]",
          "{'action':'change_type','from':'int64','to':'string'}", NULL },
        { "T6 loses", "'type':'int64'", "[30,{'x':7},20,{'x':'seven'}]", NULL, "one type" },
        { "F1", "'type':'date'", "[3,{'x':'31.01.2024'},2,{'x':'N/A'}]",
          "{'action':'change_format','suggested':'%d.%m.%Y'}", NULL },
        { "F1 ambiguous", "'type':'date'", "[3,{'x':'05/06/2024'},2,{'x':'07/08/2024'}]",
          "{'action':'change_format','suggested':'%d/%m/%Y','alternatives':['%m/%d/%Y']}",
          "ambiguous" },
        { "F1 timestamp", "'type':'timestamp','format':'%d/%m/%Y %H:%M:%S'",
          "[3,{'x':'20240131-10:20:30.5'}]",
          "{'action':'change_format','suggested':'%Y%m%d-%H:%M:%S.%f'}", NULL },
        { "F2", "'type':'date'", "[19,{'x':'31/01/2024'},1,{'x':'soon'}]",
          "{'action':'change_format','suggested':'%d/%m/%Y'}", "95.0 %" },
        { "F3", "'type':'date'", "[9,{'x':'2024-01-31'},1,{'x':'UNKNOWN'}]", NULL, "emit null" },
        { "F4", "'type':'date'", "[9,{'x':'2024-01-31'},9,{'x':'31/01/2024'}]",
          "{'action':'change_type','from':'date','to':'string'}", NULL },
        { "S1", "'type':'int64'", "[6,{'x':1,'y':'a'},4,{'x':1}]",
          "{'action':'add_column','name':'y','type':'string'}", NULL },
        { "S1 typed", "'type':'int64'", "[6,{'x':1,'y':2},1,{'x':2,'y':2.5},4,{'x':1}]",
          "{'action':'add_column','name':'y','type':'float64'}", NULL },
        { "S1b", "'type':'int64'", "[4,{'x':1,'y':'a'},6,{'x':1}]", NULL, "rare extra column" },
        { "S2", "'type':'int64'", "[9,{'z':1}]", "{'action':'remove_column','name':'x'}", NULL },
        { "S2b", "'type':'int64'", "[3,{'z':1},6,{'x':1,'z':1}]", NULL, "emit null" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char schema[512];
        snprintf(schema, sizeof schema, "{'output_name':'o','columns':[{'name':'x',%s}%s]}",
                 rules[i].column,
                 strstr(rules[i].rows, "'z'") ? ",{'name':'z','type':'int64'}" : "");
        const mcp_json *result = result_of(json_of(schema), repeated(rules[i].rows));
        const mcp_json *first = mcp_json_pointer(result, "/violations/0");
        const mcp_json *fix = mcp_json_get(first, "suggested_fix");
        const char *hint = mcp_json_get_string(first, "hint");
        assert_non_null(first);
        if (rules[i].fix ? !fix || !mcp_json_equal(fix, json_of(rules[i].fix)) : fix != NULL)
            fail_msg("%s: %s", rules[i].rule, text_of(first));
        if (rules[i].hint ? !hint || !strstr(hint, rules[i].hint) : hint != NULL)
            fail_msg("%s: hint %s", rules[i].rule, hint ? hint : "is missing");
    }
}

static void a_renamed_column_is_named(void **state)
{
    (void)state;
    const mcp_json *result = result_of(
        json_of("{'output_name':'o','columns':[{'name':'order_id','type':'int64'}]}"),
        repeated("[5,{'OrderID':1}]"));
    const mcp_json *violations = mcp_json_get(result, "violations");
    bool must_help = false;
    assert_int_equal(mcp_json_count(violations), 2);
    assert_string_equal(mcp_json_get_string(mcp_json_item(violations, 0), "violation_type"),
                        "column_name_mismatch");
    assert_non_null(strstr(mcp_json_get_string(mcp_json_item(violations, 0), "hint"), "'OrderID'"));
    const mcp_json *schema = fixed(
        json_of("{'output_name':'o','columns':[{'name':'order_id','type':'int64'}]}"), result,
        &must_help);
    assert_int_equal(number_of(result_of(schema, repeated("[5,{'OrderID':1}]")), "rows_valid"), 5);
}

/* ---- the sales parser ------------------------------------------------------------------------ */

/* The rows of the sample, with defects in rows of their own: 12 prices are N/A, 5 rows have one
 * column too many, 60 prices have 4 digits, 30 quantities are empty. In two files of three the day
 * is first. @param is_second the parser's second version emits null for N/A */
static const mcp_json *sales(bool is_second)
{
    const mcp_json *json = NULL;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    for (int i = 0; i < 400; i++) {
        int day = i % 28 + 1, month = i % 12 + 1, place = i * 37 % 400; /* each place once */
        mcp_buf_printf(&text, "%s{'__cf_row_id':%d,'order_id':'%d','customer':'c%d',",
                       i ? "," : "[", i + 2, i + 1000, i % 17);
        if (i < 266)
            mcp_buf_printf(&text, "'order_date':'%02d/%02d/2024',", day, month);
        else
            mcp_buf_printf(&text, "'order_date':'2024-%02d-%02d',", month, day);
        mcp_buf_printf(&text, "'quantity':'%.*s',", place >= 77 && place < 107 ? 0 : 1, "7");
        if (place < 12)
            mcp_buf_puts(&text, is_second ? "'unit_price':null," : "'unit_price':'N/A',");
        else
            mcp_buf_printf(&text, "'unit_price':'%d%s',", i % 90 + 5,
                           place >= 17 && place < 77 ? ".1234" : "");
        mcp_buf_printf(&text, "'currency':'EUR','note':''%s}",
                       place >= 12 && place < 17 ? ",'extra':'more'" : "");
    }
    mcp_buf_putc(&text, ']');
    json = json_of(text.data);
    mcp_buf_clear(&text);
    return json;
}

static void the_sales_parser_is_fixed_in_three_rounds(void **state)
{
    const mcp_json *schema = json_of(
        "{'output_name':'o','columns':[{'name':'order_id','type':'string'},"
        "{'name':'customer','type':'string'},{'name':'order_date','type':'date'},"
        "{'name':'quantity','type':'int64','nullable':false},"
        "{'name':'unit_price','type':'int64'},{'name':'currency','type':'string'},"
        "{'name':'note','type':'string'}]}");
    const mcp_json *rows = sales(false);
    bool must_help = false;
    (void)state;
    for (int round = 0; round < 3; round++)
        schema = fixed(schema, result_of(schema, rows), &must_help);
    assert_int_equal(number_of(result_of(schema, rows), "rows_valid"), 383);
    assert_int_equal(number_of(result_of(schema, sales(true)), "rows_valid"), 395);
}

/* ---- data made at random --------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % limit;
}

static const char *const types[] = {
    "'int64'",        "'float64'",   "'boolean'", "{'kind':'decimal','precision':6,'scale':2}",
    "'date'",         "'timestamp'", "'string'",  "'time'",
    "'timestamp_tz'", "'duration'",
};
static const char *const formats[] = { NULL, "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d" };

/* Values of one sort. */
static const char *const pools[][5] = {
    { "1", "17", "0", "-4", "99" },
    { "'1'", "'17'", "'0'", "'-4'", "'123456789'" },
    { "'1.5'", "'12.125'", "'0.25'", "'1234567.5'", "'-3.75'" },
    { "1.5", "0.25", "3.0", "-2.5", "1e300" },
    { "'1e3'", "'2E-4'", "'inf'", "'nan'", "'5e10'" },
    { "'31/01/2024'", "'05/06/2024'", "'28/02/2023'", "'01/01/2000'", "'13/12/2021'" },
    { "'12/31/2024'", "'05/06/2024'", "'02/28/2023'", "'01/01/2000'", "'11/30/2021'" },
    { "'2024-01-31'", "'2024-02-29'", "'1999-12-31'", "'2000-01-01'", "'2021-11-30'" },
    { "'20240131'", "'20240229'", "'19991231'", "'20000101'", "'20211130'" },
    { "'2024-01-31 10:20:30'", "'2024-02-29T01:02:03'", "'1999-12-31 23:59:59'",
      "'2000-01-01T00:00:00.5'", "'2021-11-30 12:00:00.25'" },
    { "'N/A'", "'-'", "'NULL'", "'nan'", "'?'" },
    { "'seven'", "'soon'", "'x y'", "'1,000'", "'~'" },
    { "true", "false", "true", "'yes'", "'no'" },
    { "null", "''", "null", "''", "null" },
    { "{'date':19000}", "{'date':0}", "{'timestamp':5}", "{'decimal':'1.50'}", "{'time':9}" },
    { "'10:20:30'", "'23:59:59'", "'00:00:00.5'", "'PT5S'", "'P1DT2H'" },
};

enum { POOLS = sizeof pools / sizeof pools[0], VALUES = 5 };

static const mcp_json *random_schema(size_t columns)
{
    static const char *const modes[] = { "strict", "strict", "allow_extra",
                                         "allow_missing_optional" };
    mcp_buf text;
    mcp_buf_init(&text, 1 << 16);
    mcp_buf_printf(&text, "{'output_name':'o','mode':'%s','columns':[", modes[random_below(4)]);
    for (size_t i = 0; i < columns; i++) {
        uint32_t type = random_below(sizeof types / sizeof types[0]);
        const char *format = strcmp(types[type], "'date'") == 0 ? formats[random_below(4)] : NULL;
        mcp_buf_printf(&text, "%s{'name':'c%zu','type':%s,'nullable':%s", i ? "," : "", i,
                       types[type], random_below(2) ? "true" : "false");
        if (format)
            mcp_buf_printf(&text, ",'format':'%s'", format);
        mcp_buf_putc(&text, '}');
    }
    mcp_buf_puts(&text, "]}");
    const mcp_json *json = json_of(text.data);
    mcp_buf_clear(&text);
    return json;
}

/* Which values a column has, and how often it is there. */
struct habit {
    uint32_t pools[3];
    uint32_t missing; /* in 100 */
};

static void random_row(mcp_buf *text, const struct habit *habits, size_t columns)
{
    static const uint32_t often[] = { 0, 0, 0, 1, 1, 2 };
    size_t written = 0;
    mcp_buf_puts(text, "{");
    for (size_t i = 0; i < columns; i++) {
        uint32_t pool = habits[i].pools[often[random_below(6)]];
        if (random_below(100) < habits[i].missing)
            continue;
        mcp_buf_printf(text, "%s'%c%zu':%s", written++ ? "," : "", 'c', i,
                       pools[pool][random_below(VALUES)]);
    }
    mcp_buf_puts(text, "}");
}

/* @param columns those of the schema and perhaps more */
static const mcp_json *random_rows(size_t columns)
{
    static const uint32_t missing[] = { 0, 0, 0, 0, 0, 10, 50, 90, 100 };
    struct habit habits[COLUMNS_MAX];
    uint32_t rows = 1 + random_below(120);
    mcp_buf text;
    for (size_t i = 0; i < columns; i++) {
        for (size_t k = 0; k < 3; k++)
            habits[i].pools[k] = random_below(POOLS);
        habits[i].missing = missing[random_below(sizeof missing / sizeof missing[0])];
    }
    mcp_buf_init(&text, 1 << 20);
    for (uint32_t row = 0; row < rows; row++) {
        mcp_buf_putc(&text, row ? ',' : '[');
        random_row(&text, habits, columns);
    }
    mcp_buf_putc(&text, ']');
    const mcp_json *json = json_of(text.data);
    mcp_buf_clear(&text);
    return json;
}

static void fixes_never_make_more_rows_invalid(void **state)
{
    size_t helped = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool must_help = false;
        seed = (uint64_t)round * 7919 + 1;
        size_t columns = 1 + random_below(3), others = random_below(3);
        const mcp_json *schema = random_schema(columns), *rows = random_rows(columns + others);
        const mcp_json *before = result_of(schema, rows);
        const mcp_json *after_schema = fixed(schema, before, &must_help);
        const mcp_json *after = result_of(after_schema, rows);
        int64_t was = number_of(before, "rows_quarantined");
        int64_t is = number_of(after, "rows_quarantined");
        if (is > was)
            fail_msg("round %d: %d invalid rows, then %d, from %s by %s to %s", round, (int)was,
                     (int)is, text_of(schema), text_of(mcp_json_get(before, "violations")),
                     text_of(after_schema));
        /* One declared column and no other: a row has one fault at most. */
        if (columns == 1 && others == 0 && must_help && is >= was)
            fail_msg("round %d: still %d invalid rows, from %s by %s to %s", round, (int)was,
                     text_of(schema), text_of(mcp_json_get(before, "violations")),
                     text_of(after_schema));
        helped += is < was;
        mcp_arena_free(arena);
        arena = mcp_arena_new((size_t)512 << 20);
    }
    assert_in_range(helped, ROUNDS / 4, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_rule_has_its_fix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_renamed_column_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_sales_parser_is_fixed_in_three_rounds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(fixes_never_make_more_rows_invalid, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
