/**
 * service.h - the one door to universes: every change goes through here, from REST and MCP alike.
 *
 * Memory is the working copy, the log in the database is the truth. A change is validated, applied,
 * written to the log and committed; only then is it told to readers, to streams and to whoever asked
 * for it, in this order. Changes of all universes are committed together, as many as have come while
 * the last commit was under way (group commit). Readers see committed states only, and never wait for
 * writers: each has a frozen view.
 *
 * Several processes may serve one database. Nobody owns a universe: a commit locks the universe's row,
 * takes in what others have written, and goes on from there (universe.md 9).
 *
 * Threads: everything here may be called from any thread, and may block (on the database, on a commit,
 * on loading); each wait has a deadline.
 */
#ifndef UNIVERSE_SERVICE_H
#define UNIVERSE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands/commands.h"
#include "db/db.h"
#include "mcp/arena.h"
#include "mcp/files.h"
#include "mcp/http.h"
#include "mcp/log.h"
#include "model/model.h"

/** The service: universes of one database. */
typedef struct universe_service universe_service;

enum {
    UNIVERSE_KEY_MAX = 128,      /* bytes of a universe's id */
    UNIVERSE_TITLE_MAX = 1024,   /* bytes of its name */
    UNIVERSE_BATCH_MAX = 10000, /* commands that stand or fall together */
    UNIVERSE_LIST_MAX = 1000,   /* records at once */
    UNIVERSE_CLOCK_HZ_MAX = 20  /* ticks a second that the server makes itself */
};

/** How the service works; zero is the default in the comment. */
typedef struct universe_service_options {
    db *db;                   /* required; borrowed */
    const mcp_file *files;    /* with "sql/NNN-name.sql"; required */
    universe_rules rules;     /* of what is accepted from now on; the log remembers its own */
    bool read_only;           /* every change is refused with MCP_E_DENIED */
    int64_t bodies_max;       /* of all loaded universes together: 4,000,000 */
    int64_t loaded_max;       /* universes in memory, but for those in use: 10,000 */
    int64_t snapshot_bytes;   /* of log since the last snapshot that make a new one: 4 MiB or a quarter of the state */
    int64_t snapshot_entries; /* same in versions: 10,000 */
    int64_t snapshot_age_ms;  /* same in time: 10 min */
    int64_t log_entries_max;  /* older entries go: 1,000,000 a universe */
    int64_t log_age_ms;       /* same in time: 7 days */
    mcp_log log;
} universe_service_options;

/**
 * Open the service: migrate the tables, begin committing.
 *
 * @return MCP_OK; what db_migrate says; MCP_E_NOMEM
 */
mcp_status universe_service_open(universe_service **out, const universe_service_options *options,
                                 mcp_error *err);

/** Finish what was accepted, write snapshots where they are cheap, stop. NULL is fine. */
void universe_service_close(universe_service *service);

/* ---- looking ---------------------------------------------------------------------------------- */

/** What a universe is, beside its state. Strings are the arena's. */
typedef struct universe_record {
    const char *id;
    const char *name;
    int64_t version; /* 0 at creation, one more with each accepted change */
    double time;     /* seconds of simulation */
    int64_t bodies;
    int64_t created_ms; /* wall clock */
    int64_t updated_ms;
    int64_t bytes; /* of the state's JSON, about; -1: not known */
} universe_record;

/** A universe at one committed moment. */
typedef struct universe_moment {
    universe_record record;
    universe_view *view; /* yours: universe_view_free */
} universe_moment;

/**
 * The newest committed moment of a universe; loads it where it is not in memory.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe, the message names it; MCP_E_LIMIT: bodies_max;
 *         MCP_E_TIMEOUT; what the database says
 */
mcp_status universe_service_look(universe_moment *out, universe_service *service, const char *id,
                                 mcp_arena *arena, mcp_error *err);

/** Its record alone, without loading it. */
mcp_status universe_service_record(universe_record *out, universe_service *service, const char *id,
                                   mcp_arena *arena, mcp_error *err);

/**
 * Records, newest first.
 *
 * @param cursor NULL for the first page, else *next of the page before
 * @param limit  1 to UNIVERSE_LIST_MAX
 * @param next   NULL in it: that was the last page
 * @return MCP_OK; MCP_E_PARAMS: not a cursor; what the database says
 */
mcp_status universe_service_list(universe_record **out, size_t *count, const char **next,
                                 universe_service *service, const char *cursor, size_t limit,
                                 mcp_arena *arena, mcp_error *err);

/**
 * The state as it was at an earlier version.
 *
 * @param out yours: universe_view_free
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe, or the log does not reach back so far
 */
mcp_status universe_service_at(universe_view **out, universe_service *service, const char *id,
                               int64_t version, mcp_error *err);

/** What was replayed: the log after `from`, up to `to`. */
typedef struct universe_replayed {
    int64_t from, to;
} universe_replayed;

/** Told how far it is, now and then. @return true: stop */
typedef bool universe_replaying(int64_t done, int64_t total, void *data);

/**
 * The state at a version, made by the log alone as far as it reaches back, not from the newest snapshot: equal
 * to universe_service_at, or something is wrong.
 *
 * @param out  yours: universe_view_free
 * @param to   UNIVERSE_ANY_VERSION: the newest
 * @param told may be NULL
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe or version; MCP_E_STOPPED; MCP_E_IO, MCP_E_INTERNAL: the
 *         log has a gap or an entry that cannot be applied
 */
mcp_status universe_service_replay(universe_view **out, universe_replayed *what,
                                   universe_service *service, const char *id, int64_t to,
                                   universe_replaying *told, void *data, mcp_error *err);

/** What changed after a version, for a delta. */
typedef struct universe_changes {
    bool everything; /* the log does not reach back, or the whole was replaced: fetch the state */
    bool roots, root_groups;
    const universe_touch *touches; /* each entity once, as it ended; the arena's */
    size_t count;
} universe_changes;

/** What changed after version `since` up to `moment`. */
mcp_status universe_service_changes(universe_changes *out, universe_service *service,
                                    const universe_moment *moment, int64_t since, mcp_arena *arena,
                                    mcp_error *err);

/** One entry of the log, as history tells it. */
typedef struct universe_history {
    int64_t version;
    double time;         /* after it */
    const char *command; /* JSON as it was accepted; NULL: the state was replaced from elsewhere */
    size_t command_length;
    const char *events; /* JSON array */
    size_t events_length;
    const char *actor; /* NULL: nobody in particular */
    int64_t applied_ms;
} universe_history;

/** Called for each entry of the log in order; another status than MCP_OK ends it. */
typedef mcp_status universe_historian(const universe_history *entry, void *data, mcp_error *err);

/**
 * The log after a version, oldest first, at most `limit` versions.
 *
 * @param complete false: the log begins later than `after`
 */
mcp_status universe_service_history(bool *complete, universe_service *service, const char *id,
                                    int64_t after, size_t limit, universe_historian *tell,
                                    void *data, mcp_error *err);

/* ---- changing --------------------------------------------------------------------------------- */

/** Any version will do. */
#define UNIVERSE_ANY_VERSION (-1)

/**
 * Create a universe.
 *
 * @param id    NULL: a random UUID
 * @param start its state, borrowed; NULL: empty
 * @param taken set where MCP_E_PARAMS is returned because the id is taken; may be NULL
 */
mcp_status universe_service_create(universe_moment *out, bool *taken, universe_service *service,
                                   const char *id, const char *name, universe_view *start,
                                   mcp_arena *arena, mcp_error *err);

/**
 * Delete a universe: its streams end with `deleted`.
 *
 * @param expected the version that it must have, or UNIVERSE_ANY_VERSION
 * @param version  the one that it has; where it is not the expected one, nothing was done
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_DENIED: read only; what the database says
 */
mcp_status universe_service_delete(int64_t *version, universe_service *service, const char *id,
                                   int64_t expected, mcp_error *err);

/** One command: what was read, and its text as it came. */
typedef struct universe_order {
    const mcp_json *command;
    const char *text; /* NULL: written anew from `command` */
    size_t length;
} universe_order;

/** What a change came to. */
typedef enum universe_answer {
    UNIVERSE_DONE,    /* durable, told to everybody */
    UNIVERSE_NOTHING, /* success without a change */
    UNIVERSE_REFUSED, /* the domain rejects it */
    UNIVERSE_CONFLICT /* `expected` is not the present version */
} universe_answer;

/** The answer to a change. Strings are the arena's. */
typedef struct universe_sent {
    universe_answer answer;
    universe_moment moment; /* after it (or the present one); end it by universe_view_free(view) */
    size_t at;              /* UNIVERSE_REFUSED: which order */
    bool is_batch;          /* the sender's to set: whether an answer says `at` */
    const char *reason;     /* UNIVERSE_REFUSED: the event's type */
    const char *events;     /* JSON array, of all orders together */
    size_t events_length;
    universe_changes changes; /* that these orders made */
} universe_sent;

/**
 * Apply orders, all or none, and wait until they are durable.
 *
 * @param expected the version that the universe must have, or UNIVERSE_ANY_VERSION
 * @param actor    who does it, for the log; may be NULL
 * @return MCP_OK (see answer); MCP_E_NOT_FOUND; MCP_E_DENIED: read only; MCP_E_BUSY: too many wait;
 *         MCP_E_IO: not committed, nothing has changed; MCP_E_INTERNAL: the reducer failed
 */
mcp_status universe_service_send(universe_sent *out, universe_service *service, const char *id,
                                 const universe_order *orders, size_t count, int64_t expected,
                                 const char *actor, mcp_arena *arena, mcp_error *err);

/** On the committing thread: must not block. */
typedef void universe_told(void *data);

/** Orders on their way, for who does not want to wait. The sender's; fill in the first part. */
typedef struct universe_sending {
    const char *id; /* these are kept until it is ended */
    const universe_order *orders;
    size_t count;
    int64_t expected;
    const char *actor;
    mcp_arena *arena;
    universe_told *told;
    void *data; /* for `told` */

    /* the service's; what `told` may read: */
    universe_sent sent; /* where status is MCP_OK */
    mcp_status status;
    bool is_stale; /* ending it has to wait, for another try */
    /* what it may not: */
    mcp_error err;
    universe_service *service;
    struct universe_change *change;
} universe_sending;

/**
 * As universe_service_send, but do not wait until they are durable: `told` is called once, perhaps before this
 * returns, and then universe_service_end_send has what they came to.
 *
 * @param may_wait false: not for the universe to be loaded either
 * @return MCP_OK; MCP_E_LATER: it would have to wait for that; else what universe_service_send returns. Where it
 *         is not MCP_OK `told` is not called
 */
mcp_status universe_service_begin_send(universe_sending *sending, universe_service *service,
                                       bool may_wait, mcp_error *err);

/** What universe_service_send returns. Once for each that was begun, after it was told. */
mcp_status universe_service_end_send(universe_sent *out, universe_sending *sending,
                                     mcp_error *err);

/** How a state from elsewhere replaces the present one. */
typedef struct universe_replacement {
    universe_view *view; /* the new state, borrowed; NULL: the state stays */
    bool keeps_time;     /* the clock goes on (replaceSnapshot, generate); else the view's time holds */
    const char *name;    /* new name; NULL: stays */
    const char *label;   /* JSON told in the log and to nobody else: how it came about */
} universe_replacement;

/** Replace state or name (PUT, generate, restore, import). Streams are told to fetch anew. */
mcp_status universe_service_replace(universe_sent *out, universe_service *service, const char *id,
                                    const universe_replacement *by, int64_t expected,
                                    const char *actor, mcp_arena *arena, mcp_error *err);

/* ---- streams ---------------------------------------------------------------------------------- */

/** How a stream tells ticks. */
typedef enum universe_ticks {
    UNIVERSE_TICKS_ALL,
    UNIVERSE_TICKS_NONE,
    UNIVERSE_TICKS_COALESCED /* runs of them as one, at most ten a second */
} universe_ticks;

/** What a reader wants of a universe's stream. */
typedef struct universe_subscription {
    int64_t after;     /* go on after this version; UNIVERSE_ANY_VERSION: from now */
    bool detail;       /* an `applied` event after each command */
    universe_ticks ticks;
} universe_subscription;

/**
 * For a route's handler: answer with a stream of the universe's accepted commands, until either ends
 * (universe.md 6).
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe; MCP_E_LIMIT: too many streams; what the database says
 */
mcp_status universe_service_subscribe(universe_service *service, mcp_call *call, const char *id,
                                      const universe_subscription *what, mcp_error *err);

/** Told of every committed change, and of deletions (-1), on whichever thread: must not block. One at most. */
typedef void universe_watcher(const char *id, int64_t version, void *data);
/** Any thread; NULL takes it back, and when that returns it does not run any more. */
void universe_service_watch(universe_service *service, universe_watcher *watch, void *data);

/* ---- the server's own clock ------------------------------------------------------------------- */

/** Ticks that the server makes by itself; off at start and after a restart. */
typedef struct universe_clock {
    bool running;
    double time_scale; /* seconds of simulation a second, 0 to 50 */
    double hz;         /* ticks a second, above 0 to UNIVERSE_CLOCK_HZ_MAX */
} universe_clock;

/** Set a universe's clock; MCP_E_PARAMS names what is out of range. */
mcp_status universe_service_set_clock(universe_service *service, const char *id,
                                      const universe_clock *clock, mcp_error *err);

/** A universe's clock as it is. */
void universe_service_clock(universe_clock *out, universe_service *service, const char *id);

/* ---- figures ---------------------------------------------------------------------------------- */

/** What /readyz and /metrics tell. */
typedef struct universe_figures {
    bool database_ok;      /* the last commit, or the last try, succeeded */
    int64_t loaded;        /* universes in memory */
    int64_t bodies;        /* in them */
    int64_t commands;      /* committed since the start */
    int64_t rejected;
    int64_t commits;       /* transactions */
    int64_t waiting;       /* changes that wait for a commit */
    int64_t snapshots;     /* written since the start */
    int64_t snapshot_ms;   /* wall clock of the newest; 0: none yet */
    int64_t viewers;       /* streams */
} universe_figures;

/** Figures of now. */
void universe_service_figures(universe_figures *out, universe_service *service);

#endif
