/*
 * limits.c - a bucket for each principal, and one for each workspace.
 */
#include "gateway/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "guard/rate.h"
#include "mcp/clock.h"

enum { PRINCIPALS_MAX = 100000, WORKSPACES_MAX = 10000, KEY_SIZE = 512 };

struct portarium_limits {
    guard_rate *principals;
    guard_rate *workspaces;
    _Atomic uint64_t refused;
};

mcp_status portarium_limits_new(portarium_limits **out, bool compat, mcp_error *err)
{
    const guard_rate_limit principal = { compat ? 0 : 100, compat ? 0 : 200 };
    const guard_rate_limit workspace = { compat ? 10 : 1000, compat ? 50 : 2000 };
    portarium_limits *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the rate limits");
    mcp_status st = guard_rate_new(&self->principals, principal, PRINCIPALS_MAX, err);
    if (st == MCP_OK)
        st = guard_rate_new(&self->workspaces, workspace, WORKSPACES_MAX, err);
    if (st != MCP_OK) {
        portarium_limits_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_limits_free(portarium_limits *self)
{
    if (!self)
        return;
    guard_rate_free(self->principals);
    guard_rate_free(self->workspaces);
    free(self);
}

static bool is_free(const portarium_operation *operation, const portarium_request *request)
{
    const char *last = strrchr(operation->path, '/');
    bool waits = (operation->flags & PORTARIUM_WAITS) && portarium_argument(request, "wait");
    return waits || (last && strcmp(last, "/heartbeat") == 0);
}

int64_t portarium_limits_take(portarium_limits *self, const portarium_operation *operation,
                              const portarium_request *request)
{
    const portarium_actor *actor = request->actor;
    const char *workspace = actor->workspace ? actor->workspace : "";
    int64_t now = mcp_clock_mono_ms();
    char key[KEY_SIZE];
    if (is_free(operation, request))
        return 0;
    size_t length = strlen(workspace), more = strlen(actor->subject);
    if (length + more + 1 > sizeof key)
        return 0; /* an id has 128 bytes at most, so there is none */
    memcpy(key, workspace, length + 1);
    memcpy(key + length + 1, actor->subject, more);
    int64_t later = guard_rate_take(self->principals, key, length + more + 1, now);
    if (later == 0)
        later = guard_rate_take(self->workspaces, workspace, length, now);
    if (later > 0)
        self->refused++;
    return (later + 999) / 1000;
}

uint64_t portarium_limits_refused(const portarium_limits *self)
{
    return self ? self->refused : 0;
}
