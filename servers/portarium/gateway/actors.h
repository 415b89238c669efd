/**
 * actors.h - from a bearer token to an actor: API tokens, and the claims of JWTs; the trace of a
 * call.
 *
 * The library caches the verdict on a token as a name and scopes. Everything that an actor has is
 * therefore written into the scopes: "role:operator ws:ws-1 agent:a-7 key:<hash>", each value
 * percent-encoded.
 */
#ifndef PORTARIUM_GATEWAY_ACTORS_H
#define PORTARIUM_GATEWAY_ACTORS_H

#include "gateway/app.h"
#include "mcp/auth.h"

/** The library's mcp_token_verifier: the development token and API tokens; `data` is the app. An
 *  agent's token has the tier of the agent.
 *  @return as the type says; MCP_E_NOT_FOUND: a text that is no token of ours */
mcp_status portarium_verify_token(mcp_principal *out, const char *token, mcp_arena *arena,
                                  void *data, mcp_error *err);

/** Write an actor as the scopes of a principal. In the arena. @return NULL: no memory */
const char *portarium_actor_scopes(const portarium_actor *actor, mcp_arena *arena);

/** An actor as a principal; its texts are of the arena. */
mcp_status portarium_actor_principal(mcp_principal *out, const portarium_actor *actor,
                                     mcp_arena *arena, mcp_error *err);

/** Read the actor back from scopes; its texts are of the arena.
 *  @return MCP_OK; MCP_E_DENIED: there is no subject or workspace in them; MCP_E_NOMEM */
mcp_status portarium_actor_read(portarium_actor *out, const char *scopes, mcp_arena *arena,
                                mcp_error *err);

/** What the exposure of tools depends on. */
typedef struct portarium_caller {
    char workspace[129];
    portarium_roles roles;
    portarium_tier tier; /* HumanApprove where the token has none */
} portarium_caller;

/** Read them from the scopes of a principal, without memory. */
void portarium_caller_read(portarium_caller *out, const char *scopes);

/** The same of an actor. */
void portarium_caller_of(portarium_caller *out, const portarium_actor *actor);

/** The actor of a call. In the call's arena.
 *  @return MCP_OK; MCP_E_DENIED: the call has no principal, and there is no local actor */
mcp_status portarium_actor_of(portarium_actor *out, mcp_call *call, const portarium_app *app,
                              mcp_error *err);

/** The trace of what a call causes: the call is its parent. Lives as long as the call. */
portarium_trace portarium_trace_of(const mcp_call *call);

#endif
