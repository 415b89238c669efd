/**
 * batch.h - rows of one output, column by column: as plugins emit them, as validation converts
 * them, and as sinks write them.
 *
 * The buffers are those of a CFB1 batch, the form in which native plugins send rows and in which
 * rows wait in a spool file, so such a batch is used where it was read. Rows of JSON become the
 * same: the type of a column is that of its first value, and cells of another kind are in a list of
 * their own.
 *
 *     const casparian_vector *id = casparian_batch_find(batch, "id");
 *     for (size_t row = 0; id && row < batch->rows; row++) {
 *         casparian_cell cell = casparian_vector_cell(id, row);
 *         if (cell.kind == CASPARIAN_KIND_INT64)
 *             use(cell.integer);
 *     }
 *
 * A batch and its buffers never change; their maker frees them. Every function is pure; any
 * thread.
 */
#ifndef CASPARIAN_CHECK_BATCH_H
#define CASPARIAN_CHECK_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/error.h"
#include "schema/decimal.h"
#include "schema/type.h"

/** Most rows and columns of a batch, and bytes of its CFB1 form. */
#define CASPARIAN_BATCH_ROWS_MAX 50000
#define CASPARIAN_BATCH_COLUMNS_MAX 2010
#define CASPARIAN_BATCH_BYTES_MAX ((size_t)100 << 20)

/** Columns that a plugin may add to any output: what is wrong with the row (a string; empty or
 *  null: nothing), and its line or record in the source (an int64). */
#define CASPARIAN_ROW_ERROR "_cf_row_error"
#define CASPARIAN_ROW_ID "__cf_row_id"

/** One value. */
typedef struct casparian_cell {
    casparian_kind kind; /* NULL: there is no value */
    bool is_absent;      /* with NULL: the row does not have the column at all */
    uint8_t scale;       /* of DECIMAL */
    union {
        bool boolean;
        int64_t integer; /* INT64; DATE: days; TIMESTAMP, TIMESTAMP_TZ, TIME, DURATION: micros */
        double number;   /* FLOAT64 */
        casparian_int128 decimal; /* unscaled */
        struct {
            const char *bytes; /* STRING: UTF-8, BINARY; no NUL follows */
            size_t length;
        } text;
    };
} casparian_cell;

/** A cell whose kind is not that of its column. */
typedef struct casparian_odd {
    uint32_t row;
    casparian_cell cell;
} casparian_odd;

/**
 * A column of a batch.
 *
 * `values` by the kind of the type: BOOLEAN uint8_t (0, 1), INT64 int64_t, FLOAT64 double, DECIMAL
 * 16 bytes (an int128 that is perhaps not aligned: copy it), DATE int32_t, TIMESTAMP, TIMESTAMP_TZ
 * (UTC), TIME and DURATION int64_t. STRING and BINARY have `offsets` and `bytes` instead: row i is
 * the bytes from offsets[i] to offsets[i + 1]. NULL has neither. Bit i % 8 of byte i / 8 of a
 * bitmap is row i. Where a bit of `valid` is 0, the value is undefined, and the length is 0.
 */
typedef struct casparian_vector {
    const char *name;
    casparian_type type;
    const uint8_t *valid;    /* 1: the row has a value of this type; NULL: every row has */
    const uint8_t *absent;   /* 1: the row does not have the column; NULL: every row has it */
    const void *values;      /* aligned to 8 bytes */
    const uint32_t *offsets; /* rows + 1, from 0, not decreasing */
    const char *bytes;
    const casparian_odd *odds; /* by row, ascending; such a row has 0 in `valid` */
    size_t odd_count;
} casparian_vector;

/** Rows of one output. */
typedef struct casparian_batch {
    size_t rows;
    size_t count; /* of columns, whose names differ */
    const casparian_vector *columns;
} casparian_batch;

/** The column of that name; NULL: there is none. */
const casparian_vector *casparian_batch_find(const casparian_batch *batch, const char *name);

/** Bytes of one of the `values`; 0 for NULL, STRING and BINARY. */
size_t casparian_kind_width(casparian_kind kind);

/** The value of a row, also of one that is odd. Its text is borrowed from the batch. */
casparian_cell casparian_vector_cell(const casparian_vector *vector, size_t row);

/** What the parser says of a row; `row_error` may be NULL. @return false: nothing */
bool casparian_row_error(casparian_cell *out, const casparian_vector *row_error, size_t row);

/**
 * Read a CFB1 batch.
 *
 * Source: casparian's plugin protocol, 4.4. Texts that are not UTF-8 are repaired (U+FFFD).
 *
 * @param out      in the arena; its buffers are in `bytes` where they need no change
 * @param repaired counts the texts that were repaired; may be NULL
 * @param bytes    aligned to 8; outlives the batch
 * @return MCP_OK; MCP_E_PARSE (err names the field and the offset); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status casparian_batch_decode(casparian_batch *out, size_t *repaired, mcp_arena *arena,
                                  const void *bytes, size_t length, mcp_error *err);

/**
 * Append a batch in the CFB1 form. It cannot hold odd cells and absent columns: they must have been
 * converted.
 *
 * @return MCP_OK; MCP_E_PARAMS: an odd or absent cell; MCP_E_LIMIT: longer than
 *         CASPARIAN_BATCH_BYTES_MAX; out->status
 */
mcp_status casparian_batch_encode(mcp_buf *out, const casparian_batch *batch, mcp_error *err);

#endif
