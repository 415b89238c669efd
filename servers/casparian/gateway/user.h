/**
 * user.h - the user of this process, for decided_by and the audit.
 */
#ifndef CASPARIAN_GATEWAY_USER_H
#define CASPARIAN_GATEWAY_USER_H

#include "mcp/arena.h"

/** "USER@HOST" of this process, in the arena; NULL: no memory. */
const char *casparian_local_user(mcp_arena *arena);

#endif
