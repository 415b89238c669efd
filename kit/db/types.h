/**
 * types.h - the options, modes and values of a database: what db.h and the drivers share.
 */
#ifndef DB_TYPES_H
#define DB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mcp/error.h"
#include "mcp/log.h"

/** What a message of the engine begins with. */
#define DB_ENGINE_SAYS "database: "

/** A thread that waits for notifications. */
typedef struct db_listener db_listener;

/** How a database is opened. Zero is the default everywhere. */
typedef struct db_options {
    int connections;   /* at most so many; 0: 8. SQLite: one writes, the others read */
    int wait_ms;       /* the longest wait for a free connection, or for a lock; 0: 10,000. A new
                       * connection to a server may take ten seconds by itself */
    int statement_ms;  /* the longest a statement may give no row and no end; 0: 60,000 */
    bool read_only;    /* DB_WRITE is refused; a SQLite file must exist */
    bool relaxed;      /* SQLite: synchronous NORMAL, so a power cut may take the last commits */
    bool hears_others; /* SQLite: listeners receive NULL soon after another process has committed */
    bool steady_time;  /* db_now never goes back: see there */
    mcp_log log;       /* lost connections, notices of the server */
} db_options;

/** A step of a clock: it was set, or this machine was suspended. */
typedef struct db_clock_step {
    uint64_t number; /* since the database was opened, from 1; 0: there is none */
    int64_t by_ms;   /* forth, or less than 0: back */
} db_clock_step;

/** The mode of a session. */
typedef enum db_mode {
    DB_READ, /* one snapshot of the database from the first statement to the end */
    DB_WRITE /* SQLite: alone from the beginning (BEGIN IMMEDIATE). PostgreSQL: READ COMMITTED, so
              * lock rows by FOR UPDATE before changing them */
} db_mode;

/** A point in a session, made by db_savepoint_begin. Nothing in it needs freeing. */
typedef struct db_savepoint {
    int depth;       /* the first is 1 */
    size_t notified; /* bytes of notifications before it */
} db_savepoint;

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

#endif
