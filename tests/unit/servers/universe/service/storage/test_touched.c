/*
 * test_touched.c - what many entries changed, gathered within bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "service/storage/touched.h"

enum { ENTRIES = 400000 };

static void gather(universe_gatherer *to, const char *id, bool removed)
{
    char text[128];
    mcp_arena *scratch = mcp_arena_new(0);
    int length = snprintf(text, sizeof text, "{\"touched\":[[0,\"%s\",%s]]}", id,
                          removed ? "true" : "false");
    assert_int_equal(universe_gather_text(to, text, (size_t)length, scratch, NULL), MCP_OK);
    mcp_arena_free(scratch);
}

/* One body that is changed again and again costs little, and is listed once, as it ended. */
static void what_comes_again_is_kept_once(void **unused)
{
    universe_gatherer to = { .arena = mcp_arena_new((size_t)64 << 20) };
    universe_changes changes;
    (void)unused;
    for (int i = 0; i < ENTRIES; i++)
        gather(&to, i % 2 == 0 ? "earth" : "mars", i == ENTRIES - 1);
    universe_gathered(&changes, &to);
    assert_false(changes.everything);
    assert_int_equal(changes.count, 2);
    for (size_t i = 0; i < changes.count; i++) {
        bool is_mars = changes.touches[i].length == 4 &&
                       memcmp(changes.touches[i].id, "mars", 4) == 0;
        assert_int_equal(changes.touches[i].removed, is_mars);
    }
    mcp_arena_free(to.arena);
}

static void too_many_entities_are_everything(void **unused)
{
    universe_gatherer to = { .arena = mcp_arena_new((size_t)64 << 20) };
    universe_changes changes;
    (void)unused;
    for (int i = 0; i < ENTRIES && !to.everything; i++) {
        char id[16];
        snprintf(id, sizeof id, "b-%d", i);
        gather(&to, id, false);
    }
    universe_gathered(&changes, &to);
    assert_true(changes.everything);
    assert_int_equal(changes.count, 0);
    mcp_arena_free(to.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_again_is_kept_once),
        cmocka_unit_test(too_many_entities_are_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
