/*
 * subscriptions.h - changes on their way from any thread to the clients that subscribed to them.
 */
#ifndef MCP_CORE_SUBSCRIPTIONS_SUBSCRIPTIONS_H
#define MCP_CORE_SUBSCRIPTIONS_SUBSCRIPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/core/context.h"
#include "mcp/server.h"

typedef struct mcp__subscribers mcp__subscribers;

/** Lists that can change. */
enum mcp__list_kind {
    MCP__LIST_TOOLS = 1 << 0,
    MCP__LIST_PROMPTS = 1 << 1,
    MCP__LIST_RESOURCES = 1 << 2
};

/** A feature that came or went. */
typedef struct mcp__changed_feature {
    mcp_feature kind;
    const char *name;   /* as registered */
    const char *scopes; /* NULL: none */
} mcp__changed_feature;

/** Features that come and go together. Does not change once it was notified. */
typedef struct mcp__list_change {
    unsigned lists; /* enum mcp__list_kind, where everybody may know of everything */
    const mcp__changed_feature *features; /* where not */
    size_t count;
    struct mcp__list_change
        *next; /* of those that are to be notified, or are just being notified */
    enum {
        MCP__CHANGE_IDLE,
        MCP__CHANGE_GATHERED,  /* to be notified */
        MCP__CHANGE_NOTIFYING, /* just now */
        MCP__CHANGE_AGAIN      /* the same, and to be notified again */
    } state;                   /* guarded by the lock of the subscriptions */
} mcp__list_change;

/** Which subscribers may be notified of what; for servers that do not show everything to everybody.
 *  `probe` has the features of now, and an arena that goes afterwards. */
struct mcp__visibility {
    bool (*may_know)(const mcp_call *probe, const mcp__changed_feature *feature);
    bool (*may_notify)(mcp_call *probe, const char *uri);
};

/** @param out yours, free it with mcp__subscriptions_free */
mcp_status mcp__subscriptions_new(mcp__subscriptions **out, mcp_error *err);

/** No session may be in it. NULL is fine. */
void mcp__subscriptions_free(mcp__subscriptions *self);

/** Loop only. Have a session, and its listening calls, notified from now on. All are on one
 *  loop. */
void mcp__subscriptions_enter(mcp__subscriptions *self, mcp__session *session);
void mcp__subscriptions_leave(mcp__subscriptions *self, mcp__session *session);

/** Any thread. Features came or went. @param change borrowed while the subscriptions live */
void mcp__subscriptions_lists(mcp__subscriptions *self, mcp__list_change *change);

/** Any thread. A resource has changed. @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: too much is new at
 *  once */
mcp_status mcp__subscriptions_resource(mcp__subscriptions *self, const char *uri, mcp_error *err);

/** Any thread. A URL elicitation is complete. @return as mcp__subscriptions_resource */
mcp_status mcp__subscriptions_elicited(mcp__subscriptions *self, const char *id, mcp_error *err);

/** Loop only. Borrowed; subscribe.c keeps them. */
mcp__subscribers *mcp__subscriptions_subscribers(mcp__subscriptions *self);

#endif
