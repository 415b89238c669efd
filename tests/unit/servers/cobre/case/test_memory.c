/*
 * test_memory.c - the limits of control groups, as the kernel shows them (cgroups(7)).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "case/memory.h"
#include "scratch.h"

static void put(const scratch *folder, const char *path, const char *text)
{
    scratch_write(folder, path, text, strlen(text));
}

static size_t limit_in(const scratch *folder, const char *membership)
{
    put(folder, "cgroup", membership);
    return cobre_memory_limit(scratch_path(folder, "cgroup"), scratch_path(folder, "mount"));
}

static void version_2(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    put(&folder, "mount/system.slice/cobre.service/memory.max", "max\n");
    assert_true(limit_in(&folder, "0::/system.slice/cobre.service\n") == SIZE_MAX);
    put(&folder, "mount/system.slice/memory.max", "3000000000\n");
    assert_int_equal(limit_in(&folder, "0::/system.slice/cobre.service\n"), 3000000000);
    put(&folder, "mount/system.slice/cobre.service/memory.max", "2000000000\n");
    assert_int_equal(limit_in(&folder, "0::/system.slice/cobre.service\n"), 2000000000);
    assert_int_equal(limit_in(&folder, "0::/system.slice\n"), 3000000000);
    scratch_close(&folder);
}

/* The memory controller of version 1 has a mount of its own; other lines do not count. */
static void version_1(void **state)
{
    static const char lines[] = "9:name=systemd:/\n4:cpu,memory:/box/one\n3:cpuset:/other\n0::/\n";
    scratch folder;

    (void)state;
    scratch_open(&folder);
    put(&folder, "mount/memory/box/one/memory.limit_in_bytes", "9223372036854771712\n");
    put(&folder, "mount/memory/other/memory.limit_in_bytes", "1\n");
    assert_true(limit_in(&folder, lines) == 9223372036854771712ULL);
    put(&folder, "mount/memory/box/memory.limit_in_bytes", "536870912\n");
    assert_int_equal(limit_in(&folder, lines), 536870912);
    put(&folder, "mount/unified/memory.max", "400000000\n");
    assert_int_equal(limit_in(&folder, lines), 400000000);
    scratch_close(&folder);
}

/* In a container the path is that of the host, and the mount is the group itself. */
static void a_path_that_is_not_there(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    put(&folder, "mount/memory.max", "1073741824\n");
    assert_int_equal(limit_in(&folder, "0::/docker/0123456789abcdef\n"), 1073741824);
    assert_int_equal(limit_in(&folder, "0::/\n"), 1073741824);
    scratch_close(&folder);
}

static void nothing_to_read(void **state)
{
    scratch folder;
    char text[20000];

    (void)state;
    scratch_open(&folder);
    assert_true(cobre_memory_limit("/nowhere/cgroup", "/nowhere") == SIZE_MAX);
    assert_true(limit_in(&folder, "") == SIZE_MAX);
    assert_true(limit_in(&folder, "0:\n::\nno line\n0::/a\n") == SIZE_MAX);
    memset(text, 'a', sizeof text);
    memcpy(text, "0::/", 4);
    text[sizeof text - 1] = '\0';
    assert_true(limit_in(&folder, text) == SIZE_MAX);
    scratch_close(&folder);
}

/* Below what the machine has, and enough for a test. */
static void of_this_process(void **state)
{
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGE_SIZE);

    (void)state;
    assert_true(cobre_memory_most() <= machine / 10 * 9);
    assert_true(cobre_memory_most() > (size_t)16 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2),
        cmocka_unit_test(version_1),
        cmocka_unit_test(a_path_that_is_not_there),
        cmocka_unit_test(nothing_to_read),
        cmocka_unit_test(of_this_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
