/*
 * clock.c - ticks that the server makes by itself.
 *
 * A running clock sends a `tick` hz times a second through the same queue as everybody's commands,
 * with dt = the time that has passed since its last one x time_scale. All clocks that are due send
 * together and share a commit, so many of them cost one wait for the disk, and none waits for
 * another's. Time that is in no tick yet is owed: a clock that was late, whose tick was not
 * committed or whose scale is changed makes up for it, at most for a second. The clock is the
 * process's, not the universe's: after a restart it stands.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mcp/clock.h"
#include "service/service_int.h"

enum { CLOCKS_MAX = 64, LATE_MAX_MS = 1000, IDLE_MS = 1000, EARLY_MS = 10 };

#define PERIOD_MAX_MS 1e12 /* the reciprocal of a tiny hz is no 64-bit number */

static double period_ms(const universe_clock *clock)
{
    return fmin(1000 / clock->hz, PERIOD_MAX_MS);
}

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

/* Under the lock: the simulation's seconds since the last tick. */
static double passed(const universe_live *live, int64_t now)
{
    double most_ms = LATE_MAX_MS + period_ms(&live->clock);
    return fmin((double)(now - live->ticked_ms), most_ms) / 1000 * live->clock.time_scale;
}

/* Under the lock. What passed at the old scale is owed. */
static void wind(universe_live *live, const universe_clock *clock, int64_t now)
{
    bool continues = live->clock.running && clock->running;
    live->owed = continues ? live->owed + passed(live, now) : 0;
    live->clock = *clock;
    live->ticked_ms = now;
    live->due_ms = (double)now + period_ms(clock);
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
        wind(live, clock, mcp_clock_mono_ms());
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
    universe_live *live; /* held */
    double dt;
    char text[64];
    universe_command command;
    universe_result result;
    mcp_error err;
};

/* Under the lock: the dt of the tick that is due now. */
static double take_time(universe_live *live, int64_t now)
{
    double period = period_ms(&live->clock), dt = live->owed + passed(live, now);

    live->owed = 0;
    live->ticked_ms = now;
    live->due_ms += period; /* from when it should have been: late wakings do not add up */
    if (live->due_ms <= (double)now)
        live->due_ms = (double)now + period;
    return dt;
}

/* The time of a tick that failed goes into the next one, at most a second's worth. */
static void give_back(universe_service *service, universe_live *live, double dt)
{
    pthread_mutex_lock(&service->lock);
    double most = (LATE_MAX_MS + period_ms(&live->clock)) / 1000 * live->clock.time_scale;
    if (live->clock.running)
        live->owed = fmin(live->owed + dt, most);
    pthread_mutex_unlock(&service->lock);
}

/* Under the lock: how long until the next tick is due; 0: one is. */
static int64_t until_due(const universe_service *service, int64_t now)
{
    double wait_ms = IDLE_MS;
    for (size_t i = 0; i < LIVE_BUCKETS; i++) {
        for (const universe_live *live = service->live[i]; live; live = live->next) {
            if (live->clock.running && !live->is_loading)
                wait_ms = fmin(wait_ms, live->due_ms - (double)now);
        }
    }
    return wait_ms > 0 ? (int64_t)ceil(wait_ms) : 0;
}

/* Under the lock: the ticks that are due, with those that soon will be, so that they share a
 * commit. */
static size_t find_due(universe_service *service, struct due *due, int64_t *wait_ms)
{
    int64_t now = mcp_clock_mono_ms();
    size_t count = 0;
    *wait_ms = until_due(service, now);
    for (size_t i = 0; *wait_ms == 0 && i < LIVE_BUCKETS; i++) {
        for (universe_live *live = service->live[i]; live; live = live->next) {
            if (!live->clock.running || live->is_loading || count == CLOCKS_MAX ||
                live->due_ms - (double)now > EARLY_MS)
                continue;
            due[count] = (struct due){ .live = live, .dt = take_time(live, now) };
            if (due[count].dt == 0)
                continue;
            live->users++;
            count++;
        }
    }
    return count;
}

/* ---- sending --------------------------------------------------------------------------------- */

static mcp_status fill_in(universe_change *change, struct due *due, mcp_arena *arena)
{
    int length = snprintf(due->text, sizeof due->text, "{\"type\":\"tick\",\"dt\":%.17g}", due->dt);

    due->command = (universe_command){ .text = due->text, .length = (size_t)length };
    *change = (universe_change){ .kind = UNIVERSE_CHANGE_COMMANDS,
                                 .live = due->live,
                                 .commands = &due->command,
                                 .count = 1,
                                 .expected = UNIVERSE_ANY_VERSION,
                                 .actor = "clock",
                                 .arena = arena,
                                 .out = &due->result,
                                 .err = &due->err };
    return mcp_json_read(&due->command.json, arena, due->text, due->command.length, &due->err);
}

/* How one ended. */
static void settle(universe_service *service, struct due *due, mcp_status st)
{
    if (st == MCP_OK)
        universe_view_free(due->result.current.view);
    else
        give_back(service, due->live, due->dt);
    if (st != MCP_OK && st != MCP_E_NOT_FOUND && st != MCP_E_STOPPED)
        mcp_log_write(&service->options.log, MCP_LOG_WARNING, "universe %s: the clock's tick: %s",
                      due->live->id, due->err.message);
    universe_live_release(service, due->live);
}

/* The arena is that of all: the committing thread takes one change after the other. */
static void tick(universe_service *service, struct due *due, size_t count)
{
    universe_change changes[CLOCKS_MAX];
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? MCP_OK : MCP_E_NOMEM;

    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = fill_in(&changes[i], &due[i], arena);
    if (st == MCP_OK)
        universe_commit_all(service, changes, count);
    for (size_t i = 0; i < count; i++)
        settle(service, &due[i], st == MCP_OK ? changes[i].status : st);
    mcp_arena_free(arena);
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
            thread_wait(&service->rest, &service->lock, wait_ms);
            continue;
        }
        pthread_mutex_unlock(&service->lock);
        tick(service, due, count);
        pthread_mutex_lock(&service->lock);
    }
    pthread_mutex_unlock(&service->lock);
    return NULL;
}
