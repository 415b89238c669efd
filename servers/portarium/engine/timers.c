/*
 * timers.c - timers of kit/jobs, whose ref is the workspace and the record.
 */
#include "engine/timers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/fault.h"
#include "jobs/timers.h"
#include "keys/canonical.h"
#include "mcp/hash.h"

enum { TIMER_ID_SIZE = 128, FIRE_ARENA = 16 << 20 };

struct portarium_timers {
    portarium_committer *committer;
    const portarium_timer_kind *kinds;
    jobs_timers *timers;
};

static const portarium_actor scheduler = { .subject = "system:scheduler" };

/* ---- setting --------------------------------------------------------------------------------- */

/* "approval:" and a digest: the ids of workspace and record may be longer than a timer's. */
static mcp_status name_timer(char out[TIMER_ID_SIZE], portarium_tx *tx, const char *kind,
                             const char **ref, const char *id, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE];
    *ref = mcp_arena_printf(tx->arena, "%s\n%s", tx->workspace, id);
    if (!*ref)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a timer");
    mcp_status st = mcp_sha256(digest, *ref, strlen(*ref), err);
    if (st == MCP_OK)
        keys_hex(hex, digest);
    if (st == MCP_OK)
        snprintf(out, TIMER_ID_SIZE, "%s:%s", kind, hex);
    return st;
}

mcp_status portarium_timer_set(portarium_tx *tx, const char *kind, const char *id, int64_t at_ms,
                               mcp_error *err)
{
    char name[TIMER_ID_SIZE];
    const char *ref = NULL;
    mcp_status st = name_timer(name, tx, kind, &ref, id, err);
    return st == MCP_OK ? jobs_timer_set(tx->session, name, at_ms, kind, ref, err) : st;
}

mcp_status portarium_timer_cancel(portarium_tx *tx, const char *kind, const char *id,
                                  mcp_error *err)
{
    char name[TIMER_ID_SIZE];
    const char *ref = NULL;
    mcp_status st = name_timer(name, tx, kind, &ref, id, err);
    return st == MCP_OK ? jobs_timer_cancel(NULL, tx->session, name, err) : st;
}

/* ---- firing ---------------------------------------------------------------------------------- */

typedef struct firing {
    const portarium_timer_kind *kind;
    const jobs_timer *timer;
    const char *id;
} firing;

static mcp_status fire_work(portarium_tx *tx, void *data, mcp_error *err)
{
    const firing *self = data;
    mcp_status st = jobs_timer_finish(tx->session, &self->timer->lease, err);
    if (st == MCP_OK)
        st = self->kind->work(tx, self->id, err);
    FAULT_POINT("timer-made");
    return st;
}

static const portarium_timer_kind *find_kind(const portarium_timer_kind *kinds, const char *name)
{
    for (; kinds->name; kinds++) {
        if (strcmp(kinds->name, name) == 0)
            return kinds;
    }
    return NULL;
}

/* MCP_E_NOT_FOUND: it was set again or cancelled meanwhile, so there is nothing to do. */
static mcp_status fire(const jobs_timer *timer, void *data, mcp_error *err)
{
    portarium_timers *self = data;
    firing what = { .kind = find_kind(self->kinds, timer->kind), .timer = timer };
    const char *end = strchr(timer->ref, '\n');
    if (!what.kind || !end)
        return mcp_error_set(err, MCP_E_INTERNAL, "unknown timer %s", timer->kind);
    mcp_arena *arena = mcp_arena_new(FIRE_ARENA);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a timer");
    const portarium_tx as = {
        .arena = arena,
        .workspace = mcp_arena_strndup(arena, timer->ref, (size_t)(end - timer->ref)),
        .actor = &scheduler,
        .correlation_id = "scheduler",
    };
    what.id = end + 1;
    FAULT_POINT("timer-begun");
    mcp_status st = as.workspace ? portarium_commit(self->committer, &as, fire_work, &what, err)
                                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for a timer");
    mcp_arena_free(arena);
    FAULT_POINT("timer-fired");
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

mcp_status portarium_timers_new(portarium_timers **out, db *database,
                                portarium_committer *committer, const portarium_settings *settings,
                                const portarium_timer_kind *kinds, mcp_error *err)
{
    portarium_timers *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the timers");
    *self = (portarium_timers){ .committer = committer, .kinds = kinds };
    const jobs_timers_options options = {
        .fire = fire, .data = self, .owner = settings->instance, .log = settings->log
    };
    mcp_status st = jobs_timers_new(&self->timers, database, &options, err);
    if (st != MCP_OK) {
        free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_timers_free(portarium_timers *self)
{
    if (!self)
        return;
    jobs_timers_free(self->timers);
    free(self);
}
