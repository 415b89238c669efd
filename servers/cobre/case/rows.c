/*
 * rows.c - checks a Parquet table by its columns' rules and sorts its rows.
 *
 * Types must match exactly: an int64 id or a float32 value is refused with the type to write. A
 * null in a required column is refused too (read as 0 it would change results in silence); in an
 * optional column it means "not given". NaN and infinity are refused everywhere.
 */
#include "case/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "case/case.h"

enum { DAY_MIN = -719162, DAY_MAX = 2932896 }; /* 0001-01-01 and 9999-12-31, from 1970-01-01 */

int64_t cobre_table_int(const cobre_table *table, size_t column, size_t row)
{
    const columns_column *data = table->columns[column];

    if (!data || !columns_is_valid(data, row))
        return COBRE_ABSENT;
    if (data->type == COLUMNS_U32)
        return ((const uint32_t *)data->values)[row];
    return ((const int32_t *)data->values)[row];
}

double cobre_table_real(const cobre_table *table, size_t column, size_t row)
{
    const columns_column *data = table->columns[column];

    return data && columns_is_valid(data, row) ? ((const double *)data->values)[row] : NAN;
}

size_t cobre_table_entity(const cobre_table_spec *spec)
{
    for (size_t i = 0; spec->columns[i].name; i++) {
        if (spec->columns[i].refers != COBRE_NO_REGISTRY)
            return i;
    }
    return COBRE_COLUMNS_MAX;
}

/* ---- the columns ----------------------------------------------------------------------------- */

static void missing_column(cobre_reader *reader, const cobre_column *column)
{
    const char *type = columns_type_name(column->type);
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_SCHEMA_VIOLATION, column->name);

    finding.message = cobre_report_text(reader->report, "column %s is missing", column->name);
    finding.suggestion = cobre_report_text(reader->report, "Write a column %s of type %s.",
                                           column->name, type);
    finding.members = COBRE_MEMBERS(COBRE_TEXT("expected", type), COBRE_NULL("actual"));
    reader->failed = true;
    cobre_report_add(reader->report, &finding);
}

static void wrong_type(cobre_reader *reader, const cobre_column *column, columns_type actual)
{
    const char *type = columns_type_name(column->type);
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_TYPE_MISMATCH, column->name);

    finding.message = actual == COLUMNS_OTHER
                          ? cobre_report_text(reader->report,
                                              "column %s has an unsupported type, %s is required",
                                              column->name, type)
                          : cobre_report_text(reader->report,
                                              "column %s has type %s but %s is required",
                                              column->name, columns_type_name(actual), type);
    finding.suggestion = cobre_report_text(reader->report, "Write column %s as %s.", column->name,
                                           type);
    finding.members = COBRE_MEMBERS(COBRE_TEXT("expected_type", type),
                                    COBRE_TEXT("actual_type", columns_type_name(actual)));
    reader->failed = true;
    cobre_report_add(reader->report, &finding);
}

static void find_columns(cobre_reader *reader, const columns_table *data, cobre_table *table)
{
    const cobre_column *wanted = table->spec->columns;

    for (size_t i = 0; wanted[i].name && !reader->failed; i++) {
        table->columns[i] = columns_find(data, wanted[i].name);
        if (!table->columns[i] && (wanted[i].flags & COBRE_REQUIRED))
            missing_column(reader, &wanted[i]);
        else if (table->columns[i] && table->columns[i]->type != wanted[i].type)
            wrong_type(reader, &wanted[i], table->columns[i]->type);
    }
}

/* ---- the values ------------------------------------------------------------------------------ */

static void place_in_row(cobre_reader *reader, const cobre_table *table, size_t row)
{
    size_t column = cobre_table_entity(table->spec);
    int64_t id = column < COBRE_COLUMNS_MAX ? cobre_table_int(table, column, row) : COBRE_ABSENT;

    reader->row = (int64_t)row + 1;
    reader->has_id = id != COBRE_ABSENT;
    reader->noun = reader->has_id ? cobre_registry_noun(table->spec->columns[column].refers) : NULL;
    reader->id = id;
}

static const char *broken_rule(const cobre_column *column, double value)
{
    if (!isfinite(value))
        return "must be finite";
    if (column->type == COLUMNS_DATE && (value < DAY_MIN || value > DAY_MAX))
        return "must lie in the years 1 to 9999";
    if ((column->flags & COBRE_POSITIVE) && value <= 0)
        return "must be > 0";
    if ((column->flags & COBRE_NOT_NEGATIVE) && value < 0)
        return "must be >= 0";
    if ((column->flags & COBRE_AT_MOST_ONE) && value > 1)
        return "must be <= 1";
    if (!(column->flags & COBRE_UNBOUNDED) && fabs(value) > COBRE_NUMBER_MAX)
        return COBRE_NUMBER_RULE;
    return NULL;
}

/* The limits of a column's values, infinite where there are none. */
static double least_of(const cobre_column *column)
{
    if (column->flags & (COBRE_POSITIVE | COBRE_NOT_NEGATIVE))
        return 0;
    return column->flags & COBRE_UNBOUNDED ? -INFINITY : -COBRE_NUMBER_MAX;
}

static double most_of(const cobre_column *column)
{
    if (column->flags & COBRE_AT_MOST_ONE)
        return 1;
    return column->flags & COBRE_UNBOUNDED ? INFINITY : COBRE_NUMBER_MAX;
}

static void check_value(cobre_reader *reader, const cobre_table *table, size_t index, size_t row)
{
    const cobre_column *column = &table->spec->columns[index];
    const columns_column *data = table->columns[index];

    if (!columns_is_valid(data, row)) {
        if (!(column->flags & COBRE_REQUIRED))
            return;
        place_in_row(reader, table, row);
        cobre_reader_violation(reader, column->name, "a value", "null",
                               "Fill the cell: the column takes no nulls.");
        return;
    }
    double value = column->type == COLUMNS_F64 ? cobre_table_real(table, index, row)
                                               : (double)cobre_table_int(table, index, row);
    const char *rule = broken_rule(column, value);
    if (rule) {
        place_in_row(reader, table, row);
        cobre_reader_range(reader, column->name, value, least_of(column), most_of(column), rule);
    }
}

static void check_values(cobre_reader *reader, const cobre_table *table)
{
    for (size_t row = 0; row < table->rows && !reader->failed; row++) {
        for (size_t i = 0; table->spec->columns[i].name && !reader->failed; i++) {
            if (table->columns[i])
                check_value(reader, table, i, row);
        }
    }
}

/* ---- the order ------------------------------------------------------------------------------- */

/* A double holds every id; a null comes first. */
static double key_at(const cobre_table *table, size_t column, size_t row)
{
    if (table->spec->columns[column].type == COLUMNS_F64)
        return cobre_table_real(table, column, row);
    return (double)cobre_table_int(table, column, row);
}

static int compare_keys(const cobre_table *table, size_t a, size_t b)
{
    for (size_t i = 0; i < table->spec->keys; i++) {
        double x = key_at(table, i, a), y = key_at(table, i, b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_rows(const void *left, const void *right, void *data)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int keys = compare_keys(data, a, b);

    return keys != 0 ? keys : a < b ? -1 : a > b;
}

/* Most files are: programs write them by their keys. */
static bool is_sorted(const cobre_table *table)
{
    for (size_t row = 1; row < table->rows; row++) {
        if (compare_keys(table, row - 1, row) > 0)
            return false;
    }
    return true;
}

/* The value of a key column in words; only tables whose repeats are allowed have real keys. */
static void key_word(char out[COLUMNS_MOMENT_SIZE], const cobre_table *table, size_t column,
                     size_t row)
{
    int64_t value = cobre_table_int(table, column, row);

    if (value == COBRE_ABSENT)
        snprintf(out, COLUMNS_MOMENT_SIZE, "null");
    else if (table->spec->columns[column].type == COLUMNS_DATE)
        columns_date_text(out, (int32_t)value);
    else
        snprintf(out, COLUMNS_MOMENT_SIZE, "%lld", (long long)value);
}

/* "thermal_id 5, stage_id 0, block_id null" */
static const char *key_text(cobre_reader *reader, const cobre_table *table, size_t row)
{
    char text[256] = "", word[COLUMNS_MOMENT_SIZE];
    size_t used = 0;

    for (size_t i = 0; i < table->spec->keys && used < sizeof text; i++) {
        key_word(word, table, i, row);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", i ? ", " : "",
                                 table->spec->columns[i].name, word);
    }
    return cobre_report_text(reader->report, "%s", text);
}

static void repeated(cobre_reader *reader, const cobre_table *table, size_t row)
{
    const char *column = table->spec->columns[table->spec->keys - 1].name;
    bool refused = table->spec->repeats == COBRE_REPEATS_REFUSED;

    place_in_row(reader, table, row);
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_DUPLICATE_ID, column);
    finding.severity = refused ? COBRE_SEVERITY_ERROR : COBRE_SEVERITY_WARNING;
    finding.message = cobre_report_text(reader->report, "a second row has the same key (%s)%s",
                                        key_text(reader, table, row),
                                        refused ? "" : "; the last row of the file is used");
    finding.suggestion = "Keep one row per key.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("registry", reader->file));
    reader->failed = reader->failed || refused;
    cobre_report_add(reader->report, &finding);
}

static void sort_rows(cobre_reader *reader, cobre_table *table)
{
    size_t *order = cobre_reader_array(reader, table->rows, sizeof *order);

    if (!order)
        return;
    for (size_t i = 0; i < table->rows; i++)
        order[i] = i;
    if (!is_sorted(table))
        qsort_r(order, table->rows, sizeof *order, compare_rows, table);
    for (size_t i = 1; i < table->rows && !reader->failed; i++) {
        if (table->spec->repeats != COBRE_REPEATS_ALLOWED &&
            compare_keys(table, order[i - 1], order[i]) == 0)
            repeated(reader, table, order[i]);
    }
    table->order = order;
}

void cobre_read_rows(cobre_reader *reader, const columns_table *data, const cobre_table_spec *spec,
                     cobre_table *out)
{
    cobre_table table = { .spec = spec, .rows = data->rows };

    find_columns(reader, data, &table);
    if (!reader->failed)
        check_values(reader, &table);
    if (!reader->failed && table.rows > 0)
        sort_rows(reader, &table);
    if (!reader->failed)
        *out = table;
}

size_t cobre_rows_most(const cobre_table_spec *spec, size_t bytes)
{
    size_t row = sizeof(size_t);

    for (size_t i = 0; spec->columns[i].name; i++)
        row += 2 * columns_type_size(spec->columns[i].type) + 1; /* and whether it is there */
    return bytes / row;
}

size_t cobre_table_find(const cobre_table *table, int64_t first, int64_t second)
{
    size_t low = 0, high = table->rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2, row = table->order[middle];
        int64_t a = cobre_table_int(table, 0, row), b = cobre_table_int(table, 1, row);
        if (a == first && b == second)
            return row;
        if (a < first || (a == first && b < second))
            low = middle + 1;
        else
            high = middle;
    }
    return COBRE_NONE;
}
