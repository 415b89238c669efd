/*
 * builder.c - appends tables and vectors, and fills the references that lead to them.
 *
 * A position counts from the start of the FlatBuffer. Position 0 is the reference to the root, so
 * no table is there: after a failure tables stand at 0, and nothing is written to them.
 *
 * Fields of 8 bytes come first in a table, then those of 4, 2 and 1, so a table needs no padding
 * but before itself. It begins 4 bytes before a multiple of 8, because its first 4 bytes lead to
 * its vtable.
 */
#include "flat/builder.h"

#include <string.h>

#define END_MAX ((size_t)INT32_MAX)

static size_t position(const flat_builder *self)
{
    return self->to->length - self->start;
}

/* Append zeros. */
static void append_zeros(flat_builder *self, size_t length)
{
    char *room = NULL;

    if (self->to->status == MCP_OK && length > END_MAX - position(self))
        self->to->status = MCP_E_LIMIT;
    if (length > 0)
        room = mcp_buf_reserve(self->to, length);
    if (!room)
        return;
    memset(room, 0, length);
    mcp_buf_commit(self->to, length);
}

/* Pad until the position is `rest` less than a multiple of `alignment`. */
static void pad(flat_builder *self, size_t alignment, size_t rest)
{
    append_zeros(self, (alignment - (position(self) + rest) % alignment) % alignment);
}

static void put(flat_builder *self, size_t at, const void *bytes, size_t length)
{
    if (self->to->status == MCP_OK)
        memcpy(self->to->data + self->start + at, bytes, length);
}

void flat_builder_begin(flat_builder *self, mcp_buf *to)
{
    *self = (flat_builder){ .to = to, .start = to->length };
    append_zeros(self, sizeof(uint32_t));
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Where a field is in its table; with the number of fields: the table's size. */
static size_t offset_of(const flat_layout *layout, size_t field)
{
    size_t own = field < layout->count ? flat_size(layout->fields[field].type) : 0;
    size_t offset = sizeof(int32_t);

    for (size_t i = 0; i < layout->count; i++) {
        size_t size = flat_size(layout->fields[i].type);
        if (size > own || (size == own && i < field))
            offset += size;
    }
    return offset;
}

static uint32_t write_vtable(flat_builder *self, const flat_layout *layout)
{
    uint16_t entries[2 + FLAT_FIELDS_MAX];
    size_t count = 2 + layout->count;

    entries[0] = (uint16_t)(count * sizeof *entries);
    entries[1] = (uint16_t)offset_of(layout, layout->count);
    for (size_t i = 0; i < layout->count; i++)
        entries[2 + i] = layout->fields[i].type == FLAT_UNUSED ? 0 : (uint16_t)offset_of(layout, i);
    pad(self, sizeof *entries, 0);
    size_t at = position(self);
    append_zeros(self, count * sizeof *entries);
    put(self, at, entries, count * sizeof *entries);
    return (uint32_t)at;
}

static uint32_t vtable_of(flat_builder *self, const flat_layout *layout)
{
    for (size_t i = 0; i < self->vtable_count; i++)
        if (self->vtables[i].layout == layout)
            return self->vtables[i].at;
    uint32_t at = write_vtable(self, layout);
    if (self->vtable_count < FLAT_SHARED_VTABLES) {
        self->vtables[self->vtable_count].layout = layout;
        self->vtables[self->vtable_count++].at = at;
    }
    return at;
}

/* Let the reference at `place` lead to the object that comes next. */
static void refer(flat_builder *self, uint32_t place)
{
    uint32_t offset = (uint32_t)(position(self) - place);

    put(self, place, &offset, sizeof offset);
}

flat_table flat_add_table(flat_builder *self, uint32_t place, const flat_layout *layout)
{
    uint32_t vtable = vtable_of(self, layout);

    pad(self, 8, 4);
    refer(self, place);
    size_t at = position(self);
    int32_t back = (int32_t)(at - vtable);
    append_zeros(self, offset_of(layout, layout->count));
    put(self, at, &back, sizeof back);
    return (flat_table){ layout, self->to->status == MCP_OK ? (uint32_t)at : 0 };
}

uint32_t flat_at(const flat_table *table, unsigned field)
{
    return table->at + (uint32_t)offset_of(table->layout, field);
}

static void put_field(flat_builder *self, const flat_table *table, unsigned field,
                      const void *value, size_t size)
{
    put(self, table->at + offset_of(table->layout, field), value, size);
}

void flat_put_u8(flat_builder *self, const flat_table *table, unsigned field, uint8_t value)
{
    put_field(self, table, field, &value, sizeof value);
}

void flat_put_i16(flat_builder *self, const flat_table *table, unsigned field, int16_t value)
{
    put_field(self, table, field, &value, sizeof value);
}

void flat_put_u32(flat_builder *self, const flat_table *table, unsigned field, uint32_t value)
{
    put_field(self, table, field, &value, sizeof value);
}

void flat_put_i32(flat_builder *self, const flat_table *table, unsigned field, int32_t value)
{
    put_field(self, table, field, &value, sizeof value);
}

void flat_put_u64(flat_builder *self, const flat_table *table, unsigned field, uint64_t value)
{
    put_field(self, table, field, &value, sizeof value);
}

void flat_put_i64(flat_builder *self, const flat_table *table, unsigned field, int64_t value)
{
    put_field(self, table, field, &value, sizeof value);
}

void flat_put_f64(flat_builder *self, const flat_table *table, unsigned field, double value)
{
    put_field(self, table, field, &value, sizeof value);
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Append a vector of zeros and return the position of its items. */
static size_t append_vector(flat_builder *self, uint32_t place, size_t count, size_t size,
                            size_t alignment)
{
    size_t length = 0;

    if (__builtin_mul_overflow(count, size, &length) || count > END_MAX) {
        if (self->to->status == MCP_OK)
            self->to->status = MCP_E_LIMIT;
        return 0;
    }
    if (alignment > sizeof(uint32_t))
        pad(self, alignment, sizeof(uint32_t));
    else
        pad(self, sizeof(uint32_t), 0);
    refer(self, place);
    size_t at = position(self);
    uint32_t items = (uint32_t)count;
    append_zeros(self, sizeof items);
    put(self, at, &items, sizeof items);
    append_zeros(self, length);
    return at + sizeof items;
}

void *flat_add_vector(flat_builder *self, uint32_t place, size_t count, size_t size,
                      size_t alignment)
{
    size_t at = append_vector(self, place, count, size, alignment);

    return self->to->status == MCP_OK && count * size > 0 ? self->to->data + self->start + at
                                                          : NULL;
}

void flat_add_text(flat_builder *self, uint32_t place, const char *text)
{
    size_t length = strlen(text);
    char *room = flat_add_vector(self, place, length, 1, 1);

    if (room)
        memcpy(room, text, length);
    append_zeros(self, 1);
}

uint32_t flat_add_references(flat_builder *self, uint32_t place, size_t count)
{
    return (uint32_t)append_vector(self, place, count, sizeof(uint32_t), sizeof(uint32_t));
}

uint32_t flat_item(uint32_t references, size_t index)
{
    return references + (uint32_t)(index * sizeof(uint32_t));
}
