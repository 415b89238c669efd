/*
 * call_int.h - the body of a call, and the table of those that are open, for the files of lib/mcp
 * that make, prepare and answer calls.
 *
 * A call is made by the loop, prepared by a method's function, handed to a worker or answered at
 * once, and freed by the loop. Unless a comment says otherwise a field is written by the thread
 * that holds the call; fields that the loop reads while a worker holds it are not written by the
 * worker.
 */
#ifndef MCP_CORE_CALL_INT_H
#define MCP_CORE_CALL_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mcp/auth.h"
#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/core/context.h"
#include "mcp/core/message/message.h"
#include "mcp/core/peer.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "net/pool.h"

typedef struct mcp__inline_budget mcp__inline_budget;
typedef struct mcp__subscription mcp__subscription;
typedef struct mcp__task_entry mcp__task_entry;

/** What the answers of one kind of call have in common. A constant; a member that is NULL does
 *  nothing. */
typedef struct mcp__call_kind {
    /** Write the members of `result` for a handler that returned MCP_OK. Where the handler ran.
     *  NULL: the result is the object of mcp_call_result. */
    mcp_status (*finish)(mcp_call *call, mcp_json_writer *writer);
    /** Write the members of a result that reports a failure in words. Any thread. NULL: failures
     *  are errors. */
    void (*fail)(mcp_json_writer *writer, const char *text, size_t length);
    /** Write the whole message, where the handler ran. NULL: mcp__result_render. */
    void (*render)(mcp_call *call);
    /** Bytes of input outside the call's arena, which a handler on the loop must not work
     *  through. */
    size_t (*size_of_input)(const mcp_call *call);
    /** HTTP's status of an answer that is not MCP's. Loop only. NULL: it is MCP's.
     *  @param fault what the dispatch answered instead of the call; MCP_OK: the call answered */
    int (*http_status)(const mcp_call *call, mcp_status fault);
    /** Free what the arena does not pay for. Loop only. */
    void (*release)(mcp_call *call);
    bool may_be_empty; /* a message without a byte is an answer */
    const char
        *blocks; /* the result's first member, an array of content blocks; NULL: it is another */
    const char *role; /* of the message that each content block stands in; NULL: in none */
} mcp__call_kind;

/** JSON text in the making. */
typedef struct mcp__draft {
    mcp_buf text;
    mcp_json_writer writer; /* at the end of `text`, unless it is EMPTY or holds whole blocks */
    enum {
        MCP__DRAFT_EMPTY,
        MCP__DRAFT_OBJECT, /* is open */
        MCP__DRAFT_VALUE,  /* one value of any kind */
        MCP__DRAFT_BLOCKS, /* finished ones, comma-separated */
        MCP__DRAFT_STRING  /* a block whose text is written in pieces */
    } holds;
    mcp_status status; /* of the first block that could not be written */
} mcp__draft;

/** A member of the result's _meta. */
typedef struct mcp__note {
    const char *name;
    const char *json; /* its value */
    struct mcp__note *next;
} mcp__note;

/** How long an answer may be cached, and by whom; from 2026-07-28. */
typedef struct mcp__caching {
    bool is_stated; /* false: this kind of answer says nothing about it */
    bool is_public;
    int64_t ttl_ms;
} mcp__caching;

/** The text of a prompt's placeholder; a list in the order of writing. */
typedef struct mcp__placeholder {
    const char *name;
    const char *text;
    struct mcp__placeholder *next;
} mcp__placeholder;

/** What runs when a deferred call is resumed, once, in place of its handler. */
typedef struct mcp__continuation {
    mcp_handler *run; /* NULL: there is none */
    void *data;
    bool is_nonblocking;
} mcp__continuation;

/** Room for a status message of a task, with its NUL. */
#define MCP__PROGRESS_TEXT_SIZE 256

/** A call's reports: written by its worker, sent by the loop. */
typedef struct mcp__progress {
    const mcp_json *token; /* NULL: the client wants none */

    /* the worker's */
    double last;
    bool has_last;

    pthread_mutex_t lock;                          /* guards the reports under way */
    TAILQ_HEAD(mcp__reports, mcp__report) reports; /* the newest last */
    size_t count;
    bool is_posted; /* `node` is on its way to the loop */
    char *
        /* of a task: the message of the last report, MCP__PROGRESS_TEXT_SIZE; NULL: no task */
        text;
    int64_t text_wall_ms;
    mcp__node node;

    /* the loop's */
    int64_t sent_ms; /* when the last one would have left at an even pace */
} mcp__progress;

/** One request of the handler's last run. */
typedef struct mcp__input_request {
    const char *key;
    const char *method;
    const mcp_json *params; /* an object or NULL */
    int64_t request_id;     /* within a session: of the JSON-RPC request; 0: not sent */
    bool is_answered;
    const char *name; /* of a task without a session: its name in tasks/get */
    struct mcp__input_request *next;
} mcp__input_request;

/** The id of a URL that the client's user is sent to; its completion is notified. */
typedef struct mcp__url_elicitation {
    const char *id;
    struct mcp__url_elicitation *next;
} mcp__url_elicitation;

/** A response of the client, in this run or an earlier one. */
typedef struct mcp__input_response {
    const char *key;
    const mcp_json *result; /* an object; NULL: the client answered with an error */
    bool is_used;           /* the handler read it: only such ones go into requestState */
    mcp_arena *arena;       /* pays for `result`; NULL: the call's does */
    struct mcp__input_response *next;
} mcp__input_response;

/** What a client says about its program, as texts for a log. NULL: nothing. */
typedef struct mcp__client_names {
    const char *name;
    const char *version;
} mcp__client_names;

/** A call's requests. The worker's while the handler runs, else the loop's. */
typedef struct mcp__input_requests {
    bool is_allowed;   /* by the method */
    bool is_refused;   /* the client answered with an error */
    mcp_status status; /* of the first request that could not be made */
    mcp__input_request *requests;
    mcp__input_response *responses;     /* the newest first */
    const char *state;                  /* that the handler set in the run before */
    const char *next_state;             /* that it set in this one */
    mcp__url_elicitation *elicitations; /* of this run; within a session */
    int rounds;
    size_t response_bytes; /* of the responses' own arenas */
    mcp__session *session; /* whose client the requests were sent to; NULL: none */
} mcp__input_requests;

struct mcp_call {
    mcp__task work;   /* the executor's hold on it */
    mcp_arena *arena; /* pays for the call itself and all that is read from its message */
    mcp_error err;
    int64_t began_ns;       /* when its message came; 0: its answer was counted (result.h) */
    mcp_status status;      /* what the handler returned */
    atomic_int state;       /* suspend.c's */
    atomic_int stop;        /* enum mcp_stop; the loop writes, all read */
    atomic_bool has_posted; /* something of the call is, or was, on its way to the loop */

    const mcp__context *context; /* of its session */
    mcp__session *session;
    const mcp__features *features;  /* that it sees; NULL: none are needed */
    mcp__peer *peer;                /* takes the answer */
    mcp__peer *notification_peer;   /* `peer`, or the one that a batch is sent to */
    const mcp_principal *principal; /* of the client; the arena's; NULL: no particular one */

    /* The request. Never changes once a worker has the call, but for the steps. */
    struct {
        const mcp_json *id; /* string or integer; NULL: a notification */
        const char *method;
        const mcp_json *params; /* an object; NULL: none were sent */
        const mcp_json *meta;   /* params._meta */
        mcp_revision revision;  /* also its era: see mcp__call_is_stateless */
        unsigned client_can;    /* enum mcp_client_can */
        mcp__client_names client;
        mcp_level log_level;       /* the lowest that the client wants; NONE: no messages */
        const char *name;          /* of the tool or prompt, or the URI; NULL for other methods */
        const mcp_json *arguments; /* an object, perhaps an empty one */
        const mcp_trace *trace;    /* NULL: it is part of none */
        const char *transport;     /* "pipe", "tcp" or "unix" */
        mcp__steps steps;          /* that checks of schemas may still do */
    } request;

    /* What runs, and how. Filled by the method's function. */
    struct {
        const char *method; /* in the table of methods or routes; NULL: there is none of its name */
        const mcp__call_kind *kind;
        void *feature;                       /* the kind's own record of what is called */
        const mcp_json *schema;              /* of the arguments; the accessors use its defaults */
        mcp_status (*check)(mcp_call *call); /* on the worker, before `run`; NULL: nothing */
        mcp_handler *run; /* NULL: the result is written already, no worker is needed */
        void *data;       /* for `run` */
        mcp__continuation continuation;
        unsigned flags;                    /* enum mcp_flags */
        mcp__inline_budget *inline_budget; /* of an MCP_NONBLOCKING feature; NULL: workers run it */
        int timeout_ms;                    /* 0: none */
        int *active; /* the loop's: how many such calls run; NULL: not counted */
    } plan;

    /* The answer, in the making. */
    struct {
        mcp__draft result;       /* of mcp_call_result or mcp_call_value */
        mcp__draft content;      /* content blocks, contents entries or values */
        mcp__draft error_data;   /* `data` of an error: an object */
        size_t head_length;      /* of the message's beginning, where `content` has it; else 0 */
        const char *result_type; /* from 2026-07-28; NULL: "complete" */
        const char *identity;    /* of the server, for `_meta`; NULL: the context's */
        mcp__caching caching;
        mcp__note *notes;
        const char *error_text; /* the one text of a tool error; NULL: it is none */
        size_t error_text_length;
        mcp_status error; /* that the message reports; MCP_OK: none */
        mcp__placeholder *placeholders;
        const mcp_json *contents_meta; /* of contents that come next; NULL: none */
        const mcp_json *handed_on;     /* a CallToolResult of another server; NULL: none */
        const char *mime_type;         /* of contents for which the handler names none */
        const char *scopes_needed;     /* of MCP_E_SCOPE; the arena's; NULL: none */
        mcp_buf message;               /* ready to send */
    } answer;

    mcp__progress progress;
    mcp__input_requests input;
    mcp__subscription *subscription; /* of a listening call */

    struct {
        enum {
            MCP__TASK_NEVER,
            MCP__TASK_BEFORE_RUN, /* by its tool and its client */
            MCP__TASK_BY_HANDLER  /* it has returned for that */
        } begins;
        int64_t ttl_ms;         /* 0: the server has no tasks */
        mcp__task_entry *entry; /* that the call continues as; NULL: its client waits for it */
    } task;

    /* The loop's own, also while a worker has the call. */
    struct {
        TAILQ_ENTRY(mcp_call) open;
        TAILQ_ENTRY(mcp_call) waiting; /* for a worker, or for the end of a task */
        LIST_ENTRY(mcp_call) stopped;
        LIST_ENTRY(mcp_call) chain;   /* in a bucket */
        LIST_ENTRY(mcp_call) of_peer; /* while it is open */
        int64_t stuck_ms; /* when its handler is given up; INT64_MAX: it is; 0: not in that list */
        int64_t deadline_ms; /* 0: none */
    } loop;
};

#define MCP__CALL_BUCKETS 256

/** The calls of one client that are still to be answered. The loop's alone. */
struct mcp__call_table {
    LIST_HEAD(, mcp_call) buckets[MCP__CALL_BUCKETS]; /* open calls, by the hash of the id */
    TAILQ_HEAD(, mcp_call) open;                      /* the same, in the order of coming */
    TAILQ_HEAD(, mcp_call) queue;  /* of them those that no executor has yet, in that order */
    LIST_HEAD(, mcp_call) stopped; /* running calls that were asked to stop, open or not */
    int waiting;                   /* calls in `queue` */
    int running;                   /* calls that an executor has, open or not */
    int64_t due_ms;                /* when a deadline passes or a report is due; INT64_MAX: never */
    bool has_held_reports;         /* some wait for a slow peer */
};

/** The kind of calls whose result is the object of mcp_call_result. */
extern const mcp__call_kind mcp__plain_kind;

/** Whether the call is of a revision without sessions; envelope.c decides, by its revision. */
static inline bool mcp__call_is_stateless(const mcp_call *call)
{
    return call->request.revision > MCP_REVISION_NEWEST_SESSION;
}

/** A call in an arena of its own. @param arena becomes the call's when MCP_OK is returned
 *  @return MCP_OK; MCP_E_NOMEM */
mcp_status mcp__call_new(mcp_call **out, mcp_arena *arena, const mcp__context *context,
                         mcp_error *err);

/** Free the call, its arena and its buffers. NULL is fine. */
void mcp__call_free(mcp_call *call);

/** Drop the output of the last run, so that the handler can run again. */
void mcp__call_reset(mcp_call *call);

/** Loop only: ask the call to stop. A reason that is set stays, as mcp_call_stop promises. */
void mcp__call_set_stop(mcp_call *call, mcp_stop why);

/** For a handler's functions: have node->run called on the loop, before the call is done. */
void mcp__call_post(mcp_call *call, mcp__node *node);

/** Add a member to the result's _meta. Both texts are borrowed while the call lives. */
mcp_status mcp__call_note(mcp_call *call, const char *name, const char *json);

/**
 * Add a content block that is JSON already. A type that the call's revision does not know becomes a
 * text.
 *
 * @param block an object with `type`; not kept
 * @return MCP_OK; MCP_E_PARAMS: it has no type; the status of the answer's buffer
 */
mcp_status mcp__call_block(mcp_call *call, const mcp_json *block);

/** Write the members of _meta that were added. */
void mcp__call_write_notes(const mcp__note *notes, mcp_json_writer *writer);

/** End every object and array that is open in a draft. @return its writer's status */
mcp_status mcp__draft_end(mcp__draft *draft);

/* ---- reports on the way from a handler to its client (progress.c) ---------------------------- */

/** No reports, and no token. */
void mcp__progress_init(mcp__progress *progress);

/** Drop what was not sent. */
void mcp__progress_clear(mcp__progress *progress);

/**
 * Loop only. Send what is due.
 *
 * @return when to call again, or INT64_MAX when nothing waits for time (a slow peer is asked again
 *         when it has taken something)
 */
int64_t mcp__progress_deliver(mcp_call *call, int64_t now_ms);

/** Loop only. Send the newest report whatever the clock says: the answer follows at once. */
void mcp__progress_finish(mcp_call *call);

/* ---- the table of open calls ----------------------------------------------------------------- */

void mcp__call_table_init(mcp__call_table *table);

/** The open call of that id, among those of one notification peer where `peer` is not NULL; NULL
 *  when there is none. An id is its type and its value. */
mcp_call *mcp__call_table_find_of(const mcp__call_table *table, const mcp_json *id,
                                  const mcp__peer *peer);

/** Add an open call, also to those of its notification peer, which neither changes nor goes before
 *  the call is taken out; no other may have its id. */
void mcp__call_table_add(mcp__call_table *table, mcp_call *call);

/** Take a call out. Not a waiting one (mcp__call_table_unwait first). */
void mcp__call_table_remove(mcp__call_table *table, mcp_call *call);

/** Put an open call at the end of those that wait. */
void mcp__call_table_wait(mcp__call_table *table, mcp_call *call);

/** The call that waits longest, no longer waiting; NULL when none does. */
mcp_call *mcp__call_table_next(mcp__call_table *table);

/** Take a waiting call out of the line. */
void mcp__call_table_unwait(mcp__call_table *table, mcp_call *call);

/** Have the table looked at by then. */
void mcp__call_table_due(mcp__call_table *table, int64_t when_ms);

#endif
