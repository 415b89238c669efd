/*
 * feed.c - a universe's accepted commands to its viewers, as server-sent events (universe.md 6).
 *
 * Each universe is a topic of the bus; the events' ids are versions, so a viewer that comes back goes on from
 * the log where the bus's ring does not reach. What a viewer wants of ticks and of details it chooses by the
 * kinds of events. Only coalesced ticks need a topic of their own (its name has a prefix that no id has):
 * there, a run of ticks is held back until a tenth of a second has passed or another command comes, and then
 * told as one tick with the sum of their dt, and with the time after it: who fetched the state in the midst of
 * the run has counted some of them already. That topic is fed once somebody has asked for it.
 *
 * Threads: entries come from the committing thread; a thread of ours tells runs of ticks that nothing ends;
 * the bus's threads read the log for those who are behind.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "mcp/clock.h"
#include "service/service_int.h"

enum { COMMAND = 1 << 0, TICK = 1 << 1, APPLIED = 1 << 2, APPLIED_TICK = 1 << 3 };
enum { HOLD_MS = 100, RUNS_MAX = 1024, EVENTS_MAX = 1024 };

#define COALESCED "\ncoalesced " /* no id of a universe has a line end */

/* A run of ticks that is held back, of a universe that somebody wants coalesced. */
struct run {
    struct run *next;
    char id[UNIVERSE_KEY_MAX + 1];
    double dt, time; /* the sum of its ticks; after the last */
    int64_t version; /* of its last tick; 0: none is held */
    int64_t first;   /* of its first one */
    int64_t fed;     /* all up to this version is told, or held here */
    int64_t since_ms;
    int64_t wanted_ms; /* when somebody wanted it last */
};

struct universe_feed {
    bus *bus;
    universe_service *service;
    pthread_mutex_t lock; /* for all below, and for publishing; service->lock may be taken within */
    pthread_cond_t held;
    struct run *runs; /* one for each universe that somebody wants coalesced */
    size_t run_count;
    bool closing, is_running;
    pthread_t thread;
};

/* ---- entries as events ------------------------------------------------------------------------ */

/* Where events go; those of one version go together. */
typedef mcp_status taker(const bus_event *events, size_t count, void *to);

static mcp_status put_version(taker *take, void *to, int64_t id, const char *name)
{
    char data[48];
    int length = snprintf(data, sizeof data, "{\"version\":%lld}", (long long)id);
    const bus_event event = { .id = id, .name = name, .data = data, .length = (size_t)length };
    return take(&event, 1, to);
}

/* A command, and behind it {"version","events","time"}. `kinds`: of the one and of the other. */
static mcp_status put_applied(taker *take, void *to, bus_event command, const uint32_t kinds[2],
                              const char *events, size_t length, double time)
{
    bus_event pair[2] = { command, { .id = command.id, .kind = kinds[1], .name = "applied" } };
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, length + 128);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_int(&json, "version", command.id);
    mcp_write_name(&json, "events");
    mcp_write_raw(&json, events, length);
    mcp_write_member_double(&json, "time", time);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    pair[0].kind = kinds[0];
    pair[0].name = "command";
    pair[1].data = text.data;
    pair[1].length = text.length;
    if (st == MCP_OK)
        st = take(pair, 2, to);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status put_tick(taker *take, void *to, int64_t id, const mcp_json *tick, double time)
{
    static const uint32_t kinds[2] = { TICK, APPLIED_TICK };
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, tick);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = put_applied(take, to,
                         (bus_event){ .id = id, .data = text.data, .length = text.length }, kinds,
                         "[]", 2, time);
    mcp_buf_clear(&text);
    return st;
}

/* The ticks of an entry with the time after each, in the arena. */
static mcp_status read_ticks(const mcp_json **ticks, const mcp_json **times,
                             const universe_entry *entry, mcp_arena *arena)
{
    mcp_status st = mcp_json_read(ticks, arena, entry->command, entry->command_length, NULL);
    return st == MCP_OK
               ? mcp_json_read(times, arena, entry->events, entry->events_length, NULL)
               : st;
}

static mcp_status put_ticks(taker *take, void *to, const universe_entry *entry, int64_t after)
{
    const mcp_json *ticks = NULL, *times = NULL;
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    mcp_status st = arena ? read_ticks(&ticks, &times, entry, arena) : MCP_E_NOMEM;
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(ticks); i++) {
        int64_t version = entry->first_version + (int64_t)i;
        double time = entry->time;
        mcp_json_double(mcp_json_item(times, i), &time);
        if (version > after)
            st = put_tick(take, to, version, mcp_json_item(ticks, i), time);
    }
    mcp_arena_free(arena);
    return st;
}

/* What is no tick: a command with its events, a state to be fetched anew, a new name. */
static mcp_status put_other(taker *take, void *to, const universe_entry *entry)
{
    static const uint32_t kinds[2] = { COMMAND, APPLIED };
    if (entry->kind == UNIVERSE_ENTRY_REPLACED)
        return put_version(take, to, entry->version, "resync");
    if (entry->kind == UNIVERSE_ENTRY_RENAMED)
        return put_version(take, to, entry->version, "renamed");
    return put_applied(take, to,
                       (bus_event){ .id = entry->version,
                                    .data = entry->command,
                                    .length = entry->command_length },
                       kinds, entry->events, entry->events_length, entry->time);
}

static mcp_status put_entry(taker *take, void *to, const universe_entry *entry, int64_t after)
{
    return entry->kind == UNIVERSE_ENTRY_TICKS ? put_ticks(take, to, entry, after)
                                               : put_other(take, to, entry);
}

/* ---- publishing ------------------------------------------------------------------------------- */

struct publishing {
    universe_feed *feed;
    const char *topic;
};

/* What cannot be published the bus turns into a resync by itself. */
static mcp_status publish(const bus_event *events, size_t count, void *to)
{
    const struct publishing *publishing = to;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = bus_publish(publishing->feed->bus, publishing->topic, events, count, &err);
    if (st != MCP_OK)
        mcp_log_write(&publishing->feed->service->options.log, MCP_LOG_WARNING,
                      "universe %s: version %lld was not published: %s", publishing->topic,
                      (long long)events->id, err.message);
    return MCP_OK;
}

static void coalesced_topic(char topic[UNIVERSE_KEY_MAX + 32], const char *id)
{
    snprintf(topic, UNIVERSE_KEY_MAX + 32, "%s%s", COALESCED, id);
}

static struct run *find_run(universe_feed *feed, const char *id)
{
    struct run *run = feed->runs;
    while (run && strcmp(run->id, id) != 0)
        run = run->next;
    return run;
}

/* One tick that stands for a run, with the time after it. */
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
    char topic[UNIVERSE_KEY_MAX + 32];
    struct publishing to = { feed, topic };
    if (run->version == 0)
        return;
    coalesced_topic(topic, run->id);
    put_sum(publish, &to, run->version, run->dt, run->time);
    run->version = 0;
    run->dt = 0;
}

/* The sum of an entry's dt above `after`. */
static double sum_of(const universe_entry *entry, int64_t after)
{
    const mcp_json *ticks = NULL, *times = NULL;
    double sum = 0;
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    if (arena && read_ticks(&ticks, &times, entry, arena) == MCP_OK) {
        for (size_t i = 0; i < mcp_json_count(ticks); i++) {
            double dt = 0;
            mcp_json_double(mcp_json_get(mcp_json_item(ticks, i), "dt"), &dt);
            sum += entry->first_version + (int64_t)i > after ? dt : 0;
        }
    }
    mcp_arena_free(arena);
    return sum;
}

/* Some versions before `first` were never told to a topic's readers, who are at `told`: whoever changed it knew no
 * better (the universe was read anew, or its changes were made elsewhere). They fetch the state. */
static void tell_gap(struct publishing *to, int64_t told, const universe_entry *entry)
{
    if (told < entry->first_version - 1 && entry->kind != UNIVERSE_ENTRY_REPLACED)
        put_version(publish, to, entry->first_version - 1, "resync");
}

static void coalesce(universe_feed *feed, const char *id, const universe_entry *entry)
{
    char topic[UNIVERSE_KEY_MAX + 32];
    struct publishing to = { feed, topic };
    struct run *run = find_run(feed, id);
    int64_t told = 0;
    if (!run || entry->version <= run->fed)
        return;
    run->fed = entry->version;
    coalesced_topic(topic, id);
    if (run->version != 0 && run->version < entry->first_version - 1)
        end_run(feed, run);
    if (run->version == 0 && bus_newest(&told, feed->bus, topic))
        tell_gap(&to, told, entry);
    if (entry->kind == UNIVERSE_ENTRY_TICKS) {
        if (run->version == 0) {
            run->since_ms = mcp_clock_mono_ms();
            run->first = entry->first_version;
        }
        run->version = entry->version;
        run->time = entry->time;
        run->dt += sum_of(entry, 0);
        pthread_cond_signal(&feed->held);
        return;
    }
    end_run(feed, run);
    put_other(publish, &to, entry);
}

/* Under the lock. */
static void tell(universe_feed *feed, const char *id, const universe_entry *entry)
{
    struct publishing to = { feed, id };
    int64_t told = 0;
    if (bus_newest(&told, feed->bus, id))
        tell_gap(&to, told, entry);
    put_entry(publish, &to, entry, 0);
    coalesce(feed, id, entry);
}

void universe_feed_entries(universe_service *service, const universe_live *live,
                           const universe_entry *entries, size_t count)
{
    universe_feed *feed = service->feed;
    pthread_mutex_lock(&feed->lock);
    pthread_mutex_lock(&service->lock);
    /* Behind its end a topic begins anew, and belongs to whoever has the id next. */
    bool is_deleted = live->is_deleted;
    pthread_mutex_unlock(&service->lock);
    for (size_t i = 0; !is_deleted && i < count; i++)
        tell(feed, live->id, &entries[i]);
    pthread_mutex_unlock(&feed->lock);
}

void universe_feed_resync(universe_service *service, const char *id, int64_t version)
{
    universe_feed *feed = service->feed;
    const universe_entry entry = { .kind = UNIVERSE_ENTRY_REPLACED, .version = version };
    pthread_mutex_lock(&feed->lock);
    tell(feed, id, &entry);
    pthread_mutex_unlock(&feed->lock);
}

/* Under the lock. Its viewers, if it still has any, come back by themselves. */
static void drop_run(universe_feed *feed, struct run *gone)
{
    char topic[UNIVERSE_KEY_MAX + 32];
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
    char topic[UNIVERSE_KEY_MAX + 32];
    int64_t told = 0;
    coalesced_topic(topic, id);
    bool is_behind = bus_newest(&told, feed->bus, id) && told < version;
    is_behind = is_behind || (bus_newest(&told, feed->bus, topic) && told < version);
    if (is_behind)
        universe_feed_resync(service, id, version);
}

void universe_feed_deleted(universe_service *service, const char *id)
{
    universe_feed *feed = service->feed;
    char topic[UNIVERSE_KEY_MAX + 32];
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

/* Under the lock: tells runs that have been held long enough; how long until the next. */
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

static void *end_runs(void *data)
{
    universe_feed *feed = data;
    pthread_mutex_lock(&feed->lock);
    while (!feed->closing)
        universe_wait(&feed->held, &feed->lock, end_due_runs(feed));
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

/* ---- those who are behind --------------------------------------------------------------------- */

struct page {
    bus_page *page;
    int64_t after, to;
    bool is_coalesced;
    double dt, time; /* of a run that is not told yet */
    int64_t version;
};

static mcp_status add_to_page(const bus_event *events, size_t count, void *to)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = bus_page_add(to, &events[i]);
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

static mcp_status add_entry(struct page *page, const universe_entry *entry)
{
    if (!page->is_coalesced)
        return put_entry(add_to_page, page->page, entry, page->after);
    if (entry->kind == UNIVERSE_ENTRY_TICKS) {
        page->version = entry->version;
        page->time = entry->time;
        page->dt += sum_of(entry, page->after);
        return MCP_OK;
    }
    mcp_status st = end_page_run(page);
    return st == MCP_OK ? put_other(add_to_page, page->page, entry) : st;
}

static mcp_status add_log(struct page *page, db_session *session, const char *id, mcp_error *err)
{
    universe_log *log = NULL;
    bool has = true;
    mcp_status st = universe_log_open(&log, session, id, page->after, page->to, err);
    while (st == MCP_OK && has) {
        mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
        universe_entry entry = { 0 };
        st = arena ? universe_log_next(&entry, &has, log, arena, err)
                   : mcp_error_set(err, MCP_E_NOMEM, "no memory to read the log");
        if (st == MCP_OK && has)
            st = add_entry(page, &entry);
        mcp_arena_free(arena);
    }
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

/* What comes behind this version comes from the run: ticks that are held would be counted twice. */
static int64_t told_up_to(universe_feed *feed, const char *id)
{
    pthread_mutex_lock(&feed->lock);
    const struct run *run = find_run(feed, id);
    int64_t version = !run ? INT64_MAX : run->version > 0 ? run->first - 1 : run->fed;
    pthread_mutex_unlock(&feed->lock);
    return version;
}

static mcp_status catch_up(const char *topic, int64_t after, bus_page *into, void *data,
                           mcp_error *err)
{
    universe_feed *feed = data;
    struct page page = { .page = into, .after = after, .to = INT64_MAX };
    size_t prefix = sizeof COALESCED - 1;
    db_session *session = NULL;

    page.is_coalesced = strncmp(topic, COALESCED, prefix) == 0;
    if (page.is_coalesced)
        page.to = told_up_to(feed, topic + prefix);
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
    int64_t version =
        newest == INT64_MIN ? version_in_memory(feed->service, topic + prefix) : newest;
    snprintf(id, sizeof id, "%lld", (long long)version);
    int length = snprintf(text, sizeof text, "{\"version\":%lld}", (long long)version);
    return mcp_event_new(&event, id, "resync", text, (size_t)length, NULL) == MCP_OK ? event : NULL;
}

/* ---- subscribing ------------------------------------------------------------------------------ */

/* Under the lock: room for one more, where need be that of the run that was wanted longest ago. */
static struct run *new_run(universe_feed *feed)
{
    struct run *oldest = feed->runs;
    for (struct run *run = feed->runs; run; run = run->next)
        oldest = run->wanted_ms < oldest->wanted_ms ? run : oldest;
    if (feed->run_count >= RUNS_MAX)
        drop_run(feed, oldest);
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->next = feed->runs;
    feed->runs = run;
    feed->run_count++;
    return run;
}

/* From now on the universe's runs of ticks are coalesced for whoever wants it. */
static mcp_status want_coalesced(universe_feed *feed, const universe_live *live, mcp_error *err)
{
    mcp_status st = MCP_OK;
    pthread_mutex_lock(&feed->lock);
    struct run *run = find_run(feed, live->id);
    if (!run && (run = new_run(feed))) {
        memcpy(run->id, live->id, sizeof run->id);
        pthread_mutex_lock(&feed->service->lock);
        run->fed = live->version;
        pthread_mutex_unlock(&feed->service->lock);
    }
    if (run)
        run->wanted_ms = mcp_clock_mono_ms();
    else
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a stream of coalesced ticks");
    pthread_mutex_unlock(&feed->lock);
    return st;
}

/* Readers of a new topic have seen all up to it, or read it in the log. */
static int64_t version_of(universe_service *service, const universe_live *live)
{
    pthread_mutex_lock(&service->lock);
    int64_t version = live->version;
    pthread_mutex_unlock(&service->lock);
    return version;
}

mcp_status universe_service_subscribe(universe_service *service, mcp_call *call, const char *id,
                                      const universe_subscription *what, mcp_error *err)
{
    universe_feed *feed = service->feed;
    universe_live *live = NULL;
    char coalesced[UNIVERSE_KEY_MAX + 32];
    bus_subscription how = { .has_after = what->after != UNIVERSE_ANY_VERSION,
                             .after = what->after,
                             .kinds = COMMAND,
                             .first = ":connected\n\n",
                             .retry_ms = 2000,
                             .keepalive_ms = 15000 };
    const char *topic = id;

    if (what->ticks != UNIVERSE_TICKS_NONE)
        how.kinds |= TICK;
    if (what->detail)
        how.kinds |= what->ticks == UNIVERSE_TICKS_ALL ? APPLIED | APPLIED_TICK : APPLIED;
    /* Loaded, so that changes of other processes are heard of. */
    mcp_status st = universe_live_hold(&live, service, id, err);
    if (st == MCP_OK && what->ticks == UNIVERSE_TICKS_COALESCED) {
        coalesced_topic(coalesced, id);
        topic = coalesced;
        st = want_coalesced(feed, live, err);
    }
    int64_t version = st == MCP_OK ? version_of(service, live) : 0;
    if (st == MCP_OK)
        st = bus_subscribe(feed->bus, call, topic, &how, err);
    if (!live)
        return st;
    bus_begin_at(feed->bus, topic, version);
    pthread_mutex_lock(&service->lock);
    bool is_deleted = live->is_deleted;
    pthread_mutex_unlock(&service->lock);
    universe_live_release(service, live);
    if (is_deleted)
        universe_feed_deleted(service, id);
    return st;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

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
    pthread_condattr_t attributes;
    universe_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the streams of universes");
    feed->service = service;
    service->feed = feed;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&feed->held, &attributes);
    pthread_condattr_destroy(&attributes);
    mcp_status st = open_bus(feed, err);
    if (st != MCP_OK)
        return st;
    int failed = pthread_create(&feed->thread, NULL, end_runs, feed);
    if (failed)
        return mcp_error_errno(err, failed, "starting the thread of the streams");
    feed->is_running = true;
    return MCP_OK;
}

void universe_feed_close(universe_service *service)
{
    universe_feed *feed = service->feed;
    if (!feed)
        return;
    pthread_mutex_lock(&feed->lock);
    feed->closing = true;
    pthread_cond_signal(&feed->held);
    pthread_mutex_unlock(&feed->lock);
    if (feed->is_running)
        pthread_join(feed->thread, NULL);
    bus_free(feed->bus);
    while (feed->runs) {
        struct run *run = feed->runs;
        feed->runs = run->next;
        free(run);
    }
    pthread_cond_destroy(&feed->held);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
    service->feed = NULL;
}
