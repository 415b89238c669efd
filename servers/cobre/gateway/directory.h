/**
 * directory.h - opens the directories that calls name, through the guard.
 *
 * Source: the errors page, section 7.
 */
#ifndef COBRE_GATEWAY_DIRECTORY_H
#define COBRE_GATEWAY_DIRECTORY_H

#include <stdbool.h>

#include "gateway/app.h"

/**
 * Open the directory that an argument of a tool names: "case_dir", or an output directory.
 *
 * @param fd        the caller's to close
 * @param canonical its absolute path without links, the call's; may be NULL
 * @param answer    when false is returned: the error record was written, return this
 */
bool cobre_open_dir(mcp_call *call, const cobre_app *app, const char *argument, int *fd,
                    const char **canonical, mcp_status *answer);

#endif
