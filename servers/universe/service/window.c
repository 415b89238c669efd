/*
 * window.c - one commit: changes of many universes, applied, written and published together.
 *
 *     lock the universe's row        what other processes have written is taken in first
 *     apply                          each change to the working state; a rejected one leaves no trace
 *     freeze, write, commit          entries of the log, the universe's row, the notification
 *     publish                        the frozen view becomes what readers see, then streams are told
 *
 * Nothing is published before it is committed. Where the commit fails the working states go back to
 * where they were, and every sender of the window is told. A database that is busy (another process
 * holds a row) is tried again a few times.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "service/entries.h"
#include "service/service_int.h"

enum { TRIES = 5, TRY_MS = 10000, FOREIGN_MAX = 1000, WINDOW_ARENA = 1 << 30 }; /* the arena grows as it is used */

/* A universe within a window. */
struct entered {
    universe_live *live;
    universe_record record;     /* its row; name and version move on with each change */
    universe_view *base;        /* where the working state goes back to */
    int64_t base_version;
    universe_state *old;        /* the working state before it was replaced */
    universe_entry *entries;    /* to be written */
    size_t count, capacity;
    universe_view *fresh;       /* what is published */
};

struct window {
    universe_service *service;
    db_session *session;
    mcp_arena *arena;
    struct entered *lives;
    size_t count;
    int64_t now_ms;
    bool is_reading; /* nothing but CATCH_UP */
};

/* ---- showing a committed state to readers ------------------------------------------------------ */

/* A name that cannot be kept stays the old one until the universe is loaded anew. */
static void show_name(universe_live *live, const char *name)
{
    char *copy = strcmp(live->name, name) == 0 ? NULL : strdup(name);
    if (copy) {
        free(live->name);
        live->name = copy;
    }
}

/* The view, which is taken over, is what readers see from now on. */
static void show(universe_service *service, universe_live *live, const universe_record *record,
                 universe_view *view, int64_t log_bytes)
{
    int64_t versions = record->version - live->version;
    pthread_mutex_lock(&service->lock);
    universe_view *old = live->view;
    show_name(live, record->name);
    if (!live->is_gone)
        service->figures.bodies += record->bodies - live->bodies;
    live->log_entries += versions;
    live->log_bytes += log_bytes;
    live->version = record->version;
    live->time = record->time;
    live->bodies = record->bodies;
    live->updated_ms = record->updated_ms;
    live->view = view;
    pthread_mutex_unlock(&service->lock);
    universe_view_free(old);
}

/* ---- entering --------------------------------------------------------------------------------- */

static mcp_status not_found(const universe_live *live, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", live->id);
}

/* Whoever asks for it next reads the database. */
static void forget(universe_service *service, universe_live *live, bool is_deleted)
{
    pthread_mutex_lock(&service->lock);
    live->is_deleted = live->is_deleted || is_deleted;
    universe_live_forget(service, live);
    pthread_mutex_unlock(&service->lock);
}

/* Others' entries after `after`, for our streams. *jump: there are too many, or one replaced the state:
 * streams fetch anew. */
static mcp_status read_foreign(universe_entry **out, size_t *told, struct window *window,
                               const struct entered *at, int64_t after, bool *jump, mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;
    size_t count = 0;
    universe_entry *foreign = mcp_arena_array(window->arena, FOREIGN_MAX, sizeof *foreign);
    if (!foreign)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for others' changes");
    mcp_status st = universe_log_open(&log, window->session, at->live->id, after,
                                      at->record.version, err);
    while (st == MCP_OK && has && !*jump) {
        universe_entry entry = { 0 };
        st = universe_log_next(&entry, &has, log, window->arena, err);
        if (st != MCP_OK || !has)
            break;
        *jump = count == FOREIGN_MAX || entry.kind == UNIVERSE_ENTRY_REPLACED ||
                entry.first_version <= after;
        if (!*jump)
            foreign[count++] = entry;
    }
    universe_log_close(log);
    *out = foreign;
    *told = count;
    return st;
}

/* What others have committed is shown at once: it stays whatever becomes of this window. */
static mcp_status take_in(struct window *window, struct entered *at, mcp_error *err)
{
    universe_service *service = window->service;
    universe_live *live = at->live;
    int64_t after = live->state_version;
    universe_entry *foreign = NULL;
    size_t count = 0;
    bool jump = false;

    mcp_status st = universe_bring_up(&live->state, after, at->record.version, &jump,
                                      window->session, live->id, &service->options.log, err);
    if (st == MCP_OK)
        st = universe_state_freeze(&at->base, live->state, err);
    if (st == MCP_OK)
        st = read_foreign(&foreign, &count, window, at, after, &jump, err);
    if (st != MCP_OK)
        return st;
    live->state_version = at->record.version;
    show(service, live, &at->record, universe_view_keep(at->base), 0);
    if (jump)
        universe_feed_resync(service, live->id, at->record.version);
    else
        universe_feed_entries(service, live, foreign, count);
    universe_tell_watcher(service, live->id, at->record.version);
    return MCP_OK;
}

static bool is_gone(universe_service *service, const universe_live *live)
{
    pthread_mutex_lock(&service->lock);
    bool gone = live->is_gone;
    pthread_mutex_unlock(&service->lock);
    return gone;
}

/* It was forgotten, by this window or after this change was queued. */
static mcp_status refuse_gone(universe_service *service, const universe_live *live, mcp_error *err)
{
    pthread_mutex_lock(&service->lock);
    bool is_deleted = live->is_deleted;
    pthread_mutex_unlock(&service->lock);
    if (is_deleted)
        return not_found(live, err);
    return mcp_error_set(err, MCP_E_INTERNAL, "universe %.64s must be read anew; try again",
                         live->id);
}

/* It may be half way. Its streams are not told what lies between: they fetch the state, and that reads it anew. */
static void drop(universe_service *service, universe_live *live, int64_t version)
{
    forget(service, live, false);
    universe_feed_behind(service, live->id, version);
}

static mcp_status enter_live(struct window *window, struct entered *at, mcp_error *err)
{
    universe_live *live = at->live;
    bool found = false;
    mcp_status st = universe_store_find(&at->record, &found, window->session, live->id,
                                        !window->is_reading, window->arena, err);
    if (st != MCP_OK)
        return st;
    bool is_same = found && at->record.created_ms == live->created_ms &&
                   at->record.version >= live->state_version;
    if (!is_same) { /* deleted, and perhaps made anew with the same id */
        forget(window->service, live, !found);
        universe_feed_deleted(window->service, live->id);
        universe_tell_watcher(window->service, live->id, found ? at->record.version : -1);
        return refuse_gone(window->service, live, err);
    }
    if (at->record.version == live->state_version)
        st = universe_state_freeze(&at->base, live->state, err);
    else if ((st = take_in(window, at, err)) != MCP_OK)
        drop(window->service, live, at->record.version);
    at->base_version = live->state_version;
    if (st != MCP_OK) {
        universe_view_free(at->base);
        at->base = NULL;
    }
    return st;
}

/* The universe's place in this window, entering it when it is the first change to it. */
static mcp_status enter(struct entered **out, struct window *window, universe_live *live,
                        mcp_error *err)
{
    for (size_t i = 0; i < window->count; i++) {
        if (window->lives[i].live == live) {
            *out = &window->lives[i];
            return MCP_OK;
        }
    }
    if (is_gone(window->service, live))
        return refuse_gone(window->service, live, err);

    struct entered *at = &window->lives[window->count];
    *at = (struct entered){ .live = live };
    mcp_status st = enter_live(window, at, err);
    if (st == MCP_OK) {
        window->count++;
        *out = at;
    }
    return st;
}

/* ---- applying --------------------------------------------------------------------------------- */

static mcp_status push(struct window *window, struct entered *at, const universe_entry *entry,
                       mcp_error *err)
{
    if (at->count == at->capacity) {
        size_t capacity = at->capacity ? at->capacity * 2 : 16;
        universe_entry *entries = mcp_arena_array(window->arena, capacity, sizeof *entries);
        if (!entries)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit's entries");
        if (at->count > 0)
            memcpy(entries, at->entries, at->count * sizeof *entries);
        at->entries = entries;
        at->capacity = capacity;
    }
    at->entries[at->count++] = *entry;
    at->record.version = entry->version;
    at->record.time = entry->time;
    return MCP_OK;
}

static bool is_tick(const mcp_json *command)
{
    const char *type = mcp_json_get_string(command, "type");
    return type && strcmp(type, "tick") == 0;
}

/* One accepted order as an entry of the log. */
static mcp_status record_order(struct window *window, struct entered *at,
                               const universe_change *change, const universe_order *order,
                               const universe_outcome *outcome, double time, mcp_error *err)
{
    universe_changes touched = { .everything = outcome->everything,
                                 .roots = outcome->roots,
                                 .root_groups = outcome->root_groups,
                                 .touches = outcome->touches,
                                 .count = outcome->touch_count };
    universe_entry entry = { .first_version = at->record.version + 1,
                             .version = at->record.version + 1,
                             .kind = is_tick(order->command) ? UNIVERSE_ENTRY_TICKS
                                                             : UNIVERSE_ENTRY_COMMAND,
                             .rules = universe_store_rules(&window->service->options.rules),
                             .command = outcome->command,
                             .command_length = outcome->command_length,
                             .events = outcome->events,
                             .events_length = outcome->events_length,
                             .time = time,
                             .actor = change->actor,
                             .applied_ms = window->now_ms };
    mcp_status st = universe_touched_write(&entry.touched, &entry.touched_length, &touched,
                                           change->arena, err);
    return st == MCP_OK ? push(window, at, &entry, err) : st;
}

/* The sender's events and changes grow with each order. */
struct answer {
    mcp_buf events; /* without brackets */
    universe_gatherer touched;
    bool has_changed;
};

static mcp_status add_to_answer(struct answer *answer, const universe_outcome *outcome,
                                mcp_error *err)
{
    universe_changes touched = { .everything = outcome->everything,
                                 .roots = outcome->roots,
                                 .root_groups = outcome->root_groups,
                                 .touches = outcome->touches,
                                 .count = outcome->touch_count };
    if (outcome->events_length > 2) {
        if (answer->events.length > 0)
            mcp_buf_putc(&answer->events, ',');
        mcp_buf_append(&answer->events, outcome->events + 1, outcome->events_length - 2);
    }
    if (answer->events.status != MCP_OK)
        return mcp_error_set(err, answer->events.status, "the events of %zu changes are too long",
                             answer->touched.count);
    answer->has_changed = answer->has_changed || outcome->verdict == UNIVERSE_APPLIED;
    return universe_gather(&answer->touched, &touched, err);
}

static mcp_status end_answer(universe_change *change, struct answer *answer, mcp_error *err)
{
    universe_sent *out = change->out;
    char *events = mcp_arena_printf(change->arena, "[%s]",
                                    answer->events.data ? answer->events.data : "");
    if (!events)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a change's events");
    out->answer = answer->has_changed ? UNIVERSE_DONE : UNIVERSE_NOTHING;
    out->events = events;
    out->events_length = answer->events.length + 2;
    universe_gathered(&out->changes, &answer->touched);
    return MCP_OK;
}

static void refuse(universe_change *change, size_t at, const universe_outcome *outcome)
{
    change->out->answer = UNIVERSE_REFUSED;
    change->out->at = at;
    change->out->reason = outcome->reason;
    change->out->events = outcome->events;
    change->out->events_length = outcome->events_length;
}

/* Applies the orders until one is refused. */
static mcp_status apply_orders(bool *refused, struct window *window, struct entered *at,
                               universe_change *change, struct answer *answer, mcp_error *err)
{
    const universe_rules *rules = &window->service->options.rules;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < change->count; i++) {
        const universe_order *order = &change->orders[i];
        universe_outcome outcome = { 0 };
        st = universe_apply(&outcome, at->live->state, order->command, order->text, order->length,
                            rules, change->arena, err);
        if (st == MCP_OK && outcome.verdict == UNIVERSE_REJECTED) {
            refuse(change, i, &outcome);
            *refused = true;
            return MCP_OK;
        }
        if (st == MCP_OK && outcome.verdict == UNIVERSE_APPLIED)
            st = record_order(window, at, change, order, &outcome,
                              universe_state_time(at->live->state), err);
        if (st == MCP_OK)
            st = add_to_answer(answer, &outcome, err);
    }
    return st;
}

/* All orders, or where one fails or is refused some: the caller takes them back. */
static mcp_status run_orders(struct window *window, struct entered *at, universe_change *change,
                             mcp_error *err)
{
    struct answer answer = { .touched.arena = change->arena };
    bool refused = false;

    mcp_buf_init(&answer.events, (size_t)256 << 20);
    mcp_status st = apply_orders(&refused, window, at, change, &answer, err);
    if (st == MCP_OK && !refused)
        st = end_answer(change, &answer, err);
    mcp_buf_clear(&answer.events);
    return st;
}

/* The state becomes another one. The old one is kept until the commit. */
static mcp_status replace_state(struct entered *at, const universe_replacement *by, mcp_error *err)
{
    universe_state *fresh = NULL;
    mcp_status st = universe_state_new(&fresh, err);
    if (st != MCP_OK)
        return st;
    universe_state_restore(fresh, by->view);
    if (by->keeps_time)
        universe_state_set_time(fresh, at->record.time);
    if (!at->old)
        at->old = at->live->state;
    else
        universe_state_free(at->live->state);
    at->live->state = fresh;
    return MCP_OK;
}

static mcp_status run_replace(struct window *window, struct entered *at, universe_change *change,
                              mcp_error *err)
{
    const universe_replacement *by = change->by;
    const char *label = by->label ? by->label : "{\"type\":\"replaceSnapshot\"}";
    const char *name = by->name ? mcp_arena_strdup(window->arena, by->name) : at->record.name;
    universe_changes touched = { .everything = true };
    universe_entry entry = { .first_version = at->record.version + 1,
                             .version = at->record.version + 1,
                             .kind = by->view ? UNIVERSE_ENTRY_REPLACED : UNIVERSE_ENTRY_RENAMED,
                             .command = by->view ? label : "{}",
                             .events = by->view ? "[{\"type\":\"snapshotReplaced\"}]" : "[]",
                             .actor = change->actor,
                             .applied_ms = window->now_ms };
    mcp_status st = name ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");

    entry.command_length = strlen(entry.command);
    entry.events_length = strlen(entry.events);
    if (st == MCP_OK && by->view)
        st = universe_touched_write(&entry.touched, &entry.touched_length, &touched, change->arena,
                                    err);
    if (st == MCP_OK && by->view)
        st = replace_state(at, by, err);
    if (st != MCP_OK)
        return st;
    at->record.name = name;
    entry.time = universe_state_time(at->live->state);
    st = push(window, at, &entry, err);
    if (st == MCP_OK && change->snapshot) { /* last: no row may be left without its entry */
        change->snapshot->version = entry.version;
        change->snapshot->pinned = true;
        change->snapshot->created_ms = window->now_ms;
        st = universe_store_add_snapshot(window->session, at->live->id, change->snapshot, err);
    }
    change->out->answer = UNIVERSE_DONE;
    change->out->events = entry.events;
    change->out->events_length = entry.events_length;
    change->out->changes = (universe_changes){ .everything = by->view != NULL };
    return st;
}

/* What the sender is shown: the universe right after its own change, not after those that were committed with it. It
 * may go on from that version only if it has seen all that led there. */
static mcp_status show_sender(const struct window *window, const struct entered *at,
                              universe_change *change, universe_view *kept, mcp_error *err)
{
    universe_moment *moment = &change->out->moment;
    universe_record record = at->record;
    mcp_status st = MCP_OK;

    record.id = mcp_arena_strdup(change->arena, at->live->id);
    record.name = mcp_arena_strdup(change->arena, at->record.name);
    if (!record.id || !record.name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe's record");
    if (at->count > 0)
        record.updated_ms = window->now_ms;
    if (kept)
        moment->view = universe_view_keep(kept);
    else
        st = universe_state_freeze(&moment->view, at->live->state, err);
    if (st != MCP_OK)
        return st;
    record.time = universe_view_time(moment->view);
    record.bodies = (int64_t)universe_view_count(moment->view, UNIVERSE_STARS);
    moment->record = record;
    return MCP_OK;
}

/* One change, wholly or not at all. */
static mcp_status run_change(struct window *window, struct entered *at, universe_change *change,
                             mcp_error *err)
{
    universe_record before = at->record;
    size_t entries = at->count;
    universe_view *mark = NULL;

    mcp_status st = universe_state_freeze(&mark, at->live->state, err);
    if (st != MCP_OK)
        return st;
    st = change->kind == UNIVERSE_CHANGE_ORDERS ? run_orders(window, at, change, err)
                                                : run_replace(window, at, change, err);
    bool refused = st == MCP_OK && change->out->answer == UNIVERSE_REFUSED;
    if (st == MCP_OK && !refused)
        st = show_sender(window, at, change, NULL, err);
    if (st != MCP_OK || refused) {
        universe_state_restore(at->live->state, mark);
        at->record = before;
        at->count = entries;
    }
    if (refused)
        st = show_sender(window, at, change, mark, err);
    universe_view_free(mark);
    return st;
}

static mcp_status run_one(struct window *window, universe_change *change, mcp_error *err)
{
    struct entered *at = NULL;
    mcp_status st = enter(&at, window, change->live, err);
    if (st != MCP_OK || change->kind == UNIVERSE_CHANGE_CATCH_UP)
        return st;
    if (change->expected == UNIVERSE_ANY_VERSION || change->expected == at->record.version)
        return run_change(window, at, change, err);
    assert(change->out); /* who expects a version waits for an answer */
    change->out->answer = UNIVERSE_CONFLICT;
    return show_sender(window, at, change, NULL, err);
}

/* An error of the window as a whole comes back; one of the change alone stays with the change. */
static mcp_status run(struct window *window, universe_change *change, mcp_error *err)
{
    mcp_error own = MCP_ERROR_INIT;

    if (change->out) /* the try before this one may have left something */
        *change->out = (universe_sent){ .events = "[]", .events_length = 2 };
    change->status = run_one(window, change, &own);
    change->is_stale = change->status == MCP_E_INTERNAL && is_gone(window->service, change->live);
    if (change->status != MCP_OK && change->err)
        *change->err = own;
    if (!universe_spoils_window(change->status))
        return MCP_OK;
    if (err)
        *err = own;
    return change->status;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static mcp_status write_live(struct window *window, struct entered *at, mcp_error *err)
{
    char payload[UNIVERSE_KEY_MAX + 32];
    universe_summary summary;
    if (at->count == 0)
        return MCP_OK;
    mcp_status st = universe_state_freeze(&at->fresh, at->live->state, err);
    if (st != MCP_OK)
        return st;
    st = universe_entries_write(at->entries, &at->count, window->session, at->live->id, window->arena,
                                err);
    universe_view_summary(&summary, at->fresh);
    at->record.bodies = (int64_t)summary.counts[UNIVERSE_STARS];
    at->record.bytes = (int64_t)summary.bytes;
    at->record.updated_ms = window->now_ms;
    if (st == MCP_OK)
        st = universe_store_update(window->session, &at->record, err);
    if (st == MCP_OK) {
        snprintf(payload, sizeof payload, "%lld %s", (long long)at->record.version, at->live->id);
        st = db_notify(window->session, UNIVERSE_CHANNEL, payload, err);
    }
    return st;
}

/* ---- publishing ------------------------------------------------------------------------------- */

static void publish_live(universe_service *service, struct entered *at)
{
    universe_live *live = at->live;
    if (at->count == 0)
        return;
    live->state_version = at->record.version;
    show(service, live, &at->record, at->fresh, universe_entries_bytes(at->entries, at->count));
    at->fresh = NULL;
    universe_feed_entries(service, live, at->entries, at->count);
    universe_tell_watcher(service, live->id, at->record.version);
}

static void publish(struct window *window)
{
    universe_service *service = window->service;
    int64_t commands = 0;
    for (size_t i = 0; i < window->count; i++) {
        commands += window->lives[i].record.version - window->lives[i].base_version;
        publish_live(service, &window->lives[i]);
    }
    pthread_mutex_lock(&service->lock);
    service->figures.database_ok = true;
    service->figures.commits++;
    service->figures.commands += commands;
    pthread_mutex_unlock(&service->lock);
}

/* ---- the whole -------------------------------------------------------------------------------- */

/* Lets go of what the window held; the working states go back where it was not committed. */
static void leave(struct window *window, bool committed)
{
    for (size_t i = 0; i < window->count; i++) {
        struct entered *at = &window->lives[i];
        if (committed) {
            universe_state_free(at->old);
        } else {
            if (at->old) {
                universe_state_free(at->live->state);
                at->live->state = at->old;
            }
            universe_state_restore(at->live->state, at->base);
            at->live->state_version = at->base_version;
        }
        universe_view_free(at->base);
        universe_view_free(at->fresh);
        at->base = at->fresh = NULL;
    }
    mcp_arena_free(window->arena);
}

static mcp_status write_all(struct window *window, universe_change *const *changes, size_t count,
                            mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = run(window, changes[i], err);
    for (size_t i = 0; st == MCP_OK && i < window->count; i++)
        st = write_live(window, &window->lives[i], err);
    return st;
}

/* What senders would have been shown. */
static void take_back(universe_change *const *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i]->kind == UNIVERSE_CHANGE_CATCH_UP)
            continue;
        universe_view_free(changes[i]->out->moment.view);
        changes[i]->out->moment = (universe_moment){ 0 };
    }
}

/* @param was_sent whether it came to the commit */
static mcp_status attempt(bool *was_sent, universe_service *service,
                          universe_change *const *changes, size_t count, bool is_reading,
                          mcp_error *err)
{
    struct window window = { .service = service, .now_ms = mcp_clock_wall_ms(),
                             .is_reading = is_reading };
    window.arena = mcp_arena_new(WINDOW_ARENA);
    window.lives = window.arena
                       ? mcp_arena_array(window.arena, count, sizeof *window.lives)
                       : NULL;
    if (!window.lives) {
        mcp_arena_free(window.arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
    }
    mcp_status st = db_begin(&window.session, service->options.db,
                             is_reading ? DB_READ : DB_WRITE, err);
    if (st == MCP_OK) {
        st = write_all(&window, changes, count, err);
        *was_sent = st == MCP_OK;
        if (st != MCP_OK)
            db_rollback(window.session);
        else
            st = db_commit(window.session, err);
    }
    if (st == MCP_OK)
        publish(&window);
    else
        take_back(changes, count);
    leave(&window, st == MCP_OK);
    return st;
}

/* By universe, so that two processes lock rows in one order; the order of coming within each. */
static void sort_by_live(universe_change **sorted, universe_change *const *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        while (at > 0 && strcmp(sorted[at - 1]->live->id, changes[i]->live->id) > 0) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = changes[i];
    }
}

void universe_window(universe_service *service, universe_change *const *changes, size_t count)
{
    universe_change *sorted[WINDOW_MAX];
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = MCP_E_BUSY;
    int64_t until_ms = mcp_clock_mono_ms() + TRY_MS;
    bool is_reading = true, was_sent = false;

    sort_by_live(sorted, changes, count);
    for (size_t i = 0; i < count; i++)
        is_reading = is_reading && changes[i]->kind == UNIVERSE_CHANGE_CATCH_UP;
    for (int i = 0; i < TRIES && universe_may_try_again(service, st, was_sent); i++) {
        if (i > 0 && mcp_clock_mono_ms() >= until_ms)
            break;
        was_sent = false;
        st = attempt(&was_sent, service, sorted, count, is_reading, &cause);
    }
    if (st != MCP_OK) {
        mcp_log_write(&service->options.log, MCP_LOG_ERROR, "%zu changes were not committed: %s",
                      count, cause.message);
        pthread_mutex_lock(&service->lock);
        service->figures.database_ok = false;
        pthread_mutex_unlock(&service->lock);
    }
    universe_answer_window(service, changes, count, st, was_sent, &cause);
}
