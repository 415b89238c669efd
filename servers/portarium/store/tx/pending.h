/**
 * pending.h - what a transaction has still to write.
 *
 * A command changes a record several times, and adds its events one by one. The database gets each
 * record once, as it is in the end, and the rows of a table together: before the next statement
 * that names their table, and at the end of the transaction. So nobody sees the difference, and
 * there are fewer statements, and fewer versions of a row for PostgreSQL to keep.
 */
#ifndef PORTARIUM_STORE_TX_PENDING_H
#define PORTARIUM_STORE_TX_PENDING_H

#include "store/tx.h"

/** Writes what was kept back. @param what as it was added */
typedef mcp_status portarium_write(portarium_tx *tx, void *what, mcp_error *err);

/** Keep changes back from now on, until portarium_pending_end. Without this they are written at
 *  once. @param tx stays where it is until then */
mcp_status portarium_pending_begin(portarium_tx *tx, mcp_error *err);

/** Write everything, and keep nothing back any more. */
mcp_status portarium_pending_end(portarium_tx *tx, mcp_error *err);

/** Forget what was not written: the transaction has failed. */
void portarium_pending_drop(portarium_tx *tx);

/** What was added for a row of a table and is not written; NULL: nothing. */
void *portarium_pending_find(const portarium_tx *tx, const char *table, const char *id);

/** Keep a write back. @param table a literal @param id of the row @param what, id in the arena */
mcp_status portarium_pending_add(portarium_tx *tx, const char *table, const char *id,
                                 portarium_write *write, void *what, mcp_error *err);

/** A table that rows are added to and that reports no conflict. Literals. */
typedef struct portarium_rows {
    const char *table, *columns;
    size_t count; /* of the columns; at most PORTARIUM_ROW_COLUMNS_MAX */
} portarium_rows;

enum { PORTARIUM_ROW_COLUMNS_MAX = 12 };

/** Add a row. @param values one for each column; copied */
mcp_status portarium_pending_row(portarium_tx *tx, const portarium_rows *of, const db_value *values,
                                 mcp_error *err);

#endif
