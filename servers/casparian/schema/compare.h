/**
 * compare.h - what has changed between two sets of schemas, and what of it breaks readers.
 *
 * A reader knows outputs and columns by their names and takes values of the types of the older
 * schemas. So a change breaks readers where a name is gone, where a column may be null that could
 * not, or where a type has values that the older type has not. More outputs and more columns break
 * nobody; nor do another order, mode or format, which say how rows are read, not what they are.
 */
#ifndef CASPARIAN_SCHEMA_COMPARE_H
#define CASPARIAN_SCHEMA_COMPARE_H

#include "schema/definition.h"

/** A change. Strings are borrowed, or the arena's. */
typedef struct casparian_change {
    const char *output;
    const char *column;    /* NULL: of the output */
    const char *what;      /* "added", "removed", "type", "nullable", "order", "mode", "format" */
    const char *from, *to; /* NULL: nothing to say */
    bool breaks;
} casparian_change;

/** Receives a change: those of an output in the order of the older columns, then the added ones. */
typedef void casparian_change_found(void *data, const casparian_change *change);

/** Compare. @return MCP_OK, also where there are changes; MCP_E_NOMEM */
mcp_status casparian_schemas_compare(const casparian_schemas *older, const casparian_schemas *newer,
                                     mcp_arena *arena, casparian_change_found *found, void *data,
                                     mcp_error *err);

#endif
