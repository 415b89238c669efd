/*
 * array.h - a persistent array: fixed-size rows in counted pages, copied when written while shared.
 *
 * Rows lie in leaf pages of a few KiB; above them stand pages of 16 pointers. A copy of the struct,
 * held by universe_array_hold, is a frozen array: an edit afterwards copies the pages on the way to
 * the row first, and all others stay shared. Rows that were never written read as zeros.
 *
 * Readers of a frozen array may leave a text with a leaf (kept.h), which others who share the leaf
 * find.
 */
#ifndef UNIVERSE_ARRAY_H
#define UNIVERSE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "model/pages/kept.h"

typedef struct universe_page universe_page;

typedef struct universe_array {
    universe_page *root; /* NULL: all rows are zeros */
    uint32_t row_bytes;
    uint16_t shift;  /* a leaf has 1 << shift rows */
    uint16_t height; /* pages of pointers above a leaf */
    uint32_t own_number;
    unsigned char *own; /* the leaf that was edited last, as long as nobody shares it */
} universe_array;

#define UNIVERSE_LEAF_MAX 4096 /* bytes of a leaf's rows */

/* An empty array; row_bytes << shift is at most UNIVERSE_LEAF_MAX. */
void universe_array_init(universe_array *array, uint32_t row_bytes, uint16_t shift);

/* The row; it may be read to the end of its leaf. Never NULL. */
const void *universe_array_row(const universe_array *array, uint32_t index);

/* The leaf that was read last; for walks through an array that nobody changes. All zeros at
 * first. */
typedef struct universe_cursor {
    const unsigned char *leaf;
    uint32_t number;
} universe_cursor;

/* As universe_array_row, faster for rows that lie close together. */
static inline const void *universe_array_at(universe_cursor *cursor, const universe_array *array,
                                            uint32_t index)
{
    uint32_t leaf = index >> array->shift;

    if (!cursor->leaf || leaf != cursor->number) {
        cursor->leaf = (const unsigned char *)universe_array_row(array, leaf << array->shift);
        cursor->number = leaf;
    }
    return cursor->leaf + (size_t)(index & ((1u << array->shift) - 1)) * array->row_bytes;
}

/* The row, to be written, its leaf no longer shared; NULL: no memory, and nothing has changed. */
void *universe_array_edit(universe_array *array, uint32_t index);

/* The text of that form that is kept with the row's leaf; NULL: none. Of a frozen array; lives as
 * long as the array. */
const universe_kept *universe_array_kept(const universe_array *array, uint32_t index,
                                         uint32_t form);

/* Keep a text with the row's leaf. Takes `kept`: it is freed where another thread was sooner. Of a
 * frozen array. */
void universe_array_keep(const universe_array *array, uint32_t index, universe_kept *kept);

/* A copy of the struct that was made just now shares the pages. This one may be edited, a copy
 * never does. */
void universe_array_hold(universe_array *array);

/* This copy of the struct shares them no longer, and is empty. */
void universe_array_drop(universe_array *array);

#endif
