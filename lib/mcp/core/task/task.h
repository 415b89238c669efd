/*
 * task.h - the tasks of all clients of one transport: calls that have answered their clients once,
 * and continue; and their results.
 *
 * All on the loop.
 */
#ifndef MCP_CORE_TASK_H
#define MCP_CORE_TASK_H

#include <sys/queue.h>

#include "base/map.h"
#include "mcp/core/peer.h"
#include "mcp/core/session/session.h"
#include "mcp/random.h"

typedef enum mcp__task_status {
    MCP__TASK_WORKING,
    MCP__TASK_INPUT_REQUIRED,
    MCP__TASK_COMPLETED, /* from here on it is over, and stays so */
    MCP__TASK_FAILED,
    MCP__TASK_CANCELLED
} mcp__task_status;

/** How long a task is kept that ended, or requested input, only after its time. */
#define MCP__TASK_LATE_MS ((int64_t)5 * 60 * 1000)

/** One task. task.c writes; others read. */
struct mcp__task_entry {
    mcp__peer peer; /* first: it takes the answer of its call */
    mcp__task_table *table;
    char id[MCP_RANDOM_ID_SIZE];
    uint64_t number;       /* in the order of coming */
    char *principal;       /* whose it is; NULL: no particular one */
    mcp__session *session; /* of its client, in the session era; NULL: none, or it is over */
    bool is_stateless;     /* begun under a revision without sessions */
    mcp__task_status status;
    char message[MCP__PROGRESS_TEXT_SIZE]; /* "": none */
    int64_t ttl_ms;                        /* from its beginning */
    int64_t began_ms;                      /* of the clock that only rises */
    int64_t since_ms;                      /* likewise: of its status */
    int64_t began_wall_ms;
    int64_t updated_wall_ms;
    mcp_call *call;                 /* until it is over */
    TAILQ_HEAD(, mcp_call) waiting; /* calls that wait for its end */
    mcp_call *asked_on; /* the one of them on whose stream its input requests went; NULL: none */
    mcp__peer *asked_listener; /* the session's stream that they went on instead; only compared */
    bool is_error;             /* `outcome` is a JSON-RPC error, not a result */
    const char *outcome;       /* that object as text; NULL: it is not over */
    size_t outcome_length;
    char *owned;                       /* the same, where it is not a constant */
    LIST_ENTRY(mcp__task_entry) older; /* in `entries` */
};

struct mcp__task_table {
    mcp__session session;              /* whose calls they are while they run */
    mcp__subscriptions *subscriptions; /* of the clients' sessions; NULL: there is none */
    mcp_arena *arena;                  /* pays for the next */
    const mcp_json *call_id;           /* the number 0: the id of each of these calls */
    mcp__map by_id;
    LIST_HEAD(, mcp__task_entry) entries; /* the newest first */
    size_t count;
    size_t bytes; /* of outcomes */
    uint64_t last_number;
    int64_t due_ms; /* when to look for tasks whose time is over; INT64_MAX: never */
};

/** A table without tasks. @param out yours, free it with mcp__task_table_free. `context` is
 *  copied */
mcp_status mcp__task_table_new(mcp__task_table **out, const mcp__context *context, mcp_error *err);

/** No call of it may be running. NULL is fine. */
void mcp__task_table_free(mcp__task_table *table);

/**
 * Begin a task for the client of a call.
 *
 * @return MCP_OK; MCP_E_BUSY: there are as many as may be; MCP_E_NOMEM; MCP_E_IO (no random bytes)
 */
mcp_status mcp__task_table_add(mcp__task_entry **out, mcp__task_table *table, const mcp_call *call,
                               int64_t ttl_ms, mcp_error *err);

/** Forget a task that has neither a call nor calls that wait for it. */
void mcp__task_table_remove(mcp__task_entry *entry);

static inline bool mcp__task_is_over(const mcp__task_entry *entry)
{
    return entry->status >= MCP__TASK_COMPLETED;
}

/** Whether the client of a call may know of a task. */
bool mcp__task_table_is_of(const mcp__task_entry *entry, const mcp_call *call);

/** The task of that id; NULL when there is none, or it is another client's: nobody learns which. */
mcp__task_entry *mcp__task_table_find(const mcp__task_table *table, const char *id, size_t length,
                                      const mcp_call *call);

/** The next older task of a call's client, from one with a smaller number than `before` on; NULL:
 *  none. */
mcp__task_entry *mcp__task_table_older(const mcp__task_table *table, uint64_t before,
                                       const mcp_call *call);

/** When a task is forgotten; INT64_MAX: not while it runs. */
int64_t mcp__task_table_end_ms(const mcp__task_entry *entry);

/* ---- the life of a task ---------------------------------------------------------------------- */

/**
 * Make a call a task: its client is answered with that, and the call is the task's from then on, in
 * no table and ready to run from the top.
 *
 * @return MCP_OK; else the status of the error that is the call's answer, call->err filled
 */
mcp_status mcp__task_begin(mcp_call *call);

/** The handler of a task requested input: the requests go where its client looks for them.
 *  @return MCP_OK; else the status that the call ends with, call->err filled */
mcp_status mcp__task_request_input(mcp_call *call);

/** The responses are there: it works again. */
void mcp__task_resume(mcp_call *call);

/** For tasks/result: have the call answered with the end of the task. It is suspended unless the
 *  task is over. */
void mcp__task_await(mcp_call *call, mcp__task_entry *entry);

/** A suspended call is in its session's table now, or leaves it. */
void mcp__task_enter(mcp_call *call);
void mcp__task_leave(mcp_call *call);

/** Cancel a task that is not over. */
void mcp__task_cancel(mcp__task_entry *entry);

/** A session ends: its tasks that no other client can reach end with it. */
void mcp__task_session_ends(mcp__task_table *table, const mcp__session *session);

/** End tasks whose time is over, and note in table->due_ms when to look again. */
void mcp__task_expire(mcp__task_table *table, int64_t now_ms);

/** Cancel tasks that no call waits for; all of them for MCP_STOP_CANCELLED. */
void mcp__task_stop(mcp__task_table *table, mcp_stop why);

/** The members of a Task, under the names of its era. */
void mcp__task_write(const mcp__task_entry *entry, mcp_json_writer *writer);

/** The same with its input requests or its result, as it is from 2026-07-28. */
void mcp__task_write_detailed(const mcp__task_entry *entry, mcp_json_writer *writer);

#endif
