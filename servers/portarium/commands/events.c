/*
 * events.c - portarium events tail: the events of a workspace as they come.
 *
 * Of a plane elsewhere they are read from its stream, which is opened again behind the last event
 * when it breaks; of a database, from its outbox several times a second.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/plane_commands.h"
#include "commands/show/text.h"
#include "commands/show/view.h"
#include "commands/stream.h"
#include "mcp/clock.h"
#include "serve/serve.h"

enum {
    BATCH = 200,
    LOOK_MS = 200,
    SILENCE_MS = 100 * 1000, /* three keepalives of the plane */
    FIRST_PAUSE_MS = 500,
    PAUSE_MAX_MS = 10 * 1000,
    GIVE_UP_MS = 300 * 1000,
    ARENA_MAX = 64 << 20
};

typedef struct tailing {
    portarium_link *link;
    portarium_stream stream;
    int64_t seen, limit; /* events; limit 0: none */
    int64_t after;       /* sequence number of the last event of a database */
    int64_t heard_ms;    /* monotonic */
    bool is_connected;
    bool is_unread; /* nobody reads standard output any more */
} tailing;

static bool is_over(const tailing *self)
{
    return self->limit > 0 && self->seen >= self->limit;
}

/* Whether who reads has gone, as `| head` does. A write would tell, but the next event may be long
 * in coming. What the write would do is done: the signal ends the command, unless it is ignored. */
static bool is_unread(tailing *self)
{
    struct pollfd out = { .fd = fileno(cli_out(self->link->line)) };
    if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0) {
        raise(SIGPIPE);
        self->is_unread = true;
    }
    return self->is_unread;
}

static mcp_status refuse_unread(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_IO, "standard output cannot be written");
}

/* ---- one event ------------------------------------------------------------------------------- */

static mcp_status print_event(portarium_link *link, const char *id, const mcp_json *event,
                              mcp_error *err)
{
    const mcp_json *data = mcp_json_get(event, "data");
    const char *time = portarium_view_text(link, mcp_json_get(event, "time"));
    const char *type = portarium_view_text(link, mcp_json_get(data, "eventType"));
    const char *subject = portarium_view_text(link, mcp_json_get(event, "subject"));
    const char *actor = portarium_view_text(link, mcp_json_get(data, "actorUserId"));
    if (cli_flag(link->line, "json"))
        return portarium_view_json(link, event, err);
    if (link->is_terminal)
        time = portarium_local_time(link->arena, time);
    fprintf(cli_out(link->line), "%s  %s  %s  %s  %s\n", portarium_visible_text(link->arena, id),
            time ? time : "-", type ? type : "-", subject ? subject : "-", actor ? actor : "-");
    return MCP_OK;
}

static mcp_status show(tailing *self, const char *id, const char *text, mcp_error *err)
{
    portarium_link *link = self->link;
    mcp_arena *kept = link->arena;
    const mcp_json *event = NULL;
    link->arena = mcp_arena_new(ARENA_MAX);
    mcp_status st = link->arena ? mcp_json_read(&event, link->arena, text, strlen(text), err)
                                : mcp_error_set(err, MCP_E_NOMEM, "no memory for an event");
    if (st == MCP_OK)
        st = print_event(link, id, event, err);
    fflush(cli_out(link->line));
    if (st == MCP_OK && ferror(cli_out(link->line)))
        st = refuse_unread(err);
    mcp_arena_free(link->arena);
    link->arena = kept;
    self->seen++;
    return st;
}

static void tell_gap(const tailing *self)
{
    fprintf(cli_err(self->link->line), "note: older events are deleted, or were too many to send; "
                                       "some are missing here\n");
}

/* ---- a database ------------------------------------------------------------------------------ */

typedef struct batch {
    int64_t seq[BATCH];
    const char *text[BATCH];
    int count;
    int64_t after;
} batch;

static mcp_status read_batch(portarium_tx *tx, void *data, mcp_error *err)
{
    batch *self = data;
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_int(self->after), db_int(BATCH) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT seq, json FROM outbox WHERE workspace = $1 AND seq > $2 "
                             "ORDER BY seq LIMIT $3",
                             values, 3, err);
    while (portarium_next(rows, &st, err)) {
        self->seq[self->count] = db_int_at(rows, 0);
        self->text[self->count] = mcp_arena_strdup(tx->arena, db_text_at(rows, 1, NULL));
        if (!self->text[self->count++])
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for events");
    }
    db_rows_free(rows);
    return st;
}

static mcp_status read_last(portarium_tx *tx, void *data, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    mcp_status st = db_query(&rows, tx->session, "SELECT event_seq FROM heads WHERE workspace = $1",
                             values, 1, err);
    if (portarium_next(rows, &st, err))
        *(int64_t *)data = db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

static mcp_status look(tailing *self, mcp_error *err)
{
    batch found = { .count = 0, .after = self->after };
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    char id[32];
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for events");
    mcp_status st = portarium_plane_read(self->link->plane, self->link->workspace, arena,
                                         read_batch, &found, err);
    if (st == MCP_OK && found.count > 0 && found.seq[0] != self->after + 1)
        tell_gap(self);
    for (int i = 0; st == MCP_OK && i < found.count && !is_over(self); i++) {
        snprintf(id, sizeof id, "%lld", (long long)found.seq[i]);
        self->after = found.seq[i];
        st = show(self, id, found.text[i], err);
    }
    mcp_arena_free(arena);
    return st;
}

static mcp_status tail_here(tailing *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (!cli_given(self->link->line, "after"))
        st = portarium_plane_read(self->link->plane, self->link->workspace, self->link->arena,
                                  read_last, &self->after, err);
    else
        self->after = cli_int(self->link->line, "after", 0);
    while (st == MCP_OK && !is_over(self)) {
        st = look(self, err);
        if (st == MCP_OK && is_unread(self))
            st = refuse_unread(err);
        if (st == MCP_OK && !is_over(self) && !portarium_pause(LOOK_MS))
            st = mcp_error_set(err, MCP_E_STOPPED, "stopped");
    }
    return st;
}

/* ---- a plane elsewhere ----------------------------------------------------------------------- */

static mcp_status on_event(void *context, const char *id, const char *name, const char *data,
                           mcp_error *err)
{
    tailing *self = context;
    if (strcmp(name, "resync") == 0) {
        tell_gap(self);
        return MCP_OK;
    }
    mcp_status st = show(self, id, data, err);
    return st == MCP_OK && is_over(self) ? mcp_error_set(err, MCP_E_STOPPED, "stopped") : st;
}

static mcp_status on_bytes(void *data, const fetch_result *so_far, const char *bytes, size_t length,
                           mcp_error *err)
{
    tailing *self = data;
    self->heard_ms = mcp_clock_mono_ms();
    if (so_far->status != 200)
        return MCP_OK;
    self->is_connected = true;
    return portarium_stream_feed(&self->stream, bytes, length, err);
}

static bool should_stop(void *data)
{
    tailing *self = data;
    return serve_signals() > 0 || is_unread(self) ||
           mcp_clock_mono_ms() - self->heard_ms > SILENCE_MS;
}

static mcp_status connect_once(tailing *self, int *http, mcp_error *err)
{
    const portarium_remote_stream how = { .workspace = self->link->workspace,
                                          .last_event_id = self->stream.id[0] ? self->stream.id
                                                                              : NULL,
                                          .on_body = on_bytes,
                                          .should_stop = should_stop,
                                          .data = self };
    self->heard_ms = mcp_clock_mono_ms();
    self->is_connected = false;
    portarium_stream_restart(&self->stream);
    return portarium_remote_follow(http, self->link->remote, &how, err);
}

/* Whether another try makes sense. A plane that was never reached is a mistake of the line. */
static bool is_lost(const tailing *self, mcp_status st, int http, bool was_connected)
{
    if (serve_signals() > 0 || is_over(self) || self->is_unread ||
        ferror(cli_out(self->link->line)))
        return false;
    if (!was_connected)
        return false;
    return st != MCP_OK || http == 200 || http == 429 || http >= 500;
}

static mcp_status refuse(const tailing *self, mcp_status st, int http, mcp_error *err)
{
    if (serve_signals() > 0)
        return mcp_error_set(err, MCP_E_STOPPED, "stopped");
    if (is_over(self))
        return MCP_OK;
    if (self->is_unread)
        return refuse_unread(err);
    if (st != MCP_OK)
        return st;
    return mcp_error_set(err, MCP_E_IO, "%s answers with %d for its events", self->link->place,
                         http);
}

static mcp_status tail_there(tailing *self, mcp_error *err)
{
    bool was_connected = false;
    int64_t pause_ms = FIRST_PAUSE_MS, lost_ms = mcp_clock_mono_ms();
    for (;;) {
        int http = 0;
        mcp_status st = connect_once(self, &http, err);
        if (self->is_connected) {
            was_connected = true;
            pause_ms = FIRST_PAUSE_MS;
            lost_ms = mcp_clock_mono_ms();
        }
        if (!is_lost(self, st, http, was_connected))
            return refuse(self, st, http, err);
        if (mcp_clock_mono_ms() - lost_ms > GIVE_UP_MS)
            return mcp_error_set(err, MCP_E_IO, "%s was lost, and cannot be reached any more",
                                 self->link->place);
        if (st != MCP_OK || http != 200) /* else the plane has ended an old stream */
            fprintf(cli_err(self->link->line), "note: the connection was lost; trying again\n");
        if (!portarium_pause(pause_ms))
            return refuse(self, st, http, err);
        pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static mcp_status tail(tailing *self, mcp_error *err)
{
    const mcp_json *workspace = NULL;
    portarium_link *link = self->link;
    mcp_status st = portarium_ask(&workspace, link, "getWorkspace", NULL, NULL, err);
    if (st != MCP_OK || link->plane)
        return st == MCP_OK ? tail_here(self, err) : st;
    portarium_stream_init(&self->stream, on_event, self);
    if (cli_given(link->line, "after"))
        snprintf(self->stream.id, sizeof self->stream.id, "%lld",
                 (long long)cli_int(link->line, "after", 0)); /* as if it had been read */
    st = tail_there(self, err);
    portarium_stream_clear(&self->stream);
    return st;
}

int portarium_command_tail(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    tailing self = { .link = &link, .limit = cli_int(line, "limit", 0) };
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = tail(&self, &err);
    if (st == MCP_E_STOPPED && serve_signals() > 0) { /* the usual end: no error to tell */
        portarium_link_end(&link, MCP_OK, &err);
        return serve_signal_status();
    }
    return portarium_link_end(&link, st, &err);
}
