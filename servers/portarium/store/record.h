/**
 * record.h - records: JSON documents in tables, with columns that lists filter and sort by.
 *
 * A record is stored as the document that clients see, and one that they never see (`hidden`: the
 * input of an action, tokens of manual tasks). A collection says which members of the document are
 * copied into which columns, so a filter and the document cannot disagree. A change is a JSON Merge
 * Patch (RFC 7396) of the document; every change raises the record's `revision` by one.
 */
#ifndef PORTARIUM_STORE_RECORD_H
#define PORTARIUM_STORE_RECORD_H

#include "mcp/buf.h"
#include "store/tx.h"

/** What a column is for. */
enum {
    PORTARIUM_FILTER = 1 << 0,  /* lists filter by it, under the name of its member */
    PORTARIUM_SORT = 1 << 1,    /* lists sort by it, under the name of its member */
    PORTARIUM_SEARCH = 1 << 2,  /* `q` searches it */
    PORTARIUM_INTEGER = 1 << 3, /* of integers or truth values, not of texts */
    PORTARIUM_SEVERAL = 1 << 4  /* its filter may have several values, with commas between */
};

/** A column that copies a member of the document. */
typedef struct portarium_column {
    const char *name; /* in the table; NULL ends a list */
    const char *member;
    unsigned flags;
    const char *(*word)(size_t index); /* the values that there are, NULL behind the last; NULL: any
                                        * text */
} portarium_column;

/** Where records of a kind are stored. */
typedef struct portarium_collection {
    const char *table;
    const char *noun;      /* "Run", in messages */
    const char *id_member; /* "runId" */
    bool begins_due;       /* a new row has something to do for the engine: column due_at */
    portarium_column columns[8];
    struct {
        const char *filter; /* name of the filter in lists */
        const char *kind;   /* in work_item_links */
    } links[5];             /* ends with a row without a filter */
} portarium_collection;

extern const portarium_collection portarium_workspaces, portarium_users, portarium_workflows,
    portarium_adapters, portarium_policies, portarium_runs, portarium_actions, portarium_plans,
    portarium_approvals, portarium_proposals, portarium_work_items, portarium_human_tasks,
    portarium_machines, portarium_agents, portarium_webhooks, portarium_legal_holds,
    portarium_entries;

/** A record as read. Everything is in the transaction's arena. */
typedef struct portarium_record {
    const char *id;
    int64_t revision;
    int64_t created_ms;
    const mcp_json *json;   /* an object */
    const mcp_json *hidden; /* an object; NULL: none */
} portarium_record;

/** A JSON text under construction. */
typedef struct portarium_draft {
    mcp_buf buf;
    mcp_json_writer json;
} portarium_draft;

/** Begin an object. End the draft with portarium_draft_read or portarium_draft_clear. */
void portarium_draft_object(portarium_draft *draft);

/** Close the object and read it into the transaction's arena; the draft is cleared.
 *  @return MCP_OK; MCP_E_LIMIT, MCP_E_NOMEM, MCP_E_PARAMS (a text that is not UTF-8) */
mcp_status portarium_draft_read(portarium_draft *draft, portarium_tx *tx, const mcp_json **out,
                                mcp_error *err);

void portarium_draft_clear(portarium_draft *draft);

/** As a value of portarium_object: null, which removes a member by a merge patch. */
extern const char portarium_null[];

/**
 * Make an object of texts: pairs of name and value, ended by NULL. A pair whose value is NULL is
 * left out.
 */
mcp_status portarium_object(portarium_tx *tx, const mcp_json **out, mcp_error *err, ...)
    __attribute__((sentinel));

/**
 * Read a record.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: "Run r-9 not found."; statuses of db.h
 */
mcp_status portarium_record_get(portarium_record *out, portarium_tx *tx,
                                const portarium_collection *where, const char *id, mcp_error *err);

/** The same for one that many commands read: it is read once in a transaction of the database, as
 *  long as none of them changes the collection. Its JSON ends with that transaction. */
mcp_status portarium_record_get_kept(portarium_record *out, portarium_tx *tx,
                                     const portarium_collection *where, const char *id,
                                     mcp_error *err);

/**
 * Store a new record with revision 1 and now as its time.
 *
 * @param out may be NULL
 * @return MCP_OK; MCP_E_EXISTS: "Run r-9 exists already."; statuses of db.h
 */
mcp_status portarium_record_insert(portarium_record *out, portarium_tx *tx,
                                   const portarium_collection *where, const char *id,
                                   const mcp_json *json, const mcp_json *hidden, mcp_error *err);

/** The same with an id that was made for it just now. It is sent with the next statement that has
 *  an answer (db_defer), so a failure is returned by a later call or the commit. */
mcp_status portarium_record_make(portarium_record *out, portarium_tx *tx,
                                 const portarium_collection *where, const char *id,
                                 const mcp_json *json, const mcp_json *hidden, mcp_error *err);

/**
 * Change a record and update `record`. It is written once, as it is in the end (tx/pending.h); a
 * failure is returned by a later call or the commit.
 *
 * @param patch        a merge patch of the document; NULL: no change
 * @param hidden_patch members to replace in the hidden document, as portarium_assign; NULL: none
 * @return MCP_OK; MCP_E_BUSY (or by the commit): the record was changed since it was read; statuses
 *         of db.h
 */
mcp_status portarium_record_patch(portarium_record *record, portarium_tx *tx,
                                  const portarium_collection *where, const mcp_json *patch,
                                  const mcp_json *hidden_patch, mcp_error *err);

/** Replace its document. As portarium_record_patch. */
mcp_status portarium_record_replace(portarium_record *record, portarium_tx *tx,
                                    const portarium_collection *where, const mcp_json *json,
                                    mcp_error *err);

/** Set when the engine is to look at a record of a collection with `begins_due`; NULL: no more. The
 *  record need not have been read. Sent as by portarium_record_patch. */
mcp_status portarium_record_due(portarium_tx *tx, const portarium_collection *where, const char *id,
                                db_value at, mcp_error *err);

/** Read the record of a row that has id, revision, created_at, json and hidden. */
mcp_status portarium_record_read(portarium_record *out, portarium_tx *tx, const db_rows *rows,
                                 mcp_error *err);

/** Delete it. @return MCP_OK; MCP_E_NOT_FOUND */
mcp_status portarium_record_delete(portarium_tx *tx, const portarium_collection *where,
                                   const char *id, mcp_error *err);

/** The members of an object with those of a patch in their places; null removes one. Unlike a merge
 *  patch it takes each value as it is, null members within it, too. Both may be NULL. */
mcp_status portarium_assign(portarium_tx *tx, const mcp_json **out, const mcp_json *target,
                            const mcp_json *patch, mcp_error *err);

/** Apply a merge patch (RFC 7396). The values of both are shared with the result. */
mcp_status portarium_merge(portarium_tx *tx, const mcp_json **out, const mcp_json *target,
                           const mcp_json *patch, mcp_error *err);

#endif
