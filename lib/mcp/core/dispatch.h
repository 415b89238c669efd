/*
 * dispatch.h - from the bytes of a message to its answer.
 *
 * A transport hands each message in and gives the session its time; everything here runs on the
 * loop.
 */
#ifndef MCP_CORE_DISPATCH_H
#define MCP_CORE_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/core/incoming.h"
#include "mcp/core/peer.h"
#include "mcp/core/session/session.h"

/** One message, read here and now: the transport sees to it that it is small. The answer goes to `peer`, now
 *  or later; `text` is not kept. */
void mcp__dispatch_message(mcp__session *session, mcp__peer *peer, const char *text, size_t length);

/** The same for a message that was read already, an array being a batch. Takes what `incoming` holds. */
void mcp__dispatch_incoming(mcp__session *session, mcp__peer *peer, mcp__incoming *incoming);

/**
 * Have a call run that no message made, of a REST route: its `run`, `session` and `peer` are set, and its id
 * is the only one of its peer. Takes `call`.
 */
void mcp__dispatch_call(mcp_call *call);

/** End an open call that no worker has, with this status, at once. */
void mcp__dispatch_end(mcp_call *call, mcp_status st);

/** Close an open call without an answer. */
void mcp__dispatch_close(mcp_call *call);

/** Run the handler of a call again: all that it asked is answered. */
void mcp__dispatch_resume(mcp_call *call);

/** A call that was left is resumed, by a function that may run on the loop. `node` is its task's. */
void mcp__dispatch_go_on(mcp__node *node);

/** Answer for a message that was longer than may be. */
void mcp__dispatch_overlong(mcp__session *session, mcp__peer *peer);

/** True when no further message should be handed in for now. */
bool mcp__dispatch_is_full(const mcp__session *session);

/** True when no call is open and no worker has one. */
bool mcp__dispatch_is_idle(const mcp__session *session);

/**
 * Do what is due: time-outs, and reports that had to wait.
 *
 * @return when to call again at the latest; INT64_MAX: not for the sake of time
 */
int64_t mcp__dispatch_tick(mcp__session *session, int64_t now_ms);

/** Cancel the open call of that id: its answer will not be sent. Unknown ids are passed over.
 *  @param notices who asks for it; clients that share a session cannot cancel one another's */
void mcp__dispatch_cancel(mcp__session *session, const mcp_json *id, const mcp__peer *notices);

/** Ask open calls to stop: all of them, or for CLIENT_GONE those whose flags say so. CANCELLED also
 *  closes them. */
void mcp__dispatch_stop(mcp__session *session, mcp_stop why);

/** Nobody is left behind `notices`, the rest of the session goes on: its calls whose flags say so are asked
 *  to stop; from 2026-07-28 all of them are cancelled. */
void mcp__dispatch_hang_up(mcp__session *session, const mcp__peer *notices);

/** Answer calls that have not begun with an error; nothing more is begun. */
void mcp__dispatch_refuse_waiting(mcp__session *session);

/** Answer every open call with an error, whatever its worker still does. */
void mcp__dispatch_abandon(mcp__session *session);

#endif
