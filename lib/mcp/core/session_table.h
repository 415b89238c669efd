/*
 * session_table.h - the sessions of all clients of one server: by id, with their ages and their
 * ends; and their last events.
 *
 * The loop's alone. Besides those with an id there are entries for one request, for clients that
 * have no session: they hold the request's calls and nothing more.
 */
#ifndef MCP_CORE_SESSION_TABLE_H
#define MCP_CORE_SESSION_TABLE_H

#include <sys/queue.h>

#include "base/map.h"
#include "mcp/core/session/session.h"
#include "mcp/random.h"

/* ---- the last events of a session's streams, kept for a client that lost its connection ------ */

typedef struct mcp__event_ring mcp__event_ring;

/** One event; numbers of a stream rise by one. */
typedef struct mcp__event {
    TAILQ_ENTRY(mcp__event) of_ring, of_store;
    mcp__event_ring *ring;
    uint32_t stream;
    uint64_t number;
    size_t length;
    char text[]; /* the message, without NUL */
} mcp__event;

/** What all rings share: a bound on their bytes. */
typedef struct mcp__event_store {
    TAILQ_HEAD(, mcp__event) events; /* the oldest first */
    size_t bytes;
    size_t max_bytes;
} mcp__event_store;

/** One session's events. */
struct mcp__event_ring {
    mcp__event_store *store;
    TAILQ_HEAD(, mcp__event) events; /* the oldest first */
    size_t count;
    size_t bytes;
};

/** How many events, and how many bytes, one ring keeps. */
#define MCP__EVENTS_MAX ((size_t)256)
#define MCP__EVENTS_MAX_BYTES ((size_t)1024 * 1024)

void mcp__event_ring_init(mcp__event_ring *ring, mcp__event_store *store);

void mcp__event_ring_clear(mcp__event_ring *ring);

/** Keep a copy. What is too large, or finds no memory, is not kept, and then nothing older is
 *  either: what is kept of a stream has no gaps. */
void mcp__event_ring_put(mcp__event_ring *ring, uint32_t stream, uint64_t number, const char *text,
                         size_t length);

/** Whether `number` is one of the stream's, or the one before its first, and all that came after it
 *  are kept. False for a stream of which nothing is kept. */
bool mcp__event_ring_covers(const mcp__event_ring *ring, uint32_t stream, uint64_t number);

/** The first kept event of a stream after `number`; NULL when there is none. */
const mcp__event *mcp__event_ring_next(const mcp__event_ring *ring, uint32_t stream,
                                       uint64_t number);

/* ---- sessions -------------------------------------------------------------------------------- */

typedef struct mcp__session_entry mcp__session_entry;
struct mcp__httpd_peer;

struct mcp__session_entry {
    mcp__session session;
    char id[MCP_RANDOM_ID_SIZE]; /* "": for one request */
    char *principal;             /* who opened it; NULL: nobody in particular */
    mcp__event_ring events;
    uint32_t streams;       /* numbers given to streams so far */
    uint64_t listen_number; /* of the last event on the stream that belongs to no request */
    int open_streams;       /* connections that are open for it; the transport counts */
    LIST_HEAD(, mcp__httpd_peer) peers; /* its requests and streams of HTTP; the transport's */
    int64_t used_ms;
    int64_t begun_ns; /* mono; of one with an id */
    TAILQ_ENTRY(mcp__session_entry) age;
    LIST_ENTRY(mcp__session_entry) busy;
    LIST_ENTRY(mcp__session_entry) ended;
    bool is_busy; /* in the list of those that may have open calls */
    bool is_ended;
};

/** Called when an entry with an id ends, for any reason, and its calls are cancelled: its streams
 *  are to be closed. */
typedef void mcp__session_ending(mcp__session_entry *entry, void *data);

typedef struct mcp__session_table_options {
    mcp__context context;
    size_t max;              /* entries with an id */
    int64_t idle_ms;         /* of a session without traffic */
    size_t events_max_bytes; /* of all sessions together */
    mcp__session_ending *ending;
    void *data;
} mcp__session_table_options;

typedef struct mcp__session_table {
    mcp__session_table_options options;
    mcp__map by_id;
    mcp__event_store events;
    TAILQ_HEAD(, mcp__session_entry) ages; /* those with an id, by `used_ms`, the oldest first */
    LIST_HEAD(, mcp__session_entry) busy;
    LIST_HEAD(, mcp__session_entry) ended; /* to be freed once idle */
    mcp__session_entry *shared;            /* NULL: not asked for */
    size_t count;                          /* entries with an id */
    size_t opened;                         /* entries with an id, ever */
} mcp__session_table;

void mcp__session_table_init(mcp__session_table *table, const mcp__session_table_options *options);

/** End all that is left; no call may be running. */
void mcp__session_table_clear(mcp__session_table *table);

/**
 * A session with a new id. When the table is full the one that was idle longest goes, if nobody is
 * connected to it.
 *
 * @param principal copied; may be NULL
 * @return MCP_OK; MCP_E_BUSY (full, and none can go); MCP_E_NOMEM; MCP_E_IO (no random bytes)
 */
mcp_status mcp__session_table_add(mcp__session_entry **out, mcp__session_table *table,
                                  const char *principal, int64_t now_ms, mcp_error *err);

/** An entry for one request. */
mcp_status mcp__session_table_once(mcp__session_entry **out, mcp__session_table *table,
                                   mcp_error *err);

/** An entry for requests that need no session, of all clients together; lives as long as the
 *  table. */
mcp_status mcp__session_table_share(mcp__session_entry **out, mcp__session_table *table,
                                    mcp_error *err);

/** NULL when there is none of that id, or it is another principal's: nobody learns which. */
mcp__session_entry *mcp__session_table_find(const mcp__session_table *table, const char *id,
                                            const char *principal);

/** The client was heard of. */
void mcp__session_table_touch(mcp__session_table *table, mcp__session_entry *entry, int64_t now_ms);

/** The entry was given a message: look after its calls. */
void mcp__session_table_work(mcp__session_table *table, mcp__session_entry *entry);

/** End an entry: its calls are cancelled, its id is forgotten. It is freed later; do not use it. */
void mcp__session_table_end(mcp__session_table *table, mcp__session_entry *entry);

/** The request of such an entry is answered or will never be. It is freed later; do not use it. */
void mcp__session_table_return(mcp__session_table *table, mcp__session_entry *entry);

/** End sessions that were idle too long. @return when to look again; INT64_MAX: there are none */
int64_t mcp__session_table_expire(mcp__session_table *table, int64_t now_ms);

/** Give every entry with open calls its time. */
void mcp__session_table_tick(mcp__session_table *table, int64_t now_ms);

/** At the end of a turn: free what has ended. @return when to tick; INT64_MAX: not by the clock */
int64_t mcp__session_table_settle(mcp__session_table *table);

/** Whether no call is open or running anywhere. */
bool mcp__session_table_is_idle(const mcp__session_table *table);

/** mcp__dispatch_stop, _refuse_waiting and _abandon for every entry. */
void mcp__session_table_stop(mcp__session_table *table, mcp_stop why);
void mcp__session_table_refuse_waiting(mcp__session_table *table);
void mcp__session_table_abandon(mcp__session_table *table);

#endif
