/*
 * call_int.h - the body of a call, for the files of lib/mcp that make, prepare and answer calls.
 *
 * A call is made by the loop, prepared by a method's function, handed to a worker or answered at
 * once, and freed by the loop. Unless a comment says otherwise a field is written by whoever holds
 * the call just then; what the loop reads while a worker holds it is not written by the worker.
 */
#ifndef MCP_CORE_CALL_INT_H
#define MCP_CORE_CALL_INT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/core/peer.h"
#include "mcp/core/progress.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "net/pool.h"

typedef struct mcp__session mcp__session;

/** Writes the whole `result` value of a call whose handler returned MCP_OK. Runs on the worker. */
typedef mcp_status mcp__finisher(mcp_call *call, mcp_json_writer *writer);

/** What a prompt's place becomes; a list in the order of writing. */
typedef struct mcp__place {
    const char *name;
    const char *text;
    struct mcp__place *next;
} mcp__place;

struct mcp_call {
    mcp__task task;   /* the executor's hold on it */
    mcp_arena *arena; /* pays for the call itself and all that is read from its message */

    /* whose it is */
    mcp_server *server;
    const mcp_server_options *options;
    mcp__executor *executor;
    mcp__session *session;
    mcp__peer *peer;    /* takes the answer */
    mcp__peer *notices; /* takes notifications: not the batch, but the peer behind it */

    /* what was asked; never changes */
    const mcp_json *id; /* string or integer; NULL: a notification */
    const char *method;
    const mcp_json *params; /* an object; NULL: none were sent */
    const mcp_json *meta;   /* params._meta */
    mcp_revision revision;
    const mcp_json *no_arguments; /* an empty object */

    /* filled by the method's function; does not change once a worker has it */
    const char *name;           /* of the tool or prompt, or the URI; NULL for other methods */
    const mcp_json *arguments;  /* an object; `no_arguments` when none were sent */
    const mcp_json *properties; /* of the input schema; the accessors use their defaults */
    const mcp_json *schema;     /* the input schema itself, where a `$ref` of a property leads */
    const void *feature;        /* the feature's own record of what is called */
    const char *mime_type;      /* of contents for which the handler names none; may be NULL */
    mcp_handler *run;           /* NULL: the result is written already, no worker is needed */
    void *data;                 /* for `run` */
    unsigned flags;             /* enum mcp_flags */
    int timeout_ms;             /* 0: none */
    mcp__finisher *finish;      /* NULL: the result is what was written to mcp_call_result */
    int *tally; /* the loop's count of such calls: counted up by whoever sets it, down at the end of
                   this one; NULL: not counted */
    bool is_tool; /* a time-out is told as a tool result */

    /* the answer, in the making */
    mcp_error err;
    mcp_status status;         /* what the handler returned */
    mcp_status content_status; /* of the first block that could not be written */
    bool is_refused;
    bool result_begun;
    bool error_data_begun;
    mcp_buf result; /* the object of mcp_call_result */
    mcp_json_writer result_writer;
    mcp_buf content;     /* finished content blocks or contents entries, comma-separated */
    const char *refusal; /* the one text of a refusal */
    size_t refusal_length;
    mcp_buf error_data; /* `data` of an error: an object */
    mcp_json_writer error_data_writer;
    mcp__place *places;
    mcp_buf reply; /* the message, ready to send */
    mcp__progress progress;

    atomic_int stop; /* enum mcp_stop; the loop writes, all read */

    /* the loop's own, also while a worker has the call */
    struct {
        mcp_call *next, *previous; /* in the table's list of open calls */
        mcp_call *next_waiting;    /* in the table's list of calls that wait for their turn */
        mcp_call *chain;           /* in the table's bucket */
        uint64_t hash;
        int64_t deadline_ms; /* 0: none */
        bool is_open;        /* in the table; false: answered or cancelled, drop what comes */
        bool is_waiting;     /* not yet given to the executor */
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

/** Any thread: ask the call to stop. What is set stays, as mcp_call_stop promises. */
void mcp__call_set_stop(mcp_call *call, mcp_stop why);

/** The `data` object of the error that the call will end with; write members, it is ended for
 * you. */
mcp_json_writer *mcp__call_error_data(mcp_call *call);

#endif
