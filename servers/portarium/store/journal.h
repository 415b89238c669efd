/**
 * journal.h - what a transaction leaves behind: entries of evidence and events.
 *
 * Both are numbered by the workspace's head, which the transaction has locked, so they have no gap
 * and the order of commits.
 */
#ifndef PORTARIUM_STORE_JOURNAL_H
#define PORTARIUM_STORE_JOURNAL_H

#include "store/record.h"

/** The actor of an entry, where it is not the transaction's. */
typedef enum portarium_by {
    PORTARIUM_BY_ACTOR,
    PORTARIUM_BY_SYSTEM,
    PORTARIUM_BY_ADAPTER
} portarium_by;

/** An entry of evidence. Strings are borrowed; NULL: none. */
typedef struct portarium_evidence {
    const char *category; /* "Plan", "Action", "Approval", "OperatorSurface", "Policy",
                           * "PolicyViolation" or "System" */
    const char *summary;  /* one line; an e-mail address in it is replaced */
    portarium_by by;
    const char *adapter_id; /* PORTARIUM_BY_ADAPTER */
    const char *run_id, *plan_id, *work_item_id, *approval_id;
    const char *payloads[4]; /* ids of payloads, ends with NULL */
    const char **id;         /* filled with its id, in the arena; NULL: not asked for */
} portarium_evidence;

/** Append an entry to the workspace's chain. */
mcp_status portarium_evidence_add(portarium_tx *tx, const portarium_evidence *entry,
                                  mcp_error *err);

/** An event. Strings are borrowed. */
typedef struct portarium_event {
    const char *type;               /* "RunStarted" */
    const char *kind;               /* "run": of the aggregate, in lower case */
    const char *id;                 /* of the aggregate */
    const char *run_id, *action_id; /* NULL: none */
    const mcp_json *data;           /* an object; NULL: none */
} portarium_event;

/** Append an event: a CloudEvents 1.0 document in the outbox. */
mcp_status portarium_event_add(portarium_tx *tx, const portarium_event *event, mcp_error *err);

/** Note that a work item has to do with something, so that it is found by that.
 *  @param kind "run", "workflow", "approval", "agent", "evidence", "capability" or "action" */
mcp_status portarium_link_add(portarium_tx *tx, const char *item, const char *kind, const char *ref,
                              mcp_error *err);

/** Of a payload's canonical form. */
#define PORTARIUM_STORED_PAYLOAD_MAX (1 << 20)

/**
 * Store a payload: the input or output of an action, a call of the gate.
 *
 * @param id    filled with its id, in the arena
 * @param class "Operational", "Compliance" or "Forensic"
 */
mcp_status portarium_payload_add(portarium_tx *tx, const char **id, const char *run_id,
                                 const char *class, const mcp_json *value, mcp_error *err);

#endif
