/*
 * test_team.c - every member works in every region, and each region is over when it returns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "oom.h"
#include "thread/team.h"

enum { MEMBERS = 4, REGIONS = 2000 };

typedef struct region {
    int value;         /* written by the caller before the region */
    int seen[MEMBERS]; /* written by the members */
    int pause_us;      /* of the members before they write */
} region;

static void copy_value(void *data, unsigned member)
{
    region *r = data;

    if (r->pause_us > 0)
        usleep((useconds_t)r->pause_us * member);
    r->seen[member] = r->value;
}

static void run_regions(int count, int pause_us)
{
    thread_team *team = NULL;

    assert_int_equal(thread_team_new(&team, MEMBERS, NULL), MCP_OK);
    assert_int_equal(thread_team_size(team), MEMBERS);
    for (int i = 1; i <= count; i++) {
        region r = { .value = i, .pause_us = pause_us };
        thread_team_run(team, copy_value, &r);
        for (unsigned m = 0; m < MEMBERS; m++)
            assert_int_equal(r.seen[m], i);
    }
    thread_team_free(team);
}

static void regions_in_a_row(void **state)
{
    (void)state;
    run_regions(REGIONS, 0);
}

/* Members and caller sleep, because the others take longer than they poll. */
static void regions_that_take_long(void **state)
{
    (void)state;
    run_regions(5, 3000);
}

/* The members sleep between two regions. */
static void regions_far_apart(void **state)
{
    thread_team *team = NULL;

    (void)state;
    assert_int_equal(thread_team_new(&team, 2, NULL), MCP_OK);
    for (int i = 1; i <= 5; i++) {
        region r = { .value = i };
        usleep(3000);
        thread_team_run(team, copy_value, &r);
        assert_int_equal(r.seen[0], i);
        assert_int_equal(r.seen[1], i);
    }
    thread_team_free(team);
}

static void a_team_of_one(void **state)
{
    thread_team *team = NULL;
    region r = { .value = 7 };

    (void)state;
    for (unsigned size = 0; size < 2; size++) {
        assert_int_equal(thread_team_new(&team, size, NULL), MCP_OK);
        assert_int_equal(thread_team_size(team), 1);
        thread_team_run(team, copy_value, &r);
        assert_int_equal(r.seen[0], 7);
        thread_team_free(team);
    }
    thread_team_free(NULL);
}

/* When no thread can be started (no address space for its stack) the team is the caller alone. */
static void threads_that_are_refused(void **state)
{
    pthread_attr_t usual, huge;
    thread_team *team = NULL;

    (void)state;
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_getattr_default_np(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    assert_int_equal(thread_team_new(&team, MEMBERS, NULL), MCP_OK);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    assert_int_equal(thread_team_size(team), 1);
    region r = { .value = 3 };
    thread_team_run(team, copy_value, &r);
    assert_int_equal(r.seen[0], 3);
    thread_team_free(team);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
}

static mcp_status make_team(void *data)
{
    thread_team *team = NULL;
    mcp_status st = thread_team_new(&team, 2, NULL);

    (void)data;
    if (st == MCP_OK)
        thread_team_free(team);
    return st;
}

static void a_lack_of_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(make_team, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_are_refused),
        cmocka_unit_test(regions_in_a_row),
        cmocka_unit_test(regions_that_take_long),
        cmocka_unit_test(regions_far_apart),
        cmocka_unit_test(a_team_of_one),
        cmocka_unit_test(a_lack_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
