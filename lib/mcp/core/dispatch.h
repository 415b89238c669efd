/*
 * dispatch.h - from the bytes of a message to its answer.
 *
 * A transport hands each message in and gives the session its time; everything here runs on the
 * loop.
 */
#ifndef MCP_CORE_DISPATCH_H
#define MCP_CORE_DISPATCH_H

#include "mcp/core/message/message.h"
#include "mcp/core/peer.h"
#include "mcp/core/session/session.h"
#include "mcp/core/task/task.h"
#include "net/lines.h"

/** For the contexts of sessions. */
extern const mcp__hooks mcp__dispatch_hooks;

/** One message, read here and now: the transport hands in none that is large. The answer goes to
 *  `peer`, now or later; `text` is not kept. */
void mcp__dispatch_message(mcp__session *session, mcp__peer *peer, const char *text, size_t length);

/** The same for a message that was read already, an array being a batch. Takes what `incoming`
 *  holds. */
void mcp__dispatch_incoming(mcp__session *session, mcp__peer *peer, mcp__incoming *incoming);

/**
 * Have a call run that no message made, of a REST route: its `run`, `session` and `peer` are set,
 * and its id is the only one of its peer. Takes `call`.
 */
void mcp__dispatch_call(mcp_call *call);

/** Run the handler of a call again: the responses to its input requests are there. */
void mcp__dispatch_resume(mcp_call *call);

/** Answer for a message that was longer than may be. @param ends of its text; NULL: not known */
void mcp__dispatch_overlong(mcp__session *session, mcp__peer *peer, const mcp__line_ends *ends);

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
 *  @param notification_peer of the client that cancels; clients that share a session cannot cancel
 *  one another's calls */
void mcp__dispatch_cancel(mcp__session *session, const mcp_json *id,
                          const mcp__peer *notification_peer);

/** Ask open calls to stop: all of them, or for CLIENT_GONE those whose flags say so. CANCELLED also
 *  closes them. */
void mcp__dispatch_stop(mcp__session *session, mcp_stop why);

/** The client of this peer has hung up, the session continues: its calls whose flags say so are
 *  asked to stop; from 2026-07-28 all of them are cancelled. The peer may be gone afterwards. */
void mcp__dispatch_hang_up(const mcp__peer *notification_peer);

/** Answer the calls of that peer that only listen: they would last as long as their client. The
 *  peer may be gone afterwards. */
void mcp__dispatch_end_listening(const mcp__peer *notification_peer);

/** Answer calls that have not begun with an error; nothing more is begun. */
void mcp__dispatch_refuse_waiting(mcp__session *session);

/** Answer every open call with an error, whatever its worker still does. */
void mcp__dispatch_abandon(mcp__session *session);

/** The same for the calls that are tasks: time-outs, reports, and tasks whose time is over. */
int64_t mcp__dispatch_tasks_tick(mcp__task_table *table, int64_t now_ms);
int64_t mcp__dispatch_tasks_due_ms(const mcp__task_table *table);

/** Ask tasks to stop. Those that no call waits for are cancelled: their clients will not poll
 *  again. */
void mcp__dispatch_tasks_stop(mcp__task_table *table, mcp_stop why);

#endif
