/**
 * exposures.h - the tool exposure policies of all workspaces, in memory: which tools a caller may
 * see and call, without a wait.
 *
 * The copy of a workspace's policy is read at the start and again when policies were committed in
 * the workspace, by whatever process.
 */
#ifndef PORTARIUM_GATEWAY_EXPOSURES_H
#define PORTARIUM_GATEWAY_EXPOSURES_H

#include "service/plane.h"

typedef struct portarium_exposures portarium_exposures;

/** @param out yours, free it with portarium_exposures_free after the plane was closed */
mcp_status portarium_exposures_new(portarium_exposures **out, mcp_error *err);

/** NULL is fine. */
void portarium_exposures_free(portarium_exposures *self);

/** Read the policies of all workspaces, and follow the plane from now on. */
mcp_status portarium_exposures_follow(portarium_exposures *self, portarium_plane *plane,
                                      mcp_error *err);

/** Follow it no longer: no read of it is under way when this returns. Before the plane is closed.
 *  NULL is fine. */
void portarium_exposures_unfollow(portarium_exposures *self);

/** Call `on_change` after each copy of changed policies was read, of whatever workspace; NULL: no
 *  longer, and no call of it is under way when this returns. */
void portarium_exposures_listen(portarium_exposures *self, void (*on_change)(void *data),
                                void *data);

/** Policies of the workspace were changed: `on_policies` of the plane. `data` is the exposures.
 *  @return MCP_OK; else they could not be read, and the copy is as it was */
mcp_status portarium_exposures_on_policies(const char *workspace, void *data, mcp_error *err);

/** Whether a caller with these roles, of this tier, may use the tool. Never blocks for long; any
 *  thread. */
bool portarium_exposures_allow(portarium_exposures *self, const char *workspace, const char *tool,
                               portarium_roles roles, portarium_tier tier);

#endif
