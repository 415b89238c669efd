/**
 * convert.h - cells as values of the type that a column declares.
 *
 * A converter belongs to one column of a definition. It never changes, so threads may share it. A
 * column that is as declared already is passed on without a copy; texts are read in one loop.
 *
 * Source: casparian's data model, 3.4 and 5.2.
 */
#ifndef CASPARIAN_CHECK_CONVERT_H
#define CASPARIAN_CHECK_CONVERT_H

#include "check/batch.h"
#include "check/violation.h"
#include "schema/definition.h"
#include "schema/layout.h"
#include "schema/lexical.h"
#include "schema/zone.h"

typedef struct casparian_converter {
    const casparian_column *column;
    const casparian_zone *zone; /* of a TIMESTAMP_TZ */
    casparian_layout layout;    /* of a format, or of the form that needs none */
    bool takes_any;             /* a STRING takes the text of any value */
} casparian_converter;

/**
 * @param out    borrows the column
 * @param arena  for the zone
 * @return MCP_OK; as casparian_zone_load
 */
mcp_status casparian_converter_init(casparian_converter *out, mcp_arena *arena,
                                    const casparian_column *column, mcp_error *err);

/** What became of a cell: 0, or 1 + the violation. */
#define CASPARIAN_FAILED(violation) ((uint8_t)((violation) + 1))

/** A column of the declared type. */
typedef struct casparian_converted {
    casparian_vector vector; /* without odd and absent cells; what failed is null */
    const uint8_t *failed;   /* of each row, as above; NULL: none failed */
    size_t failures;
} casparian_converted;

/**
 * Convert a column of a batch. Absent cells become null and do not fail.
 *
 * @param in NULL: every cell is absent
 * @return MCP_OK; MCP_E_NOMEM: also the arena's bound
 */
mcp_status casparian_convert(const casparian_converter *self, casparian_converted *out,
                             const casparian_vector *in, size_t rows, mcp_arena *arena,
                             mcp_error *err);

#endif
