/*
 * header.h - the columns of a delimited text, by the place of a cell in its record.
 */
#ifndef CASPARIAN_PARSERS_CSV_NATIVE_HEADER_H
#define CASPARIAN_PARSERS_CSV_NATIVE_HEADER_H

#include "casparian_plugin.h"

struct casparian_csv_header {
    cf_output *rows;
    bool is_named; /* by the first record; false: c1, c2, ... */
    size_t named;  /* cells of the first record */
    size_t count;  /* columns known so far, surplus ones too */
    size_t indexes[CF_COLUMNS_MAX];
    char *names[CF_COLUMNS_MAX];
};

/** Add the next column of the first record. NULL, or why it cannot be. */
const char *casparian_csv_header_add(struct casparian_csv_header *header, const char *name,
                                     size_t length);

/** The column of a cell of a later record; CF_NO_COLUMN: there are too many. */
size_t casparian_csv_header_column(struct casparian_csv_header *header, size_t cell);

/** Forget the columns. */
void casparian_csv_header_clear(struct casparian_csv_header *header);

#endif
