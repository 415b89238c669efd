/*
 * shape.h - a schema for the tests of kit/flat, and one object of it.
 *
 *   table Point { x:double; y:double; }
 *   table Shape { closed:bool; (a removed field); sides:uint; area:double; shift:short;
 *                 points:[Point]; name:string; marks:[ushort]; first:Point; serial:long; depth:int;
 *                 code:ulong; }
 */
#ifndef TESTS_FLAT_SHAPE_H
#define TESTS_FLAT_SHAPE_H

#include <string.h>

#include "flat/builder.h"
#include "flat/layout.h"

enum { POINT_X, POINT_Y };
static const flat_field point_fields[] = { { "x", FLAT_F64 }, { "y", FLAT_F64 } };
static const flat_layout point_layout = { "Point", point_fields, 2 };

/* clang-format off */
enum {
    SHAPE_CLOSED, SHAPE_REMOVED, SHAPE_SIDES, SHAPE_AREA, SHAPE_SHIFT, SHAPE_POINTS, SHAPE_NAME,
    SHAPE_MARKS, SHAPE_FIRST, SHAPE_SERIAL, SHAPE_DEPTH, SHAPE_CODE, SHAPE_FIELDS
};
static const flat_field shape_fields[] = {
    { "closed", FLAT_U8 },    { NULL, FLAT_UNUSED },   { "sides", FLAT_U32 },
    { "area", FLAT_F64 },     { "shift", FLAT_I16 },   { "points", FLAT_REF },
    { "name", FLAT_REF },     { "marks", FLAT_REF },   { "first", FLAT_REF },
    { "serial", FLAT_I64 },   { "depth", FLAT_I32 },   { "code", FLAT_U64 },
};
/* clang-format on */
static const flat_layout shape_layout = { "Shape", shape_fields, SHAPE_FIELDS };

static inline void add_point(flat_builder *to, uint32_t place, double x, double y)
{
    flat_table point = flat_add_table(to, place, &point_layout);

    flat_put_f64(to, &point, POINT_X, x);
    flat_put_f64(to, &point, POINT_Y, y);
}

/* A closed shape "kite" with the points (1, 2), (3, 4), (5, 6) and the marks 7, 8, 9. */
static inline void build_kite(mcp_buf *buf)
{
    static const uint16_t marks[] = { 7, 8, 9 };
    flat_builder to;

    flat_builder_begin(&to, buf);
    flat_table shape = flat_add_table(&to, FLAT_ROOT, &shape_layout);
    flat_put_u8(&to, &shape, SHAPE_CLOSED, 1);
    flat_put_u32(&to, &shape, SHAPE_SIDES, 4);
    flat_put_f64(&to, &shape, SHAPE_AREA, 2.5);
    flat_put_i16(&to, &shape, SHAPE_SHIFT, -2);
    flat_put_i64(&to, &shape, SHAPE_SERIAL, INT64_MIN);
    flat_put_i32(&to, &shape, SHAPE_DEPTH, -70000);
    flat_put_u64(&to, &shape, SHAPE_CODE, UINT64_MAX);
    flat_add_text(&to, flat_at(&shape, SHAPE_NAME), "kite");
    uint32_t points = flat_add_references(&to, flat_at(&shape, SHAPE_POINTS), 3);
    for (int i = 0; i < 3; i++)
        add_point(&to, flat_item(points, (size_t)i), 2 * i + 1, 2 * i + 2);
    void *room = flat_add_vector(&to, flat_at(&shape, SHAPE_MARKS), 3, sizeof *marks,
                                 sizeof *marks);
    if (room)
        memcpy(room, marks, sizeof marks);
    add_point(&to, flat_at(&shape, SHAPE_FIRST), 1, 2);
}

#endif
