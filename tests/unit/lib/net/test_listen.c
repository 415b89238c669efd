/*
 * test_listen.c - listening sockets: ports, files, their modes, and no descriptors left.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/listen.h"
#include "rig.h"
#include "scratch.h"

#define TAKEN_MAX 64

struct taker {
    mcp__loop *loop;
    int fds[TAKEN_MAX];
    int count;
    int wanted;  /* then the loop is stopped */
    int failure; /* the first errno told */
    int failures;
};

static struct taker taker;
static scratch folder;

static int set_up(void **state)
{
    (void)state;
    memset(&taker, 0, sizeof(taker));
    scratch_open(&folder);
    return mcp__loop_new(&taker.loop, NULL) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < taker.count; i++)
        close(taker.fds[i]);
    mcp__loop_free(taker.loop);
    scratch_close(&folder);
    return 0;
}

static void on_accept(int fd, void *data)
{
    struct taker *self = data;

    if (fd < 0) {
        self->failure = -fd;
        self->failures++;
        mcp__loop_stop(self->loop);
        return;
    }
    assert_true(self->count < TAKEN_MAX);
    self->fds[self->count++] = fd;
    if (self->count >= self->wanted)
        mcp__loop_stop(self->loop);
}

static mcp__listener *listen_on(const char *host, int port)
{
    mcp__listener *listener = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__listen_tcp(&listener, taker.loop, host, port, on_accept, &taker, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return listener;
}

static void take(int count)
{
    taker.wanted = taker.count + count;
    mcp__loop_run(taker.loop);
    assert_int_equal(taker.count, taker.wanted);
}

static void a_free_port_is_reported_and_taken(void **state)
{
    mcp__listener *listener = listen_on("127.0.0.1", 0);
    mcp__listener *second = NULL;
    mcp_error err = MCP_ERROR_INIT;
    int port = mcp__listener_port(listener);

    (void)state;
    assert_in_range(port, 1, 65535);
    int fd = client_open(port);
    take(1);
    assert_true(fcntl(taker.fds[0], F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(taker.fds[0], F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_int_equal(
        mcp__listen_tcp(&second, taker.loop, "127.0.0.1", port, on_accept, &taker, &err), MCP_E_IO);
    assert_non_null(strstr(err.message, "in use"));
    assert_null(second);
    mcp__listener_free(listener);
    mcp__listener_free(NULL);
}

static void names_and_wrong_addresses(void **state)
{
    mcp__listener *listener = listen_on("localhost", 0);
    mcp__listener *none = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    mcp__listener_free(listener);
    assert_int_equal(
        mcp__listen_tcp(&none, taker.loop, "127.0.0.1", 65536, on_accept, &taker, &err),
        MCP_E_PARAMS);
    assert_int_equal(mcp__listen_tcp(&none, taker.loop, "127.0.0.1", -1, on_accept, &taker, &err),
                     MCP_E_PARAMS);
    assert_int_equal(mcp__listen_tcp(&none, taker.loop, "256.1.1.1", 0, on_accept, &taker, &err),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "256.1.1.1"));
    assert_null(none);
}

static void pausing_leaves_them_in_the_queue(void **state)
{
    mcp__listener *listener = listen_on("127.0.0.1", 0);

    (void)state;
    mcp__listener_pause(listener, true);
    int fd = client_open(mcp__listener_port(listener));
    mcp__listener_pause(listener, false);
    take(1);
    close(fd);
    mcp__listener_free(listener);
}

/* ---- no descriptors -------------------------------------------------------------------------- */

static void give_back_descriptors(void *data)
{
    *(struct rlimit *)data = (struct rlimit){ 0 };
    mcp__loop_stop(taker.loop);
}

static int64_t milliseconds_used(const struct rusage *used)
{
    return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * (int64_t)1000 +
           (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
}

static void without_descriptors_it_waits_and_does_not_spin(void **state)
{
    mcp__listener *listener = listen_on("127.0.0.1", 0);
    struct rlimit before;
    struct rlimit now;
    struct rusage used_before;
    struct rusage used_after;
    mcp__timer *timer = NULL;

    (void)state;
    int fd = client_open(mcp__listener_port(listener));
    assert_int_equal(mcp__timer_new(&timer, taker.loop, give_back_descriptors, &now, NULL), MCP_OK);
    int lowest = dup(fd);
    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = (struct rlimit){ (rlim_t)lowest, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    taker.wanted = 1;
    mcp__loop_run(taker.loop); /* until it is notified */
    assert_int_equal(taker.failure, EMFILE);
    assert_int_equal(taker.count, 0);
    getrusage(RUSAGE_SELF, &used_before);
    mcp__timer_start(timer, 350); /* a few more tries are made meanwhile */
    mcp__loop_run(taker.loop);
    assert_int_equal(now.rlim_max, 0);
    getrusage(RUSAGE_SELF, &used_after);
    assert_int_equal(taker.failures, 1); /* told once */
    assert_true(milliseconds_used(&used_after) - milliseconds_used(&used_before) < 150);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    take(1); /* now it is taken */
    close(fd);
    mcp__timer_free(timer);
    mcp__listener_free(listener);
}

static void the_limit_is_raised_to_the_hard_one(void **state)
{
    struct rlimit before;
    struct rlimit lower;
    size_t limit = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    lower = (struct rlimit){ 100, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lower), 0);
    assert_int_equal(mcp__descriptors_raise(&limit, NULL), MCP_OK);
    assert_int_equal(limit, before.rlim_max);
    assert_int_equal(mcp__descriptors_raise(&limit, NULL), MCP_OK);
    assert_int_equal(limit, before.rlim_max);
}

/* ---- Unix domain ----------------------------------------------------------------------------- */

static mcp_status listen_at(mcp__listener **out, const char *path, mcp_error *err)
{
    return mcp__listen_unix(out, taker.loop, path, on_accept, &taker, err);
}

static void a_file_only_we_may_use(void **state)
{
    const char *path = scratch_path(&folder, "s");
    mcp__listener *listener = NULL;
    mcp_error err = MCP_ERROR_INIT;
    struct stat about;
    mode_t mask = umask(0);

    (void)state;
    assert_int_equal(listen_at(&listener, path, &err), MCP_OK);
    umask(mask);
    assert_int_equal(mcp__listener_port(listener), 0);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISSOCK(about.st_mode));
    assert_int_equal(about.st_mode & 07777, 0600);
    int fd = client_open_unix(path);
    take(1);
    close(fd);
    mcp__listener_free(listener);
    assert_int_equal(lstat(path, &about), -1);
}

static void a_dead_socket_is_replaced_a_live_one_is_not(void **state)
{
    const char *path = scratch_path(&folder, "s");
    mcp__listener *first = NULL;
    mcp__listener *second = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(listen_at(&first, path, &err), MCP_OK);
    assert_int_equal(listen_at(&second, path, &err), MCP_E_BUSY);
    assert_null(second);
    taker.wanted = 2; /* the question whether it lives was a connection, too */
    int fd = client_open_unix(path);
    mcp__loop_run(taker.loop);
    close(fd);
    mcp__listener_free(first);

    int dead = socket(AF_UNIX, SOCK_STREAM, 0); /* what a killed process leaves */
    struct {
        sa_family_t family;
        char path[108];
    } name = { .family = AF_UNIX };
    strcpy(name.path, path);
    assert_int_equal(bind(dead, (struct sockaddr *)&name, sizeof name), 0);
    close(dead);
    assert_int_equal(listen_at(&second, path, &err), MCP_OK);
    mcp__listener_free(second);
}

static void other_files_are_left_alone(void **state)
{
    const char *path = scratch_path(&folder, "file");
    mcp__listener *listener = NULL;
    mcp_error err = MCP_ERROR_INIT;
    char longest[200];

    (void)state;
    scratch_write(&folder, "file", "x", 1);
    assert_int_equal(listen_at(&listener, path, &err), MCP_E_PARAMS);
    assert_int_equal(access(path, F_OK), 0);
    memset(longest, 'x', sizeof longest);
    longest[108] = '\0';
    assert_int_equal(listen_at(&listener, longest, &err), MCP_E_PARAMS);
    assert_int_equal(listen_at(&listener, "", &err), MCP_E_PARAMS);
    assert_int_equal(listen_at(&listener, scratch_path(&folder, "no/such/folder"), &err),
                     MCP_E_NOT_FOUND);
    assert_null(listener);
}

/* Our file was replaced by somebody else's: that one stays. */
static void only_our_own_file_is_removed(void **state)
{
    const char *path = scratch_path(&folder, "s");
    mcp__listener *first = NULL;
    mcp__listener *second = NULL;

    (void)state;
    assert_int_equal(listen_at(&first, path, NULL), MCP_OK);
    assert_int_equal(rename(path, scratch_path(&folder, "moved")), 0);
    assert_int_equal(listen_at(&second, path, NULL), MCP_OK);
    mcp__listener_free(first);
    assert_int_equal(access(path, F_OK), 0);
    mcp__listener_free(second);
    assert_int_equal(unlink(scratch_path(&folder, "moved")), 0);
}

/* ---- sockets of another process -------------------------------------------------------------- */

static int bound_socket(bool is_listening)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (is_listening)
        assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static void a_socket_that_listens_already_is_taken(void **state)
{
    mcp__listener *listener = NULL;
    char host[MCP__ADDRESS_SIZE];
    int port = 0;

    (void)state;
    int fd = bound_socket(true);
    assert_int_equal(mcp__socket_address(host, &port, fd, NULL), MCP_OK);
    assert_string_equal(host, "127.0.0.1");
    assert_int_equal(mcp__listen_socket(&listener, taker.loop, fd, on_accept, &taker, NULL),
                     MCP_OK);
    assert_int_equal(mcp__listener_port(listener), port);
    assert_int_not_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    mcp__listener_free(listener);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed with it */
}

static void a_descriptor_that_does_not_listen_is_refused(void **state)
{
    mcp__listener *listener = NULL;
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const int fds[] = { bound_socket(false),
                        socket(AF_INET, SOCK_DGRAM, 0),
                        open("/dev/null", O_RDONLY),
                        pair[0],
                        pair[1],
                        999 };
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        char words[64];
        (void)snprintf(words, sizeof words, "descriptor %d is not a listening socket", fds[i]);
        assert_int_equal(mcp__listen_socket(&listener, taker.loop, fds[i], on_accept, &taker, &err),
                         MCP_E_PARAMS);
        assert_string_equal(err.message, words);
        assert_null(listener);
        (void)close(fds[i]); /* it was not taken */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_free_port_is_reported_and_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_and_wrong_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pausing_leaves_them_in_the_queue, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_descriptors_it_waits_and_does_not_spin, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_limit_is_raised_to_the_hard_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_only_we_may_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dead_socket_is_replaced_a_live_one_is_not, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_our_own_file_is_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_socket_that_listens_already_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_that_does_not_listen_is_refused, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("listening", tests, NULL, NULL);
}
