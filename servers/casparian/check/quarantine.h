/**
 * quarantine.h - parts the rows of a batch: those that are valid, and those that are not with their
 * reasons.
 *
 * Source: casparian's data model, 7.2.
 */
#ifndef CASPARIAN_CHECK_QUARANTINE_H
#define CASPARIAN_CHECK_QUARANTINE_H

#include "check/convert.h"

/** Longest error of a parser that is kept, in bytes. */
#define CASPARIAN_PARSER_ERROR_MAX 2000

/** A violation of a row. */
typedef struct casparian_event {
    uint32_t row;
    uint32_t column; /* of the definition; behind them the extra columns */
    uint32_t violation;
} casparian_event;

/** The rows of a batch and what is wrong with them. All borrowed. */
typedef struct casparian_judged {
    const casparian_batch *batch;
    const casparian_definition *definition;
    const casparian_converted *columns; /* those of the definition */
    const char *const *extras;          /* names of extra columns */
    const uint8_t *flags;               /* of each row; 0: it is valid */
    size_t invalid;                     /* how many are not */
    const casparian_event *events;      /* in the order of the columns, within these of the rows */
    size_t event_count;
    const casparian_vector *row_error, *row_id; /* NULL: there are none */
    const char *path;
    int64_t first_index; /* of the first row, in file and output */
} casparian_judged;

/** The line or record that a row names; -1: none. */
int64_t casparian_row_id(const casparian_vector *row_id, size_t row);

/**
 * @param valid   the columns of the definition
 * @param invalid the same, nullable, and the seven columns of reasons
 * @return MCP_OK; MCP_E_NOMEM: also the arena's bound; MCP_E_PARAMS: a text that is not UTF-8
 */
mcp_status casparian_quarantine_split(casparian_batch *valid, casparian_batch *invalid,
                                      const casparian_judged *judged, mcp_arena *arena,
                                      mcp_error *err);

#endif
