/*
 * pooler.c - refusing a pooler that gives each transaction another connection of the server.
 *
 * Prepared statements, LISTEN and SET belong to a connection of the server. Behind such a pooler
 * (PgBouncer with pool_mode=transaction) they fail now and then, or are lost without an error, and
 * our SET reaches the pooler's other clients. A pooler gives its clients keys of its own for
 * cancelling, so the process that libpq knows is not the one that answers. Whether it keeps a
 * connection for its client is found by asking again, and by a second client, which occupies one
 * meanwhile: a pooler gives the connection that was used last, or each in its turn.
 */
#include <stdlib.h>

#include "db/postgres/postgres_int.h"

static mcp_status read_process(int *out, pg_link *link, mcp_error *err)
{
    PGresult *result = NULL;
    mcp_status st = pg_exec(link, &result, "SELECT pg_backend_pid()", err);

    *out = 0;
    if (st == MCP_OK && pg_lib.PQntuples(result) == 1)
        *out = (int)strtol(pg_lib.PQgetvalue(result, 0, 0), NULL, 10);
    pg_lib.PQclear(result);
    return st;
}

static mcp_status refuse(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_UNSUPPORTED,
                         "the database is behind a pooler that shares its connections between "
                         "transactions, as PgBouncer does with pool_mode=transaction: name the "
                         "server's own address, or use pool_mode=session");
}

/* In a transaction of its own, the second client has a connection that no other has. */
static mcp_status compare(pg_link *self, pg_link *second, int process, mcp_error *err)
{
    int other = 0, again = 0;
    mcp_status st = read_process(&again, self, err);

    if (st == MCP_OK && again != process)
        return refuse(err);
    if (st == MCP_OK)
        st = pg_connect(&second->conn, self->target, err);
    if (st == MCP_OK)
        st = pg_exec(second, NULL, "BEGIN", err);
    if (st == MCP_OK)
        st = read_process(&other, second, err);
    if (st == MCP_OK && other == process)
        return refuse(err);
    if (st == MCP_OK)
        st = read_process(&again, self, err);
    return st == MCP_OK && again != process ? refuse(err) : st;
}

mcp_status pg_refuse_pooler(pg_link *self, mcp_error *err)
{
    pg_link second = { .target = self->target };
    int process = 0;
    mcp_status st = read_process(&process, self, err);

    if (st != MCP_OK || process == pg_lib.PQbackendPID(self->conn))
        return st;
    st = compare(self, &second, process, err);
    pg_lib.PQfinish(second.conn); /* which ends its transaction */
    return st;
}
