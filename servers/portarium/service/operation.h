/**
 * operation.h - the operations of the control plane: one table that REST, the MCP tools, the shell
 * and the OpenAPI document are made of.
 *
 * An operation has a name, its REST method and path, the permission that it requires, and a
 * function. The function runs in a transaction; it reads the request, changes records, and fills
 * the reply. Whatever it changed is undone unless it returns MCP_OK.
 *
 *     static mcp_status get_plan(portarium_tx *tx, const portarium_request *request,
 *                                portarium_reply *reply, mcp_error *err)
 *     {
 *         portarium_record plan;
 *         mcp_status st = portarium_record_get(&plan, tx, &portarium_plans,
 *                                              portarium_argument(request, "planId"), err);
 *         return st == MCP_OK ? portarium_reply_json(reply, tx, 200, plan.json, err) : st;
 *     }
 *
 * Refusals: a function returns portarium_refuse(...), or the status of a lower layer. The statuses
 * become HTTP statuses: MCP_E_NOT_FOUND 404, MCP_E_EXISTS 409, MCP_E_DENIED 403, MCP_E_PARAMS and
 * MCP_E_SCHEMA 422, MCP_E_UNSUPPORTED 501; the message is the detail. MCP_E_BUSY, MCP_E_LIMIT,
 * MCP_E_STOPPED, MCP_E_STORAGE and MCP_E_TIMEOUT are 503, every other status is 500, both with a
 * general text; they are logged.
 */
#ifndef PORTARIUM_SERVICE_OPERATION_H
#define PORTARIUM_SERVICE_OPERATION_H

#include "model/fields.h"
#include "model/identity.h"
#include "model/roles.h"
#include "model/shapes.h"
#include "store/record.h"

/** Longest idempotency key, in bytes. */
#define PORTARIUM_IDEMPOTENCY_KEY_MAX 255

/** A request, whichever way it came in. Strings and values are borrowed. */
typedef struct portarium_request {
    const portarium_actor *actor;
    const char *workspace;     /* NULL: the operation has none */
    const mcp_json *arguments; /* an object: variables of the path, members of the query */
    const mcp_json *body;      /* an object; NULL: none */
    const char *idempotency_key;
    const char *if_match;
    const char *correlation_id; /* never NULL */
    portarium_trace trace;
} portarium_request;

/** An argument as text; NULL when it is absent. */
const char *portarium_argument(const portarium_request *request, const char *name);

/** A member of the body as text; NULL when it is absent or not a string. */
const char *portarium_body_string(const portarium_request *request, const char *name);

/** An answer. Everything is in the transaction's arena. */
typedef struct portarium_reply {
    int status;       /* HTTP */
    const char *text; /* a JSON document; NULL: none */
    size_t length;
    const char
        *repeated;     /* what a repeated request with the same key gets in place of `text`, where
                           * that has a secret; NULL: the same */
    const char *media; /* its media type, where it is no JSON; NULL: it is JSON */
    const char *location;    /* of what was created; NULL: nothing was */
    const char *etag;        /* with quotes; NULL: none */
    const char *detail;      /* of a refusal: 400 and above */
    portarium_fields fields; /* what is wrong with the body: 422 */
    int64_t retry_after_s;
    int type_status; /* whose type of problem it has; 0: that of `status` */
    bool is_unknown; /* 503: whether it was done is not known */
    /* For operations that may wait (PORTARIUM_WAITS): */
    bool may_change;   /* the answer is not final */
    const char *state; /* of what is waited for, as a text: what they wait to differ */
} portarium_reply;

/** What an operation is. */
enum {
    PORTARIUM_COMMAND = 1 << 0, /* writes; otherwise it reads one snapshot */
    PORTARIUM_GLOBAL = 1 << 1,  /* the path has no workspace */
    PORTARIUM_AGENTS = 1 << 2,  /* for agents, too; its function restricts them to themselves */
    PORTARIUM_WAITS = 1 << 3,   /* the argument `wait` lets it wait for a change of what the path
                                 * names, or, in a list, of any such */
    PORTARIUM_PATCH = 1 << 5,   /* the body is a merge patch: an object, judged when merged */
    PORTARIUM_MAY_LACK_BODY = 1 << 6, /* the body may be absent */
    PORTARIUM_EVIDENCE = 1 << 7,    /* shows evidence, which is evidence itself under audit_reads */
    PORTARIUM_JUDGES_BODY = 1 << 8, /* its function holds the body against the shape */
    PORTARIUM_IF_MATCH = 1 << 9,    /* If-Match holds: its function looks at it */
    PORTARIUM_ETAG = 1 << 4         /* answers have an ETag, and If-None-Match holds */
};

/** An operation that takes no body. */
#define PORTARIUM_NO_BODY PORTARIUM_SHAPE_COUNT

typedef mcp_status portarium_operation_run(portarium_tx *tx, const portarium_request *request,
                                           portarium_reply *reply, mcp_error *err);

typedef struct portarium_operation {
    const char *name;   /* "startRun", its id in OpenAPI; NULL ends a table */
    const char *method; /* "POST" */
    const char *path;   /* "/runs/{runId}/cancel", behind the workspace's path unless GLOBAL */
    portarium_permission permission;
    unsigned flags;
    portarium_shape body; /* what the body must be; PORTARIUM_NO_BODY: none is taken */
    const char *answer;   /* name of the answer's schema; NULL: no body */
    const char *summary;  /* one line */
    portarium_operation_run *run;
} portarium_operation;

/** The i-th operation; NULL past the last. */
const portarium_operation *portarium_operation_at(size_t index);

/** The operation of that name; NULL: there is none. */
const portarium_operation *portarium_operation_find(const char *name);

/** Hold If-Match against the text that GET answers with; NULL: there is none. RFC 9110 section
 *  13.1.1: "*" holds for any text, and an absent field always.
 *  @return MCP_OK; otherwise the reply is 412, to be returned */
mcp_status portarium_check_if_match_text(portarium_reply *reply, portarium_tx *tx,
                                         const portarium_request *request, const char *text,
                                         size_t length, mcp_error *err);

/** The same where GET answers with the document. */
mcp_status portarium_check_if_match(portarium_reply *reply, portarium_tx *tx,
                                    const portarium_request *request, const mcp_json *document,
                                    mcp_error *err);

/* ---- replies --------------------------------------------------------------------------------- */

/** Answer with a JSON value. */
mcp_status portarium_reply_json(portarium_reply *reply, portarium_tx *tx, int status,
                                const mcp_json *json, mcp_error *err);

/** Answer with a draft, which is closed and cleared. */
mcp_status portarium_reply_draft(portarium_reply *reply, portarium_tx *tx, int status,
                                 portarium_draft *draft, mcp_error *err);

/** Say where what was created is: /v1/workspaces/ID/`room`/`id`, each id as one segment. A NULL id
 *  says nothing. */
void portarium_reply_location(portarium_reply *reply, portarium_tx *tx, const char *room,
                              const char *id);

/** Answer 204. */
mcp_status portarium_reply_none(portarium_reply *reply);

/** Refuse: everything that the operation did is undone.
 *  @return a status that is not MCP_OK, to be returned by the operation */
mcp_status portarium_refuse(portarium_reply *reply, portarium_tx *tx, mcp_error *err, int status,
                            const char *format, ...) MCP_PRINTF(5, 6);

/** Refuse, and keep what the operation wrote: evidence of the attempt.
 *  @return MCP_OK, to be returned by the operation */
mcp_status portarium_refuse_kept(portarium_reply *reply, portarium_tx *tx, mcp_error *err,
                                 int status, const char *format, ...) MCP_PRINTF(5, 6);

#endif
