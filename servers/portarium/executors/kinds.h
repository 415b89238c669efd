/**
 * kinds.h - the executors; the data of each is a portarium_room.
 */
#ifndef PORTARIUM_EXECUTORS_KINDS_H
#define PORTARIUM_EXECUTORS_KINDS_H

#include "executors/outcome.h"
#include "fetch/fetch.h"

extern const portarium_executor portarium_http;
extern const portarium_executor portarium_exec;
extern const portarium_executor portarium_mcp;
extern const portarium_executor portarium_machine;

/** A pool of requests that obey an adapter's list. @param out fetch_close */
mcp_status portarium_pool_open(fetch **out, const mcp_json *egress, mcp_arena *arena,
                               mcp_error *err);

/** The connections of portarium_mcp. @param out portarium_links_free */
mcp_status portarium_links_new(struct portarium_links **out, mcp_error *err);

/** End them. NULL is fine. */
void portarium_links_free(struct portarium_links *self);

#endif
