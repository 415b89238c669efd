/*
 * The commands on bodies and rings, each with its rejections (section 3.1) and the corrections C1
 * to C5.
 */
#include "../world.h"

static void test_add_star(void **unused)
{
    world w = world_new();
    (void)unused;

    accept(
        &w,
        "{'type':'addStar','id':'sol','payload':{'name':'Sol','mass':1000,'radius':5,'color':'#FFD2A1',"
        "'parentId':null,'orbitalDistance':0,'orbitalSpeed':0}}",
        "[{'type':'starAdded','id':'sol'}]");
    assert_true(w.outcome.roots);
    assert_at(&w, "/rootIds", "['sol']");
    assert_at(
        &w, "/stars/sol",
        "{'id':'sol','name':'Sol','mass':1000,'radius':5,'color':'#FFD2A1','children':[],'parentId':null,"
        "'orbitalDistance':0,'orbitalSpeed':0,'orbitalPhase':0}");
    accept(
        &w,
        "{'type':'addStar','id':'earth','payload':{'name':'Earth','mass':1,'radius':1,'color':'blue',"
        "'parentId':'sol','orbitalDistance':50,'orbitalSpeed':1,'orbitalPhase':30,'bodyType':'planet',"
        "'eccentricity':0.017,'orbitRotZ':1.5,'x-note':{'a':[1,-0.0,null]},'id':'earth','children':[]}}",
        "[{'type':'starAdded','id':'earth'}]");
    assert_false(w.outcome.roots);
    assert_int_equal(w.outcome.touch_count, 2);
    assert_at(&w, "/stars/sol/children", "['earth']");
    assert_at(&w, "/rootIds", "['sol']");
    assert_at(
        &w, "/stars/earth",
        "{'id':'earth','name':'Earth','mass':1,'radius':1,'color':'blue','children':[],'parentId':'sol',"
        "'orbitalDistance':50,'orbitalSpeed':1,'orbitalPhase':30,'bodyType':'planet','eccentricity':0.017,"
        "'orbitRotZ':1.5,'x-note':{'a':[1,0,null]}}");
    world_free(&w);
}

static void test_add_star_refused(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, "");
    refuse(
        &w,
        "{'type':'addStar','id':'a','payload':{'name':'','mass':1,'radius':1,'color':'','parentId':null,"
        "'orbitalDistance':0,'orbitalSpeed':0}}",
        "starAlreadyExists", "[{'type':'starAlreadyExists','id':'a'}]"); /* C1 */
    assert_at(&w, "/rootIds", "['a']");
    refuse(
        &w,
        "{'type':'addStar','id':'b','payload':{'name':'','mass':1,'radius':1,'color':'','parentId':'zz',"
        "'orbitalDistance':0,'orbitalSpeed':0}}",
        "parentNotFound", "[{'type':'parentNotFound','id':'b','parentId':'zz'}]"); /* C2 */
    refuse_at(&w, "{'type':'addStar','star':{'id':'b'}}", "/id");
    refuse_at(&w, "{'type':'addStar','id':'b'}", "/payload");
    refuse_at(&w, "{'type':'addStar','id':'b','payload':{'name':'x'}}", "/payload/mass");
#define WITH(more)                                                                                    \
    "{'type':'addStar','id':'b','payload':{'name':'','mass':1,'radius':1,'color':'','parentId':null," \
    "'orbitalDistance':0,'orbitalSpeed':0," more "}}"
    refuse_at(&w, WITH("'id':'c'"), "/payload/id");
    refuse_at(&w, WITH("'children':['a']"), "/payload/children");
    refuse_at(&w, WITH("'eccentricity':1"), "/payload/eccentricity");
    refuse_at(&w, WITH("'eccentricity':-0.1"), "/payload/eccentricity");
    refuse_at(&w, WITH("'semiMajorAxis':'8'"), "/payload/semiMajorAxis");
    refuse_at(&w, WITH("'bodyType':'dwarf'"), "/payload/bodyType");
    refuse_at(&w, WITH("'ring':{'opacity':1}"), "/payload/ring/innerRadiusMultiplier");
    refuse_at(&w, WITH("'ring':[]"), "/payload/ring");
    refuse_at(&w, WITH("'isRoguePlanet':1"), "/payload/isRoguePlanet");
    refuse_at(&w, WITH("'lagrangeHostId':'nobody'"), "/payload/lagrangeHostId");
    refuse_at(&w, WITH("'name':'twice'"), "");
    refuse_at(
        &w,
        WITH("'lagrangePoint':{'primaryId':'a','secondaryId':'zz','pointIndex':4,'stable':true,"
             "'pairType':'starPlanet'}"),
        "/payload/lagrangePoint/secondaryId");
    refuse_at(
        &w,
        WITH("'lagrangePoint':{'primaryId':'a','secondaryId':'a','pointIndex':6,'stable':true,"
             "'pairType':'starPlanet'}"),
        "/payload/lagrangePoint/pointIndex");
    refuse_at(&w, WITH("'radius':null,'n':1,'mass':-1"), "");
    world_free(&w);
}

static void test_lenient(void **unused)
{
    world w = world_new();
    (void)unused;

    w.rules.lenient = true;
    add_star(&w, "t", NULL, ",'lagrangeHostId':'later','eccentricity':1.5,'ring':null");
    assert_at(&w, "/stars/t/lagrangeHostId", "'later'");
    assert_at(&w, "/stars/t/ring", "null");
    refuse_at(&w, WITH("'eccentricity':'x'"), "/payload/eccentricity");
    add_star(&w, "later", NULL, "");
    accept(&w, "{'type':'removeStar','id':'later'}",
           "[{'type':'starRemoved','id':'later','removedIds':['later'],'removedFieldIds':[],"
           "'removedDiskIds':[],'removedBeltIds':[]}]");
    assert_at(&w, "/stars/t/lagrangeHostId", "absent");
    world_free(&w);
}

static void test_update_star(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, ",'ring':" RING ",'x':1");
    add_star(&w, "b", "a", "");
    accept(
        &w,
        "{'type':'updateStar','id':'a','payload':{'name':'new','mass':3,'ring':null,'comet':null,"
        "'orbitOffsetX':2.5,'id':'a','parentId':null,'children':['b'],'y':[true]}}",
        "[{'type':'starUpdated','id':'a'}]");
    assert_at(
        &w, "/stars/a",
        "{'id':'a','name':'new','mass':3,'radius':2,'color':'#FFFFFF','children':['b'],'parentId':null,"
        "'orbitalDistance':10,'orbitalSpeed':5,'orbitalPhase':0,'orbitOffsetX':2.5,'x':1,'y':[true]}");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'orbitOffsetX':null}}", NULL);
    assert_at(&w, "/stars/a/orbitOffsetX", "absent");
    refuse(&w, "{'type':'updateStar','id':'zz','payload':{}}", "starNotFound",
           "[{'type':'starNotFound','id':'zz'}]");
    refuse(&w, "{'type':'updateStar','id':'a','payload':{'id':'q'}}", "invalidPatch",
           "[{'type':'invalidPatch','id':'a','field':'id'}]"); /* C3 */
    refuse(&w, "{'type':'updateStar','id':'a','payload':{'children':[]}}", "invalidPatch",
           "[{'type':'invalidPatch','id':'a','field':'children'}]");
    refuse(&w, "{'type':'updateStar','id':'a','payload':{'children':['b','b']}}", "invalidPatch",
           NULL);
    refuse(&w, "{'type':'updateStar','id':'b','payload':{'parentId':null}}", "invalidPatch",
           "[{'type':'invalidPatch','id':'b','field':'parentId'}]");
    refuse_at(&w, "{'type':'updateStar','id':'a','payload':{'mass':null}}", "/payload/mass");
    refuse_at(&w, "{'type':'updateStar','id':'a','payload':{'radius':-1}}", "/payload/radius");
    refuse_at(&w, "{'type':'updateStar','id':'a','payload':7}", "/payload");
    refuse_at(&w, "{'type':'updateStar','payload':{}}", "/id");
    world_free(&w);
}

/* I9: what is unknown is kept as it came; a patch takes it away. What is known and optional may be
 * null for absent. */
static void test_null_of_unknown_members(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, ",'x':null,'y':{'z':null},'comet':null");
    assert_at(&w, "/stars/a/x", "null");
    assert_at(&w, "/stars/a/y", "{'z':null}");
    assert_at(&w, "/stars/a/comet", "absent");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'x':null,'ring':" RING "}}", NULL);
    assert_at(&w, "/stars/a/x", "absent");
    accept(&w,
           "{'type':'replaceSnapshot','snapshot':{'rootIds':['b'],'stars':{'b':{'id':'b','name':'',"
           "'mass':1,'radius':1,'color':'','children':[],'parentId':null,'orbitalDistance':0,"
           "'orbitalSpeed':0,'orbitalPhase':0,'x':null,'eccentricity':null}}}}",
           NULL);
    assert_at(&w, "/stars/b/x", "null");
    assert_at(&w, "/stars/b/eccentricity", "absent");
    accept(&w,
           "{'type':'addGroup','id':'g','payload':{'name':'','children':[],'parentGroupId':null,"
           "'x':null,'icon':null}}",
           NULL);
    assert_at(&w, "/groups/g", "{'id':'g','name':'','children':[],'parentGroupId':null,'x':null}");
    world_free(&w);
}

static const char *patch_of(world *w, char name, const char *value)
{
    return mcp_arena_printf(w->arena, "{'type':'updateStar','id':'a','payload':{'%c':'%s'}}", name,
                            value);
}

/* I9: 4 KiB an entity, not a patch. */
static void test_unknown_members_together(void **unused)
{
    world w = world_new();
    char big[3001];
    (void)unused;

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    add_star(&w, "a", NULL, "");
    accept(&w, patch_of(&w, 'x', big), NULL);
    accept(&w, patch_of(&w, 'x', big), NULL);
    refuse_at(&w, patch_of(&w, 'y', big), "/payload");
    assert_at(&w, "/stars/a/y", "absent");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'x':null}}", NULL);
    accept(&w, patch_of(&w, 'y', big), NULL);
    world_free(&w);
}

static void test_lenient_keeps_null(void **unused)
{
    world w = world_new();
    (void)unused;

    w.rules.lenient = true;
    add_star(&w, "a", NULL, ",'orbitRotX':4");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'orbitRotX':null}}", NULL);
    assert_at(&w, "/stars/a/orbitRotX", "null");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'orbitRotX':5}}", NULL);
    assert_at(&w, "/stars/a/orbitRotX", "5");
    world_free(&w);
}

static void test_rogues_are_no_roots(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "r", NULL, ",'isRoguePlanet':true"); /* C12, I4 */
    assert_at(&w, "/rootIds", "[]");
    assert_false(w.outcome.roots);
    add_star(&w, "a", NULL, "");
    add_group(&w, "g", NULL, "{'id':'a','type':'system'}");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'isRoguePlanet':true}}", NULL);
    assert_true(w.outcome.roots);
    assert_at(&w, "/rootIds", "[]");
    assert_at(&w, "/groups/g/children", "[]");
    accept(&w, "{'type':'updateStar','id':'a','payload':{'isRoguePlanet':false}}", NULL);
    assert_at(&w, "/rootIds", "['a']");
    accept(&w, "{'type':'updateStar','id':'r','payload':{'isRoguePlanet':null}}", NULL);
    assert_at(&w, "/rootIds", "['a','r']");
    assert_at(&w, "/stars/r/isRoguePlanet", "absent");
    world_free(&w);
}

static void test_remove_star(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, "");
    add_star(&w, "b", "a", "");
    add_star(&w, "c", "b", "");
    add_star(&w, "d", "a", "");
    add_star(&w, "e", "b", "");
    refuse(&w, "{'type':'removeStar','id':'zz'}", "starNotFound",
           "[{'type':'starNotFound','id':'zz'}]");
    accept(&w, "{'type':'removeStar','id':'b'}",
           "[{'type':'starRemoved','id':'b','removedIds':['b','c','e'],'removedFieldIds':[],"
           "'removedDiskIds':[],'removedBeltIds':[]}]");
    assert_at(&w, "/stars/a/children", "['d']");
    assert_at(&w, "/stars/c", "absent");
    assert_false(w.outcome.roots);
    accept(&w, "{'type':'removeStar','id':'a'}", NULL);
    assert_true(w.outcome.roots);
    assert_at(&w, "/stars", "{}");
    assert_at(&w, "/rootIds", "[]");
    world_free(&w);
}

/* C4: whatever refers to a removed body goes with it, or forgets it. */
static void test_remove_star_cascades(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "sun", NULL, "");
    add_star(&w, "planet", "sun", "");
    add_star(&w, "other", NULL, "");
    add_star(&w, "mark", "sun", MARKER("sun", "planet"));
    add_star(&w, "dust", "mark", "");
    add_star(&w, "second", "other", MARKER("other", "dust"));
    add_star(&w, "trojan", "sun", ",'lagrangeHostId':'mark'");
    add_group(&w, "g", NULL, "{'id':'other','type':'system'},{'id':'sun','type':'system'}");
    accept(&w,
           "{'type':'setSmallBodyFields','fields':{'f':" FIELD("f", "planet") ",'h':" FIELD(
               "h", "sun") "}}",
           NULL);
    accept(&w, "{'type':'addProtoplanetaryDisk','disk':" DISK("k", "planet") "}", NULL);
    accept(&w, "{'type':'removeStar','id':'planet'}",
           "[{'type':'starRemoved','id':'planet','removedIds':['planet','mark','dust','second'],"
           "'removedFieldIds':['f'],'removedDiskIds':['k'],'removedBeltIds':[]}]");
    assert_at(&w, "/stars/trojan/lagrangeHostId", "absent");
    assert_at(&w, "/stars/sun/children", "['trojan']");
    assert_at(&w, "/stars/other/children", "[]");
    assert_at(&w, "/smallBodyFields/f", "absent");
    assert_at(&w, "/smallBodyFields/h/hostStarId", "'sun'");
    assert_at(&w, "/protoplanetaryDisks", "{}");
    accept(&w, "{'type':'removeStar','id':'sun'}", NULL);
    assert_at(&w, "/groups/g/children", "[{'id':'other','type':'system'}]");
    assert_at(&w, "/smallBodyFields", "{}");
    world_free(&w);
}

static void test_attach_star(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, "");
    add_star(&w, "b", NULL, "");
    add_star(&w, "c", "b", "");
    add_group(&w, "g", NULL, "{'id':'b','type':'system'}");
    accept(&w, "{'type':'attachStar','childId':'b','parentId':'a'}",
           "[{'type':'starAttached','childId':'b','parentId':'a'}]");
    assert_at(&w, "/rootIds", "['a']");
    assert_at(&w, "/stars/a/children", "['b']");
    assert_at(&w, "/stars/b/parentId", "'a'");
    assert_at(&w, "/stars/b/orbitalDistance", "10");
    assert_at(&w, "/groups/g/children", "[]"); /* C5 */
    refuse(&w, "{'type':'attachStar','childId':'a','parentId':'c'}", "attachFailed",
           "[{'type':'attachFailed','reason':'cycle','childId':'a','parentId':'c'}]");
    refuse(&w, "{'type':'attachStar','childId':'a','parentId':'a'}", "attachFailed",
           "[{'type':'attachFailed','reason':'cycle','childId':'a','parentId':'a'}]");
    refuse(&w, "{'type':'attachStar','childId':'zz','parentId':'a'}", "attachFailed",
           "[{'type':'attachFailed','reason':'notFound','childId':'zz','parentId':'a'}]");
    refuse(&w, "{'type':'attachStar','childId':'a','parentId':'zz'}", "attachFailed", NULL);
    accept(&w, "{'type':'attachStar','childId':'c','parentId':'a'}", NULL);
    assert_at(&w, "/stars/a/children", "['b','c']");
    assert_at(&w, "/stars/b/children", "[]");
    assert_false(w.outcome.roots);
    world_free(&w);
}

static void test_detach_star(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "a", NULL, "");
    add_star(&w, "b", "a", "");
    accept(&w, "{'type':'detachStar','childId':'b'}", "[{'type':'starDetached','childId':'b'}]");
    assert_at(&w, "/rootIds", "['a','b']");
    assert_at(&w, "/stars/b/orbitalDistance", "0");
    assert_at(&w, "/stars/b/parentId", "null");
    assert_at(&w, "/stars/a/children", "[]");
    refuse(&w, "{'type':'detachStar','childId':'b'}", "detachFailed",
           "[{'type':'detachFailed','reason':'notAttached','childId':'b'}]");
    refuse(&w, "{'type':'detachStar','childId':'zz'}", "detachFailed",
           "[{'type':'detachFailed','reason':'notAttached','childId':'zz'}]");
    world_free(&w);
}

static void test_rings(void **unused)
{
    world w = world_new();
    (void)unused;

    add_star(&w, "p", NULL, "");
    accept(&w, "{'type':'updateRing','planetId':'p','patch':{'opacity':0.25,'seed':'s'}}",
           "[{'type':'ringUpdated','planetId':'p'}]");
    assert_at(
        &w, "/stars/p/ring",
        "{'innerRadiusMultiplier':1.5,'outerRadiusMultiplier':3,'thickness':0.2,'opacity':0.25,"
        "'albedo':0.8,'color':'#FFFFFF','density':0.6,'seed':'s'}");
    accept(&w,
           "{'type':'updateRing','planetId':'p','patch':{'outerRadiusMultiplier':4,'seed':null}}",
           NULL);
    assert_at(&w, "/stars/p/ring/outerRadiusMultiplier", "4");
    assert_at(&w, "/stars/p/ring/opacity", "0.25");
    assert_at(&w, "/stars/p/ring/seed", "absent");
    accept(&w,
           "{'type':'updateStar','id':'p','payload':{'ring':{'innerRadiusMultiplier':1,"
           "'outerRadiusMultiplier':4,'thickness':1,'opacity':1,'albedo':1,'color':'','density':1,"
           "'later':null,'seed':null}}}",
           NULL);
    accept(&w, "{'type':'updateRing','planetId':'p','patch':{'opacity':0.5}}", NULL);
    assert_at(&w, "/stars/p/ring",
              "{'innerRadiusMultiplier':1,'outerRadiusMultiplier':4,'thickness':1,'opacity':0.5,"
              "'albedo':1,'color':'','density':1}"); /* null is removed within a member, too */
    refuse_at(&w, "{'type':'updateRing','planetId':'p','patch':{'innerRadiusMultiplier':4}}",
              "/patch/innerRadiusMultiplier");
    refuse(&w, "{'type':'updateRing','planetId':'zz','patch':{}}", "starNotFound", NULL);
    accept(&w, "{'type':'removeRing','planetId':'p'}", "[{'type':'ringRemoved','planetId':'p'}]");
    assert_at(&w, "/stars/p/ring", "absent");
    refuse(&w, "{'type':'removeRing','planetId':'p'}", "ringNotFound",
           "[{'type':'ringNotFound','planetId':'p'}]");
    refuse(&w, "{'type':'removeRing','planetId':'zz'}", "ringNotFound", NULL);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_star),
        cmocka_unit_test(test_add_star_refused),
        cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_update_star),
        cmocka_unit_test(test_null_of_unknown_members),
        cmocka_unit_test(test_unknown_members_together),
        cmocka_unit_test(test_lenient_keeps_null),
        cmocka_unit_test(test_rogues_are_no_roots),
        cmocka_unit_test(test_remove_star),
        cmocka_unit_test(test_remove_star_cascades),
        cmocka_unit_test(test_attach_star),
        cmocka_unit_test(test_detach_star),
        cmocka_unit_test(test_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
