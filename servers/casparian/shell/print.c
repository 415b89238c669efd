/*
 * print.c - answers for people.
 */
#include "shell/print.h"

#include <stdlib.h>
#include <string.h>

#include "cli/table.h"

enum { INDENT = 2, DEPTH_MAX = 8, CELL_MAX = 60, COLUMNS_MAX = 16 };

#define ANSWER_MAX ((size_t)64 << 20)

/* ---- answers --------------------------------------------------------------------------------- */

void casparian_shell_answer_begin(casparian_shell_answer *self)
{
    mcp_buf_init(&self->text, ANSWER_MAX);
    mcp_json_writer_init(&self->json, &self->text);
    mcp_write_object(&self->json);
}

mcp_status casparian_shell_answer_end(casparian_shell_answer *self, const mcp_json **out,
                                      const cli_line *line, mcp_arena *arena, mcp_error *err)
{
    mcp_write_end(&self->json);
    mcp_status st = mcp_json_writer_status(&self->json);
    *out = NULL;
    if (st != MCP_OK)
        mcp_error_set(err, st, "the answer: %s", mcp_status_words(st));
    else if (cli_flag(line, "json"))
        fprintf(cli_out(line), "%s\n", self->text.data);
    else
        st = mcp_json_read(out, arena, self->text.data, self->text.length, err);
    mcp_buf_clear(&self->text);
    return st;
}

mcp_status casparian_shell_answer_close(casparian_shell_answer *self, mcp_status st,
                                        const mcp_json **out, const cli_line *line,
                                        mcp_arena *arena, mcp_error *err)
{
    if (st == MCP_OK)
        return casparian_shell_answer_end(self, out, line, arena, err);
    mcp_buf_clear(&self->text);
    return st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The bytes of a code point that a terminal obeys: controls, and the marks of direction
 * U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. 0: it is harmless. */
static size_t is_obeyed(const unsigned char *at, size_t length, unsigned *code)
{
    if (at[0] < 0x20 || at[0] == 0x7F) {
        *code = at[0];
        return 1;
    }
    if (length >= 2 && at[0] == 0xC2 && at[1] < 0xA0) {
        *code = at[1];
        return 2;
    }
    if (length >= 2 && at[0] == 0xD8 && at[1] == 0x9C) {
        *code = 0x61C;
        return 2;
    }
    if (length < 3 || at[0] != 0xE2 || (at[1] != 0x80 && at[1] != 0x81))
        return 0;
    *code = 0x2000u + ((at[1] & 1u) << 6) + (at[2] & 0x3Fu);
    bool is_mark = *code == 0x200E || *code == 0x200F || (*code >= 0x2028 && *code <= 0x202E) ||
                   (*code >= 0x2066 && *code <= 0x2069);
    return is_mark ? 3 : 0;
}

static void append_shown(mcp_buf *out, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0; at < length;) {
        unsigned code = 0;
        size_t count = is_obeyed(bytes + at, length - at, &code);
        if (count == 0) {
            mcp_buf_putc(out, text[at++]);
            continue;
        }
        mcp_buf_printf(out, "\\u%04X", code);
        at += count;
    }
}

mcp_status casparian_shell_line(mcp_buf *out, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    mcp_json_writer json;
    mcp_buf whole;
    if (text) {
        append_shown(out, text, length);
        return out->status;
    }
    mcp_buf_init(&whole, ANSWER_MAX);
    mcp_json_writer_init(&json, &whole);
    mcp_write_value(&json, value);
    if (mcp_json_writer_status(&json) == MCP_OK)
        append_shown(out, whole.data, whole.length);
    mcp_buf_clear(&whole);
    return out->status;
}

static void print_line(FILE *stream, const mcp_json *value)
{
    mcp_buf text;
    mcp_buf_init(&text, ANSWER_MAX);
    casparian_shell_line(&text, value);
    fprintf(stream, "%s\n", text.data ? text.data : "");
    mcp_buf_clear(&text);
}

void casparian_shell_warnings(const cli_line *line, const mcp_json *warnings)
{
    for (size_t i = 0; i < mcp_json_count(warnings); i++) {
        fputs("warning: ", cli_err(line));
        print_line(cli_err(line), mcp_json_item(warnings, i));
    }
}

/* ---- documents ------------------------------------------------------------------------------- */

/* "name:", or the sign of an item. */
static void print_name(FILE *stream, const char *name)
{
    mcp_buf text;
    mcp_buf_init(&text, ANSWER_MAX);
    if (name)
        append_shown(&text, name, strlen(name));
    fprintf(stream, "%s%s", name && text.data ? text.data : name ? "" : "-", name ? ":" : "");
    mcp_buf_clear(&text);
}

static bool is_deep(const mcp_json *value)
{
    bool is_list = mcp_json_is_array(value) || mcp_json_is_object(value);
    return is_list && mcp_json_count(value) > 0;
}

/* Bounded by DEPTH_MAX: what is deeper is one line of JSON. */
static void print_members(FILE *stream, const mcp_json *value, int depth)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const mcp_json *item = mcp_json_item(value, i);
        const char *name = mcp_json_is_object(value) ? mcp_json_name(value, i, NULL) : NULL;
        fprintf(stream, "%*s", INDENT * depth, "");
        print_name(stream, name);
        if (!is_deep(item) || depth == DEPTH_MAX) {
            fprintf(stream, " ");
            print_line(stream, item);
            continue;
        }
        fprintf(stream, "\n");
        print_members(stream, item, depth + 1);
    }
}

void casparian_shell_document(FILE *stream, const mcp_json *value)
{
    if (is_deep(value))
        print_members(stream, value, 0);
    else
        print_line(stream, value);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* "a, b", and nothing for an empty array. */
static void append_items(mcp_buf *out, const mcp_json *array)
{
    for (size_t i = 0; i < mcp_json_count(array); i++) {
        if (i > 0)
            mcp_buf_puts(out, ", ");
        casparian_shell_line(out, mcp_json_item(array, i));
    }
}

/* Cells are texts one after the other in `room`, each with its NUL. */
static void append_cell(mcp_buf *room, const mcp_json *value)
{
    mcp_buf text;
    mcp_buf_init(&text, ANSWER_MAX);
    if (mcp_json_is_array(value))
        append_items(&text, value);
    else if (value && !mcp_json_is_null(value))
        casparian_shell_line(&text, value);
    size_t length = text.length;
    if (length > CELL_MAX) {
        length = CELL_MAX;
        while (length > 0 && ((unsigned char)text.data[length] & 0xC0) == 0x80)
            length--;
    }
    mcp_buf_append(room, text.data ? text.data : "-", text.data ? length : 1);
    if (length < text.length)
        mcp_buf_puts(room, "\xE2\x80\xA6");
    mcp_buf_putc(room, '\0');
    mcp_buf_clear(&text);
}

mcp_status casparian_shell_table(const cli_line *line, const mcp_json *rows,
                                 const casparian_shell_column *columns, size_t count,
                                 const char *empty, mcp_error *err)
{
    cli_table_column heads[COLUMNS_MAX] = { 0 };
    size_t row_count = mcp_json_count(rows), at = 0;
    const char **cells = calloc(row_count * count + 1, sizeof *cells);
    mcp_buf room;
    if (row_count == 0 && !cli_flag(line, "quiet"))
        fprintf(cli_err(line), "%s\n", empty);
    mcp_buf_init(&room, ANSWER_MAX);
    for (size_t i = 0; i < row_count * count; i++)
        append_cell(&room,
                    mcp_json_pointer(mcp_json_item(rows, i / count), columns[i % count].pointer));
    for (size_t i = 0; cells && room.status == MCP_OK && i < row_count * count; i++) {
        cells[i] = room.data + at;
        at += strlen(cells[i]) + 1;
    }
    for (size_t i = 0; i < count && i < COLUMNS_MAX; i++)
        heads[i] = (cli_table_column){ columns[i].title, columns[i].is_right };
    mcp_status st = cells && room.status == MCP_OK
                        ? MCP_OK
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory for a table");
    if (st == MCP_OK && row_count > 0)
        cli_table_print(cli_out(line), heads, count, cells, row_count,
                        cli_use_color(NULL, cli_out(line)));
    mcp_buf_clear(&room);
    free(cells);
    return st;
}
