/*
 * table.c - measuring cells and padding them.
 */
#include "cli/table.h"

#include <assert.h>

#include "cli/cli.h"

/* Characters; in these texts each takes one column. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static const char *cell_text(const char *cell)
{
    return cell ? cell : "-";
}

static void measure(int *widths, const cli_table_column *columns, size_t column_count,
                    const char *const *cells, size_t rows)
{
    for (size_t i = 0; i < column_count; i++)
        widths[i] = width_of(columns[i].title);
    for (size_t i = 0; i < rows * column_count; i++) {
        int width = width_of(cell_text(cells[i]));
        int *widest = &widths[i % column_count];
        *widest = width > *widest ? width : *widest;
    }
}

/* Print a cell; `pending` are the spaces due before the next text, so that none ends a line. */
static void print_cell(FILE *stream, const char *text, int width, bool is_right, int *pending)
{
    int room = width - width_of(text);

    if (is_right)
        *pending += room;
    if (text[0]) {
        fprintf(stream, "%*s%s", *pending, "", text);
        *pending = 0;
    }
    if (!is_right)
        *pending += room;
    *pending += 2;
}

void cli_table_print(FILE *stream, const cli_table_column *columns, size_t column_count,
                     const char *const *cells, size_t rows, bool color)
{
    int widths[CLI_TABLE_COLUMNS_MAX];
    int pending = 0;

    assert(column_count <= CLI_TABLE_COLUMNS_MAX);
    measure(widths, columns, column_count, cells, rows);
    fputs(cli_paint(color, CLI_BOLD), stream);
    for (size_t i = 0; i < column_count; i++)
        print_cell(stream, columns[i].title, widths[i], columns[i].is_right, &pending);
    fprintf(stream, "%s\n", cli_paint(color, CLI_PLAIN));
    for (size_t row = 0; row < rows; row++) {
        pending = 0;
        for (size_t i = 0; i < column_count; i++)
            print_cell(stream, cell_text(cells[row * column_count + i]), widths[i],
                       columns[i].is_right, &pending);
        fputc('\n', stream);
    }
}
