/*
 * driver.h - the port between the pool and an engine: one struct of functions a driver.
 *
 * A driver implements connections (links), statements and rows. db.c and session.c decide which
 * thread uses a link, which calls a failed session permits, and how values are converted. A link
 * belongs to one thread at a time. A driver's own link begins with a db_link.
 */
#ifndef DB_DRIVER_H
#define DB_DRIVER_H

#include "db/types.h"

struct db_driver;

/* The database to connect to. Made once, never changed, read by all threads. */
typedef struct db_target {
    const struct db_driver *driver;
    db_options options; /* without zeros */
    char *path;         /* SQLite: of the file, ":memory:" */
    void *parsed; /* PostgreSQL: the URL as parsed by libpq; SQLite: the identity of the file */
    bool is_memory;
} db_target;

/* A connection. */
typedef struct db_link {
    bool is_lost; /* unusable: close it */
} db_link;

/* A statement of the user. */
typedef struct db_call {
    const char *sql;
    const db_value *values;
    size_t count;
} db_call;

typedef void db_on_notify(const char *payload, void *data);

typedef struct db_driver {
    const char *name;
    bool is_shared;
    bool has_one_writer; /* one link writes, the others read */
    const char *clock;   /* expression of its clock in milliseconds; NULL: that of the process */

    /* Fill the target from the URL, and free that again. `target` is zero except the options. */
    mcp_status (*parse_url)(db_target *target, const char *url, mcp_error *err);
    void (*free)(db_target *target);

    mcp_status (*open)(db_link **out, const db_target *target, db_mode mode, mcp_error *err);
    void (*close)(db_link *link);
    mcp_status (*begin)(db_link *link, db_mode mode, mcp_error *err);
    mcp_status (*commit)(db_link *link, mcp_error *err); /* after a failure rollback() follows */
    void (*rollback)(db_link *link);
    /* One statement without values and rows, also after a failure in the transaction. `undoes`: a
     * failure of what was deferred does not matter any more; else it is returned. */
    mcp_status (*command)(db_link *link, const char *sql, bool undoes, mcp_error *err);

    mcp_status (*run)(db_link *link, int64_t *changed, const db_call *call, mcp_error *err);
    /* The same without waiting for the answer: a failure may be returned by a later call instead.
     * `otherwise` is the status if it changes no row; MCP_OK: that is no failure. NULL: run(). */
    mcp_status (*defer)(db_link *link, mcp_status otherwise, const db_call *call, mcp_error *err);
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

    /* A number that changes when another connection has committed; outside of a transaction or in
     * one that has the lock to write. NULL: notifications cross processes. */
    mcp_status (*version)(db_link *link, int64_t *out, mcp_error *err);

    /* NULL: notifications go through the hub of the db. */
    mcp_status (*notify)(db_link *link, const char *channel, const char *payload, mcp_error *err);
    mcp_status (*listen)(db_listener **out, const db_target *target, const char *channel,
                         db_on_notify *on_notify, void *data, mcp_error *err);
} db_driver;

extern const db_driver db_sqlite;
extern const db_driver db_postgres;

/* Begins a listener of any kind. */
struct db_listener {
    void (*end)(db_listener *listener); /* joins its thread and frees it */
};

#endif
