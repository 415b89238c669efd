/*
 * session.c - statements of a session, and the rows they give.
 *
 * The engines differ after a failure: PostgreSQL accepts nothing more in the transaction, SQLite
 * continues. Here a session stops at its first failure on both, so that no program depends on one
 * engine. For the same reason nothing else can be done while rows are read.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/db_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

enum { VALUES_MAX = 1000, SQL_MAX = 1 << 20, CHANNEL_MAX = 63, PAYLOAD_MAX = 7900 };
enum { TEXTS_MAX = 64 << 10, SAVEPOINTS_MAX = 100, SHARED_MAX = 256 << 20 };

mcp_status db_session_fail(db_session *session, const mcp_error *cause, mcp_error *err)
{
    if (session->failure.status == MCP_OK)
        session->failure = *cause;
    if (err)
        *err = *cause;
    return cause->status;
}

static mcp_status broken_rule(db_session *session, mcp_status st, const char *words, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;

    mcp_error_set(&cause, st, "%s", words);
    return db_session_fail(session, &cause, err);
}

static mcp_status check_value(const db_value *value, db_session *session, mcp_error *err)
{
    if (value->kind == DB_DOUBLE && isnan(value->real))
        return broken_rule(session, MCP_E_PARAMS, "a value for the database is not a number", err);
    if (value->kind == DB_TEXT && memchr(value->bytes, '\0', value->length))
        return broken_rule(session, MCP_E_PARAMS, "a text for the database holds NUL", err);
    return MCP_OK;
}

/* Whether the session can take a statement, and this one. */
static mcp_status check(db_session *session, const db_call *call, mcp_error *err)
{
    mcp_status st = session->failure.status;

    if (st != MCP_OK)
        return db_session_fail(session, &session->failure, err);
    if (session->rows)
        return broken_rule(session, MCP_E_PARAMS, "the rows before are still being read", err);
    if (call->count > VALUES_MAX)
        return broken_rule(session, MCP_E_LIMIT, "a statement takes at most 1000 values", err);
    if (strnlen(call->sql, SQL_MAX + 1) > SQL_MAX)
        return broken_rule(session, MCP_E_LIMIT, "a statement is longer than 1 MiB", err);
    for (size_t i = 0; st == MCP_OK && i < call->count; i++)
        st = check_value(&call->values[i], session, err);
    return st;
}

void db_session_before(db_session *session, db_before *before, void *data)
{
    session->before = before;
    session->before_data = data;
}

static mcp_status call_before(db_session *session, const char *sql, mcp_error *err)
{
    db_before *before = session->before;
    mcp_error cause = MCP_ERROR_INIT;

    session->before = NULL;
    mcp_status st = before(session, sql, session->before_data, &cause);
    session->before = before;
    cause.status = st;
    return st == MCP_OK ? MCP_OK : db_session_fail(session, &cause, err);
}

/* Whether the session can take a statement, and this one, now that what precedes it was sent. */
static mcp_status prepare(db_session *session, const db_call *call, mcp_error *err)
{
    mcp_status st = check(session, call, err);

    return st == MCP_OK && session->before ? call_before(session, call->sql, err) : st;
}

static bool is_query(const char *sql)
{
    return strncmp(sql, "SELECT", strlen("SELECT")) == 0;
}

/* Group commits undo what a function did only if it may have changed something. */
static void count_write(db_session *session, const char *sql)
{
    session->writes += !is_query(sql);
}

mcp_status db_run(db_session *session, int64_t *changed, const char *sql, const db_value *values,
                  size_t count, mcp_error *err)
{
    db_call call = { sql, values, count };
    mcp_error cause = MCP_ERROR_INIT;
    int64_t rows = 0;
    mcp_status st = prepare(session, &call, err);

    if (st != MCP_OK)
        return st;
    count_write(session, sql);
    if (session->db->driver->run(session->link, &rows, &call, &cause) != MCP_OK)
        return db_session_fail(session, &cause, err);
    if (changed)
        *changed = rows;
    return MCP_OK;
}

/* Whether a query has a row. */
static mcp_status look(db_session *session, int64_t *found, const db_call *call, mcp_error *err)
{
    const db_driver *driver = session->db->driver;
    bool has_row = false;
    mcp_status st = driver->query(session->link, call, err);

    if (st == MCP_OK)
        st = driver->next(session->link, &has_row, err);
    driver->finish(session->link);
    *found = has_row;
    return st;
}

/* Where a driver has no deferred statements. */
static mcp_status run_at_once(db_session *session, mcp_status otherwise, const db_call *call,
                              mcp_error *err)
{
    int64_t count = 0;
    mcp_status st = is_query(call->sql)
                        ? look(session, &count, call, err)
                        : session->db->driver->run(session->link, &count, call, err);

    return st == MCP_OK && count == 0 && otherwise != MCP_OK
               ? mcp_error_set(err, otherwise, "a deferred statement has found no row")
               : st;
}

mcp_status db_defer(db_session *session, mcp_status otherwise, const char *sql,
                    const db_value *values, size_t count, mcp_error *err)
{
    db_call call = { sql, values, count };
    const db_driver *driver = session->db->driver;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = prepare(session, &call, err);

    if (st != MCP_OK)
        return st;
    count_write(session, sql);
    st = driver->defer ? driver->defer(session->link, otherwise, &call, &cause)
                       : run_at_once(session, otherwise, &call, &cause);
    return st == MCP_OK ? MCP_OK : db_session_fail(session, &cause, err);
}

mcp_status db_query(db_rows **out, db_session *session, const char *sql, const db_value *values,
                    size_t count, mcp_error *err)
{
    db_call call = { sql, values, count };
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = prepare(session, &call, err);

    if (st != MCP_OK)
        return st;
    db_rows *rows = mcp_alloc_zeroed(1, sizeof *rows);
    if (!rows)
        return broken_rule(session, MCP_E_NOMEM, "no memory for rows", err);
    count_write(session, sql);
    if (session->db->driver->query(session->link, &call, &cause) != MCP_OK) {
        free(rows);
        return db_session_fail(session, &cause, err);
    }
    rows->session = session;
    session->rows = rows;
    *out = rows;
    return MCP_OK;
}

static void forget_texts(db_rows *rows)
{
    mcp_arena_free(rows->texts);
    rows->texts = NULL;
}

void db_rows_detach(db_rows *rows)
{
    rows->session->db->driver->finish(rows->session->link);
    rows->session->rows = NULL;
    rows->session = NULL;
    rows->has_row = false;
}

/* The last row was read: the session may continue. */
static void end_rows(db_rows *rows)
{
    db_rows_detach(rows);
    rows->is_over = true;
}

mcp_status db_next(db_rows *rows, bool *has_row, mcp_error *err)
{
    db_session *session = rows->session;
    mcp_error cause = MCP_ERROR_INIT;

    forget_texts(rows);
    rows->has_row = false;
    if (!session && !rows->is_over)
        return mcp_error_set(err, MCP_E_PARAMS, "the session of these rows is over");
    if (session && session->failure.status != MCP_OK)
        return db_session_fail(session, &session->failure, err);
    if (session && session->db->driver->next(session->link, &rows->has_row, &cause) != MCP_OK)
        return db_session_fail(session, &cause, err);
    if (session && !rows->has_row)
        end_rows(rows);
    *has_row = rows->has_row;
    return MCP_OK;
}

void db_rows_free(db_rows *rows)
{
    if (!rows)
        return;
    if (rows->session)
        db_rows_detach(rows);
    forget_texts(rows);
    free(rows);
}

/* The value of a column; NULL where there is none, and then the session has failed. */
static db_value value_at(const db_rows *rows, int column)
{
    if (!rows->session)
        return db_null();
    if (!rows->has_row) {
        broken_rule(rows->session, MCP_E_PARAMS, "a column was read where there is no row", NULL);
        return db_null();
    }
    const db_driver *driver = rows->session->db->driver;
    if (column < 0 || column >= driver->columns(rows->session->link)) {
        broken_rule(rows->session, MCP_E_PARAMS, "a column was read that the rows do not have",
                    NULL);
        return db_null();
    }
    return driver->cell(rows->session->link, column);
}

static void refuse_conversion(const db_rows *rows, int column, const char *what)
{
    mcp_error cause = MCP_ERROR_INIT;

    mcp_error_set(&cause, MCP_E_SCHEMA, "column %d of a row is not %s", column, what);
    db_session_fail(rows->session, &cause, NULL);
}

static bool int_of_double(int64_t *out, double real)
{
    if (!(real >= -0x1p63 && real < 0x1p63) || real != floor(real))
        return false;
    *out = (int64_t)real;
    return true;
}

/* A text is at most so long to be a number; it is copied, as it need not end in NUL. */
enum { NUMBER_MAX = 400 };

static bool int_of_text(int64_t *out, const db_value *value)
{
    char text[NUMBER_MAX + 1];
    char *end = NULL;

    if (value->length == 0 || value->length > NUMBER_MAX)
        return false;
    memcpy(text, value->bytes, value->length);
    text[value->length] = '\0';
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || *end || !strchr("-0123456789", text[0]))
        return false;
    *out = number;
    return true;
}

static bool double_of_text(double *out, const db_value *value)
{
    char text[NUMBER_MAX + 1];
    char *end = NULL;

    if (value->length == 0 || value->length > NUMBER_MAX)
        return false;
    memcpy(text, value->bytes, value->length);
    text[value->length] = '\0';
    double number = strtod(text, &end);
    if (*end || text[strspn(text, "-+.eE0123456789")] || !isfinite(number))
        return false;
    *out = number;
    return true;
}

int64_t db_int_at(const db_rows *rows, int column)
{
    db_value value = value_at(rows, column);
    int64_t number = 0;

    if (value.kind == DB_INT)
        return value.integer;
    if (value.kind == DB_DOUBLE && int_of_double(&number, value.real))
        return number;
    if (value.kind == DB_TEXT && int_of_text(&number, &value))
        return number;
    if (value.kind != DB_NULL)
        refuse_conversion(rows, column, "an integer");
    return 0;
}

double db_double_at(const db_rows *rows, int column)
{
    db_value value = value_at(rows, column);
    int64_t back = 0;
    double number = 0.0;

    if (value.kind == DB_DOUBLE)
        return value.real;
    if (value.kind == DB_INT && int_of_double(&back, (double)value.integer) &&
        back == value.integer)
        return (double)value.integer;
    if (value.kind == DB_TEXT && double_of_text(&number, &value))
        return number;
    if (value.kind != DB_NULL)
        refuse_conversion(rows, column, "a double");
    return 0.0;
}

/* The digits of a number, kept until the next row. */
static const char *text_of_number(const db_rows *rows, const db_value *value)
{
    db_rows *own = rows->session->rows; /* the same rows, not const */
    const char *text = NULL;

    if (!own->texts)
        own->texts = mcp_arena_new(TEXTS_MAX);
    if (own->texts)
        text = value->kind == DB_INT
                   ? mcp_arena_printf(own->texts, "%lld", (long long)value->integer)
                   : mcp_arena_printf(own->texts, "%.17g", value->real);
    if (!text)
        broken_rule(rows->session, MCP_E_NOMEM, "no memory for a number's digits", NULL);
    return text;
}

const char *db_text_at(const db_rows *rows, int column, size_t *length)
{
    db_value value = value_at(rows, column);
    const char *text = NULL;

    if (value.kind == DB_TEXT)
        text = value.bytes;
    else if (value.kind == DB_BLOB)
        refuse_conversion(rows, column, "a text");
    else if (value.kind != DB_NULL)
        text = text_of_number(rows, &value);
    if (length)
        *length = value.kind == DB_TEXT ? value.length : text ? strlen(text) : 0;
    return text;
}

const void *db_blob_at(const db_rows *rows, int column, size_t *length)
{
    db_value value = value_at(rows, column);
    bool has_bytes = value.kind == DB_TEXT || value.kind == DB_BLOB;

    if (!has_bytes && value.kind != DB_NULL)
        refuse_conversion(rows, column, "a blob");
    if (length)
        *length = has_bytes ? value.length : 0;
    return has_bytes ? value.bytes : NULL;
}

bool db_null_at(const db_rows *rows, int column)
{
    return value_at(rows, column).kind == DB_NULL;
}

/* The text of a statement of savepoint number `depth`. */
enum { SAVEPOINT_SQL = 40 };

static const char *savepoint_sql(char sql[SAVEPOINT_SQL], const char *verb, int depth)
{
    snprintf(sql, SAVEPOINT_SQL, "%s s%d", verb, depth);
    return sql;
}

/* Nobody waits for the answer where the driver need not. */
static mcp_status make_savepoint(db_session *session, int depth, mcp_error *err)
{
    char sql[SAVEPOINT_SQL];
    const db_driver *driver = session->db->driver;
    const db_call call = { savepoint_sql(sql, "SAVEPOINT", depth), NULL, 0 };

    return driver->defer ? driver->defer(session->link, MCP_OK, &call, err)
                         : driver->command(session->link, sql, false, err);
}

/* End savepoint number `depth`. */
static mcp_status command(db_session *session, const char *verb, int depth, mcp_error *err)
{
    char sql[SAVEPOINT_SQL];

    return session->db->driver->command(session->link, savepoint_sql(sql, verb, depth),
                                        strcmp(verb, "RELEASE") != 0, err);
}

mcp_status db_savepoint_begin(db_savepoint *out, db_session *session, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = check(session, &(db_call){ "", NULL, 0 }, err);

    if (st != MCP_OK)
        return st;
    if (session->savepoints == SAVEPOINTS_MAX)
        return broken_rule(session, MCP_E_LIMIT, "too many savepoints within each other", err);
    if (make_savepoint(session, session->savepoints + 1, &cause) != MCP_OK)
        return db_session_fail(session, &cause, err);
    session->savepoints++;
    *out = (db_savepoint){ session->savepoints, session->notifications.length };
    return MCP_OK;
}

static bool is_open(const db_session *session, const db_savepoint *point)
{
    return point->depth > 0 && point->depth <= session->savepoints;
}

mcp_status db_savepoint_release(db_session *session, const db_savepoint *point, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = check(session, &(db_call){ "", NULL, 0 }, err);

    if (st != MCP_OK)
        return st;
    if (!is_open(session, point))
        return broken_rule(session, MCP_E_PARAMS, "the savepoint has ended", err);
    if (command(session, "RELEASE", point->depth, &cause) != MCP_OK)
        return db_session_fail(session, &cause, err);
    session->savepoints = point->depth - 1;
    return MCP_OK;
}

/* What was sent since the savepoint is not sent. */
static void drop_notifications(db_session *session, const db_savepoint *point)
{
    session->notifications.length = point->notified;
    session->notifications.status = MCP_OK;
}

mcp_status db_savepoint_rollback(db_session *session, const db_savepoint *point, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;

    if (session->rows)
        db_rows_detach(session->rows);
    if (!is_open(session, point))
        return broken_rule(session, MCP_E_PARAMS, "the savepoint has ended", err);
    if (session->link->is_lost && session->failure.status != MCP_OK)
        return db_session_fail(session, &session->failure, err);
    mcp_status st = command(session, "ROLLBACK TO", point->depth, &cause);
    if (st == MCP_OK)
        st = command(session, "RELEASE", point->depth, &cause);
    if (st != MCP_OK)
        return db_session_fail(session,
                               session->failure.status == MCP_OK ? &cause : &session->failure, err);
    session->savepoints = point->depth - 1;
    session->failure = (mcp_error)MCP_ERROR_INIT;
    drop_notifications(session, point);
    db_session_forget(session);
    return MCP_OK;
}

db_shared *db_session_shared(db_session *session)
{
    if (!session->shared.arena)
        session->shared.arena = mcp_arena_new(SHARED_MAX);
    return session->shared.arena ? &session->shared : NULL;
}

void db_session_forget(db_session *session)
{
    mcp_arena_free(session->shared.arena);
    session->shared = (db_shared){ NULL, NULL };
}

const char *db_clock_sql(const db_session *session)
{
    return session->db->driver->clock;
}

mcp_status db_now(db_session *session, int64_t *ms, mcp_error *err)
{
    const char *clock = db_clock_sql(session);
    char sql[128];
    db_rows *rows = NULL;
    bool has_row = false;
    mcp_status st = check(session, &(db_call){ "", NULL, 0 }, err);

    if (st != MCP_OK)
        return st;
    int64_t sent_ms = mcp_clock_mono_ms();
    if (!clock) {
        *ms = db_time(session, mcp_clock_wall_ms(), sent_ms);
        return MCP_OK;
    }
    snprintf(sql, sizeof sql, "SELECT %s", clock);
    st = db_query(&rows, session, sql, NULL, 0, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    if (st == MCP_OK)
        *ms = db_time(session, db_int_at(rows, 0), sent_ms);
    db_rows_free(rows);
    return st;
}

mcp_status db_now_recent(db_session *session, int64_t *ms, mcp_error *err)
{
    return db_clock_sql(session) && db_clock_recent(&session->db->clock, ms)
               ? MCP_OK
               : db_now(session, ms, err);
}

int64_t db_time(const db_session *session, int64_t shown_ms, int64_t sent_mono_ms)
{
    return db_clock_time(&session->db->clock, shown_ms, sent_mono_ms);
}

void db_time_reach(const db_session *session, int64_t time_ms)
{
    db_clock_reach(&session->db->clock, time_ms);
}

int64_t db_time_lapsed(const db_session *session, int64_t time_ms)
{
    return db_clock_lapsed(&session->db->clock, time_ms);
}

db_clock_step db_clock_step_after(db *self, uint64_t number)
{
    return db_clock_next_step(&self->clock, number);
}

bool db_channel_is_good(const char *channel)
{
    size_t length = strspn(channel, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return length > 0 && length <= CHANNEL_MAX && channel[length] == '\0';
}

static mcp_status keep_news(db_session *session, const char *channel, const char *payload,
                            mcp_error *err)
{
    mcp_buf_append(&session->notifications, channel, strlen(channel) + 1);
    if (mcp_buf_append(&session->notifications, payload, strlen(payload) + 1) == MCP_OK)
        return MCP_OK;
    return broken_rule(session, session->notifications.status,
                       "too many notifications in a session", err);
}

mcp_status db_notify(db_session *session, const char *channel, const char *payload, mcp_error *err)
{
    db_call call = { "", NULL, 0 };
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = check(session, &call, err);

    if (st != MCP_OK)
        return st;
    if (!db_channel_is_good(channel))
        return broken_rule(session, MCP_E_PARAMS, "not a name for a channel", err);
    if (strnlen(payload, PAYLOAD_MAX + 1) > PAYLOAD_MAX)
        return broken_rule(session, MCP_E_LIMIT, "a notification is longer than 7900 bytes", err);
    session->writes++;
    if (!session->db->driver->notify)
        return keep_news(session, channel, payload, err);
    if (session->db->driver->notify(session->link, channel, payload, &cause) != MCP_OK)
        return db_session_fail(session, &cause, err);
    return MCP_OK;
}
