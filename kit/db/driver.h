/*
 * driver.h - the port between the pool and an engine: one struct of functions a driver.
 *
 * A driver knows connections (links), statements and rows. Who may use a link, what a failed
 * session may still do and how values are converted is decided above it, in pool.c, session.c and
 * rows.c. A link belongs to one thread at a time. A driver's own link begins with a db_link.
 */
#ifndef DB_DRIVER_H
#define DB_DRIVER_H

#include "db/db.h"

struct db_driver;

/* What to connect to. Made once, never changed, read by all threads. */
typedef struct db_target {
    const struct db_driver *driver;
    db_options options; /* without zeros */
    char *path;         /* SQLite: of the file, ":memory:" */
    void *parsed;       /* PostgreSQL: what libpq made of the URL; SQLite: which file that is */
    bool is_memory;
} db_target;

/* A connection. */
typedef struct db_link {
    bool is_lost; /* of no more use: close it */
} db_link;

/* A statement as the user gave it. */
typedef struct db_call {
    const char *sql;
    const db_value *values;
    size_t count;
} db_call;

typedef void db_heard(const char *payload, void *data);

typedef struct db_driver {
    const char *name;
    bool is_shared;
    bool has_one_writer; /* one link writes, the others read */

    /* Make of the URL what is needed to connect, and undo that. `target` is zero but for options. */
    mcp_status (*aim)(db_target *target, const char *url, mcp_error *err);
    void (*forget)(db_target *target);

    mcp_status (*open)(db_link **out, const db_target *target, db_mode mode, mcp_error *err);
    void (*close)(db_link *link);
    mcp_status (*begin)(db_link *link, db_mode mode, mcp_error *err);
    mcp_status (*commit)(db_link *link, mcp_error *err); /* on failure rollback() still comes */
    void (*rollback)(db_link *link);

    mcp_status (*run)(db_link *link, int64_t *changed, const db_call *call, mcp_error *err);
    /* Many statements without parameters; no transaction may begin or end in them. */
    mcp_status (*script)(db_link *link, const char *sql, mcp_error *err);
    /* Only one migration of the database at a time, until the transaction ends. */
    mcp_status (*lock_schema)(db_link *link, mcp_error *err);

    /* One query at a time: it has run when query() returns; at its end finish() has been called. */
    mcp_status (*query)(db_link *link, const db_call *call, mcp_error *err);
    mcp_status (*next)(db_link *link, bool *has_row, mcp_error *err);
    void (*finish)(db_link *link);
    int (*columns)(const db_link *link);
    db_value (*cell)(const db_link *link, int column); /* borrowed until next() or finish() */

    /* NULL: notifications go through the hub of the db. */
    mcp_status (*notify)(db_link *link, const char *channel, const char *payload, mcp_error *err);
    mcp_status (*listen)(db_listener **out, const db_target *target, const char *channel,
                         db_heard *heard, void *data, mcp_error *err);
} db_driver;

extern const db_driver db_sqlite;
extern const db_driver db_postgres;

/* A listener of any kind begins with the way to end it. */
struct db_listener {
    void (*end)(db_listener *listener); /* joins its thread and frees it */
};

#endif
