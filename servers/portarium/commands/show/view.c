/*
 * view.c - from JSON to columns and lines.
 */
#include "commands/show/view.h"

#include <string.h>

#include "cli/table.h"
#include "commands/show/text.h"

enum { JSON_MAX = 256 << 20, WORDS_MAX = 60, INDENT = 2, COLUMNS_MAX = 12 };

/* ---- one value ------------------------------------------------------------------------------- */

static const char *json_text(portarium_link *self, const mcp_json *value)
{
    mcp_buf text, out;
    mcp_json_writer json;
    mcp_buf_init(&text, JSON_MAX);
    mcp_buf_init(&out, JSON_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, value);
    if (mcp_json_writer_status(&json) == MCP_OK)
        portarium_visible(&out, text.data, text.length);
    const char *copy = out.status == MCP_OK && out.length > 0
                           ? mcp_arena_strndup(self->arena, out.data, out.length)
                           : NULL;
    mcp_buf_clear(&text);
    mcp_buf_clear(&out);
    return copy;
}

const char *portarium_view_text(portarium_link *self, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    if (!value || mcp_json_is_null(value))
        return NULL;
    if (!text)
        return json_text(self, value);
    if (strlen(text) != length) /* a NUL within */
        return json_text(self, value);
    return portarium_visible_text(self->arena, text);
}

static const char *time_text(portarium_link *self, const mcp_json *value)
{
    const char *text = portarium_view_text(self, value);
    return self->is_terminal ? portarium_local_time(self->arena, text) : text;
}

static const char *cell_text(portarium_link *self, const portarium_shown *column,
                             const mcp_json *item)
{
    const mcp_json *value = mcp_json_pointer(item, column->pointer);
    switch (column->cell) {
    case PORTARIUM_CELL_TIME:
        return time_text(self, value);
    case PORTARIUM_CELL_COUNT:
        return mcp_arena_printf(self->arena, "%zu", mcp_json_count(value));
    case PORTARIUM_CELL_WORDS:
        return self->is_terminal
                   ? portarium_cut(self->arena, portarium_view_text(self, value), WORDS_MAX)
                   : portarium_view_text(self, value);
    default:
        return portarium_view_text(self, value);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

mcp_status portarium_view_table(portarium_link *self, const portarium_shown *columns,
                                const mcp_json *const *items, size_t count, mcp_error *err)
{
    cli_table_column heads[COLUMNS_MAX];
    size_t width = 0;
    FILE *out = cli_out(self->line);
    for (; columns[width].pointer && width < COLUMNS_MAX; width++)
        heads[width] = (cli_table_column){ columns[width].title,
                                           columns[width].cell == PORTARIUM_CELL_COUNT };
    const char **cells = mcp_arena_array(self->arena, count * width + 1, sizeof *cells);
    if (!cells)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a table");
    for (size_t i = 0; i < count * width; i++)
        cells[i] = cell_text(self, &columns[i % width], items[i / width]);
    cli_table_print(out, heads, width, cells, count, cli_use_color(NULL, out));
    return MCP_OK;
}

/* ---- one document ---------------------------------------------------------------------------- */

typedef struct printing {
    portarium_link *link;
    FILE *stream;
    bool has_color;
} printing;

static void print_value(const printing *self, const char *name, const mcp_json *value, int depth);

static bool is_time(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, "Iso") == 0;
}

/* Whether a value stands on its name's line: no member of it is an object or a list. */
static bool is_flat(const mcp_json *value)
{
    return !(mcp_json_is_object(value) || mcp_json_is_array(value)) || mcp_json_count(value) == 0;
}

static void print_members(const printing *self, const mcp_json *value, int depth)
{
    bool is_object = mcp_json_is_object(value);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = is_object ? mcp_json_name(value, i, NULL) : "-";
        print_value(self, portarium_visible_text(self->link->arena, name), mcp_json_item(value, i),
                    depth);
    }
}

static void print_value(const printing *self, const char *name, const mcp_json *value, int depth)
{
    const char *mark = name && strcmp(name, "-") == 0 ? "" : ":";
    fprintf(self->stream, "%*s%s%s%s%s", depth * INDENT, "", cli_paint(self->has_color, CLI_BOLD),
            name ? name : "?", mark, cli_paint(self->has_color, CLI_PLAIN));
    if (!is_flat(value)) {
        fputc('\n', self->stream);
        print_members(self, value, depth + 1);
        return;
    }
    const char *text = name && is_time(name) ? time_text(self->link, value)
                                             : portarium_view_text(self->link, value);
    fprintf(self->stream, " %s\n", text ? text : "-");
}

mcp_status portarium_view_document(portarium_link *self, FILE *stream, const mcp_json *document,
                                   mcp_error *err)
{
    const printing how = { self, stream, cli_use_color(NULL, stream) };
    if (!mcp_json_is_object(document))
        return mcp_error_set(err, MCP_E_IO, "%s answers with no object", self->place);
    print_members(&how, document, 0);
    return MCP_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

mcp_status portarium_view_json(portarium_link *self, const mcp_json *value, mcp_error *err)
{
    const char *text = json_text(self, value);
    if (!text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the answer");
    fprintf(cli_out(self->line), "%s\n", text);
    return MCP_OK;
}

mcp_status portarium_view_answer(portarium_link *self, const mcp_json *answer, mcp_error *err)
{
    return cli_flag(self->line, "json")
               ? portarium_view_json(self, answer, err)
               : portarium_view_document(self, cli_out(self->line), answer, err);
}
