/*
 * test_loop_queue.c - order, wake-up hints, and many threads at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "net/loop.h"

#define THREADS 4
#define EACH 5000

typedef struct item {
    mcp__node node; /* first */
    int producer;
    int number;
} item;

static mcp__queue queue;
static item items[THREADS][EACH];

static void nodes_come_out_in_order(void **state)
{
    (void)state;
    queue = (mcp__queue){ NULL };
    assert_null(mcp__queue_take(&queue));
    assert_true(mcp__queue_push(&queue, &items[0][0].node));
    assert_false(mcp__queue_push(&queue, &items[0][1].node));
    assert_false(mcp__queue_push(&queue, &items[0][2].node));
    mcp__node *node = mcp__queue_take(&queue);
    for (int i = 0; i < 3; i++, node = node->next)
        assert_ptr_equal(node, &items[0][i].node);
    assert_null(node);
    assert_true(mcp__queue_push(&queue, &items[0][0].node));
    assert_non_null(mcp__queue_take(&queue));
    assert_null(mcp__queue_take(&queue));
}

static void *produce(void *data)
{
    item *own = data;

    for (int i = 0; i < EACH; i++)
        (void)mcp__queue_push(&queue, &own[i].node);
    return NULL;
}

static void each_producer_keeps_its_order(void **state)
{
    pthread_t threads[THREADS];
    int next[THREADS] = { 0 };
    int seen = 0;

    (void)state;
    queue = (mcp__queue){ NULL };
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < EACH; i++)
            items[t][i] = (item){ .producer = t, .number = i };
        assert_int_equal(pthread_create(&threads[t], NULL, produce, items[t]), 0);
    }
    while (seen < THREADS * EACH)
        for (mcp__node *node = mcp__queue_take(&queue); node; node = node->next, seen++) {
            const item *found = (const item *)node;
            assert_int_equal(found->number, next[found->producer]++);
        }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_null(mcp__queue_take(&queue));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_out_in_order),
        cmocka_unit_test(each_producer_keeps_its_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
