/*
 * team.c - a region begins when `region` grows and ends when `at_work` is zero.
 *
 * Both are polled first. The lock is for sleeping: `region` grows with it held, so that no member
 * falls asleep over a region that has begun, and the last member takes it before it wakes the
 * caller.
 */
#include "thread/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"

/* About what waking a thread takes. */
#define POLL_NS 30000

/* Looks at a variable between two looks at the clock. */
#define LOOKS 64

struct member {
    thread_team *team;
    unsigned number;
    pthread_t thread;
};

struct thread_team {
    unsigned size;
    atomic_uint region;  /* how many have begun */
    atomic_uint at_work; /* members other than the caller that have not returned */
    bool is_ending;      /* written between regions */
    void (*work)(void *data, unsigned member);
    void *data;
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    struct member members[]; /* without the caller: member n is the entry n - 1 */
};

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Poll until the variable is no longer `value`. False: it still is, after POLL_NS. */
static bool poll_change(atomic_uint *variable, unsigned value)
{
    int64_t end_ns = mcp_clock_mono_ns() + POLL_NS;

    do {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(variable, memory_order_acquire) != value)
                return true;
            pause_processor();
        }
    } while (mcp_clock_mono_ns() < end_ns);
    return false;
}

static void wait_for_region(thread_team *team, unsigned seen)
{
    if (poll_change(&team->region, seen))
        return;
    pthread_mutex_lock(&team->lock);
    while (atomic_load_explicit(&team->region, memory_order_acquire) == seen)
        pthread_cond_wait(&team->begun, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

static void *member_main(void *data)
{
    struct member *self = data;
    thread_team *team = self->team;

    for (unsigned seen = 0;; seen++) {
        wait_for_region(team, seen);
        if (team->is_ending)
            return NULL;
        team->work(team->data, self->number);
        if (atomic_fetch_sub_explicit(&team->at_work, 1, memory_order_acq_rel) > 1)
            continue;
        pthread_mutex_lock(&team->lock);
        pthread_cond_signal(&team->ended);
        pthread_mutex_unlock(&team->lock);
    }
}

mcp_status thread_team_new(thread_team **out, unsigned size, mcp_error *err)
{
    unsigned others = size > 1 ? size - 1 : 0;
    thread_team *team = mcp_alloc_zeroed(1, sizeof *team + others * sizeof team->members[0]);

    if (!team)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %u threads", size);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begun, NULL);
    pthread_cond_init(&team->ended, NULL);
    for (team->size = 1; team->size <= others; team->size++) {
        struct member *member = &team->members[team->size - 1];
        member->team = team;
        member->number = team->size;
        if (pthread_create(&member->thread, NULL, member_main, member) != 0)
            break;
    }
    *out = team;
    return MCP_OK;
}

unsigned thread_team_size(const thread_team *team)
{
    return team->size;
}

static void begin_region(thread_team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add_explicit(&team->region, 1, memory_order_release);
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
}

static void wait_for_members(thread_team *team)
{
    for (;;) {
        unsigned left = atomic_load_explicit(&team->at_work, memory_order_acquire);
        if (left == 0)
            return;
        if (poll_change(&team->at_work, left))
            continue;
        pthread_mutex_lock(&team->lock);
        while (atomic_load_explicit(&team->at_work, memory_order_acquire) > 0)
            pthread_cond_wait(&team->ended, &team->lock);
        pthread_mutex_unlock(&team->lock);
    }
}

void thread_team_run(thread_team *team, void (*work)(void *data, unsigned member), void *data)
{
    team->work = work;
    team->data = data;
    if (team->size > 1) {
        atomic_store_explicit(&team->at_work, team->size - 1, memory_order_relaxed);
        begin_region(team);
    }
    work(data, 0);
    wait_for_members(team);
}

void thread_team_free(thread_team *team)
{
    if (!team)
        return;
    team->is_ending = true;
    begin_region(team);
    for (unsigned i = 0; i + 1 < team->size; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->begun);
    pthread_cond_destroy(&team->ended);
    pthread_mutex_destroy(&team->lock);
    free(team);
}
