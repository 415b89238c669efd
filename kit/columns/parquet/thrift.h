/*
 * thrift.h - writes Thrift's compact protocol: the page headers and the footer of a Parquet file.
 *
 *     thrift to = thrift_struct(&buf);
 *     thrift_i32(&to, 1, version);
 *     thrift_list(&to, 2, THRIFT_STRUCT, count);
 *     for each: thrift_item_begin(&to), its fields, thrift_end(&to);
 *     thrift_end(&to);
 *
 * Fields of a struct are written in the order of their numbers. A failure is kept in the buffer's
 * `status`.
 *
 * Source: Apache Thrift, doc/specs/thrift-compact-protocol.
 */
#ifndef COLUMNS_THRIFT_H
#define COLUMNS_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"

#define THRIFT_DEPTH_MAX 8

/* The types of list items. */
typedef enum thrift_type { THRIFT_I32 = 5, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 } thrift_type;

typedef struct thrift {
    mcp_buf *to;
    size_t depth;                   /* of the struct that is open */
    int16_t last[THRIFT_DEPTH_MAX]; /* the number of each open struct's last field */
} thrift;

/* Begin a struct that is in no other. */
thrift thrift_struct(mcp_buf *to);

/* Begin a struct as a field, or as an item of a list. */
void thrift_begin(thrift *self, int16_t field);
void thrift_item_begin(thrift *self);

/* End the struct begun last. */
void thrift_end(thrift *self);

void thrift_bool(thrift *self, int16_t field, bool value);
void thrift_i8(thrift *self, int16_t field, int8_t value);
void thrift_i32(thrift *self, int16_t field, int32_t value);
void thrift_i64(thrift *self, int16_t field, int64_t value);
void thrift_binary(thrift *self, int16_t field, const void *data, size_t size);

/* Begin a list of `count` items, which follow. */
void thrift_list(thrift *self, int16_t field, thrift_type type, size_t count);
void thrift_item_i32(thrift *self, int32_t value);
void thrift_item_binary(thrift *self, const void *data, size_t size);

#endif
