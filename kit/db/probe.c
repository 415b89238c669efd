/*
 * probe.c - a database is opened for reading where it is, else the folder of its file is looked at.
 */
#include "db/probe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/db.h"

#define SQLITE_SCHEME "sqlite:"

static mcp_status probe_folder(char *words, size_t size, const char *path, mcp_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of the database is too long");
    snprintf(folder, sizeof folder, "%.*s%s", (int)length, path,
             length > 0 ? ""
             : slash    ? "/"
                        : ".");
    if (access(folder, W_OK | X_OK) != 0)
        return mcp_error_errno(err, errno, "%s, the folder of the database", folder);
    snprintf(words, size, "%s is made at the first start", path);
    return MCP_OK;
}

mcp_status db_probe(char *words, size_t size, const char *url, mcp_error *err)
{
    static const db_options read_only = { .read_only = true };
    const char *path = url + strlen(SQLITE_SCHEME);
    bool is_file = strncmp(url, SQLITE_SCHEME, strlen(SQLITE_SCHEME)) == 0;
    db *opened = NULL;
    if (is_file && access(path, F_OK) != 0)
        return probe_folder(words, size, path, err);
    if (is_file && access(path, R_OK | W_OK) != 0)
        return mcp_error_errno(err, errno, "%s", path);
    mcp_status st = db_open(&opened, url, &read_only, err);
    if (st != MCP_OK)
        return st;
    db_close(opened);
    /* The URL of PostgreSQL may have a password in it. */
    snprintf(words, size, "%s can be opened", is_file ? path : "the database");
    return MCP_OK;
}
