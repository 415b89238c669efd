/*
 * test_pump.c - under threads no event is lost and none comes twice.
 *
 * Writers make events durable (they count up the log), then publish them. Readers take them at
 * random speeds, stop, go away and come back with the last id they have seen. Each reader holds its
 * next event against the last: the id must follow, or a resync must say from where it continues.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bus/bus.h"
#include "bus_reader.h"

enum { TOPICS = 3, READERS = 18, READER_THREADS = 3, EVENTS = 3000, PARTS = 2 };

struct world {
    bus *all;
    atomic_long committed[TOPICS]; /* the log has 1 ... committed */
    bool forgets;                  /* the log keeps only the last 500 */
    atomic_int mistakes;
    atomic_int resyncs;
};

static const char *const names[TOPICS] = { "0", "1", "2" };

static mcp_event *make_resync(const char *topic, int64_t newest, void *data)
{
    struct world *world = data;
    char text[32];
    mcp_event *event = NULL;

    (void)topic;
    atomic_fetch_add(&world->resyncs, 1);
    int length = snprintf(text, sizeof text, "%lld", (long long)newest);
    assert_int_equal(mcp_event_new(&event, NULL, "resync", text, (size_t)length, NULL), MCP_OK);
    return event;
}

/* Each id has two events, "a" and "b". */
static void make_parts(bus_event parts[PARTS], int64_t id)
{
    parts[0] = (bus_event){ .id = id, .name = "a" };
    parts[1] = (bus_event){ .id = id, .name = "b" };
}

static mcp_status read_log(const char *topic, int64_t after, bus_sink *page, void *data,
                           mcp_error *err)
{
    struct world *world = data;
    long end = atomic_load(&world->committed[topic[0] - '0']);
    bus_event parts[PARTS];

    (void)err;
    if (world->forgets && after < end - 500)
        return MCP_E_NOT_FOUND;
    for (int64_t id = after + 1; id <= end; id++) {
        make_parts(parts, id);
        for (int i = 0; i < PARTS; i++)
            if (bus_sink_add(page, &parts[i]) != MCP_OK)
                return MCP_OK;
        sched_yield();
    }
    return MCP_OK;
}

struct writer {
    struct world *world;
    int topic;
    pthread_t thread;
};

static void *write_events(void *data)
{
    struct writer *self = data;
    bus_event parts[PARTS];

    for (int64_t id = 1; id <= EVENTS; id++) {
        make_parts(parts, id);
        atomic_store(&self->world->committed[self->topic], (long)id);
        if (bus_publish(self->world->all, names[self->topic], parts, PARTS, NULL) != MCP_OK)
            atomic_fetch_add(&self->world->mistakes, 1);
        if (id % 64 == 0)
            sched_yield();
    }
    return NULL;
}

/* One that reads, and what it has seen. */
struct place {
    bus_reader *reader;
    int topic;
    int64_t seen;   /* all of the ids up to this */
    bool has_first; /* and "a" of the next */
    bool is_done;
};

struct reading {
    struct world *world;
    uint64_t seed;
    pthread_t thread;
    struct place places[READERS / READER_THREADS];
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void follow(struct reading *self, struct place *place)
{
    bus_subscription how = { .has_after = true, .after = place->seen };
    int window = 1 + (int)(next_random(&self->seed) % 40);

    place->has_first = false;
    place->reader = bus_reader_new(self->world->all, names[place->topic], &how, window);
}

static void check(struct reading *self, struct place *place, const bus_taken *taken)
{
    bool is_resync = strcmp(taken->name, "resync") == 0;
    int64_t newest = is_resync ? strtoll(taken->data, NULL, 10) : 0;
    const char *expected = place->has_first ? "b" : "a";

    if (is_resync) {
        /* INT64_MIN: nothing was published yet, so all that comes is from the beginning. */
        if (newest != INT64_MIN && newest < place->seen)
            atomic_fetch_add(&self->world->mistakes, 1);
        place->seen = newest == INT64_MIN ? 0 : newest;
        place->has_first = false;
        return;
    }
    if (taken->id != place->seen + 1 || strcmp(taken->name, expected) != 0)
        atomic_fetch_add(&self->world->mistakes, 1);
    if (place->has_first)
        place->seen++;
    place->has_first = !place->has_first;
}

/* A moment of a reader's life: it takes a few, or pauses, or goes and comes back. */
static void live(struct reading *self, struct place *place)
{
    uint64_t dice = next_random(&self->seed) % 100;
    bus_taken taken;

    if (dice < 20)
        return;
    if (dice == 20) {
        bus_reader_end(place->reader);
        follow(self, place);
        return;
    }
    for (uint64_t i = 0; i < dice && bus_reader_take(place->reader, &taken); i++)
        check(self, place, &taken);
    if (place->seen < EVENTS)
        return;
    place->is_done = true;
    bus_reader_end(place->reader);
}

static void *read_events(void *data)
{
    struct reading *self = data;
    int count = READERS / READER_THREADS;
    int done = 0;

    for (int i = 0; i < count; i++) {
        self->places[i].topic = i % TOPICS;
        follow(self, &self->places[i]);
    }
    while (done < count) {
        done = 0;
        for (int i = 0; i < count; i++) {
            if (!self->places[i].is_done)
                live(self, &self->places[i]);
            done += self->places[i].is_done;
        }
        sched_yield();
    }
    return NULL;
}

static void run(struct world *world, bus_options *options, uint64_t seed)
{
    struct writer writers[TOPICS];
    struct reading readings[READER_THREADS] = { 0 };

    options->resync = make_resync;
    options->data = world;
    options->idle_ms = 5; /* topics come and go meanwhile */
    assert_int_equal(bus_new(&world->all, options, NULL), MCP_OK);
    for (int i = 0; i < READER_THREADS; i++) {
        readings[i].world = world;
        readings[i].seed = seed + (uint64_t)i * 7919;
        assert_int_equal(pthread_create(&readings[i].thread, NULL, read_events, &readings[i]), 0);
    }
    for (int i = 0; i < TOPICS; i++) {
        writers[i].world = world;
        writers[i].topic = i;
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_events, &writers[i]), 0);
    }
    for (int i = 0; i < TOPICS; i++)
        pthread_join(writers[i].thread, NULL);
    for (int i = 0; i < READER_THREADS; i++)
        pthread_join(readings[i].thread, NULL);
    bus_free(world->all);
    assert_int_equal(atomic_load(&world->mistakes), 0);
}

static void with_a_log_nobody_misses_anything(void **state)
{
    struct world world = { 0 };
    bus_options options = { .ring_events = 1u << 20, .catch_up = read_log };

    (void)state;
    run(&world, &options, 0x9e3779b97f4a7c15u);
    assert_int_equal(atomic_load(&world.resyncs), 0);
}

static void with_a_short_ring_a_slow_reader_is_notified(void **state)
{
    struct world world = { 0 };
    bus_options options = { .ring_events = 100, .catch_up = read_log };

    (void)state;
    run(&world, &options, 0x2545f4914f6cdd1du);
}

static void with_a_log_that_forgets_too(void **state)
{
    struct world world = { .forgets = true };
    bus_options options = { .ring_events = 50, .catch_up = read_log, .catch_up_threads = 3 };

    (void)state;
    run(&world, &options, 0xd1342543de82ef95u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_log_nobody_misses_anything),
        cmocka_unit_test(with_a_short_ring_a_slow_reader_is_notified),
        cmocka_unit_test(with_a_log_that_forgets_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
