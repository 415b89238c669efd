/*
 * A state as JSON: whole, by fields, by ids, by types, by pages; one entity; deltas; numbers.
 */
#include "../../world.h"

#include <math.h>

#include "../../rich.h"

static const mcp_json *part_json(world *w, const universe_projection *part, uint64_t *next)
{
    universe_view *view = NULL;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 24);
    assert_int_equal(universe_state_freeze(&view, w->state, NULL), MCP_OK);
    assert_int_equal(universe_view_write(view, part, collect, &text, next, NULL), MCP_OK);
    const mcp_json *value = json_of(w->arena, text.data, text.length);
    mcp_buf_clear(&text);
    universe_view_free(view);
    return value;
}

static void test_whole(void **unused)
{
    world w = world_new();
    (void)unused;

    assert_json(
        &w, part_json(&w, NULL, NULL),
        "{'stars':{},'rootIds':[],'groups':{},'rootGroupIds':[],'belts':{},'smallBodyFields':{},"
        "'protoplanetaryDisks':{},'nebulae':{},'time':0}");
    world_free(&w);
}

/* Whatever the pieces are, together they are what is written at one go. */
static void test_by_and_by(void **unused)
{
    static const size_t worths[] = { 1, 7, 100, 1000, 1 << 20 };
    static const unsigned fields[] = {
        0, UNIVERSE_FIELD_TIME, UNIVERSE_FIELD_MAP(UNIVERSE_GROUPS) | UNIVERSE_FIELD_ROOT_IDS
    };
    world w = rich_world();
    universe_view *view = NULL;
    (void)unused;

    assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
    for (size_t f = 0; f < 3; f++) {
        universe_projection part = { .fields = fields[f] };
        mcp_buf whole;
        state_text(&whole, w.state, &part);
        for (size_t i = 0; i < sizeof worths / sizeof worths[0]; i++) {
            universe_writing writing = { 0 };
            size_t pieces = 0;
            mcp_buf all, piece;
            mcp_buf_init(&all, 1 << 24);
            mcp_buf_init(&piece, 1 << 24);
            for (; !writing.is_whole; pieces++) {
                mcp_buf_reset(&piece);
                assert_int_equal(
                    universe_view_write_on(&writing, view, fields[f], worths[i], &piece, NULL),
                    MCP_OK);
                mcp_buf_append(&all, piece.data, piece.length);
            }
            assert_string_equal(all.data, whole.data);
            assert_true(pieces == 1 || worths[i] <= whole.length);
            assert_true(pieces > 1 || worths[i] > 100 || f > 0);
            mcp_buf_clear(&all);
            mcp_buf_clear(&piece);
        }
        mcp_buf_clear(&whole);
    }
    universe_view_free(view);
    world_free(&w);
}

static void test_by_and_by_without_room(void **unused)
{
    universe_writing writing = { 0 };
    universe_view *view = NULL;
    world w = rich_world();
    mcp_buf small;
    (void)unused;

    mcp_buf_init(&small, 100);
    assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
    assert_int_equal(universe_view_write_on(&writing, view, 0, 1 << 20, &small, NULL), MCP_E_LIMIT);
    mcp_buf_clear(&small);
    universe_view_free(view);
    world_free(&w);
}

static void test_fields_and_ids(void **unused)
{
    universe_id ids[] = { { "g", 1 }, { "moon", 4 }, { "nobody", 6 } };
    universe_projection part = { .fields = universe_field_of("rootIds") |
                                           universe_field_of("time") };
    world w = rich_world();
    (void)unused;

    assert_json(&w, part_json(&w, &part, NULL),
                "{'rootIds':['sun','\xc3\xa4 \\\\ /'],'time':12.25}");
    part = (universe_projection){ .fields = UNIVERSE_FIELD_MAP(UNIVERSE_STARS) |
                                            UNIVERSE_FIELD_MAP(UNIVERSE_GROUPS),
                                  .ids = ids,
                                  .id_count = 3 };
    const mcp_json *found = part_json(&w, &part, NULL);
    assert_int_equal(mcp_json_count(mcp_json_get(found, "stars")), 1);
    assert_int_equal(mcp_json_count(mcp_json_get(found, "groups")), 1);
    assert_true(mcp_json_equal(mcp_json_pointer(found, "/groups/g"),
                               mcp_json_pointer(state_json(&w), "/groups/g")));
    part = (universe_projection){ .fields = UNIVERSE_FIELD_MAP(UNIVERSE_STARS),
                                  .body_types = 1u << UNIVERSE_MOON | 1u << UNIVERSE_STAR };
    found = mcp_json_get(part_json(&w, &part, NULL), "stars");
    assert_int_equal(mcp_json_count(found), 2);
    assert_non_null(mcp_json_get(found, "sun"));
    assert_int_equal(universe_field_of("nebulae"), UNIVERSE_FIELD_MAP(UNIVERSE_NEBULAE));
    assert_int_equal(universe_field_of("nothing"), 0);
    world_free(&w);
}

/* Pages of any size hold every entity once. */
static void test_pages(void **unused)
{
    world w = rich_world();
    const mcp_json *whole = state_json(&w);
    (void)unused;

    for (size_t limit = 1; limit < 20; limit++) {
        universe_projection part = { .limit = limit };
        size_t entities = 0;
        for (int page = 0; page == 0 || part.cursor; page++) {
            uint64_t next = 0;
            const mcp_json *found = part_json(&w, &part, &next);
            size_t here = 0;
            for (int map = 0; map < UNIVERSE_MAPS; map++) {
                const mcp_json *all = mcp_json_get(found, universe_map_names[map]);
                const mcp_json *of = mcp_json_get(whole, universe_map_names[map]);
                for (size_t i = 0; i < mcp_json_count(all); i++, here++)
                    assert_true(mcp_json_equal(mcp_json_item(all, i),
                                               mcp_json_get(of, mcp_json_name(all, i, NULL))));
            }
            assert_true(here <= limit && (here == limit || !next));
            assert_true((mcp_json_get(found, "rootIds") != NULL) == (page == 0));
            entities += here;
            part.cursor = next;
            assert_true(page < 20);
        }
        assert_int_equal(entities, 16);
    }
    world_free(&w);
}

static void test_one_entity(void **unused)
{
    world w = rich_world();
    universe_view *view = NULL;
    mcp_json_writer writer;
    mcp_buf buf;
    (void)unused;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
    assert_int_equal(universe_view_write_entity(view, UNIVERSE_STARS, "nobody", 6, &writer, NULL),
                     MCP_E_NOT_FOUND);
    assert_int_equal(buf.length, 0);
    assert_int_equal(universe_view_write_entity(view, UNIVERSE_NEBULAE, "n", 1, &writer, NULL),
                     MCP_OK);
    assert_json(&w, json_of(w.arena, buf.data, buf.length), NEBULA("n"));
    mcp_buf_clear(&buf);
    universe_view_free(view);
    world_free(&w);
}

static const mcp_json *delta_json(world *w)
{
    universe_view *view = NULL;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 24);
    assert_int_equal(universe_state_freeze(&view, w->state, NULL), MCP_OK);
    assert_int_equal(universe_view_delta(view, w->outcome.touches, w->outcome.touch_count,
                                         w->outcome.roots, w->outcome.root_groups, collect, &text,
                                         NULL),
                     MCP_OK);
    const mcp_json *value = json_of(w->arena, text.data, text.length);
    mcp_buf_clear(&text);
    universe_view_free(view);
    return value;
}

static void test_delta(void **unused)
{
    world w = rich_world();
    (void)unused;

    accept(&w, "{'type':'tick','dt':1}", NULL);
    assert_json(&w, delta_json(&w), "{'removed':{}}");
    accept(&w, "{'type':'attachStar','childId':'moon','parentId':'sun'}", NULL);
    const mcp_json *delta = delta_json(&w);
    assert_int_equal(mcp_json_count(mcp_json_get(delta, "stars")), 3);
    assert_json(&w, mcp_json_pointer(delta, "/stars/moon/parentId"), "'sun'");
    assert_null(mcp_json_get(delta, "rootIds"));
    accept(&w, "{'type':'removeStar','id':'sun'}", NULL);
    delta = delta_json(&w);
    assert_json(&w, mcp_json_get(delta, "rootIds"), "['\xc3\xa4 \\\\ /']");
    assert_int_equal(mcp_json_count(mcp_json_pointer(delta, "/removed/stars")), 5);
    assert_json(&w, mcp_json_pointer(delta, "/removed/smallBodyFields"), "['f','e']");
    assert_json(&w, mcp_json_pointer(delta, "/removed/protoplanetaryDisks"), "['d']");
    assert_json(&w, mcp_json_pointer(delta, "/groups/g/children/0/type"), "'group'");
    assert_null(mcp_json_get(delta, "stars"));
    accept(&w, "{'type':'moveToGroup','childId':'h','childType':'group','targetGroupId':'k'}",
           NULL);
    delta = delta_json(&w);
    assert_int_equal(mcp_json_count(mcp_json_get(delta, "groups")), 3);
    assert_null(mcp_json_get(delta, "rootGroupIds"));
    accept(&w, "{'type':'moveToGroup','childId':'h','childType':'group','targetGroupId':null}",
           NULL);
    assert_json(&w, mcp_json_get(delta_json(&w), "rootGroupIds"), "['g','k','h']");
    world_free(&w);
}

/* A delta laid over the state before gives the state after. */
static void test_deltas_are_complete(void **unused)
{
    static const char *const commands[] = {
        "{'type':'detachStar','childId':'moon'}",
        "{'type':'removeGroup','id':'g'}",
        "{'type':'removeStar','id':'mark'}",
        "{'type':'addToGroup','groupId':'k','child':{'id':'sun','type':'system'}}",
        "{'type':'attachStar','childId':'sun','parentId':'moon'}",
        "{'type':'updateStar','id':'moon','payload':{'isRoguePlanet':true}}",
        "{'type':'setSmallBodyFields','fields':{'z':" FIELD("z", "sun") "}}",
        "{'type':'removeNebula','id':'n'}",
        "{'type':'updateRing','planetId':'sun','patch':{}}",
    };
    world w = rich_world();
    (void)unused;

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const mcp_json *before = state_json(&w);
        accept(&w, commands[i], NULL);
        const mcp_json *after = state_json(&w);
        const mcp_json *delta = delta_json(&w);
        for (int map = 0; map < UNIVERSE_MAPS; map++) {
            const char *name = universe_map_names[map];
            const mcp_json *old = mcp_json_get(before, name);
            const mcp_json *new = mcp_json_get(after, name);
            const mcp_json *told = mcp_json_get(delta, name);
            for (size_t e = 0; e < mcp_json_count(new); e++) { /* all that differs is listed */
                const char *id = mcp_json_name(new, e, NULL);
                const mcp_json *said = mcp_json_get(told, id);
                assert_true(
                    mcp_json_equal(said ? said : mcp_json_get(old, id), mcp_json_item(new, e)));
            }
            size_t gone = 0;
            for (size_t e = 0; e < mcp_json_count(old); e++)
                gone += !mcp_json_get(new, mcp_json_name(old, e, NULL));
            assert_int_equal(mcp_json_count(mcp_json_get(mcp_json_get(delta, "removed"), name)),
                             gone);
        }
        const mcp_json *roots = mcp_json_get(delta, "rootIds");
        assert_true(mcp_json_equal(roots ? roots : mcp_json_get(before, "rootIds"),
                                   mcp_json_get(after, "rootIds")));
        roots = mcp_json_get(delta, "rootGroupIds");
        assert_true(mcp_json_equal(roots ? roots : mcp_json_get(before, "rootGroupIds"),
                                   mcp_json_get(after, "rootGroupIds")));
    }
    world_free(&w);
}

/* Every double comes back bit for bit; minus zero as zero. */
static void test_numbers(void **unused)
{
    static const double numbers[] = { 0.1,
                                      1e21,
                                      5e-324,
                                      1e-7,
                                      123456789012345680.0,
                                      1.7976931348623157e308,
                                      1e17,
                                      9007199254740993.0,
                                      0.000001,
                                      4.35,
                                      2.2250738585072014e-308,
                                      -1e-7 };
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, "");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double back = 0;
        accept(
            &w,
            mcp_arena_printf(
                w.arena,
                "{'type':'updateStar','id':'a','payload':{'orbitalSpeed':%.17g,'u':{'n':%.17g}}}",
                numbers[i], numbers[i]),
            NULL);
        assert_true(
            mcp_json_double(mcp_json_pointer(state_json(&w), "/stars/a/orbitalSpeed"), &back));
        assert_memory_equal(&back, &numbers[i], sizeof back);
        assert_true(mcp_json_double(mcp_json_pointer(state_json(&w), "/stars/a/u/n"), &back));
        assert_memory_equal(&back, &numbers[i], sizeof back);
    }
    accept(
        &w,
        "{'type':'updateStar','id':'a','payload':{'orbitalSpeed':-0.0,'orbitRotX':-0.0,'u':[-0.0]}}",
        NULL);
    mcp_buf text;
    state_text(&text, w.state, NULL);
    assert_null(strstr(text.data, "-0"));
    mcp_buf_clear(&text);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_fields_and_ids),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_one_entity),
        cmocka_unit_test(test_delta),
        cmocka_unit_test(test_deltas_are_complete),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_by_and_by),
        cmocka_unit_test(test_by_and_by_without_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
