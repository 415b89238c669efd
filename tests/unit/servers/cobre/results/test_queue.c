/*
 * test_queue.c - scenarios are written in their order, by another thread, and a failure comes back.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "results/queue.h"

#define SLOTS 3

struct world {
    struct queue queue;
    struct queue_slot slots[SLOTS];
    mcp_error err;

    pthread_mutex_t lock; /* guards what is below */
    pthread_cond_t moved;
    bool is_held; /* the writing thread waits before it writes */
    uint32_t written[100];
    size_t count;
    uint32_t fails_at;
    pthread_t writer;
};

static int set_up(void **state)
{
    static struct world world;

    world = (struct world){ .fails_at = UINT32_MAX };
    pthread_mutex_init(&world.lock, NULL);
    pthread_cond_init(&world.moved, NULL);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    queue_end(&world->queue);
    pthread_cond_destroy(&world->moved);
    pthread_mutex_destroy(&world->lock);
    return 0;
}

static mcp_status write_down(const struct queue_slot *slot, void *data, mcp_error *err)
{
    struct world *world = data;

    pthread_mutex_lock(&world->lock);
    while (world->is_held)
        pthread_cond_wait(&world->moved, &world->lock);
    bool fails = slot->scenario == world->fails_at;
    if (!fails)
        world->written[world->count++] = slot->scenario;
    world->writer = pthread_self();
    pthread_mutex_unlock(&world->lock);
    return fails ? mcp_error_set(err, MCP_E_IO, "scenario %u: made up", (unsigned)slot->scenario)
                 : MCP_OK;
}

static void hold(struct world *world, bool is_held)
{
    pthread_mutex_lock(&world->lock);
    world->is_held = is_held;
    pthread_cond_broadcast(&world->moved);
    pthread_mutex_unlock(&world->lock);
}

static mcp_status submit(struct world *world, uint32_t scenario)
{
    struct queue_slot *slot = NULL;
    mcp_status st = queue_vacant(&slot, &world->queue, &world->err);

    if (st != MCP_OK)
        return st;
    slot->scenario = scenario;
    queue_submit(&world->queue);
    return MCP_OK;
}

static void expect_written(const struct world *world, uint32_t count)
{
    assert_int_equal(world->count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(world->written[i], i);
}

static void all_are_written_in_order_by_another_thread(void **state)
{
    struct world *world = *state;

    queue_begin(&world->queue, world->slots, SLOTS, write_down, world);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(submit(world, i), MCP_OK);
    queue_end(&world->queue);
    expect_written(world, 100);
    assert_int_equal(world->queue.written, 100);
    assert_int_equal(world->queue.failed, 0);
    assert_int_equal(world->queue.failure.status, MCP_OK);
    assert_false(pthread_equal(world->writer, pthread_self()));
}

/* As many as there are slots are accepted while not one can be written. */
static void the_first_thread_does_not_wait_for_the_disk(void **state)
{
    struct world *world = *state;

    hold(world, true);
    queue_begin(&world->queue, world->slots, SLOTS, write_down, world);
    for (uint32_t i = 0; i < SLOTS; i++)
        assert_int_equal(submit(world, i), MCP_OK);
    assert_int_equal(world->count, 0);
    hold(world, false);
    for (uint32_t i = SLOTS; i < 50; i++)
        assert_int_equal(submit(world, i), MCP_OK);
    queue_end(&world->queue);
    expect_written(world, 50);
}

/* The failure ends the waiting for a slot, and no later scenario is written. */
static void a_failure_comes_back_and_ends_the_writing(void **state)
{
    struct world *world = *state;
    uint32_t i = 0;

    world->fails_at = 2;
    queue_begin(&world->queue, world->slots, SLOTS, write_down, world);
    while (i < 100 && submit(world, i) == MCP_OK)
        i++;
    assert_in_range(i, 3, 2 + SLOTS + 1);
    assert_int_equal(world->err.status, MCP_E_IO);
    assert_string_equal(world->err.message, "scenario 2: made up");
    assert_int_equal(submit(world, 7), MCP_E_IO);
    queue_end(&world->queue);
    expect_written(world, 2);
    assert_int_equal(world->queue.written, 2);
    assert_int_equal(world->queue.failed, 1);
    assert_string_equal(world->queue.failure.message, "scenario 2: made up");
}

/* A failure that nobody asked for is there at the end. */
static void a_late_failure_is_kept(void **state)
{
    struct world *world = *state;

    world->fails_at = 1;
    hold(world, true);
    queue_begin(&world->queue, world->slots, SLOTS, write_down, world);
    for (uint32_t i = 0; i < SLOTS; i++)
        assert_int_equal(submit(world, i), MCP_OK);
    hold(world, false);
    queue_end(&world->queue);
    expect_written(world, 1);
    assert_int_equal(world->queue.failure.status, MCP_E_IO);
}

/* A stack larger than any address space: the system has no thread. */
static void without_a_thread_the_first_one_writes(void **state)
{
    struct world *world = *state;
    pthread_attr_t before, huge;

    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 56), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    queue_begin(&world->queue, world->slots, SLOTS, write_down, world);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&before);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(submit(world, i), MCP_OK);
        assert_int_equal(world->count, i + 1);
    }
    assert_true(pthread_equal(world->writer, pthread_self()));
    world->fails_at = 10;
    assert_int_equal(submit(world, 10), MCP_OK);
    assert_int_equal(submit(world, 11), MCP_E_IO);
    queue_end(&world->queue);
    assert_int_equal(world->queue.written, 10);
}

static void a_queue_that_never_began_ends(void **state)
{
    struct world *world = *state;

    queue_end(&world->queue);
    queue_begin(&world->queue, world->slots, SLOTS, write_down, world);
    queue_end(&world->queue);
    queue_end(&world->queue);
    assert_int_equal(world->count, 0);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(all_are_written_in_order_by_another_thread),
        EACH(the_first_thread_does_not_wait_for_the_disk),
        EACH(a_failure_comes_back_and_ends_the_writing),
        EACH(a_late_failure_is_kept),
        EACH(without_a_thread_the_first_one_writes),
        EACH(a_queue_that_never_began_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
