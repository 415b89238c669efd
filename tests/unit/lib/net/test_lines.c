/*
 * test_lines.c - lines from whatever a descriptor can be.
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "net/lines.h"
#include "scratch.h"

#define LINE_MAX_BYTES 100000

static mcp__loop *loop;
static mcp__lines *lines;
static int ends[2]; /* of a pipe: we write to the second */

/* What came, as text: a line as itself, "<overlong>", "<end>"; each with '\n'. */
static char *seen;
static size_t seen_length;
static bool is_paused;

#define SEEN_SIZE ((size_t)8 << 20)

static void see(const char *text, size_t length)
{
    assert_true(seen_length + length + 1 < SEEN_SIZE);
    memcpy(seen + seen_length, text, length);
    seen_length += length;
    seen[seen_length++] = '\n';
    seen[seen_length] = '\0';
}

static void on_input(void *data)
{
    const char *text = NULL;
    size_t length = 0;

    (void)data;
    while (!is_paused) {
        switch (mcp__lines_next(lines, &text, &length)) {
        case MCP__LINE_NONE:
            return;
        case MCP__LINE_TEXT:
            see(text, length);
            break;
        case MCP__LINE_OVERLONG:
            see("<overlong>", 10);
            break;
        case MCP__LINE_END:
            see("<end>", 5);
            mcp__loop_stop(loop);
            return;
        }
    }
}

static void read_from(int fd)
{
    assert_int_equal(mcp__lines_new(&lines, loop, fd, LINE_MAX_BYTES, on_input, NULL, NULL),
                     MCP_OK);
}

static int set_up(void **state)
{
    (void)state;
    seen = test_malloc(SEEN_SIZE);
    seen[0] = '\0';
    seen_length = 0;
    is_paused = false;
    lines = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    return mcp__loop_new(&loop, NULL) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__lines_free(lines);
    mcp__loop_free(loop);
    (void)close(ends[0]);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    test_free(seen);
    return 0;
}

static void put(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t count = write(ends[1], text, length);
        assert_true(count > 0);
        text += count;
        length -= (size_t)count;
    }
}

static void end_input(void)
{
    (void)close(ends[1]);
    ends[1] = -1;
}

/* Send all from a thread of its own, since a pipe holds 64 KiB only. */
struct sending {
    const char *text;
    size_t length;
};

static void *send_all(void *data)
{
    const struct sending *sending = data;

    put(sending->text, sending->length);
    end_input();
    return NULL;
}

static void converse(const char *text, size_t length)
{
    struct sending sending = { text, length };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, send_all, &sending), 0);
    read_from(ends[0]);
    mcp__loop_run(loop);
    pthread_join(thread, NULL);
}

static void lines_end_in_newline_or_carriage_return_newline(void **state)
{
    static const char text[] = "one\ntwo\r\n\n\r\n  \nthree\r\r\nfo\rur\n";

    (void)state;
    converse(text, sizeof(text) - 1);
    assert_string_equal(seen, "one\ntwo\n  \nthree\r\nfo\rur\n<end>\n");
}

static void the_last_line_needs_no_newline(void **state)
{
    (void)state;
    converse("one\ntwo", 7);
    assert_string_equal(seen, "one\ntwo\n<end>\n");
}

static void a_line_may_hold_any_byte(void **state)
{
    (void)state;
    converse("a\0b\xff\n", 5);
    assert_int_equal(seen_length, 5 + 6);
    assert_memory_equal(seen, "a\0b\xff\n<end>\n", 11);
}

/* Lines of 1 to 1500 bytes cross every boundary of a read somewhere. */
static void lines_survive_the_boundaries_of_reads(void **state)
{
    char *text = test_malloc(3 << 20);
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        size_t size = (size_t)(i * 7919 % 1500 + 1);
        memset(text + length, 'a' + i % 26, size);
        length += size;
        text[length++] = '\n';
    }
    converse(text, length);
    assert_int_equal(seen_length, length + 6);
    assert_memory_equal(seen, text, length);
    test_free(text);
}

static void a_line_as_long_as_allowed_is_taken(void **state)
{
    const size_t below = LINE_MAX_BYTES - 1;
    char *text = test_malloc(2 * LINE_MAX_BYTES + 2);

    (void)state;
    memset(text, 'x', 2 * LINE_MAX_BYTES);
    memcpy(text + below, "\n", 1);
    memcpy(text + 2 * LINE_MAX_BYTES, "\r\n", 2);
    converse(text, 2 * LINE_MAX_BYTES + 2);
    assert_int_equal(seen_length, below + 1 + LINE_MAX_BYTES + 1 + 6);
    test_free(text);
}

static void a_longer_line_is_reported_once_and_skipped(void **state)
{
    static const size_t sizes[] = { LINE_MAX_BYTES + 1, LINE_MAX_BYTES + 2, LINE_MAX_BYTES + 70000,
                                    5 * LINE_MAX_BYTES };
    size_t length = 0;
    char *text = test_malloc(10 * LINE_MAX_BYTES);

    (void)state;
    memcpy(text, "before\n", 7);
    length = 7;
    for (size_t i = 0; i < 4; i++) {
        memset(text + length, 'x', sizes[i]);
        length += sizes[i];
        memcpy(text + length, "\nafter\n", 7);
        length += 7;
    }
    memset(text + length, 'y', LINE_MAX_BYTES + 10); /* and one that does not even end */
    length += LINE_MAX_BYTES + 10;
    converse(text, length);
    assert_string_equal(seen, "before\n<overlong>\nafter\n<overlong>\nafter\n<overlong>\nafter\n"
                              "<overlong>\nafter\n<overlong>\n<end>\n");
    test_free(text);
}

/* As on_input; of a long line its ends are seen. */
static void on_long_input(void *data)
{
    const char *text = NULL;
    size_t length = 0;
    char line[16];

    (void)data;
    for (;;) {
        switch (mcp__lines_next(lines, &text, &length)) {
        case MCP__LINE_NONE:
            return;
        case MCP__LINE_OVERLONG: {
            const mcp__line_ends *kept = mcp__lines_ends(lines);
            assert_true(kept->head_length >= 6 && kept->tail_length >= 6);
            (void)snprintf(line, sizeof line, "%.6s..%.6s", kept->head,
                           kept->tail + kept->tail_length - 6);
            see(line, strlen(line));
            break;
        }
        case MCP__LINE_TEXT:
            see(text, length);
            break;
        case MCP__LINE_END:
            see("<end>", 5);
            mcp__loop_stop(loop);
            return;
        }
    }
}

/* One ends in the read in which the next begins. */
static void long_lines_that_follow_one_another_keep_their_own_ends(void **state)
{
    char *text = test_malloc(250000);
    size_t length = 0;
    scratch folder;

    (void)state;
    for (int i = 0; i < 3; i++)
        length += (size_t)snprintf(text + length, 80000, "head %d%070000d%d tail\n", i, 0, i);
    scratch_open(&folder);
    scratch_write(&folder, "in", text, length);
    int fd = open(scratch_path(&folder, "in"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(mcp__lines_new(&lines, loop, fd, 1000, on_long_input, NULL, NULL), MCP_OK);
    mcp__loop_run(loop);
    assert_string_equal(seen, "head 0..0 tail\nhead 1..1 tail\nhead 2..2 tail\n<end>\n");
    (void)close(fd);
    scratch_close(&folder);
    test_free(text);
}

/* Out of memory a line is lost, and said to be; what comes after it is read as ever. */
static void a_line_without_memory_is_skipped(void **state)
{
    static const size_t size = 500000;
    char *text = test_malloc(size + 20);
    scratch folder;

    (void)state;
    memcpy(text, "before\n", 7);
    memset(text + 7, 'x', size);
    memcpy(text + 7 + size, "\nafter\n", 8);
    scratch_open(&folder);
    scratch_write(&folder, "in", text, size + 14);
    int fd = open(scratch_path(&folder, "in"), O_RDONLY | O_CLOEXEC);
    mcp__alloc_fail_after(3); /* the reader, its bytes, the watch */
    assert_int_equal(mcp__lines_new(&lines, loop, fd, 1 << 20, on_input, NULL, NULL), MCP_OK);
    mcp__loop_run(loop);
    mcp__alloc_fail_after(-1);
    assert_string_equal(seen, "before\n<overlong>\nafter\n<end>\n");
    mcp__lines_free(lines);
    (void)close(fd);
    scratch_close(&folder);

    struct sending sending = { text, size + 14 };
    pthread_t thread;
    seen_length = 0;
    mcp__alloc_fail_after(3);
    assert_int_equal(mcp__lines_new(&lines, loop, ends[0], 1 << 20, on_input, NULL, NULL), MCP_OK);
    assert_int_equal(pthread_create(&thread, NULL, send_all, &sending), 0);
    mcp__loop_run(loop);
    mcp__alloc_fail_after(-1);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "before\n<overlong>\nafter\n<end>\n");
    test_free(text);
}

static void a_file_is_read_to_its_end(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "in", "a\nb\n", 4);
    int fd = open(scratch_path(&folder, "in"), O_RDONLY | O_CLOEXEC);
    read_from(fd);
    mcp__loop_run(loop);
    assert_string_equal(seen, "a\nb\n<end>\n");
    (void)close(fd);
    scratch_close(&folder);
}

static void nothing_comes_from_dev_null_or_a_closed_descriptor(void **state)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = fcntl(null, F_DUPFD_CLOEXEC, 100); /* a number that nothing else will get */

    (void)state;
    (void)close(null);
    read_from(fd);
    mcp__loop_run(loop);
    mcp__lines_free(lines);
    (void)close(fd);
    read_from(fd);
    mcp__loop_run(loop);
    assert_string_equal(seen, "<end>\n<end>\n");
}

/* Line by line as it is typed; its flags stay as they are, for the shell has it too. */
static void a_terminal_is_read_as_it_is_typed(void **state)
{
    int typist = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    (void)state;
    assert_true(typist >= 0);
    assert_int_equal(grantpt(typist) + unlockpt(typist), 0);
    int terminal = open(ptsname(typist), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_int_equal(write(typist, "a\nb", 3), 3);
    read_from(terminal);
    assert_int_equal(fcntl(terminal, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(write(typist, "c\n\004", 3), 3); /* 4: the end of the input */
    mcp__loop_run(loop);
    assert_string_equal(seen, "a\nbc\n<end>\n");
    assert_int_equal(mcp__lines_errno(lines), 0);
    mcp__lines_free(lines);
    lines = NULL;
    (void)close(terminal);
    (void)close(typist);
}

static void a_socket_without_blocking_is_read_too(void **state)
{
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(write(pair[1], "a\n", 2), 2);
    assert_int_equal(shutdown(pair[1], SHUT_WR), 0);
    read_from(pair[0]);
    mcp__loop_run(loop);
    assert_string_equal(seen, "a\n<end>\n");
    mcp__lines_free(lines);
    lines = NULL;
    (void)close(pair[0]);
    (void)close(pair[1]);
}

/* What the client did not read of the answers makes its end an error of the socket. */
static void a_socket_that_was_closed_with_answers_unread_is_read_to_its_end(void **state)
{
    char *text = test_malloc(150000);
    int pair[2];

    (void)state;
    memset(text, 'x', 150000);
    for (size_t i = 999; i < 150000; i += 1000)
        text[i] = '\n';
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(write(pair[1], text, 150000), 150000);
    assert_int_equal(write(pair[0], "answer\n", 7), 7);
    (void)close(pair[1]);
    read_from(pair[0]);
    mcp__loop_run(loop);
    assert_int_equal(seen_length, 150000 + 6);
    assert_int_equal(mcp__lines_errno(lines), 0);
    mcp__lines_free(lines);
    lines = NULL;
    (void)close(pair[0]);
    test_free(text);
}

static void flags_are_left_as_they_came(void **state)
{
    int pair[2];

    (void)state;
    read_from(ends[0]);
    assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0); /* not even while we read */
    mcp__lines_free(lines);
    assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    read_from(pair[0]);
    mcp__lines_free(lines);
    lines = NULL;
    assert_int_equal(fcntl(pair[0], F_GETFL) & O_NONBLOCK, 0);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void a_pipe_whose_writer_has_gone_is_read_to_its_end(void **state)
{
    scratch folder;

    (void)state;
    put("a\n", 2);
    end_input();
    read_from(ends[0]);
    mcp__loop_run(loop);
    mcp__lines_free(lines);
    scratch_open(&folder);
    assert_int_equal(mkfifo(scratch_path(&folder, "fifo"), 0600), 0);
    int reader = open(scratch_path(&folder, "fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int writer = open(scratch_path(&folder, "fifo"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(writer, "b\n", 2), 2);
    (void)close(writer);
    assert_int_equal(fcntl(reader, F_SETFL, 0), 0);
    read_from(reader);
    mcp__loop_run(loop);
    assert_string_equal(seen, "a\n<end>\nb\n<end>\n");
    (void)close(reader);
    scratch_close(&folder);
}

/* Lines that come in pieces, one byte at a time: each piece finds the loop waiting. */
static void *send_bytewise(void *data)
{
    for (const char *at = data; *at; at++)
        put(at, 1);
    end_input();
    return NULL;
}

static void lines_may_come_byte_by_byte(void **state)
{
    static char text[] = "one\r\n\ntwo\nthr";
    pthread_t thread;

    (void)state;
    read_from(ends[0]);
    assert_int_equal(pthread_create(&thread, NULL, send_bytewise, text), 0);
    mcp__loop_run(loop);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "one\ntwo\nthr\n<end>\n");
}

static void a_large_file_is_read_whole(void **state)
{
    size_t length = 0;
    char *text = test_malloc(3 << 20);
    scratch folder;

    (void)state;
    while (length < (size_t)2 << 20) {
        memset(text + length, 'x', length % 977 + 1);
        length += length % 977 + 1;
        text[length++] = '\n';
    }
    scratch_open(&folder);
    scratch_write(&folder, "in", text, length);
    int fd = open(scratch_path(&folder, "in"), O_RDONLY | O_CLOEXEC);
    read_from(fd);
    mcp__loop_run(loop);
    assert_int_equal(seen_length, length + 6);
    assert_memory_equal(seen, text, length);
    (void)close(fd);
    scratch_close(&folder);
    test_free(text);
}

/* A reader that takes no lines stops the reading: the pipe fills up and stays full. */
static void reading_stops_when_nobody_takes(void **state)
{
    char block[4096];
    size_t sent = 0;
    struct pollfd room;

    (void)state;
    memset(block, 'x', sizeof block);
    block[sizeof block - 1] = '\n';
    is_paused = true;
    read_from(ends[0]);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    room = (struct pollfd){ .fd = ends[1], .events = POLLOUT };
    while (poll(&room, 1, 200) == 1) {
        ssize_t count = write(ends[1], block, sizeof block);
        sent += count > 0 ? (size_t)count : 0;
        assert_true(sent < (size_t)1 << 20);
    }
    is_paused = false;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    end_input();
    on_input(NULL);
    if (!strstr(seen, "<end>"))
        mcp__loop_run(loop);
    assert_int_equal(seen_length, sent + 6);
}

static void reading_can_be_given_up_while_it_waits(void **state)
{
    (void)state;
    read_from(ends[0]);
    mcp__lines_free(lines);
    lines = NULL;
    mcp__lines_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_end_in_newline_or_carriage_return_newline, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_last_line_needs_no_newline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_may_hold_any_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_survive_the_boundaries_of_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_as_long_as_allowed_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_longer_line_is_reported_once_and_skipped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(long_lines_that_follow_one_another_keep_their_own_ends,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_without_memory_is_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_read_to_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_comes_from_dev_null_or_a_closed_descriptor, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_terminal_is_read_as_it_is_typed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_socket_without_blocking_is_read_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_socket_that_was_closed_with_answers_unread_is_read_to_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flags_are_left_as_they_came, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pipe_whose_writer_has_gone_is_read_to_its_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lines_may_come_byte_by_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_large_file_is_read_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_stops_when_nobody_takes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_can_be_given_up_while_it_waits, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
