/*
 * reader.c - follows offsets and checks each before it is used.
 *
 * Every access goes through span(), which knows the length of the file. Positions are size_t and
 * offsets 32 bits wide, so a sum does not overflow.
 */
#include "flat/reader.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(sizeof(size_t) >= 8, "positions are sums of 32-bit offsets");

static void fail(flat_reader *self, const flat_layout *layout, unsigned field, size_t at,
                 const char *what)
{
    if (self->error.status == MCP_OK)
        mcp_error_at(&self->error, MCP_E_PARSE, (int64_t)at, "%s.%s at byte %zu: %s", layout->name,
                     field < layout->count ? layout->fields[field].name : "(table)", at, what);
}

/* Whether `length` bytes from `at` on are in the file. */
static bool span(const flat_reader *self, size_t at, size_t length)
{
    return at <= self->length && length <= self->length - at;
}

static uint32_t load_u32(const flat_reader *self, size_t at)
{
    uint32_t value;

    memcpy(&value, self->bytes + at, sizeof value);
    return value;
}

static uint16_t load_u16(const flat_reader *self, size_t at)
{
    uint16_t value;

    memcpy(&value, self->bytes + at, sizeof value);
    return value;
}

void flat_reader_begin(flat_reader *self, const void *bytes, size_t length)
{
    *self = (flat_reader){ .bytes = bytes, .length = length, .error = MCP_ERROR_INIT };
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The position that the reference at `place`, which is in the file, leads to; 0: null. */
static size_t follow(const flat_reader *self, size_t place)
{
    uint32_t offset = load_u32(self, place);

    return offset ? place + offset : 0;
}

static flat_view open_table(flat_reader *self, size_t at, const flat_layout *layout)
{
    const flat_view none = { .layout = layout };
    flat_view view = { .layout = layout, .at = at };
    int32_t back = 0;

    if (at % 4 != 0 || !span(self, at, sizeof back)) {
        fail(self, layout, UINT32_MAX, at, "the table is not in the file, or not aligned");
        return none;
    }
    memcpy(&back, self->bytes + at, sizeof back);
    int64_t vtable = (int64_t)at - back;
    if (vtable < 0 || vtable % 2 != 0 || !span(self, (size_t)vtable, 4)) {
        fail(self, layout, UINT32_MAX, at, "its vtable is not in the file, or not aligned");
        return none;
    }
    view.vtable = (size_t)vtable;
    view.vtable_size = load_u16(self, view.vtable);
    view.table_size = load_u16(self, view.vtable + 2);
    if (view.vtable_size < 4 || view.vtable_size % 2 != 0 ||
        !span(self, view.vtable, view.vtable_size) || view.table_size < 4 ||
        !span(self, at, view.table_size)) {
        fail(self, layout, UINT32_MAX, at, "the sizes in its vtable do not fit the file");
        return none;
    }
    return view;
}

flat_view flat_read_root(flat_reader *self, const flat_layout *layout)
{
    const flat_view none = { .layout = layout };

    if (self->error.status != MCP_OK)
        return none;
    if (!span(self, 0, sizeof(uint32_t)) || follow(self, 0) == 0) {
        fail(self, layout, UINT32_MAX, 0, "the file has no root table");
        return none;
    }
    return open_table(self, follow(self, 0), layout);
}

/* Where a field's value is; 0: absent. */
static size_t place_of(flat_reader *self, const flat_view *view, unsigned field, size_t size)
{
    size_t entry = 4 + 2 * (size_t)field;

    if (self->error.status != MCP_OK || view->at == 0 || entry + 2 > view->vtable_size)
        return 0;
    size_t offset = load_u16(self, view->vtable + entry);
    if (offset == 0)
        return 0;
    if (offset < 4 || offset + size > view->table_size || (view->at + offset) % size != 0) {
        fail(self, view->layout, field, view->at, "the field is not inside its table");
        return 0;
    }
    return view->at + offset;
}

static void get(flat_reader *self, const flat_view *view, unsigned field, void *value, size_t size)
{
    size_t at = place_of(self, view, field, size);

    memset(value, 0, size);
    if (at > 0)
        memcpy(value, self->bytes + at, size);
}

uint8_t flat_get_u8(flat_reader *self, const flat_view *view, unsigned field)
{
    uint8_t value;

    get(self, view, field, &value, sizeof value);
    return value;
}

int16_t flat_get_i16(flat_reader *self, const flat_view *view, unsigned field)
{
    int16_t value;

    get(self, view, field, &value, sizeof value);
    return value;
}

uint32_t flat_get_u32(flat_reader *self, const flat_view *view, unsigned field)
{
    uint32_t value;

    get(self, view, field, &value, sizeof value);
    return value;
}

int32_t flat_get_i32(flat_reader *self, const flat_view *view, unsigned field)
{
    int32_t value;

    get(self, view, field, &value, sizeof value);
    return value;
}

uint64_t flat_get_u64(flat_reader *self, const flat_view *view, unsigned field)
{
    uint64_t value;

    get(self, view, field, &value, sizeof value);
    return value;
}

int64_t flat_get_i64(flat_reader *self, const flat_view *view, unsigned field)
{
    int64_t value;

    get(self, view, field, &value, sizeof value);
    return value;
}

double flat_get_f64(flat_reader *self, const flat_view *view, unsigned field)
{
    double value;

    get(self, view, field, &value, sizeof value);
    return value;
}

/* ---- references ------------------------------------------------------------------------------ */

flat_view flat_get_table(flat_reader *self, const flat_view *view, unsigned field,
                         const flat_layout *layout)
{
    size_t place = place_of(self, view, field, sizeof(uint32_t));
    size_t at = place > 0 ? follow(self, place) : 0;

    return at > 0 ? open_table(self, at, layout) : (flat_view){ .layout = layout };
}

flat_items flat_get_items(flat_reader *self, const flat_view *view, unsigned field, size_t size)
{
    flat_items items = { .size = size, .layout = view->layout, .field = field };
    size_t place = place_of(self, view, field, sizeof(uint32_t));
    size_t at = place > 0 ? follow(self, place) : 0;

    if (at == 0)
        return items;
    if (at % 4 != 0 || !span(self, at, sizeof(uint32_t))) {
        fail(self, view->layout, field, place, "the vector is not in the file, or not aligned");
        return items;
    }
    size_t count = load_u32(self, at);
    at += sizeof(uint32_t);
    if (!span(self, at, count * size)) {
        fail(self, view->layout, field, at, "the vector leads beyond the end of the file");
        return items;
    }
    if (count > 0 && at % size != 0) {
        fail(self, view->layout, field, at, "the items of the vector are not aligned");
        return items;
    }
    items.bytes = self->bytes + at;
    items.count = count;
    return items;
}

flat_view flat_get_table_item(flat_reader *self, const flat_items *items, size_t index,
                              const flat_layout *layout)
{
    const flat_view none = { .layout = layout };

    if (self->error.status != MCP_OK || index >= items->count)
        return none;
    size_t place = (size_t)(items->bytes - self->bytes) + index * sizeof(uint32_t);
    size_t at = follow(self, place);
    if (at == 0) {
        fail(self, items->layout, items->field, place, "a reference of the vector is null");
        return none;
    }
    return open_table(self, at, layout);
}
