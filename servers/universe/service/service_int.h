/*
 * service_int.h - what the files of the service share: a universe in memory, a change that waits,
 * the service itself. service.h says which thread and which lock owns what.
 */
#ifndef UNIVERSE_SERVICE_INT_H
#define UNIVERSE_SERVICE_INT_H

#include <pthread.h>

#include "service/service.h"
#include "service/storage/snapshot.h"
#include "service/storage/store.h"
#include "service/storage/touched.h"
#include "thread/thread.h"

#define UNIVERSE_CHANNEL "universe_versions"

enum { LIVE_BUCKETS = 1024, QUEUE_MAX = 4096, LOAD_WAIT_MS = 60000, COMMIT_MAX = 512 };

/** The streams of all universes; feed.c has it. */
typedef struct universe_feed universe_feed;

/** A universe in memory. */
typedef struct universe_live {
    struct universe_live *next; /* in its bucket */
    char id[UNIVERSE_KEY_MAX + 1];
    int users;           /* it stays while anybody uses it */
    bool is_loading;     /* somebody reads it from the database: wait for `loaded` */
    bool is_gone;        /* not in the table any more: the last user frees it */
    bool is_deleted;     /* and that is why */
    bool is_behind;      /* others have changed or deleted it while it was being loaded */
    bool is_catching_up; /* a CATCH_UP of it waits in the queue */
    mcp_error failure;   /* why it could not be loaded, for those who waited; or MCP_OK */
    int64_t used_ms;     /* by whom it was used last, for what goes first */

    /* published: under the lock */
    char *name;
    int64_t version;
    double time;
    int64_t bodies;
    int64_t created_ms, updated_ms;
    universe_view *view;            /* committed */
    int64_t log_bytes, log_entries; /* since the newest snapshot */
    int64_t snapshot_ms;            /* when it was written, or it was loaded */
    int64_t snapshot_not_before_ms; /* one has failed: when it is tried again */
    universe_clock clock;
    int64_t ticked_ms; /* mono; up to when the clock's time was taken */
    double due_ms;     /* mono; its next tick */
    double owed;       /* seconds of simulation that passed and are in no tick yet */

    /* the committing thread's */
    universe_state *state;
    int64_t state_version; /* what `state` is at between two windows */
} universe_live;

/** What a change is. */
typedef enum universe_change_kind {
    UNIVERSE_CHANGE_COMMANDS,
    UNIVERSE_CHANGE_REPLACE,
    UNIVERSE_CHANGE_CATCH_UP /* take in what another process has written */
} universe_change_kind;

/** A change that waits for its commit. The committing thread's until it calls `done`, then the
 *  sender's again; a CATCH_UP is the queue's own. */
typedef struct universe_change {
    struct universe_change *next;
    universe_change_kind kind;
    universe_live *live;
    const universe_command *commands;
    size_t count;
    const universe_replacement *by;
    universe_snapshot *snapshot; /* of by->view; its parts are written */
    int64_t expected;
    const char *actor;
    mcp_arena *arena; /* the sender's: the committing thread's until `done` */
    universe_result *out;
    mcp_error *err;
    mcp_status status;
    bool is_stale;            /* its universe must be loaded again; nothing was done */
    void (*done)(void *data); /* on the committing thread */
    void *done_data;
} universe_change;

struct universe_service {
    universe_service_options options;
    db_listener *listener;
    universe_feed *feed;

    pthread_mutex_t lock;
    pthread_cond_t loaded; /* a universe's is_loading became false */
    pthread_cond_t work;   /* the queue has something, or closing */
    pthread_cond_t rest;   /* for the keeper, the clock and the looker: closing */
    universe_live *live[LIVE_BUCKETS];
    universe_change *first, **end;
    bool committer_sleeps; /* and nobody is waking it */
    bool closing;
    universe_figures figures;
    int64_t full_logged_ms; /* mono; when the log got that the disk is full, if `is_full_logged` */
    bool is_full_logged;
    size_t full_unlogged; /* failures since */
    universe_watcher *watch;
    void *watch_data;
    int watching;           /* how many threads run it now */
    pthread_cond_t watched; /* that became 0 */

    pthread_t committer, snapshotter, clock, poller;
    int threads; /* of these, how many run */
};

/* ---- registry.c ------------------------------------------------------------------------------ */

/** The universe in memory, loading it where need be. Give it back by universe_live_release. */
mcp_status universe_live_hold(universe_live **out, universe_service *service, const char *id,
                              mcp_error *err);

/** As universe_live_hold, without waiting. @return MCP_E_DEFERRED: it is not loaded */
mcp_status universe_live_hold_loaded(universe_live **out, universe_service *service, const char *id,
                                     mcp_error *err);

/** As universe_live_hold, but only what is loaded; NULL: it is not. Under the lock. */
universe_live *universe_live_find(universe_service *service, const char *id);

void universe_live_release(universe_service *service, universe_live *live);

/** Forget it: its next use reads the database. Under the lock. */
void universe_live_forget(universe_service *service, universe_live *live);

/** Whether it was deleted. Not under the lock. */
bool universe_live_is_deleted(universe_service *service, const universe_live *live);

/** Free all. */
void universe_live_clear(universe_service *service);

/** The published moment; strings in the arena. Under the lock. */
mcp_status universe_live_current(universe_version *out, universe_live *live, mcp_arena *arena,
                                 mcp_error *err);

/** A universe's id as it must be: 1 to UNIVERSE_KEY_MAX bytes without control characters. */
mcp_status universe_check_id(const char *id, mcp_error *err);

/* ---- commit.c -------------------------------------------------------------------------------- */

/** Queue a change. Its `done` is called when it is committed or refused; not where this fails. */
mcp_status universe_queue(universe_service *service, universe_change *change, mcp_error *err);

/** Queue a change and wait until it is committed or refused. */
mcp_status universe_commit(universe_service *service, universe_change *change, mcp_error *err);

/** The same for several at once, of different universes: they share a commit where they can. Each
 *  has its `err` and gets its `status`. */
void universe_commit_all(universe_service *service, universe_change *changes, size_t count);

/** Let the committing thread take in what other processes have written. Does not wait. */
void universe_catch_up(universe_service *service, universe_live *live);

/** The same, where it is in memory and not at this version (-1: deleted) or not made at that time
 *  (0: not known). *is_loaded: whether it is in memory. */
void universe_catch_up_to(bool *is_loaded, universe_service *service, const char *id,
                          int64_t version, int64_t created_ms);

/** The same for every universe in memory. */
void universe_catch_up_all(universe_service *service);

/** The committing thread. */
void *universe_committer(void *data);

/* ---- commit_batch.c -------------------------------------------------------------------------- */

/** Entries that were committed and that streams do not have yet. */
typedef struct universe_publication {
    mcp_arena *arena;
    struct universe_published {
        universe_live *live; /* held */
        int64_t version;
        const universe_entry
            *entries; /* one for each version; NULL: there was no memory for them */
        size_t count;
    } * lives;
    size_t count;
} universe_publication;

/** Apply, write and commit these changes together, show them to readers, and fill in their answers.
 *
 *  @param out to be given to universe_publish */
void universe_commit_batch(universe_publication *out, universe_service *service,
                           universe_change *const *changes, size_t count);

/** Publish to streams, notify the watcher; ends the publication. */
void universe_publish(universe_service *service, universe_publication *publication);

/* ---- outcome.c ------------------------------------------------------------------------------- */

/** A failure that is none of the one change's: the whole batch fails with it. */
bool universe_spoils_batch(mcp_status status);

/** Nothing was done, and now it may: a row is free, a lost connection can be made again.
 *  @param was_sent it came to the commit */
bool universe_may_try_again(const universe_service *service, mcp_status status, bool was_sent);

/** Fill in the answers of a batch that ended so. @param cause of a failure; becomes the senders'
 *  error */
void universe_answer_batch(universe_service *service, universe_change *const *changes, size_t count,
                           mcp_status status, bool was_sent, mcp_error *cause);

/* ---- feed.c ---------------------------------------------------------------------------------- */

mcp_status universe_feed_open(universe_service *service, mcp_error *err);
void universe_feed_close(universe_service *service);

/** Tell entries of the log to the universe's streams, unless it is deleted. */
void universe_feed_entries(universe_service *service, const universe_live *live,
                           const universe_entry *entries, size_t count);

/** Make its viewers fetch the state. */
void universe_feed_resync(universe_service *service, const char *id, int64_t version);

/** The universe, which is not in memory, has reached a version that its streams may lack. */
void universe_feed_behind(universe_service *service, const char *id, int64_t version);

/** How many streams there are. */
size_t universe_feed_viewers(universe_service *service);

/** Tell them that it is deleted, and end them. */
void universe_feed_deleted(universe_service *service, const char *id);

/* ---- service.c ------------------------------------------------------------------------------- */

/** Notify the watcher. */
void universe_notify_watcher(universe_service *service, const char *id, int64_t version);

/** Log that `what` failed, `count` changes or whatever is counted. A full disk is logged once a
 *  minute, with how many failures there were since. */
void universe_log_failure(universe_service *service, mcp_log_level level, size_t count,
                          const char *what, const mcp_error *cause);

/* ---- replication.c --------------------------------------------------------------------------- */

/** Another process has brought a universe to this version (-1: deleted it). It is brought up to
 *  date where it is in memory, else its streams and the watcher are notified. @param created_ms
 *  when that universe was created; 0: not known @param is_new the version was not replicated
 *  before */
void universe_replicate(universe_service *service, const char *id, int64_t version,
                        int64_t created_ms, bool is_new);

/** The thread that polls for changes of other processes. */
void *universe_replication_poll(void *data);

/* ---- replay.c -------------------------------------------------------------------------------- */

/** Whether a universe's state at a version can be made still. @return MCP_OK; MCP_E_NOT_FOUND: it
 *  cannot, the message says which can */
mcp_status universe_check_reach(db_session *session, const universe_record *record, int64_t version,
                                mcp_arena *arena, mcp_error *err);

/* ---- snapshotter.c, clock.c ------------------------------------------------------------------ */

/** The thread that writes snapshots and trims logs. */
void *universe_snapshotter(void *data);

/** The thread that makes the server's own ticks. */
void *universe_clock_run(void *data);

#endif
