/**
 * tools.h - the seven tools, and four extensions, which are there only where --allowed-tools names
 * them.
 */
#ifndef PORTARIUM_FEATURES_TOOLS_H
#define PORTARIUM_FEATURES_TOOLS_H

#include "gateway/app.h"
#include "mcp/tool.h"

/** Their table; the data of the features is the app. */
extern const mcp_tool portarium_tools[];

/** The names of the arguments that a tool requires, texts all of them, in the order in which they
 *  are checked; ended by NULL. NULL: there is no such tool. */
const char *const *portarium_required(const char *tool);

/** Whether the tool is none of the seven. */
bool portarium_is_extension(const char *tool);

#endif
