/*
 * test_threads.c - a run uses no more threads than the machine gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/threads.h"

static unsigned most(void)
{
    return (unsigned)sysconf(_SC_NPROCESSORS_ONLN) * COBRE_THREADS_A_CORE;
}

static void what_a_machine_has_is_given(void **state)
{
    (void)state;
    assert_int_equal(cobre_threads_given(0), 1);
    assert_int_equal(cobre_threads_given(1), 1);
    assert_int_equal(cobre_threads_given(2), 2);
    assert_int_equal(cobre_threads_given(most()), most());
    assert_int_equal(cobre_threads_given(most() + 1), most());
    assert_int_equal(cobre_threads_given(UINT_MAX), most());
}

/* When no thread can be started (no address space for its stack) the run uses its own thread. In
 * a child process, because the limit is permanent. */
static void what_is_refused_is_not_given(void **state)
{
    int status = -1;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        const struct rlimit none = { 0, 0 };
        _exit(setrlimit(RLIMIT_AS, &none) == 0 ? (int)cobre_threads_given(4) : 100);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_machine_has_is_given),
        cmocka_unit_test(what_is_refused_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
