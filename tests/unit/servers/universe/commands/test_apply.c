/*
 * Ticks, fields, disks, nebulae, snapshots, and what no command may do: unknown types, wrong kinds,
 * hostile ids; and memory that runs out anywhere.
 */
#include "../world.h"

#include "model/pages/memory.h"

/* ---- tick ------------------------------------------------------------------------------------ */

static void test_tick(void **unused)
{
    world w = world_new();
    (void)unused;

    accept(&w, "{'type':'tick','dt':2.5}", "[]");
    assert_at(&w, "/time", "2.5");
    accept(&w, "{ 'type' : 'tick' }", "[]"); /* 3.3: one second, and said so */
    assert_at(&w, "/time", "3.5");
    assert_int_equal(w.outcome.command_length, strlen(w.outcome.command));
    assert_json(&w, json_of(w.arena, w.outcome.command, w.outcome.command_length),
                "{'type':'tick','dt':1}");
    w.rules.default_dt = 0.25;
    accept(&w, "{'type':'tick'}", "[]");
    assert_json(&w, json_of(w.arena, w.outcome.command, w.outcome.command_length),
                "{'type':'tick','dt':0.25}");
    ignore(&w, "{'type':'tick','dt':0}", "[]");
    ignore(&w, "{'type':'tick','dt':-0.0}", "[]");
    accept(&w, "{'type':'tick','dt':-3.75}", "[]");
    assert_at(&w, "/time", "0");
    refuse_at(&w, "{'type':'tick','dt':'1'}", "/dt");
    refuse_at(&w, "{'type':'tick','dt':1.1e15}", "/dt");
    w.rules.refuse_negative_dt = true;
    refuse_at(&w, "{'type':'tick','dt':-1}", "/dt");
    assert_int_equal(w.outcome.touch_count, 0);
    world_free(&w);
}

/* The command is kept byte for byte where nothing had to be filled in. */
static void test_command_is_kept(void **unused)
{
    static const char text[] = "{ \"dt\" : 1.50 ,\n \"type\":\"tick\" }";
    world w = world_new();
    (void)unused;

    send_text(&w, text, strlen(text));
    assert_ptr_equal(w.outcome.command, text);
    assert_int_equal(w.outcome.command_length, strlen(text));
    world_free(&w);
}

/* ---- fields, disks, nebulae ------------------------------------------------------------------ */

static void test_fields(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "sun", NULL, "");
    accept(&w,
           "{'type':'setSmallBodyFields','fields':{'f':" FIELD("f", "sun") ",'g':" FIELD(
               "g", "sun") "}}",
           "[{'type':'smallBodyFieldsSet'}]");
    assert_at(&w, "/smallBodyFields/f", FIELD("f", "sun"));
    accept(&w, "{'type':'updateSmallBodyField','id':'f','patch':{'isIcy':true,'name':'x','q':[1]}}",
           "[{'type':'smallBodyFieldUpdated','id':'f'}]");
    assert_at(&w, "/smallBodyFields/f/isIcy", "true");
    assert_at(&w, "/smallBodyFields/f/q", "[1]");
    refuse(&w, "{'type':'updateSmallBodyField','id':'zz','patch':{}}", "smallBodyFieldNotFound",
           "[{'type':'smallBodyFieldNotFound','id':'zz'}]");
    refuse(&w, "{'type':'updateSmallBodyField','id':'f','patch':{'id':'h'}}", "invalidPatch", NULL);
    refuse_at(&w, "{'type':'updateSmallBodyField','id':'f','patch':{'innerRadius':2}}",
              "/patch/innerRadius");
    refuse_at(&w, "{'type':'updateSmallBodyField','id':'f','patch':{'hostStarId':'zz'}}",
              "/patch/hostStarId");
    refuse_at(&w, "{'type':'setSmallBodyFields','fields':{'a':" FIELD("b", "sun") "}}",
              "/fields/a/id"); /* I1 */
    refuse_at(&w, "{'type':'setSmallBodyFields','fields':{'b':" FIELD("b", "zz") "}}",
              "/fields/b/hostStarId");
    refuse_at(&w, "{'type':'setSmallBodyFields','fields':[]}", "/fields");
    refuse_at(&w, "{'type':'setSmallBodyFields'}", "/fields");
    accept(&w, "{'type':'removeSmallBodyField','id':'f'}",
           "[{'type':'smallBodyFieldRemoved','id':'f'}]");
    ignore(&w, "{'type':'removeSmallBodyField','id':'f'}",
           "[{'type':'smallBodyFieldRemoved','id':'f'}]");
    accept(&w, "{'type':'setSmallBodyFields','fields':{}}", NULL);
    assert_at(&w, "/smallBodyFields", "{}");
    assert_int_equal(w.outcome.touch_count, 1);
    assert_true(w.outcome.touches[0].removed);
    world_free(&w);
}

static void test_disks(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "sun", NULL, "");
    accept(&w, "{'type':'addProtoplanetaryDisk','disk':" DISK("d", "sun") "}",
           "[{'type':'protoplanetaryDiskAdded','id':'d'}]");
    accept(&w, "{'type':'addProtoplanetaryDisk','disk':" DISK("d", "sun") "}", NULL);
    assert_at(&w, "/protoplanetaryDisks", "{'d':" DISK("d", "sun") "}");
    accept(&w, "{'type':'updateProtoplanetaryDisk','id':'d','patch':{'bandStrength':0.5}}",
           "[{'type':'protoplanetaryDiskUpdated','id':'d'}]");
    assert_at(&w, "/protoplanetaryDisks/d/bandStrength", "0.5");
    refuse(&w, "{'type':'updateProtoplanetaryDisk','id':'z','patch':{}}",
           "protoplanetaryDiskNotFound", "[{'type':'protoplanetaryDiskNotFound','id':'z'}]");
    refuse_at(&w, "{'type':'addProtoplanetaryDisk','disk':" DISK("e", "zz") "}",
              "/disk/centralStarId");
    refuse_at(&w, "{'type':'addProtoplanetaryDisk','disk':{'id':'e'}}", "/disk/systemId");
    accept(&w, "{'type':'setProtoplanetaryDisks','disks':{'k':" DISK("k", "sun") "}}",
           "[{'type':'protoplanetaryDisksSet'}]");
    assert_at(&w, "/protoplanetaryDisks/d", "absent");
    accept(&w, "{'type':'removeProtoplanetaryDisk','id':'k'}",
           "[{'type':'protoplanetaryDiskRemoved','id':'k'}]");
    ignore(&w, "{'type':'removeProtoplanetaryDisk','id':'k'}",
           "[{'type':'protoplanetaryDiskRemoved','id':'k'}]");
    world_free(&w);
}

static void test_nebulae(void **unused)
{
    world w = world_new();
    (void)unused;

    accept(&w, "{'type':'setNebulae','nebulae':{'n':" NEBULA("n") "}}", "[{'type':'nebulaeSet'}]");
    accept(
        &w,
        "{'type':'updateNebula','id':'n','patch':{'visible':false,'dimensions':{'x':1,'y':2,'z':3}}}",
        "[{'type':'nebulaUpdated','id':'n'}]");
    assert_at(&w, "/nebulae/n/visible", "false");
    refuse(&w, "{'type':'updateNebula','id':'z','patch':{}}", "nebulaNotFound",
           "[{'type':'nebulaNotFound','id':'z'}]");
    refuse_at(&w, "{'type':'updateNebula','id':'n','patch':{'position':{'x':1,'y':2}}}",
              "/patch/position/z");
    accept(&w, "{'type':'removeNebula','id':'n'}", "[{'type':'nebulaRemoved','id':'n'}]");
    ignore(&w, "{'type':'removeNebula','id':'n'}", "[{'type':'nebulaRemoved','id':'n'}]");
    world_free(&w);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

#define STAR(id, parent, children)                                                                 \
    "'" id "':{'id':'" id                                                                          \
    "','name':'','mass':1,'radius':1,'color':'#000000','children':[" children                      \
    "],'parentId':" parent ",'orbitalDistance':1,'orbitalSpeed':1,'orbitalPhase':0}"

static void test_replace_snapshot(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "old", NULL, "");
    accept(&w, "{'type':'tick','dt':7}", NULL);
    accept(
        &w,
        "{'type':'replaceSnapshot','snapshot':{'rootIds':['a'],'stars':{" STAR("b", "'a'", "") "," STAR(
            "a", "null",
            "'b'") "},'belts':{'t':" BELT("t",
                                          "b") "},'groups':{'g':{'id':'g','name':'G',"
                                               "'children':[{'id':'a','type':'system'}],'parentGroupId':null}},'rootGroupIds':['g'],'time':99}}",
        "[{'type':'snapshotReplaced'}]");
    assert_true(w.outcome.everything);
    assert_at(&w, "/time", "7");
    assert_at(&w, "/stars/old", "absent");
    assert_at(&w, "/stars/a/children", "['b']");
    assert_at(&w, "/belts/t", BELT("t", "b"));
    assert_at(&w, "/groups/g/children", "[{'id':'a','type':'system'}]");
    accept(&w, "{'type':'removeStar','id':'b'}", NULL);
    assert_at(&w, "/belts", "{}");
    accept(&w, "{'type':'replaceSnapshot','snapshot':{'stars':{},'rootIds':[]},'time':3}", NULL);
    assert_at(
        &w, "",
        "{'stars':{},'rootIds':[],'groups':{},'rootGroupIds':[],'belts':{},'smallBodyFields':{},"
        "'protoplanetaryDisks':{},'nebulae':{},'time':3}");
    world_free(&w);
}

#define SNAPSHOT(stars, roots, more)                                                               \
    "{'type':'replaceSnapshot','snapshot':{'stars':{" stars "},'rootIds':[" roots "]" more "}}"

static void test_snapshots_that_do_not_hold_together(void **unused)
{
    static const char *const broken[] = {
        SNAPSHOT(STAR("a", "null", ""), "", ""),                                      /* I4 */
        SNAPSHOT(STAR("a", "null", ""), "'a','a'", ""),                               /* I4 */
        SNAPSHOT(STAR("a", "null", ""), "'a','zz'", ""),                              /* I4 */
        SNAPSHOT(STAR("a", "null", "'b'") "," STAR("b", "null", ""), "'a','b'", ""),  /* I2 */
        SNAPSHOT(STAR("a", "null", "") "," STAR("b", "'a'", ""), "'a'", ""),          /* I2 */
        SNAPSHOT(STAR("a", "null", "'b','b'") "," STAR("b", "'a'", ""), "'a'", ""),   /* I2 */
        SNAPSHOT(STAR("a", "'b'", "'b'") "," STAR("b", "'a'", "'a'"), "", ""),        /* I3 */
        SNAPSHOT(STAR("a", "'a'", "'a'"), "", ""),                                    /* I3 */
        SNAPSHOT(STAR("b", "'zz'", ""), "", ""),                                      /* I2 */
        SNAPSHOT(STAR("a", "null", ""), "'a'", ",'belts':{'t':" BELT("t", "zz") "}"), /* I7 */
        SNAPSHOT(STAR("a", "null", ""), "'a'",
                 ",'groups':{'g':{'id':'g','name':'','children':[],'parentGroupId':null}},"
                 "'rootGroupIds':[]"), /* I5 */
        SNAPSHOT(STAR("a", "null", "'b'") "," STAR("b", "'a'", ""), "'a'",
                 ",'groups':{'g':{'id':'g','name':'','children':[{'id':'b','type':'system'}],"
                 "'parentGroupId':null}},'rootGroupIds':['g']"), /* I6 */
    };
    (void)unused;

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        world w = world_new();
        add_star(&w, "kept", NULL, "");
        refuse_at(&w, broken[i], "/snapshot");
        w.rules.lenient = true;
        accept(&w, broken[i], NULL); /* repaired, and sound: send() checks that */
        world_free(&w);
    }
}

static void test_repairs_are_reported(void **unused)
{
    world w = world_new();
    (void)unused;

    w.rules.lenient = true;
    accept(&w, SNAPSHOT(STAR("a", "null", "") "," STAR("b", "'a'", ""), "'a','a'", ""), NULL);
    assert_at(&w, "/stars/a/children", "['b']");
    assert_at(&w, "/rootIds", "['a']");
    assert_int_equal(mcp_json_count(mcp_json_pointer(events(&w), "/0/repairs")), 2);
    world_free(&w);
}

static void test_snapshot_shapes(void **unused)
{
    world w = world_new();
    (void)unused;

    refuse_at(&w, "{'type':'replaceSnapshot'}", "/snapshot");
    refuse_at(&w, "{'type':'replaceSnapshot','snapshot':{'rootIds':[]}}", "/snapshot/stars");
    refuse_at(&w, "{'type':'replaceSnapshot','snapshot':{'stars':{}}}", "/snapshot/rootIds");
    refuse_at(&w, "{'type':'replaceSnapshot','snapshot':{'stars':{},'rootIds':[7]}}",
              "/snapshot/rootIds/0");
    refuse_at(&w,
              SNAPSHOT("'x/~':"
                       "{'id':'x'}",
                       "", ""),
              "/snapshot/stars/x~1~0/name");
    world_free(&w);
}

/* ---- what no command may do ------------------------------------------------------------------ */

static void test_unknown_and_malformed(void **unused)
{
    world w = world_new();
    (void)unused;

    refuse(&w, "{'type':'explode','x':1}", "unknownCommand",
           "[{'type':'unknownCommand','command':{'type':'explode','x':1}}]");
    refuse_at(&w, "[]", "");
    refuse_at(&w, "{}", "/type");
    refuse_at(&w, "{'type':7}", "/type");
    refuse_at(&w, "{'type':'tick','type':'tick'}", "");
    refuse_at(&w, "{'type':'tick','dt':1,'x':{'a':1,'a':2}}", "");
    refuse_at(&w, "{'type':'removeStar','id':7}", "/id");
    world_free(&w);
}

static void test_hostile_ids(void **unused)
{
    static const char *const ids[] = { "__proto__",
                                       "constructor",
                                       "0",
                                       "-1",
                                       "4294967296",
                                       "toString",
                                       "a/b~c",
                                       "\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\x8d",
                                       " ",
                                       "\\u0001",
                                       "0f8fad5b-d9cb-469f-a165-70867728950e",
                                       "0F8FAD5B-d9cb-469f-a165-70867728950E" };
    world w = world_new();
    (void)unused;

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        add_star(&w, ids[i], i ? ids[i - 1] : NULL, "");
    const mcp_json *stars = mcp_json_get(state_json(&w), "stars");
    assert_int_equal(mcp_json_count(stars), sizeof ids / sizeof ids[0]);
    for (size_t i = 0; i < mcp_json_count(stars); i++) {
        size_t length = 0;
        const char *key = mcp_json_name(stars, i, &length);
        assert_string_equal(mcp_json_get_string(mcp_json_item(stars, i), "id"), key);
    }
    accept(&w, "{'type':'removeStar','id':'__proto__'}", NULL);
    assert_at(&w, "/stars", "{}");
    refuse_at(&w, "{'type':'removeStar','id':''}", "/id");
    refuse_at(&w, "{'type':'removeStar','id':'a\\u0000b'}", "/id");
    refuse_at(&w, "{'type':'removeStar','id':'x','\\u0000':1}", "");
    world_free(&w);
}

static void test_long_things(void **unused)
{
    world w = world_new();
    char *id = mcp_arena_alloc(w.arena, (1 << 20) + 1);
    (void)unused;

    memset(id, 'x', 1 << 20);
    refuse_at(&w, mcp_arena_printf(w.arena, "{'type':'removeStar','id':'%s'}", id), "/id");
    refuse(&w, mcp_arena_printf(w.arena, "{'type':'%s'}", id), "unknownCommand", NULL);
    assert_true(w.outcome.events_length < 10000);
    add_star(&w, "a", NULL, "");
    refuse_at(
        &w, mcp_arena_printf(w.arena, "{'type':'updateStar','id':'a','payload':{'name':'%s'}}", id),
        "/payload/name");
    refuse_at(&w,
              mcp_arena_printf(w.arena, "{'type':'updateStar','id':'a','payload':{'u':'%s'}}", id),
              "/payload");
    memset(id + 256, 0, 1);
    add_star(&w, id, NULL, ""); /* 256 bytes are one id */
    memset(id, '[', 60);
    memset(id + 60, ']', 60);
    id[120] = '\0';
    refuse_at(
        &w, mcp_arena_printf(w.arena, "{'type':'updateStar','id':'a','payload':{'u':%s}}", id), "");
    world_free(&w);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Wherever memory runs out, the command fails, the state is as it was, and the same command works
 * afterwards. */
static void walk_memory(const char *text)
{
    mcp_status st = MCP_E_NOMEM;

    for (long successes = 0; st != MCP_OK; successes++) {
        world w = world_new();
        add_star(&w, "sun", NULL, "");
        add_star(&w, "planet", "sun", ",'ring':" RING);
        add_star(&w, "mark", "sun", MARKER("sun", "planet"));
        add_star(&w, "troj", "sun", ",'lagrangeHostId':'mark'");
        add_group(&w, "g", NULL, "{'id':'sun','type':'system'}");
        add_group(&w, "h", "g", "");
        accept(&w, "{'type':'setSmallBodyFields','fields':{'f':" FIELD("f", "planet") "}}", NULL);
        const mcp_json *before = state_json(&w);
        const char *copy = quoted(w.arena, text);
        const mcp_json *command = json_of(w.arena, copy, strlen(copy));
        universe_view *view = NULL; /* shared pages must be copied, so more can fail */
        assert_int_equal(universe_state_freeze(&view, w.state, NULL), MCP_OK);
        universe_memory_refuse_after(successes);
        st = universe_apply(&w.outcome, w.state, command, copy, strlen(copy), &w.rules, w.arena,
                            NULL);
        universe_memory_refuse_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        assert_sound(&w);
        if (st != MCP_OK)
            assert_true(mcp_json_equal(before, state_json(&w)));
        send(&w, text);
        assert_true(successes < 10000);
        universe_view_free(view);
        world_free(&w);
    }
}

static void test_memory_runs_out(void **unused)
{
    (void)unused;
    walk_memory("{'type':'removeStar','id':'planet'}");
    walk_memory(
        "{'type':'updateStar','id':'planet','payload':{'name':'other','orbitRotX':3,'u':'v'}}");
    walk_memory("{'type':'attachStar','childId':'troj','parentId':'planet'}");
    walk_memory("{'type':'detachStar','childId':'planet'}");
    walk_memory("{'type':'moveToGroup','childId':'h','childType':'group','targetGroupId':null}");
    walk_memory("{'type':'removeGroup','id':'g'}");
    walk_memory("{'type':'updateRing','planetId':'planet','patch':{'opacity':0.1}}");
    walk_memory(SNAPSHOT(STAR("a", "null", "'b'") "," STAR("b", "'a'", ""), "'a'", ""));
}

/* An id that was not there before: the index grows. */
static void test_memory_runs_out_while_growing(void **unused)
{
    (void)unused;
    walk_memory(
        "{'type':'addStar','id':'new','payload':{'name':'fresh','mass':1,'radius':2,'color':'odd',"
        "'parentId':'sun','orbitalDistance':10,'orbitalSpeed':5,'orbitRotX':1,'comet':null,'z':1}}");
    walk_memory("{'type':'setNebulae','nebulae':{'n':" NEBULA("n") "}}");
    walk_memory(
        "{'type':'addGroup','id':'k','payload':{'name':'','children':[{'id':'h','type':'group'}],'parentGroupId':null}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tick),
        cmocka_unit_test(test_command_is_kept),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_disks),
        cmocka_unit_test(test_nebulae),
        cmocka_unit_test(test_replace_snapshot),
        cmocka_unit_test(test_snapshots_that_do_not_hold_together),
        cmocka_unit_test(test_repairs_are_reported),
        cmocka_unit_test(test_snapshot_shapes),
        cmocka_unit_test(test_unknown_and_malformed),
        cmocka_unit_test(test_hostile_ids),
        cmocka_unit_test(test_long_things),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_memory_runs_out_while_growing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
