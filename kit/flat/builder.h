/**
 * builder.h - writes FlatBuffers into a buffer, front to back.
 *
 *     flat_builder to;
 *     flat_table shape, point;
 *     flat_builder_begin(&to, &buf);
 *     shape = flat_add_table(&to, FLAT_ROOT, &shape_layout);
 *     flat_put_f64(&to, &shape, SHAPE_AREA, 2.5);
 *     flat_add_text(&to, flat_at(&shape, SHAPE_NAME), "kite");
 *     if (buf.status != MCP_OK) ...
 *
 * A table comes before all that it refers to, so the caller writes from the root to the leaves: it
 * takes the place of a reference (FLAT_ROOT, flat_at, flat_item) and adds the object to it. A field
 * that is not put is there with the value 0; a reference to which nothing is added is null.
 *
 * A failure is kept in the buffer's `status`, and what follows it does nothing. FlatBuffers end at
 * 2^31 - 1 bytes: more is MCP_E_LIMIT.
 */
#ifndef FLAT_BUILDER_H
#define FLAT_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"

#include "flat/layout.h"

/** The kinds of tables whose vtable is written once; those of a further kind have each their own.
 */
#define FLAT_SHARED_VTABLES 16

typedef struct flat_builder {
    mcp_buf *to;
    size_t start; /* of the FlatBuffer in `to`; offsets count from here */
    struct {
        const flat_layout *layout;
        uint32_t at;
    } vtables[FLAT_SHARED_VTABLES];
    size_t vtable_count;
} flat_builder;

/** A table that is being filled. */
typedef struct flat_table {
    const flat_layout *layout;
    uint32_t at;
} flat_table;

/** Begin a FlatBuffer behind what the buffer holds. Its start must be at a multiple of 8 bytes in
 *  the memory of those who read it; alignment counts from there. */
void flat_builder_begin(flat_builder *self, mcp_buf *to);

/** The place of the reference to the root table. */
#define FLAT_ROOT ((uint32_t)0)

/** The place of a field of the type FLAT_REF. */
uint32_t flat_at(const flat_table *table, unsigned field);

/** Add a table, all zero, and let the reference at `place` lead to it. */
flat_table flat_add_table(flat_builder *self, uint32_t place, const flat_layout *layout);

/** Set a field, which has that type. */
void flat_put_u8(flat_builder *self, const flat_table *table, unsigned field, uint8_t value);
void flat_put_i16(flat_builder *self, const flat_table *table, unsigned field, int16_t value);
void flat_put_u32(flat_builder *self, const flat_table *table, unsigned field, uint32_t value);
void flat_put_i32(flat_builder *self, const flat_table *table, unsigned field, int32_t value);
void flat_put_u64(flat_builder *self, const flat_table *table, unsigned field, uint64_t value);
void flat_put_i64(flat_builder *self, const flat_table *table, unsigned field, int64_t value);
void flat_put_f64(flat_builder *self, const flat_table *table, unsigned field, double value);

/** Add a text. */
void flat_add_text(flat_builder *self, uint32_t place, const char *text);

/**
 * Add a vector of `count` zeros or structs of zeros.
 *
 * @param size      of an item
 * @param alignment of an item: 1, 2, 4 or 8
 * @return the items, to be filled in before the builder is used again; NULL after a failure, and
 *         for a vector without bytes
 */
void *flat_add_vector(flat_builder *self, uint32_t place, size_t count, size_t size,
                      size_t alignment);

/** Add a vector of `count` references. @return it, for flat_item */
uint32_t flat_add_references(flat_builder *self, uint32_t place, size_t count);

/** The place of a reference in such a vector. */
uint32_t flat_item(uint32_t references, size_t index);

#endif
