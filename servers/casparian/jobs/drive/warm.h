/*
 * warm.h - guests that stay for the next preview: a second look at the same files with the same
 * plugin does not wait for the start of an interpreter.
 */
#ifndef CASPARIAN_JOBS_DRIVE_WARM_H
#define CASPARIAN_JOBS_DRIVE_WARM_H

#include "plugins/guest.h"

#define CASPARIAN_WARM_MAX 4    /* guests that are kept */
#define CASPARIAN_WARM_MS 60000 /* how long */

/* Any thread. */
typedef struct casparian_warm casparian_warm;

/* Starts a thread. MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT, MCP_E_IO: the system has no thread. */
mcp_status casparian_warm_new(casparian_warm **out, mcp_error *err);

/* Ends all guests. NULL is fine. */
void casparian_warm_free(casparian_warm *self);

/* The guest of that key, which is the caller's then; NULL: there is none. */
casparian_guest *casparian_warm_take(casparian_warm *self, const char *key);

/* Keep a guest that is not needed now, or end it. Takes the guest; NULL is fine. */
void casparian_warm_put(casparian_warm *self, const char *key, casparian_guest *guest);

#endif
