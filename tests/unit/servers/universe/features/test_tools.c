/*
 * test_tools.c - the three tools: what they answer, and what every error says.
 */
#include "../gateway_rig.h"

static gateway_rig rig;

static int setup(void **unused)
{
    (void)unused;
    gateway_rig_open(&rig);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    gateway_rig_close(&rig);
    return 0;
}

static void a_command_is_applied_and_answered(void **unused)
{
    (void)unused;
    assert_false(
        call_tool(&rig, "send_universe_command", "{'universeId':'u','command':" A_STAR("sun") "}"));
    expect_at(&rig, "/version", "1");
    expect_at(&rig, "/events", "[{'type':'starAdded','id':'sun'}]");
    expect_at(&rig, "/nextState/rootIds", "['sun']");
    assert_false(call_tool(&rig, "send_universe_command",
                           "{'universeId':'u','return':'delta','command':{'type':'tick'}}"));
    expect_at(&rig, "/version", "2");
    expect_at(&rig, "/time", "1");
    assert_null(mcp_json_get(rig.json, "nextState"));
    /* stored as it was sent, the dt filled in */
    assert_int_equal(ask_route(&rig, "GET", "/universes/u/history?after=1", NULL, NULL), 200);
    expect_at(&rig, "/entries/0/command", "{'type':'tick','dt':1}");
}

static void a_rejection_has_its_reason_and_a_hint(void **unused)
{
    (void)unused;
    assert_true(call_tool(&rig, "send_universe_command",
                          "{'universeId':'u','command':{'type':'removeStar','id':'none'}}"));
    expect_at(&rig, "/error", "'Command rejected'");
    expect_at(&rig, "/universeId", "'u'");
    expect_at(&rig, "/reason", "'starNotFound'");
    expect_at(&rig, "/version", "0");
    assert_non_null(strstr(mcp_json_get_string(rig.json, "hint"), "Nothing has this id"));
    rig.app.soft_rejections = true;
    assert_false(call_tool(&rig, "send_universe_command",
                           "{'universeId':'u','command':{'type':'removeStar','id':'none'}}"));
    rig.app.soft_rejections = false;
}

static void another_version_is_a_conflict(void **unused)
{
    (void)unused;
    assert_true(call_tool(&rig, "send_universe_command",
                          "{'universeId':'u','expectedVersion':9,'command':{'type':'tick'}}"));
    expect_at(&rig, "",
              "{'error':'versionConflict','universeId':'u','expectedVersion':9,"
              "'version':0}");
}

static void a_part_of_the_state_is_given(void **unused)
{
    (void)unused;
    call_tool(&rig, "send_universe_command", "{'universeId':'u','command':" A_STAR("a") "}");
    call_tool(&rig, "send_universe_command", "{'universeId':'u','command':" A_STAR("b") "}");
    assert_false(call_tool(&rig, "get_universe_state", "{'universeId':'u','fields':['rootIds']}"));
    expect_at(&rig, "", "{'partial':true,'version':2,'state':{'rootIds':['a','b']}}");
    assert_false(call_tool(&rig, "get_universe_state", "{'universeId':'u','ids':['b']}"));
    assert_int_equal(mcp_json_count(mcp_json_pointer(rig.json, "/state/stars")), 1);
    assert_false(call_tool(&rig, "get_universe_state", "{'universeId':'u','summary':true}"));
    expect_at(&rig, "/counts/stars", "2");
    assert_false(call_tool(&rig, "get_universe_state", "{'universeId':'u'}"));
    expect_at(&rig, "/rootIds", "['a','b']");
}

static void a_large_state_is_refused_with_its_size(void **unused)
{
    (void)unused;
    call_tool(&rig, "send_universe_command", "{'universeId':'u','command':" A_STAR("a") "}");
    rig.app.max_state_bytes = 64;
    assert_true(call_tool(&rig, "get_universe_state", "{'universeId':'u'}"));
    expect_at(&rig, "/error", "'State too large'");
    expect_at(&rig, "/bodies", "1");
    expect_at(&rig, "/limit", "64");
    expect_at(&rig, "/uri", "'universe://u/state'");
    assert_false(call_tool(&rig, "get_universe_state", "{'universeId':'u','full':true}"));
    rig.app.max_state_bytes = UNIVERSE_MAX_STATE;
}

static void commands_are_listed_by_category(void **unused)
{
    (void)unused;
    assert_true(call_tool(&rig, "list_universe_commands", "{'universeId':'u','category':'x'}"));
    expect_at(&rig, "/error", "'Unknown category'");
    expect_at(&rig, "/availableCategories/0", "'simulation'");
    assert_false(
        call_tool(&rig, "list_universe_commands", "{'universeId':'u','category':'rings'}"));
    assert_non_null(strstr(rig.answer.body, "removeRing"));
    assert_null(strstr(rig.answer.body, "addStar"));
}

static void a_universe_that_is_not_there_is_named(void **unused)
{
    static const char *const calls[][2] = {
        { "get_universe_state", "{'universeId':'u-42'}" },
        { "list_universe_commands", "{'universeId':'u-42'}" },
        { "send_universe_command", "{'universeId':'u-42','command':{'type':'tick'}}" },
    };
    (void)unused;
    for (size_t i = 0; i < 3; i++) {
        assert_true(call_tool(&rig, calls[i][0], calls[i][1]));
        expect_at(&rig, "", "{'error':'Universe not found','universeId':'u-42'}");
    }
}

static void arguments_that_do_not_fit_are_named(void **unused)
{
    (void)unused;
    assert_true(call_tool(&rig, "send_universe_command", "{'universeId':'u','command':{}}"));
    expect_at(&rig, "/error", "'Invalid arguments'");
    expect_at(&rig, "/field", "'/command'");
    expect_at(&rig, "/universeId", "'u'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_command_is_applied_and_answered),      TEST(a_rejection_has_its_reason_and_a_hint),
        TEST(another_version_is_a_conflict),          TEST(a_part_of_the_state_is_given),
        TEST(a_large_state_is_refused_with_its_size), TEST(commands_are_listed_by_category),
        TEST(a_universe_that_is_not_there_is_named),  TEST(arguments_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
