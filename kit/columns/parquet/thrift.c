/*
 * thrift.c - fields, lists and numbers of Thrift's compact protocol.
 *
 * A field begins with the distance of its number from the one before and its type, in one byte when
 * the distance is 1 to 15. Integers are varints, signed ones in zigzag order. Each field is put
 * together first and appended at once.
 */
#include "columns/parquet/thrift.h"

#include <assert.h>

#define ROOM 24 /* a field's head, a list's head, a varint: at most 4, 6 and 10 bytes */

enum { BOOL_TRUE = 1, BOOL_FALSE = 2, I8 = 3, I64 = 6, LIST = 9 };

static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static size_t put_varint(uint8_t *at, uint64_t value)
{
    size_t length = 0;

    while (value >= 0x80) {
        at[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    at[length++] = (uint8_t)value;
    return length;
}

static size_t put_field(thrift *self, uint8_t *at, int16_t field, int type)
{
    int16_t *last = &self->last[self->depth];
    int distance = field - *last;

    assert(distance > 0);
    *last = field;
    if (distance <= 15) {
        at[0] = (uint8_t)(distance << 4 | type);
        return 1;
    }
    at[0] = (uint8_t)type;
    return 1 + put_varint(at + 1, zigzag(field));
}

thrift thrift_struct(mcp_buf *to)
{
    return (thrift){ .to = to };
}

void thrift_item_begin(thrift *self)
{
    assert(self->depth + 1 < THRIFT_DEPTH_MAX);
    self->last[++self->depth] = 0;
}

void thrift_begin(thrift *self, int16_t field)
{
    uint8_t bytes[ROOM];

    mcp_buf_append(self->to, bytes, put_field(self, bytes, field, THRIFT_STRUCT));
    thrift_item_begin(self);
}

void thrift_end(thrift *self)
{
    mcp_buf_putc(self->to, 0);
    if (self->depth > 0)
        self->depth--;
}

void thrift_bool(thrift *self, int16_t field, bool value)
{
    uint8_t bytes[ROOM];

    mcp_buf_append(self->to, bytes, put_field(self, bytes, field, value ? BOOL_TRUE : BOOL_FALSE));
}

void thrift_i8(thrift *self, int16_t field, int8_t value)
{
    uint8_t bytes[ROOM];
    size_t length = put_field(self, bytes, field, I8);

    bytes[length++] = (uint8_t)value;
    mcp_buf_append(self->to, bytes, length);
}

static void put_integer(thrift *self, int16_t field, int type, int64_t value)
{
    uint8_t bytes[ROOM];
    size_t length = put_field(self, bytes, field, type);

    length += put_varint(bytes + length, zigzag(value));
    mcp_buf_append(self->to, bytes, length);
}

void thrift_i32(thrift *self, int16_t field, int32_t value)
{
    put_integer(self, field, THRIFT_I32, value);
}

void thrift_i64(thrift *self, int16_t field, int64_t value)
{
    put_integer(self, field, I64, value);
}

void thrift_binary(thrift *self, int16_t field, const void *data, size_t size)
{
    uint8_t bytes[ROOM];
    size_t length = put_field(self, bytes, field, THRIFT_BINARY);

    length += put_varint(bytes + length, size);
    mcp_buf_append(self->to, bytes, length);
    mcp_buf_append(self->to, data, size);
}

void thrift_list(thrift *self, int16_t field, thrift_type type, size_t count)
{
    uint8_t bytes[ROOM];
    size_t length = put_field(self, bytes, field, LIST);

    if (count < 15) {
        bytes[length++] = (uint8_t)(count << 4 | type);
    } else {
        bytes[length++] = (uint8_t)(0xF0 | type);
        length += put_varint(bytes + length, count);
    }
    mcp_buf_append(self->to, bytes, length);
}

void thrift_item_i32(thrift *self, int32_t value)
{
    uint8_t bytes[ROOM];

    mcp_buf_append(self->to, bytes, put_varint(bytes, zigzag(value)));
}

void thrift_item_binary(thrift *self, const void *data, size_t size)
{
    uint8_t bytes[ROOM];

    mcp_buf_append(self->to, bytes, put_varint(bytes, size));
    mcp_buf_append(self->to, data, size);
}
