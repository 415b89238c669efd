/*
 * chunk.h - one column of the row group that is being filled: its pages, and what the footer says
 * of them.
 *
 * Rows are added as PLAIN values; a full page gets its header and is compressed. Pages are data
 * pages of version 1; before the values of a nullable column come its definition levels. Texts that
 * repeat are a dictionary page, then pages of indexes, as long as the dictionary has room; then
 * PLAIN pages follow. A LABEL is a dictionary page, then one data page of runs of one value each.
 *
 * Source: parquet.thrift, PageHeader; the specification's encodings PLAIN, RLE and RLE_DICTIONARY.
 */
#ifndef COLUMNS_CHUNK_H
#define COLUMNS_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

#include "columns/columns.h"
#include "columns/parquet/dictionary.h"
#include "columns/parquet/packer.h"
#include "columns/parquet/statistics.h"

#define CHUNK_LABELS_MAX 1024            /* that end a row group */
#define CHUNK_PAGE_MAX ((size_t)1 << 20) /* bytes of a page's values; a longer text has its own */

struct chunk {
    const char *name;
    columns_type type;
    size_t width; /* of a value in the file; of a boolean before it is packed; 0: texts */
    size_t size;  /* of a value in memory */
    uint8_t precision, scale; /* of DECIMAL */
    bool is_nullable;
    bool is_packed;   /* its pages are compressed; decided by the first */
    bool has_indexes; /* the values of the page that is being filled are in the dictionary */
    bool is_judged;   /* the dictionary is worth its bytes, or there is none */
    bool is_dictionary_full;
    size_t plain_groups;          /* the next row groups begin without a dictionary */
    struct dictionary dictionary; /* of texts */
    mcp_buf values; /* of the page that is being filled; booleans have a byte each, indexes are
                       uint32_t; of LABEL the dictionary */
    mcp_buf valid;  /* the same, of a nullable column: a byte a row; of LABEL struct chunk_run */
    mcp_buf pages;  /* the full pages, with their headers */
    size_t page_rows, page_nulls;
    size_t unpacked; /* bytes of all pages before compression, with their headers */
    size_t rows;
    size_t labels;          /* values of the dictionary of a LABEL */
    size_t dictionary_page; /* bytes of it, once the row group has ended; 0: there is none */
    statistics range;
};

/* Rows with the same value. */
struct chunk_run {
    uint32_t rows, label;
};

/* The bytes of a decimal in the file: 4 and 8 are integers, others a big-endian array. */
size_t chunk_decimal_width(unsigned precision);

/* Begin a row group: no rows. */
void chunk_begin(struct chunk *self);

/* Free the buffers. */
void chunk_clear(struct chunk *self);

/* Add rows of a column, whose texts are there. MCP_E_LIMIT, MCP_E_NOMEM, MCP_E_INTERNAL (zstd). */
mcp_status chunk_add(struct chunk *self, struct packer *packer, const columns_column *column,
                     size_t first, size_t rows, mcp_error *err);

/* Bytes that wait in its buffers. */
size_t chunk_held(const struct chunk *self);

/* End the row group: append the dictionary page to `to`, if there is one. `pages` come after it. */
mcp_status chunk_finish_dictionary(struct chunk *self, struct packer *packer, mcp_buf *to,
                                   mcp_error *err);

/* Then append the last page to `to`; the full ones, before it, are in `pages`. */
mcp_status chunk_finish(struct chunk *self, struct packer *packer, mcp_buf *to, mcp_error *err);

#endif
