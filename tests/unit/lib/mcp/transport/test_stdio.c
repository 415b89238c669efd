/*
 * test_stdio.c - the whole server in a process of its own, on real pipes, files and devices: how it
 * begins, how it ends, and that nothing but messages ever leaves it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "mcp/mcp.h"
#include "scratch.h"

#define WAIT_MS 120000 /* for anything; only a failure takes so long */

/* ---- the server ------------------------------------------------------------------------------ */

static void nap(void)
{
    (void)poll(NULL, 0, 2);
}

/* Prints where nothing may be printed, reads where nothing may be read, and answers. */
static mcp_status stray(mcp_call *call, void *data)
{
    char byte;

    (void)data;
    (void)printf("a library talks\n");
    (void)fflush(stdout);
    (void)printf("and talks");
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    mcp_write_member_int(mcp_call_result(call), "stolen", count);
    return MCP_OK;
}

/* Runs until it has to stop, and says why; reports progress all the while. */
static mcp_status until_stopped(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 0 };

    (void)data;
    while (mcp_call_stop(call) == MCP_STOP_NONE) {
        progress.progress++;
        (void)mcp_call_progress(call, &progress);
        nap();
    }
    mcp_write_member_int(mcp_call_result(call), "stop", mcp_call_stop(call));
    return MCP_OK;
}

static mcp_status a_while(mcp_call *call, void *data)
{
    int64_t until = mcp_clock_mono_ms() + mcp_arg_int(call, "ms", 100);

    (void)data;
    while (mcp_clock_mono_ms() < until)
        nap();
    return mcp_call_text(call, "done");
}

/* Never returns; the process must end in spite of it. */
static mcp_status never(mcp_call *call, void *data)
{
    (void)data;
    while (mcp_call_arguments(call)) /* always */
        (void)pause();
    return MCP_OK;
}

static mcp_status large(mcp_call *call, void *data)
{
    size_t size = (size_t)mcp_arg_int(call, "size", 100000);
    char *text = mcp_arena_alloc(mcp_call_arena(call), size + 1);

    (void)data;
    memset(text, 'x', size);
    return mcp_call_text(call, text);
}

/* clang-format off */
#define TOOL(name) \
    { "tools/" name ".json", "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}", \
      sizeof "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}" - 1 }
/* clang-format on */

static mcp_status stop_server(mcp_call *call, void *data)
{
    (void)data;
    mcp_server_stop(mcp_call_server(call));
    mcp_server_stop(mcp_call_server(call)); /* changes nothing */
    while (mcp_call_stop(call) == MCP_STOP_NONE)
        nap();
    mcp_write_member_int(mcp_call_result(call), "stop", mcp_call_stop(call));
    return MCP_OK;
}

static const mcp_file files[] = { TOOL("stop"),   TOOL("stray"),   TOOL("run"),
                                  TOOL("steady"), TOOL("while"),   TOOL("never"),
                                  TOOL("large"),  TOOL("limited"), { 0 } };
static const mcp_tool tools[] = {
    /* name run flags timeout_ms max_running */
    /* clang-format off */
    { "stop",    stop_server,   MCP_READS,                                   0,         0 },
    { "stray",   stray,         MCP_READS,                                   0,         0 },
    { "run",     until_stopped, MCP_READS | MCP_LONG | MCP_STOP_ON_HANGUP,   0,         0 },
    { "steady",  until_stopped, MCP_READS | MCP_LONG,                        0,         0 },
    { "while",   a_while,       MCP_READS,                                   0,         0 },
    { "never",   never,         MCP_READS | MCP_LONG,                        0,         2 },
    { "large",   large,         MCP_READS,                                   0,         0 },
    { "limited", until_stopped, MCP_READS,                                   50,        0 },
    /* clang-format on */
    { 0 },
};
static const mcp_features features = { .files = files, .tools = tools };

static bool stops_early; /* the server is stopped before it serves */

static int serve(int grace_ms)
{
    mcp_server_options options = { .name = "s", .version = "1", .limits.grace_ms = grace_ms };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_server_new(&server, &options, &err);

    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (stops_early)
        mcp_server_stop(server);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1 + (int)st;
}

/* ---- holding it by its streams --------------------------------------------------------------- */

static struct {
    pid_t pid;
    int to;   /* -1: closed */
    int from; /* -1: closed */
    char unread[1 << 20];
    size_t heard;  /* of "unread", given out already */
    size_t length; /* behind that */
} child;

/* Start the server on these descriptors, which are ours no longer. */
static void start_on(int in, int out, int grace_ms)
{
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        (void)dup2(in, STDIN_FILENO);
        (void)dup2(out, STDOUT_FILENO);
        int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDERR_FILENO); /* stray output is meant to end up there */
        for (int fd = 3; fd < 64; fd++)
            (void)close(fd);
        _exit(serve(grace_ms));
    }
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
}

static void start(int grace_ms)
{
    int in[2];
    int out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    child.to = in[1];
    child.from = out[0];
    child.heard = child.length = 0;
    start_on(in[0], out[1], grace_ms);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void say_bytes(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t count = write(child.to, text, length);
        assert_true(count > 0);
        text += count;
        length -= (size_t)count;
    }
}

static void say(const char *text)
{
    say_bytes(text, strlen(text));
    say_bytes("\n", 1);
}

/* More bytes behind those that are left; false at the end. */
static bool hear_more(void)
{
    struct pollfd wait = { .fd = child.from, .events = POLLIN };

    memmove(child.unread, child.unread + child.heard, child.length);
    child.heard = 0;
    assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
    ssize_t count = read(child.from, child.unread + child.length,
                         sizeof(child.unread) - child.length);
    child.length += count > 0 ? (size_t)count : 0;
    return count > 0;
}

/* The next line, as a C string that is good until the next call; NULL at the end. */
static const char *hear(void)
{
    char *newline = memchr(child.unread + child.heard, '\n', child.length);

    while (!newline) {
        if (!hear_more()) {
            assert_int_equal(child.length, 0);
            return NULL;
        }
        newline = memchr(child.unread + child.heard, '\n', child.length);
    }
    char *line = child.unread + child.heard;
    *newline = '\0';
    child.heard += (size_t)(newline - line) + 1;
    child.length -= (size_t)(newline - line) + 1;
    return line;
}

static void expect(const char *wanted)
{
    const char *line = hear();

    assert_non_null(line);
    assert_string_equal(line, wanted);
}

/* Wait for the end and return the exit code; -1: it had to be killed, or died of a signal. */
static int wait_for_end(void)
{
    int64_t until = mcp_clock_mono_ms() + WAIT_MS;
    int status = 0;

    while (waitpid(child.pid, &status, WNOHANG) == 0) {
        if (mcp_clock_mono_ms() > until) {
            (void)kill(child.pid, SIGKILL);
            (void)waitpid(child.pid, &status, 0);
            break;
        }
        nap();
    }
    close_fd(&child.to);
    close_fd(&child.from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
/* clang-format off */
#define CALL(id, name, arguments) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"arguments\":" arguments "}}"
#define TEXT(id, text) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"
#define STOPPED(id, why) TEXT(id, "{\\\"stop\\\":" why "}")
#define GOING_DOWN(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32603,\"message\":\"the server is going down\"}}"
/* clang-format on */

/* ---- tests ----------------------------------------------------------------------------------- */

static void lines_come_in_any_dress(void **state)
{
    (void)state;
    start(5000);
    say_bytes("\n\r\n" PING("1") "\r\n" PING("2") "\n\n" PING("3"),
              strlen("\n\r\n" PING("1") "\r\n" PING("2") "\n\n" PING("3")));
    close_fd(&child.to);
    expect(PONG("1"));
    expect(PONG("2"));
    expect(PONG("3"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void what_runs_at_the_end_of_input_is_answered(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "while", "{\"ms\":150}"));
    close_fd(&child.to);
    expect(TEXT("1", "done"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void what_waits_at_the_end_of_input_is_answered_too(void **state)
{
    char text[200];

    (void)state;
    start(10000);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(text, sizeof(text), CALL("%d", "while", "{\"ms\":0}"), i);
        say(text);
    }
    close_fd(&child.to);
    for (int i = 0; i < 200; i++)
        assert_non_null(hear());
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void the_end_of_input_stops_who_asked_for_it(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "run", "{}"));
    close_fd(&child.to);
    expect(STOPPED("1", "1"));
    assert_int_equal(wait_for_end(), 0);
}

static void the_grace_time_ends_running_calls(void **state)
{
    (void)state;
    start(100);
    say(CALL("1", "steady", "{}"));
    close_fd(&child.to);
    expect(GOING_DOWN("1"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void a_handler_that_never_returns_does_not_keep_the_process(void **state)
{
    (void)state;
    start(100);
    say(CALL("1", "never", "{}"));
    say(PING("2"));
    expect(PONG("2"));
    assert_int_equal(kill(child.pid, SIGTERM), 0);
    expect(GOING_DOWN("1"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void sigterm_lets_what_runs_answer(void **state)
{
    static const int signals[] = { SIGTERM, SIGINT };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        start(10000);
        say(CALL("1", "steady", "{}"));
        say(PING("2"));
        expect(PONG("2"));
        assert_int_equal(kill(child.pid, signals[i]), 0);
        expect(STOPPED("1", "4"));
        assert_null(hear());
        assert_int_equal(wait_for_end(), 0);
    }
}

/* The tool takes 300 ms to return after it was told: time for a second signal, which drops its
   answer. */
static void a_second_signal_cancels(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "while", "{\"ms\":600}"));
    say(PING("2"));
    expect(PONG("2"));
    assert_int_equal(kill(child.pid, SIGTERM), 0);
    (void)poll(NULL, 0, 100);
    assert_int_equal(kill(child.pid, SIGTERM), 0);
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void a_client_that_is_gone_ends_the_server(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "steady", "{}"));
    say(PING("2"));
    expect(PONG("2"));
    close_fd(&child.from); /* its input stays open */
    assert_int_equal(wait_for_end(), 0);
}

static void during_a_call_other_messages_get_through(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "steady", "{}"));
    say(PING("2"));
    expect(PONG("2"));
    say(CALL("3", "while", "{\"ms\":1}"));
    expect(TEXT("3", "done"));
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
    say(PING("4"));
    expect(PONG("4"));
    close_fd(&child.to);
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void a_deadline_is_kept_by_the_clock(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "limited", "{}"));
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"limited ran longer than its time limit of 50 ms\"}],\"isError\":true}}");
    say(PING("2"));
    expect(PONG("2"));
    close_fd(&child.to);
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void progress_rises_and_ends_before_the_answer(void **state)
{
    double last = 0;
    int reports = 0;
    const char *line;

    (void)state;
    start(10000);
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"steady\",\"_meta\":{\"progressToken\":\"p\"}}}");
    while (reports < 5) {
        const char *number = strstr(line = hear(), "\"progress\":");
        assert_non_null(strstr(line, "\"progressToken\":\"p\""));
        assert_non_null(number);
        assert_true(strtod(number + 11, NULL) > last);
        last = strtod(number + 11, NULL);
        reports++;
    }
    assert_int_equal(kill(child.pid, SIGTERM), 0);
    do {
        line = hear();
        assert_non_null(line);
    } while (strstr(line, "notifications/progress"));
    assert_string_equal(line, STOPPED("1", "4"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void nothing_but_messages_leaves(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "stray", "{}"));
    expect(TEXT("1", "{\\\"stolen\\\":0}"));
    say(PING("2"));
    expect(PONG("2"));
    close_fd(&child.to);
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

#define TOO_LONG                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32700,\"message\":\"a message may have 4194304 bytes at most\"}}"

/* `data` is the ends of a message, with a '*' where the long text between them is. */
static void *say_overlong(void *data)
{
    const char *ends = data;
    size_t before = strcspn(ends, "*"), length = ((size_t)4 << 20) + 1;
    char *text = malloc(length);

    memset(text, 'x', length);
    say_bytes(ends, before);
    say_bytes(text, length);
    say(ends + before + 1);
    say(PING("1"));
    free(text);
    return NULL;
}

static void a_line_above_4_mib_is_refused_once(void **state)
{
    /* As SDKs write them: the id in front, and behind. */
    static const struct {
        const char *ends, *id;
    } rows[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"n\":\"*\"}}",
          "\"a\"" },
        { "{\"method\":\"tools/call\",\"params\":{\"n\":\"*\"},\"jsonrpc\":\"2.0\",\"id\":7}",
          "7" },
        { "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"n\":\"*\"}}", "null" },
    };
    char answer[256];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pthread_t speaker;
        start(10000);
        assert_int_equal(pthread_create(&speaker, NULL, say_overlong, (void *)rows[i].ends), 0);
        (void)snprintf(answer, sizeof answer, TOO_LONG, rows[i].id);
        expect(answer);
        expect(PONG("1"));
        pthread_join(speaker, NULL);
        close_fd(&child.to);
        assert_int_equal(wait_for_end(), 0);
    }
}

static void input_may_be_dev_null_or_a_file(void **state)
{
    scratch folder;

    (void)state;
    start_on(open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY), 1000);
    assert_int_equal(wait_for_end(), 0);
    scratch_open(&folder);
    scratch_write(&folder, "in", PING("1") "\n", strlen(PING("1")) + 1);
    scratch_write(&folder, "out", "", 0);
    start_on(open(scratch_path(&folder, "in"), O_RDONLY),
             open(scratch_path(&folder, "out"), O_WRONLY), 1000);
    assert_int_equal(wait_for_end(), 0);
    child.from = open(scratch_path(&folder, "out"), O_RDONLY);
    child.heard = child.length = 0;
    expect(PONG("1"));
    close_fd(&child.from);
    scratch_close(&folder);
}

/* More answers than may be queued, all of them written in the turn that queued them. */
static void a_long_file_of_messages_is_answered_to_its_end(void **state)
{
    enum { COUNT = 150000 };
    char *text = malloc((size_t)COUNT * 60);
    size_t length = 0;
    scratch folder;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        length += (size_t)sprintf(text + length, PING("%d") "\n", i);
    scratch_open(&folder);
    scratch_write(&folder, "in", text, length);
    scratch_write(&folder, "out", "", 0);
    start_on(open(scratch_path(&folder, "in"), O_RDONLY),
             open(scratch_path(&folder, "out"), O_WRONLY), 1000);
    assert_int_equal(wait_for_end(), 0);
    child.from = open(scratch_path(&folder, "out"), O_RDONLY);
    child.heard = child.length = 0;
    for (int i = 0; i < COUNT; i++) {
        char wanted[80];
        (void)snprintf(wanted, sizeof wanted, PONG("%d"), i);
        expect(wanted);
    }
    close_fd(&child.from);
    scratch_close(&folder);
    free(text);
}

/* A ping of 100,000 bytes, which a worker reads. */
static void say_large(int id)
{
    char *text = malloc(100001);

    memset(text, ' ', 100000);
    int used = sprintf(text, PING("%d"), id);
    text[used] = ' ';
    text[99999] = '\n';
    say_bytes(text, 100000);
    free(text);
}

/* Lines behind a large one are not answered before it. */
static void large_lines_keep_their_place(void **state)
{
    char wanted[80];

    (void)state;
    start(1000);
    for (int i = 0; i < 40; i += 4) {
        say_large(i);
        say(PING("\"a\""));
        say(PING("\"b\""));
        say_large(i + 1);
        (void)snprintf(wanted, sizeof wanted, PONG("%d"), i);
        expect(wanted);
        expect(PONG("\"a\""));
        expect(PONG("\"b\""));
        (void)snprintf(wanted, sizeof wanted, PONG("%d"), i + 1);
        expect(wanted);
    }
    say_large(77); /* and the end of input waits for it too */
    close_fd(&child.to);
    expect(PONG("77"));
    assert_int_equal(wait_for_end(), 0);
}

static void one_socket_may_be_both(void **state)
{
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    child.to = pair[1];
    child.from = dup(pair[1]);
    child.heard = child.length = 0;
    start_on(pair[0], dup(pair[0]), 1000);
    say(PING("1"));
    expect(PONG("1"));
    say(CALL("2", "while", "{\"ms\":50}"));
    assert_int_equal(shutdown(child.to, SHUT_WR), 0);
    expect(TEXT("2", "done"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void a_closed_stream_is_said_so(void **state)
{
    (void)state;
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
        child.pid = fork();
        assert_true(child.pid >= 0);
        if (child.pid == 0) {
            (void)close(fd);
            _exit(serve(1000));
        }
        assert_int_equal(wait_for_end(), 1 + MCP_E_IO);
    }
}

/* What a program puts in the place of a closed descriptor; a folder that it opened counts too. */
static void a_stream_that_leads_the_other_way_is_closed(void **state)
{
    static const struct {
        const char *path;
        int fd;
        int flags;
    } streams[] = { { "/dev/null", STDIN_FILENO, O_WRONLY },
                    { "/dev/null", STDOUT_FILENO, O_RDONLY },
                    { "/", STDIN_FILENO, O_PATH },
                    { "/", STDOUT_FILENO, O_PATH } };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        child.pid = fork();
        assert_true(child.pid >= 0);
        if (child.pid == 0) {
            (void)dup2(open(streams[i].path, streams[i].flags | O_CLOEXEC), streams[i].fd);
            _exit(serve(1000));
        }
        assert_int_equal(wait_for_end(), 1 + MCP_E_IO);
    }
}

/* A full disk, a device that is gone: not the end of the client. */
static void output_that_cannot_be_written_is_an_error(void **state)
{
    int in[2];

    (void)state;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    child.to = in[1];
    start_on(in[0], open("/dev/full", O_WRONLY | O_CLOEXEC), 1000);
    say(PING("1"));
    assert_int_equal(wait_for_end(), 1 + MCP_E_IO);
}

/* /proc/self/mem has nothing at 0: EIO; a folder is no file: EISDIR. */
static void input_that_cannot_be_read_is_an_error(void **state)
{
    static const char *const paths[] = { "/proc/self/mem", "/" };

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        start_on(open(paths[i], O_RDONLY | O_CLOEXEC), open("/dev/null", O_WRONLY | O_CLOEXEC),
                 1000);
        assert_int_equal(wait_for_end(), 1 + MCP_E_IO);
    }
}

/* Closing a socket with unread bytes resets it: the client is gone, nothing has failed. */
static void a_reset_socket_is_a_normal_end(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    child.to = ends[0];
    child.from = -1;
    start_on(ends[1], open("/dev/null", O_WRONLY | O_CLOEXEC), 1000);
    say(PING("1"));
    assert_int_equal(shutdown(ends[0], SHUT_RDWR), 0);
    assert_int_equal(wait_for_end(), 0);
}

static void a_server_stops_itself(void **state)
{
    (void)state;
    start(10000);
    say(CALL("1", "stop", "{}"));
    expect(STOPPED("1", "4"));
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
    stops_early = true;
    start(10000);
    stops_early = false;
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

static void standard_error_may_be_closed(void **state)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)close(STDERR_FILENO);
        _exit(serve(1000));
    }
    (void)close(null);
    assert_int_equal(wait_for_end(), 0);
}

/* A client that sends 100 calls and reads nothing while 10 MB pile up still gets every answer. */
static void a_client_that_reads_late_loses_nothing(void **state)
{
    char text[200];
    const char *line;

    (void)state;
    start(10000);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(text, sizeof(text), CALL("%d", "large", "{\"size\":100000}"), i);
        say(text);
    }
    (void)poll(NULL, 0, 300);
    close_fd(&child.to);
    for (int i = 0; i < 100; i++) {
        line = hear();
        assert_non_null(line);
        assert_in_range(strlen(line), 100000, 100200);
    }
    assert_null(hear());
    assert_int_equal(wait_for_end(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_any_dress),
        cmocka_unit_test(what_runs_at_the_end_of_input_is_answered),
        cmocka_unit_test(what_waits_at_the_end_of_input_is_answered_too),
        cmocka_unit_test(the_end_of_input_stops_who_asked_for_it),
        cmocka_unit_test(the_grace_time_ends_running_calls),
        cmocka_unit_test(a_handler_that_never_returns_does_not_keep_the_process),
        cmocka_unit_test(sigterm_lets_what_runs_answer),
        cmocka_unit_test(a_second_signal_cancels),
        cmocka_unit_test(a_client_that_is_gone_ends_the_server),
        cmocka_unit_test(during_a_call_other_messages_get_through),
        cmocka_unit_test(a_deadline_is_kept_by_the_clock),
        cmocka_unit_test(progress_rises_and_ends_before_the_answer),
        cmocka_unit_test(nothing_but_messages_leaves),
        cmocka_unit_test(a_line_above_4_mib_is_refused_once),
        cmocka_unit_test(input_may_be_dev_null_or_a_file),
        cmocka_unit_test(a_long_file_of_messages_is_answered_to_its_end),
        cmocka_unit_test(large_lines_keep_their_place),
        cmocka_unit_test(one_socket_may_be_both),
        cmocka_unit_test(a_closed_stream_is_said_so),
        cmocka_unit_test(a_stream_that_leads_the_other_way_is_closed),
        cmocka_unit_test(output_that_cannot_be_written_is_an_error),
        cmocka_unit_test(input_that_cannot_be_read_is_an_error),
        cmocka_unit_test(a_reset_socket_is_a_normal_end),
        cmocka_unit_test(a_server_stops_itself),
        cmocka_unit_test(standard_error_may_be_closed),
        cmocka_unit_test(a_client_that_reads_late_loses_nothing),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    child.to = child.from = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
