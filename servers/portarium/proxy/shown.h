/**
 * shown.h - which tools a remote control plane lets the agent see. The plane judges the names; the
 * answer is kept, and asked for again every second.
 *
 * A tool that was not judged yet is not shown. While the plane cannot be reached, the last answer
 * holds.
 */
#ifndef PORTARIUM_PROXY_SHOWN_H
#define PORTARIUM_PROXY_SHOWN_H

#include "gateway/app.h"

typedef struct portarium_shown portarium_shown;

/** @param app,workspace borrowed. @param out yours, free it with portarium_shown_free */
mcp_status portarium_shown_new(portarium_shown **out, const portarium_app *app,
                               const char *workspace, mcp_error *err);

/** NULL is fine. */
void portarium_shown_free(portarium_shown *self);

/** Have the plane judge these names, in place of those before. Blocks; one thread at a time.
 *  @return MCP_OK; MCP_E_DENIED, MCP_E_IO: the plane refuses, or does not answer; MCP_E_NOMEM */
mcp_status portarium_shown_judge(portarium_shown *self, const char *const *names, size_t count,
                                 bool (*should_stop)(void *data), void *data, mcp_error *err);

/** Whether the tool may be seen. Any thread; does not block for long. */
bool portarium_shown_has(portarium_shown *self, const char *name);

#endif
