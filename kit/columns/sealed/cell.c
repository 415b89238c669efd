/*
 * cell.c - cells as bytes.
 */
#include "columns/sealed/cell.h"

#include <string.h>

#include "columns/sealed/wire.h"

static bool has_text(columns_cell_kind kind)
{
    return kind >= COLUMNS_CELL_NUMERAL;
}

mcp_status columns_cell_put(mcp_buf *out, const columns_cell *cell)
{
    mcp_buf_putc(out, (char)cell->kind);
    if (cell->kind == COLUMNS_CELL_INTEGER)
        wire_put_int(out, cell->integer);
    else if (cell->kind == COLUMNS_CELL_NUMBER)
        mcp_buf_append(out, &cell->number, sizeof cell->number);
    else if (has_text(cell->kind))
        wire_put_text(out, cell->text, cell->length);
    return out->status;
}

bool columns_cell_next(columns_cell_reader *reader, columns_cell *out)
{
    struct wire_reader in = { reader->bytes, reader->length, reader->at, false };
    columns_cell cell = { .kind = COLUMNS_CELL_NULL };
    unsigned kind = wire_byte(&in);

    if (in.is_bad || kind >= COLUMNS_CELL_KINDS)
        return false;
    cell.kind = (columns_cell_kind)kind;
    if (cell.kind == COLUMNS_CELL_INTEGER)
        cell.integer = wire_int(&in);
    else if (cell.kind == COLUMNS_CELL_NUMBER)
        wire_bytes(&in, &cell.number, sizeof cell.number);
    else if (has_text(cell.kind))
        cell.text = wire_text(&in, &cell.length);
    if (in.is_bad)
        return false;
    reader->at = in.at;
    *out = cell;
    return true;
}
