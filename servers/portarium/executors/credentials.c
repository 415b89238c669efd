/*
 * credentials.c - credentials from the environment, from files, and from commands.
 */
#include "executors/credentials.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys/file.h"
#include "mcp/clock.h"

enum { NAME_MAX_BYTES = 64, VALUE_MIN = 4, PROGRAM_ARENA = 1 << 20 };

/* What a command printed. */
typedef struct kept {
    struct kept *next;
    char name[NAME_MAX_BYTES + 1];
    int64_t until_ms;
    mcp_buf value;
} kept;

struct portarium_vault {
    const portarium_host *host;
    pthread_mutex_t lock; /* of what is kept */
    kept *first;          /* at most one for a name of the configuration */
};

mcp_status portarium_vault_new(portarium_vault **out, const portarium_host *host, mcp_error *err)
{
    portarium_vault *self = calloc(1, sizeof *self);
    *out = self;
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for credentials");
    self->host = host;
    pthread_mutex_init(&self->lock, NULL);
    return MCP_OK;
}

void portarium_credential_wipe(mcp_buf *value)
{
    if (value->data)
        explicit_bzero(value->data, value->capacity);
    mcp_buf_clear(value);
}

void portarium_vault_free(portarium_vault *self)
{
    if (!self)
        return;
    for (kept *at = self->first, *next; at; at = next) {
        next = at->next;
        portarium_credential_wipe(&at->value);
        free(at);
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

const char *portarium_credential_name(const mcp_json *binding, const char *provider,
                                      mcp_arena *arena)
{
    const char *name = mcp_json_get_string(binding, "credential");
    char *made = mcp_arena_strdup(arena, name ? name : provider ? provider : "");
    for (char *at = made; at && *at; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    return made && *made ? made : NULL;
}

/* A value is one line of printable text. */
static mcp_status take_value(mcp_buf *out, const char *name, const char *text, size_t length,
                             mcp_error *err)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    if (length < VALUE_MIN || length > PORTARIUM_CREDENTIAL_MAX)
        return mcp_error_set(err, MCP_E_DENIED,
                             "the credential %s has less than %d bytes or too "
                             "many",
                             name, VALUE_MIN);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return mcp_error_set(err, MCP_E_DENIED, "the credential %s has a control character",
                                 name);
    }
    return mcp_buf_append(out, text, length) == MCP_OK
               ? MCP_OK
               : mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
}

static const char *variable_of(const char *name)
{
    char variable[sizeof "PORTARIUM_CRED_" + NAME_MAX_BYTES];
    snprintf(variable, sizeof variable, "PORTARIUM_CRED_%s", name);
    return getenv(variable);
}

static mcp_status from_environment(mcp_buf *out, const char *name, mcp_error *err)
{
    const char *value = variable_of(name);
    return value ? take_value(out, name, value, strlen(value), err)
                 : mcp_error_set(err, MCP_E_NOT_FOUND, "this host has no credential %s", name);
}

static mcp_status from_file(mcp_buf *out, const char *name, const char *path, mcp_error *err)
{
    char text[PORTARIUM_CREDENTIAL_MAX + 2];
    size_t length = 0;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = keys_file_read(text, sizeof text, &length, path, &cause);
    if (st == MCP_OK)
        st = take_value(out, name, text, length, err);
    else
        mcp_error_set(err, st,
                      "the file of the credential %s cannot be read, or others than its "
                      "owner may read it",
                      name);
    explicit_bzero(text, sizeof text);
    return st;
}

static mcp_status run_command(mcp_buf *out, const char *name, const mcp_json *entry,
                              int64_t until_ms, mcp_error *err)
{
    proc_spec spec;
    proc_result result = { .end.how = PROC_LOST };
    mcp_arena *arena = mcp_arena_new(PROGRAM_ARENA);
    const proc_run_options options = { .out_max = PORTARIUM_CREDENTIAL_MAX };
    mcp_status st = arena ? portarium_host_program(&spec, entry, NULL, arena, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
    if (st == MCP_OK) {
        spec.timeout_ms = until_ms - mcp_clock_mono_ms();
        if (spec.timeout_ms <= 0)
            st = mcp_error_set(err, MCP_E_TIMEOUT, "no time is left for the credential %s", name);
        else
            st = proc_run(&result, &spec, &options, err);
    }
    if (st == MCP_OK && (result.end.how != PROC_EXITED || result.end.code != 0))
        st = mcp_error_set(err, result.end.how == PROC_TIMED_OUT ? MCP_E_TIMEOUT : MCP_E_IO,
                           "the command of the credential %s failed", name);
    if (st == MCP_OK)
        st = take_value(out, name, result.out.data ? result.out.data : "", result.out.length, err);
    if (result.out.data)
        explicit_bzero(result.out.data, result.out.capacity);
    proc_result_clear(&result);
    mcp_arena_free(arena);
    return st;
}

static kept *find(portarium_vault *self, const char *name)
{
    kept *at = self->first;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

/* A value that cannot be kept is used all the same. */
static void keep(portarium_vault *self, const char *name, const mcp_buf *value)
{
    pthread_mutex_lock(&self->lock);
    kept *at = find(self, name);
    bool is_new = !at;
    if (is_new)
        at = calloc(1, sizeof *at);
    if (is_new && at) {
        snprintf(at->name, sizeof at->name, "%s", name);
        mcp_buf_init(&at->value, PORTARIUM_CREDENTIAL_MAX);
        at->next = self->first;
        self->first = at;
    }
    if (at) {
        portarium_credential_wipe(&at->value);
        mcp_buf_append(&at->value, value->data, value->length);
        at->until_ms = at->value.status == MCP_OK ? mcp_clock_mono_ms() + PORTARIUM_CREDENTIAL_MS
                                                  : 0;
    }
    pthread_mutex_unlock(&self->lock);
}

static mcp_status from_command(mcp_buf *out, portarium_vault *self, const char *name,
                               const mcp_json *entry, int64_t until_ms, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    kept *at = find(self, name);
    bool is_kept = at && at->until_ms > mcp_clock_mono_ms();
    mcp_status st = is_kept ? mcp_buf_append(out, at->value.data, at->value.length) : MCP_OK;
    pthread_mutex_unlock(&self->lock);
    if (is_kept)
        return st == MCP_OK ? MCP_OK
                            : mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
    st = run_command(out, name, entry, until_ms, err);
    if (st == MCP_OK)
        keep(self, name, out);
    return st;
}

static bool has_workspace(const mcp_json *list, const char *workspace)
{
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        if (strcmp(mcp_json_string(mcp_json_item(list, i), NULL), workspace) == 0)
            return true;
    }
    return !list;
}

mcp_status portarium_credential_get(mcp_buf *out, portarium_vault *self, const char *workspace,
                                    const char *name, int64_t until_ms, mcp_error *err)
{
    const mcp_json *entry = mcp_json_get(self->host->credentials, name);
    const char *file = mcp_json_get_string(entry, "file");
    mcp_buf_init(out, PORTARIUM_CREDENTIAL_MAX);
    if (strlen(name) > NAME_MAX_BYTES)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "a credential has at most %d letters",
                             NAME_MAX_BYTES);
    if (!has_workspace(mcp_json_get(entry, "workspaces"), workspace))
        return mcp_error_set(err, MCP_E_DENIED, "the credential %s is not for this workspace",
                             name);
    if (file)
        return from_file(out, name, file, err);
    return mcp_json_get(entry, "command") ? from_command(out, self, name, entry, until_ms, err)
                                          : from_environment(out, name, err);
}

static bool host_has(const portarium_vault *self, const char *workspace, const char *name)
{
    const mcp_json *entry = mcp_json_get(self->host->credentials, name);
    return entry ? has_workspace(mcp_json_get(entry, "workspaces"), workspace)
                 : strlen(name) <= NAME_MAX_BYTES && variable_of(name);
}

mcp_status portarium_credential_of(mcp_buf *out, portarium_vault *self,
                                   const portarium_attempt *attempt, const char *name,
                                   mcp_error *err)
{
    const portarium_stored_credential *found = NULL;
    for (size_t i = 0; i < PORTARIUM_STORED_NAMES; i++) {
        if (attempt->stored[i].name && strcmp(attempt->stored[i].name, name) == 0)
            found = &attempt->stored[i];
    }
    if (!found || host_has(self, attempt->workspace, name))
        return portarium_credential_get(out, self, attempt->workspace, name,
                                        attempt->deadline_mono_ms, err);
    mcp_buf_init(out, PORTARIUM_CREDENTIAL_MAX);
    return found->value ? take_value(out, name, found->value, strlen(found->value), err)
                        : mcp_error_set(err, MCP_E_DENIED,
                                        "the credential %s of the workspace was sealed with "
                                        "another key: store it again",
                                        name);
}
