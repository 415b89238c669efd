/**
 * directory.h - opens the directories that clients name, through the guard.
 *
 * What fails because of the client's path is a record; tools answer with it (gateway/errors.h), and
 * resources send it as the data of an error.
 *
 * Source: the errors page, section 7.
 */
#ifndef COBRE_GATEWAY_DIRECTORY_H
#define COBRE_GATEWAY_DIRECTORY_H

#include <stdbool.h>

#include "findings/record.h"
#include "gateway/app.h"

/** A directory and the argument or variable that names it. */
typedef struct cobre_place {
    const char *argument; /* "case_dir", "output_dir", ... */
    const char *path;     /* as the client gives it; NULL: it holds NUL */
    const char *expected; /* what an output directory is to hold; NULL: it is a case directory */
} cobre_place;

/**
 * Open a directory.
 *
 * @param fd        the caller's to close
 * @param canonical its absolute path without links, the arena's; may be NULL
 * @param refusal   why not, when that is the client's to know; else NULL
 * @return MCP_OK; MCP_E_DENIED, MCP_E_NOT_FOUND, MCP_E_PARAMS (with a record); MCP_E_NOMEM
 */
mcp_status cobre_place_open(int *fd, const char **canonical, const cobre_record **refusal,
                            const cobre_app *app, const cobre_place *place, mcp_arena *arena,
                            mcp_error *err);

/**
 * Open the directory that an argument of a tool names: "case_dir", or an output directory.
 *
 * @param fd        the caller's to close
 * @param canonical its absolute path without links, the call's; may be NULL
 * @param answer    when false is returned: the error record was written, return this
 */
bool cobre_open_dir(mcp_call *call, cobre_app *app, const char *argument, int *fd,
                    const char **canonical, mcp_status *answer);

/**
 * The record of results that cannot be read.
 *
 * @param path       the output directory as the client gives it
 * @param is_running a run is writing to that directory: what is absent may still come
 * @param file       the file at fault; may be NULL
 * @return OutputNotFound for MCP_E_NOT_FOUND, OutputCorrupted for what a file may cause; NULL for
 *         what is the server's own failure, or without memory
 */
const cobre_record *cobre_output_record(mcp_arena *arena, mcp_status st, const char *path,
                                        bool is_running, const char *file, const mcp_error *cause);

#endif
