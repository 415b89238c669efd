/*
 * test_outcome.c - memory runs out at every place of a change, of a load, of a look back: the
 * sender gets an error, nothing has changed that was called a failure, nothing is lost that was
 * called done, and the next one is served.
 */
#include "../service_rig.h"

#include "base/alloc.h"
#include "model/pages/memory.h"
#include "service/service_int.h"

enum { ROUNDS_MAX = 4000, SERVED = 12 };

typedef void refuse_after(long successes);

/* What runs out: the library's memory, or that of the model. */
static refuse_after *const memories[] = { mcp__alloc_fail_after, universe_memory_refuse_after };

struct walk {
    service_rig rig;
    scratch folder;
    universe_command commands[4];
    universe_view *other; /* a state to put in its place */
    int64_t version;      /* what "u" is at */
};

typedef mcp_status step(struct walk *walk, mcp_arena *arena, mcp_error *err);

static void read_commands(struct walk *walk, int round)
{
    const char *const texts[] = {
        "{\"type\":\"tick\",\"dt\":1}",
        service_rig_body(&walk->rig, mcp_arena_printf(walk->rig.arena, "a-%d", round)),
        service_rig_body(&walk->rig, mcp_arena_printf(walk->rig.arena, "b-%d", round)),
        mcp_arena_printf(walk->rig.arena, "{\"type\":\"removeStar\",\"id\":\"a-%d\"}", round),
    };
    for (size_t i = 0; i < 4; i++) {
        walk->commands[i] = (universe_command){ .text = texts[i], .length = strlen(texts[i]) };
        assert_int_equal(mcp_json_read(&walk->commands[i].json, walk->rig.arena, texts[i],
                                       walk->commands[i].length, NULL),
                         MCP_OK);
    }
}

static mcp_status change(struct walk *walk, mcp_arena *arena, mcp_error *err)
{
    universe_result result = { 0 };
    mcp_status st = universe_service_submit(&result, walk->rig.service, "u", walk->commands, 4,
                                            UNIVERSE_ANY_VERSION, NULL, arena, err);
    if (st == MCP_OK) {
        assert_int_equal(result.answer, UNIVERSE_DONE);
        walk->version += 4;
        assert_int_equal(result.current.record.version, walk->version);
        universe_view_free(result.current.view);
    }
    return st;
}

static mcp_status replace(struct walk *walk, mcp_arena *arena, mcp_error *err)
{
    const universe_replacement by = { .view = walk->other, .label = "{\"type\":\"import\"}" };
    universe_result result = { 0 };
    mcp_status st = universe_service_replace(&result, walk->rig.service, "u", &by,
                                             UNIVERSE_ANY_VERSION, NULL, arena, err);
    if (st == MCP_OK) {
        walk->version++;
        assert_int_equal(result.current.record.version, walk->version);
        universe_view_free(result.current.view);
    }
    return st;
}

/* There is room for one universe in memory: "u" is read again. */
static mcp_status load(struct walk *walk, mcp_arena *arena, mcp_error *err)
{
    universe_version current = { 0 };
    mcp_status st = universe_service_get(&current, walk->rig.service, "v", arena, err);
    universe_view_free(current.view);
    current.view = NULL;
    if (st == MCP_OK)
        st = universe_service_get(&current, walk->rig.service, "u", arena, err);
    universe_view_free(current.view);
    return st;
}

static mcp_status look_back(struct walk *walk, mcp_arena *arena, mcp_error *err)
{
    universe_view *view = NULL;
    (void)arena;
    mcp_status st = universe_service_at(&view, walk->rig.service, "u", walk->version - 1, err);
    universe_view_free(view);
    return st;
}

static mcp_status gather(struct walk *walk, mcp_arena *arena, mcp_error *err)
{
    universe_version current = { 0 };
    universe_changes changes = { 0 };
    mcp_status st = universe_service_get(&current, walk->rig.service, "u", arena, err);
    if (st == MCP_OK)
        st = universe_service_changes(&changes, walk->rig.service, &current, 0, arena, err);
    universe_view_free(current.view);
    return st;
}

/* Its text, which is written when there is memory again. */
static char *state_of(struct walk *walk, universe_view *view)
{
    mcp_buf text;
    mcp_buf_init(&text, 1 << 24);
    assert_int_equal(universe_view_write(view, NULL, universe_into_buf, &text, NULL, NULL), MCP_OK);
    char *copy = mcp_arena_strndup(walk->rig.arena, text.data, text.length);
    mcp_buf_clear(&text);
    assert_non_null(copy);
    return copy;
}

/* What is served is what was acknowledged, and what the log says. */
static void check(struct walk *walk)
{
    universe_version current = { 0 };
    universe_view *again = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    assert_int_equal(universe_service_get(&current, walk->rig.service, "u", arena, &walk->rig.err),
                     MCP_OK);
    assert_int_equal(current.record.version, walk->version);
    assert_int_equal(
        universe_service_at(&again, walk->rig.service, "u", walk->version, &walk->rig.err), MCP_OK);
    assert_string_equal(state_of(walk, current.view), state_of(walk, again));
    universe_view_free(current.view);
    universe_view_free(again);
    mcp_arena_free(arena);
}

/* From the first allocation on, until the step is served although so many later ones are refused.
 * @return how often it was not */
static int walk_through(struct walk *walk, refuse_after *refuse, step *take)
{
    int served = 0, failed = 0;
    for (int round = 0; served < SERVED; round++) {
        mcp_error err = MCP_ERROR_INIT;
        mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
        assert_true(round < ROUNDS_MAX);
        read_commands(walk, round);
        refuse(round);
        mcp_status st = take(walk, arena, &err);
        refuse(-1);
        if (st != MCP_OK && st != MCP_E_NOMEM)
            fail_msg("round %d: %s: %s", round, mcp_status_name(st), err.message);
        served = st == MCP_OK ? served + 1 : 0;
        failed += st != MCP_OK;
        mcp_arena_free(arena);
        check(walk);
    }
    return failed;
}

static void run(step *take)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) {
        struct walk walk = { .version = 0 };
        char url[1024];
        universe_state *state = NULL;
        scratch_open(&walk.folder);
        snprintf(url, sizeof url, "sqlite:%s", scratch_path(&walk.folder, "u.db"));
        walk.rig = service_rig_open(url, (universe_service_options){ .loaded_max = 1 });
        service_rig_create(&walk.rig, "u", NULL);
        service_rig_create(&walk.rig, "v", NULL);
        walk.version = service_rig_send(&walk.rig, "u", service_rig_body(&walk.rig, "first"));
        assert_int_equal(universe_state_new(&state, NULL), MCP_OK);
        assert_int_equal(universe_state_freeze(&walk.other, state, NULL), MCP_OK);
        failed += walk_through(&walk, memories[i], take);
        universe_view_free(walk.other);
        universe_state_free(state);
        service_rig_close(&walk.rig);
        scratch_close(&walk.folder);
    }
    assert_true(failed > 0);
}

static void memory_runs_out_in_a_change(void **state)
{
    (void)state;
    run(change);
}

static void memory_runs_out_in_a_replacement(void **state)
{
    (void)state;
    run(replace);
}

static void memory_runs_out_in_a_load(void **state)
{
    (void)state;
    run(load);
}

static void memory_runs_out_in_a_look_back(void **state)
{
    (void)state;
    run(look_back);
}

static void memory_runs_out_where_changes_are_gathered(void **state)
{
    (void)state;
    run(gather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_runs_out_in_a_change),
        cmocka_unit_test(memory_runs_out_in_a_replacement),
        cmocka_unit_test(memory_runs_out_in_a_load),
        cmocka_unit_test(memory_runs_out_in_a_look_back),
        cmocka_unit_test(memory_runs_out_where_changes_are_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
