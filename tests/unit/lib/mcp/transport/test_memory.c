/*
 * test_memory.c - the transports without memory: standard streams, WebSocket, HTTP+SSE
 * (test_streamable.c has Streamable HTTP).
 *
 * Each conversation is held again and again, each time with memory for one allocation more before
 * every further one is refused, until there was enough. Whatever fails, a client must not be left
 * waiting: each of its requests is answered, if by an error, or its connection ends. What leaks is
 * found by AddressSanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fixture.h"
#include "mcp/clock.h"
#include "mcp/mcp.h"
#include "rig.h"
#include "scratch.h"
#include "web_rig.h"

#define ROUNDS_MAX 3000

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define CALL(id, name, rest)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name    \
    "\",\"arguments\":" rest "}}"
#define ECHO(id) CALL(id, "fix/echo", "{\"text\":\"a\"}")

static char large[100 * 1024];      /* a ping that a worker reads */
static char long_id[2 * 1024];      /* its error is longer than what is kept for errors */
static char heard_text[256 * 1024]; /* what the client has heard in this round; frames hold NULs */
static size_t heard_length;

/* Messages, one a line, how many answers they have, and words of the last when all is well. */
static const struct exchange {
    const char *text;
    int answers;
    const char *words;
} exchanges[] = {
    { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
      "\"2024-11-05\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
      1, "\"serverInfo\"" },
    { ECHO("1"), 1, "echo" },
    { ECHO("1") "\n" ECHO("2") "\n" ECHO("3"), 3, "echo" },
    { "[" ECHO("1") "," ECHO("2") "]", 2, "echo" },
    { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 1, "fix/echo" },
    { CALL("1", "fix/echo", "7") "\n" CALL("2", "fix/echo", "7"), 2, "\"id\":2" },
    { CALL("1", "fix/count", "{\"to\":3},\"_meta\":{\"progressToken\":1}"), 1,
      "\"id\":1,\"result\"" },
    { "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n" PING, 1, "\"id\":1" },
    { large, 1, "\"id\":1" },
    { long_id, 1, "-32601" },
};

static int fill_in(void **state)
{
    (void)state;
    memset(large, ' ', sizeof large - 1);
    memcpy(large, PING, sizeof PING - 1);
    int length = snprintf(long_id, sizeof long_id,
                          "{\"jsonrpc\":\"2.0\",\"method\":\"none\",\"id\":\"");
    memset(long_id + length, 'x', 1000);
    strcpy(long_id + length + 1000, "\"}");
    return 0;
}

/* ---- what a client hears --------------------------------------------------------------------- */

static int count_of(const char *words)
{
    const char *at = heard_text;
    int count = 0;

    for (at = memmem(at, (size_t)(heard_text + heard_length - at), words, strlen(words));
         at != NULL;
         at = memmem(at, (size_t)(heard_text + heard_length - at), words, strlen(words))) {
        at++;
        count++;
    }
    return count;
}

/* Read until `done` says so (true) or the server has closed (false). One that does neither ends the
 * test. */
static bool hear(int fd, bool (*done)(const void *what), const void *what)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + CLIENT_WAIT_MS;

    heard_text[heard_length = 0] = '\0';
    while (!done(what)) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int64_t left_ms = deadline_ms - mcp_clock_mono_ms();
        assert_true(heard_length + 1 < sizeof heard_text);
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0)
            fail_msg("the client is left waiting; so far: %s", heard_text);
        ssize_t count = read(fd, heard_text + heard_length, sizeof heard_text - 1 - heard_length);
        if (count <= 0)
            return false;
        heard_length += (size_t)count;
        heard_text[heard_length] = '\0';
    }
    return true;
}

static bool is_answered(const struct exchange *exchange)
{
    return count_of("\"result\":") + count_of("\"error\":{") >= exchange->answers;
}

/* An error for a message that could not even be read stands for all that it held. */
static bool has_answers(const void *what)
{
    return is_answered(what) || count_of("\"id\":null") > 0;
}

static bool has_words(const void *what)
{
    return count_of(what) > 0;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* One round: prepares with all the memory there is, says what is in `exchange` with as much as
 * there is after mcp__alloc_fail_after(successes), and hears. Returns whether all was well. */
typedef bool held_round(const struct exchange *exchange, long successes);

static void walk(held_round *round, const struct exchange *exchange)
{
    bool was_refused = true;

    for (long successes = 0; was_refused; successes++) {
        assert_true(successes < ROUNDS_MAX);
        bool is_well = round(exchange, successes);
        was_refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        if (!was_refused && !is_well)
            fail_msg("with memory, too: %.*s", (int)heard_length, heard_text);
    }
}

static void walk_exchanges(held_round *round)
{
    for (size_t i = 0; i < sizeof exchanges / sizeof exchanges[0]; i++)
        walk(round, &exchanges[i]);
}

/* Whether all was answered as it should be. */
static bool hear_answers(int fd, const struct exchange *exchange)
{
    return hear(fd, has_answers, exchange) && is_answered(exchange) && has_words(exchange->words);
}

/* ---- over HTTP ------------------------------------------------------------------------------- */

static web_rig *rig_of_test;

static int begin(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)fill_in(state);
    http.websocket = true;
    http.legacy_sse = true;
    rig_of_test = web_start(NULL, &http);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp__alloc_fail_after(-1);
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

/* A connection that the server has taken, so that the request is what memory runs out for. */
static int connect_first(void)
{
    int fd = web_begin(web_port(rig_of_test), "GET", "/none", NULL, NULL);

    client_read(fd, heard_text, sizeof heard_text, "E_NOT_FOUND");
    return fd;
}

static int status_heard(void)
{
    return strncmp(heard_text, "HTTP/1.1 ", 9) == 0 ? (int)strtol(heard_text + 9, NULL, 10) : 0;
}

/* Refused for want of memory, or closed without a word. */
static void assert_refused(bool is_over)
{
    int status = status_heard();

    if (status != 0 && status != 500 && status != 503 && !(status == 404 && is_over))
        fail_msg("%s", heard_text);
}

/* The server sees the last of us go, and then has none open that it had not before. */
static void await_descriptors(size_t before)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + CLIENT_WAIT_MS;

    while (scratch_open_descriptors() > before && mcp_clock_mono_ms() < deadline_ms)
        (void)poll(NULL, 0, 2);
    assert_int_equal(scratch_open_descriptors(), before);
}

/* ---- WebSocket ------------------------------------------------------------------------------- */

#define OPENING                                                                                    \
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"         \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"                 \
    "Sec-WebSocket-Protocol: mcp\r\n\r\n"

/* Text frames, one a line, whose mask is zero. */
static void say_frames(int fd, const char *text)
{
    for (; *text != '\0'; text += *text == '\n') {
        size_t length = strcspn(text, "\n");
        unsigned char head[14] = { 0x81, 0x80 | 127 };
        for (int i = 0; i < 8; i++)
            head[2 + i] = (unsigned char)((uint64_t)length >> (56 - 8 * i));
        if (length < 65536) { /* the shortest form is the only one allowed */
            head[1] = length < 126 ? (unsigned char)(0x80 | length) : 0x80 | 126;
            memmove(head + 2, head + 8, 2);
            memset(head + 4, 0, 4);
        }
        size_t size = length < 126 ? 6 : length < 65536 ? 8 : 14;
        if (length < 126)
            memset(head + 2, 0, 4);
        (void)(client_send(fd, head, size) && client_send(fd, text, length));
        text += length;
    }
}

static bool in_frames(const struct exchange *exchange, long successes)
{
    int fd = connect_first();

    assert_true(client_say(fd, OPENING));
    assert_true(hear(fd, has_words, "\r\n\r\n"));
    mcp__alloc_fail_after(successes);
    say_frames(fd, exchange->text);
    bool is_well = hear_answers(fd, exchange);
    close(fd);
    return is_well;
}

static bool opening_a_socket(const struct exchange *exchange, long successes)
{
    int fd = connect_first();

    (void)exchange;
    mcp__alloc_fail_after(successes);
    (void)client_say(fd, OPENING);
    bool is_well = hear(fd, has_words, "\r\n\r\n") && status_heard() == 101;
    if (!is_well)
        assert_refused(false);
    close(fd);
    return is_well;
}

static void websocket(void **state)
{
    size_t before = scratch_open_descriptors();

    (void)state;
    walk(opening_a_socket, NULL);
    walk_exchanges(in_frames);
    assert_true(in_frames(&exchanges[0], -1));
    await_descriptors(before);
}

/* ---- HTTP+SSE -------------------------------------------------------------------------------- */

#define STREAM "GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"

static void open_stream(char address[128], int fd)
{
    assert_true(client_say(fd, STREAM));
    assert_true(hear(fd, has_words, "\n\n"));
    const char *data = strstr(heard_text, "data: ");
    assert_non_null(data);
    data += strlen("data: ");
    (void)snprintf(address, 128, "%.*s", (int)strcspn(data, "\n"), data);
}

/* Post each line on a connection of its own that is there already. Returns whether all were
 * accepted. */
static bool post_lines(const char *address, const char *text, const int *connections)
{
    bool are_accepted = true;
    const char *first = text;

    for (; *text != '\0'; text += *text == '\n') {
        char head[400];
        size_t length = strcspn(text, "\n");
        int fd = *connections++;
        (void)snprintf(head, sizeof head,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                       "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                       address, length);
        (void)(client_say(fd, head) && client_send(fd, text, length));
        (void)client_read(fd, heard_text, sizeof heard_text, NULL);
        if (status_heard() != 202) {
            assert_refused(text != first); /* an earlier one may have ended the stream */
            are_accepted = false;
        }
        text += length;
    }
    return are_accepted;
}

static bool in_posts(const struct exchange *exchange, long successes)
{
    char address[128];
    int connections[3] = { connect_first(), connect_first(), connect_first() };
    int fd = connect_first();

    open_stream(address, fd);
    mcp__alloc_fail_after(successes);
    bool is_well = post_lines(address, exchange->text, connections) && hear_answers(fd, exchange);
    close(fd);
    for (int i = 0; i < 3; i++)
        close(connections[i]);
    return is_well;
}

static bool opening_a_stream(const struct exchange *exchange, long successes)
{
    int fd = connect_first();

    (void)exchange;
    mcp__alloc_fail_after(successes);
    (void)client_say(fd, STREAM);
    bool is_well = hear(fd, has_words, "\r\n\r\n") && status_heard() == 200;
    if (!is_well)
        assert_refused(false);
    else if (!strstr(heard_text, "sessionId="))
        is_well = hear(fd, has_words, "sessionId=");
    close(fd);
    return is_well;
}

static void http_with_sse(void **state)
{
    size_t before = scratch_open_descriptors();

    (void)state;
    walk(opening_a_stream, NULL);
    walk_exchanges(in_posts);
    assert_true(in_posts(&exchanges[0], -1));
    await_descriptors(before);
}

/* ---- standard streams ------------------------------------------------------------------------ */

/* The standard input and output of this process are the server's while such a test runs. */
static int earlier[2];

static struct served {
    pthread_t thread;
    long successes; /* before it begins; -1: as many as it likes */
    mcp_status status;
    int to;
    int from;
} served;

static int lend_streams(void **state)
{
    (void)fill_in(state);
    (void)fflush(stdout);
    for (int i = 0; i < 2; i++)
        earlier[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
    return earlier[0] < 0 || earlier[1] < 0 ? -1 : 0;
}

static int give_streams_back(void **state)
{
    (void)state;
    mcp__alloc_fail_after(-1);
    for (int i = 0; i < 2; i++) {
        (void)dup2(earlier[i], i);
        (void)close(earlier[i]);
    }
    return 0;
}

static void *serve(void *data)
{
    mcp_server_options options = { .name = "s", .version = "1", .limits.grace_ms = 5000 };
    mcp_server *server = NULL;

    (void)data;
    served.status = mcp_server_new(&server, &options, NULL);
    if (served.status == MCP_OK)
        served.status = mcp_server_add(server, &fixture_features, NULL);
    if (served.successes >= 0)
        mcp__alloc_fail_after(served.successes);
    if (served.status == MCP_OK)
        served.status = mcp_server_stdio(server, NULL);
    mcp_server_free(server);
    (void)dup2(earlier[1], STDOUT_FILENO); /* the client sees that it is over */
    return NULL;
}

static void start(long successes)
{
    int in[2];
    int out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(dup2(in[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(dup2(out[1], STDOUT_FILENO), STDOUT_FILENO);
    (void)close(in[0]);
    (void)close(out[1]);
    served = (struct served){ .successes = successes, .to = in[1], .from = out[0] };
    assert_int_equal(pthread_create(&served.thread, NULL, serve, NULL), 0);
}

static void say_line(const char *text)
{
    (void)(write(served.to, text, strlen(text)) > 0 && write(served.to, "\n", 1) > 0);
}

/* End its input, and see it end. */
static void stop(void)
{
    (void)close(served.to);
    assert_int_equal(pthread_join(served.thread, NULL), 0);
    (void)close(served.from);
}

static bool in_lines(const struct exchange *exchange, long successes)
{
    start(-1);
    say_line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_true(hear(served.from, has_words, "\n"));
    mcp__alloc_fail_after(successes);
    say_line(exchange->text);
    bool is_well = hear_answers(served.from, exchange);
    stop();
    if (served.status != MCP_OK) { /* it went because it could not answer */
        assert_string_equal(mcp_status_name(served.status), "E_NOMEM");
        assert_false(is_well);
    }
    return is_well;
}

static bool beginning(const struct exchange *exchange, long successes)
{
    start(successes);
    say_line(exchange->text);
    bool is_well = hear_answers(served.from, exchange);
    stop();
    if (served.status != MCP_OK) {
        assert_string_equal(mcp_status_name(served.status), "E_NOMEM");
        assert_string_equal(heard_text, "");
    }
    return is_well;
}

static void standard_streams(void **state)
{
    static const struct exchange ping = { PING, 1, "\"id\":1" };

    (void)state;
    assert_true(in_lines(&ping, -1));
    size_t before = scratch_open_descriptors();
    walk(beginning, &ping);
    walk_exchanges(in_lines);
    assert_int_equal(scratch_open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(websocket, begin, end),
        cmocka_unit_test_setup_teardown(http_with_sse, begin, end),
        cmocka_unit_test_setup_teardown(standard_streams, lend_streams, give_streams_back),
    };

    return cmocka_run_group_tests_name("transports without memory", tests, NULL, NULL);
}
