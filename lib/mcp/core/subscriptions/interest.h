/*
 * interest.h - the subscribers of each key: an index, so that a change costs the time of its own
 * subscribers.
 *
 * The loop's alone.
 */
#ifndef MCP_CORE_SUBSCRIPTIONS_INTEREST_H
#define MCP_CORE_SUBSCRIPTIONS_INTEREST_H

#include <stddef.h>

#include "base/map.h"
#include "mcp/call.h"
#include "mcp/error.h"

typedef struct mcp__session mcp__session;
typedef struct mcp__topic mcp__topic;

/** One subscription of a client to one key; the subscriber owns the struct. */
typedef struct mcp__interest {
    mcp__topic *topic;                     /* NULL: it is in no index */
    struct mcp__interest *next, *previous; /* in the same key */
    mcp__session *session;                 /* a session that subscribed, or */
    mcp_call *call;                        /* a call that listens; the other is NULL */
    struct mcp__interest *of_call;         /* the next of the same call */
} mcp__interest;

typedef struct mcp__interests {
    mcp__map topics;
} mcp__interests;

void mcp__interests_init(mcp__interests *all);

/** Free what is left; every interest must have been removed. */
void mcp__interests_clear(mcp__interests *all);

/**
 * Enter an interest. The key's bytes are copied, once for all subscribers.
 *
 * @param interest borrowed until it is removed
 * @return MCP_OK; MCP_E_NOMEM: it is not in
 */
mcp_status mcp__interest_add(mcp__interests *all, mcp__interest *interest, const char *key,
                             size_t length);

/** One that is in no index is passed over. */
void mcp__interest_remove(mcp__interest *interest);

/** The first subscriber of the key, `next` the next; NULL: there is none. */
mcp__interest *mcp__interest_first(const mcp__interests *all, const char *key, size_t length);

/** The key, which ends in NUL; good while the interest is in. */
const char *mcp__interest_key(const mcp__interest *interest);

#endif
