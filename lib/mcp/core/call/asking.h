/*
 * asking.h - questions of a handler to its client, and the answers to them.
 */
#ifndef MCP_CORE_ASKING_H
#define MCP_CORE_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/core/peer.h"
#include "mcp/error.h"
#include "mcp/json.h"

typedef struct mcp_call mcp_call;
typedef struct mcp__session mcp__session;
typedef struct mcp__element mcp__element;

/** One question of the handler's last run. */
typedef struct mcp__question {
    const char *key;
    const char *method;
    const mcp_json *params; /* an object or NULL */
    int64_t request_id;     /* within a session: of the request that asks it; 0: not sent */
    bool is_answered;
    const char *name;       /* of a task without a session: what tasks/get calls it */
    struct mcp__question *next;
} mcp__question;

/** An address that a user is sent to, by the id that tells when it is done. */
typedef struct mcp__errand {
    const char *id;
    struct mcp__errand *next;
} mcp__errand;

/** What a client answered, in this run or an earlier one. */
typedef struct mcp__answer {
    const char *key;
    const mcp_json *result; /* an object; NULL: the client answered with an error */
    bool is_used;           /* the handler asked for it: the client may send what it likes */
    mcp_arena *arena;       /* pays for `result`; NULL: the call's does */
    struct mcp__answer *next;
} mcp__answer;

/** A call's questions. The worker's while the handler runs, else the loop's. */
typedef struct mcp__asking {
    bool is_allowed;        /* the method may ask */
    bool is_refused;        /* the client answered with an error */
    mcp_status status;      /* of the first question that could not be asked */
    mcp__question *questions;
    mcp__answer *answers;   /* the newest first */
    const char *kept;       /* what the handler kept in the run before */
    const char *keep;       /* what it keeps in this one */
    mcp__errand *errands;   /* addresses that its user is sent to, of this run; within a session */
    int rounds;
    size_t answered_bytes;  /* of the answers' own arenas */
    mcp__session *session;  /* whose client the questions were sent to; NULL: nobody's */
} mcp__asking;

/** How long a client may take within a session. */
#define MCP__ASKING_MS ((int64_t)5 * 60 * 1000)

/**
 * On the worker, before the handler first runs. Take the answers and the state that came with a request of 2026-07-28; the call's name and
 * arguments are known.
 *
 * @return MCP_OK; MCP_E_PARAMS
 */
mcp_status mcp__asking_read(mcp_call *call);

/** Write the members of an input_required result: a finisher. */
mcp_status mcp__asking_write(mcp_call *call, mcp_json_writer *writer);

/** Loop only. Send the open questions of a call whose handler asked, to the client of a session, by one of its
 *  peers. @return MCP_OK; else the status that the call ends with, call->err filled */
mcp_status mcp__asking_send(mcp_call *call, mcp__session *session, mcp__peer *peer);

/** Loop only. The questions that were sent will not be answered there: they may be sent anew. */
void mcp__asking_unsend(mcp_call *call);

/** Loop only. Take a response, and its arena where it answers something. @return the call that can go on
 *  with it, else NULL */
mcp_call *mcp__asking_answer(mcp__session *session, mcp__element *response);

/** Free the answers' own arenas. */
void mcp__asking_clear(mcp__asking *asking);

/** Loop only. Tell the client that its answers are not waited for any more. */
void mcp__asking_withdraw(mcp_call *call);

/** Loop only, for a task without a session. Name the questions, each by a name that is used once in the task's
 *  life, whatever the handler calls them. @return MCP_OK; MCP_E_NOMEM */
mcp_status mcp__asking_name(mcp_call *call);

/** Loop only, for such a task. Write the open questions as the members of an object. */
void mcp__asking_write_open(const mcp_call *call, mcp_json_writer *writer);

/**
 * Loop only, for such a task. Take answers by their names; others are passed over.
 *
 * @param answers  an object; copied
 * @param steps    that checks of schemas may do for the message they came in
 * @param is_ready true when nothing is open any more and the handler can go on
 * @return MCP_OK; MCP_E_PARAMS: an answer is no object, none was taken; MCP_E_NOMEM
 */
mcp_status mcp__asking_take(bool *is_ready, mcp_call *call, const mcp_json *answers, uint64_t steps,
                            mcp_error *err);

#endif
