/*
 * clock.c - ticks that the server makes by itself.
 *
 * A running clock sends a `tick` hz times a second through the same door as everybody's commands, with
 * dt = the time that has passed since its last one x time_scale: a clock that was late makes up for it,
 * at most a second's worth. The clock is the process's, not the universe's: after a restart it stands.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mcp/clock.h"
#include "service/service_int.h"

enum { CLOCKS_MAX = 64, LATE_MAX_MS = 1000, IDLE_MS = 1000 };

#define PERIOD_MAX_MS 1e12 /* the reciprocal of a tiny hz is no 64-bit number */

static mcp_status check(const universe_clock *clock, mcp_error *err)
{
    if (!(clock->time_scale >= 0 && clock->time_scale <= 50))
        return mcp_error_set(err, MCP_E_PARAMS, "timeScale is 0 to 50");
    if (!(clock->hz > 0 && clock->hz <= UNIVERSE_CLOCK_HZ_MAX))
        return mcp_error_set(err, MCP_E_PARAMS, "hz is above 0, to %d", UNIVERSE_CLOCK_HZ_MAX);
    return MCP_OK;
}

/* Under the lock. */
static int running(universe_service *service)
{
    int count = 0;
    for (size_t i = 0; i < LIVE_BUCKETS; i++) {
        for (universe_live *live = service->live[i]; live; live = live->next)
            count += live->clock.running;
    }
    return count;
}

mcp_status universe_service_set_clock(universe_service *service, const char *id,
                                      const universe_clock *clock, mcp_error *err)
{
    universe_live *live = NULL;
    mcp_status st = service->options.read_only
                        ? mcp_error_set(err, MCP_E_DENIED,
                                        "the server is read only; start it without --read-only")
                        : check(clock, err);
    if (st == MCP_OK)
        st = universe_live_hold(&live, service, id, err);
    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&service->lock);
    if (clock->running && !live->clock.running && running(service) >= CLOCKS_MAX) {
        st = mcp_error_set(err, MCP_E_LIMIT, "%d clocks run already; stop one", CLOCKS_MAX);
    } else {
        live->clock = *clock;
        live->ticked_ms = mcp_clock_mono_ms();
        pthread_cond_broadcast(&service->rest);
    }
    pthread_mutex_unlock(&service->lock);
    universe_live_release(service, live);
    return st;
}

void universe_service_clock(universe_clock *out, universe_service *service, const char *id)
{
    *out = (universe_clock){ .time_scale = 1, .hz = 10 };
    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, id);
    if (live && live->clock.hz > 0)
        *out = live->clock;
    pthread_mutex_unlock(&service->lock);
}

/* A tick that is due. */
struct due {
    char id[UNIVERSE_KEY_MAX + 1];
    double dt;
};

/* Under the lock: the ticks that are due, and how long until the next. */
static size_t find_due(universe_service *service, struct due *due, int64_t *wait_ms)
{
    int64_t now = mcp_clock_mono_ms();
    size_t count = 0;
    *wait_ms = IDLE_MS;
    for (size_t i = 0; i < LIVE_BUCKETS; i++) {
        for (universe_live *live = service->live[i]; live; live = live->next) {
            if (!live->clock.running || live->is_loading || count == CLOCKS_MAX)
                continue;
            int64_t period = (int64_t)llround(fmin(1000 / live->clock.hz, PERIOD_MAX_MS));
            int64_t passed = now - live->ticked_ms;
            if (passed < period) {
                *wait_ms = period - passed < *wait_ms ? period - passed : *wait_ms;
                continue;
            }
            int64_t counted = passed < LATE_MAX_MS + period ? passed : LATE_MAX_MS + period;
            due[count].dt = (double)counted / 1000 * live->clock.time_scale;
            memcpy(due[count].id, live->id, sizeof due[count].id);
            live->ticked_ms = now;
            count++;
        }
    }
    return count;
}

static mcp_status send_tick(universe_service *service, const struct due *due, mcp_arena *arena,
                            mcp_error *err)
{
    char text[64];
    universe_sent sent = { 0 };
    universe_order order = { .text = text };
    int length = snprintf(text, sizeof text, "{\"type\":\"tick\",\"dt\":%.17g}", due->dt);

    order.length = (size_t)length;
    mcp_status st = mcp_json_read(&order.command, arena, text, order.length, err);
    if (st == MCP_OK)
        st = universe_service_send(&sent, service, due->id, &order, 1, UNIVERSE_ANY_VERSION,
                                   "clock", arena, err);
    if (st == MCP_OK)
        universe_view_free(sent.moment.view);
    return st;
}

static void tick(universe_service *service, const struct due *due)
{
    mcp_error err = MCP_ERROR_INIT;
    if (due->dt == 0)
        return;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? send_tick(service, due, arena, &err) : MCP_E_NOMEM;
    mcp_arena_free(arena);
    if (st != MCP_OK && st != MCP_E_NOT_FOUND && st != MCP_E_STOPPED)
        mcp_log_write(&service->options.log, MCP_LOG_WARNING, "universe %s: the clock's tick: %s",
                      due->id, arena ? err.message : mcp_status_words(st));
}

void *universe_clock_run(void *data)
{
    universe_service *service = data;
    struct due due[CLOCKS_MAX];

    pthread_mutex_lock(&service->lock);
    while (!service->closing) {
        int64_t wait_ms = 0;
        size_t count = find_due(service, due, &wait_ms);
        if (count == 0) {
            universe_wait(&service->rest, &service->lock, wait_ms);
            continue;
        }
        pthread_mutex_unlock(&service->lock);
        for (size_t i = 0; i < count; i++)
            tick(service, &due[i]);
        pthread_mutex_lock(&service->lock);
    }
    pthread_mutex_unlock(&service->lock);
    return NULL;
}
