/*
 * The commands on groups, each with its rejections (section 3.1) and the corrections C1 to C3 and
 * C6 to C8.
 */
#include "../world.h"

static world systems_and_groups(void)
{
    world w = world_new();

    add_star(&w, "s1", NULL, "");
    add_star(&w, "s2", NULL, "");
    add_star(&w, "moon", "s1", "");
    add_group(&w, "top", NULL, "{'id':'s1','type':'system'}");
    add_group(&w, "mid", "top", "");
    add_group(&w, "low", "mid", "");
    return w;
}

static void test_add_group(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

    assert_at(&w, "/rootGroupIds", "['top']");
    assert_at(&w, "/groups/top/children",
              "[{'id':'s1','type':'system'},{'id':'mid','type':'group'}]");
    assert_at(&w, "/groups/mid/parentGroupId", "'top'");
    accept(
        &w,
        "{'type':'addGroup','id':'n','payload':{'name':'N','children':[{'id':'s1','type':'system'},"
        "{'id':'low','type':'group'}],'parentGroupId':null,'color':'red','icon':'i','position':"
        "{'x':1,'y':2,'z':3},'u':1}}",
        "[{'type':'groupAdded','id':'n'}]");
    assert_true(w.outcome.root_groups);
    assert_at(
        &w, "/groups/n",
        "{'id':'n','name':'N','children':[{'id':'s1','type':'system'},{'id':'low','type':'group'}],"
        "'parentGroupId':null,'color':'red','icon':'i','position':{'x':1,'y':2,'z':3},'u':1}");
    assert_at(&w, "/groups/top/children", "[{'id':'mid','type':'group'}]"); /* one group at most */
    assert_at(&w, "/groups/mid/children", "[]");
    assert_at(&w, "/rootGroupIds", "['top','n']");
    world_free(&w);
}

static void test_add_group_refused(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

#define GROUP(id, children, parent)                                                                \
    "{'type':'addGroup','id':'" id "','payload':{'name':'','children':[" children "],"             \
    "'parentGroupId':" parent "}}"
    refuse(&w, GROUP("top", "", "null"), "groupAlreadyExists",
           "[{'type':'groupAlreadyExists','id':'top'}]");
    refuse(&w, GROUP("x", "", "'zz'"), "parentNotFound",
           "[{'type':'parentNotFound','id':'x','parentId':'zz'}]");
    refuse(&w, GROUP("x", "{'id':'zz','type':'system'}", "null"), "childNotFound",
           "[{'type':'childNotFound','childId':'zz'}]");
    refuse(&w, GROUP("x", "{'id':'top','type':'system'}", "null"), "childNotFound", NULL);
    refuse(&w, GROUP("x", "{'id':'top','type':'group'}", "'low'"), "addToGroupFailed",
           "[{'type':'addToGroupFailed','reason':'cycle','groupId':'x','childId':'top'}]");
    refuse(&w, GROUP("x", "{'id':'moon','type':'system'}", "null"), "addToGroupFailed", NULL);
    refuse_at(&w, GROUP("x", "{'id':'s2','type':'system'},{'id':'s2','type':'system'}", "null"),
              "/payload/children/1");
    refuse_at(&w, GROUP("x", "{'id':'s2','type':'planet'}", "null"), "/payload/children/0/type");
    refuse_at(&w, GROUP("x", "7", "null"), "/payload/children/0");
    refuse_at(&w, GROUP("x", "", "7"), "/payload/parentGroupId");
    world_free(&w);
}

static void test_update_group(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

    accept(
        &w,
        "{'type':'updateGroup','id':'mid','payload':{'name':'M','parentGroupId':'top','children':"
        "[{'id':'low','type':'group'}],'position':{'x':0,'y':0,'z':0}}}",
        "[{'type':'groupUpdated','id':'mid'}]");
    assert_at(&w, "/groups/mid/name", "'M'");
    accept(&w, "{'type':'updateGroup','id':'mid','payload':{'position':null}}", NULL);
    assert_at(&w, "/groups/mid/position", "absent");
    refuse(&w, "{'type':'updateGroup','id':'zz','payload':{}}", "groupNotFound",
           "[{'type':'groupNotFound','id':'zz'}]");
    refuse(&w, "{'type':'updateGroup','id':'mid','payload':{'parentGroupId':null}}", "invalidPatch",
           "[{'type':'invalidPatch','id':'mid','field':'parentGroupId'}]");
    refuse(&w, "{'type':'updateGroup','id':'mid','payload':{'children':[]}}", "invalidPatch", NULL);
    refuse(&w, "{'type':'updateGroup','id':'mid','payload':{'id':'m'}}", "invalidPatch", NULL);
    world_free(&w);
}

static void test_remove_group(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

    add_group(&w, "last", "top", "");
    accept(&w, "{'type':'removeGroup','id':'mid'}", "[{'type':'groupRemoved','id':'mid'}]");
    assert_at(
        &w, "/groups/top/children",
        /* C6 */
        "[{'id':'s1','type':'system'},{'id':'low','type':'group'},{'id':'last','type':'group'}]");
    assert_at(&w, "/groups/low/parentGroupId", "'top'");
    accept(&w, "{'type':'removeGroup','id':'top'}", NULL);
    assert_at(&w, "/rootGroupIds", "['low','last']");
    assert_at(&w, "/groups/low/parentGroupId", "null");
    assert_at(&w, "/rootIds", "['s1','s2']");
    refuse(&w, "{'type':'removeGroup','id':'top'}", "groupNotFound",
           "[{'type':'groupNotFound','id':'top'}]");
    add_group(&w, "again", NULL, "{'id':'s1','type':'system'}");
    world_free(&w);
}

static void test_add_to_group(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

#define ADD(group, id, type)                                                                       \
    "{'type':'addToGroup','groupId':'" group "','child':{'id':'" id "','type':'" type "'}}"
    accept(&w, ADD("low", "s1", "system"),
           "[{'type':'childAddedToGroup','groupId':'low','childId':'s1'}]");
    assert_at(&w, "/groups/low/children", "[{'id':'s1','type':'system'}]");
    assert_at(&w, "/groups/top/children", "[{'id':'mid','type':'group'}]");
    ignore(&w, ADD("low", "s1", "system"),
           "[{'type':'childAlreadyInGroup','groupId':'low','childId':'s1'}]");
    ignore(&w, ADD("mid", "low", "group"),
           "[{'type':'childAlreadyInGroup','groupId':'mid','childId':'low'}]");
    refuse(
        &w, ADD("low", "top", "group"), "addToGroupFailed",
        "[{'type':'addToGroupFailed','reason':'cycle','groupId':'low','childId':'top'}]"); /* C7 */
    refuse(&w, ADD("low", "low", "group"), "addToGroupFailed", NULL);
    refuse(&w, ADD("zz", "s1", "system"), "groupNotFound", "[{'type':'groupNotFound','id':'zz'}]");
    refuse(&w, ADD("low", "zz", "system"), "childNotFound",
           "[{'type':'childNotFound','childId':'zz'}]"); /* C8 */
    refuse(&w, ADD("low", "moon", "system"), "addToGroupFailed",
           "[{'type':'addToGroupFailed','reason':'notRoot','groupId':'low','childId':'moon'}]");
    accept(&w, ADD("top", "low", "group"), NULL); /* C7: leaves mid */
    assert_at(&w, "/groups/mid/children", "[]");
    assert_at(&w, "/groups/low/parentGroupId", "'top'");
    world_free(&w);
}

static void test_remove_from_group(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

    accept(&w, "{'type':'removeFromGroup','groupId':'mid','childId':'low'}",
           "[{'type':'childRemovedFromGroup','groupId':'mid','childId':'low'}]");
    assert_at(&w, "/rootGroupIds", "['top','low']");
    assert_at(&w, "/groups/low/parentGroupId", "null");
    accept(&w, "{'type':'removeFromGroup','groupId':'top','childId':'s1'}", NULL);
    assert_at(&w, "/groups/top/children", "[{'id':'mid','type':'group'}]");
    assert_at(&w, "/rootIds", "['s1','s2']");
    refuse(&w, "{'type':'removeFromGroup','groupId':'top','childId':'s1'}", "childNotInGroup",
           "[{'type':'childNotInGroup','groupId':'top','childId':'s1'}]");
    refuse(&w, "{'type':'removeFromGroup','groupId':'zz','childId':'s1'}", "groupNotFound", NULL);
    world_free(&w);
}

static void test_move_to_group(void **unused)
{
    world w = systems_and_groups();
    (void)unused;

#define MOVE(id, type, target)                                                                     \
    "{'type':'moveToGroup','childId':'" id "','childType':'" type "','targetGroupId':" target "}"
    accept(&w, MOVE("s1", "system", "'low'"),
           "[{'type':'movedToGroup','childId':'s1','targetGroupId':'low'}]");
    assert_at(&w, "/groups/low/children", "[{'id':'s1','type':'system'}]");
    accept(&w, MOVE("mid", "group", "null"),
           "[{'type':'movedToGroup','childId':'mid','targetGroupId':null}]");
    assert_at(&w, "/rootGroupIds", "['top','mid']");
    accept(&w, MOVE("s1", "system", "null"), NULL);
    assert_at(&w, "/groups/low/children", "[]");
    refuse(&w, MOVE("mid", "group", "'low'"), "moveToGroupFailed",
           "[{'type':'moveToGroupFailed','reason':'cycle','childId':'mid','targetGroupId':'low'}]");
    refuse(&w, MOVE("mid", "group", "'zz'"), "groupNotFound",
           "[{'type':'groupNotFound','id':'zz'}]");
    refuse(&w, MOVE("zz", "group", "'low'"), "childNotFound",
           "[{'type':'childNotFound','childId':'zz'}]");
    refuse(&w, MOVE("moon", "system", "'low'"), "moveToGroupFailed", NULL);
    refuse_at(&w, MOVE("s1", "planet", "'low'"), "/childType");
    refuse_at(&w, "{'type':'moveToGroup','childId':'s1','childType':'system'}", "/targetGroupId");
    accept(&w, MOVE("low", "group", "'top'"), NULL);
    accept(&w, MOVE("mid", "group", "'low'"), NULL);
    assert_at(&w, "/groups/mid/parentGroupId", "'low'");
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_group),     cmocka_unit_test(test_add_group_refused),
        cmocka_unit_test(test_update_group),  cmocka_unit_test(test_remove_group),
        cmocka_unit_test(test_add_to_group),  cmocka_unit_test(test_remove_from_group),
        cmocka_unit_test(test_move_to_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
