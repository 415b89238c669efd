/*
 * test_bus.c - what readers of a topic get: in order, from where they were, or a word that they
 * fell behind; bounds; and all of it once through a real server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bus/bus.h"
#include "bus_reader.h"
#include "web_rig.h"

static bus *all;
static bus_options options;
static int64_t log_end;   /* the log has events 1 ... log_end */
static int64_t log_begin; /* and has forgotten those up to this */

static mcp_event *make_resync(const char *topic, int64_t newest, void *data)
{
    char text[64];
    mcp_event *event = NULL;

    (void)topic;
    (void)data;
    int length = snprintf(text, sizeof text, "%lld", (long long)newest);
    assert_int_equal(mcp_event_new(&event, NULL, "resync", text, (size_t)length, NULL), MCP_OK);
    return event;
}

static mcp_status read_log(const char *topic, int64_t after, bus_sink *page, void *data,
                           mcp_error *err)
{
    (void)topic;
    (void)data;
    if (after < log_begin)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the log begins later");
    for (int64_t id = after + 1; id <= log_end; id++)
        if (bus_sink_add(page, &(bus_event){ .id = id, .data = "from the log", .length = 12 }) !=
            MCP_OK)
            break;
    return MCP_OK;
}

static void begin(void)
{
    options.resync = make_resync;
    assert_int_equal(bus_new(&all, &options, NULL), MCP_OK);
}

static int set_up(void **state)
{
    (void)state;
    options = (bus_options){ .idle_ms = 3600000 };
    log_end = 0;
    log_begin = 0;
    all = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bus_free(all);
    return 0;
}

static void publish(const char *topic, int64_t id)
{
    bus_event event = { .id = id, .name = "command", .data = "live", .length = 4 };

    assert_int_equal(bus_publish(all, topic, &event, 1, NULL), MCP_OK);
}

static void expect(bus_reader *reader, int64_t id, const char *data)
{
    bus_taken taken;

    bus_reader_next(reader, &taken);
    assert_int_equal(taken.id, id);
    assert_string_equal(taken.data, data);
}

static void expect_resync(bus_reader *reader, const char *newest)
{
    bus_taken taken;

    bus_reader_next(reader, &taken);
    assert_string_equal(taken.name, "resync");
    assert_string_equal(taken.data, newest);
    assert_int_equal(taken.id, -1);
}

static bus_counts counts(void)
{
    bus_counts now;

    bus_count(all, &now);
    return now;
}

/* Until the pump has let go of those that have gone. */
static void wait_for_subscribers(size_t count)
{
    struct timespec nap = { .tv_nsec = 1000000 };

    for (int i = 0; counts().subscribers != count; i++) {
        assert_true(i < 60000);
        nanosleep(&nap, NULL);
    }
}

static void readers_get_their_topics_events_in_order(void **state)
{
    (void)state;
    begin();
    publish("a", 1);
    bus_reader *first = bus_reader_new(all, "a", NULL, 8);
    bus_reader *second = bus_reader_new(all, "a", NULL, 8);
    bus_reader *other = bus_reader_new(all, "b", NULL, 8);
    publish("a", 2);
    publish("b", 7);
    publish("a", 5);
    expect(first, 2, "live");
    expect(first, 5, "live");
    expect(second, 2, "live");
    expect(second, 5, "live");
    expect(other, 7, "live");
    assert_int_equal(counts().published, 4);
    assert_int_equal(counts().delivered, 5);
    bus_reader_end(first);
    bus_reader_end(second);
    bus_reader_end(other);
}

static void a_reader_that_comes_back_continues_from_the_ring(void **state)
{
    bus_subscription how = { .has_after = true, .after = 2 };

    (void)state;
    begin();
    for (int64_t id = 1; id <= 4; id++)
        publish("a", id);
    bus_reader *reader = bus_reader_new(all, "a", &how, 8);
    expect(reader, 3, "live");
    expect(reader, 4, "live");
    publish("a", 5);
    expect(reader, 5, "live");
    bus_reader_end(reader);
}

static void what_was_published_before_is_left_out(void **state)
{
    (void)state;
    begin();
    bus_reader *reader = bus_reader_new(all, "a", NULL, 8);
    bus_event events[] = { { .id = 4 }, { .id = 5, .name = "x" }, { .id = 5, .name = "y" } };
    publish("a", 3);
    publish("a", 3);
    publish("a", 2);
    assert_int_equal(bus_publish(all, "a", events, 3, NULL), MCP_OK);
    assert_int_equal(bus_publish(all, "a", events, 3, NULL), MCP_OK);
    publish("a", 6);
    expect(reader, 3, "live");
    expect(reader, 4, "");
    expect(reader, 5, "");
    expect(reader, 5, "");
    expect(reader, 6, "live");
    bus_reader_end(reader);
}

static void a_topic_knows_how_far_it_has_come(void **state)
{
    int64_t newest = 0;
    bus_subscription behind = { .has_after = true, .after = 5 };

    (void)state;
    log_end = 7;
    options.catch_up = read_log;
    begin();
    assert_false(bus_newest(&newest, all, "t"));
    bus_begin_at(all, "t", 7); /* there is no such topic */
    assert_false(bus_newest(&newest, all, "t"));
    bus_reader *early = bus_reader_new(all, "t", NULL, 8);
    assert_false(bus_newest(&newest, all, "t"));
    bus_begin_at(all, "t", 7);
    assert_true(bus_newest(&newest, all, "t"));
    assert_int_equal(newest, 7);
    bus_reader *one = bus_reader_new(all, "t", &behind, 8);
    expect(one, 6, "from the log");
    expect(one, 7, "from the log");
    publish("t", 7); /* was before its time */
    publish("t", 8);
    bus_begin_at(all, "t", 3); /* it has begun */
    assert_true(bus_newest(&newest, all, "t"));
    assert_int_equal(newest, 8);
    expect(one, 8, "live");
    expect(early, 8, "live");
    bus_reader_end(one);
    bus_reader_end(early);
}

static void one_from_far_behind_reads_the_log_then_the_ring(void **state)
{
    bus_subscription how = { .has_after = true, .after = 2 };

    (void)state;
    options.ring_events = 4;
    options.catch_up = read_log;
    log_end = 20;
    begin();
    for (int64_t id = 1; id <= 20; id++)
        publish("a", id);
    bus_reader *reader = bus_reader_new(all, "a", &how, 3);
    for (int64_t id = 3; id <= 20; id++)
        expect(reader, id, "from the log");
    publish("a", 21);
    expect(reader, 21, "live");
    assert_int_equal(counts().resynced, 0);
    bus_reader_end(reader);
}

/* While the log is read for the first time, more is published than the ring holds. */
static mcp_status read_log_too_slowly(const char *topic, int64_t after, bus_sink *page, void *data,
                                      mcp_error *err)
{
    mcp_status st = read_log(topic, after, page, data, err);

    if (log_end == 40)
        return st;
    log_end = 40;
    for (int64_t id = 21; id <= 40; id++)
        publish(topic, id);
    return st;
}

static void what_leaves_the_ring_meanwhile_is_read_from_the_log(void **state)
{
    bus_subscription how = { .has_after = true, .after = 2 };

    (void)state;
    options.ring_events = 4;
    options.catch_up = read_log_too_slowly;
    log_end = 20;
    begin();
    publish("a", 20);
    bus_reader *reader = bus_reader_new(all, "a", &how, 100);
    for (int64_t id = 3; id <= 40; id++)
        expect(reader, id, "from the log");
    publish("a", 41);
    expect(reader, 41, "live");
    bus_reader_end(reader);
}

static void a_topic_nobody_has_heard_of_is_asked_of_the_log(void **state)
{
    bus_subscription how = { .has_after = true, .after = 0 };

    (void)state;
    options.catch_up = read_log;
    log_end = 2;
    begin();
    bus_reader *reader = bus_reader_new(all, "a", &how, 8);
    expect(reader, 1, "from the log");
    expect(reader, 2, "from the log");
    publish("a", 3);
    expect(reader, 3, "live");
    bus_reader_end(reader);
}

static void a_reader_whose_past_is_gone_gets_a_resync(void **state)
{
    bus_subscription how = { .has_after = true, .after = 2 };

    (void)state;
    options.ring_events = 4;
    options.catch_up = read_log;
    log_begin = 10;
    log_end = 20;
    begin();
    for (int64_t id = 1; id <= 20; id++)
        publish("a", id);
    bus_reader *reader = bus_reader_new(all, "a", &how, 3);
    expect_resync(reader, "20");
    publish("a", 21);
    expect(reader, 21, "live");
    assert_int_equal(counts().resynced, 1);
    bus_reader_end(reader);
}

static void without_a_log_a_slow_reader_is_notified(void **state)
{
    bus_subscription how = { .has_after = true, .after = 2 };

    (void)state;
    options.ring_events = 4;
    begin();
    for (int64_t id = 1; id <= 9; id++)
        publish("a", id);
    bus_reader *reader = bus_reader_new(all, "a", &how, 3);
    expect_resync(reader, "9");
    publish("a", 10);
    expect(reader, 10, "live");
    bus_reader_end(reader);
}

/* It holds two events, the ring four: while it takes nothing the ring moves on. */
static void a_reader_that_stops_harms_nobody_and_is_notified(void **state)
{
    (void)state;
    options.ring_events = 4;
    begin();
    bus_reader *slow = bus_reader_new(all, "a", NULL, 2);
    bus_reader *quick = bus_reader_new(all, "a", NULL, 8);
    for (int64_t id = 1; id <= 50; id++) {
        publish("a", id);
        expect(quick, id, "live");
    }
    assert_int_equal(bus_reader_waiting(slow), 2);
    expect(slow, 1, "live");
    expect(slow, 2, "live");
    expect_resync(slow, "50");
    publish("a", 51);
    expect(slow, 51, "live");
    bus_reader_end(slow);
    bus_reader_end(quick);
}

static void kinds_are_chosen_by_the_reader(void **state)
{
    bus_subscription how = { .kinds = 1 };
    bus_event events[] = {
        { .id = 1, .name = "both" },           { .id = 1, .kind = 2, .name = "two" },
        { .id = 2, .kind = 1, .name = "one" }, { .id = 3, .kind = 2, .name = "two" },
        { .id = 4, .kind = 3, .name = "one" },
    };
    bus_taken taken;

    (void)state;
    begin();
    bus_reader *some = bus_reader_new(all, "a", &how, 8);
    bus_reader *every = bus_reader_new(all, "a", NULL, 8);
    assert_int_equal(bus_publish(all, "a", events, 5, NULL), MCP_OK);
    for (int i = 0; i < 5; i++) {
        bus_reader_next(every, &taken);
        assert_string_equal(taken.name, events[i].name);
    }
    static const char *const chosen[] = { "both", "one", "one" };
    for (int i = 0; i < 3; i++) {
        bus_reader_next(some, &taken);
        assert_string_equal(taken.name, chosen[i]);
    }
    assert_int_equal(counts().delivered, 8);
    bus_reader_end(some);
    bus_reader_end(every);
}

static void a_topic_that_ends_says_so_and_closes(void **state)
{
    bus_event last = { .name = "deleted", .data = "{}", .length = 2 };
    bus_taken taken;

    (void)state;
    begin();
    bus_reader *slow = bus_reader_new(all, "a", NULL, 1);
    publish("a", 1);
    publish("a", 2);
    assert_int_equal(bus_end_topic(all, "a", &last, NULL), MCP_OK);
    assert_int_equal(bus_end_topic(all, "a", &last, NULL), MCP_OK); /* there is none any more */
    publish("a", 1);                                                /* a new one of that name */
    bus_reader *newer = bus_reader_new(all, "a", NULL, 8);
    expect(slow, 1, "live");
    expect(slow, 2, "live");
    bus_reader_next(slow, &taken);
    assert_string_equal(taken.name, "deleted");
    assert_int_equal(taken.id, -1);
    assert_true(bus_reader_is_over(slow, true));
    publish("a", 2);
    expect(newer, 2, "live");
    bus_reader_end(slow);
    bus_reader_end(newer);
    wait_for_subscribers(0);
    assert_int_equal(counts().topics, 1);
    assert_int_equal(bus_end_topic(all, "a", NULL, NULL), MCP_OK);
    assert_int_equal(counts().topics, 0);
    assert_int_equal(counts().ring_bytes, 0);
}

/* Its token is checked when it reconnects, and it misses nothing. */
static void an_old_reader_is_closed_behind_what_it_got(void **state)
{
    bus_subscription brief = { .lifetime_ms = 1 }, lasting = { .lifetime_ms = 3600000 };
    struct timespec nap = { .tv_nsec = 2000000 };

    (void)state;
    begin();
    bus_reader *old = bus_reader_new(all, "a", &brief, 8);
    bus_reader *other = bus_reader_new(all, "a", &lasting, 8);
    nanosleep(&nap, NULL);
    assert_false(bus_reader_is_over(old, false));
    publish("a", 1);
    expect(old, 1, "live");
    assert_true(bus_reader_is_over(old, true));
    publish("a", 2);
    brief = (bus_subscription){ .has_after = true, .after = 1 };
    bus_reader *again = bus_reader_new(all, "a", &brief, 8);
    expect(again, 2, "live");
    expect(other, 1, "live");
    expect(other, 2, "live");
    assert_false(bus_reader_is_over(other, false));
    bus_reader_end(old);
    bus_reader_end(other);
    bus_reader_end(again);
}

static void an_expired_reader_is_closed_and_gets_nothing_more(void **state)
{
    bus_subscription brief = { .expires_ms = 1 }, lasting = { .expires_ms = 3600000 };

    (void)state;
    begin();
    bus_reader *old = bus_reader_new(all, "a", &brief, 8);
    bus_reader *other = bus_reader_new(all, "a", &lasting, 8);
    assert_true(bus_reader_is_over(old, true)); /* without an event */
    publish("a", 1);
    expect(other, 1, "live");
    assert_false(bus_reader_is_over(other, false));
    assert_int_equal(counts().delivered, 1);
    bus_reader_end(old);
    bus_reader_end(other);
}

static void the_readers_of_an_owner_are_ended(void **state)
{
    bus_subscription ada = { .owner = "ada" }, otto = { .owner = "otto" };

    (void)state;
    begin();
    bus_reader *first = bus_reader_new(all, "a", &ada, 8);
    bus_reader *second = bus_reader_new(all, "a", &ada, 8);
    bus_reader *third = bus_reader_new(all, "a", &otto, 8);
    bus_reader *nameless = bus_reader_new(all, "a", NULL, 8);
    bus_reader *elsewhere = bus_reader_new(all, "b", &ada, 8);
    publish("a", 1);
    expect(first, 1, "live");
    expect(second, 1, "live");
    bus_end_owner(all, "c", "ada");
    bus_end_owner(all, "a", "ad");
    bus_end_owner(all, "a", "ada");
    publish("a", 2);
    publish("b", 1);
    assert_true(bus_reader_is_over(first, true));
    assert_true(bus_reader_is_over(second, true));
    expect(third, 1, "live");
    expect(third, 2, "live");
    expect(nameless, 1, "live");
    expect(nameless, 2, "live");
    expect(elsewhere, 1, "live");
    assert_int_equal(counts().delivered, 7);
    bus_reader_end(first);
    bus_reader_end(second);
    bus_reader_end(third);
    bus_reader_end(nameless);
    bus_reader_end(elsewhere);
    wait_for_subscribers(0);
}

static void the_readers_of_a_group_are_ended(void **state)
{
    bus_subscription one = { .owner = "one", .group = "ada" }, two = { .group = "ada" };
    bus_subscription other = { .owner = "two", .group = "otto" };

    (void)state;
    begin();
    bus_reader *first = bus_reader_new(all, "a", &one, 8);
    bus_reader *second = bus_reader_new(all, "a", &two, 8);
    bus_reader *third = bus_reader_new(all, "a", &other, 8);
    bus_end_owner(all, "a", "ada");
    publish("a", 1);
    assert_true(bus_reader_is_over(first, true));
    assert_true(bus_reader_is_over(second, true));
    expect(third, 1, "live");
    assert_int_equal(counts().delivered, 1);
    bus_reader_end(first);
    bus_reader_end(second);
    bus_reader_end(third);
    wait_for_subscribers(0);
}

/* It is full, so it would receive the second event when it has taken the first. */
static void a_full_reader_of_an_owner_is_ended(void **state)
{
    bus_subscription ada = { .owner = "ada" };
    struct timespec nap = { .tv_nsec = 1000000 };

    (void)state;
    begin();
    bus_reader *slow = bus_reader_new(all, "a", &ada, 1);
    publish("a", 1);
    publish("a", 2);
    for (int i = 0; bus_reader_waiting(slow) == 0; i++) {
        assert_true(i < 60000);
        nanosleep(&nap, NULL);
    }
    bus_end_owner(all, "a", "ada");
    expect(slow, 1, "live");
    assert_true(bus_reader_is_over(slow, true));
    bus_reader_end(slow);
}

static void one_that_fell_behind_still_hears_the_end(void **state)
{
    bus_event last = { .name = "deleted" };
    bus_taken taken;

    (void)state;
    options.ring_events = 2;
    begin();
    bus_reader *slow = bus_reader_new(all, "a", NULL, 1);
    for (int64_t id = 1; id <= 9; id++)
        publish("a", id);
    assert_int_equal(bus_end_topic(all, "a", &last, NULL), MCP_OK);
    bus_taken first;
    bus_reader_next(slow, &first);
    do
        bus_reader_next(slow, &taken);
    while (strcmp(taken.name, "deleted") != 0);
    assert_true(bus_reader_is_over(slow, true));
    bus_reader_end(slow);
}

static void readers_and_topics_are_bounded(void **state)
{
    mcp_status st = MCP_OK;

    (void)state;
    options.subscribers = 2;
    options.topics = 2;
    begin();
    publish("idle", 1);
    bus_reader *a = bus_reader_new(all, "a", NULL, 1);
    bus_reader *b = bus_reader_new(all, "b", NULL, 1); /* takes the place of the idle one */
    assert_int_equal(counts().topics, 2);
    assert_null(bus_reader_try(all, "a", NULL, 1, &st));
    assert_int_equal(st, MCP_E_LIMIT);
    bus_reader_end(a);
    wait_for_subscribers(1);
    a = bus_reader_new(all, "a", NULL, 1);
    publish("c", 1); /* no room for it, and nobody to miss it */
    publish("a", 1);
    expect(a, 1, "live");
    bus_reader_end(a);
    bus_reader_end(b);
}

static void topics_beyond_the_bound_are_refused_to_readers(void **state)
{
    mcp_status st = MCP_OK;

    (void)state;
    options.topics = 1;
    begin();
    bus_reader *a = bus_reader_new(all, "a", NULL, 1);
    assert_null(bus_reader_try(all, "b", NULL, 1, &st));
    assert_int_equal(st, MCP_E_LIMIT);
    bus_reader_end(a);
}

static void rings_are_bounded_by_bytes(void **state)
{
    static char large[50000];
    bus_event event = { .data = large, .length = sizeof large };
    char topic[16];

    (void)state;
    memset(large, 'x', sizeof large);
    options.ring_bytes = 120000;
    options.total_bytes = 300000;
    begin();
    for (event.id = 1; event.id <= 10; event.id++)
        assert_int_equal(bus_publish(all, "a", &event, 1, NULL), MCP_OK);
    assert_in_range(counts().ring_bytes, 100000, 120000);
    for (int i = 0; i < 20; i++) {
        snprintf(topic, sizeof topic, "t%d", i);
        assert_int_equal(bus_publish(all, topic, &event, 1, NULL), MCP_OK);
        assert_true(counts().ring_bytes <= 300000);
    }
}

static void topics_that_nobody_uses_go(void **state)
{
    struct timespec nap = { .tv_nsec = 1000000 };

    (void)state;
    options.idle_ms = 1;
    begin();
    bus_reader *reader = bus_reader_new(all, "read", NULL, 1);
    publish("read", 1);
    publish("idle", 1);
    for (int i = 0; counts().topics > 1; i++) {
        assert_true(i < 60000);
        nanosleep(&nap, NULL);
    }
    expect(reader, 1, "live");
    publish("read", 2);
    expect(reader, 2, "live");
    bus_reader_end(reader);
}

static void ids_are_read_as_readers_send_them(void **state)
{
    static const char *const bad[] = { NULL, "", "-1", "+1", "1 ", "1a", "9223372036854775808" };
    int64_t id = 0;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(bus_read_id(&id, bad[i]));
    assert_true(bus_read_id(&id, "9223372036854775807"));
    assert_true(id == INT64_MAX);
}

static void bad_events_are_refused_whole(void **state)
{
    bus_event events[] = { { .id = 1 }, { .id = 2, .name = "a\nb" } };

    (void)state;
    begin();
    assert_int_equal(bus_publish(all, "a", events, 2, NULL), MCP_E_PARAMS);
    assert_int_equal(counts().published, 0);
    assert_int_equal(bus_publish(all, "a", NULL, 0, NULL), MCP_OK);
}

static void a_bus_without_a_way_back_is_refused(void **state)
{
    bus_options none = { 0 };

    (void)state;
    assert_int_equal(bus_new(&all, &none, NULL), MCP_E_PARAMS);
    bus_free(NULL);
}

/* ---- through a server ------------------------------------------------------------------------ */

static mcp_status follow(mcp_call *call, void *data)
{
    bus_subscription how = { .first = ":connected\n\n", .retry_ms = 2000 };

    (void)data;
    how.has_after = bus_read_id(&how.after, mcp_call_last_event_id(call));
    return bus_subscribe(all, call, mcp_arg_string(call, "id"), &how, mcp_call_error(call));
}

/* Read until `text` has been seen; what was read is kept in `out`. */
static void read_until(int fd, char *out, size_t size, const char *text)
{
    size_t length = strlen(out);

    while (!strstr(out, text)) {
        ssize_t got = read(fd, out + length, size - 1 - length);
        if (got <= 0)
            fail_msg("the stream ended after: %s", out);
        length += (size_t)got;
        out[length] = '\0';
    }
}

static void a_server_streams_a_topic(void **state)
{
    static const mcp_route routes[] = { { "GET", "/topics/{id}", follow, MCP_READS, 0 }, { 0 } };
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char text[4096] = "";

    (void)state;
    begin();
    http.routes = routes;
    publish("a", 1);
    publish("a", 2);
    web_rig *server = web_start(NULL, &http);
    int fd = web_begin(web_port(server), "GET", "/topics/a", "Last-Event-ID: 1\r\n", NULL);
    read_until(fd, text, sizeof text, "id: 2\n");
    assert_non_null(strstr(text, ":connected\n\n"));
    assert_null(strstr(text, "id: 1\n"));
    publish("a", 3);
    read_until(fd, text, sizeof text, "id: 3\nevent: command\ndata: live\n\n");
    assert_int_equal(counts().subscribers, 1);
    close(fd);
    wait_for_subscribers(0);
    fd = web_begin(web_port(server), "GET", "/topics/b", NULL, NULL);
    wait_for_subscribers(1);
    assert_int_equal(web_end(server), MCP_OK); /* the server ends the stream, and tells the bus */
    wait_for_subscribers(0);
    close(fd);
}

static void a_bus_that_ends_first_closes_its_streams(void **state)
{
    static const mcp_route routes[] = { { "GET", "/topics/{id}", follow, MCP_READS, 0 }, { 0 } };
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char text[4096] = "";

    (void)state;
    begin();
    http.routes = routes;
    web_rig *server = web_start(NULL, &http);
    int fd = web_begin(web_port(server), "GET", "/topics/a", NULL, NULL);
    read_until(fd, text, sizeof text, ":connected");
    bus_free(all);
    all = NULL;
    read_until(fd, text, sizeof text, "\r\n0\r\n\r\n"); /* the last chunk */
    close(fd);
    assert_int_equal(web_end(server), MCP_OK);
}

#define BUS_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BUS_TEST(readers_get_their_topics_events_in_order),
        BUS_TEST(a_reader_that_comes_back_continues_from_the_ring),
        BUS_TEST(what_was_published_before_is_left_out),
        BUS_TEST(a_topic_knows_how_far_it_has_come),
        BUS_TEST(one_from_far_behind_reads_the_log_then_the_ring),
        BUS_TEST(what_leaves_the_ring_meanwhile_is_read_from_the_log),
        BUS_TEST(a_topic_nobody_has_heard_of_is_asked_of_the_log),
        BUS_TEST(a_reader_whose_past_is_gone_gets_a_resync),
        BUS_TEST(without_a_log_a_slow_reader_is_notified),
        BUS_TEST(a_reader_that_stops_harms_nobody_and_is_notified),
        BUS_TEST(kinds_are_chosen_by_the_reader),
        BUS_TEST(a_topic_that_ends_says_so_and_closes),
        BUS_TEST(an_old_reader_is_closed_behind_what_it_got),
        BUS_TEST(an_expired_reader_is_closed_and_gets_nothing_more),
        BUS_TEST(the_readers_of_an_owner_are_ended),
        BUS_TEST(the_readers_of_a_group_are_ended),
        BUS_TEST(a_full_reader_of_an_owner_is_ended),
        BUS_TEST(one_that_fell_behind_still_hears_the_end),
        BUS_TEST(readers_and_topics_are_bounded),
        BUS_TEST(topics_beyond_the_bound_are_refused_to_readers),
        BUS_TEST(rings_are_bounded_by_bytes),
        BUS_TEST(topics_that_nobody_uses_go),
        BUS_TEST(ids_are_read_as_readers_send_them),
        BUS_TEST(bad_events_are_refused_whole),
        BUS_TEST(a_bus_without_a_way_back_is_refused),
        BUS_TEST(a_server_streams_a_topic),
        BUS_TEST(a_bus_that_ends_first_closes_its_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
