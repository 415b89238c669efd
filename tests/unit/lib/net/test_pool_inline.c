/*
 * test_pool_inline.c - the executor without threads: at once, held, or full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "inline.h"
#include <cmocka.h>

typedef struct job {
    mcp__task task; /* first */
    int worked;
    int done;
} job;

static bool work(mcp__task *task)
{
    ((job *)task)->worked++;
    return true;
}

static void done(mcp__task *task)
{
    assert_int_equal(((job *)task)->worked, ++((job *)task)->done);
}

static mcp__inline self;
static job jobs[2];

static int set_up(void **state)
{
    (void)state;
    mcp__inline_init(&self);
    for (int i = 0; i < 2; i++)
        jobs[i] = (job){ .task = { .work = work, .done = done } };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return 0;
}

static mcp_status submit(job *one, mcp__lane lane)
{
    return self.executor.submit(&self.executor, &one->task, lane, NULL);
}

static void work_runs_within_submit(void **state)
{
    (void)state;
    assert_int_equal(submit(&jobs[0], MCP__LANE_SHORT), MCP_OK);
    assert_int_equal(submit(&jobs[1], MCP__LANE_LONG), MCP_OK);
    assert_int_equal(jobs[0].done, 1);
    assert_int_equal(jobs[1].done, 1);
    assert_false(mcp__inline_step(&self));
}

static void held_work_runs_step_by_step(void **state)
{
    (void)state;
    self.is_held = true;
    assert_int_equal(submit(&jobs[0], MCP__LANE_SHORT), MCP_OK);
    assert_int_equal(submit(&jobs[1], MCP__LANE_LONG), MCP_OK);
    assert_int_equal(self.held, 2);
    assert_int_equal(jobs[0].worked, 0);
    assert_true(mcp__inline_step(&self));
    assert_int_equal(jobs[0].done, 1);
    assert_int_equal(jobs[1].done, 0);
    assert_true(mcp__inline_step(&self));
    assert_int_equal(jobs[1].done, 1);
    assert_false(mcp__inline_step(&self));
    assert_int_equal(self.held, 0);
}

static int posted;

static void on_posted(mcp__node *node)
{
    (void)node;
    posted++;
}

static void *hand_in(void *node)
{
    self.executor.post(&self.executor, node);
    self.executor.again(&self.executor, &jobs[0].task);
    return NULL;
}

static void what_another_thread_hands_in_waits(void **state)
{
    mcp__node node = { .run = on_posted };
    pthread_t thread;

    (void)state;
    posted = 0;
    assert_false(mcp__inline_await(&self, 0));
    assert_int_equal(pthread_create(&thread, NULL, hand_in, &node), 0);
    pthread_join(thread, NULL);
    assert_int_equal(posted + jobs[0].done, 0);
    assert_true(mcp__inline_await(&self, 20000));
    assert_int_equal(posted, 1);
    assert_int_equal(jobs[0].done, 1);
}

static void a_full_executor_takes_nothing(void **state)
{
    (void)state;
    self.is_full = true;
    assert_int_equal(submit(&jobs[0], MCP__LANE_LONG), MCP_E_BUSY);
    assert_int_equal(jobs[0].worked, 0);
}

static int posted;

static void on_post(mcp__node *node)
{
    (void)node;
    posted++;
}

static void what_is_posted_runs_at_once(void **state)
{
    mcp__node node = { .run = on_post };

    (void)state;
    posted = 0;
    self.is_held = true;
    self.executor.post(&self.executor, &node);
    assert_int_equal(posted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(work_runs_within_submit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(held_work_runs_step_by_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_another_thread_hands_in_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_executor_takes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_posted_runs_at_once, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
