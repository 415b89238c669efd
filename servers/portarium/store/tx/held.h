/**
 * held.h - what a transaction of the database knows of the workspaces that it has locked.
 *
 * The commands of many callers share a transaction (kit/db's group commit), and those of one
 * workspace follow each other in it. Whatever changes a workspace locks its head first, so once the
 * first of them has, nobody else changes it before the commit: what one has read holds for those
 * behind it. So they read the head, the caller's token, the workflow and the policies once, and the
 * head is stored once.
 *
 * Nothing outlives the transaction. What a command changes itself is dropped here by the function
 * that stores the change (record.c, tokens.c).
 */
#ifndef PORTARIUM_STORE_TX_HELD_H
#define PORTARIUM_STORE_TX_HELD_H

#include "store/tx.h"

/** A value that was read. */
typedef struct portarium_kept portarium_kept;

/** A locked workspace. */
typedef struct portarium_held {
    struct portarium_held *next;
    const char *workspace;
    mcp_arena *arena;
    portarium_head head;  /* as the last command has left it; has_changed: it is not stored */
    bool has_events;      /* that are not announced */
    bool has_definitions; /* versions of workflows that are not committed */
    int64_t clock_ms; /* the database's, when it had locked; 0: its clock is that of the process */
    int64_t sent_mono_ms, read_mono_ms; /* the process's before and after */
    portarium_kept *kept;
    size_t kept_count;
} portarium_held;

/** The workspaces of a transaction. */
typedef struct portarium_holdings {
    portarium_held *first;
    const char *named; /* the workspace that PostgreSQL holds rows against; NULL: unknown */
    mcp_arena *arena;
} portarium_holdings;

/** Those of the session's transaction; none at first. @return MCP_OK; MCP_E_NOMEM */
mcp_status portarium_holdings_of(portarium_holdings **out, db_session *session, mcp_error *err);

/** The workspace of that name; NULL: it is not locked. */
portarium_held *portarium_held_find(const portarium_holdings *self, const char *workspace);

/** Note that it is locked. @return MCP_OK; MCP_E_NOMEM */
mcp_status portarium_held_add(portarium_held **out, portarium_holdings *self, const char *workspace,
                              mcp_error *err);

/**
 * Read what is to be kept into the arena of a copy of the transaction.
 *
 * @return the transaction with an arena whose content may be kept; the same as it is: nothing is
 *         kept, because the workspace is not locked or has kept enough
 */
portarium_tx portarium_held_reader(const portarium_tx *tx);

/** What was kept under a kind and a key; NULL: nothing. @param kind the address of anything */
const void *portarium_held_get(const portarium_tx *tx, const void *kind, const char *key);

/** Keep a value, where there is room. @param reader it was read by */
void portarium_held_keep(const portarium_tx *tx, const portarium_tx *reader, const void *kind,
                         const char *key, const void *value, size_t size);

/** Note that a version of a workflow was stored, by a command that may yet be undone. */
void portarium_held_add_definition(const portarium_tx *tx);

/** Whether all versions of workflows that the transaction sees are committed. */
bool portarium_held_has_committed_definitions(const portarium_tx *tx);

/** Forget what was kept under a kind, because it changes. */
void portarium_held_drop(const portarium_tx *tx, const void *kind);

#endif
