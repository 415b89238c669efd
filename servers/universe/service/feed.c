/*
 * feed.c - a universe's accepted commands to its viewers, as server-sent events (universe.md 6).
 *
 * Each universe is a topic of the bus. The ids of the events are versions, so a viewer that
 * reconnects continues from the log where the ring of the bus does not reach back. Viewers choose
 * ticks and details by the kinds of events. Only coalesced ticks need a topic of their own (its
 * name has a prefix that no id has): there a run of ticks is held back until a tenth of a second
 * has passed or another command comes, and is then published as one tick with the sum of their dt
 * and the time after it. The time is for viewers that fetched the state in the middle of a run:
 * they have counted some of its ticks already. A topic of coalesced ticks is fed from its first
 * subscriber on.
 *
 * Threads: see service.h.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "service/entries.h"
#include "service/service_int.h"

enum { COMMAND = 1 << 0, TICK = 1 << 1, APPLIED = 1 << 2, APPLIED_TICK = 1 << 3 };
enum { HOLD_MS = 100, RUNS_MAX = 1024, EVENTS_MAX = 1024 };

#define COALESCED "\ncoalesced " /* no id of a universe has a line end */

/* A run of ticks that is held back, of a universe that has had a subscriber to coalesced ticks. */
struct run {
    struct run *next;
    char id[UNIVERSE_KEY_MAX + 1];
    double dt, time; /* the sum of its ticks; after the last */
    int64_t version; /* of its last tick; 0: none is held */
    int64_t first;   /* of its first one */
    int64_t fed;     /* all up to this version is published, or held here */
    int64_t since_ms;
    int64_t wanted_ms; /* when it was subscribed to last */
};

struct universe_feed {
    bus *bus;
    universe_service *service;
    pthread_mutex_t lock; /* of all below; held while publishing, so that ids rise */
    struct run *runs;
    size_t run_count;
    size_t failures; /* events that were not published and are not logged yet */
    mcp_error failure;
    thread_worker worker; /* ends runs in time */
};

/* ---- entries as events ----------------------------------------------------------------------- */

/* Takes the events of one version. */
typedef mcp_status taker(const bus_event *events, size_t count, void *to);

static mcp_status put_version(taker *take, void *to, int64_t id, const char *name)
{
    char data[48];
    int length = snprintf(data, sizeof data, "{\"version\":%lld}", (long long)id);
    const bus_event event = { .id = id, .name = name, .data = data, .length = (size_t)length };
    return take(&event, 1, to);
}

/* A command, and after it {"version","events","time"}. */
static mcp_status put_applied(taker *take, void *to, const universe_entry *entry)
{
    bool is_tick = entry->kind == UNIVERSE_ENTRY_TICKS;
    bus_event pair[2] = {
        { .id = entry->version,
          .kind = is_tick ? TICK : COMMAND,
          .name = "command",
          .data = entry->command,
          .length = entry->command_length },
        { .id = entry->version, .kind = is_tick ? APPLIED_TICK : APPLIED, .name = "applied" },
    };
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, entry->events_length + 128);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_int(&json, "version", entry->version);
    mcp_write_name(&json, "events");
    mcp_write_raw(&json, entry->events, entry->events_length);
    mcp_write_member_double(&json, "time", entry->time);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    pair[1].data = text.data;
    pair[1].length = text.length;
    if (st == MCP_OK)
        st = take(pair, 2, to);
    mcp_buf_clear(&text);
    return st;
}

/* An entry of one version. */
static mcp_status put_entry(taker *take, void *to, const universe_entry *entry)
{
    if (entry->kind == UNIVERSE_ENTRY_REPLACED)
        return put_version(take, to, entry->version, "resync");
    if (entry->kind == UNIVERSE_ENTRY_RENAMED)
        return put_version(take, to, entry->version, "renamed");
    return put_applied(take, to, entry);
}

/* ---- publishing ------------------------------------------------------------------------------ */

struct publishing {
    universe_feed *feed;
    const char *topic;
};

/* The bus turns what it cannot publish into a resync. */
static mcp_status publish(const bus_event *events, size_t count, void *to)
{
    const struct publishing *publishing = to;
    universe_feed *feed = publishing->feed;
    if (bus_publish(feed->bus, publishing->topic, events, count, &feed->failure) != MCP_OK)
        feed->failures++;
    return MCP_OK;
}

/* Release the lock; then log what failed under it. */
static void unlock(universe_feed *feed)
{
    size_t failures = feed->failures;
    mcp_error failure = feed->failure;
    feed->failures = 0;
    pthread_mutex_unlock(&feed->lock);
    if (failures > 0)
        mcp_log_write(&feed->service->options.log, MCP_LOG_WARNING,
                      "%zu events were not published, their viewers fetch the state: %s", failures,
                      failure.message);
}

static void coalesced_topic(char topic[UNIVERSE_TOPIC_SIZE], const char *id)
{
    snprintf(topic, UNIVERSE_TOPIC_SIZE, "%s%s", COALESCED, id);
}

static struct run *find_run(universe_feed *feed, const char *id)
{
    struct run *run = feed->runs;
    while (run && strcmp(run->id, id) != 0)
        run = run->next;
    return run;
}

/* A run of ticks as one tick, with the time after it. */
static mcp_status put_sum(taker *take, void *to, int64_t version, double dt, double time)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, 256);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "type", "tick");
    mcp_write_member_double(&json, "dt", dt);
    mcp_write_member_double(&json, "time", time);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    const bus_event event = {
        .id = version, .kind = TICK, .name = "command", .data = text.data, .length = text.length
    };
    if (st == MCP_OK)
        st = take(&event, 1, to);
    mcp_buf_clear(&text);
    return st;
}

/* Under the lock. */
static void end_run(universe_feed *feed, struct run *run)
{
    char topic[UNIVERSE_TOPIC_SIZE];
    struct publishing to = { feed, topic };
    if (run->version == 0)
        return;
    coalesced_topic(topic, run->id);
    put_sum(publish, &to, run->version, run->dt, run->time);
    run->version = 0;
    run->dt = 0;
}

/* Some versions before `entry` were never published to a topic, whose newest version is `newest`:
 * the universe was loaded after they were made. Its readers fetch the state. */
static void put_gap(struct publishing *to, int64_t newest, const universe_entry *entry)
{
    if (newest < entry->first_version - 1 && entry->kind != UNIVERSE_ENTRY_REPLACED)
        put_version(publish, to, entry->first_version - 1, "resync");
}

static void coalesce(universe_feed *feed, const char *id, const universe_entry *entry)
{
    char topic[UNIVERSE_TOPIC_SIZE];
    struct publishing to = { feed, topic };
    struct run *run = find_run(feed, id);
    int64_t newest = 0;
    if (!run || entry->version <= run->fed)
        return;
    run->fed = entry->version;
    coalesced_topic(topic, id);
    if (run->version != 0 && run->version < entry->first_version - 1)
        end_run(feed, run);
    if (run->version == 0 && bus_newest(&newest, feed->bus, topic))
        put_gap(&to, newest, entry);
    if (entry->kind == UNIVERSE_ENTRY_TICKS) {
        if (run->version == 0) {
            run->since_ms = mcp_clock_mono_ms();
            run->first = entry->first_version;
        }
        run->version = entry->version;
        run->time = entry->time;
        run->dt += entry->dt;
        thread_worker_wake(&feed->worker);
        return;
    }
    end_run(feed, run);
    put_entry(publish, &to, entry);
}

/* Under the lock. */
static void publish_entry(universe_feed *feed, const char *id, const universe_entry *entry)
{
    struct publishing to = { feed, id };
    int64_t newest = 0;
    if (bus_newest(&newest, feed->bus, id))
        put_gap(&to, newest, entry);
    put_entry(publish, &to, entry);
    coalesce(feed, id, entry);
}

void universe_feed_entries(universe_service *service, const universe_live *live,
                           const universe_entry *entries, size_t count)
{
    universe_feed *feed = service->feed;
    pthread_mutex_lock(&feed->lock);
    /* A topic that has ended begins again for the next universe of that id. */
    if (!universe_live_is_deleted(service, live)) {
        for (size_t i = 0; i < count; i++)
            publish_entry(feed, live->id, &entries[i]);
    }
    unlock(feed);
}

void universe_feed_resync(universe_service *service, const char *id, int64_t version)
{
    universe_feed *feed = service->feed;
    const universe_entry entry = { .kind = UNIVERSE_ENTRY_REPLACED, .version = version };
    pthread_mutex_lock(&feed->lock);
    publish_entry(feed, id, &entry);
    unlock(feed);
}

/* Under the lock. Its viewers, if it still has any, reconnect. */
static void drop_run(universe_feed *feed, struct run *gone)
{
    char topic[UNIVERSE_TOPIC_SIZE];
    struct run **at = &feed->runs;
    assert(gone);
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    feed->run_count--;
    coalesced_topic(topic, gone->id);
    bus_end_topic(feed->bus, topic, NULL, NULL);
    free(gone);
}

void universe_feed_behind(universe_service *service, const char *id, int64_t version)
{
    universe_feed *feed = service->feed;
    char topic[UNIVERSE_TOPIC_SIZE];
    int64_t newest = 0;
    coalesced_topic(topic, id);
    bool is_behind = bus_newest(&newest, feed->bus, id) && newest < version;
    is_behind = is_behind || (bus_newest(&newest, feed->bus, topic) && newest < version);
    if (is_behind)
        universe_feed_resync(service, id, version);
}

void universe_feed_deleted(universe_service *service, const char *id)
{
    universe_feed *feed = service->feed;
    char topic[UNIVERSE_TOPIC_SIZE];
    const bus_event last = { .name = "deleted", .data = "{}", .length = 2 };

    pthread_mutex_lock(&feed->lock);
    bus_end_topic(feed->bus, id, &last, NULL);
    coalesced_topic(topic, id);
    bus_end_topic(feed->bus, topic, &last, NULL);
    struct run *gone = find_run(feed, id);
    if (gone)
        drop_run(feed, gone);
    pthread_mutex_unlock(&feed->lock);
}

/* Under the lock: publish runs that have been held long enough. @return how long until the next */
static int64_t end_due_runs(universe_feed *feed)
{
    int64_t wait_ms = 60000, now = mcp_clock_mono_ms();
    for (struct run *run = feed->runs; run; run = run->next) {
        if (run->version == 0)
            continue;
        int64_t left = run->since_ms + HOLD_MS - now;
        if (left <= 0)
            end_run(feed, run);
        else if (left < wait_ms)
            wait_ms = left;
    }
    return wait_ms;
}

static void end_runs(void *data)
{
    universe_feed *feed = data;
    pthread_mutex_lock(&feed->lock);
    while (!feed->worker.is_stopping)
        thread_worker_wait(&feed->worker, end_due_runs(feed));
    unlock(feed);
}

/* ---- viewers that are behind ----------------------------------------------------------------- */

struct page {
    bus_sink *page;
    int64_t after, to;
    bool is_coalesced;
    double dt, time; /* of a run that is not added yet */
    int64_t version;
};

static mcp_status add_to_page(const bus_event *events, size_t count, void *to)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = bus_sink_add(to, &events[i]);
    return st;
}

static mcp_status end_page_run(struct page *page)
{
    if (page->version == 0)
        return MCP_OK;
    mcp_status st = put_sum(add_to_page, page->page, page->version, page->dt, page->time);
    page->version = 0;
    page->dt = 0;
    return st;
}

/* An entry of one version. */
static mcp_status add_entry(struct page *page, const universe_entry *entry)
{
    if (entry->version <= page->after)
        return MCP_OK;
    if (page->is_coalesced && entry->kind == UNIVERSE_ENTRY_TICKS) {
        page->version = entry->version;
        page->time = entry->time;
        page->dt += entry->dt;
        return MCP_OK;
    }
    mcp_status st = end_page_run(page);
    return st == MCP_OK ? put_entry(add_to_page, page->page, entry) : st;
}

/* The next entry of the log. */
static mcp_status add_next(bool *has, struct page *page, universe_log *log, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    universe_entry stored = { 0 }, *entries = NULL;
    size_t count = 0;
    mcp_status st = arena ? universe_log_next(&stored, has, log, arena, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
    if (st == MCP_OK && *has)
        st = universe_entries_split(&entries, &count, &stored, arena, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = add_entry(page, &entries[i]);
    mcp_arena_free(arena);
    return st;
}

static mcp_status add_log(struct page *page, db_session *session, const char *id, mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;
    mcp_status st = universe_log_open(&log, session, id, page->after, page->to, err);
    while (st == MCP_OK && has)
        st = add_next(&has, page, log, err);
    universe_log_close(log);
    if (st == MCP_OK)
        st = end_page_run(page);
    return st == MCP_E_LIMIT ? MCP_OK : st;
}

static mcp_status read_page(struct page *page, db_session *session, const char *id,
                            mcp_arena *arena, mcp_error *err)
{
    universe_record record = { 0 };
    bool found = false;
    int64_t begin = 0;
    mcp_status st = universe_store_find(&record, &found, session, id, false, arena, err);
    if (st == MCP_OK && !found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Universe not found: %.128s", id);
    if (st == MCP_OK)
        st = universe_store_log_begin(&begin, session, id, record.version, err);
    if (st != MCP_OK)
        return st;
    if (page->after > record.version || begin > page->after + 1)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the log begins at version %lld",
                             (long long)begin);
    return add_log(page, session, id, err);
}

/* The version up to which the log is read. Later ticks come from the run, and would be counted
 * twice. */
static int64_t published_up_to(universe_feed *feed, const char *id)
{
    pthread_mutex_lock(&feed->lock);
    const struct run *run = find_run(feed, id);
    int64_t version = !run ? INT64_MAX : run->version > 0 ? run->first - 1 : run->fed;
    pthread_mutex_unlock(&feed->lock);
    return version;
}

static mcp_status catch_up(const char *topic, int64_t after, bus_sink *into, void *data,
                           mcp_error *err)
{
    universe_feed *feed = data;
    struct page page = { .page = into, .after = after, .to = INT64_MAX };
    size_t prefix = sizeof COALESCED - 1;
    db_session *session = NULL;

    page.is_coalesced = strncmp(topic, COALESCED, prefix) == 0;
    if (page.is_coalesced)
        page.to = published_up_to(feed, topic + prefix);
    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
    mcp_status st = db_begin(&session, feed->service->options.db, DB_READ, err);
    if (st == MCP_OK) {
        st = read_page(&page, session, page.is_coalesced ? topic + prefix : topic, arena, err);
        db_rollback(session);
    }
    mcp_arena_free(arena);
    return st;
}

/* The universe's version where it is in memory. */
static int64_t version_in_memory(universe_service *service, const char *id)
{
    pthread_mutex_lock(&service->lock);
    const universe_live *live = universe_live_find(service, id);
    int64_t version = live && !live->is_loading ? live->version : 0;
    pthread_mutex_unlock(&service->lock);
    return version;
}

/* A new topic may not know yet where it begins. */
static mcp_event *make_resync(const char *topic, int64_t newest, void *data)
{
    universe_feed *feed = data;
    mcp_event *event = NULL;
    char text[48], id[24];
    size_t prefix = strncmp(topic, COALESCED, sizeof COALESCED - 1) == 0 ? sizeof COALESCED - 1 : 0;
    int64_t version = newest == INT64_MIN ? version_in_memory(feed->service, topic + prefix)
                                          : newest;
    snprintf(id, sizeof id, "%lld", (long long)version);
    int length = snprintf(text, sizeof text, "{\"version\":%lld}", (long long)version);
    return mcp_event_new(&event, id, "resync", text, (size_t)length, NULL) == MCP_OK ? event : NULL;
}

/* ---- subscribing ----------------------------------------------------------------------------- */

/* Under the lock: a new run, which may take the place of the one that was subscribed to longest
 * ago. */
static struct run *new_run(universe_feed *feed)
{
    struct run *oldest = feed->runs;
    for (struct run *run = feed->runs; run; run = run->next)
        oldest = run->wanted_ms < oldest->wanted_ms ? run : oldest;
    if (feed->run_count >= RUNS_MAX)
        drop_run(feed, oldest);
    struct run *run = mcp_alloc_zeroed(1, sizeof *run);
    if (!run)
        return NULL;
    run->next = feed->runs;
    feed->runs = run;
    feed->run_count++;
    return run;
}

/* From now on the universe's runs of ticks are coalesced. */
static mcp_status want_coalesced(universe_feed *feed, const universe_live *live, mcp_error *err)
{
    mcp_status st = MCP_OK;
    pthread_mutex_lock(&feed->lock);
    struct run *run = find_run(feed, live->id);
    if (!run) {
        run = new_run(feed);
        if (run) {
            memcpy(run->id, live->id, sizeof run->id);
            pthread_mutex_lock(&feed->service->lock);
            run->fed = live->version;
            pthread_mutex_unlock(&feed->service->lock);
        }
    }
    if (run)
        run->wanted_ms = mcp_clock_mono_ms();
    else
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a stream of coalesced ticks");
    pthread_mutex_unlock(&feed->lock);
    return st;
}

mcp_status universe_service_subscribe(universe_subscriber *out, universe_service *service,
                                      const char *id, const universe_subscription *what,
                                      mcp_error *err)
{
    *out = (universe_subscriber){ .bus = service->feed->bus,
                                  .how = { .has_after = what->after != UNIVERSE_ANY_VERSION,
                                           .after = what->after,
                                           .kinds = COMMAND,
                                           .first = ":connected\n\n",
                                           .retry_ms = 2000,
                                           .keepalive_ms = 15000 },
                                  .service = service };
    bool is_coalesced = what->ticks == UNIVERSE_TICKS_COALESCED;

    if (what->ticks != UNIVERSE_TICKS_NONE)
        out->how.kinds |= TICK;
    if (what->detail)
        out->how.kinds |= what->ticks == UNIVERSE_TICKS_ALL ? APPLIED | APPLIED_TICK : APPLIED;
    /* Loaded, so that changes of other processes reach its viewers. */
    mcp_status st = universe_live_hold(&out->live, service, id, err);
    if (st != MCP_OK)
        return st;
    snprintf(out->topic, sizeof out->topic, "%s%s", is_coalesced ? COALESCED : "", id);
    if (is_coalesced)
        st = want_coalesced(service->feed, out->live, err);
    if (st != MCP_OK) {
        universe_live_release(service, out->live);
        return st;
    }
    pthread_mutex_lock(&service->lock);
    out->version = out->live->version;
    pthread_mutex_unlock(&service->lock);
    return MCP_OK;
}

void universe_service_subscribed(universe_subscriber *subscriber)
{
    universe_service *service = subscriber->service;
    bool is_deleted = universe_live_is_deleted(service, subscriber->live);

    /* Readers of a new topic have seen all up to this version, or read it in the log. */
    bus_begin_at(subscriber->bus, subscriber->topic, subscriber->version);
    if (is_deleted)
        universe_feed_deleted(service, subscriber->live->id);
    universe_live_release(service, subscriber->live);
}

/* ---- opening and closing --------------------------------------------------------------------- */

size_t universe_feed_viewers(universe_service *service)
{
    bus_counts counts = { 0 };
    bus_count(service->feed->bus, &counts);
    return counts.subscribers;
}

static mcp_status open_bus(universe_feed *feed, mcp_error *err)
{
    const bus_options options = { .window_events = EVENTS_MAX,
                                  .catch_up = catch_up,
                                  .resync = make_resync,
                                  .data = feed,
                                  .log = feed->service->options.log };
    return bus_new(&feed->bus, &options, err);
}

mcp_status universe_feed_open(universe_service *service, mcp_error *err)
{
    universe_feed *feed = mcp_alloc_zeroed(1, sizeof *feed);
    if (!feed)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the streams of universes");
    feed->service = service;
    service->feed = feed;
    pthread_mutex_init(&feed->lock, NULL);
    thread_worker_init(&feed->worker, &feed->lock);
    mcp_status st = open_bus(feed, err);
    if (st != MCP_OK)
        return st;
    return thread_worker_start(&feed->worker, end_runs, feed, err);
}

void universe_feed_close(universe_service *service)
{
    universe_feed *feed = service->feed;
    if (!feed)
        return;
    thread_worker_stop(&feed->worker);
    bus_free(feed->bus);
    while (feed->runs) {
        struct run *run = feed->runs;
        feed->runs = run->next;
        free(run);
    }
    pthread_mutex_destroy(&feed->lock);
    free(feed);
    service->feed = NULL;
}
