/*
 * watch.c - asking for a run again and again, and telling what has changed.
 *
 * A plane elsewhere answers a request that waits as soon as the run changes, a database is read
 * several times a second.
 */
#include "commands/watch.h"

#include <string.h>

#include "cli/progress.h"
#include "commands/plane_commands.h"
#include "commands/show/text.h"
#include "mcp/clock.h"
#include "model/identity.h"
#include "model/states.h"
#include "serve/serve.h"

enum {
    PAUSE_MS = 200,
    LOST_PAUSE_MS = 1000,
    GIVE_UP_MS = 300 * 1000,
    ARENA_MAX = 64 << 20,
    LINE_MAX_BYTES = 8192
};

/* A remote plane answers after a second at the latest, so that a change between two requests is
 * soon told. */
static const char wait_s[] = "1";

/* ---- words ----------------------------------------------------------------------------------- */

static void count_actions(portarium_progress *out, const mcp_json *actions)
{
    out->total = mcp_json_count(actions);
    for (size_t i = 0; i < out->total; i++) {
        portarium_action_state state;
        const char *text = mcp_json_get_string(mcp_json_item(actions, i), "state");
        if (text && portarium_action_state_read(&state, text))
            out->done += portarium_action_is_final(state);
    }
}

/* What the run waits for, or what failed. */
static void put_details(mcp_buf *out, const mcp_json *run)
{
    const mcp_json *approvals = mcp_json_get(run, "pendingApprovals");
    const mcp_json *actions = mcp_json_get(run, "actions");
    const char *control = mcp_json_get_string(run, "controlState");
    if (control)
        mcp_buf_printf(out, " (%s)", control);
    for (size_t i = 0; i < mcp_json_count(approvals); i++) {
        const mcp_json *approval = mcp_json_item(approvals, i);
        const char *action = mcp_json_get_string(approval, "actionId");
        const char *id = mcp_json_get_string(approval, "approvalId");
        mcp_buf_printf(out, "%s %s needs approval %s", i > 0 ? "," : ":", action ? action : "run",
                       id ? id : "?");
    }
    for (size_t i = 0; i < mcp_json_count(actions); i++) {
        const mcp_json *action = mcp_json_item(actions, i);
        const char *state = mcp_json_get_string(action, "state");
        bool is_shown = state && (strcmp(state, "Failed") == 0 || strcmp(state, "Running") == 0);
        if (is_shown)
            mcp_buf_printf(out, "; %s %s", mcp_json_get_string(action, "actionId"), state);
    }
}

bool portarium_progress_read(portarium_progress *out, mcp_arena *arena, const mcp_json *run)
{
    mcp_buf words;
    portarium_run_status status;
    const char *text = mcp_json_get_string(run, "status");
    *out = (portarium_progress){ .words = NULL };
    if (!text)
        return false;
    mcp_buf_init(&words, LINE_MAX_BYTES);
    mcp_buf_puts(&words, text);
    if (portarium_run_status_read(&status, text)) {
        out->is_over = portarium_run_is_final(status);
        out->has_succeeded = status == PORTARIUM_RUN_SUCCEEDED;
    }
    count_actions(out, mcp_json_get(run, "actions"));
    put_details(&words, run);
    mcp_buf_putc(&words, '\0');
    out->words = portarium_visible_text(arena, words.status == MCP_OK ? words.data : text);
    mcp_buf_clear(&words);
    return out->words != NULL;
}

/* ---- telling --------------------------------------------------------------------------------- */

typedef struct watching {
    portarium_link *link;
    const char *run;
    mcp_arena *kept; /* the link's own */
    char *known;     /* the words told last, of `kept` */
    cli_progress progress;
    bool has_bar;
    int64_t until_ms; /* monotonic; INT64_MAX: none */
} watching;

static void print_change(watching *self, const portarium_progress *now)
{
    char time[MCP_CLOCK_UTC_SIZE];
    FILE *out = cli_out(self->link->line);
    portarium_time_write(time, mcp_clock_wall_ms());
    fprintf(out, "%s  %s  %zu/%zu  %s\n", time, self->run, now->done, now->total, now->words);
    fflush(out);
}

static mcp_status tell(watching *self, const mcp_json *run, const portarium_progress *now,
                       mcp_error *err)
{
    mcp_status st = MCP_OK;
    const char *words = mcp_arena_printf(self->kept, "%zu/%zu %s", now->done, now->total,
                                         now->words);
    if (self->has_bar)
        cli_progress_step(&self->progress, now->done, now->words);
    if (!words || (self->known && strcmp(words, self->known) == 0))
        return words ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory to follow the run");
    self->known = mcp_arena_strdup(self->kept, words);
    if (self->has_bar)
        return MCP_OK;
    if (!cli_flag(self->link->line, "json"))
        print_change(self, now);
    else
        st = portarium_view_json(self->link, run, err);
    fflush(cli_out(self->link->line));
    return ferror(cli_out(self->link->line))
               ? mcp_error_set(err, MCP_E_IO, "standard output cannot be written")
               : st;
}

/* ---- following ------------------------------------------------------------------------------- */

/* One look at the run, in an arena of its own. */
static mcp_status look(portarium_progress *now, watching *self, bool may_wait, mcp_error *err)
{
    const mcp_json *arguments = NULL, *run = NULL;
    portarium_link *link = self->link;
    bool waits = may_wait && link->remote;
    mcp_status st = PORTARIUM_OBJECT(link, &arguments, err, "runId", self->run, "view", "full",
                                     "wait", waits ? wait_s : NULL);
    if (st == MCP_OK)
        st = portarium_ask(&run, link, "getRun", arguments, NULL, err);
    if (st == MCP_OK && !portarium_progress_read(now, link->arena, run))
        st = mcp_error_set(err, MCP_E_IO, "%s answers with no run", link->place);
    return st == MCP_OK ? tell(self, run, now, err) : st;
}

static mcp_status look_apart(portarium_progress *now, watching *self, bool may_wait, mcp_error *err)
{
    portarium_link *link = self->link;
    link->arena = mcp_arena_new(ARENA_MAX);
    mcp_status st = link->arena ? look(now, self, may_wait, err)
                                : mcp_error_set(err, MCP_E_NOMEM, "no memory to follow the run");
    mcp_arena_free(link->arena);
    link->arena = self->kept;
    return st;
}

static mcp_status pause_for(const watching *self, int64_t ms, mcp_error *err)
{
    if (!portarium_pause(ms))
        return mcp_error_set(err, MCP_E_STOPPED,
                             "stopped; the run continues: portarium runs watch %.80s", self->run);
    if (mcp_clock_mono_ms() >= self->until_ms)
        return mcp_error_set(err, MCP_E_TIMEOUT,
                             "run %.80s has not ended within --timeout; it continues", self->run);
    return MCP_OK;
}

/* Whether a plane elsewhere may soon be reached again, as after a restart. */
static bool may_pass(const watching *self, mcp_status st)
{
    return self->link->remote && serve_signals() == 0 &&
           (st == MCP_E_IO || st == MCP_E_BUSY || st == MCP_E_TIMEOUT);
}

/* A look at a run that was seen before: the plane may be away for a time, and the run continues. */
static mcp_status look_patiently(portarium_progress *now, watching *self, mcp_error *err)
{
    int64_t until_ms = mcp_clock_mono_ms() + GIVE_UP_MS;
    mcp_status st = look_apart(now, self, true, err);
    if (may_pass(self, st) && !ferror(cli_out(self->link->line)))
        fprintf(cli_err(self->link->line), "note: the connection was lost; trying again\n");
    while (may_pass(self, st) && !ferror(cli_out(self->link->line)) &&
           mcp_clock_mono_ms() < until_ms) {
        mcp_status paused = pause_for(self, LOST_PAUSE_MS, err);
        if (paused != MCP_OK)
            return paused;
        st = look_apart(now, self, true, err);
    }
    return st;
}

static mcp_status follow(portarium_progress *now, watching *self, mcp_error *err)
{
    mcp_status st = look_apart(now, self, false, err);
    while (st == MCP_OK && !now->is_over) {
        st = pause_for(self, PAUSE_MS, err);
        if (st == MCP_OK)
            st = look_patiently(now, self, err);
    }
    return st;
}

mcp_status portarium_watch(int *exit_status, portarium_link *self, const char *run, mcp_error *err)
{
    portarium_progress now = { .words = NULL };
    int64_t timeout_s = cli_int(self->line, "timeout", 0);
    watching watch = {
        .link = self,
        .run = portarium_visible_text(self->arena, run),
        .kept = self->arena,
        .has_bar = self->is_terminal && !cli_flag(self->line, "json"),
        .until_ms = timeout_s > 0 ? mcp_clock_mono_ms() + timeout_s * 1000 : INT64_MAX,
    };
    if (!self->workspace) { /* found once, in memory that stays */
        const mcp_json *workspace = NULL;
        mcp_status st = portarium_ask(&workspace, self, "getWorkspace", NULL, NULL, err);
        if (st != MCP_OK)
            return st;
    }
    if (watch.has_bar)
        cli_progress_begin(&watch.progress, cli_out(self->line), watch.run, "actions", 0,
                           CLI_PROGRESS_BAR);
    mcp_status st = follow(&now, &watch, err);
    if (watch.has_bar)
        cli_progress_end(&watch.progress);
    if (st != MCP_OK)
        return st;
    if (watch.has_bar && watch.known)
        fprintf(cli_out(self->line), "%s  %s\n", watch.run, watch.known);
    *exit_status = now.has_succeeded ? SERVE_EXIT_DONE : PORTARIUM_EXIT_RUN;
    return MCP_OK;
}

int portarium_command_watch(const cli_line *line, void *data)
{
    portarium_link link;
    int exit_status = SERVE_EXIT_DONE;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = portarium_watch(&exit_status, &link, cli_argument(line, 0), &err);
    int ended = portarium_link_end(&link, st, &err);
    return ended == SERVE_EXIT_DONE ? exit_status : ended;
}
