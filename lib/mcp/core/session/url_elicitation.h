/*
 * url_elicitation.h - the URLs that a session's client sent its user to, until they are completed.
 */
#ifndef MCP_CORE_SESSION_URL_ELICITATION_H
#define MCP_CORE_SESSION_URL_ELICITATION_H

#include "base/map.h"
#include "mcp/core/session/session.h"

/** Loop only. Remember the elicitations of a call for the client of a session; NULL: there is
 *  none. */
void mcp__url_elicitation_keep(mcp__session *session, const mcp_call *call);

/** Loop only. Those with these ids are complete: notify the client of its own, each once. */
void mcp__url_elicitation_complete(mcp__session *session, const mcp__map *ids);

/** Loop only. Forget them all. */
void mcp__url_elicitation_clear(mcp__session *session);

#endif
