/*
 * test_lock.c - one run per output directory, in this process and in others.
 */
#include <signal.h>
#include <sys/wait.h>

#include "sample.h"

static void a_second_run_is_refused(void **state)
{
    struct world *world = *state;
    int first = -1, second = -1;

    assert_false(results_is_locked(world->folder.fd));
    assert_int_equal(results_lock(&first, world->folder.fd, &world->err), MCP_OK);
    assert_true(results_is_locked(world->folder.fd));
    assert_int_equal(results_lock(&second, world->folder.fd, &world->err), MCP_E_BUSY);
    assert_int_equal(second, -1);
    assert_true(results_is_locked(world->folder.fd));
    close(first);
    assert_false(results_is_locked(world->folder.fd));
    assert_int_equal(results_lock(&second, world->folder.fd, &world->err), MCP_OK);
    close(second);
}

/* Another process holds the lock until it ends, by any cause. */
static void the_lock_ends_with_its_process(void **state)
{
    struct world *world = *state;
    int locked[2], fd = -1;
    char byte = 0;

    assert_int_equal(pipe(locked), 0);
    pid_t child = fork();
    if (child == 0) {
        if (results_lock(&fd, world->folder.fd, NULL) == MCP_OK && write(locked[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(locked[0], &byte, 1), 1);
    assert_true(results_is_locked(world->folder.fd));
    assert_int_equal(results_lock(&fd, world->folder.fd, &world->err), MCP_E_BUSY);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(results_is_locked(world->folder.fd));
    assert_int_equal(results_lock(&fd, world->folder.fd, &world->err), MCP_OK);
    close(fd);
    close(locked[0]);
    close(locked[1]);
}

static void a_link_is_no_lock(void **state)
{
    struct world *world = *state;
    int fd = -1;

    assert_int_equal(symlinkat("elsewhere", world->folder.fd, ".lock"), 0);
    assert_int_equal(results_lock(&fd, world->folder.fd, &world->err), MCP_E_IO);
    assert_false(results_is_locked(world->folder.fd));
    assert_false(is_there(world, "elsewhere"));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(a_second_run_is_refused),
        EACH(the_lock_ends_with_its_process),
        EACH(a_link_is_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
