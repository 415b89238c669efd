/*
 * postgres.c - the driver for PostgreSQL: transactions, statements, rows.
 *
 * A statement is prepared and described once a connection, which gives the types of its parameters.
 * The server keeps its plan until it has new statistics of a table, a minute or more. A plan made
 * for an empty table may read all of it when it has grown, so plans are dropped after 64
 * statements, 128, 256, and so on: none is older than half of the connection's work.
 * Rows arrive in libpq's single-row mode. query() fetches the first result, so a failure is
 * returned at once, as by SQLite.
 *
 * After a failure the server accepts only ROLLBACK, and a session sends nothing else.
 *
 * A deferred statement is sent in libpq's pipeline mode and not waited for: its answer is read
 * together with that of the next statement that needs one, in one round trip (settle). The server
 * skips what follows a failure in a pipeline up to the next sync, so a COMMIT behind a statement
 * that failed does not run. The mode ends as soon as nothing is outstanding, because the simple
 * protocol cannot be used in it. So go the BEGIN of a transaction that reads and its end, whose
 * answer is read when the connection begins its next transaction.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/dialect.h"
#include "db/postgres/postgres_int.h"
#include "mcp/alloc.h"

enum { VALUES_ROOM_MAX = 1 << 30, VALUES_ROOM_KEPT = 1 << 20, SCRIPT_MAX = 32 << 20 };
enum { PLANS_FIRST = 64, LOOKS_MAX = 8 };

/* The advisory lock of migrations: "causeway" read as a number. */
#define SCHEMA_LOCK "7161077512438538617"

/* The next result, when it is there; NULL at the end. */
static mcp_status next_result(PGresult **out, pg_link *self, mcp_error *err)
{
    mcp_status st = pg_wait(self, err);

    if (st == MCP_OK)
        *out = pg_lib.PQgetResult(self->conn);
    return st;
}

/* The status of a statement's result. COPY would change the mode of the connection. */
static mcp_status judge(pg_link *self, const PGresult *result, mcp_error *err)
{
    switch (pg_lib.PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
        return MCP_OK;
    case PGRES_EMPTY_QUERY:
        return mcp_error_set(err, MCP_E_INTERNAL, "database: an empty statement");
    case PGRES_COPY_IN:
    case PGRES_COPY_OUT:
    case PGRES_COPY_BOTH:
        self->base.is_lost = true;
        return mcp_error_set(err, MCP_E_INTERNAL, "database: COPY is not for sessions");
    default:
        return pg_fail(self, result, err);
    }
}

/* Read all results of a statement. @param last the last one, yours; may be NULL */
static mcp_status collect(pg_link *self, PGresult **last, mcp_error *err)
{
    mcp_status st = MCP_OK;
    PGresult *kept = NULL;
    PGresult *result = NULL;

    for (;;) {
        mcp_status waited = next_result(&result, self, st == MCP_OK ? err : NULL);
        if (waited != MCP_OK || !result) {
            st = st == MCP_OK ? waited : st;
            break;
        }
        if (st == MCP_OK)
            st = judge(self, result, err);
        pg_lib.PQclear(kept);
        kept = result;
        if (self->base.is_lost)
            break;
    }
    if (st == MCP_OK && last)
        *last = kept;
    else
        pg_lib.PQclear(kept);
    return st;
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

/* The deadline of an answer begins when it is waited for, so nothing is flushed before. */
static mcp_status enter_pipe(pg_link *self, mcp_error *err)
{
    if (self->is_piped)
        return MCP_OK;
    if (!pg_lib.PQenterPipelineMode(self->conn))
        return pg_lose(self, err);
    self->is_piped = true;
    self->has_terms = false;
    self->sent_bytes = 0;
    return MCP_OK;
}

/* The server works off what was sent, and what comes next even if that has failed. */
static mcp_status send_sync(pg_link *self, mcp_error *err)
{
    return pg_lib.PQpipelineSync(self->conn) ? MCP_OK : pg_lose(self, err);
}

/* The answer to a sync. */
static mcp_status read_sync(pg_link *self, mcp_error *err)
{
    PGresult *result = NULL;
    mcp_status st = next_result(&result, self, err);

    if (st == MCP_OK && pg_lib.PQresultStatus(result) != PGRES_PIPELINE_SYNC)
        st = pg_lose(self, err);
    pg_lib.PQclear(result);
    return st;
}

/* Behind the last answer: leave the pipeline, if the link is in one. */
static mcp_status end_pipe(pg_link *self, mcp_error *err)
{
    if (!self->is_piped || self->base.is_lost)
        return MCP_OK;
    mcp_status st = read_sync(self, err);
    if (st == MCP_OK && !pg_lib.PQexitPipelineMode(self->conn))
        st = pg_lose(self, err);
    self->is_piped = false;
    return st;
}

/* The answer to a deferred statement. */
static mcp_status read_owed(pg_link *self, mcp_status otherwise, mcp_error *err)
{
    PGresult *result = NULL;
    mcp_status st = collect(self, &result, err);

    if (st == MCP_OK && otherwise != MCP_OK && strcmp(pg_lib.PQcmdTuples(result), "0") == 0)
        st = mcp_error_set(err, otherwise, "a deferred statement has found no row");
    pg_lib.PQclear(result);
    return st;
}

/* The answers to all deferred statements. @return the first failure */
static mcp_status read_all_owed(pg_link *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < self->owed_count && !self->base.is_lost; i++) {
        mcp_status one = read_owed(self, self->owed[i], st == MCP_OK ? err : NULL);
        if (st == MCP_OK)
            st = one;
    }
    self->owed_count = 0;
    return st;
}

/* Read the answers that are outstanding, and leave the pipeline. @return the first failure */
static mcp_status settle(pg_link *self, mcp_error *err)
{
    if (!self->is_piped || self->base.is_lost)
        return MCP_OK;
    mcp_status st = send_sync(self, err);
    if (st == MCP_OK)
        st = read_all_owed(self, err);
    mcp_status ended = end_pipe(self, st == MCP_OK ? err : NULL);
    return st == MCP_OK ? ended : st;
}

/* Read the last answer, and leave the pipeline. As collect. */
static mcp_status collect_and_leave(pg_link *self, PGresult **last, mcp_error *err)
{
    mcp_status st = collect(self, last, err);
    mcp_status ended = end_pipe(self, st == MCP_OK ? err : NULL);

    return st == MCP_OK ? ended : st;
}

/* Read the answers that are outstanding before that of the statement sent last. @return the first
 * failure; then the pipeline has ended, and that statement did not run */
static mcp_status settle_before(pg_link *self, mcp_error *err)
{
    mcp_status st = send_sync(self, err);

    if (st == MCP_OK)
        st = read_all_owed(self, err);
    if (st != MCP_OK && !self->base.is_lost)
        (void)collect_and_leave(self, NULL, NULL);
    return st;
}

static mcp_status send_plain(pg_link *self, const char *sql, mcp_error *err)
{
    return pg_lib.PQsendQueryParams(self->conn, sql, 0, NULL, NULL, NULL, NULL, 0)
               ? MCP_OK
               : pg_lose(self, err);
}

/* ---- statements ------------------------------------------------------------------------------ */

mcp_status pg_exec(pg_link *self, PGresult **last, const char *sql, mcp_error *err)
{
    mcp_status st = settle(self, err);

    if (st != MCP_OK)
        return st;
    if (!pg_lib.PQsendQuery(self->conn, sql))
        return pg_lose(self, err);
    return collect(self, last, err);
}

static mcp_status exec(pg_link *self, const char *sql, mcp_error *err)
{
    return pg_exec(self, NULL, sql, err);
}

static void free_statement(pg_statement *statement)
{
    if (!statement)
        return;
    free(statement->types);
    free(statement);
}

static void close_link(db_link *link)
{
    pg_link *self = (pg_link *)link;
    pg_statement *statement = NULL;

    for (statement = db_cache_take(&self->cache, NULL); statement;
         statement = db_cache_take(&self->cache, NULL))
        free_statement(statement);
    pg_lib.PQclear(self->row);
    pg_lib.PQfinish(self->conn);
    mcp_buf_clear(&self->room);
    free(self);
}

/* Waits for locks are limited. From PostgreSQL 14 on the server stops working for a client that is
 * gone. */
static mcp_status configure(pg_link *self, mcp_error *err)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "SET lock_timeout = %d; SET idle_in_transaction_session_timeout = " PG_READ_IDLE "; "
             "SET client_min_messages = warning; SET standard_conforming_strings = on%s",
             self->target->options.wait_ms,
             pg_lib.PQserverVersion(self->conn) >= 140000
                 ? "; SET client_connection_check_interval = '5s'"
                 : "");
    return exec(self, sql, err);
}

static mcp_status open_link(db_link **out, const db_target *target, db_mode mode, mcp_error *err)
{
    pg_link *self = mcp_alloc_zeroed(1, sizeof *self);

    (void)mode;
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    self->target = target;
    self->plans_until = PLANS_FIRST;
    mcp_buf_init(&self->room, VALUES_ROOM_MAX);
    mcp_status st = pg_connect(&self->conn, target, err);
    if (st == MCP_OK)
        st = pg_refuse_pooler(self, err);
    if (st == MCP_OK)
        st = configure(self, err);
    if (st == MCP_OK)
        st = pg_note_life(self, err);
    if (st == MCP_OK)
        *out = &self->base;
    else
        close_link(&self->base);
    return st;
}

static void deallocate(pg_link *self, pg_statement *statement)
{
    char sql[64];

    if (!statement)
        return;
    snprintf(sql, sizeof sql, "DEALLOCATE %s", statement->name);
    /* Where this fails the connection has failed, and the next statement returns the error. */
    (void)exec(self, sql, NULL);
    free_statement(statement);
}

static mcp_status describe(pg_statement *statement, pg_link *self, mcp_error *err)
{
    PGresult *described = NULL;

    if (!pg_lib.PQsendDescribePrepared(self->conn, statement->name))
        return pg_lose(self, err);
    mcp_status st = collect(self, &described, err);
    if (st != MCP_OK)
        return st;
    statement->count = (size_t)pg_lib.PQnparams(described);
    statement->types = mcp_alloc_zeroed(statement->count + 1, sizeof *statement->types);
    for (size_t i = 0; statement->types && i < statement->count; i++)
        statement->types[i] = pg_lib.PQparamtype(described, (int)i);
    pg_lib.PQclear(described);
    return statement->types ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a statement");
}

static mcp_status prepare_new(pg_statement **out, pg_link *self, const char *sql, mcp_error *err)
{
    pg_statement *statement = mcp_alloc_zeroed(1, sizeof *statement);
    void *dropped = NULL;

    if (!statement)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a statement");
    snprintf(statement->name, sizeof statement->name, "s%" PRIu64, ++self->named);
    mcp_status st = MCP_OK;
    if (!pg_lib.PQsendPrepare(self->conn, statement->name, sql, 0, NULL))
        st = pg_lose(self, err);
    if (st == MCP_OK)
        st = collect(self, NULL, err);
    if (st == MCP_OK)
        st = describe(statement, self, err);
    if (st == MCP_OK)
        st = db_cache_put(&dropped, &self->cache, sql, statement, err);
    if (st != MCP_OK) {
        free_statement(statement);
        return st;
    }
    deallocate(self, dropped);
    *out = statement;
    return MCP_OK;
}

static mcp_status prepare(pg_statement **out, pg_link *self, const char *sql, mcp_error *err)
{
    *out = db_cache_find(&self->cache, sql);
    if (*out)
        return MCP_OK;
    mcp_status st = settle(self, err);
    return st == MCP_OK ? prepare_new(out, self, sql, err) : st;
}

/* Values may be large; a connection does not keep their memory. */
static void shrink_room(pg_link *self)
{
    if (self->room.capacity > VALUES_ROOM_KEPT)
        mcp_buf_clear(&self->room);
}

static mcp_status send_call(pg_link *self, const db_call *call, mcp_error *err)
{
    pg_statement *statement = NULL;
    mcp_status st = prepare(&statement, self, call->sql, err);

    if (st == MCP_OK)
        st = pg_send(self, statement, call, err);
    shrink_room(self);
    return st;
}

/* Send a statement behind those that are outstanding, and read their answers: its own is next. */
static mcp_status send_and_settle(pg_link *self, const db_call *call, mcp_error *err)
{
    mcp_status st = send_call(self, call, err);

    return st == MCP_OK && self->is_piped ? settle_before(self, err) : st;
}

static mcp_status run(db_link *link, int64_t *changed, const db_call *call, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    PGresult *result = NULL;
    mcp_status st = send_and_settle(self, call, err);

    if (st == MCP_OK)
        st = collect_and_leave(self, &result, err);
    if (st == MCP_OK) {
        bool has_rows = strncmp(pg_lib.PQcmdStatus(result), "SELECT", 6) == 0;
        *changed = has_rows ? 0 : strtoll(pg_lib.PQcmdTuples(result), NULL, 10);
    }
    pg_lib.PQclear(result);
    return st;
}

static mcp_status defer(db_link *link, mcp_status otherwise, const db_call *call, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    pg_statement *statement = NULL;
    mcp_status st = prepare(&statement, self, call->sql, err); /* outside of the pipeline */

    for (size_t i = 0; i < call->count; i++)
        self->sent_bytes += call->values[i].length;
    if (st == MCP_OK && (self->owed_count == PG_OWED_MAX || self->sent_bytes > PG_OWED_BYTES))
        st = settle(self, err);
    if (st == MCP_OK)
        st = enter_pipe(self, err);
    if (st == MCP_OK)
        st = pg_send(self, statement, call, err);
    shrink_room(self);
    if (st == MCP_OK)
        self->owed[self->owed_count++] = otherwise;
    if (otherwise != MCP_OK)
        self->has_terms = true;
    return st;
}

static mcp_status script(db_link *link, const char *sql, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    mcp_buf text;

    mcp_buf_init(&text, SCRIPT_MAX);
    mcp_status st = db_dialect_of_postgres(&text, sql);
    if (st != MCP_OK)
        mcp_error_set(err, st, "no room for a script");
    else
        st = exec(self, text.data ? text.data : "", err);
    mcp_buf_clear(&text);
    if (st == MCP_OK && pg_lib.PQtransactionStatus(self->conn) != PQTRANS_INTRANS)
        st = mcp_error_set(err, MCP_E_INTERNAL, "database: the script ended the transaction");
    return st;
}

static mcp_status lock_schema(db_link *link, mcp_error *err)
{
    return exec((pg_link *)link, "SELECT pg_advisory_xact_lock(" SCHEMA_LOCK ")", err);
}

static mcp_status drop_old_plans(pg_link *self, mcp_error *err)
{
    if (self->sent < self->plans_until)
        return MCP_OK;
    self->plans_until = 2 * self->sent;
    return exec(self, "DISCARD PLANS", err);
}

/* Send a statement behind those that are outstanding; its answer is read with the next one's. */
static mcp_status owe(pg_link *self, const char *sql, mcp_error *err)
{
    mcp_status st = self->owed_count == PG_OWED_MAX ? settle(self, err) : MCP_OK;

    if (st == MCP_OK)
        st = enter_pipe(self, err);
    if (st == MCP_OK)
        st = send_plain(self, sql, err);
    if (st == MCP_OK)
        self->owed[self->owed_count++] = MCP_OK;
    return st;
}

/* End a transaction that has only read. Nothing depends on the answer, so it is read when the next
 * transaction begins. */
static mcp_status leave_reading(pg_link *self, const char *verb, mcp_error *err)
{
    mcp_status st = owe(self, verb, err);

    if (st == MCP_OK)
        st = send_sync(self, err);
    self->is_left = st == MCP_OK;
    return st;
}

/* Read the answer to the end of the transaction before. A failure means nothing, unless the link is
 * lost. */
static mcp_status arrive(pg_link *self, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;

    if (!self->is_left)
        return MCP_OK;
    self->is_left = false;
    mcp_status st = read_all_owed(self, &cause);
    if (!self->base.is_lost)
        return end_pipe(self, err);
    if (err)
        *err = cause;
    return st;
}

/* Whether the server has closed the connection while it was idle; without a round trip. It may have
 * said why before. */
static mcp_status look_for_end(pg_link *self, mcp_error *err)
{
    struct pollfd socket = { .fd = pg_lib.PQsocket(self->conn), .events = POLLIN };

    for (int i = 0; i < LOOKS_MAX && poll(&socket, 1, 0) > 0; i++) {
        if (!pg_lib.PQconsumeInput(self->conn))
            return pg_lose(self, err);
    }
    return MCP_OK;
}

static mcp_status begin(db_link *link, db_mode mode, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    mcp_status st = arrive(self, err);

    if (st == MCP_OK)
        st = drop_old_plans(self, err);
    self->is_reading = mode != DB_WRITE;
    if (st == MCP_OK && !self->is_reading)
        return pg_begin_known(self, err);
    if (st == MCP_OK)
        st = look_for_end(self, err);
    return st == MCP_OK ? owe(self, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err) : st;
}

/* Two syncs: it runs even if a deferred statement has failed, so that a savepoint can be rolled
 * back. */
static mcp_status command_piped(pg_link *self, const char *sql, bool undoes, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status owed = send_sync(self, err);

    if (owed == MCP_OK)
        owed = send_plain(self, sql, err);
    if (owed == MCP_OK)
        owed = send_sync(self, err);
    if (owed != MCP_OK)
        return owed;
    owed = read_all_owed(self, &cause);
    mcp_status st = self->base.is_lost ? owed : read_sync(self, err);
    if (st == MCP_OK)
        st = collect_and_leave(self, NULL, err);
    if (owed == MCP_OK || undoes)
        return st;
    if (err)
        *err = cause;
    return owed;
}

static mcp_status command(db_link *link, const char *sql, bool undoes, mcp_error *err)
{
    pg_link *self = (pg_link *)link;

    return self->is_piped ? command_piped(self, sql, undoes, err) : exec(self, sql, err);
}

/* COMMIT goes with what is outstanding, unless the server does not take all failures of that for
 * failures. */
static mcp_status send_commit(pg_link *self, PGresult **out, bool *is_sent, mcp_error *err)
{
    mcp_status st = self->has_terms ? settle(self, err) : MCP_OK;

    if (st != MCP_OK)
        return st;
    *is_sent = true;
    if (!self->is_piped)
        return pg_exec(self, out, "COMMIT", err);
    st = send_plain(self, "COMMIT", err);
    if (st == MCP_OK)
        st = settle_before(self, err);
    return st == MCP_OK ? collect_and_leave(self, out, err) : st;
}

/* A deferred statement that nothing has followed may have found no row. */
static mcp_status commit_reading(pg_link *self, mcp_error *err)
{
    mcp_status st = self->has_terms ? settle(self, err) : MCP_OK;

    return st == MCP_OK ? leave_reading(self, "COMMIT", err) : st;
}

/* The server answers the COMMIT of a failed transaction by "ROLLBACK", without an error. */
static mcp_status commit(db_link *link, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    PGresult *result = NULL;
    bool is_sent = false;

    if (self->is_reading)
        return commit_reading(self, err);
    mcp_status st = send_commit(self, &result, &is_sent, err);

    if (st == MCP_OK && strcmp(pg_lib.PQcmdStatus(result), "COMMIT") != 0)
        st = mcp_error_set(err, MCP_E_IO, "database: the transaction was not committed");
    pg_lib.PQclear(result);
    if (st == MCP_OK || !self->base.is_lost)
        return st;
    if (!is_sent)
        return st == MCP_E_IO ? pg_nothing_done(err) : st;
    return *self->transaction ? pg_find_outcome(self, err) : st;
}

/* Read the remaining results, so that the connection is free. */
static void finish(db_link *link)
{
    pg_link *self = (pg_link *)link;

    pg_lib.PQclear(self->row);
    self->row = NULL;
    if (self->is_querying && !self->base.is_lost)
        (void)collect_and_leave(self, NULL, NULL);
    self->is_querying = false;
}

static void rollback(db_link *link)
{
    pg_link *self = (pg_link *)link;

    finish(link);
    (void)settle(self, NULL);
    if (self->base.is_lost || pg_lib.PQtransactionStatus(self->conn) == PQTRANS_IDLE)
        return;
    mcp_status st = self->is_reading ? leave_reading(self, "ROLLBACK", NULL)
                                     : exec(self, "ROLLBACK", NULL);
    self->base.is_lost = self->base.is_lost || st != MCP_OK;
}

/* Fetch one row into `row`; without one there the query is over. */
static mcp_status fetch(pg_link *self, mcp_error *err)
{
    PGresult *result = NULL;

    pg_lib.PQclear(self->row);
    self->row = NULL;
    mcp_status st = next_result(&result, self, err);
    if (st == MCP_OK && result)
        st = judge(self, result, err);
    if (st == MCP_OK && pg_lib.PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
        self->row = result;
        return MCP_OK;
    }
    pg_lib.PQclear(result);
    finish(&self->base);
    return st;
}

static mcp_status query(db_link *link, const db_call *call, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    mcp_status st = send_and_settle(self, call, err);

    if (st != MCP_OK)
        return st;
    self->is_querying = true;
    pg_lib.PQsetSingleRowMode(self->conn);
    st = fetch(self, err);
    if (st == MCP_OK && self->row)
        st = pg_check_types(self->row, err);
    if (st != MCP_OK)
        finish(link);
    self->has_first = self->row != NULL;
    return st;
}

static mcp_status next(db_link *link, bool *has_row, mcp_error *err)
{
    pg_link *self = (pg_link *)link;
    mcp_status st = MCP_OK;

    if (!self->has_first && self->is_querying)
        st = fetch(self, err);
    self->has_first = false;
    if (st == MCP_OK)
        *has_row = self->row != NULL;
    return st;
}

static int columns(const db_link *link)
{
    return pg_lib.PQnfields(((const pg_link *)link)->row);
}

static db_value cell(const db_link *link, int column)
{
    return pg_cell(((const pg_link *)link)->row, column);
}

static mcp_status notify(db_link *link, const char *channel, const char *payload, mcp_error *err)
{
    db_value values[] = { db_text(channel), db_text(payload) };

    return defer(link, MCP_OK, &(db_call){ "SELECT pg_notify($1, $2)", values, 2 }, err);
}

const db_driver db_postgres = {
    .name = "postgres",
    .is_shared = true,
    .clock = "CAST(floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)",
    .parse_url = pg_parse_url,
    .free = pg_free_target,
    .open = open_link,
    .close = close_link,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .command = command,
    .run = run,
    .defer = defer,
    .script = script,
    .lock_schema = lock_schema,
    .query = query,
    .next = next,
    .finish = finish,
    .columns = columns,
    .cell = cell,
    .notify = notify,
    .listen = pg_listen,
};
