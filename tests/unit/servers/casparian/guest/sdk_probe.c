/*
 * sdk_probe.c - a plugin for sdk.py: it emits what its argument names.
 */
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "casparian_plugin.h"

static void set_text(cf_output *output, size_t column, const char *text)
{
    cf_set_str(output, column, text, strlen(text));
}

static const cf_column two_columns[] = { { "id", CF_INT64, 0, 0, NULL },
                                         { "value", CF_STRING, 0, 0, NULL } };
static const cf_schema two = { two_columns, 2, NULL, false };

/* The batch of the protocol's page. */
static void golden(cf_sink *sink)
{
    cf_output *output = cf_output_open(sink, "golden", &two);

    for (int64_t id = 1; id <= 3; id++) {
        cf_row_new(output);
        cf_set_i64(output, 0, id);
        if (id != 2)
            set_text(output, 1, id == 1 ? "a" : "ccc");
        cf_row_commit(output);
    }
}

static void types(cf_sink *sink)
{
    static const cf_column columns[] = { { "nothing", CF_NULL, 0, 0, NULL },
                                         { "flag", CF_BOOLEAN, 0, 0, NULL },
                                         { "integer", CF_INT64, 0, 0, NULL },
                                         { "number", CF_FLOAT64, 0, 0, NULL },
                                         { "money", CF_DECIMAL, 38, 10, NULL },
                                         { "text", CF_STRING, 0, 0, NULL },
                                         { "bytes", CF_BINARY, 0, 0, NULL },
                                         { "day", CF_DATE, 0, 0, NULL },
                                         { "wall", CF_TIMESTAMP, 0, 0, NULL },
                                         { "instant", CF_TIMESTAMP_TZ, 0, 0, "Europe/Oslo" },
                                         { "clock", CF_TIME, 0, 0, NULL },
                                         { "span", CF_DURATION, 0, 0, NULL },
                                         { "universal", CF_TIMESTAMP_TZ, 0, 0, NULL } };
    static const cf_schema schema = { columns, 13, "abc", false };
    cf_output *output = cf_output_open(sink, "types", &schema);

    for (int i = 0; i < 3; i++) {
        cf_row_new(output);
        if (i == 1) {
            cf_row_commit(output);
            continue;
        }
        bool is_first = i == 0;
        cf_set_bool(output, 1, is_first);
        cf_set_i64(output, 2, is_first ? INT64_MIN : INT64_MAX);
        cf_set_f64(output, 3, is_first ? -0.5 : DBL_MAX);
        cf_set_dec(output, 4, is_first ? -1 : 5421010862427522170,
                   is_first ? UINT64_MAX - 122 : 687399551400673279);
        set_text(output, 5, is_first ? "Ärger \xF0\x9F\x98\x80" : "");
        cf_set_bin(output, 6, "\0\xFF\1", is_first ? 3 : 0);
        cf_set_date(output, 7, is_first ? -1 : 19000);
        for (size_t column = 8; column <= 12; column++)
            cf_set_ts(output, column,
                      is_first ? -(int64_t)column : 1700000000000000 + (int64_t)column);
        cf_row_commit(output);
    }
}

/* 20000 short rows, 40 rows of 100000 bytes, one of 3 MiB, a short one. */
static void limits(cf_sink *sink)
{
    cf_output *output = cf_output_open(sink, "limits", &two);
    char *text = malloc(3 << 20);

    memset(text, 'x', 3 << 20);
    for (int64_t id = 0; id < 20042; id++) {
        size_t length = id < 20000    ? (size_t)(id % 7)
                        : id < 20040  ? 100000
                        : id == 20040 ? 3 << 20
                                      : 1;
        cf_row_new(output);
        cf_set_i64(output, 0, id);
        if (id % 5 || id >= 20000)
            cf_set_str(output, 1, text, length);
        cf_row_commit(output);
    }
    free(text);
}

/* Rows of two outputs in turns, and an output without rows. */
static void turns(cf_sink *sink)
{
    cf_output *a = cf_output_open(sink, "a", &two), *b = cf_output_open(sink, "b", &two);

    cf_output_open(sink, "none", &two);
    for (int64_t id = 0; id < 30000; id++) {
        cf_output *output = id % 3 ? a : b;
        cf_row_new(output);
        cf_set_i64(output, 0, id);
        set_text(output, 1, "t");
        cf_row_commit(output);
    }
}

/* Rows with columns and types of their own. */
static void shapes(cf_sink *sink)
{
    cf_output *output = cf_output_open(sink, "shapes", NULL);
    size_t a = cf_column_add(output, "a", 1), b = cf_column_add(output, "b", 1);

    for (int i = 0; i < 200; i++) {
        cf_row_new(output);
        switch (i % 10) {
        case 0:
        case 1:
            cf_set_null(output, a);
            break;
        case 2:
        case 3:
            cf_set_i64(output, a, i);
            break;
        case 4:
            cf_set_i64(output, a, 1);
            set_text(output, b, "first");
            set_text(output, a, "again");
            break;
        case 5:
            set_text(output, a, "again");
            set_text(output, b, "bb");
            break;
        case 6:
            set_text(output, b, "alone");
            break;
        case 7:
            set_text(output, b, "dropped");
            cf_set_bool(output, a, true);
            continue;
        case 8:
            cf_set_f64(output, a, i / 2.0);
            set_text(output, cf_column_add(output, "c", 1), "new");
            break;
        default:
            break; /* a row without a column */
        }
        cf_row_id(output, i);
        cf_row_commit(output);
    }
}

static void bad_rows(cf_sink *sink)
{
    cf_output *output = cf_output_open(sink, "bad_rows", &two);

    for (int64_t id = 0; id < 10000; id++) {
        cf_row_new(output);
        cf_set_i64(output, 0, id);
        if (id >= 9000 && id % 10 == 0)
            cf_row_error(output, "no good");
        cf_row_id(output, id + 1);
        cf_row_commit(output);
    }
}

/* Mistakes of a program: its rows are dropped and named, the others stay. */
static void mistakes(cf_sink *sink)
{
    cf_output *output = cf_output_open(sink, "mistakes", &two);
    char text[128];

    cf_row_new(output);
    cf_set_i64(output, 1, 1);
    int wrong_type = cf_row_commit(output);
    cf_row_new(output);
    cf_set_i64(output, 7, 1);
    int no_column = cf_row_commit(output), no_row = cf_row_commit(output);
    cf_row_new(output);
    char *large = calloc(1, CF_ROW_BYTES_MAX + 1);
    cf_set_str(output, 1, large, CF_ROW_BYTES_MAX + 1);
    free(large);
    int too_long = cf_row_commit(output);
    cf_row_new(output);
    cf_set_i64(output, 0, 5);
    int good = cf_row_commit(output);
    snprintf(text, sizeof text, "%d %d %d %d %d", wrong_type, no_column, no_row, too_long, good);
    cf_warn(sink, text);
}

static void wrong_schema(cf_sink *sink)
{
    static const cf_column columns[] = { { "id", CF_INT64, 0, 0, NULL },
                                         { "much", CF_DECIMAL, 39, 2, NULL } };
    static const cf_schema schema = { columns, 2, NULL, false };

    cf_output_open(sink, "price", &schema);
}

static void messages(cf_sink *sink)
{
    cf_warn(sink, "a \"quote\", a \\ and\na line\x01");
    cf_error(sink, "it failed");
    cf_progress(sink, 5, 10, 2);
}

/* Rows without end, until nobody reads; the status says so. */
static void endless(cf_sink *sink)
{
    cf_output *output = cf_output_open(sink, "endless", &two);
    cf_status status = CF_OK;

    while (status == CF_OK) {
        cf_row_new(output);
        set_text(output, 1, "more and more");
        status = cf_row_commit(output);
    }
    if (status != CF_E_WRITE)
        abort();
}

static const struct {
    const char *name;
    void (*emit)(cf_sink *sink);
} modes[] = { { "golden", golden },     { "types", types },
              { "limits", limits },     { "turns", turns },
              { "shapes", shapes },     { "bad_rows", bad_rows },
              { "mistakes", mistakes }, { "messages", messages },
              { "endless", endless },   { "wrong_schema", wrong_schema } };

int main(int argc, char **argv)
{
    cf_sink *sink = cf_begin("sdk_probe", "1.0.0", "cfb");

    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].name, argv[1]) == 0)
            modes[i].emit(sink);
    return cf_finish(sink, 0);
}
