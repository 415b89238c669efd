/*
 * result.c - a page of rows: its memory, and its JSON.
 */
#include "query/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "columns/sealed/cell.h"
#include "keys/base64.h"
#include "mcp/alloc.h"
#include "query/nested.h"

/* Of a row that is being written. */
#define ROW_MAX ((size_t)64 << 20)

/* Doubles are integers without gaps up to here, so every reader of JSON gets the same number. */
#define EXACT_MAX (INT64_C(1) << 53)

mcp_status casparian_query_result_new(casparian_query_result **out, mcp_error *err)
{
    casparian_query_result *self = mcp_alloc_zeroed(1, sizeof *self);

    if (self)
        self->arena = mcp_arena_new(0);
    if (!self || !self->arena) {
        free(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the result of a query");
    }
    mcp_buf_init(&self->cells, CASPARIAN_QUERY_SPOOL_MAX);
    *out = self;
    return MCP_OK;
}

void casparian_query_result_free(casparian_query_result *self)
{
    if (!self)
        return;
    mcp_buf_clear(&self->cells);
    mcp_arena_free(self->arena);
    free(self);
}

const casparian_query_facts *casparian_query_result_facts(const casparian_query_result *result)
{
    return &result->facts;
}

mcp_status casparian_query_result_columns(casparian_query_result *self, size_t count,
                                          const char *const *names, const char *const *types,
                                          mcp_error *err)
{
    casparian_query_column *columns = mcp_arena_array(self->arena, count + 1, sizeof *columns);
    bool is_whole = columns != NULL;

    for (size_t i = 0; columns && i < count; i++) {
        columns[i].name = mcp_arena_strdup(self->arena, names[i]);
        columns[i].type = mcp_arena_strdup(self->arena, types[i]);
        is_whole = is_whole && columns[i].name && columns[i].type;
    }
    if (!is_whole)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the columns of a result");
    self->facts.columns = columns;
    self->facts.column_count = count;
    return MCP_OK;
}

mcp_status casparian_query_result_warnings(casparian_query_result *self, size_t count,
                                           const char *const *warnings, mcp_error *err)
{
    const char **copies = mcp_arena_array(self->arena, count + 1, sizeof *copies);
    bool is_whole = copies != NULL;

    for (size_t i = 0; copies && i < count; i++) {
        copies[i] = mcp_arena_strdup(self->arena, warnings[i]);
        is_whole = is_whole && copies[i];
    }
    if (!is_whole)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the warnings of a result");
    self->facts.warnings = copies;
    self->facts.warning_count = count;
    return MCP_OK;
}

size_t casparian_query_rows_length(const mcp_buf *cells, size_t at, size_t columns, uint64_t rows)
{
    columns_cell_reader reader = { cells->data, cells->length, at };
    columns_cell cell;

    for (uint64_t i = 0; i < rows * columns; i++)
        if (!columns_cell_next(&reader, &cell))
            break;
    return reader.at - at;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* What a row is written with. */
typedef struct writing {
    const casparian_redaction *redaction;
    const casparian_query_column *columns;
    const bool *is_sensitive; /* by column */
    mcp_buf text;             /* room for a value */
    mcp_arena *arena;         /* for nested values */
    size_t cell_max, cut_cells;
} writing;

/* A value that is longer than it may be ends with "…", at the end of a character. */
static void write_text(mcp_json_writer *out, writing *self, const char *text, size_t length)
{
    size_t kept = length;

    if (length <= self->cell_max) {
        mcp_write_string_n(out, text, length);
        return;
    }
    kept = self->cell_max;
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--;
    mcp_buf cut;
    mcp_buf_init(&cut, self->cell_max + 8);
    mcp_buf_append(&cut, text, kept);
    mcp_buf_puts(&cut, "\xE2\x80\xA6");
    mcp_write_string_n(out, cut.data ? cut.data : "", cut.length);
    mcp_buf_clear(&cut);
    self->cut_cells++;
}

static void write_redacted(mcp_json_writer *out, writing *self, bool is_sensitive, const char *text,
                           size_t length)
{
    mcp_buf_reset(&self->text);
    casparian_redact_text(&self->text, self->redaction, is_sensitive, text, length);
    write_text(out, self, self->text.data ? self->text.data : "", self->text.length);
}

static void write_number(mcp_json_writer *out, const columns_cell *cell)
{
    char text[32];

    if (cell->kind == COLUMNS_CELL_NUMBER && isfinite(cell->number)) {
        mcp_write_double(out, cell->number);
    } else if (cell->kind == COLUMNS_CELL_NUMBER) {
        mcp_write_string(out, isnan(cell->number) ? "nan" : cell->number < 0 ? "-inf" : "inf");
    } else if (cell->integer >= -EXACT_MAX && cell->integer <= EXACT_MAX) {
        mcp_write_int(out, cell->integer);
    } else {
        snprintf(text, sizeof text, "%lld", (long long)cell->integer);
        mcp_write_string(out, text);
    }
}

/* A number or a moment that must not be shown, as the text that would be. */
static void write_hidden(mcp_json_writer *out, writing *self, bool is_sensitive,
                         const columns_cell *cell)
{
    char text[48];

    if (cell->kind == COLUMNS_CELL_INTEGER)
        snprintf(text, sizeof text, "%lld", (long long)cell->integer);
    for (int digits = 15; cell->kind == COLUMNS_CELL_NUMBER && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, cell->number);
        if (strtod(text, NULL) == cell->number)
            break;
    }
    bool has_text = cell->kind >= COLUMNS_CELL_NUMERAL;
    write_redacted(out, self, is_sensitive, has_text ? cell->text : text,
                   has_text ? cell->length : strlen(text));
}

static void write_bytes(mcp_json_writer *out, writing *self, bool is_sensitive,
                        const columns_cell *cell)
{
    casparian_cell value = { .kind = CASPARIAN_KIND_BINARY, .text = { cell->text, cell->length } };

    if (self->redaction && self->redaction->mode == CASPARIAN_REDACTION_HASH) {
        casparian_redact_cell(out, self->redaction, is_sensitive, &value, NULL);
        return;
    }
    mcp_buf text;
    mcp_buf_init(&text, KEYS_BASE64_LENGTH(cell->length) + 1);
    keys_base64(&text, cell->text, cell->length);
    if (self->redaction)
        write_redacted(out, self, is_sensitive, text.data ? text.data : "", text.length);
    else
        write_text(out, self, text.data ? text.data : "", text.length);
    mcp_buf_clear(&text);
}

/* A nested value that is too long is cut as the text of its JSON. */
static void write_nested(mcp_json_writer *out, writing *self, bool is_sensitive, const char *type,
                         const columns_cell *cell)
{
    const mcp_json *value = NULL;

    if (!self->redaction && cell->length <= self->cell_max) {
        mcp_write_raw(out, cell->text, cell->length);
        return;
    }
    if (!self->redaction) {
        write_text(out, self, cell->text, cell->length);
        return;
    }
    mcp_arena *arena = mcp_arena_new(ROW_MAX);
    mcp_buf json;
    mcp_json_writer nested;
    mcp_buf_init(&json, ROW_MAX);
    mcp_json_writer_init(&nested, &json);
    if (arena && mcp_json_read(&value, arena, cell->text, cell->length, NULL) == MCP_OK)
        casparian_nested_redact(&nested, self->redaction, is_sensitive, type, value, arena);
    if (!value || mcp_json_writer_status(&nested) != MCP_OK)
        write_redacted(out, self, true, cell->text, cell->length);
    else if (json.length > self->cell_max)
        write_text(out, self, json.data, json.length);
    else
        mcp_write_raw(out, json.data, json.length);
    mcp_buf_clear(&json);
    mcp_arena_free(arena);
}

static bool is_hidden(const writing *self, bool is_sensitive)
{
    return self->redaction && (is_sensitive || self->redaction->settings->numbers);
}

static void write_cell(mcp_json_writer *out, writing *self, size_t column, const columns_cell *cell)
{
    bool is_sensitive = self->is_sensitive[column];

    switch (cell->kind) {
    case COLUMNS_CELL_FALSE:
    case COLUMNS_CELL_TRUE:
        mcp_write_bool(out, cell->kind == COLUMNS_CELL_TRUE);
        break;
    case COLUMNS_CELL_INTEGER:
    case COLUMNS_CELL_NUMBER:
        if (is_hidden(self, is_sensitive))
            write_hidden(out, self, is_sensitive, cell);
        else
            write_number(out, cell);
        break;
    case COLUMNS_CELL_NUMERAL:
    case COLUMNS_CELL_MOMENT:
        if (is_hidden(self, is_sensitive))
            write_hidden(out, self, is_sensitive, cell);
        else
            mcp_write_string_n(out, cell->text, cell->length);
        break;
    case COLUMNS_CELL_TEXT:
        if (self->redaction)
            write_redacted(out, self, is_sensitive, cell->text, cell->length);
        else
            write_text(out, self, cell->text, cell->length);
        break;
    case COLUMNS_CELL_BYTES:
        write_bytes(out, self, is_sensitive, cell);
        break;
    case COLUMNS_CELL_JSON:
        write_nested(out, self, is_sensitive, self->columns[column].type, cell);
        break;
    default:
        mcp_write_null(out);
    }
}

/* One row as the text of an array. */
static mcp_status make_row(mcp_buf *out, writing *self, columns_cell_reader *reader, size_t columns)
{
    mcp_json_writer row;
    columns_cell cell;

    mcp_buf_reset(out);
    mcp_json_writer_init(&row, out);
    mcp_write_array(&row);
    for (size_t i = 0; i < columns && columns_cell_next(reader, &cell); i++)
        write_cell(&row, self, i, &cell);
    mcp_write_end(&row);
    return mcp_json_writer_status(&row);
}

/* Whether the engine has named a column after an expression that counts values and has none. */
static bool is_count(const char *name)
{
    static const char *const counts[] = { "count(", "count_if(", "countif(",
                                          "approx_count_distinct(" };
    bool is_known = false;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && !is_known; i++)
        is_known = strncasecmp(name, counts[i], strlen(counts[i])) == 0;
    return is_known;
}

static const bool *sensitive_columns(const casparian_query_result *result,
                                     const casparian_redaction *redaction, mcp_arena *arena)
{
    bool *list = mcp_arena_array(arena, result->facts.column_count + 1, sizeof *list);

    for (size_t i = 0; list && redaction && i < result->facts.column_count; i++)
        list[i] = !is_count(result->facts.columns[i].name) &&
                  casparian_redaction_is_sensitive(redaction, result->facts.columns[i].name);
    return list;
}

static mcp_status write_rows(casparian_query_written *out, mcp_json_writer *writer,
                             const casparian_query_result *result, writing *self, size_t bytes_max)
{
    columns_cell_reader reader = { result->cells.data, result->cells.length, 0 };
    size_t bytes = 2;
    mcp_buf row;
    mcp_status st = MCP_OK;

    mcp_buf_init(&row, ROW_MAX);
    while (st == MCP_OK && out->rows < result->facts.row_count && !out->is_out_of_room) {
        size_t cut = self->cut_cells;
        st = make_row(&row, self, &reader, result->facts.column_count);
        if (st != MCP_OK)
            break;
        bytes += row.length + (out->rows > 0);
        out->is_out_of_room = bytes > bytes_max;
        if (out->is_out_of_room) {
            self->cut_cells = cut;
            break;
        }
        mcp_write_raw(writer, row.data, row.length);
        out->rows++;
    }
    mcp_buf_clear(&row);
    return st;
}

mcp_status casparian_query_write_rows(casparian_query_written *out, mcp_json_writer *writer,
                                      const casparian_query_result *result,
                                      const casparian_redaction *redaction,
                                      const casparian_query_room *room)
{
    const casparian_redaction *used = result->is_plain ? NULL : redaction;
    writing self = { .redaction = used,
                     .columns = result->facts.columns,
                     .arena = mcp_arena_new(0),
                     .cell_max = room->cell_max ? room->cell_max : CASPARIAN_QUERY_CELL_MAX };
    mcp_status st;

    memset(out, 0, sizeof *out);
    if (!self.arena)
        return MCP_E_NOMEM;
    self.is_sensitive = sensitive_columns(result, used, self.arena);
    mcp_buf_init(&self.text, ROW_MAX);
    mcp_write_array(writer);
    st = self.is_sensitive ? write_rows(out, writer, result, &self, room->bytes_max) : MCP_E_NOMEM;
    mcp_write_end(writer);
    out->cut_cells = self.cut_cells;
    mcp_buf_clear(&self.text);
    mcp_arena_free(self.arena);
    return st == MCP_OK ? mcp_json_writer_status(writer) : st;
}

bool casparian_query_result_cursor(char out[CASPARIAN_QUERY_CURSOR_SIZE],
                                   const casparian_query_result *result, size_t rows)
{
    uint64_t next = result->first_row + rows;

    out[0] = '\0';
    if (!result->token[0] || next >= result->all_rows)
        return false;
    snprintf(out, CASPARIAN_QUERY_CURSOR_SIZE, "%s-%llu", result->token, (unsigned long long)next);
    return true;
}
