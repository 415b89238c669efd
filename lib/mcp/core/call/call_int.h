/*
 * call_int.h - the body of a call, for the files of lib/mcp that make, prepare and answer calls.
 *
 * A call is made by the loop, prepared by a method's function, handed to a worker or answered at once,
 * and freed by the loop. Unless a comment says otherwise a field is written by whoever holds the call
 * just then; what the loop reads while a worker holds it is not written by the worker.
 */
#ifndef MCP_CORE_CALL_INT_H
#define MCP_CORE_CALL_INT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/core/call/asking.h"
#include "mcp/core/call/pace.h"
#include "mcp/core/call/progress.h"
#include "mcp/core/peer.h"
#include "mcp/http.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "net/pool.h"

/** Header fields that a route's handler may set. */
#define MCP__REST_FIELDS_MAX 16

/** A header field of a route's request or answer; the arena's. */
typedef struct mcp__rest_field {
    const char *name;
    const char *value;
} mcp__rest_field;

/** What a call of a REST route has beside other calls; its handler's, then the loop's. */
typedef struct mcp__rest mcp__rest;
struct mcp__rest {
    /* the request */
    const mcp_http_options *http;
    mcp_buf body;                  /* as it came */
    const char *path;              /* not decoded */
    const mcp__rest_field *fields; /* each name once */
    size_t field_count;
    bool is_bare;                  /* HEAD: nobody wants a body */

    /* the answer */
    int http_status;               /* 0: not said */
    const char *mime_type;
    mcp__rest_field answer_fields[MCP__REST_FIELDS_MAX];
    size_t answer_field_count;
    bool is_sent;                  /* mcp_call_send: the answer is in `reply` */
    mcp_stream *stream;            /* the answer is this; NULL: it is not, or the loop has taken it */
    struct mcp__body *rest_of_body; /* what follows the piece in `reply`; NULL: nothing, or the loop has taken it */
    void (*release)(mcp__rest *rest); /* on the loop, when the call is freed: what the arena does not pay for */
};

typedef struct mcp__set mcp__set;
typedef struct mcp__task_entry mcp__task_entry;

/** Writes the members of `result` for a call whose handler returned MCP_OK. Runs on the worker. */
typedef mcp_status mcp__finisher(mcp_call *call, mcp_json_writer *writer);

/** A member of the result's _meta. */
typedef struct mcp__note {
    const char *name;
    const char *json; /* its value */
    struct mcp__note *next;
} mcp__note;

/** How long an answer may be kept by whom, from 2026-07-28. */
typedef struct mcp__caching {
    bool is_told; /* false: this kind of answer says nothing about it */
    bool is_public;
    int64_t ttl_ms;
} mcp__caching;

/** What a prompt's place becomes; a list in the order of writing. */
typedef struct mcp__place {
    const char *name;
    const char *text;
    struct mcp__place *next;
} mcp__place;

/** How many suggestions an answer may hold. */
#define MCP__SUGGESTIONS_MAX 100

struct mcp_call {
    mcp__task task; /* the executor's hold on it */
    mcp_arena *arena; /* pays for the call itself and all that is read from its message */

    /* whose it is */
    mcp_server *server;
    const mcp_server_options *options;
    mcp__executor *executor;
    mcp__session *session;
    const mcp__set *set; /* the features that it sees; NULL: none are needed */
    mcp__peer *peer;     /* takes the answer */
    mcp__peer *notices;  /* takes notifications: not the batch, but the peer behind it */
    const mcp_principal *principal; /* who asks; the arena's; NULL: nobody in particular */
    const char *scopes_needed; /* of MCP_E_SCOPE, for the challenge; the arena's; NULL: none */

    /* what was asked; never changes */
    const mcp_json *id;     /* string or integer; NULL: a notification */
    const char *method;
    const mcp_json *params; /* an object; NULL: none were sent */
    const mcp_json *meta;   /* params._meta */
    mcp_revision revision;
    unsigned client_can;    /* enum mcp_client_can */
    mcp_level log_level;    /* of the gentlest message that the client wants; NONE: none at all */
    const mcp_json *no_arguments; /* an empty object */

    /* filled by the method's function; does not change once a worker has it */
    const char *name;           /* of the tool or prompt, or the URI; NULL for other methods */
    const mcp_json *arguments;  /* an object; `no_arguments` when none were sent */
    const mcp_json *properties; /* `properties` of the input schema, whose defaults the accessors use */
    const mcp_json *schema;     /* the input schema itself, where a `$ref` of a property leads */
    const void *feature;        /* the feature's own record of what is called */
    const mcp_json *contents_meta; /* of contents that come next; NULL: none. The handler's */
    const char *mime_type;      /* of contents for which the handler names none; may be NULL */
    mcp_status (*check)(mcp_call *call); /* what the worker checks before `run`; NULL: nothing. It may refuse */
    mcp_handler *run;           /* NULL: the result is written already, no worker is needed */
    void *data;                 /* for `run` */
    mcp_handler *go_on;         /* what the worker runs in place of `run`, once; whoever resumes sets it */
    void *go_on_data;           /* for `go_on` */
    bool goes_on_quickly;       /* `go_on` is as quick as an MCP_QUICK handler */
    unsigned flags;             /* enum mcp_flags */
    mcp__pace *pace;            /* the loop's: of an MCP_QUICK feature; NULL: it runs on workers */
    int timeout_ms;             /* 0: none */
    mcp__finisher *finish;      /* NULL: the result is what was written to mcp_call_result */
    int *tally;                 /* the loop's: how many such calls run; counted up for this one by who
                                   set it, down when it is over; NULL: not counted */
    bool is_tool;               /* a time-out is told as a tool result */
    bool is_prompt;             /* a block of content is a message of the user's */
    mcp__rest *rest;            /* of a REST route; NULL: a message of MCP */
    void (*render)(mcp_call *call); /* writes `reply`, where the handler ran; NULL: mcp__reply_render */

    bool is_large;              /* its message was read on a worker, and is checked there as well */
    uint64_t steps_left;        /* that checks of schemas may still do for its message, wherever they run */
    uint64_t steps_on_loop;     /* and how many of them the loop gives */

    /* the answer, in the making */
    mcp_error err;
    mcp_status status;         /* what the handler returned */
    mcp_buf result;            /* the object of mcp_call_result */
    mcp_json_writer result_writer;
    bool result_begun;
    bool is_value;             /* the result is one value of any kind, by mcp_call_value */
    const char *result_type;   /* from 2026-07-28; NULL: "complete" */
    mcp__caching caching;
    mcp__note *notes;
    mcp_buf content;           /* finished content blocks or contents entries, comma-separated */
    mcp_status content_status; /* of the first block that could not be written */
    mcp_json_writer text_writer; /* of the text block that is being written in pieces */
    bool is_text_open;
    size_t head_length;        /* of the message's beginning, where `content` has it before its blocks; else 0 */
    mcp_json_writer head_writer; /* stands behind that beginning */
    bool is_in_place;          /* `reply` is what was `content`: its beginning and blocks need no writing */
    bool is_refused;
    const char *refusal;       /* the one text of a refusal */
    size_t refusal_length;
    mcp_buf error_data;        /* `data` of an error: an object */
    mcp_json_writer error_data_writer;
    bool error_data_begun;
    mcp__place *places;
    const char *typed;         /* of the argument to complete */
    size_t suggested;          /* how many values; the first hundred are in `content` */
    mcp_buf reply;             /* the message, ready to send */
    mcp__progress progress;
    mcp__asking asking;
    unsigned listens_to;       /* lists that a listening call is told of, enum mcp__news_list */
    const mcp_json *listens_to_uris; /* an array of strings, or NULL */
    bool is_listening;         /* it stays open without a worker, for news */
    const mcp_json *listens_to_tasks; /* likewise an array of strings, or NULL */
    struct mcp__interest *interests;  /* the loop's: both, in the index of those who are told */

    /* tasks */
    bool becomes_task;         /* by its tool and its client: before its handler runs */
    bool wants_task;           /* the handler's: it goes on as one */
    int64_t task_ttl_ms;       /* 0: the server has no tasks, and what is said of them counts for nothing */
    mcp__task_entry *as_task;  /* what it goes on as; NULL: its client waits for it */
    mcp__task_entry *awaits;   /* whose end is its answer */

    atomic_bool has_posted; /* something of the call is, or was, on its way to the loop */
    atomic_int stop; /* enum mcp_stop; the loop writes, all read */

    /* the loop's own, also while a worker has the call */
    struct {
        mcp_call *next, *previous; /* in the table's list of open calls */
        mcp_call *next_waiting;    /* in the table's list of calls that wait for their turn */
        mcp_call *chain;           /* in the table's bucket */
        mcp_call *next_told, *previous_told; /* in the table's list of calls told to stop */
        int64_t heed_due_ms;       /* when its handler is given up; 0: not in that list */
        bool is_given_up;
        uint64_t hash;
        int64_t deadline_ms;       /* 0: none */
        bool is_open;              /* in the table; false: answered or cancelled, drop what comes */
        bool is_waiting;           /* not yet given to the executor */
        bool is_asking;            /* given back by it: the client is asked, and the deadline its own */
        mcp_call *next_awaiting;   /* of those that wait for one task */
    } loop;
};

/**
 * A call in an arena of its own.
 *
 * @param arena        becomes the call's when MCP_OK is returned
 * @param no_arguments an empty object; borrowed while the call lives
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status mcp__call_new(mcp_call **out, mcp_arena *arena, const mcp_server_options *options,
                         const mcp_json *no_arguments, mcp_error *err);

/** Free the call, its arena and its buffers. NULL is fine. */
void mcp__call_free(mcp_call *call);

/** Forget what the last run wrote, so that the handler can run again. */
void mcp__call_reset(mcp_call *call);

/** Loop only: ask the call to stop. What is set stays, as mcp_call_stop promises. */
void mcp__call_set_stop(mcp_call *call, mcp_stop why);

/** For a handler's functions: have node->run called on the loop, before the call is done. */
void mcp__call_post(mcp_call *call, mcp__node *node);

/** Add a member to the result's _meta. Both texts are borrowed while the call lives. */
mcp_status mcp__call_note(mcp_call *call, const char *name, const char *json);

/** The `data` object of the error that the call will end with; write members, it is ended for you. */
mcp_json_writer *mcp__call_error_data(mcp_call *call);

#endif
