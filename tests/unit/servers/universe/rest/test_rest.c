/*
 * test_rest.c - the routes: statuses, conditions and bodies of records, commands and states.
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

/* A request and the status that it must have. */
struct exchange {
    int status;
    const char *method, *path, *body;
};

static void walk(const struct exchange *exchanges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct exchange *one = &exchanges[i];
        if (ask_route(&rig, one->method, one->path, NULL, one->body) != one->status)
            fail_msg("%s %s %s: %d %.300s", one->method, one->path, one->body ? one->body : "",
                     rig.answer.status, rig.answer.body);
    }
}
#define WALK(exchanges) walk(exchanges, sizeof exchanges / sizeof exchanges[0])

static void records_are_created_changed_and_deleted(void **unused)
{
    static const struct exchange exchanges[] = {
        { 201, "POST", "/universes", "{'id':'v','name':' V ','state':{}}" },
        { 409, "POST", "/universes", "{'id':'v','name':'V','state':{}}" },
        { 400, "POST", "/universes", "{'id':'w','name':' ','state':{}}" },
        { 400, "POST", "/universes", "{'id':'w','name':'W'}" },
        { 400, "POST", "/universes", "{'id':7,'name':'W','state':{}}" },
        { 400, "POST", "/universes", "{'id':'..','name':'W','state':{}}" },
        { 200, "PUT", "/universes/v", "{'name':'other'}" },
        { 400, "PUT", "/universes/v", "{'name':''}" },
        { 400, "PUT", "/universes/v", "{'state':[]}" },
        { 404, "PUT", "/universes/none", "{'name':'x'}" },
        { 200, "GET", "/universes/v", NULL },
        { 204, "DELETE", "/universes/v", NULL },
        { 404, "DELETE", "/universes/v", NULL },
        { 404, "GET", "/universes/v", NULL },
    };
    (void)unused;
    WALK(exchanges);
    expect_at(&rig, "", "{'error':'Universe not found','universeId':'v'}");
}

static void commands_are_answered_by_their_outcome(void **unused)
{
    static const struct exchange exchanges[] = {
        { 200, "POST", "/universes/u/commands", A_STAR("a") },
        { 422, "POST", "/universes/u/commands", A_STAR("a") },
        { 422, "POST", "/universes/u/commands", "{'type':'noSuch'}" },
        { 400, "POST", "/universes/u/commands", "{'type':''}" },
        { 400, "POST", "/universes/u/commands", "{'type':' \\u00a0'}" },
        { 400, "POST", "/universes/u/commands", "{'type':" },
        { 400, "POST", "/universes/u/commands?return=some", "{'type':'tick'}" },
        { 409, "POST", "/universes/u/commands?expectedVersion=0", "{'type':'tick'}" },
        { 200, "POST", "/universes/u/commands?expectedVersion=1&return=minimal",
          "{'type':'tick'}" },
        { 404, "POST", "/universes/none/commands", "{'type':'tick'}" },
        { 400, "POST", "/universes/u/commands:batch", "[]" },
        { 400, "POST", "/universes/u/commands:batch", "[{'type':'tick'},7]" },
        { 422, "POST", "/universes/u/commands:batch", "[{'type':'tick'},{'type':'noSuch'}]" },
    };
    (void)unused;
    WALK(exchanges);
    expect_at(&rig, "/at", "1");
    expect_at(&rig, "/version", "2"); /* all or none */
}

static void conditions_decide_before_a_change_is_made(void **unused)
{
    char tag[64];
    (void)unused;
    assert_int_equal(ask_route(&rig, "GET", "/universes/u", NULL, NULL), 200);
    web_field(&rig.answer, "ETag", tag, sizeof tag);
    assert_string_equal(tag, "\"v0\"");
    assert_int_equal(ask_route(&rig, "GET", "/universes/u", "If-None-Match: \"v0\"\r\n", NULL),
                     304);
    assert_int_equal(ask_route(&rig, "POST", "/universes/u/commands",
                               "Content-Type: application/json\r\nIf-Match: \"v7\"\r\n",
                               "{'type':'tick'}"),
                     412);
    assert_int_equal(ask_route(&rig, "POST", "/universes/u/commands",
                               "Content-Type: application/json\r\nIf-Match: \"v7\", \"v0\"\r\n",
                               "{'type':'tick'}"),
                     200);
    assert_int_equal(ask_route(&rig, "DELETE", "/universes/u", "If-Match: \"v0\"\r\n", NULL), 412);
    assert_int_equal(ask_route(&rig, "DELETE", "/universes/u", "If-Match: *\r\n", NULL), 204);
}

static void what_changed_is_given_as_long_as_it_is_known(void **unused)
{
    static const struct exchange exchanges[] = {
        { 200, "POST", "/universes/u/commands", A_STAR("a") },
        { 200, "POST", "/universes/u/commands", A_STAR("b") },
        { 410, "GET", "/universes/u/state?since=9", NULL },
        { 400, "GET", "/universes/u/state?fields=none", NULL },
        { 400, "GET", "/universes/u/state?limit=x", NULL },
        { 200, "GET", "/universes/u/state?since=1", NULL },
    };
    (void)unused;
    WALK(exchanges);
    assert_int_equal(mcp_json_count(mcp_json_pointer(rig.json, "/delta/stars")), 1);
    expect_at(&rig, "/delta/stars/b/id", "'b'");
}

static void a_state_is_restored_and_generated(void **unused)
{
    static const struct exchange exchanges[] = {
        { 200, "POST", "/universes/u/commands", A_STAR("a") },
        { 400, "POST", "/universes/u/restore", "{'version':'x'}" },
        { 404, "POST", "/universes/u/restore", "{'version':9}" },
        { 400, "POST", "/universes/u/generate", "{'maxSystems':0}" },
        { 200, "POST", "/universes/u/generate", "{'seed':1,'maxSystems':1,'dryRun':true}" },
        { 200, "POST", "/universes/u/generate", "{'seed':1,'maxSystems':1}" },
        { 200, "POST", "/universes/u/restore", "{'version':1}" },
        { 200, "GET", "/universes/u/state", NULL },
    };
    (void)unused;
    WALK(exchanges);
    expect_at(&rig, "/rootIds", "['a']");
}

static void a_clock_is_set_within_its_bounds(void **unused)
{
    static const struct exchange exchanges[] = {
        { 400, "POST", "/universes/u/clock", "{'hz':21}" },
        { 400, "POST", "/universes/u/clock", "{'timeScale':-1}" },
        { 400, "POST", "/universes/u/clock", "{'running':1}" },
        { 200, "POST", "/universes/u/clock", "{'running':false,'timeScale':2,'hz':5}" },
        { 404, "GET", "/universes/none/clock", NULL },
        { 200, "GET", "/universes/u/clock", NULL },
    };
    (void)unused;
    WALK(exchanges);
    expect_at(&rig, "", "{'running':false,'timeScale':2,'hz':5}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(records_are_created_changed_and_deleted),
        TEST(commands_are_answered_by_their_outcome),
        TEST(conditions_decide_before_a_change_is_made),
        TEST(what_changed_is_given_as_long_as_it_is_known),
        TEST(a_state_is_restored_and_generated),
        TEST(a_clock_is_set_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
