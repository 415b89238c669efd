/*
 * Binary snapshots and JSON imports: what was saved comes back, whatever the pieces; what is
 * damaged is refused.
 */
#include "../../world.h"

#include "../../rich.h"
#include "model/pages/memory.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static void save(mcp_buf *out, universe_state *state)
{
    universe_view *view = NULL;

    mcp_buf_init(out, (size_t)1 << 30);
    assert_int_equal(universe_state_freeze(&view, state, NULL), MCP_OK);
    assert_int_equal(universe_view_save(view, collect, out, NULL), MCP_OK);
    universe_view_free(view);
}

static mcp_status load(universe_state **out, const char *bytes, size_t length, size_t piece,
                       mcp_error *err)
{
    universe_load *load = NULL;
    mcp_status st = universe_load_begin(&load, err);

    for (size_t at = 0; at < length && st == MCP_OK; at += piece)
        st = universe_load_feed(load, bytes + at, length - at < piece ? length - at : piece, err);
    if (st == MCP_OK)
        st = universe_load_end(out, load, err);
    universe_load_free(load);
    return st;
}

static mcp_status import_text(universe_state **out, const char *text, size_t length, size_t piece,
                              const universe_rules *rules, mcp_error *err)
{
    universe_import *import = NULL;
    mcp_status st = universe_import_new(&import, rules, err);

    for (size_t at = 0; at < length && st == MCP_OK; at += piece)
        st = universe_import_feed(import, text + at, length - at < piece ? length - at : piece,
                                  err);
    if (st == MCP_OK)
        st = universe_import_end(out, import, err);
    universe_import_free(import);
    return st;
}

/* The state as canonical as JSON gets here: compared by meaning. */
static void assert_same(world *w, universe_state *state)
{
    mcp_buf text;

    state_text(&text, state, NULL);
    assert_true(mcp_json_equal(state_json(w), json_of(w->arena, text.data, text.length)));
    mcp_buf_clear(&text);
}

/* ---- binary ---------------------------------------------------------------------------------- */

static void test_save_and_load(void **unused)
{
    static const size_t pieces[] = { 1, 7, 4096, SIZE_MAX / 2 };
    world w = rich_world();
    mcp_buf first;
    (void)unused;

    save(&first, w.state);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        universe_state *loaded = NULL;
        mcp_error err = MCP_ERROR_INIT;
        mcp_buf again;
        if (load(&loaded, first.data, first.length, pieces[i], &err) != MCP_OK)
            fail_msg("%s", err.message);
        assert_same(&w, loaded);
        world copy = { loaded, w.arena, w.rules, { 0 } };
        assert_sound(&copy);
        save(&again, loaded); /* the same state gives the same bytes */
        assert_int_equal(again.length, first.length);
        assert_memory_equal(again.data, first.data, first.length);
        mcp_buf_clear(&again);
        send(&copy, "{'type':'removeStar','id':'sun'}"); /* references and lists are whole */
        universe_state_free(loaded);
    }
    mcp_buf_clear(&first);
    world_free(&w);
}

/* Every byte changed, and every length cut: refused, or (in no field that matters) a sound
 * state. */
static void test_damaged_snapshots(void **unused)
{
    world w = rich_world();
    universe_state *loaded = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf bytes;
    (void)unused;

    save(&bytes, w.state);
    for (size_t i = 0; i < bytes.length; i++) {
        if (i >= 12 && i < 16)
            continue; /* how many bodies to make room for: only a hint */
        bytes.data[i] ^= 0x15;
        mcp_status st = load(&loaded, bytes.data, bytes.length, 1 << 16, &err);
        bytes.data[i] ^= 0x15;
        if (st != MCP_E_PARSE)
            fail_msg("byte %zu changed: %s", i, mcp_status_name(st));
        assert_int_equal(load(&loaded, bytes.data, i, 1 << 16, &err), MCP_E_PARSE);
    }
    mcp_buf_putc(&bytes, 'x');
    assert_int_equal(load(&loaded, bytes.data, bytes.length, 1 << 16, &err), MCP_E_PARSE);
    mcp_buf_clear(&bytes);
    world_free(&w);
}

/* How many bodies the header announces is a hint: none, too few or too many load the same; more
 * than may be do not. */
static void test_announced_bodies(void **unused)
{
    static const uint32_t counts[] = { 0, 1, 5000, UNIVERSE_ENTITIES_MAX };
    world w = rich_world();
    universe_state *loaded = NULL;
    mcp_error err = MCP_ERROR_INIT;
    uint32_t over = UNIVERSE_ENTITIES_MAX + 1;
    mcp_buf bytes;
    (void)unused;

    save(&bytes, w.state);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        memcpy(bytes.data + 12, &counts[i], sizeof counts[i]);
        assert_int_equal(load(&loaded, bytes.data, bytes.length, 100, &err), MCP_OK);
        assert_same(&w, loaded);
        universe_state_free(loaded);
    }
    memcpy(bytes.data + 12, &over, sizeof over);
    assert_int_equal(load(&loaded, bytes.data, bytes.length, 100, &err), MCP_E_PARSE);
    mcp_buf_clear(&bytes);
    world_free(&w);
}

static void test_memory_runs_out(void **unused)
{
    world w = rich_world();
    mcp_status st = MCP_E_NOMEM;
    mcp_buf bytes;
    mcp_buf text;
    (void)unused;

    save(&bytes, w.state);
    state_text(&text, w.state, NULL);
    for (long successes = 0; st != MCP_OK; successes++) {
        universe_state *loaded = NULL;
        universe_memory_refuse_after(successes);
        st = load(&loaded, bytes.data, bytes.length, 4096, NULL);
        universe_memory_refuse_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        universe_state_free(loaded);
    }
    st = MCP_E_NOMEM;
    for (long successes = 0; st != MCP_OK; successes++) {
        universe_state *loaded = NULL;
        universe_memory_refuse_after(successes);
        st = import_text(&loaded, text.data, text.length, 4096, NULL, NULL);
        universe_memory_refuse_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        universe_state_free(loaded);
    }
    mcp_buf_clear(&bytes);
    mcp_buf_clear(&text);
    world_free(&w);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void test_export_and_import(void **unused)
{
    static const size_t pieces[] = { 1, 13, 4096, SIZE_MAX / 2 };
    world w = rich_world();
    mcp_buf text;
    (void)unused;

    state_text(&text, w.state, NULL);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        universe_state *imported = NULL;
        mcp_error err = MCP_ERROR_INIT;
        if (import_text(&imported, text.data, text.length, pieces[i], NULL, &err) != MCP_OK)
            fail_msg("%s", err.message);
        assert_same(&w, imported);
        world copy = { imported, w.arena, w.rules, { 0 } };
        assert_sound(&copy);
        send(&copy, "{'type':'removeStar','id':'sun'}");
        universe_state_free(imported);
    }
    mcp_buf_clear(&text);
    world_free(&w);
}

static void test_import_accepts(void **unused)
{
    static const char *const texts[] = {
        "{}",
        " \n{ } \t",
        "{'time':5}",
        "{'time':-1e15 , 'stars' : { } ,'rootIds':[ ]\n}",
        "{'unknown':{'a':[1,'}',{'b':']'}]},'more':null,'last':true,'time':0}",
        "{'\\u0073tars':{}}",
    };
    world w = world_new();
    (void)unused;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = quoted(w.arena, texts[i]);
        universe_state *imported = NULL;
        mcp_error err = MCP_ERROR_INIT;
        if (import_text(&imported, text, strlen(text), 1, NULL, &err) != MCP_OK)
            fail_msg("%s: %s", err.message, text);
        universe_state_free(imported);
    }
    world_free(&w);
}

static void test_import_refuses(void **unused)
{
    static const struct {
        const char *text;
        mcp_status status;
    } rows[] = {
        { "", MCP_E_PARSE },
        { "[]", MCP_E_PARSE },
        { "{", MCP_E_PARSE },
        { "{}x", MCP_E_PARSE },
        { "{}{}", MCP_E_PARSE },
        { "{'time':}", MCP_E_PARSE },
        { "{'time':1,}", MCP_E_PARSE },
        { "{'time' 1}", MCP_E_PARSE },
        { "{,}", MCP_E_PARSE },
        { "{'time':1e400}", MCP_E_PARSE },
        { "{'time':NaN}", MCP_E_PARSE },
        { "{'time':1e16}", MCP_E_PARAMS },
        { "{'time':'1'}", MCP_E_PARAMS },
        { "{'time':1,'time':2}", MCP_E_PARAMS },
        { "{'stars':[]}", MCP_E_PARAMS },
        { "{'stars':null}", MCP_E_PARAMS },
        { "{'rootIds':{}}", MCP_E_PARAMS },
        { "{'stars':}", MCP_E_PARSE },
        { "{'stars':x}", MCP_E_PARSE },
        { "{'stars':{'a':1}}", MCP_E_PARAMS },
        { "{'stars':{'a':{}}}", MCP_E_PARAMS },
        { "{'stars':{'a'}}", MCP_E_PARSE },
        { "{'stars':{'a':{]}}}", MCP_E_PARSE },
        { "{'stars':{a:1}}", MCP_E_PARSE },
        { "{'stars':{'\xff':1}}", MCP_E_PARSE },
        { "{'rootIds':['a'}", MCP_E_PARSE },
        { "{'rootIds':[1]}", MCP_E_PARAMS },
        { "{'rootIds':['a']}", MCP_E_PARAMS },
        { "{'rootIds':['']}", MCP_E_PARAMS },
        { "{'nebulae':{'n':" NEBULA("m") "}}", MCP_E_PARAMS },
        { "{'nebulae':{'n':" NEBULA("n") ",'n':" NEBULA("n") "}}", MCP_E_PARAMS },
        { "{'belts':{'t':" BELT("t", "zz") "}}", MCP_E_PARAMS },
        { "{'nebulae':{'n':" NEBULA("n") "}", MCP_E_PARSE },
        { "{'nebulae':{'n':" NEBULA("n") "", MCP_E_PARSE },
    };
    world w = world_new();
    (void)unused;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = quoted(w.arena, rows[i].text);
        for (size_t piece = 1; piece < 64; piece += 31) {
            universe_state *imported = NULL;
            mcp_error err = MCP_ERROR_INIT;
            mcp_status st = import_text(&imported, text, strlen(text), piece, NULL, &err);
            if (st != rows[i].status)
                fail_msg("%s (%s) for %s", mcp_status_name(st), err.message, text);
            assert_true(err.message[0] != '\0');
        }
    }
    world_free(&w);
}

/* An entity that never ends is given up, not collected. */
static void test_import_is_bounded(void **unused)
{
    static const char begin[] = "{\"stars\":{\"a\":{\"x\":\"";
    universe_import *import = NULL;
    char more[4096];
    mcp_status st;
    size_t total = 0;
    (void)unused;

    memset(more, 'x', sizeof more);
    assert_int_equal(universe_import_new(&import, NULL, NULL), MCP_OK);
    st = universe_import_feed(import, begin, strlen(begin), NULL);
    for (; st == MCP_OK && total < (64u << 20); total += sizeof more)
        st = universe_import_feed(import, more, sizeof more, NULL);
    assert_int_equal(st, MCP_E_LIMIT);
    universe_import_free(import);
    assert_int_equal(universe_import_new(&import, NULL, NULL), MCP_OK);
    st = universe_import_feed(import, "{\"stars\":{\"", 11, NULL);
    for (total = 0; st == MCP_OK && total < (64u << 20); total += sizeof more)
        st = universe_import_feed(import, more, sizeof more, NULL);
    assert_int_equal(st, MCP_E_LIMIT);
    universe_import_free(import);
}

static void test_import_repairs(void **unused)
{
    static const char text[] =
        "{'stars':{'b':{'id':'b','name':'','mass':1,'radius':1,'color':'','children':[],'parentId':'a',"
        "'orbitalDistance':1,'orbitalSpeed':1},'a':{'id':'a','name':'','mass':1,'radius':1,'color':'',"
        "'children':['gone'],'parentId':null,'orbitalDistance':0,'orbitalSpeed':0,'isRoguePlanet':true}},"
        "'rootIds':['b','a','a']}";
    static const universe_rules lenient = { .lenient = true };
    world w = world_new();
    universe_import *import = NULL;
    universe_state *imported = NULL;
    const char *copy = quoted(w.arena, text);
    (void)unused;

    assert_int_equal(import_text(&imported, copy, strlen(copy), 10, NULL, NULL), MCP_E_PARAMS);
    assert_int_equal(universe_import_new(&import, &lenient, NULL), MCP_OK);
    assert_int_equal(universe_import_feed(import, copy, strlen(copy), NULL), MCP_OK);
    assert_int_equal(universe_import_end(&imported, import, NULL), MCP_OK);
    assert_true(universe_import_repairs(import) >= 4); /* gone, b in roots, a in roots twice */
    assert_non_null(universe_import_repair(import, 0));
    assert_null(universe_import_repair(import, universe_import_repairs(import)));
    universe_import_free(import);
    world copy_world = { imported, w.arena, lenient, { 0 } };
    assert_sound(&copy_world);
    assert_at(&copy_world, "/stars/a/children", "['b']");
    assert_at(&copy_world, "/rootIds", "[]");
    universe_state_free(imported);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save_and_load),     cmocka_unit_test(test_damaged_snapshots),
        cmocka_unit_test(test_announced_bodies),  cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_export_and_import), cmocka_unit_test(test_import_accepts),
        cmocka_unit_test(test_import_refuses),    cmocka_unit_test(test_import_is_bounded),
        cmocka_unit_test(test_import_repairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
