/*
 * test_plane.c - the way of an operation: keys under many threads, definitions, the feed, and
 * tokens that were revoked.
 */
#include <pthread.h>

#include "bus_reader.h"
#include "engine.h"

#include "../plane_rig.h"
#include "store/definitions.h"
#include "store/tokens.h"

enum { THREADS = 20 };

static plane_rig rig;

static void create_user(plane_rig *on, const char *key, const char *email, portarium_reply *reply,
                        mcp_arena *arena)
{
    char text[128];
    portarium_request request = {
        .actor = &rig_admin, .workspace = "ws-1", .correlation_id = "c-1", .idempotency_key = key
    };
    snprintf(text, sizeof text, "{\"email\":\"%s\",\"roles\":[\"operator\"]}", email);
    *reply = (portarium_reply){ .status = 0 };
    if (mcp_json_read(&request.arguments, arena, "{}", 2, NULL) == MCP_OK &&
        mcp_json_read(&request.body, arena, text, strlen(text), NULL) == MCP_OK)
        portarium_plane_run(on->plane, portarium_operation_find("createUser"), &request, arena,
                            reply);
}

typedef struct one {
    pthread_t thread;
    mcp_arena *arena;
    portarium_reply reply;
} one;

static void *create_with_key(void *data)
{
    one *self = data;
    create_user(&rig, "key-1", "ada@example.org", &self->reply, self->arena);
    return NULL;
}

static void requests_with_one_key_have_one_effect(void **state)
{
    const engine *e = *state;
    static one many[THREADS];
    portarium_reply reply;
    rig_open(&rig, e->url);
    for (int i = 0; i < THREADS; i++) {
        many[i] = (one){ .arena = mcp_arena_new(0) };
        assert_int_equal(pthread_create(&many[i].thread, NULL, create_with_key, &many[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(many[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(many[i].reply.status, 201);
        assert_string_equal(many[i].reply.text, many[0].reply.text);
        assert_string_equal(many[i].reply.location, many[0].reply.location);
    }
    for (int i = 0; i < THREADS; i++)
        mcp_arena_free(many[i].arena);
    create_user(&rig, "key-1", "otto@example.org", &reply, rig.arena);
    assert_int_equal(reply.status, 409);
    create_user(&rig, "key-2", "ADA@example.org", &reply, rig.arena);
    assert_int_equal(reply.status, 409); /* another request: the address is taken */
    rig_expect(&rig, &rig_admin, "listUsers", NULL, NULL, 200);
    assert_int_equal(mcp_json_count(mcp_json_get(rig_body(&rig), "items")), 1);
    rig_close(&rig);
}

/* The claims of a JWT are not read again where a connection stays open. */
static void an_actor_whose_token_has_expired_does_nothing(void **state)
{
    const engine *e = *state;
    portarium_actor late = rig_admin, early = rig_admin;
    late.expires_ms = 1;
    early.expires_ms = INT64_MAX;
    rig_open(&rig, e->url);
    rig_expect(&rig, &late, "listUsers", NULL, NULL, 403);
    assert_string_equal(rig.reply.detail, "The token has expired.");
    rig_expect(&rig, &late, "createWorkItem", NULL, "{\"title\":\"x\"}", 403);
    rig_expect(&rig, &early, "createWorkItem", NULL, "{\"title\":\"x\"}", 201);
    rig_close(&rig);
}

/* Nor does who has no token of ours, as with a JWT: for readers and commands, of one workspace and
 * of all. */
static void an_actor_who_is_not_active_does_nothing(void **state)
{
    static const struct {
        const char *name, *body;
        int status;
    } asked[] = { { "listUsers", NULL, 200 },
                  { "listWorkspaces", NULL, 200 },
                  { "createWorkItem", "{\"title\":\"x\"}", 201 } };
    const engine *e = *state;
    rig_open(&rig, e->url);
    rig_expect(&rig, &rig_admin, "createUser", NULL,
               "{\"userId\":\"otto\",\"email\":\"otto@example.org\",\"roles\":[\"operator\"]}",
               201);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        rig_expect(&rig, &rig_operator, asked[i].name, NULL, asked[i].body, asked[i].status);
        rig_expect(&rig, &rig_admin, "updateUser", "{\"userId\":\"otto\"}", "{\"active\":false}",
                   200);
        rig_expect(&rig, &rig_operator, asked[i].name, NULL, asked[i].body, 403);
        assert_string_equal(rig.reply.detail, "The user of the token is not active.");
        rig_expect(&rig, &rig_admin, asked[i].name, NULL, asked[i].body, asked[i].status);
        rig_expect(&rig, &rig_admin, "updateUser", "{\"userId\":\"otto\"}", "{\"active\":true}",
                   200);
    }
    rig_close(&rig);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static mcp_status get_definition(portarium_tx *tx, void *data, mcp_error *err)
{
    const portarium_workflow *workflow = NULL;
    int64_t *version = data;
    mcp_status st = portarium_definition_get(&workflow, tx, "wf", *version, err);
    return st == MCP_OK && workflow->version != *version ? MCP_E_INTERNAL : st;
}

static void *get_definitions(void *data)
{
    bool *ok = data;
    *ok = true;
    for (int64_t i = 0; i < 40; i++) {
        int64_t version = 1 + i % 4;
        mcp_arena *arena = mcp_arena_new(0);
        *ok = *ok && portarium_plane_read(rig.plane, "ws-1", arena, get_definition, &version,
                                          NULL) == MCP_OK;
        mcp_arena_free(arena);
    }
    return NULL;
}

#define WORKFLOW(name)                                                                             \
    "{\"schemaVersion\":1,\"workflowId\":\"wf\",\"workspaceId\":\"ws-1\",\"name\":\"" name         \
    "\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":[{\"actionId\":"      \
    "\"a\",\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":\"control:noop\"}]}"

static void definitions_are_read_by_many_threads(void **state)
{
    const engine *e = *state;
    pthread_t threads[THREADS];
    bool ok[THREADS];
    int64_t none = 9;
    rig_open(&rig, e->url);
    rig_expect(&rig, &rig_admin, "createWorkflow", NULL, WORKFLOW("one"), 201);
    for (int i = 2; i <= 4; i++) {
        char patch[64];
        snprintf(patch, sizeof patch, "{\"name\":\"version %d\"}", i);
        rig_expect(&rig, &rig_admin, "updateWorkflow", "{\"workflowId\":\"wf\"}", patch, 200);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_definitions, &ok[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(ok[i]);
    }
    assert_int_equal(
        portarium_plane_read(rig.plane, "ws-1", rig.arena, get_definition, &none, NULL),
        MCP_E_NOT_FOUND);
    rig_close(&rig);
}

/* ---- the feed -------------------------------------------------------------------------------- */

static void make_workflows(plane_rig *on, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "{\"schemaVersion\":1,\"workflowId\":\"wf-%d\",\"workspaceId\":\"ws-1\",\"name\":"
                 "\"n\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":[{"
                 "\"actionId\":\"a\",\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":"
                 "\"control:noop\"}]}",
                 i);
        rig_expect(on, &rig_admin, "createWorkflow", NULL, body, 201);
    }
}

static void expect_events(bus_reader *reader, int64_t from, int64_t to)
{
    bus_taken event;
    for (int64_t id = from; id <= to; id++) {
        bus_reader_next(reader, &event);
        assert_int_equal(event.id, id);
        assert_string_equal(event.name, "WorkflowCreated");
    }
    assert_false(bus_reader_take(reader, &event));
}

static void each_event_comes_once_and_in_order(void **state)
{
    const engine *e = *state;
    const bus_subscription begin = { .has_after = true, .after = 0 };
    const bus_subscription later = { .has_after = true, .after = 12 };
    rig_open(&rig, e->url);
    bus *events = portarium_plane_events(rig.plane);
    bus_reader *first = bus_reader_new(events, "ws-1", &begin, 8);
    bus_reader *second = bus_reader_new(events, "ws-1", &begin, 64);
    make_workflows(&rig, 0, 30);
    expect_events(first, 1, 30);
    expect_events(second, 1, 30);
    bus_reader *third = bus_reader_new(events, "ws-1", &later, 64);
    expect_events(third, 13, 30);
    bus_reader_end(first);
    bus_reader_end(second);
    bus_reader_end(third);
    rig_close(&rig);
}

/* Another plane of the same database stands for another process. */
static void a_reader_hears_what_others_commit(void **state)
{
    const engine *e = *state;
    const bus_subscription begin = { .has_after = true, .after = 0 };
    plane_rig other = { .arena = mcp_arena_new(0) };
    const portarium_plane_options options = { .url = e->url,
                                              .files = portarium_files,
                                              .settings = { .instance = "other" } };
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(portarium_plane_open(&other.plane, &options, &err), MCP_OK);
    bus_reader *reader = bus_reader_new(portarium_plane_events(other.plane), "ws-1", &begin, 64);
    rig_open(&rig, e->url); /* makes the workspace: the other does not know it yet */
    make_workflows(&rig, 0, 5);
    expect_events(reader, 1, 5);
    make_workflows(&rig, 5, 5);
    expect_events(reader, 6, 10);
    bus_reader_end(reader);
    portarium_plane_close(other.plane);
    /* Started again, a plane continues where the events ended. */
    assert_int_equal(portarium_plane_open(&other.plane, &options, &err), MCP_OK);
    const bus_subscription after = { .has_after = true, .after = 7 };
    reader = bus_reader_new(portarium_plane_events(other.plane), "ws-1", &after, 64);
    make_workflows(&other, 10, 2);
    expect_events(reader, 8, 12);
    bus_reader_end(reader);
    rig_close(&other);
    rig_close(&rig);
}

static void a_plane_may_be_for_reading_only(void **state)
{
    const engine *e = *state;
    plane_rig reader = { .arena = mcp_arena_new(0) };
    const portarium_plane_options options = { .url = e->url,
                                              .files = portarium_files,
                                              .read_only = true };
    mcp_error err = MCP_ERROR_INIT;
    rig_open(&rig, e->url);
    make_workflows(&rig, 0, 1);
    if (portarium_plane_open(&reader.plane, &options, &err) != MCP_OK)
        fail_msg("%s", err.message);
    rig_expect(&reader, &rig_admin, "getWorkflow", "{\"workflowId\":\"wf-0\"}", NULL, 200);
    rig_expect(&reader, &rig_admin, "archiveWorkflow", "{\"workflowId\":\"wf-0\"}", NULL, 403);
    rig_close(&reader);
    rig_close(&rig);
}

#define ONLY(test, name)                                                                           \
    {                                                                                              \
#test " (" #name ")", test, engine_##name, engine_end, NULL                                \
    }

static mcp_status make_revoked_token(portarium_tx *tx, void *data, mcp_error *err)
{
    const portarium_token token = { .id = "t-1", .subject = "ada", .roles = PORTARIUM_ROLE(ADMIN) };
    mcp_status st = portarium_token_create(data, tx, &token, err);
    return st == MCP_OK ? portarium_token_revoke(tx, "t-1", err) : st;
}

/* Whether what it asks for is there, is not, or is asked for wrongly. */
static void a_revoked_token_learns_nothing(void **state)
{
    static const struct {
        const char *operation, *arguments, *body;
    } reads[] = {
        { "listUsers", "{}", NULL },
        { "listUsers", "{\"limit\":\"0\"}", NULL },
        { "listUsers", "{\"cursor\":\"?\"}", NULL },
        { "getUser", "{\"userId\":\"nobody\"}", NULL },
        { "getWorkspace", "{}", NULL },
        { "getStatus", "{}", NULL },
        { "listWorkspaces", "{\"sort\":\"name:up\"}", NULL },
        { "machineHeartbeat", "{\"machineId\":\"m-1\"}", "{\"status\":\"ok\"}" },
    };
    const engine *e = *state;
    mcp_error err = MCP_ERROR_INIT;
    char secret[PORTARIUM_TOKEN_SIZE], hash[65];
    rig_open(&rig, e->url);
    assert_int_equal(
        portarium_plane_write(rig.plane, "ws-1", rig.arena, make_revoked_token, secret, &err),
        MCP_OK);
    assert_true(portarium_token_hash(hash, secret));
    const portarium_actor revoked = {
        .subject = "ada", .workspace = "ws-1", .roles = PORTARIUM_ROLE(ADMIN), .token_hash = hash
    };
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        rig_expect(&rig, &revoked, reads[i].operation, reads[i].arguments, reads[i].body, 403);
        assert_string_equal(rig.reply.detail, "The token was revoked.");
        assert_int_equal(rig.reply.fields.count, 0);
        assert_null(rig.reply.text);
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(an_actor_whose_token_has_expired_does_nothing),
        ENGINE_TESTS(an_actor_who_is_not_active_does_nothing),
        ENGINE_TESTS(requests_with_one_key_have_one_effect),
        ENGINE_TESTS(definitions_are_read_by_many_threads),
        ENGINE_TESTS(each_event_comes_once_and_in_order),
        ENGINE_TESTS(a_revoked_token_learns_nothing),
        ONLY(a_reader_hears_what_others_commit, sqlite),
        ONLY(a_reader_hears_what_others_commit, postgres),
        ONLY(a_plane_may_be_for_reading_only, sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
