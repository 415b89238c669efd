/*
 * Views: what they show while the writer continues, to one thread and to many; what restoring
 * brings back.
 */
#include "../world.h"
#include "model/pages/memory.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../rich.h"

static const mcp_json *view_json(const universe_view *view, mcp_arena *arena)
{
    mcp_buf text;

    mcp_buf_init(&text, 1 << 24);
    assert_int_equal(universe_view_write(view, NULL, collect, &text, NULL, NULL), MCP_OK);
    const mcp_json *value = json_of(arena, text.data, text.length);
    mcp_buf_clear(&text);
    return value;
}

static void test_a_view_stays(void **unused)
{
    world w = rich_world();
    universe_view *view = NULL;
    (void)unused;

    const mcp_json *before = state_json(&w);
    assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
    accept(&w, "{'type':'removeStar','id':'sun'}", NULL);
    accept(&w, "{'type':'removeGroup','id':'g'}", NULL);
    add_star(&w, "new", NULL, "");
    assert_true(mcp_json_equal(before, view_json(view, w.arena)));
    assert_false(mcp_json_equal(before, state_json(&w)));
    universe_state_restore(w.state, view);
    assert_true(mcp_json_equal(before, state_json(&w)));
    assert_sound(&w);
    add_star(&w, "new", NULL, ""); /* and it continues from there */
    assert_true(mcp_json_equal(before, view_json(view, w.arena)));
    world_free(&w);
    w.arena = mcp_arena_new(0); /* a view outlives its state */
    assert_int_equal(mcp_json_count(mcp_json_get(view_json(view, w.arena), "stars")), 7);
    universe_view_free(universe_view_keep(view));
    universe_view_free(view);
    universe_view_free(NULL);
    mcp_arena_free(w.arena);
    assert_int_equal(universe_memory_used(), 0);
}

static void test_summary(void **unused)
{
    world w = rich_world();
    universe_view *view = NULL;
    universe_summary summary;
    mcp_buf text;
    (void)unused;

    state_text(&text, w.state, NULL);
    assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
    universe_view_summary(&summary, view);
    assert_int_equal(summary.counts[UNIVERSE_STARS], 7);
    assert_int_equal(summary.counts[UNIVERSE_GROUPS], 5);
    assert_int_equal(summary.counts[UNIVERSE_FIELDS], 2);
    assert_int_equal(summary.counts[UNIVERSE_DISKS], 1);
    assert_int_equal(summary.counts[UNIVERSE_NEBULAE], 1);
    assert_int_equal(summary.body_types[UNIVERSE_MOON], 1);
    assert_int_equal(summary.body_types[UNIVERSE_LAGRANGE_POINT], 1);
    assert_int_equal(summary.body_types[UNIVERSE_UNTYPED], 2);
    assert_int_equal(summary.roots, 2);
    assert_int_equal(summary.rogues, 1);
    assert_int_equal(summary.root_groups, 2);
    assert_true(summary.time == 12.25);
    assert_true(universe_view_time(view) == 12.25);
    assert_int_equal(universe_view_count(view, UNIVERSE_GROUPS), 5);
    assert_true(universe_view_has(view, UNIVERSE_GROUPS, "k", 1));
    assert_false(universe_view_has(view, UNIVERSE_STARS, "k", 1));
    assert_true(summary.bytes > 0.85 * (double)text.length &&
                summary.bytes < 1.15 * (double)text.length);
    universe_view_free(view);
    accept(&w, "{'type':'replaceSnapshot','snapshot':{'stars':{},'rootIds':[]}}", NULL);
    assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
    universe_view_summary(&summary, view);
    assert_in_range(summary.bytes, 100, 200);
    universe_view_free(view);
    mcp_buf_clear(&text);
    world_free(&w);
}

/* Many bodies come and go: rows and blocks are used again. */
static void test_memory_is_used_again(void **unused)
{
    world w = world_new();
    size_t first = 0;
    (void)unused;

    for (int round = 0; round < 6; round++) {
        mcp_arena *all = w.arena;
        for (int i = 0; i < 300; i++) {
            w.arena = mcp_arena_new(0);
            const char *text = quoted(
                w.arena,
                mcp_arena_printf(
                    w.arena,
                    "{'type':'addStar','id':'r%d','payload':{'name':'name of %d','mass':1,'radius':2,'color':'c%d','parentId':null,'orbitalDistance':10,'orbitalSpeed':5,'eccentricity':0.5,'u':[1,2,3]}}",
                    i, i, i));
            assert_int_equal(universe_apply(&w.outcome, w.state,
                                            json_of(w.arena, text, strlen(text)), text,
                                            strlen(text), NULL, w.arena, NULL),
                             MCP_OK);
            mcp_arena_free(w.arena);
        }
        for (int i = 0; i < 300; i++) {
            w.arena = mcp_arena_new(0);
            const char *text = quoted(
                w.arena, mcp_arena_printf(w.arena, "{'type':'removeStar','id':'r%d'}", i));
            assert_int_equal(universe_apply(&w.outcome, w.state,
                                            json_of(w.arena, text, strlen(text)), text,
                                            strlen(text), NULL, w.arena, NULL),
                             MCP_OK);
            assert_int_equal(w.outcome.verdict, UNIVERSE_APPLIED);
            mcp_arena_free(w.arena);
        }
        w.arena = all;
        if (round == 0)
            first = universe_memory_used();
    }
    assert_true(universe_memory_used() <= first + first / 10);
    world_free(&w);
}

/* ---- readers next to the writer -------------------------------------------------------------- */

enum { READERS = 3, COMMITS = 150 };

typedef struct stage {
    pthread_mutex_t lock;
    universe_view *newest;
    atomic_bool is_over;
    atomic_int reads;
} stage;

static universe_view *take_newest(stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    universe_view *view = universe_view_keep(stage->newest);
    pthread_mutex_unlock(&stage->lock);
    return view;
}

static void write_view(mcp_buf *out, const universe_view *view, universe_form form, bool is_fresh)
{
    const universe_projection how = { .form = form, .is_fresh = is_fresh };

    mcp_buf_init(out, 1 << 24);
    if (universe_view_write(view, &how, collect, out, NULL, NULL) != MCP_OK)
        abort();
}

/* The texts that readers keep for each other say what the rows say, in both forms. */
static void compare_kept(const universe_view *view)
{
    for (int form = UNIVERSE_PLAIN; form <= UNIVERSE_IN_STRING; form++) {
        mcp_buf kept;
        mcp_buf fresh;
        write_view(&kept, view, form, false);
        write_view(&fresh, view, form, true);
        if (kept.length != fresh.length || memcmp(kept.data, fresh.data, fresh.length) != 0)
            abort();
        mcp_buf_clear(&kept);
        mcp_buf_clear(&fresh);
    }
}

/* A view is sound and shows the same twice, whatever the writer does. */
static void *read_views(void *data)
{
    stage *stage = data;
    mcp_error err = MCP_ERROR_INIT;

    while (!atomic_load(&stage->is_over)) {
        universe_view *view = take_newest(stage);
        mcp_arena *arena = mcp_arena_new(0);
        if (universe_view_check(view, NULL, &err) != MCP_OK)
            abort();
        if (!mcp_json_equal(view_json(view, arena), view_json(view, arena)))
            abort();
        compare_kept(view);
        mcp_arena_free(arena);
        universe_view_free(view);
        atomic_fetch_add(&stage->reads, 1);
    }
    return NULL;
}

static void publish(stage *stage, universe_state *state)
{
    universe_view *view = NULL;

    assert_int_equal(universe_state_freeze(&view, state, NULL), MCP_OK);
    pthread_mutex_lock(&stage->lock);
    universe_view *old = stage->newest;
    stage->newest = view;
    pthread_mutex_unlock(&stage->lock);
    universe_view_free(old);
}

static void test_readers_next_to_the_writer(void **unused)
{
    world w = rich_world();
    stage stage = { .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_t readers[READERS];
    (void)unused;

    publish(&stage, w.state);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_views, &stage), 0);
    for (int i = 0; i < COMMITS || atomic_load(&stage.reads) < READERS; i++) {
        char id[16];
        snprintf(id, sizeof id, "n%d", i);
        add_star(&w, id, i % 3 ? "sun" : NULL, ",'orbitRotX':3");
        accept(&w,
               mcp_arena_printf(w.arena,
                                "{'type':'updateStar','id':'moon','payload':{'name':'%d'}}", i),
               NULL);
        universe_view *before = NULL;
        assert_int_equal(universe_state_freeze(&before, w.state, NULL), MCP_OK);
        accept(&w, "{'type':'removeStar','id':'sun'}", NULL);
        universe_state_restore(w.state, before);
        universe_view_free(before);
        publish(&stage, w.state);
    }
    atomic_store(&stage.is_over, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    universe_view_free(stage.newest);
    pthread_mutex_destroy(&stage.lock);
    world_free(&w);
    assert_int_equal(universe_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_view_stays),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_memory_is_used_again),
        cmocka_unit_test(test_readers_next_to_the_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
