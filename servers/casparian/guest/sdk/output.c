/*
 * output.c - rows: their cells go straight into the columns of the batch.
 *
 * A batch is sent when it is full, and in an open schema before a row that has other columns than
 * the rows of the batch, or a cell of another type. Then the cells that the unfinished row has set
 * move to the front of their columns, which are empty otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/sdk/output.h"
#include "guest/sdk/sink.h"

enum { NAME_MAX_BYTES = 128, ZONE_MAX_BYTES = 64, DECIMAL_DIGITS_MAX = 38 };

/* Bytes of a column before its rows: the descriptor, three ends of sections. */
enum { BASE_OF_COLUMN = 12 + 3 * 8 };

static const cf_column any_column = { NULL, CF_NULL, 0, 0, NULL };

const char *cf__output_name(const cf_output *output)
{
    return output->name;
}

static bool is_usable(const cf_column *column, size_t length)
{
    bool is_decimal_right = column->precision >= 1 && column->precision <= DECIMAL_DIGITS_MAX &&
                            column->scale <= column->precision;

    return length > 0 && length <= NAME_MAX_BYTES && column->type >= CF_NULL &&
           column->type <= CF_DURATION && (column->type != CF_DECIMAL || is_decimal_right) &&
           (!column->zone || strlen(column->zone) <= ZONE_MAX_BYTES);
}

static bool room_for_column(cf_output *output)
{
    if (output->count < output->room)
        return true;
    size_t room = output->room ? output->room * 2 : 16;
    struct column *columns = realloc(output->columns, room * sizeof *columns);
    if (!columns)
        return false;
    output->columns = columns;
    uint32_t *set = realloc(output->set, room * sizeof *set);
    if (!set)
        return false;
    output->set = set;
    output->room = room;
    return true;
}

/* The column counts in the size of the batch. A bit of a bitmap is counted as a byte, and the type
 * null as one of eight bytes, which it may become. */
static void count_bytes(cf_output *output, const struct column *column)
{
    size_t width = column->type == CF_NULL ? 8 : column->width;

    output->base += BASE_OF_COLUMN + column->name_length + column->zone_length;
    output->fixed += 1 + (cf__is_text(column->type) ? sizeof(uint32_t) : width);
}

/* Add a column; CF_NO_COLUMN: no memory, the sink has failed. */
static size_t append(cf_output *output, const char *name, size_t length, const cf_column *like)
{
    struct column column;

    if (!room_for_column(output) || !cf__column_init(&column, name, length, like)) {
        cf__sink_fail(output->sink, CF_E_NOMEM);
        return CF_NO_COLUMN;
    }
    if (!output->is_open) {
        /* Rows before it are null in it. */
        if (!cf__column_retype(&column, like->type, output->rows))
            cf__sink_fail(output->sink, CF_E_NOMEM);
        count_bytes(output, &column);
    }
    output->columns[output->count] = column;
    return output->count++;
}

static uint32_t hash_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619U;
    return hash ^ hash >> 15;
}

/* The place of the name in `names`, or the free place where it belongs. */
static uint32_t *place_of(cf_output *output, const char *name, size_t length)
{
    size_t at = hash_of(name, length);

    for (;; at++) {
        uint32_t *place = &output->names[at & (output->names_room - 1)];
        const struct column *column = *place ? &output->columns[*place - 1] : NULL;
        if (!column || (column->name_length == length && memcmp(column->name, name, length) == 0))
            return place;
    }
}

/* `names` is at most half full: it has 4096 places, and there are at most 2002 columns. */
static bool has_names(cf_output *output)
{
    enum { NAMES = 4096 };

    if (output->names_room > 0)
        return true;
    output->names = calloc(NAMES, sizeof *output->names);
    output->names_room = output->names ? NAMES : 0;
    for (size_t i = 0; output->names && i < output->count; i++) {
        const struct column *column = &output->columns[i];
        *place_of(output, column->name, column->name_length) = (uint32_t)i + 1;
    }
    return output->names != NULL;
}

static size_t find_or_append(cf_output *output, const char *name, size_t length, size_t most)
{
    if (!has_names(output)) {
        cf__sink_fail(output->sink, CF_E_NOMEM);
        return CF_NO_COLUMN;
    }
    uint32_t *place = place_of(output, name, length);
    if (*place)
        return *place - 1;
    size_t index = output->count < most ? append(output, name, length, &any_column) : CF_NO_COLUMN;
    if (index != CF_NO_COLUMN)
        *place = (uint32_t)index + 1;
    return index;
}

size_t cf_column_add(cf_output *output, const char *name, size_t length)
{
    if (!output || !output->is_open || !is_usable(&any_column, length))
        return CF_NO_COLUMN;
    size_t own = (output->id_column != CF_NO_COLUMN) + (output->error_column != CF_NO_COLUMN);
    return find_or_append(output, name, length, CF_COLUMNS_MAX + own);
}

static void output_free(cf_output *output)
{
    for (size_t i = 0; i < output->count; i++)
        cf__column_clear(&output->columns[i]);
    free(output->columns);
    free(output->set);
    free(output->names);
    free(output->name);
    free(output->hash);
    free(output);
}

static char *duplicate(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* Say what is wrong with a schema. */
static cf_status wrong(const cf_output *output, const char *column, const char *what)
{
    char message[512];

    snprintf(message, sizeof message, "output %.64s: %s%.128s%s", output->name,
             column ? "the column '" : "", column ? column : "", what);
    cf_error(output->sink, message);
    return CF_E_USE;
}

static cf_status add_columns(cf_output *output, const cf_schema *schema)
{
    size_t count = schema ? schema->count : 0;

    if (count > CF_COLUMNS_MAX)
        return wrong(output, NULL, "a schema has at most 2000 columns");
    for (size_t i = 0; i < count; i++) {
        const cf_column *column = &schema->columns[i];
        size_t length = column->name ? strlen(column->name) : 0;
        if (!is_usable(column, length))
            return wrong(output, column->name ? column->name : "",
                         "' wants a name of 1 to 128 bytes, a known type, as a decimal a precision "
                         "of 1 to 38 and a scale up to it, and a zone of at most 64 bytes");
        if (append(output, column->name, length, column) == CF_NO_COLUMN)
            return CF_E_NOMEM;
        if (strcmp(column->name, "__cf_row_id") == 0)
            output->id_column = i;
    }
    return CF_OK;
}

cf_output *cf_output_open(cf_sink *sink, const char *name, const cf_schema *schema)
{
    if (!sink || sink->status != CF_OK)
        return NULL;
    cf_output *output = calloc(1, sizeof *output);
    cf_status status = output ? CF_OK : CF_E_NOMEM;
    if (output) {
        output->sink = sink;
        output->is_open = !schema || schema->is_open;
        output->id_column = output->error_column = CF_NO_COLUMN;
        output->name = duplicate(name);
        output->hash = duplicate(schema && schema->hash ? schema->hash : "*");
        status = output->name && output->hash ? add_columns(output, schema) : CF_E_NOMEM;
    }
    if (status != CF_OK) {
        cf__sink_fail(sink, status);
        if (output)
            output_free(output);
        return NULL;
    }
    /* Last in the list, so that cf_finish ends the outputs in the order of their opening. */
    cf_output **place = &sink->outputs;
    while (*place)
        place = &(*place)->next;
    *place = output;
    return output;
}

/* The batch was sent: the column is empty, but for a cell that the unfinished row has set. */
static void restart_column(cf_output *output, struct column *column)
{
    bool is_set = output->is_in_row && column->mark == output->mark;
    bool has_cell = is_set && !column->is_null;

    if (output->is_open && !column->is_used && !is_set)
        return;
    cf__column_restart(column, output->rows, has_cell);
    if (output->is_open && !has_cell && !cf__column_retype(column, (cf_type)column->declared, 0))
        cf__sink_fail(output->sink, CF_E_NOMEM);
    column->is_used = false;
}

/* Send the rows of the batch; the unfinished row becomes row 0 of the next one. */
static void send_batch(cf_output *output)
{
    if (output->rows == 0)
        return;
    cf__sink_turn_to(output->sink, output, output->name, output->hash);
    output->was_begun = true;
    cf__frame_send(output);
    for (size_t i = 0; i < output->count; i++)
        restart_column(output, &output->columns[i]);
    output->rows = output->bytes = output->used = 0;
    if (output->is_open)
        output->base = output->fixed = 0;
}

cf_status cf_output_close(cf_output *output)
{
    if (!output)
        return CF_E_USE;
    cf_sink *sink = output->sink;
    output->is_in_row = false;
    send_batch(output);
    if (!output->was_begun)
        cf__sink_turn_to(sink, output, output->name, output->hash);
    cf__sink_end_stream(sink, output, output->name);
    cf_output **place = &sink->outputs;
    while (*place != output)
        place = &(*place)->next;
    *place = output->next;
    output_free(output);
    return sink->status;
}

void cf_row_new(cf_output *output)
{
    if (!output)
        return;
    output->is_in_row = true;
    output->row_status = CF_OK;
    output->mark++;
    output->row_bytes = 0;
    output->row_set = 0;
}

static void fail_row(cf_output *output, cf_status status)
{
    if (status == CF_E_NOMEM)
        cf__sink_fail(output->sink, status);
    if (output->row_status == CF_OK)
        output->row_status = status;
}

/* Make the column ready for a cell of the type; false: it cannot be. */
static bool take_type(cf_output *output, struct column *column, cf_type type)
{
    if (!output->is_open || (type == CF_DECIMAL && column->declared != CF_DECIMAL)) {
        fail_row(output, CF_E_USE);
        return false;
    }
    if (column->is_used && column->nulls < output->rows)
        send_batch(output);
    if (!cf__column_retype(column, type, column->is_used ? output->rows : 0)) {
        fail_row(output, CF_E_NOMEM);
        return false;
    }
    return true;
}

/* The column with room for the cell of the row; NULL: it cannot be set. */
static struct column *cell(cf_output *output, size_t index, cf_type type)
{
    if (!output || !output->is_in_row)
        return NULL;
    if (index >= output->count) {
        fail_row(output, CF_E_USE);
        return NULL;
    }
    struct column *column = &output->columns[index];
    if (column->type != type && type != CF_NULL && !take_type(output, column, type))
        return NULL;
    if (output->rows >= column->rows_room && !cf__column_reserve(column, output->rows)) {
        fail_row(output, CF_E_NOMEM);
        return NULL;
    }
    if (column->mark != output->mark) {
        column->mark = output->mark;
        output->set[output->row_set++] = (uint32_t)index;
    }
    column->is_null = false;
    /* Its texts begin here, as no row of the batch has the column. */
    if (output->is_open && !column->is_used && cf__is_text(column->type))
        column->offsets[output->rows] = 0;
    return column;
}

void cf_set_null(cf_output *output, size_t column)
{
    struct column *place = cell(output, column, CF_NULL);

    if (place)
        place->is_null = true;
}

void cf_set_bool(cf_output *output, size_t column, bool value)
{
    struct column *place = cell(output, column, CF_BOOLEAN);

    if (place)
        place->values[output->rows] = value;
}

static void set_8(cf_output *output, size_t column, cf_type type, const void *value)
{
    struct column *place = cell(output, column, type);

    if (place)
        memcpy(place->values + output->rows * 8, value, 8);
}

void cf_set_i64(cf_output *output, size_t column, int64_t value)
{
    set_8(output, column, CF_INT64, &value);
}

void cf_set_f64(cf_output *output, size_t column, double value)
{
    set_8(output, column, CF_FLOAT64, &value);
}

void cf_set_ts(cf_output *output, size_t column, int64_t micros)
{
    uint8_t type = output && column < output->count ? output->columns[column].type : CF_NULL;
    bool is_temporal = type >= CF_TIMESTAMP && type <= CF_DURATION;

    set_8(output, column, is_temporal ? (cf_type)type : CF_TIMESTAMP_TZ, &micros);
}

void cf_set_date(cf_output *output, size_t column, int32_t days)
{
    struct column *place = cell(output, column, CF_DATE);

    if (place)
        memcpy(place->values + output->rows * 4, &days, 4);
}

void cf_set_dec(cf_output *output, size_t column, int64_t high, uint64_t low)
{
    struct column *place = cell(output, column, CF_DECIMAL);

    if (!place)
        return;
    memcpy(place->values + output->rows * 16, &low, 8);
    memcpy(place->values + output->rows * 16 + 8, &high, 8);
}

static void set_text(cf_output *output, size_t column, cf_type type, const void *bytes,
                     size_t length)
{
    if (output && length > CF_ROW_BYTES_MAX) {
        fail_row(output, CF_E_LIMIT);
        return;
    }
    struct column *place = cell(output, column, type);
    if (!place)
        return;
    output->row_bytes += length;
    if (output->row_bytes > CF_ROW_BYTES_MAX)
        fail_row(output, CF_E_LIMIT);
    else if (!cf__column_text(place, output->rows, bytes, length))
        fail_row(output, CF_E_NOMEM);
}

void cf_set_str(cf_output *output, size_t column, const char *bytes, size_t length)
{
    set_text(output, column, CF_STRING, bytes, length);
}

void cf_set_bin(cf_output *output, size_t column, const void *bytes, size_t length)
{
    set_text(output, column, CF_BINARY, bytes, length);
}

/* The reserved column of that name, which comes into being when it is used first. */
static size_t own_column(cf_output *output, size_t *known, const char *name, cf_type type)
{
    cf_column like = { name, type, 0, 0, NULL };

    if (*known == CF_NO_COLUMN && output->is_open)
        *known = find_or_append(output, name, strlen(name), CF_COLUMNS_MAX + 2);
    else if (*known == CF_NO_COLUMN)
        *known = append(output, name, strlen(name), &like);
    return *known;
}

void cf_row_id(cf_output *output, int64_t id)
{
    if (output)
        cf_set_i64(output, own_column(output, &output->id_column, "__cf_row_id", CF_INT64), id);
}

void cf_row_error(cf_output *output, const char *reason)
{
    if (!output)
        return;
    size_t column = own_column(output, &output->error_column, "_cf_row_error", CF_STRING);
    cf_set_str(output, column, reason, strlen(reason));
}

/* Whether the row has the columns of the batch, no more and no fewer. */
static bool has_columns_of_batch(const cf_output *output)
{
    if (output->row_set != output->used)
        return false;
    for (size_t i = 0; i < output->row_set; i++)
        if (!output->columns[output->set[i]].is_used)
            return false;
    return true;
}

static void commit_open(cf_output *output)
{
    if (output->rows > 0 && !has_columns_of_batch(output))
        send_batch(output);
    for (size_t i = 0; i < output->row_set; i++) {
        struct column *column = &output->columns[output->set[i]];
        if (output->rows == 0) {
            column->is_used = true;
            output->used++;
            count_bytes(output, column);
        }
        cf__column_commit(column, output->rows, column->is_null);
    }
}

static void commit_closed(cf_output *output)
{
    for (size_t i = 0; i < output->count; i++) {
        struct column *column = &output->columns[i];
        bool is_null = column->mark != output->mark || column->is_null;
        if (output->rows >= column->rows_room && !cf__column_reserve(column, output->rows)) {
            fail_row(output, CF_E_NOMEM);
            return;
        }
        cf__column_commit(column, output->rows, is_null);
    }
}

cf_status cf_row_commit(cf_output *output)
{
    if (!output)
        return CF_E_USE;
    cf_sink *sink = output->sink;
    if (sink->status != CF_OK)
        return sink->status;
    if (!output->is_in_row)
        return CF_E_USE;
    if (output->row_status != CF_OK) {
        output->is_in_row = false;
        cf__sink_drop(sink, output->name, output->row_status);
        return output->row_status;
    }
    size_t after = output->base + output->bytes + output->row_bytes +
                   output->fixed * (output->rows + 1);
    if (output->rows == CF_BATCH_ROWS_MAX || after > CF_BATCH_BYTES_MAX)
        send_batch(output);
    if (output->is_open)
        commit_open(output);
    else
        commit_closed(output);
    output->is_in_row = false;
    output->rows++;
    output->bytes += output->row_bytes;
    return sink->status;
}
