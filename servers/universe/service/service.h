/**
 * service.h - universes: every change, from REST and MCP alike, is made here.
 *
 * Memory holds the working copy; the log in the database is the truth. A change is validated,
 * applied, written to the log and committed. Then it is shown to readers, its sender gets the
 * answer, and streams get the events, in this order. Changes of all universes that arrive while a
 * commit is under way are committed together by the next one (group commit). Readers get committed
 * states only and never wait for writers: each has a frozen view.
 *
 * Several processes may serve one database. Nobody owns a universe: a commit locks the universe's
 * row, takes in what other processes have written, and continues from there (universe.md 9).
 *
 * Threads and locks
 *
 * Every function below may be called from any thread, and may block: on the database, on a commit,
 * on loading; universe_service_submit_begin does not without `may_wait`. Each wait has a deadline.
 * The service has these threads of its own:
 *
 *     committer     takes changes from the queue, commits them, notifies their senders, publishes. The working states
 *                   (universe_live.state) are its alone
 *     snapshotter   writes snapshots from published views and trims logs; wakes once a second
 *     clock         submits the ticks of running clocks, and waits for their commit
 *     poller        looks once a second for changes of other processes, where the database does not announce them
 *     feed          publishes runs of coalesced ticks that have been held long enough
 *
 * Threads of others run code of the service: that of the database listener (db_listen), and those
 * of the bus, which read the log for viewers that are behind.
 *
 * There are two locks. `service->lock` guards the table of universes in memory, their published
 * half, the queue of changes, clocks, figures and the watcher. `feed->lock` guards the runs of
 * coalesced ticks, and is held while events are published, so that the ids of a topic rise. A
 * thread that needs both takes feed->lock first; the bus's own lock is taken inside feed->lock.
 * Under either lock nothing blocks: no database, no commit, no log line. Callbacks
 * (universe_submission_done, universe_watcher, universe_historian, universe_replaying) run under
 * none.
 */
#ifndef UNIVERSE_SERVICE_H
#define UNIVERSE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/bus.h"
#include "commands/commands.h"
#include "db/db.h"
#include "mcp/arena.h"
#include "mcp/files.h"
#include "mcp/log.h"
#include "model/model.h"
#include "serve/metrics.h"
#include "service/storage/record.h"

/** The service: universes of one database. */
typedef struct universe_service universe_service;

enum {
    UNIVERSE_BATCH_MAX = 10000, /* commands that stand or fall together */
    UNIVERSE_CLOCK_HZ_MAX = 20  /* ticks a second that the server makes itself */
};

/** How the service works; zero is the default in the comment. */
typedef struct universe_service_options {
    db *db;                /* required; borrowed */
    const mcp_file *files; /* with "sql/NNN-name.sql"; required */
    universe_rules rules;  /* of what is accepted from now on; the log remembers its own */
    bool read_only;        /* every change is refused with MCP_E_DENIED */
    int64_t bodies_max;    /* of all loaded universes together: 4,000,000 */
    int64_t loaded_max;    /* universes in memory, but for those in use: 10,000 */
    int64_t
        /* of log since the last snapshot that make a new one: 4 MiB or a quarter of the state */
        snapshot_bytes;
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

/* ---- reading --------------------------------------------------------------------------------- */

/** A universe at one committed version. */
typedef struct universe_version {
    universe_record record;
    universe_view *view; /* yours: universe_view_free */
} universe_version;

/**
 * The newest committed version of a universe; loads it where it is not in memory.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe, the message names it; MCP_E_LIMIT: bodies_max;
 *         MCP_E_TIMEOUT; what the database says
 */
mcp_status universe_service_get(universe_version *out, universe_service *service, const char *id,
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

/** Gets the progress, now and then. @return true: stop */
typedef bool universe_replaying(int64_t done, int64_t total, void *data);

/**
 * The state at a version, made by the log alone as far as it reaches back, not from the newest
 * snapshot: equal to universe_service_at, or something is wrong.
 *
 * @param out  yours: universe_view_free
 * @param to   UNIVERSE_ANY_VERSION: the newest
 * @param report may be NULL
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe or version; MCP_E_STOPPED; MCP_E_IO,
 *         MCP_E_INTERNAL: the log has a gap or an entry that cannot be applied
 */
mcp_status universe_service_replay(universe_view **out, universe_replayed *what,
                                   universe_service *service, const char *id, int64_t to,
                                   universe_replaying *report, void *data, mcp_error *err);

/** What changed after version `since` up to `moment`. */
mcp_status universe_service_changes(universe_changes *out, universe_service *service,
                                    const universe_version *current, int64_t since,
                                    mcp_arena *arena, mcp_error *err);

/** One version of the log. */
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
                                    int64_t after, size_t limit, universe_historian *each,
                                    void *data, mcp_error *err);

/* ---- changing -------------------------------------------------------------------------------- */

/** Any version will do. */
#define UNIVERSE_ANY_VERSION (-1)

/**
 * Create a universe.
 *
 * @param id    NULL: a random UUID
 * @param start its state, borrowed; NULL: empty
 * @param label JSON for the log, how `start` came about, and the universe is at version 1; NULL:
 *              nothing is logged, and it is at version 0
 * @param taken set where MCP_E_PARAMS is returned because the id is taken; may be NULL
 * @return MCP_OK; MCP_E_IO: it may have been created, then the message says so; any other: it was
 *         not
 */
mcp_status universe_service_create(universe_version *out, bool *taken, universe_service *service,
                                   const char *id, const char *name, universe_view *start,
                                   const char *label, mcp_arena *arena, mcp_error *err);

/**
 * Delete a universe: its streams end with `deleted`.
 *
 * @param expected the version that it must have, or UNIVERSE_ANY_VERSION
 * @param version  the one that it has; where it is not the expected one, nothing was done
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_DENIED: read only; what the database says
 */
mcp_status universe_service_delete(int64_t *version, universe_service *service, const char *id,
                                   int64_t expected, mcp_error *err);

/** One command, and its text. */
typedef struct universe_command {
    const mcp_json *json;
    const char *text; /* as it came: stored and broadcast so */
    size_t length;
} universe_command;

/** The result of a change. */
typedef enum universe_answer {
    UNIVERSE_DONE,    /* durable */
    UNIVERSE_NOTHING, /* success without a change */
    UNIVERSE_REFUSED, /* the domain rejects it */
    UNIVERSE_CONFLICT /* `expected` is not the present version */
} universe_answer;

/** The answer to a change. Strings are the arena's. */
typedef struct universe_result {
    universe_answer answer;
    universe_version
        current;        /* after it (or the present one); end it by universe_view_free(view) */
    size_t at;          /* UNIVERSE_REFUSED: which command */
    bool is_batch;      /* the sender's to set: whether an answer says `at` */
    const char *reason; /* UNIVERSE_REFUSED: the event's type */
    const char *events; /* JSON array, of all commands together */
    size_t events_length;
    universe_changes changes; /* that these commands made */
} universe_result;

/**
 * Apply commands, all or none, and wait until they are durable.
 *
 * @param expected the version that the universe must have, or UNIVERSE_ANY_VERSION
 * @param actor    who does it, for the log; may be NULL
 * @return MCP_OK (see answer); MCP_E_NOT_FOUND; MCP_E_DENIED: read only; MCP_E_BUSY: too many wait;
 *         MCP_E_IO: not committed, nothing has changed; MCP_E_INTERNAL: the reducer failed
 */
mcp_status universe_service_submit(universe_result *out, universe_service *service, const char *id,
                                   const universe_command *commands, size_t count, int64_t expected,
                                   const char *actor, mcp_arena *arena, mcp_error *err);

/** Runs once a submission was committed or refused, on the committing thread: must not block. */
typedef void universe_submission_done(void *data);

/** Commands that wait for their commit without holding a thread. The sender's; it fills in the
 *  first part, and keeps what that points to until universe_service_submit_end. */
typedef struct universe_submission {
    const char *id;
    const universe_command *commands;
    size_t count;
    int64_t expected;
    const char *actor;
    mcp_arena *arena;
    universe_submission_done *done;
    void *data; /* for `done` */

    /* the service's; `done` may read these: */
    universe_result result; /* where status is MCP_OK */
    mcp_status status;
    bool is_stale; /* universe_service_submit_end will try once more, and wait */
    /* and not these: */
    mcp_error err;
    universe_service *service;
    struct universe_change *change;
} universe_submission;

/**
 * As universe_service_submit, without waiting until the commands are durable: `done` is called
 * once, perhaps before this returns, and then universe_service_submit_end has the result.
 *
 * @param may_wait false: not for the universe to be loaded either
 * @return MCP_OK; MCP_E_DEFERRED: it would have to wait for that; else what universe_service_submit
 *         returns. `done` is called only where it is MCP_OK
 */
mcp_status universe_service_submit_begin(universe_submission *submission, universe_service *service,
                                         bool may_wait, mcp_error *err);

/** What universe_service_submit returns. Once for each that was begun, after `done` was called. */
mcp_status universe_service_submit_end(universe_result *out, universe_submission *submission,
                                       mcp_error *err);

/** How a state from elsewhere replaces the present one. */
typedef struct universe_replacement {
    universe_view *view; /* the new state, borrowed; NULL: the state stays */
    bool keeps_time;     /* (replaceSnapshot, generate); else the view's time holds */
    const char *name;    /* new name; NULL: stays */
    const char *label;   /* JSON for the log: how the state came about */
} universe_replacement;

/** Replace state or name (PUT, generate, restore, import). Viewers fetch the state. */
mcp_status universe_service_replace(universe_result *out, universe_service *service, const char *id,
                                    const universe_replacement *by, int64_t expected,
                                    const char *actor, mcp_arena *arena, mcp_error *err);

/* ---- streams --------------------------------------------------------------------------------- */

/** How a stream has ticks. */
typedef enum universe_ticks {
    UNIVERSE_TICKS_ALL,
    UNIVERSE_TICKS_NONE,
    UNIVERSE_TICKS_COALESCED /* runs of them as one, at most ten a second */
} universe_ticks;

/** What a viewer subscribes to. */
typedef struct universe_subscription {
    int64_t after; /* continue after this version; UNIVERSE_ANY_VERSION: from now */
    bool detail;   /* an `applied` event after each command */
    universe_ticks ticks;
} universe_subscription;

enum { UNIVERSE_TOPIC_SIZE = UNIVERSE_KEY_MAX + 32 };

/** A subscriber of the bus: what bus_subscribe takes. The caller's. */
typedef struct universe_subscriber {
    bus *bus;
    char topic[UNIVERSE_TOPIC_SIZE];
    bus_subscription how;

    universe_service *service; /* the rest is the service's */
    struct universe_live *live;
    int64_t version;
} universe_subscriber;

/**
 * Prepare a stream of a universe's accepted commands (universe.md 6):
 *
 *     st = universe_service_subscribe(&subscriber, service, id, &what, err);
 *     if (st == MCP_OK) {
 *         st = bus_subscribe(subscriber.bus, call, subscriber.topic, &subscriber.how, err);
 *         universe_service_subscribed(&subscriber);
 *     }
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: no such universe; what the database says
 */
mcp_status universe_service_subscribe(universe_subscriber *out, universe_service *service,
                                      const char *id, const universe_subscription *what,
                                      mcp_error *err);

/** To be called once after bus_subscribe, whatever that returned. */
void universe_service_subscribed(universe_subscriber *subscriber);

/** Runs after every committed change and every deletion (version -1), on any thread of the service,
 *  under no lock of it. Must not block. */
typedef void universe_watcher(const char *id, int64_t version, void *data);

/** Set the watcher, of which there is one at most; NULL removes it, and it does not run any more
 *  when this returns. Any thread but that of the watcher. */
void universe_service_watch(universe_service *service, universe_watcher *watch, void *data);

/* ---- the server's own clock ------------------------------------------------------------------ */

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

/* ---- figures --------------------------------------------------------------------------------- */

/** What /readyz and /metrics show. */
typedef struct universe_figures {
    bool database_ok; /* the last commit, or the last try, succeeded */
    int64_t loaded;   /* universes in memory */
    int64_t bodies;   /* in them */
    int64_t commands; /* committed since the start */
    int64_t rejected;
    int64_t commits;     /* transactions */
    int64_t waiting;     /* changes that wait for a commit */
    int64_t snapshots;   /* written since the start */
    int64_t snapshot_ms; /* wall clock of the newest; 0: none yet */
    int64_t viewers;     /* streams */
    /** Commands that were judged, by universe_answer; and those of changes that failed. */
    int64_t judged[UNIVERSE_CONFLICT + 1], failed;
    serve_times commit_times; /* from the first try to the commit */
} universe_figures;

/** Figures of now. */
void universe_service_figures(universe_figures *out, universe_service *service);

#endif
