/*
 * test_threads.c - the threads of a run are bounded by the processors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_machine_has_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
