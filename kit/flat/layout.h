/**
 * layout.h - the tables of a FlatBuffers schema, for builder.h and reader.h.
 *
 *     static const flat_field point_fields[] = { { "x", FLAT_F64 }, { "y", FLAT_F64 },
 *                                                { "name", FLAT_REF } };
 *     static const flat_layout point = { "Point", point_fields, 3 };
 *
 * A field's id is its index. A field that the schema removed, or that nobody here needs, is
 * FLAT_UNUSED: it is not written, and skipped when read.
 *
 * Source: "FlatBuffer Internals" of the FlatBuffers documentation.
 */
#ifndef FLAT_LAYOUT_H
#define FLAT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "FlatBuffers are little-endian");

/** Fields of one table, at most. */
#define FLAT_FIELDS_MAX 64

/** The type of a field; enums of a schema have the type of their numbers. */
typedef enum flat_type {
    FLAT_UNUSED,
    FLAT_U8, /* bool too: 0 or 1 */
    FLAT_I16,
    FLAT_U32,
    FLAT_I32,
    FLAT_U64,
    FLAT_I64,
    FLAT_F64,
    FLAT_REF /* a table, a vector or a text */
} flat_type;

typedef struct flat_field {
    const char *name;
    flat_type type;
} flat_field;

typedef struct flat_layout {
    const char *name;         /* of the table, for messages */
    const flat_field *fields; /* by id */
    size_t count;             /* <= FLAT_FIELDS_MAX */
} flat_layout;

/** The bytes that a field takes in its table; 0 for FLAT_UNUSED. */
static inline size_t flat_size(flat_type type)
{
    static const uint8_t sizes[] = { 0, 1, 2, 4, 4, 8, 8, 8, 4 };

    return sizes[type];
}

#endif
