/*
 * postgres_int.h - a connection of libpq, for the files of the PostgreSQL driver.
 */
#ifndef DB_POSTGRES_INT_H
#define DB_POSTGRES_INT_H

#include "db/cache.h"
#include "db/driver.h"
#include "db/postgres/libpq.h"
#include "mcp/buf.h"

/* A prepared statement. */
typedef struct pg_statement {
    char name[24];
    size_t count; /* of parameters */
    Oid *types;   /* one a parameter */
} pg_statement;

/* How long a transaction may be idle. One that reads keeps nobody waiting. */
#define PG_WRITE_IDLE "'20s'"
#define PG_READ_IDLE "'10min'"

/* Statements whose answers may be outstanding. */
enum { PG_OWED_MAX = 100, PG_OWED_BYTES = 1 << 20 };

typedef struct pg_link {
    db_link base;
    const db_target *target;
    PGconn *conn;
    struct db_cache cache; /* of pg_statement */
    uint64_t named;        /* statements so far; makes their names */
    uint64_t sent;         /* statements that were executed so far */
    uint64_t plans_until;  /* so many; then the server makes their plans again */
    PGresult *row;         /* the row that is read; NULL: none */
    bool is_querying;      /* rows may still come */
    bool has_first;        /* `row` was fetched and not yet asked for */
    char transaction[24];  /* of a transaction that writes: its number, for outcome.c */
    char recovered[32];    /* where the server's last recovery ended; "": it began without one */
    mcp_buf room;          /* of values on their way to the server */
    bool is_piped;         /* in pipeline mode: statements were sent and not yet answered */
    bool is_reading;       /* the transaction, or the one before */
    bool is_left;          /* nobody has read the answer to the end of the one before */
    bool has_terms;        /* the status `otherwise` of one of these is a failure */
    size_t sent_bytes;     /* of the values of these */
    size_t owed_count;     /* of these, in the order of sending */
    mcp_status owed[PG_OWED_MAX]; /* of one that changes no row; MCP_OK: that is no failure */
} pg_link;

/* link.c: the URL, connecting, waiting, failures */
mcp_status pg_parse_url(db_target *target, const char *url, mcp_error *err);
void pg_free_target(db_target *target);
mcp_status pg_connect(PGconn **out, const db_target *target, mcp_error *err);

/* Send pending data and wait until PQgetResult does not block. On a failure the link is lost. */
mcp_status pg_wait(pg_link *self, mcp_error *err);

/* The status and message of a failed result. */
mcp_status pg_fail(pg_link *self, const PGresult *result, mcp_error *err);

/* The connection failed while sending. */
mcp_status pg_lose(pg_link *self, mcp_error *err);

/* postgres.c: statements by the simple protocol. @param last the last one's result, yours;
 * NULL: dropped */
mcp_status pg_exec(pg_link *self, PGresult **last, const char *sql, mcp_error *err);

/* pooler.c: @return MCP_OK; MCP_E_UNSUPPORTED: the connection's next transaction may have another
 * connection of the server; as pg_exec */
mcp_status pg_refuse_pooler(pg_link *self, mcp_error *err);

/* outcome.c: begin a transaction that writes, so that its outcome can be queried */
mcp_status pg_begin_known(pg_link *self, mcp_error *err);

/* Record the run of the server that the new connection belongs to. */
mcp_status pg_note_life(pg_link *self, mcp_error *err);

/* The connection was lost before a COMMIT was sent. @return MCP_E_BUSY */
mcp_status pg_nothing_done(mcp_error *err);

/* The outcome of a COMMIT during which the connection was lost. @return MCP_OK; MCP_E_BUSY:
 * nothing was done; MCP_E_IO: unknown */
mcp_status pg_find_outcome(const pg_link *self, mcp_error *err);

/* value.c: values on their way there and back */
mcp_status pg_send(pg_link *self, const pg_statement *statement, const db_call *call,
                   mcp_error *err);

/* Refuse a column whose type pg_cell cannot read. */
mcp_status pg_check_types(const PGresult *row, mcp_error *err);
db_value pg_cell(const PGresult *row, int column);

/* listen.c */
mcp_status pg_listen(db_listener **out, const db_target *target, const char *channel,
                     db_on_notify *on_notify, void *data, mcp_error *err);

#endif
