/*
 * test_canonical.c - where paths lead, without asking whether anything is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/canonical.h"
#include "scratch.h"

static void leads_to(const char *path, const char *expected)
{
    char out[PATH_MAX];

    assert_true(guard_canonical(out, path));
    assert_string_equal(out, expected);
}

static void texts_are_collapsed(void **state)
{
    (void)state;
    leads_to("/", "/");
    leads_to("//", "/");
    leads_to("/..", "/");
    leads_to("/no-such-a/./b//c/../d/", "/no-such-a/b/d");
    leads_to("/no-such-a/../../no-such-b", "/no-such-b");
}

static void existing_paths_agree_with_realpath(void **state)
{
    static const char *const paths[] = { "/usr/bin", "/bin/sh", ".", "..", "/etc/../usr/./lib" };
    char expected[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_non_null(realpath(paths[i], expected));
        leads_to(paths[i], expected);
    }
}

static void links_are_replaced_even_when_they_dangle(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "real/file", "x", 1);
    assert_int_equal(symlinkat("real", folder.fd, "relative"), 0);
    assert_int_equal(symlinkat("/no-such-place/x", folder.fd, "dangling"), 0);
    assert_int_equal(symlinkat("relative/../relative", folder.fd, "twice"), 0);
    leads_to(scratch_path(&folder, "relative/file"), scratch_path(&folder, "real/file"));
    leads_to(scratch_path(&folder, "dangling/y"), "/no-such-place/x/y");
    leads_to(scratch_path(&folder, "twice/file"), scratch_path(&folder, "real/file"));
    scratch_close(&folder);
}

static void what_cannot_be_told_is_refused(void **state)
{
    char out[PATH_MAX], self[PATH_MAX];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    assert_int_equal(symlinkat("loop", folder.fd, "loop"), 0);
    assert_false(guard_canonical(out, scratch_path(&folder, "loop")));
    snprintf(self, sizeof self, "/proc/self/root%s", folder.path);
    assert_false(guard_canonical(out, self));
    snprintf(self, sizeof self, "/dev/fd/%d", folder.fd);
    assert_false(guard_canonical(out, self));
    scratch_close(&folder);
}

static void a_chain_of_links_ends_at_forty(void **state)
{
    char out[PATH_MAX], name[32], target[32];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "l0", "", 0);
    for (int i = 1; i <= 41; i++) {
        snprintf(name, sizeof name, "l%d", i);
        snprintf(target, sizeof target, "l%d", i - 1);
        assert_int_equal(symlinkat(target, folder.fd, name), 0);
    }
    leads_to(scratch_path(&folder, "l40"), scratch_path(&folder, "l0"));
    assert_false(guard_canonical(out, scratch_path(&folder, "l41")));
    scratch_close(&folder);
}

static void results_over_the_limit_are_refused(void **state)
{
    char out[PATH_MAX], path[PATH_MAX];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    /* "/long" leads to a deep place; path and target fit, together they do not. */
    memset(path, 'a', sizeof path);
    for (size_t i = 0; i < sizeof path; i += 100)
        path[i] = '/';
    path[2100] = '\0';
    assert_int_equal(symlinkat(path, folder.fd, "long"), 0);
    assert_true(guard_canonical(out, scratch_path(&folder, "long")));
    assert_int_equal(strlen(out), 2100);
    char both[PATH_MAX + SCRATCH_PATH_MAX + 16];
    int length = snprintf(both, sizeof both, "%s/long%s", folder.path, path);
    assert_true(length > 0 && length < PATH_MAX);
    assert_false(guard_canonical(out, both));
    scratch_close(&folder);
}

static void below_is_by_whole_components(void **state)
{
    (void)state;
    assert_string_equal(guard_below("/data/cases", "/data/cases"), "");
    assert_string_equal(guard_below("/data/cases", "/data/cases/a/b"), "a/b");
    assert_null(guard_below("/data/cases", "/data/cases-secret"));
    assert_null(guard_below("/data/cases", "/data"));
    assert_string_equal(guard_below("/", "/etc"), "etc");
    assert_string_equal(guard_below("/", "/"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_collapsed),
        cmocka_unit_test(existing_paths_agree_with_realpath),
        cmocka_unit_test(links_are_replaced_even_when_they_dangle),
        cmocka_unit_test(what_cannot_be_told_is_refused),
        cmocka_unit_test(a_chain_of_links_ends_at_forty),
        cmocka_unit_test(results_over_the_limit_are_refused),
        cmocka_unit_test(below_is_by_whole_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
