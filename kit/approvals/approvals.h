/**
 * approvals.h - requests that a person decides: each is decided once, in time, and for exactly what
 * was asked.
 *
 * The server owns the table, its other columns and its states; this module changes states. Servers
 * differ in what an approval holds and in its statuses, and a decision has to be one transaction
 * with what follows from it, so a table of the module's own would only have to be kept equal with
 * the server's. The server describes its table (approvals_table), whose migration has these
 * columns:
 *
 *     <id>          TEXT     unique, within <scope> if there is one
 *     <scope>       TEXT     where one is named
 *     status        TEXT     one of the transitions' names
 *     revision      BIGINT   NOT NULL, 1 at first; each change of the status adds 1
 *     subject_hash  TEXT     keys_canonical_hash of what will be done
 *     <expires_at>  BIGINT   milliseconds of the database's clock; NULL: never
 *     decided_at    BIGINT   the same; NULL at first
 *     decided_by    TEXT     NULL at first
 *
 * A change is `UPDATE ... WHERE id AND status AND revision`, so of two deciders one wins, and the
 * other is given the status, the person and the time that were first. Whether a request is overdue
 * is judged in the same transaction by the database's clock; an overdue one is marked as expired
 * there, so the session has to be committed for every outcome.
 *
 *     db_begin(&session, db, DB_WRITE, err);
 *     approvals_move(&result, approvals, session, &change, arena, err);
 *     if (result.outcome == APPROVALS_MOVED)
 *         ... what follows, in the same session ...
 *     db_commit(session, err);
 */
#ifndef APPROVALS_APPROVALS_H
#define APPROVALS_APPROVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "mcp/arena.h"

/** What a transition does with decided_at and decided_by. */
typedef enum approvals_mark {
    APPROVALS_KEEP,   /* nothing */
    APPROVALS_DECIDE, /* they get the time and approvals_change.by */
    APPROVALS_CLEAR   /* they become NULL: it will be decided again */
} approvals_mark;

/** A legal change of status. One from a status to itself adds 1 to the revision. */
typedef struct approvals_transition {
    const char *from, *to;
    approvals_mark mark;
} approvals_transition;

/** A server's table. All texts outlive the approvals; names are of a-z, 0-9 and '_'. */
typedef struct approvals_table {
    const char *table;      /* "cf_api_approvals" */
    const char *id;         /* the column of ids: "approval_id" */
    const char *scope;      /* the column that ids are unique in: "workspace"; NULL: none */
    const char *expires_at; /* the column with the end of a request's time: "due_at" */
    const approvals_transition *transitions; /* ended by a row of NULL */
    const char *expired;    /* what an overdue request becomes, from each status that has such a
                             * transition */
    const char *expired_by; /* who decides that: "system:scheduler" */
} approvals_table;

/** The statements of a table. Never changes, so threads may share it. */
typedef struct approvals approvals;

/**
 * Prepare for a table.
 *
 * @param out   yours, free it with approvals_free
 * @param table kept; must outlive the approvals
 * @return MCP_OK; MCP_E_PARAMS: a name is missing, too long (60) or not of those characters, a
 *         transition is listed twice, or none leads to `expired`; MCP_E_NOMEM
 */
mcp_status approvals_new(approvals **out, const approvals_table *table, mcp_error *err);

/** NULL is fine. */
void approvals_free(approvals *self);

/** Whether a status may follow another. */
bool approvals_may_become(const approvals *self, const char *from, const char *to);

/** A change that is asked for. */
typedef struct approvals_change {
    const char *scope; /* NULL when the table has none */
    const char *id;
    const char *to;           /* the new status */
    const char *by;           /* who; needed for APPROVALS_DECIDE */
    const char *subject_hash; /* of what the decider saw; NULL: not compared */
    int64_t revision;         /* that the decider saw; 0: not compared */
} approvals_change;

/** How it ended. In all but the first, the request is as it was, but perhaps expired. */
typedef enum approvals_outcome {
    APPROVALS_MOVED,   /* this change is the one that counts */
    APPROVALS_FOUND,   /* of approvals_look: it is there, and not overdue */
    APPROVALS_ABSENT,  /* there is no such request */
    APPROVALS_EXPIRED, /* its time was over, so it has become `expired` now */
    APPROVALS_CLOSED,  /* `to` may not follow its status: somebody was first, or it is over */
    APPROVALS_STALE    /* the subject's hash or the revision is another: something else was seen */
} approvals_outcome;

/** The request afterwards. Texts are the arena's; NULL and 0 where the row has NULL or is not
 *  there. */
typedef struct approvals_result {
    approvals_outcome outcome;
    const char *status;
    int64_t revision;
    const char *subject_hash;
    int64_t expires_at_ms;
    const char *decided_by;
    int64_t decided_at_ms;
    int64_t now_ms; /* the database's clock in this transaction */
} approvals_result;

/**
 * Change the status of a request, if that is legal now.
 *
 * Checked in this order: absent, overdue, the transition, the subject's hash, the revision.
 *
 * @param session DB_WRITE; to be committed for every outcome
 * @return MCP_OK: see result->outcome; MCP_E_PARAMS: the change lacks a field; statuses of sessions
 */
mcp_status approvals_move(approvals_result *result, const approvals *self, db_session *session,
                          const approvals_change *change, mcp_arena *arena, mcp_error *err);

/** Read a request, and mark it as expired when it is overdue. Otherwise as approvals_move; the
 *  outcome is APPROVALS_FOUND, APPROVALS_ABSENT or APPROVALS_EXPIRED. */
mcp_status approvals_look(approvals_result *result, const approvals *self, db_session *session,
                          const char *scope, const char *id, mcp_arena *arena, mcp_error *err);

/**
 * Mark overdue requests of all scopes as expired.
 *
 * @param limit      at most so many, the longest overdue first
 * @param on_expired runs for each; must not use the session. May be NULL
 * @param count      how many there were; may be NULL
 */
mcp_status approvals_expire(const approvals *self, db_session *session, int limit,
                            void (*on_expired)(const char *scope, const char *id, void *data),
                            void *data, int64_t *count, mcp_error *err);

/**
 * The outcome in one line: "approval 'a-1' is already Approved, by bob at 2026-...Z".
 *
 * @return the arena's; NULL when out of memory
 */
const char *approvals_describe(const approvals_result *result, const char *id, mcp_arena *arena);

#endif
