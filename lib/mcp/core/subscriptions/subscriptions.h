/*
 * subscriptions.h - what clients subscribe to, and changes on their way to them from any thread.
 *
 * The loop's alone, unless a function says otherwise.
 */
#ifndef MCP_CORE_SUBSCRIPTIONS_SUBSCRIPTIONS_H
#define MCP_CORE_SUBSCRIPTIONS_SUBSCRIPTIONS_H

#include <sys/queue.h>

#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/context.h"
#include "mcp/server.h"

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
    bool is_of_view; /* other features are visible now: `lists` count for everybody */
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

/** Have a session, and its listening calls, notified from now on. All are on one
 *  loop. */
void mcp__subscriptions_enter(mcp__subscriptions *self, mcp__session *session);
void mcp__subscriptions_leave(mcp__subscriptions *self, mcp__session *session);

/** On the loop, before its executor ends: nothing is posted any more. Sessions leave later, and
 *  notifications from other threads are dropped meanwhile. */
void mcp__subscriptions_detach(mcp__subscriptions *self);

/** Any thread. Features came or went. @param change borrowed while the subscriptions live */
void mcp__subscriptions_lists(mcp__subscriptions *self, mcp__list_change *change);

/** Any thread. A resource has changed. @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: too much is new at
 *  once */
mcp_status mcp__subscriptions_resource(mcp__subscriptions *self, const char *uri, mcp_error *err);

/** Any thread. A URL elicitation is complete. @return as mcp__subscriptions_resource */
mcp_status mcp__subscriptions_elicited(mcp__subscriptions *self, const char *id, mcp_error *err);

/* ---- subscribers ----------------------------------------------------------------------------- */

typedef struct mcp__topic mcp__topic;

/** One subscription of a client to one key; the subscriber owns the struct. */
typedef struct mcp__interest {
    mcp__topic *topic; /* NULL: it is in no index */
    LIST_ENTRY(mcp__interest) of_topic;
    mcp__session *session;         /* a session that subscribed, or */
    mcp_call *call;                /* a call that listens; the other is NULL */
    struct mcp__interest *of_call; /* the next of the same call */
} mcp__interest;

/**
 * Enter an interest in a map of topics. The key's bytes are copied, once for all subscribers.
 *
 * @param interest borrowed until it is removed
 * @return MCP_OK; MCP_E_NOMEM: it is not in
 */
mcp_status mcp__interest_add(mcp__map *topics, mcp__interest *interest, const char *key,
                             size_t length);

/** One that is in no index is passed over. */
void mcp__interest_remove(mcp__interest *interest);

/** The first subscriber of the key, LIST_NEXT(..., of_topic) the next; NULL: there is none. */
mcp__interest *mcp__interest_first(const mcp__map *topics, const char *key, size_t length);

/** What a listening call subscribed to. */
struct mcp__subscription {
    unsigned lists;           /* enum mcp__list_kind */
    const mcp_json *uris;     /* an array of strings, or NULL */
    const mcp_json *tasks;    /* likewise */
    mcp__interest *interests; /* the loop's: both, in the index of subscribers */
};

/* Within a session. `uri` ends in NUL. */
mcp_status mcp__subscribe_add(mcp__session *session, const char *uri, mcp_error *err);
void mcp__subscribe_remove(mcp__session *session, const char *uri);
void mcp__subscribe_clear(mcp__session *session);

/**
 * Without one: read what a call subscribes to.
 *
 * @param can_change lists that can change here, enum mcp__list_kind
 * @param of_uris    changes of resources are notified
 * @return MCP_OK: the call is suspended, and stays open; MCP_E_PARAMS; MCP_E_LIMIT: too many listen
 */
mcp_status mcp__subscribe_listen(mcp_call *call, unsigned can_change, bool of_uris);

/** Acknowledge, as the first message of a call that is open now. */
void mcp__subscribe_acknowledge(mcp_call *call);

/** A call that has a subscription listens no more. */
void mcp__subscribe_leave(mcp_call *call);

/** The first subscriber of a task; see mcp__interest_first. */
mcp__interest *mcp__subscriptions_of_task(const mcp__subscriptions *self, const char *id);

/** Write the member of a notification that says for which listening call it is. */
void mcp__subscribe_write_id(const mcp_call *call, mcp_json_writer *writer);

#endif
