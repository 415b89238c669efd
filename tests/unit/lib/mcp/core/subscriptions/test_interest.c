/*
 * test_interest.c - who is looked at when a key changes: those who want it, and nobody else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mcp/core/subscriptions/interest.h"

#define LISTENERS 1000
#define KEYS 100

static size_t count(const mcp__interests *all, const char *key)
{
    size_t found = 0;

    for (const mcp__interest *i = mcp__interest_first(all, key, strlen(key)); i; i = i->next) {
        assert_string_equal(mcp__interest_key(i), key);
        found++;
    }
    return found;
}

/* Listener n wants the keys that divide it, so key k has those at 0, k, 2k, ... */
static void a_key_leads_to_its_listeners_alone(void **state)
{
    static mcp__interest interests[LISTENERS][KEYS];
    mcp__interests all;
    char key[16];

    (void)state;
    mcp__interests_init(&all);
    for (int n = 0; n < LISTENERS; n++)
        for (int k = 1; k < KEYS; k++) {
            (void)snprintf(key, sizeof key, "a://%d", k);
            if (n % k == 0)
                assert_int_equal(mcp__interest_add(&all, &interests[n][k], key, strlen(key)),
                                 MCP_OK);
        }
    for (int k = 1; k < KEYS; k++) {
        (void)snprintf(key, sizeof key, "a://%d", k);
        assert_int_equal(count(&all, key), (LISTENERS + k - 1) / k);
    }
    assert_int_equal(count(&all, "a://"), 0);
    assert_int_equal(count(&all, "a://100"), 0);
    for (int n = 0; n < LISTENERS; n++)
        for (int k = 1; k < KEYS; k++)
            mcp__interest_remove(&interests[n][k]); /* those that are not in are passed over */
    assert_int_equal(all.topics.count, 0);
    mcp__interests_clear(&all);
}

static void the_first_the_middle_and_the_last_may_leave(void **state)
{
    mcp__interest interests[4] = { { 0 } };
    mcp__interests all;

    (void)state;
    mcp__interests_init(&all);
    for (int i = 0; i < 4; i++)
        assert_int_equal(mcp__interest_add(&all, &interests[i], "k", 1), MCP_OK);
    mcp__interest_remove(&interests[1]);
    assert_int_equal(count(&all, "k"), 3);
    mcp__interest_remove(&interests[0]);
    assert_int_equal(count(&all, "k"), 2);
    mcp__interest_remove(&interests[3]);
    assert_int_equal(count(&all, "k"), 1);
    assert_ptr_equal(mcp__interest_first(&all, "k", 1), &interests[2]);
    mcp__interest_remove(&interests[2]);
    assert_null(mcp__interest_first(&all, "k", 1));
    mcp__interests_clear(&all);
}

static void what_finds_no_memory_is_not_in(void **state)
{
    mcp__interest interest = { 0 };
    mcp_status st = MCP_E_NOMEM;
    mcp__interests all;

    (void)state;
    mcp__interests_init(&all);
    for (long at = 0; st != MCP_OK; at++) {
        assert_true(at < 10);
        mcp__alloc_fail_after(at);
        st = mcp__interest_add(&all, &interest, "k", 1);
        mcp__alloc_fail_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        assert_int_equal(count(&all, "k"), st == MCP_OK);
    }
    mcp__interest_remove(&interest);
    mcp__interest_remove(&interest);
    mcp__interests_clear(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_leads_to_its_listeners_alone),
        cmocka_unit_test(the_first_the_middle_and_the_last_may_leave),
        cmocka_unit_test(what_finds_no_memory_is_not_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
