/*
 * store.c - the database of a home, and the thread that hears of its changes.
 */
#include "jobs/store_int.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WAIT_MS = 5000 };

static const approvals_transition transitions[] = {
    { "pending", "approved", APPROVALS_DECIDE },
    { "pending", "rejected", APPROVALS_DECIDE },
    { "pending", "expired", APPROVALS_DECIDE },
    { 0 },
};

static const approvals_table requests_table = {
    .table = "cf_api_approvals",
    .id = "approval_id",
    .expires_at = "expires_at",
    .transitions = transitions,
    .expired = "expired",
    .expired_by = "system:clock",
};

static mcp_status make_home(const char *home, mcp_error *err)
{
    struct stat what;
    if (mkdir(home, S_IRWXU) != 0 && errno != EEXIST)
        return mcp_error_errno(err, errno, "the home '%s' cannot be made", home);
    if (stat(home, &what) != 0)
        return mcp_error_errno(err, errno, "the home '%s'", home);
    return S_ISDIR(what.st_mode) ? MCP_OK
                                 : mcp_error_set(err, MCP_E_IO, "the home '%s' is a file", home);
}

/* A state that a newer program has written must not be changed by this one. */
static mcp_status migrate(db *database, const mcp_file *files, const char *path, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = db_migrate(database, files, "sql", &cause);
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, st == MCP_E_PARAMS ? MCP_E_UNSUPPORTED : st, "the state '%s': %s",
                         path, cause.message);
}

static mcp_status open_database(casparian_store *self, const casparian_store_options *options,
                                mcp_error *err)
{
    const db_options how = { .wait_ms = WAIT_MS, .hears_others = true, .log = options->log };
    char path[PATH_MAX];
    char url[PATH_MAX + sizeof "sqlite:"];
    int length = options->path ? snprintf(path, sizeof path, "%s", options->path)
                               : snprintf(path, sizeof path, "%s/state.sqlite", options->home);
    if (length < 0 || (size_t)length >= sizeof path)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of the state is too long");
    snprintf(url, sizeof url, "sqlite:%s", path);
    mcp_status st = db_open(&self->database, url, &how, err);
    return st == MCP_OK ? migrate(self->database, options->files, path, err) : st;
}

/* On the thread of the listener. */
static void on_notify(const char *key, void *data)
{
    casparian_store *self = data;
    if (key)
        jobs_wake(self->waits, key);
    else
        jobs_wake_all(self->waits);
}

static mcp_status start_waits(casparian_store *self, mcp_error *err)
{
    const jobs_waits_options how = { .is_over = self->options.is_over };
    mcp_status st = jobs_waits_new(&self->waits, &how, err);
    return st == MCP_OK
               ? db_listen(&self->listener, self->database, CASPARIAN_CHANNEL, on_notify, self, err)
               : st;
}

mcp_status casparian_store_open(casparian_store **out, const casparian_store_options *options,
                                mcp_error *err)
{
    casparian_store *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the state");
    self->options = *options;
    self->home = strdup(options->home);
    mcp_status st = self->home ? make_home(self->home, err)
                               : mcp_error_set(err, MCP_E_NOMEM, "no memory for the state");
    if (st == MCP_OK)
        st = open_database(self, options, err);
    if (st == MCP_OK)
        st = approvals_new(&self->requests, &requests_table, err);
    if (st == MCP_OK && options->has_waits)
        st = start_waits(self, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_store_close(self);
    return st;
}

void casparian_store_close(casparian_store *self)
{
    if (!self)
        return;
    db_listener_free(self->listener);
    jobs_waits_free(self->waits);
    approvals_free(self->requests);
    db_close(self->database);
    free(self->home);
    free(self);
}

const char *casparian_store_home(const casparian_store *self)
{
    return self->home;
}

const casparian_settings *casparian_store_settings(const casparian_store *self)
{
    return self->options.settings;
}

const mcp_log *casparian_store_log(const casparian_store *self)
{
    return &self->options.log;
}

db *casparian_store_database(casparian_store *self)
{
    return self->database;
}

jobs_waits *casparian_store_waits(casparian_store *self)
{
    return self->waits;
}

void casparian_job_key(char out[CASPARIAN_KEY_SIZE], int64_t job)
{
    snprintf(out, CASPARIAN_KEY_SIZE, "job/%lld", (long long)job);
}

void casparian_approval_key(char out[CASPARIAN_KEY_SIZE], const char *id)
{
    snprintf(out, CASPARIAN_KEY_SIZE, "approval/%s", id);
}

mcp_status casparian_store_end(db_session *session, mcp_status st, mcp_error *err)
{
    if (st == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return st;
}
