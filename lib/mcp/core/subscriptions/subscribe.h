/*
 * subscribe.h - what a client subscribes to, and its notifications; the subscribers of each key: an
 * index, so that a change costs the time of its own subscribers.
 *
 * The loop's alone.
 */
#ifndef MCP_CORE_SUBSCRIPTIONS_SUBSCRIBE_H
#define MCP_CORE_SUBSCRIPTIONS_SUBSCRIBE_H

#include <sys/queue.h>

#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/subscriptions/subscriptions.h"

typedef struct mcp__topic mcp__topic;

/** One subscription of a client to one key; the subscriber owns the struct. */
typedef struct mcp__interest {
    mcp__topic *topic; /* NULL: it is in no index */
    LIST_ENTRY(mcp__interest) of_topic;
    mcp__session *session;         /* a session that subscribed, or */
    mcp_call *call;                /* a call that listens; the other is NULL */
    struct mcp__interest *of_call; /* the next of the same call */
} mcp__interest;

/** Who is notified, besides sessions of changed lists. */
typedef struct mcp__subscribers {
    mcp__map by_uri, by_task; /* from a key to its topic */
    int listeners;            /* calls that listen */
} mcp__subscribers;

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

/** The call listens no more, or never did. */
void mcp__subscribe_leave(mcp_call *call);

/** Notify a session, and every listening call of it, of the lists that have changed for
 *  them. */
void mcp__subscribe_notify_lists(mcp__session *session, const mcp__list_change *changes);

/** Notify the subscribers of a URI that may know it. @return how many were looked at */
int mcp__subscribe_notify_uri(mcp__subscriptions *all, const char *uri);

/** Write the member of a notification that says for which listening call it is. */
void mcp__subscribe_write_id(const mcp_call *call, mcp_json_writer *writer);

#endif
