/*
 * probe.c - a database is opened for reading where it is, else the folder of its file is looked at.
 */
#include "db/probe.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/db.h"
#include "db/postgres/libpq.h"

#define SQLITE_SCHEME "sqlite:"

static mcp_status probe_folder(char *words, size_t size, const char *path, mcp_error *err)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of the database is too long");
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    if (access(folder, W_OK | X_OK) != 0)
        return mcp_error_errno(err, errno, "%s, the folder of the database", folder);
    snprintf(words, size, "%s is made at the first start", path);
    return MCP_OK;
}

/* The URL of PostgreSQL may have a password in it, so the words do not have it. */
static mcp_status probe_schema(char *words, size_t size, const char *url, const char *name,
                               const mcp_file *files, mcp_error *err)
{
    static const db_options read_only = { .read_only = true };
    bool is_current = false;
    db *opened = NULL;
    mcp_status st = db_open(&opened, url, &read_only, err);
    if (st == MCP_OK)
        st = db_migrations_check(&is_current, opened, files, "sql", err);
    if (st == MCP_OK)
        snprintf(words, size, "%s %s", name,
                 is_current ? "is up to date" : "is brought up to date at the next start");
    db_close(opened);
    return st;
}

mcp_status db_probe(char *words, size_t size, const char *url, const mcp_file *files,
                    mcp_error *err)
{
    bool is_file = strncmp(url, SQLITE_SCHEME, strlen(SQLITE_SCHEME)) == 0;
    const char *path = is_file ? url + strlen(SQLITE_SCHEME) : "the database";

    if (strcmp(url, "memory") == 0) {
        snprintf(words, size, "in memory, gone with the process");
        return MCP_OK;
    }
    if (is_file && access(path, F_OK) != 0)
        return probe_folder(words, size, path, err);
    if (is_file && access(path, R_OK | W_OK) != 0)
        return mcp_error_errno(err, errno, "%s", path);
    return probe_schema(words, size, url, path, files, err);
}

bool db_is_there(const char *url)
{
    size_t scheme = strlen(SQLITE_SCHEME);

    return strcmp(url, "memory") != 0 &&
           (strncmp(url, SQLITE_SCHEME, scheme) != 0 || access(url + scheme, F_OK) == 0);
}

/* ---- libpq ----------------------------------------------------------------------------------- */

static char libpq_version[24];

static void write_version(void)
{
    int number = pg_lib.PQlibVersion(); /* 150012 is 15.12 */
    snprintf(libpq_version, sizeof libpq_version, "%d.%d", number / 10000, number % 10000);
}

mcp_status db_libpq_version(const char **out, const void **code, mcp_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    mcp_status st = pg_lib_open(err);
    if (st != MCP_OK)
        return st;
    pthread_once(&once, write_version);
    *out = libpq_version;
    /* ISO C has no conversion of a function's address; POSIX has. */
    memcpy(code, &pg_lib.PQlibVersion, sizeof *code);
    return MCP_OK;
}
