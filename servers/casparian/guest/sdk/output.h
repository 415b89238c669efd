/*
 * output.h - an output of the SDK: its columns, its row, its batch.
 */
#ifndef CASPARIAN_GUEST_SDK_OUTPUT_H
#define CASPARIAN_GUEST_SDK_OUTPUT_H

#include "casparian_plugin.h"
#include "guest/sdk/column.h"

struct cf_output {
    cf_sink *sink;
    cf_output *next;
    char *name;
    char *hash;
    bool is_open;
    bool was_begun; /* a stream of it */
    struct column *columns;
    size_t count;
    size_t room;
    size_t id_column;    /* `__cf_row_id`; CF_NO_COLUMN: not used yet */
    size_t error_column; /* `_cf_row_error`; the same */
    size_t names_room;   /* of `names`, a power of two; 0: none */
    uint32_t *names;     /* columns of an open schema by a hash of their name; index + 1 */

    /* The batch. */
    size_t rows;
    size_t bytes; /* of the texts of its rows */
    size_t base;  /* most bytes of the batch before its rows */
    size_t fixed; /* most bytes of a row without its texts */
    size_t used;  /* columns in the batch of an open schema */

    /* The row. */
    bool is_in_row;
    cf_status row_status;
    uint64_t mark;
    size_t row_bytes; /* of its texts */
    size_t row_set;   /* entries of `set` */
    uint32_t *set;    /* columns that the row has set, in the order of their first call */
};

const char *cf__output_name(const cf_output *output);

/** Send the committed rows as one batch. */
void cf__frame_send(cf_output *output);

#endif
