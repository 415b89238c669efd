/*
 * test_feed.c - the events that viewers of a universe get: each version once and in order, from now
 * on or from an earlier version, ticks one by one, not at all or as sums.
 */
#include "../service_rig.h"

#include "bus_reader.h"

enum { WINDOW = 64 };

static service_rig rig;

static int setup(void **unused)
{
    (void)unused;
    rig = service_rig_open("memory", (universe_service_options){ 0 });
    service_rig_create(&rig, "u", NULL);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    service_rig_close(&rig);
    return 0;
}

static bus_reader *view(universe_subscription what)
{
    universe_subscriber subscriber;
    if (universe_service_subscribe(&subscriber, rig.service, "u", &what, &rig.err) != MCP_OK)
        fail_msg("%s", rig.err.message);
    bus_reader *reader = bus_reader_new(subscriber.bus, subscriber.topic, &subscriber.how, WINDOW);
    universe_service_subscribed(&subscriber);
    return reader;
}

static void expect(bus_reader *reader, int64_t id, const char *name, const char *data)
{
    bus_taken taken;
    bus_reader_next(reader, &taken);
    assert_int_equal(taken.id, id);
    assert_string_equal(taken.name, name);
    if (data)
        assert_string_equal(taken.data, data);
}

static void tick(double dt)
{
    service_rig_send(&rig, "u", mcp_arena_printf(rig.arena, "{\"type\":\"tick\",\"dt\":%g}", dt));
}

static void each_version_comes_once_with_its_details(void **unused)
{
    (void)unused;
    bus_reader *plain = view((universe_subscription){ .after = UNIVERSE_ANY_VERSION });
    bus_reader *detailed = view(
        (universe_subscription){ .after = UNIVERSE_ANY_VERSION, .detail = true });
    tick(2);
    service_rig_send(&rig, "u", service_rig_body(&rig, "b"));
    expect(plain, 1, "command", "{\"type\":\"tick\",\"dt\":2}");
    expect(plain, 2, "command", NULL);
    expect(detailed, 1, "command", "{\"type\":\"tick\",\"dt\":2}");
    expect(detailed, 1, "applied", "{\"version\":1,\"events\":[],\"time\":2}");
    expect(detailed, 2, "command", NULL);
    expect(detailed, 2, "applied",
           "{\"version\":2,\"events\":[{\"type\":\"starAdded\",\"id\":\"b\"}],\"time\":2}");
    assert_int_equal(bus_reader_waiting(plain), 0);
    bus_reader_end(plain);
    bus_reader_end(detailed);
}

static void a_viewer_without_ticks_gets_none(void **unused)
{
    (void)unused;
    bus_reader *reader = view(
        (universe_subscription){ .after = UNIVERSE_ANY_VERSION, .ticks = UNIVERSE_TICKS_NONE });
    tick(1);
    service_rig_send(&rig, "u", service_rig_body(&rig, "b"));
    expect(reader, 2, "command", NULL);
    bus_reader_end(reader);
}

static void a_run_of_ticks_is_one_with_their_sum(void **unused)
{
    (void)unused;
    bus_reader *reader = view((universe_subscription){ .after = UNIVERSE_ANY_VERSION,
                                                       .ticks = UNIVERSE_TICKS_COALESCED });
    bus_taken taken;
    double sum = 0, time = 0;
    for (int i = 0; i < 5; i++)
        tick(0.5);
    service_rig_send(&rig, "u", service_rig_body(&rig, "b"));
    for (bus_reader_next(reader, &taken); taken.id < 6; bus_reader_next(reader, &taken)) {
        const mcp_json *event = NULL;
        double dt = 0;
        assert_int_equal(mcp_json_read(&event, rig.arena, taken.data, strlen(taken.data), &rig.err),
                         MCP_OK);
        assert_true(mcp_json_double(mcp_json_get(event, "dt"), &dt));
        assert_true(mcp_json_double(mcp_json_get(event, "time"), &time));
        sum += dt;
    }
    assert_true(sum == 2.5); /* however many runs they made */
    assert_true(time == 2.5);
    assert_int_equal(taken.id, 6);
    bus_reader_end(reader);
}

static void a_viewer_continues_from_the_log(void **unused)
{
    (void)unused;
    tick(1);
    tick(2);
    service_rig_send(&rig, "u", service_rig_body(&rig, "b"));
    bus_reader *reader = view((universe_subscription){ .after = 1 });
    expect(reader, 2, "command", "{\"type\":\"tick\",\"dt\":2}");
    expect(reader, 3, "command", NULL);
    tick(4);
    expect(reader, 4, "command", "{\"type\":\"tick\",\"dt\":4}");
    bus_reader *sums = view(
        (universe_subscription){ .after = 0, .ticks = UNIVERSE_TICKS_COALESCED });
    expect(sums, 2, "command", "{\"type\":\"tick\",\"dt\":3,\"time\":3}");
    expect(sums, 3, "command", NULL);
    bus_reader_end(reader);
    bus_reader_end(sums);
}

static void a_version_that_never_was_is_a_resync(void **unused)
{
    (void)unused;
    tick(1);
    bus_reader *reader = view((universe_subscription){ .after = INT64_MAX });
    expect(reader, 1, "resync", "{\"version\":1}");
    tick(1);
    expect(reader, 2, "command", NULL);
    bus_reader_end(reader);
}

static void a_replaced_state_is_a_resync_and_a_new_name_is_distinguished(void **unused)
{
    universe_state *state = NULL;
    universe_view *other = NULL;
    universe_result result = { 0 };
    (void)unused;
    bus_reader *reader = view((universe_subscription){ .after = UNIVERSE_ANY_VERSION });
    assert_int_equal(universe_state_new(&state, &rig.err), MCP_OK);
    assert_int_equal(universe_state_freeze(&other, state, &rig.err), MCP_OK);
    const universe_replacement changes[] = { { .view = other }, { .name = "New" } };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(universe_service_replace(&result, rig.service, "u", &changes[i],
                                                  UNIVERSE_ANY_VERSION, NULL, rig.arena, &rig.err),
                         MCP_OK);
        universe_view_free(result.current.view);
    }
    expect(reader, 1, "resync", "{\"version\":1}");
    expect(reader, 2, "renamed", "{\"version\":2}");
    bus_reader_end(reader);
    universe_view_free(other);
    universe_state_free(state);
}

static void the_streams_of_a_deleted_universe_end(void **unused)
{
    const universe_subscription from_now = { .after = UNIVERSE_ANY_VERSION };
    universe_subscriber none;
    int64_t version = 0;
    (void)unused;
    bus_reader *reader = view(from_now);
    assert_int_equal(
        universe_service_delete(&version, rig.service, "u", UNIVERSE_ANY_VERSION, &rig.err),
        MCP_OK);
    expect(reader, -1, "deleted", "{}");
    assert_true(bus_reader_is_over(reader, true));
    bus_reader_end(reader);
    assert_int_equal(universe_service_subscribe(&none, rig.service, "u", &from_now, &rig.err),
                     MCP_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(each_version_comes_once_with_its_details),
        TEST(a_viewer_without_ticks_gets_none),
        TEST(a_run_of_ticks_is_one_with_their_sum),
        TEST(a_viewer_continues_from_the_log),
        TEST(a_version_that_never_was_is_a_resync),
        TEST(a_replaced_state_is_a_resync_and_a_new_name_is_distinguished),
        TEST(the_streams_of_a_deleted_universe_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
