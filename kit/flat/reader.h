/**
 * reader.h - reads FlatBuffers that may be damaged.
 *
 *     flat_reader from;
 *     flat_reader_begin(&from, bytes, length);
 *     flat_view shape = flat_read_root(&from, &shape_layout);
 *     double area = flat_get_f64(&from, &shape, SHAPE_AREA);
 *     flat_items points = flat_get_items(&from, &shape, SHAPE_POINTS, sizeof(uint32_t));
 *     for (size_t i = 0; i < points.count; i++)
 *         flat_view point = flat_get_table_item(&from, &points, i, &point_layout);
 *     if (from.error.status != MCP_OK) ...
 *
 * Nothing outside the bytes is ever read. The first failure is kept in `error` as MCP_E_PARSE, with
 * the table, the field and the position in the file; after it every function gives zeros and empty
 * vectors, so the caller checks once, before it uses what it has read. A field that is absent is 0,
 * an empty vector, or a table without fields.
 *
 * Tables of a damaged or hostile file may share their parts, so that a short file describes a huge
 * object: the caller bounds what it allocates.
 */
#ifndef FLAT_READER_H
#define FLAT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#include "flat/layout.h"

typedef struct flat_reader {
    const uint8_t *bytes; /* the caller's */
    size_t length;
    mcp_error error; /* the first */
} flat_reader;

/** A table. */
typedef struct flat_view {
    const flat_layout *layout;
    size_t at; /* 0: absent */
    size_t vtable, vtable_size, table_size;
} flat_view;

/** A vector. */
typedef struct flat_items {
    const uint8_t *bytes;      /* not aligned: copy them */
    size_t count, size;        /* size: of an item */
    const flat_layout *layout; /* of the table that has it, for messages */
    unsigned field;
} flat_items;

/** Begin to read `length` bytes. */
void flat_reader_begin(flat_reader *self, const void *bytes, size_t length);

/** The root table, which must be there. */
flat_view flat_read_root(flat_reader *self, const flat_layout *layout);

/** The value of a field, which has that type. */
uint8_t flat_get_u8(flat_reader *self, const flat_view *view, unsigned field);
int16_t flat_get_i16(flat_reader *self, const flat_view *view, unsigned field);
uint32_t flat_get_u32(flat_reader *self, const flat_view *view, unsigned field);
int32_t flat_get_i32(flat_reader *self, const flat_view *view, unsigned field);
uint64_t flat_get_u64(flat_reader *self, const flat_view *view, unsigned field);
int64_t flat_get_i64(flat_reader *self, const flat_view *view, unsigned field);
double flat_get_f64(flat_reader *self, const flat_view *view, unsigned field);

/** The table that a field refers to. */
flat_view flat_get_table(flat_reader *self, const flat_view *view, unsigned field,
                         const flat_layout *layout);

/** The vector that a field refers to; items are `size` bytes long, and numbers of that size. */
flat_items flat_get_items(flat_reader *self, const flat_view *view, unsigned field, size_t size);

/** A table of a vector of references, which must be there. */
flat_view flat_get_table_item(flat_reader *self, const flat_items *items, size_t index,
                              const flat_layout *layout);

#endif
