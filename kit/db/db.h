/**
 * db.h - SQL state in SQLite or PostgreSQL, behind one port.
 *
 * A `db` is a pool of connections; a `db_session` is one of them inside one transaction. The same
 * SQL runs on both, as long as it keeps to this: parameters `$1`, `$2`, ...; the types TEXT,
 * BIGINT, DOUBLE PRECISION and BLOB (which a migration may write for PostgreSQL too: there it
 * becomes BYTEA); `ON CONFLICT ... DO`, `RETURNING`; `FOR UPDATE [SKIP LOCKED]` after a SELECT
 * (SQLite has one writer at a time, so its driver removes it). A text is UTF-8 without NUL.
 * PostgreSQL infers the type of a parameter from its context; where there is none (`$1 IS NULL`,
 * `$1 + 1`), the SQL must give it: CAST($1 AS BIGINT).
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
 * A session stops at its first failure, on both engines: every later function returns the same
 * error, and the session can only be rolled back (or committed, which then rolls back and returns
 * that error). A savepoint that was made before the failure is the way to continue: see
 * db_savepoint_rollback. Many callers that write share transactions by db/group.h.
 *
 * Functions of a session return MCP_OK or:
 *   MCP_E_EXISTS   a unique or primary key exists already
 *   MCP_E_SCHEMA   another constraint was violated, or a value does not fit its column
 *   MCP_E_BUSY     a lock or a connection was not free in time, the server cannot be reached (any
 *                  more), a deadlock, a serialization failure: the same transaction may succeed
 *                  when it is tried again
 *   MCP_E_TIMEOUT  a statement took longer than `statement_ms`
 *   MCP_E_DENIED   writing in a DB_READ session, a read-only database or without the right
 *   MCP_E_IO       the file or the connection failed (not a database, connection lost)
 *   MCP_E_STORAGE  the disk is full, or a file may not grow: nothing was done
 *   MCP_E_LIMIT    too many values, too long a text
 *   MCP_E_PARAMS   the values do not go with the statement, or a rule of this header was broken
 *   MCP_E_INTERNAL the SQL is wrong; MCP_E_UNSUPPORTED a column's type is not supported
 *   MCP_E_NOMEM
 * The message is the engine's first line behind DB_ENGINE_SAYS; it never has a password. It is for
 * who runs the program, not for its clients: db_is_engines.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "db/types.h"
#include "mcp/arena.h"
#include "mcp/files.h"

/** A pool of connections to one database. Any thread. */
typedef struct db db;

/** One connection inside one transaction. One thread at a time. */
typedef struct db_session db_session;

/** The result of a query, read row by row. Its session's thread. */
typedef struct db_rows db_rows;

/**
 * Open a database and try it with one connection.
 *
 * @param out     yours, close it with db_close
 * @param url     "sqlite:PATH" (created with mode 0600; its folder must exist),
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

/** Whether an error's message is one of the engine. */
bool db_is_engines(const mcp_error *err);

/** Close it. It must have no session, rows or listener. NULL is fine. */
void db_close(db *self);

/** Whether db_listen receives the notifications of other processes: PostgreSQL. (With SQLite and
 * `hears_others` it receives only that there were commits.) */
bool db_is_shared(const db *db);

/** "sqlite" or "postgres". */
const char *db_engine(const db *self);

/**
 * Bring the schema up to date: run the scripts "FOLDER/001-name.sql", "FOLDER/002-name.sql", ...
 * that this database has not run, by rising number, all in one transaction, under a lock against
 * other processes. Each is recorded with its SHA-256 in the table db_migrations.
 *
 * A script may have many statements, also with triggers and functions, but none that begins or ends
 * a transaction.
 *
 * "002-name.sqlite.sql" and "002-name.postgres.sql" are for one engine, and the other ignores them:
 * it neither runs nor expects them. A number may be used once for each engine.
 *
 * @param files  as cmake/embed.cmake writes them
 * @param folder "sql"; other files are ignored
 * @return MCP_OK; MCP_E_PARAMS: a file has a bad name or a number twice, was changed after it was
 *         run, would have to run before one that has been, or the database knows a migration that
 *         `files` lacks (a newer program made it); the message names it. MCP_E_DENIED: read_only
 *         and not up to date. Statuses of SQL functions: the message begins with the file's name.
 */
mcp_status db_migrate(db *self, const mcp_file *files, const char *folder, mcp_error *err);

/** Whether db_migrate was ever run on this database. @return MCP_OK; statuses of SQL functions */
mcp_status db_is_migrated(bool *out, db *self, mcp_error *err);

/**
 * Look at the schema and change nothing.
 *
 * @param is_current false: db_migrate would run scripts
 * @return MCP_OK; MCP_E_PARAMS: db_migrate would refuse, with this message
 */
mcp_status db_migrations_check(bool *is_current, db *self, const mcp_file *files,
                               const char *folder, mcp_error *err);

/**
 * Take a connection and begin a transaction. A lost connection is opened again. A thread that
 * begins a second session before its first has ended may wait for itself.
 *
 * PostgreSQL ends a transaction that sends no statement for 20 s (DB_WRITE) or 10 min (DB_READ), so
 * that a process that was frozen does not keep its locks; the next statement returns MCP_E_IO.
 *
 * @param out yours, end it by db_commit or db_rollback
 */
mcp_status db_begin(db_session **out, db *self, db_mode mode, mcp_error *err);

/**
 * Commit the transaction, then send the session's notifications. The session ends in any case.
 *
 * @return MCP_OK: durable. MCP_E_BUSY, MCP_E_TIMEOUT and the statuses of statements: nothing was
 *         done. MCP_E_IO: usually nothing was done, but the result is unknown: the connection broke
 *         during the commit, and the server was not reached again within `wait_ms`, or has crashed
 *         meanwhile. A server that is reached again is queried for the result of the commit.
 */
mcp_status db_commit(db_session *session, mcp_error *err);

/** Roll the transaction back and end the session. NULL is fine. */
void db_rollback(db_session *session);

/**
 * Make a savepoint: a point to which the session can be rolled back. Savepoints are nested, at most
 * 100 deep: to release or roll back one ends those that were made after it, too.
 *
 *     db_savepoint point;
 *     mcp_status st = db_savepoint_begin(&point, session, err);
 *     if (st == MCP_OK)
 *         st = try_it(session, err);
 *     if (st == MCP_OK)
 *         st = db_savepoint_release(session, &point, err);
 *     else if (db_savepoint_rollback(session, &point, err) == MCP_OK)
 *         st = do_without_it(session, err);
 *
 * @param out usable until the savepoint or the session ends
 */
mcp_status db_savepoint_begin(db_savepoint *out, db_session *session, mcp_error *err);

/** End a savepoint and keep what was done since. */
mcp_status db_savepoint_release(db_session *session, const db_savepoint *point, mcp_error *err);

/**
 * Undo what was done since the savepoint, with the notifications, and end it. Open rows are freed
 * from the session. If the session has failed since, it works again.
 *
 * @return MCP_OK; the session's failure: nothing but db_rollback is possible, because the
 *         connection was lost or the engine has rolled everything back (a full disk, for example)
 */
mcp_status db_savepoint_rollback(db_session *session, const db_savepoint *point, mcp_error *err);

/**
 * Read the clock of the database, in milliseconds since 1970-01-01T00:00:00Z: for times that
 * several processes compare. PostgreSQL: the clock of its host, the same for all. SQLite: the clock
 * of this host. The time passes within a transaction.
 *
 * It is a wall clock: it can be set, so a later call may return less, or much more. Do not derive
 * an order from it; where one is needed, number the rows.
 *
 * With `steady_time` (db_options) it never returns less within a process. When the clock was set
 * forth it is followed at once. When it was set back, by more than ten seconds, the time continues
 * half as fast as a clock does, until the database's has caught up: what is due in a minute is due
 * within two. Over processes this holds as far as db_time_reach says.
 */
mcp_status db_now(db_session *session, int64_t *ms, mcp_error *err);

/**
 * The same for a session that only reads. If the clock was read within the last 250 ms, the time is
 * that and what has passed here since, without a statement: a step of the clock is seen so much
 * later. Only with `steady_time`; else it is db_now.
 */
mcp_status db_now_recent(db_session *session, int64_t *ms, mcp_error *err);

/** The clock as an SQL expression, for a statement that reads something else, too; NULL: db_now
 *  needs no statement. What it gives is not the time yet: see db_time. */
const char *db_clock_sql(const db_session *session);

/** The time of db_now, from what db_clock_sql gave. @param sent_mono_ms mcp_clock_mono_ms before */
int64_t db_time(const db_session *session, int64_t shown_ms, int64_t sent_mono_ms);

/** It is this time, or later: another process has stored it. Nothing without `steady_time`. */
void db_time_reach(const db_session *session, int64_t time_ms);

/**
 * For leases: those that ended before what this returns are over. It is `time_ms`, but for a minute
 * after the clock was set forth it is less by that much, because a lease that was made before lasts
 * as long as it would have. (Its holder renews it meanwhile.)
 */
int64_t db_time_lapsed(const db_session *session, int64_t time_ms);

/** The step of the clock that was seen after that with this number; 0: the first one. Of more than
 *  16 the last 16 are known. There is none without `steady_time`. */
db_clock_step db_clock_step_after(db *self, uint64_t number);

/**
 * What the functions of one transaction share (db/group.h): a pointer for them, NULL at first, and
 * an arena for what it points to. Both end with the transaction, and with a savepoint that is
 * rolled back, because what was read since may have been undone.
 */
typedef struct db_shared {
    void *data;
    mcp_arena *arena;
} db_shared;

/** The shared memory of a transaction. @return borrowed; NULL: no memory */
db_shared *db_session_shared(db_session *session);

/**
 * Called before each statement of a session, for a caller that keeps changes back to send several
 * at once: it sends those that the statement may see. The statements that it sends itself do not
 * call it. When it fails, the session fails with that status.
 *
 * @param sql of the statement that comes
 */
typedef mcp_status db_before(db_session *session, const char *sql, void *data, mcp_error *err);

/** Call it from now on, until the session ends. Savepoints, the commit and notifications do not
 *  call it. @param before NULL: nothing */
void db_session_before(db_session *session, db_before *before, void *data);

/**
 * Run a statement and drop its rows, if any.
 *
 * @param changed how many rows were inserted, updated or deleted; may be NULL
 * @param sql     one statement; each connection keeps the 64 last used ones prepared
 * @param values  `$1` is values[0]; as many as the statement has parameters, at most 1,000
 */
mcp_status db_run(db_session *session, int64_t *changed, const char *sql, const db_value *values,
                  size_t count, mcp_error *err);

/**
 * Run a statement whose answer the caller does not need. PostgreSQL: it is sent together with the
 * next statement that has one, in one round trip, so that a transaction of many writes costs few.
 * Its failure is returned by a later call of the session, at the latest by the release of the
 * savepoint or by db_commit: where the cause must be told apart, use db_run.
 *
 * @param otherwise the failure if no row was inserted, updated or deleted, or (SELECT) found;
 *                  MCP_OK: that is none
 */
mcp_status db_defer(db_session *session, mcp_status otherwise, const char *sql,
                    const db_value *values, size_t count, mcp_error *err);

/**
 * Run a query. Its rows are fetched one by one, not all at once; the session can do nothing else
 * until the last row was read or db_rows_free was called.
 *
 * @param out yours, free it with db_rows_free, at any time before or after the session's end
 */
mcp_status db_query(db_rows **out, db_session *session, const char *sql, const db_value *values,
                    size_t count, mcp_error *err);

/** Go to the first row, or the next. Values of the row before become invalid. */
mcp_status db_next(db_rows *rows, bool *has_row, mcp_error *err);

/*
 * The present row's columns, by number from 0. A value is converted where no digit is lost: "12" to
 * an integer, 12 to a text, 3.0 to an integer. Where one would be lost, or there is no such column
 * or row, the session fails (db_next and db_commit return the error) and the result is zero; after
 * the last row all are NULL. SQL's NULL is 0, 0.0 or NULL, and no failure. Pointers are valid until
 * the next db_next or db_rows_free.
 */
int64_t db_int_at(const db_rows *rows, int column);
double db_double_at(const db_rows *rows, int column);

/** Ends in NUL, which is not counted. @param length may be NULL */
const char *db_text_at(const db_rows *rows, int column, size_t *length);

/** A blob, or a text's bytes. @param length may be NULL */
const void *db_blob_at(const db_rows *rows, int column, size_t *length);

bool db_null_at(const db_rows *rows, int column);

/** Free the rows; further ones are not read. NULL is fine. */
void db_rows_free(db_rows *rows);

/**
 * Notify the listeners of a channel, in every process (SQLite: in this one, through this `db`),
 * after the commit of the session, in the order of commits. Equal notifications of one session may
 * become one.
 *
 * @param channel at most 63 of a-z, 0-9 and '_'
 * @param payload UTF-8, at most 7,900 bytes
 */
mcp_status db_notify(db_session *session, const char *channel, const char *payload, mcp_error *err);

/**
 * Receive the notifications of a channel that are committed from now on.
 *
 * A listener has a thread of its own, for PostgreSQL also a connection (not counted in
 * `connections`), which is opened again when it breaks.
 *
 * @param out   yours, free it with db_listener_free
 * @param on_notify runs on the listener's thread, one call at a time; may use `self`, must not free
 *                  the listener. A NULL payload: some notifications may be missing, because the
 *                  connection broke or 10,000 were queued; or (SQLite with `hears_others`) another
 *                  process has committed, usually less than 250 ms ago.
 */
mcp_status db_listen(db_listener **out, db *self, const char *channel,
                     void (*on_notify)(const char *payload, void *data), void *data,
                     mcp_error *err);

/** End the listener; afterwards `on_notify` does not run. NULL is fine. */
void db_listener_free(db_listener *listener);

#endif
