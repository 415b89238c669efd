/*
 * postgres_outcome.c - what became of a transaction whose COMMIT was sent and never answered.
 *
 * The connection may break, or the server be stopped, between the commit and the word of it. A program that takes
 * this for a failure does things twice, one that takes it for a success loses them. The server knows:
 * a transaction that writes is asked for its number when it begins, and a new connection then asks for the
 * number's fate, until the server is there and has decided.
 *
 * After a crash a server may give a number again of whose transaction nothing had reached the disk. So a number
 * that is said to be committed counts only if the server has not recovered since: the place where its last
 * recovery ended says which life of it this is. That it was not committed is true in either life.
 */
#include <stdio.h>
#include <time.h>

#include "db/postgres_int.h"
#include "mcp/clock.h"

enum { NAP_MS = 50 };

#define LIFE "coalesce(pg_last_wal_replay_lsn()::text, '')"

static void copy_cell(char *out, size_t size, const PGresult *result, int column)
{
    snprintf(out, size, "%s", PQntuples(result) == 1 ? PQgetvalue(result, 0, column) : "");
}

mcp_status pg_begin_known(pg_link *self, mcp_error *err)
{
    PGresult *result = NULL;

    self->transaction[0] = '\0';
    mcp_status status = pg_exec(self, &result,
                                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;"
                                " SELECT pg_current_xact_id()",
                                err);
    if (status == MCP_OK)
        copy_cell(self->transaction, sizeof self->transaction, result, 0);
    PQclear(result);
    return status;
}

mcp_status pg_note_life(pg_link *self, mcp_error *err)
{
    PGresult *result = NULL;
    mcp_status status = pg_exec(self, &result, "SELECT " LIFE, err);

    if (status == MCP_OK)
        copy_cell(self->recovered, sizeof self->recovered, result, 0);
    PQclear(result);
    return status;
}

/* What the server says of a transaction. */
enum fate { AWAY, UNDECIDED, DONE, UNDONE, UNKNOWN };

static enum fate read_fate(const pg_link *self, const PGresult *result)
{
    const char *words = PQgetisnull(result, 0, 0) ? "" : PQgetvalue(result, 0, 0);
    bool is_same_life = strcmp(PQgetvalue(result, 0, 1), self->recovered) == 0;

    if (strcmp(words, "in progress") == 0)
        return is_same_life ? UNDECIDED : UNDONE; /* the number is another's by now */
    if (strcmp(words, "aborted") == 0)
        return UNDONE;
    return strcmp(words, "committed") == 0 && is_same_life ? DONE : UNKNOWN;
}

/* By a connection of its own; the lost one is closed by whoever has it. */
static enum fate ask(const pg_link *self)
{
    pg_link link = { .target = self->target };
    PGresult *result = NULL;
    mcp_error err = MCP_ERROR_INIT;
    char sql[160];

    if (pg_connect(&link.conn, self->target, NULL) != MCP_OK)
        return AWAY;
    snprintf(sql, sizeof sql, "SELECT pg_xact_status('%s'::xid8), " LIFE, self->transaction);
    mcp_status status = pg_exec(&link, &result, sql, &err);
    enum fate fate = AWAY;
    if (status == MCP_OK && PQntuples(result) == 1)
        fate = read_fate(self, result);
    else if (status == MCP_E_SCHEMA) /* 22023: a number that was not given yet, in this life */
        fate = UNDONE;
    PQclear(result);
    PQfinish(link.conn);
    return fate;
}

mcp_status pg_find_outcome(const pg_link *self, mcp_error *err)
{
    const struct timespec nap = { .tv_nsec = NAP_MS * 1000000L };
    int64_t until_ms = mcp_clock_mono_ms() + self->target->options.wait_ms;
    enum fate fate = ask(self);

    while ((fate == AWAY || fate == UNDECIDED) && mcp_clock_mono_ms() < until_ms) {
        nanosleep(&nap, NULL);
        fate = ask(self);
    }
    if (fate == DONE)
        return MCP_OK;
    if (fate == UNDONE)
        return mcp_error_set(err, MCP_E_BUSY,
                             "the connection to the database was lost; nothing was done");
    return mcp_error_set(err, MCP_E_IO,
                         "the connection to the database was lost in the commit: whether it was "
                         "done is not known");
}
