/*
 * outcome.c - the outcome of a transaction with a COMMIT that was never answered.
 *
 * The connection may break, or the server stop, between the commit and its answer. A program that
 * takes this for a failure does its work twice, and one that takes it for a success loses it. The
 * server knows the outcome: the number of a transaction that writes is read when it begins, and a
 * new connection queries the status of that number until the server is reached and has decided.
 *
 * After a crash a server may assign the number of a transaction again if nothing of it had reached
 * the disk. So the status "committed" is valid only if the server has not recovered since: the
 * position at which its last recovery ended identifies its present run. The status "not committed"
 * is always valid.
 */
#include <stdio.h>
#include <time.h>

#include "db/postgres/postgres_int.h"
#include "mcp/clock.h"

enum { NAP_MS = 50 };

#define LIFE "coalesce(pg_last_wal_replay_lsn()::text, '')"

static void copy_cell(char *out, size_t size, const PGresult *result, int column)
{
    snprintf(out, size, "%s",
             pg_lib.PQntuples(result) == 1 ? pg_lib.PQgetvalue(result, 0, column) : "");
}

/* A transaction that writes and is idle, as that of a process that was frozen, is ended, so that
 * others get its locks. */
mcp_status pg_begin_known(pg_link *self, mcp_error *err)
{
    PGresult *result = NULL;

    self->transaction[0] = '\0';
    mcp_status st = pg_exec(self, &result,
                            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
                            "SET LOCAL idle_in_transaction_session_timeout = " PG_WRITE_IDLE "; "
                            "SELECT pg_current_xact_id()",
                            err);
    if (st == MCP_OK)
        copy_cell(self->transaction, sizeof self->transaction, result, 0);
    pg_lib.PQclear(result);
    return st;
}

mcp_status pg_note_life(pg_link *self, mcp_error *err)
{
    PGresult *result = NULL;
    mcp_status st = pg_exec(self, &result, "SELECT " LIFE, err);

    if (st == MCP_OK)
        copy_cell(self->recovered, sizeof self->recovered, result, 0);
    pg_lib.PQclear(result);
    return st;
}

/* The status of a transaction on the server. */
enum fate { AWAY, UNDECIDED, DONE, UNDONE, UNKNOWN };

static enum fate read_fate(const pg_link *self, const PGresult *result)
{
    const char *words = pg_lib.PQgetisnull(result, 0, 0) ? "" : pg_lib.PQgetvalue(result, 0, 0);
    bool is_same_life = strcmp(pg_lib.PQgetvalue(result, 0, 1), self->recovered) == 0;

    if (strcmp(words, "in progress") == 0)
        return is_same_life ? UNDECIDED : UNDONE; /* the number is another's by now */
    if (strcmp(words, "aborted") == 0)
        return UNDONE;
    return strcmp(words, "committed") == 0 && is_same_life ? DONE : UNKNOWN;
}

/* On a new connection; the caller closes the lost one. */
static enum fate ask(const pg_link *self)
{
    pg_link link = { .target = self->target };
    PGresult *result = NULL;
    mcp_error err = MCP_ERROR_INIT;
    char sql[160];

    if (pg_connect(&link.conn, self->target, NULL) != MCP_OK)
        return AWAY;
    snprintf(sql, sizeof sql, "SELECT pg_xact_status('%s'::xid8), " LIFE, self->transaction);
    mcp_status st = pg_exec(&link, &result, sql, &err);
    enum fate fate = AWAY;
    if (st == MCP_OK && pg_lib.PQntuples(result) == 1)
        fate = read_fate(self, result);
    else if (st == MCP_E_SCHEMA) /* 22023: a number that is not yet assigned, in this run */
        fate = UNDONE;
    pg_lib.PQclear(result);
    pg_lib.PQfinish(link.conn);
    return fate;
}

mcp_status pg_nothing_done(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_BUSY,
                         "the connection to the database was lost; nothing was done");
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
        return pg_nothing_done(err);
    return mcp_error_set(err, MCP_E_IO,
                         "the connection to the database was lost in the commit: whether it was "
                         "done is not known");
}
