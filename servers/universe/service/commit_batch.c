/*
 * commit_batch.c - one commit: changes of many universes, applied, written and shown together.
 *
 *     lock the universe's row    changes that other processes have written are taken in first
 *     apply                      each change to the working state; a rejected one leaves no trace
 *     freeze, write, commit      entries of the log, the universe's row, the notification
 *     show                       the frozen view becomes what readers get
 *     answer                     each sender's result, or the failure (outcome.c)
 *     publish                    the entries to streams, after the senders were notified (commit.c)
 *
 * Nothing is shown before it is committed. Where the commit fails the working states go back to
 * where they were, and every sender of the batch gets the error. A database that is busy (another
 * process holds a row) is tried again a few times.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "service/entries.h"
#include "service/service_int.h"

enum {
    TRIES = 5,
    TRY_MS = 10000,
    FOREIGN_MAX = 1000,
    BATCH_ARENA = 1 << 30
}; /* the arena grows as it is used */

/* A universe within a batch. */
struct entered {
    universe_live *live;
    universe_record record; /* its row; name and version move on with each change */
    universe_view *base;    /* where the working state goes back to */
    int64_t base_version;
    universe_state *old;     /* the working state before it was replaced */
    universe_entry *entries; /* to be written, one for each version */
    size_t count, capacity;
    int64_t log_bytes;    /* that the entries take */
    universe_view *fresh; /* to be shown */
};

struct batch {
    universe_service *service;
    db_session *session;
    mcp_arena *arena;
    struct entered *lives;
    size_t count;
    int64_t now_ms;
    bool is_reading; /* nothing but CATCH_UP */
};

/* ---- showing a committed state to readers ---------------------------------------------------- */

/* A name that cannot be kept stays the old one until the universe is loaded again. */
static void show_name(universe_live *live, const char *name)
{
    char *copy = strcmp(live->name, name) == 0 ? NULL : mcp_alloc_strdup(name);
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

/* ---- entering -------------------------------------------------------------------------------- */

static mcp_status not_found(const universe_live *live, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", live->id);
}

/* The next request for it reads the database. */
static void forget(universe_service *service, universe_live *live, bool is_deleted)
{
    pthread_mutex_lock(&service->lock);
    live->is_deleted = live->is_deleted || is_deleted;
    universe_live_forget(service, live);
    pthread_mutex_unlock(&service->lock);
}

/* Entries of other processes after `after`, for our streams. *jump: there are too many, or one
 * replaced the state: viewers fetch it. */
static mcp_status read_foreign(universe_entry **out, size_t *count, struct batch *batch,
                               const struct entered *at, int64_t after, bool *jump, mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;
    universe_entry *foreign = mcp_arena_array(batch->arena, FOREIGN_MAX, sizeof *foreign);
    if (!foreign)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for changes of other processes");
    mcp_status st = universe_log_open(&log, batch->session, at->live->id, after, at->record.version,
                                      err);
    while (st == MCP_OK && has && !*jump) {
        universe_entry stored = { 0 }, *entries = NULL;
        size_t more = 0;
        st = universe_log_next(&stored, &has, log, batch->arena, err);
        if (st == MCP_OK && has)
            st = universe_entries_split(&entries, &more, &stored, batch->arena, err);
        *jump = *count + more > FOREIGN_MAX || stored.kind == UNIVERSE_ENTRY_REPLACED ||
                (has && stored.first_version <= after);
        for (size_t i = 0; st == MCP_OK && !*jump && i < more; i++)
            foreign[(*count)++] = entries[i];
    }
    universe_log_close(log);
    *out = foreign;
    return st;
}

/* What others have committed is shown at once: it stays whatever becomes of this batch. */
static mcp_status take_in(struct batch *batch, struct entered *at, mcp_error *err)
{
    universe_service *service = batch->service;
    universe_live *live = at->live;
    int64_t after = live->state_version;
    universe_entry *foreign = NULL;
    size_t count = 0;
    bool jump = false;

    mcp_status st = universe_bring_up(&live->state, after, at->record.version, &jump,
                                      batch->session, live->id, &service->options.log, err);
    if (st == MCP_OK)
        st = universe_state_freeze(&at->base, live->state, err);
    if (st == MCP_OK)
        st = read_foreign(&foreign, &count, batch, at, after, &jump, err);
    if (st != MCP_OK)
        return st;
    live->state_version = at->record.version;
    show(service, live, &at->record, universe_view_keep(at->base), 0);
    if (jump)
        universe_feed_resync(service, live->id, at->record.version);
    else
        universe_feed_entries(service, live, foreign, count);
    universe_notify_watcher(service, live->id, at->record.version);
    return MCP_OK;
}

static bool is_gone(universe_service *service, const universe_live *live)
{
    pthread_mutex_lock(&service->lock);
    bool gone = live->is_gone;
    pthread_mutex_unlock(&service->lock);
    return gone;
}

/* It was forgotten, by this batch or after this change was queued. */
static mcp_status refuse_gone(universe_service *service, const universe_live *live, mcp_error *err)
{
    pthread_mutex_lock(&service->lock);
    bool is_deleted = live->is_deleted;
    pthread_mutex_unlock(&service->lock);
    if (is_deleted)
        return not_found(live, err);
    return mcp_error_set(err, MCP_E_INTERNAL, "universe %.64s must be loaded again; try again",
                         live->id);
}

/* It may be half way. Viewers do not get the versions between: they fetch the state, and that loads
 * it. */
static void drop(universe_service *service, universe_live *live, int64_t version)
{
    forget(service, live, false);
    universe_feed_behind(service, live->id, version);
}

static mcp_status enter_live(struct batch *batch, struct entered *at, mcp_error *err)
{
    universe_live *live = at->live;
    bool found = false;
    mcp_status st = universe_store_find(&at->record, &found, batch->session, live->id,
                                        !batch->is_reading, batch->arena, err);
    if (st != MCP_OK)
        return st;
    bool is_same = found && at->record.created_ms == live->created_ms &&
                   at->record.version >= live->state_version;
    if (!is_same) { /* deleted, and perhaps created again with the same id */
        forget(batch->service, live, !found);
        universe_feed_deleted(batch->service, live->id);
        universe_notify_watcher(batch->service, live->id, found ? at->record.version : -1);
        return refuse_gone(batch->service, live, err);
    }
    if (at->record.version == live->state_version) {
        st = universe_state_freeze(&at->base, live->state, err);
    } else {
        st = take_in(batch, at, err);
        if (st != MCP_OK)
            drop(batch->service, live, at->record.version);
    }
    at->base_version = live->state_version;
    if (st != MCP_OK) {
        universe_view_free(at->base);
        at->base = NULL;
    }
    return st;
}

/* The universe's place in this batch, entering it when it is the first change to it. */
static mcp_status enter(struct entered **out, struct batch *batch, universe_live *live,
                        mcp_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->lives[i].live == live) {
            *out = &batch->lives[i];
            return MCP_OK;
        }
    }
    if (is_gone(batch->service, live))
        return refuse_gone(batch->service, live, err);

    struct entered *at = &batch->lives[batch->count];
    *at = (struct entered){ .live = live };
    mcp_status st = enter_live(batch, at, err);
    if (st == MCP_OK) {
        batch->count++;
        *out = at;
    }
    return st;
}

/* ---- applying -------------------------------------------------------------------------------- */

static mcp_status push(struct batch *batch, struct entered *at, const universe_entry *entry,
                       mcp_error *err)
{
    if (at->count == at->capacity) {
        size_t capacity = at->capacity ? at->capacity * 2 : 16;
        universe_entry *entries = mcp_arena_array(batch->arena, capacity, sizeof *entries);
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

/* One accepted command as an entry of the log. */
static mcp_status record_command(struct batch *batch, struct entered *at,
                                 const universe_change *change, const universe_command *command,
                                 const universe_outcome *outcome, double time, mcp_error *err)
{
    universe_changes touched = { .everything = outcome->everything,
                                 .roots = outcome->roots,
                                 .root_groups = outcome->root_groups,
                                 .touches = outcome->touches,
                                 .count = outcome->touch_count };
    universe_entry entry = { .first_version = at->record.version + 1,
                             .version = at->record.version + 1,
                             .kind = is_tick(command->json) ? UNIVERSE_ENTRY_TICKS
                                                            : UNIVERSE_ENTRY_COMMAND,
                             .rules = universe_store_rules(&batch->service->options.rules),
                             .command = outcome->command,
                             .command_length = outcome->command_length,
                             .events = outcome->events,
                             .events_length = outcome->events_length,
                             .time = time,
                             .dt = outcome->dt,
                             .actor = change->actor,
                             .applied_ms = batch->now_ms };
    mcp_status st = universe_touched_write(&entry.touched, &entry.touched_length, &touched,
                                           change->arena, err);
    return st == MCP_OK ? push(batch, at, &entry, err) : st;
}

/* The sender's events and changes grow with each command. */
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
    universe_result *out = change->out;
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

/* Applies the commands until one is refused. */
static mcp_status apply_commands(bool *refused, struct batch *batch, struct entered *at,
                                 universe_change *change, struct answer *answer, mcp_error *err)
{
    const universe_rules *rules = &batch->service->options.rules;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < change->count; i++) {
        const universe_command *command = &change->commands[i];
        universe_outcome outcome = { 0 };
        st = universe_apply(&outcome, at->live->state, command->json, command->text,
                            command->length, rules, change->arena, err);
        if (st == MCP_OK && outcome.verdict == UNIVERSE_REJECTED) {
            refuse(change, i, &outcome);
            *refused = true;
            return MCP_OK;
        }
        if (st == MCP_OK && outcome.verdict == UNIVERSE_APPLIED)
            st = record_command(batch, at, change, command, &outcome,
                                universe_state_time(at->live->state), err);
        if (st == MCP_OK)
            st = add_to_answer(answer, &outcome, err);
    }
    return st;
}

/* All commands, or where one fails or is refused some: the caller takes them back. */
static mcp_status run_commands(struct batch *batch, struct entered *at, universe_change *change,
                               mcp_error *err)
{
    struct answer answer = { .touched.arena = change->arena };
    bool refused = false;

    mcp_buf_init(&answer.events, (size_t)256 << 20);
    mcp_status st = apply_commands(&refused, batch, at, change, &answer, err);
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

static mcp_status run_replace(struct batch *batch, struct entered *at, universe_change *change,
                              mcp_error *err)
{
    const universe_replacement *by = change->by;
    const char *label = by->label ? by->label : "{\"type\":\"replaceSnapshot\"}";
    const char *name = by->name ? mcp_arena_strdup(batch->arena, by->name) : at->record.name;
    universe_changes touched = { .everything = true };
    universe_entry entry = universe_entries_replacement(by->view ? label : "{}",
                                                        at->record.version + 1, 0, batch->now_ms);
    mcp_status st = name ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");

    entry.actor = change->actor;
    if (!by->view) {
        entry.kind = UNIVERSE_ENTRY_RENAMED;
        entry.events = "[]";
        entry.events_length = 2;
    }
    if (st == MCP_OK && by->view)
        st = universe_touched_write(&entry.touched, &entry.touched_length, &touched, change->arena,
                                    err);
    if (st == MCP_OK && by->view)
        st = replace_state(at, by, err);
    if (st != MCP_OK)
        return st;
    at->record.name = name;
    entry.time = universe_state_time(at->live->state);
    st = push(batch, at, &entry, err);
    if (st == MCP_OK && change->snapshot) { /* last: no row may be left without its entry */
        change->snapshot->version = entry.version;
        change->snapshot->pinned = true;
        change->snapshot->created_ms = batch->now_ms;
        st = universe_store_add_snapshot(batch->session, at->live->id, change->snapshot, err);
    }
    change->out->answer = UNIVERSE_DONE;
    change->out->events = entry.events;
    change->out->events_length = entry.events_length;
    change->out->changes = (universe_changes){ .everything = by->view != NULL };
    return st;
}

/* What the sender is shown: the universe right after its own change, not after those that were
 * committed with it. It may continue from that version only if it has seen all that led there. */
static mcp_status show_sender(const struct batch *batch, const struct entered *at,
                              universe_change *change, universe_view *kept, mcp_error *err)
{
    universe_version *current = &change->out->current;
    universe_record record = at->record;
    mcp_status st = MCP_OK;

    record.id = mcp_arena_strdup(change->arena, at->live->id);
    record.name = mcp_arena_strdup(change->arena, at->record.name);
    if (!record.id || !record.name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe's record");
    if (at->count > 0)
        record.updated_ms = batch->now_ms;
    if (kept)
        current->view = universe_view_keep(kept);
    else
        st = universe_state_freeze(&current->view, at->live->state, err);
    if (st != MCP_OK)
        return st;
    record.time = universe_view_time(current->view);
    record.bodies = (int64_t)universe_view_count(current->view, UNIVERSE_STARS);
    current->record = record;
    return MCP_OK;
}

/* One change, wholly or not at all. */
static mcp_status run_change(struct batch *batch, struct entered *at, universe_change *change,
                             mcp_error *err)
{
    universe_record before = at->record;
    size_t entries = at->count;
    universe_view *mark = NULL;

    mcp_status st = universe_state_freeze(&mark, at->live->state, err);
    if (st != MCP_OK)
        return st;
    st = change->kind == UNIVERSE_CHANGE_COMMANDS ? run_commands(batch, at, change, err)
                                                  : run_replace(batch, at, change, err);
    bool refused = st == MCP_OK && change->out->answer == UNIVERSE_REFUSED;
    if (st == MCP_OK && !refused)
        st = show_sender(batch, at, change, NULL, err);
    if (st != MCP_OK || refused) {
        universe_state_restore(at->live->state, mark);
        at->record = before;
        at->count = entries;
    }
    if (refused)
        st = show_sender(batch, at, change, mark, err);
    universe_view_free(mark);
    return st;
}

static mcp_status run_one(struct batch *batch, universe_change *change, mcp_error *err)
{
    struct entered *at = NULL;
    mcp_status st = enter(&at, batch, change->live, err);
    if (st != MCP_OK || change->kind == UNIVERSE_CHANGE_CATCH_UP)
        return st;
    if (change->expected == UNIVERSE_ANY_VERSION || change->expected == at->record.version)
        return run_change(batch, at, change, err);
    assert(change->out); /* who expects a version waits for an answer */
    change->out->answer = UNIVERSE_CONFLICT;
    return show_sender(batch, at, change, NULL, err);
}

/* An error of the batch as a whole comes back; one of the change alone stays with the change. */
static mcp_status run(struct batch *batch, universe_change *change, mcp_error *err)
{
    mcp_error own = MCP_ERROR_INIT;

    if (change->out) /* the try before this one may have left something */
        *change->out = (universe_result){ .events = "[]", .events_length = 2 };
    change->status = run_one(batch, change, &own);
    change->is_stale = change->status == MCP_E_INTERNAL && is_gone(batch->service, change->live);
    if (change->status != MCP_OK && change->err)
        *change->err = own;
    if (!universe_spoils_batch(change->status))
        return MCP_OK;
    if (err)
        *err = own;
    return change->status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static mcp_status write_live(struct batch *batch, struct entered *at, mcp_error *err)
{
    char payload[UNIVERSE_KEY_MAX + 32];
    universe_summary summary;
    if (at->count == 0)
        return MCP_OK;
    mcp_status st = universe_state_freeze(&at->fresh, at->live->state, err);
    if (st != MCP_OK)
        return st;
    st = universe_entries_write(at->entries, at->count, &at->log_bytes, batch->session,
                                at->live->id, batch->arena, err);
    universe_view_summary(&summary, at->fresh);
    at->record.bodies = (int64_t)summary.counts[UNIVERSE_STARS];
    at->record.bytes = (int64_t)summary.bytes;
    at->record.updated_ms = batch->now_ms;
    if (st == MCP_OK)
        st = universe_store_update(batch->session, &at->record, err);
    if (st == MCP_OK) {
        snprintf(payload, sizeof payload, "%lld %s", (long long)at->record.version, at->live->id);
        st = db_notify(batch->session, UNIVERSE_CHANNEL, payload, err);
    }
    return st;
}

/* ---- showing and publishing ------------------------------------------------------------------ */

/* The entries are copied: the texts of most are their senders', who may free them once they have
 * their answers. */
static void publish_later(universe_publication *out, struct entered *at)
{
    struct universe_published *one = &out->lives[out->count++];
    *one = (struct universe_published){ .live = at->live, .version = at->record.version };
    one->entries = universe_entries_copy(at->entries, at->count, out->arena);
    one->count = at->count;
}

static void show_all(universe_publication *out, struct batch *batch)
{
    universe_service *service = batch->service;
    int64_t commands = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct entered *at = &batch->lives[i];
        commands += at->record.version - at->base_version;
        if (at->count == 0)
            continue;
        at->live->state_version = at->record.version;
        show(service, at->live, &at->record, at->fresh, at->log_bytes);
        at->fresh = NULL;
        publish_later(out, at);
    }
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < out->count; i++)
        out->lives[i].live->users++;
    service->figures.database_ok = true;
    service->figures.commits++;
    service->figures.commands += commands;
    pthread_mutex_unlock(&service->lock);
}

void universe_publish(universe_service *service, universe_publication *publication)
{
    for (size_t i = 0; i < publication->count; i++) {
        const struct universe_published *one = &publication->lives[i];
        if (one->entries)
            universe_feed_entries(service, one->live, one->entries, one->count);
        else /* there was no memory to keep them: viewers fetch the state */
            universe_feed_resync(service, one->live->id, one->version);
        universe_notify_watcher(service, one->live->id, one->version);
        universe_live_release(service, one->live);
    }
    mcp_arena_free(publication->arena);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Lets go of what the batch held; the working states go back where it was not committed. */
static void leave(struct batch *batch, bool committed)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct entered *at = &batch->lives[i];
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
    mcp_arena_free(batch->arena);
}

static mcp_status write_all(struct batch *batch, universe_change *const *changes, size_t count,
                            mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = run(batch, changes[i], err);
    for (size_t i = 0; st == MCP_OK && i < batch->count; i++)
        st = write_live(batch, &batch->lives[i], err);
    return st;
}

/* What senders would have been shown. */
static void take_back(universe_change *const *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i]->kind == UNIVERSE_CHANGE_CATCH_UP)
            continue;
        universe_view_free(changes[i]->out->current.view);
        changes[i]->out->current = (universe_version){ 0 };
    }
}

/* @param was_sent whether it came to the commit */
static mcp_status attempt(universe_publication *out, bool *was_sent, universe_service *service,
                          universe_change *const *changes, size_t count, bool is_reading,
                          mcp_error *err)
{
    struct batch batch = { .service = service,
                           .now_ms = mcp_clock_wall_ms(),
                           .is_reading = is_reading };
    batch.arena = mcp_arena_new(BATCH_ARENA);
    batch.lives = batch.arena ? mcp_arena_array(batch.arena, count, sizeof *batch.lives) : NULL;
    if (!batch.lives || !out->lives) {
        mcp_arena_free(batch.arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
    }
    mcp_status st = db_begin(&batch.session, service->options.db, is_reading ? DB_READ : DB_WRITE,
                             err);
    if (st == MCP_OK) {
        st = write_all(&batch, changes, count, err);
        *was_sent = st == MCP_OK;
        if (st != MCP_OK)
            db_rollback(batch.session);
        else
            st = db_commit(batch.session, err);
    }
    if (st == MCP_OK)
        show_all(out, &batch);
    else
        take_back(changes, count);
    leave(&batch, st == MCP_OK);
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

void universe_commit_batch(universe_publication *out, universe_service *service,
                           universe_change *const *changes, size_t count)
{
    universe_change *sorted[COMMIT_MAX];
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = MCP_E_BUSY;
    int64_t began_ns = mcp_clock_mono_ns(), until_ms = mcp_clock_mono_ms() + TRY_MS;
    bool is_reading = true, was_sent = false;

    *out = (universe_publication){ .arena = mcp_arena_new(BATCH_ARENA) };
    out->lives = out->arena ? mcp_arena_array(out->arena, count, sizeof *out->lives) : NULL;
    sort_by_live(sorted, changes, count);
    for (size_t i = 0; i < count; i++)
        is_reading = is_reading && changes[i]->kind == UNIVERSE_CHANGE_CATCH_UP;
    for (int i = 0; i < TRIES && universe_may_try_again(service, st, was_sent); i++) {
        if (i > 0 && mcp_clock_mono_ms() >= until_ms)
            break;
        was_sent = false;
        st = attempt(out, &was_sent, service, sorted, count, is_reading, &cause);
    }
    if (st == MCP_OK && !is_reading) {
        pthread_mutex_lock(&service->lock);
        serve_times_add(&service->figures.commit_times, mcp_clock_mono_ns() - began_ns);
        pthread_mutex_unlock(&service->lock);
    } else if (st != MCP_OK) {
        char what[64];
        snprintf(what, sizeof what, "%zu changes were not committed", count);
        universe_log_failure(service, MCP_LOG_ERROR, count, what, &cause);
        pthread_mutex_lock(&service->lock);
        service->figures.database_ok = false;
        pthread_mutex_unlock(&service->lock);
    }
    universe_answer_batch(service, changes, count, st, was_sent, &cause);
}
