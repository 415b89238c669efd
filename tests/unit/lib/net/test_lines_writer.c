/*
 * test_lines_writer.c - lines to a pipe, a socket and a file, with readers that are slow or gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/lines.h"
#include "oom.h"
#include "scratch.h"

static mcp__loop *loop;
static mcp__writer *writer;
static int from; /* we read here */
static int to;   /* the writer writes there */
static int gone;

static void on_gone(void *data)
{
    (void)data;
    gone++;
    mcp__loop_stop(loop);
}

static void open_writer(int read_end, int write_end)
{
    from = read_end;
    to = write_end;
    gone = 0;
    assert_int_equal(mcp__loop_new(&loop, NULL), MCP_OK);
    assert_int_equal(mcp__writer_new(&writer, loop, to, on_gone, NULL, NULL), MCP_OK);
}

static void open_pipe(void)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    open_writer(ends[0], ends[1]);
}

static void open_socket(void)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    open_writer(ends[0], ends[1]);
}

static void close_writer(void)
{
    mcp__writer_free(writer);
    mcp__loop_free(loop);
    if (from >= 0)
        (void)close(from);
    (void)close(to);
}

static void put(const char *text, size_t length)
{
    mcp_buf line;

    mcp_buf_init(&line, length);
    assert_int_equal(mcp_buf_append(&line, text, length), MCP_OK);
    assert_int_equal(mcp__writer_put(writer, &line, NULL), MCP_OK);
    assert_null(line.data);
}

static void lines_wait_for_the_flush(void **state)
{
    char text[16] = "";

    (void)state;
    open_pipe();
    put("one", 3);
    put("two", 3);
    assert_int_equal(mcp__writer_queued(writer), 8);
    mcp__writer_flush(writer);
    assert_int_equal(mcp__writer_queued(writer), 0);
    assert_int_equal(read(from, text, sizeof(text)), 8); /* one write for both */
    assert_string_equal(text, "one\ntwo\n");
    close_writer();
}

/* A handler's own JSON (mcp_write_raw) may stand on several lines; a message stands on one. */
static void a_line_stays_one_line(void **state)
{
    static const char text[] = "{\n\"a\":\r\n[1,\n\n2]\r}";
    char got[64] = "";

    (void)state;
    open_pipe();
    put(text, sizeof text - 1);
    put("\n", 1);
    mcp__writer_flush(writer);
    assert_int_equal(read(from, got, sizeof got), sizeof text + 2);
    assert_string_equal(got, "{ \"a\":  [1,  2] }\n \n");
    close_writer();
}

/* A reader that takes "total" bytes and checks the pattern of put_many. */
static size_t total;
static bool is_right;

static void *read_all(void *data)
{
    static char block[100000];
    size_t at = 0;

    (void)data;
    is_right = true;
    while (at < total) {
        ssize_t count = read(from, block, sizeof block);
        if (count <= 0)
            break;
        for (ssize_t i = 0; i < count; i++, at++)
            is_right = is_right && (block[i] == '\n' || block[i] == 'a' + (char)(at % 23));
    }
    is_right = is_right && at == total;
    return NULL;
}

static void stop_when_written(void *data)
{
    (void)data;
    mcp__writer_flush(writer);
    if (mcp__writer_queued(writer) == 0)
        mcp__loop_stop(loop);
}

/* Small and large lines, far more than a pipe or socket holds. */
static size_t put_many(void)
{
    char *text = test_malloc(300000);
    size_t sent = 0;

    for (int i = 0; i < 400; i++) {
        size_t length = i % 40 == 39 ? 300000 : (size_t)(i * 131 % 4000 + 1);
        for (size_t k = 0; k < length; k++)
            text[k] = (char)('a' + (sent + k) % 23);
        put(text, length);
        sent += length + 1;
    }
    test_free(text);
    return sent;
}

static void write_to_slow_reader(void)
{
    pthread_t reader;

    total = put_many();
    mcp__writer_flush(writer);
    assert_true(mcp__writer_is_blocked(writer));
    assert_in_range(mcp__writer_queued(writer), 1, total - 1);
    assert_int_equal(pthread_create(&reader, NULL, read_all, NULL), 0);
    mcp__loop_before_wait(loop, stop_when_written, NULL);
    mcp__loop_run(loop);
    pthread_join(reader, NULL);
    assert_true(is_right);
    assert_false(mcp__writer_is_blocked(writer));
}

static void a_slow_reader_of_a_pipe_gets_everything(void **state)
{
    (void)state;
    open_pipe();
    write_to_slow_reader();
    close_writer();
}

static void a_slow_reader_of_a_socket_gets_everything(void **state)
{
    (void)state;
    open_socket();
    write_to_slow_reader();
    close_writer();
}

static void flags_are_left_as_they_came(void **state)
{
    (void)state;
    open_pipe();
    assert_int_equal(fcntl(to, F_GETFL) & O_NONBLOCK, 0); /* not even while we write */
    mcp__writer_free(writer);
    writer = NULL;
    assert_int_equal(fcntl(to, F_GETFL) & O_NONBLOCK, 0);
    close_writer();
    open_socket();
    (void)put_many();
    mcp__writer_flush(writer);
    mcp__writer_free(writer);
    writer = NULL;
    assert_int_equal(fcntl(to, F_GETFL) & O_NONBLOCK, 0);
    close_writer();
}

static void a_broken_pipe_is_seen_without_writing(void **state)
{
    (void)state;
    open_pipe();
    (void)close(from);
    from = -1;
    mcp__loop_run(loop);
    assert_int_equal(gone, 1);
    assert_true(mcp__writer_is_gone(writer));
    put("dropped", 7);
    assert_int_equal(mcp__writer_queued(writer), 0);
    mcp__writer_flush(writer);
    assert_int_equal(gone, 1);
    close_writer();
}

static void a_broken_socket_is_seen_when_writing(void **state)
{
    (void)state;
    open_socket();
    (void)close(from);
    from = -1;
    put("x", 1);
    mcp__writer_flush(writer);
    assert_int_equal(gone, 1);
    assert_int_equal(mcp__writer_queued(writer), 0);
    close_writer();
}

static void a_peer_that_only_stopped_sending_still_reads(void **state)
{
    char text[4] = "";

    (void)state;
    open_socket();
    assert_int_equal(shutdown(from, SHUT_WR), 0);
    put("hi", 2);
    mcp__writer_flush(writer);
    assert_int_equal(read(from, text, 3), 3);
    assert_int_equal(gone, 0);
    close_writer();
}

static void a_file_is_written_plainly(void **state)
{
    scratch folder;
    char text[8] = "";

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "out", "", 0);
    open_writer(open(scratch_path(&folder, "out"), O_RDONLY | O_CLOEXEC),
                open(scratch_path(&folder, "out"), O_WRONLY | O_CLOEXEC));
    put("hi", 2);
    mcp__writer_flush(writer);
    assert_int_equal(read(from, text, sizeof(text)), 3);
    assert_string_equal(text, "hi\n");
    close_writer();
    scratch_close(&folder);
}

static void a_full_device_counts_as_gone(void **state)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    open_writer(-1, full);
    put("hi", 2);
    mcp__writer_flush(writer);
    assert_int_equal(gone, 1);
    close_writer();
}

static mcp_status make_put_free(void *data)
{
    mcp__loop *own_loop = NULL;
    mcp__writer *own = NULL;
    mcp_buf line;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    mcp_status st = mcp__loop_new(&own_loop, NULL);

    mcp_buf_init(&line, 100000);
    if (st == MCP_OK)
        st = mcp__writer_new(&own, own_loop, fd, on_gone, data, NULL);
    if (st == MCP_OK)
        st = mcp_buf_reserve(&line, 70000) ? MCP_OK : MCP_E_NOMEM;
    if (st == MCP_OK) {
        memset(line.data, 'x', 70000);
        mcp_buf_commit(&line, 70000);
        st = mcp__writer_put(own, &line, NULL);
    }
    mcp_buf_clear(&line);
    mcp__writer_free(own);
    mcp__loop_free(own_loop);
    (void)close(fd);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    oom_walk(make_put_free, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_wait_for_the_flush),
        cmocka_unit_test(a_line_stays_one_line),
        cmocka_unit_test(a_slow_reader_of_a_pipe_gets_everything),
        cmocka_unit_test(a_slow_reader_of_a_socket_gets_everything),
        cmocka_unit_test(flags_are_left_as_they_came),
        cmocka_unit_test(a_broken_pipe_is_seen_without_writing),
        cmocka_unit_test(a_broken_socket_is_seen_when_writing),
        cmocka_unit_test(a_peer_that_only_stopped_sending_still_reads),
        cmocka_unit_test(a_file_is_written_plainly),
        cmocka_unit_test(a_full_device_counts_as_gone),
        cmocka_unit_test(memory_may_run_out),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
