/*
 * test_sources.c - syncs of registered folders: what is written when, and what others may do
 * meanwhile.
 */
#include "store_rig.h"

#include "jobs/state/sources.h"
#include "mcp/clock.h"

enum { MANY = 600 }; /* more than a batch */

typedef struct rig {
    store_rig store;
    int64_t source;
} rig;

static int set_up(void **state)
{
    static rig self;
    rig_init(&self.store);
    rig_open(&self.store);
    rig_expect(&self.store,
               casparian_source_register(&self.source, self.store.store, "inbox", "/data/inbox",
                                         &self.store.err),
               MCP_OK);
    *state = &self;
    return 0;
}

static int tear_down(void **state)
{
    rig *self = *state;
    rig_close(&self->store);
    return 0;
}

static casparian_sync *begin(rig *self)
{
    casparian_sync *sync = NULL;
    rig_expect(&self->store,
               casparian_sync_begin(&sync, self->store.store, self->source, true, &self->store.err),
               MCP_OK);
    return sync;
}

/* The text of the path is gone when this returns, as that of a scan is. */
static mcp_status find(rig *self, casparian_sync *sync, int number)
{
    char path[64];
    snprintf(path, sizeof path, "/data/inbox/%d.csv", number);
    const char *name = strrchr(path, '/') + 1;
    const casparian_found found = {
        .path = path, .relative = name, .name = name, .size = 1, .mtime_s = 1, .inode = 7
    };
    mcp_status st = casparian_sync_file(sync, &found, &self->store.err);
    memset(path, 'x', sizeof path - 1);
    return st;
}

static void find_all(rig *self, casparian_sync *sync, int from, int to)
{
    for (int i = from; i < to; i++)
        rig_expect(&self->store, find(self, sync, i), MCP_OK);
}

static void end(rig *self, casparian_sync *sync, mcp_status st, mcp_status expected)
{
    rig_expect(&self->store, casparian_sync_end(sync, st, &self->store.err), expected);
}

static casparian_source source_of(rig *self)
{
    casparian_source source;
    rig_expect(&self->store,
               casparian_source_find(&source, self->store.store, self->store.arena, "inbox",
                                     &self->store.err),
               MCP_OK);
    return source;
}

static void next_millisecond(void)
{
    for (int64_t now = mcp_clock_wall_ms(); mcp_clock_wall_ms() == now;) {
    }
}

static void all_files_are_registered_each_once(void **state)
{
    rig *self = *state;
    for (int round = 0; round < 2; round++) {
        casparian_sync *sync = begin(self);
        find_all(self, sync, 0, MANY);
        end(self, sync, MCP_OK, MCP_OK);
        assert_int_equal(source_of(self).file_count, MANY);
    }
    assert_true(source_of(self).last_scan_ms > 0);
}

static void others_write_while_a_sync_looks(void **state)
{
    rig *self = *state;
    int64_t id = 0;
    casparian_sync *sync = begin(self);
    find_all(self, sync, 0, MANY);
    rig_expect(
        &self->store,
        casparian_source_register(&id, self->store.store, "other", "/data/other", &self->store.err),
        MCP_OK);
    rig_expect(&self->store,
               casparian_rule_add(&id, self->store.store, self->source, "*.csv", "csv", 0,
                                  &self->store.err),
               MCP_OK);
    end(self, sync, MCP_OK, MCP_OK);
    assert_int_equal(source_of(self).file_count, MANY);
}

static void a_whole_sync_forgets_what_is_gone(void **state)
{
    rig *self = *state;
    casparian_sync *sync = begin(self);
    find_all(self, sync, 0, MANY);
    end(self, sync, MCP_OK, MCP_OK);
    next_millisecond();
    sync = begin(self);
    find_all(self, sync, 0, MANY - 10);
    end(self, sync, MCP_OK, MCP_OK);
    assert_int_equal(source_of(self).file_count, MANY - 10);
}

/* What was written stays, and nothing is taken for gone. */
static void a_sync_that_fails_forgets_nothing(void **state)
{
    rig *self = *state;
    casparian_sync *sync = begin(self);
    find_all(self, sync, 0, 10);
    end(self, sync, MCP_OK, MCP_OK);
    int64_t before = source_of(self).last_scan_ms;
    sync = begin(self);
    find_all(self, sync, 100, 100 + MANY);
    end(self, sync, MCP_E_IO, MCP_E_IO);
    casparian_source source = source_of(self);
    assert_true(source.file_count >= 10 && source.file_count < 10 + MANY);
    assert_int_equal(source.last_scan_ms, before);
    end(self, NULL, MCP_E_IO, MCP_E_IO);
}

/* The one that began first writes last: the files are not older for that. */
static void two_syncs_at_once_agree(void **state)
{
    rig *self = *state;
    casparian_sync *first = begin(self);
    next_millisecond();
    casparian_sync *second = begin(self);
    find_all(self, second, 0, MANY);
    find_all(self, first, 0, MANY);
    end(self, first, MCP_OK, MCP_OK);
    end(self, second, MCP_OK, MCP_OK);
    assert_int_equal(source_of(self).file_count, MANY);
}

static void a_source_that_is_removed_meanwhile(void **state)
{
    rig *self = *state;
    casparian_sync *sync = begin(self);
    find_all(self, sync, 0, 3);
    rig_expect(&self->store,
               casparian_source_remove(self->store.store, self->source, &self->store.err), MCP_OK);
    end(self, sync, MCP_OK, MCP_E_NOT_FOUND);
    assert_non_null(strstr(self->store.err.message, "removed during the scan"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_files_are_registered_each_once),
        TEST(others_write_while_a_sync_looks),
        TEST(a_whole_sync_forgets_what_is_gone),
        TEST(a_sync_that_fails_forgets_nothing),
        TEST(two_syncs_at_once_agree),
        TEST(a_source_that_is_removed_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
