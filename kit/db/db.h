/**
 * db.h - SQL state in SQLite or PostgreSQL, behind one port.
 *
 * A `db` is a pool of connections; a `db_session` is one of them inside one transaction. The same
 * SQL runs on both, as long as it keeps to this: parameters `$1`, `$2`, ...; the types TEXT, BIGINT,
 * DOUBLE PRECISION and BLOB (which a migration may write for PostgreSQL too: there it becomes BYTEA);
 * `ON CONFLICT ... DO`, `RETURNING`; `FOR UPDATE [SKIP LOCKED]` behind a SELECT (SQLite has one
 * writer at a time, so its driver leaves it out). A text holds UTF-8 and no NUL. PostgreSQL takes a
 * parameter's type from where it stands; where nothing tells (`$1 IS NULL`, `$1 + 1`), the SQL must:
 * CAST($1 AS BIGINT).
 *
 *     db_session *session;
 *     mcp_status st = db_begin(&session, app->db, DB_WRITE, err);
 *     if (st != MCP_OK)
 *         return st;
 *     db_value values[] = { db_text(id), db_int(version) };
 *     st = db_run(session, &changed, "UPDATE t SET version = $2 WHERE id = $1", values, 2, err);
 *     if (st == MCP_OK)
 *         return db_commit(session, err);
 *     db_rollback(session);
 *     return st;
 *
 * A session stops at its first failure, on both engines: what follows in it returns the same error,
 * and it can only be rolled back (or committed, which then rolls back and returns that error).
 *
 * What functions of a session return beside MCP_OK:
 *   MCP_E_EXISTS   a unique or primary key is there already
 *   MCP_E_SCHEMA   another constraint was violated, or a value does not fit its column
 *   MCP_E_BUSY     a lock or a connection was not free in time, the server cannot be reached (any
 *                  more), a deadlock, a serialization failure: the same transaction may succeed
 *                  when it is tried again
 *   MCP_E_TIMEOUT  a statement took longer than `statement_ms`
 *   MCP_E_DENIED   writing in a DB_READ session, a read-only database or without the right
 *   MCP_E_IO       the file or the connection failed (disk full, not a database, connection lost)
 *   MCP_E_LIMIT    too many values, too long a text
 *   MCP_E_PARAMS   the values do not go with the statement, or a rule of this header was broken
 *   MCP_E_INTERNAL the SQL is wrong; MCP_E_UNSUPPORTED a column's type is none of ours
 *   MCP_E_NOMEM
 * The message is the engine's first line; it never holds a password.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mcp/error.h"
#include "mcp/files.h"
#include "mcp/log.h"

/** A pool of connections to one database. Any thread. */
typedef struct db db;

/** One connection inside one transaction. One thread at a time. */
typedef struct db_session db_session;

/** What a statement gives, read row by row. Its session's thread. */
typedef struct db_rows db_rows;

/** A thread that waits for notifications. */
typedef struct db_listener db_listener;

/** How a database is opened. Zero is the default everywhere. */
typedef struct db_options {
    int connections;  /* at most so many; 0: 8. SQLite: one writes, the others read */
    int wait_ms;      /* the longest wait for a free connection, or for a lock; 0: 10,000. A new
                       * connection to a server may take ten seconds by itself */
    int statement_ms; /* the longest a statement may give no row and no end; 0: 60,000 */
    bool read_only;   /* DB_WRITE is refused; a SQLite file must be there */
    bool relaxed;     /* SQLite: synchronous NORMAL, so a power cut may take the last commits */
    mcp_log log;      /* connections that were lost, notices of the server */
} db_options;

/**
 * Open a database and try it with one connection.
 *
 * @param out     yours, close it with db_close
 * @param url     "sqlite:PATH" (made with mode 0600 when it is not there; its folder must be there),
 *                "postgres://USER[:PASSWORD]@HOST:PORT/NAME[?...]" or "postgresql://..." (all that
 *                libpq takes, with every '@' but the one before the host percent-encoded), or
 *                "memory" (SQLite, private to this `db`, one connection: readers and writers take
 *                turns)
 * @param options NULL for the defaults
 * @return MCP_OK; MCP_E_PARAMS (the URL); MCP_E_NOT_FOUND (no such folder; file, read-only);
 *         MCP_E_DENIED; MCP_E_IO (not a database, no server there, password refused); MCP_E_BUSY;
 *         MCP_E_NOMEM. Messages about a file name it.
 */
mcp_status db_open(db **out, const char *url, const db_options *options, mcp_error *err);

/** Close it. No session, rows or listener of it may be left. NULL is fine. */
void db_close(db *self);

/** Whether other processes' notifications are heard by db_listen: PostgreSQL. */
bool db_is_shared(const db *db);

/** "sqlite" or "postgres". */
const char *db_engine(const db *self);

/**
 * Bring the schema up to date: run those of "FOLDER/001-name.sql", "FOLDER/002-name.sql", ... that
 * this database has not seen, by rising number, all in one transaction, under a lock that two
 * processes respect. Each is recorded with its SHA-256 in the table db_migrations.
 *
 * A script may hold many statements, but none that begins or ends a transaction.
 *
 * @param files  as cmake/embed.cmake writes them
 * @param folder "sql"; files elsewhere are not looked at
 * @return MCP_OK; MCP_E_PARAMS: a file has a bad name or a number twice, was changed after it was
 *         run, would have to run before one that has been, or the database knows a migration that
 *         `files` lacks (a newer program made it); the message names it. MCP_E_DENIED: read_only
 *         and not up to date. What SQL functions return: the message begins with the file's name.
 */
mcp_status db_migrate(db *self, const mcp_file *files, const char *folder, mcp_error *err);

/** What a value is. */
typedef enum db_kind { DB_NULL, DB_INT, DB_DOUBLE, DB_TEXT, DB_BLOB } db_kind;

/** A parameter of a statement. Text and bytes are borrowed for the call. */
typedef struct db_value {
    db_kind kind;
    int64_t integer;   /* DB_INT */
    double real;       /* DB_DOUBLE; not NaN */
    const char *bytes; /* DB_TEXT and DB_BLOB; a text need not end in NUL */
    size_t length;     /* of the bytes */
} db_value;

static inline db_value db_null(void)
{
    return (db_value){ .kind = DB_NULL };
}

static inline db_value db_int(int64_t value)
{
    return (db_value){ .kind = DB_INT, .integer = value };
}

static inline db_value db_double(double value)
{
    return (db_value){ .kind = DB_DOUBLE, .real = value };
}

/** A text of that many bytes; NULL is SQL's NULL. */
static inline db_value db_text_n(const char *text, size_t length)
{
    return text ? (db_value){ .kind = DB_TEXT, .bytes = text, .length = length } : db_null();
}

/** A text; NULL is SQL's NULL. */
static inline db_value db_text(const char *text)
{
    return db_text_n(text, text ? strlen(text) : 0);
}

/** Bytes; NULL is SQL's NULL, unless there are none. */
static inline db_value db_blob(const void *bytes, size_t length)
{
    const char *at = bytes ? (const char *)bytes : "";

    return bytes || length == 0 ? (db_value){ .kind = DB_BLOB, .bytes = at, .length = length }
                                : db_null();
}

/** What a session is for. */
typedef enum db_mode {
    DB_READ, /* one snapshot of the database from the first statement to the end */
    DB_WRITE /* SQLite: alone from the beginning (BEGIN IMMEDIATE). PostgreSQL: READ COMMITTED, so
              * lock by FOR UPDATE what you read in order to change it */
} db_mode;

/**
 * Take a connection and begin a transaction. Connections that were lost are made anew. A thread
 * that begins a second session before its first has ended may wait for itself.
 *
 * @param out yours, end it by db_commit or db_rollback
 */
mcp_status db_begin(db_session **out, db *self, db_mode mode, mcp_error *err);

/**
 * Make what was done last, then send the session's notifications. The session is over either way.
 *
 * @return MCP_OK: durable. MCP_E_BUSY, MCP_E_TIMEOUT and all that a statement returns: nothing was
 *         done. MCP_E_IO: as a rule nothing was done, but whoever must not do it twice cannot know: the
 *         connection broke in the very commit, and the server was not back within `wait_ms`, or has
 *         crashed meanwhile. Where it is there, it is asked what became of the commit.
 */
mcp_status db_commit(db_session *session, mcp_error *err);

/** Undo what was done and end the session. NULL is fine. */
void db_rollback(db_session *session);

/**
 * Run a statement and drop the rows it may give.
 *
 * @param changed how many rows were inserted, updated or deleted; may be NULL
 * @param sql     one statement; prepared once a connection and kept there with the 64 last used
 * @param values  `$1` is values[0]; as many as the statement has parameters, at most 1,000
 */
mcp_status db_run(db_session *session, int64_t *changed, const char *sql, const db_value *values,
                  size_t count, mcp_error *err);

/**
 * Run a statement that gives rows. They are fetched one by one, not all at once; a session can do
 * nothing else until the last was read or db_rows_free was called.
 *
 * @param out yours, free it with db_rows_free, at any time before or after the session's end
 */
mcp_status db_query(db_rows **out, db_session *session, const char *sql, const db_value *values,
                    size_t count, mcp_error *err);

/** Go to the first row, or the next. What was read from the row before is gone. */
mcp_status db_next(db_rows *rows, bool *has_row, mcp_error *err);

/*
 * The present row's columns, by number from 0. A value is converted where no digit is lost: "12" to
 * an integer, 12 to a text, 3.0 to an integer. Where one would be, or there is no such column or
 * row, the session fails (so db_next and db_commit tell) and zero is returned; behind the last row
 * all are NULL. SQL's NULL is 0, 0.0 or NULL, and no failure. Pointers hold until the next db_next or db_rows_free.
 */
int64_t db_int_at(const db_rows *rows, int column);
double db_double_at(const db_rows *rows, int column);

/** Ends in NUL, which is not counted. @param length may be NULL */
const char *db_text_at(const db_rows *rows, int column, size_t *length);

/** A blob, or a text's bytes. @param length may be NULL */
const void *db_blob_at(const db_rows *rows, int column, size_t *length);

bool db_null_at(const db_rows *rows, int column);

/** The rest is not read. NULL is fine. */
void db_rows_free(db_rows *rows);

/**
 * Tell the listeners of a channel, in every process (SQLite: in this one, through this `db`), once
 * the session is committed, in the order of commits. Equal ones within one session may become one.
 *
 * @param channel at most 63 of a-z, 0-9 and '_'
 * @param payload UTF-8, at most 7,900 bytes
 */
mcp_status db_notify(db_session *session, const char *channel, const char *payload, mcp_error *err);

/**
 * Hear the notifications of a channel that are committed from now on.
 *
 * A listener has a thread of its own, PostgreSQL's a connection too (beyond `connections`), made
 * anew whenever it breaks.
 *
 * @param out   yours, free it with db_listener_free
 * @param heard runs on the listener's thread, one call at a time; may use `self`, must not free the
 *              listener. A NULL payload says that some may have been missed: the connection broke,
 *              or 10,000 were waiting.
 */
mcp_status db_listen(db_listener **out, db *self, const char *channel,
                     void (*heard)(const char *payload, void *data), void *data, mcp_error *err);

/** Stop hearing; when it returns `heard` does not run and will not. NULL is fine. */
void db_listener_free(db_listener *listener);

#endif
