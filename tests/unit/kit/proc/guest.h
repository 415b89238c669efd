/*
 * guest.h - starting the guest of guest.c.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "proc/fork.h"
#include "proc/proc.h"

/* Of every wait; for what hangs. */
#define GUEST_MS 60000

static inline int64_t soon(void)
{
    return mcp_clock_mono_ms() + GUEST_MS;
}

/* A test may make the guests forks of a server: tests of both then hold for both. */
#ifdef GUEST_IS_FORKED
static proc_fork_server *guest_fork_server;

static inline proc_fork_server *guest_server(void)
{
    static const char *const argv[] = { PROC_GUEST, "serve", NULL };

    if (!guest_fork_server)
        assert_int_equal(proc_fork_server_new(&guest_fork_server, argv, NULL, NULL), MCP_OK);
    return guest_fork_server;
}

/* The next guest gets another one. */
static inline void guest_server_end(void)
{
    proc_fork_server_free(guest_fork_server);
    guest_fork_server = NULL;
}

#define GUEST_SERVER guest_server()
#else
#define GUEST_SERVER NULL
#endif

/* A spec of the guest with these words. */
#define GUEST(...)                                                                                 \
    (proc_spec)                                                                                    \
    {                                                                                              \
        .argv = (const char *const[]){ PROC_GUEST, __VA_ARGS__, NULL },                            \
        .fork_server = GUEST_SERVER, .timeout_ms = GUEST_MS                                        \
    }

/* Run to the end; what fails fails the test. */
static inline void guest_run(proc_result *result, const proc_spec *spec,
                             const proc_run_options *options)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = proc_run(result, spec, options, &err);

    if (st != MCP_OK)
        fail_msg("%s: %s", mcp_status_name(st), err.message);
}

/* Run to exit status 0 and compare the output. */
static inline void guest_prints(const proc_spec *spec, const char *expected)
{
    proc_result result;

    guest_run(&result, spec, NULL);
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_int_equal(result.end.code, 0);
    assert_string_equal(result.out.data ? result.out.data : "", expected);
    proc_result_clear(&result);
}

static inline proc *guest_start(const proc_spec *spec)
{
    mcp_error err = MCP_ERROR_INIT;
    proc *child = NULL;
    mcp_status st = proc_start(&child, spec, &err);

    if (st != MCP_OK)
        fail_msg("%s: %s", mcp_status_name(st), err.message);
    return child;
}

static inline void guest_says(proc *child, const char *expected)
{
    const char *line = NULL;
    size_t length = 0;

    assert_int_equal(proc_read_line(child, &line, &length, soon(), NULL), MCP_OK);
    assert_non_null(line);
    assert_string_equal(line, expected);
    assert_int_equal(length, strlen(expected));
}

/* Whether a living process holds the lock of `guest escape`. */
static inline bool is_locked(const char *path)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open(path, O_RDWR);

    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETLK, &lock), 0);
    close(fd);
    return lock.l_type != F_UNLCK;
}

#endif
