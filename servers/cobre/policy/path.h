/*
 * path.h - the path of the policy directory as config.json gives it.
 */
#ifndef COBRE_POLICY_PATH_H
#define COBRE_POLICY_PATH_H

#include "mcp/error.h"

#define POLICY_PATH_SIZE 4096

/*
 * The path without "." and empty components: "./runs//policy/" becomes "runs/policy". It stays
 * absolute if it is so.
 *
 * MCP_OK; MCP_E_PARAMS: it names no directory (".", "/"), is too long, or begins with a folder of
 * the results ("simulation").
 */
mcp_status policy_path_plain(char out[POLICY_PATH_SIZE], const char *path, mcp_error *err);

#endif
