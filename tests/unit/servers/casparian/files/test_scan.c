/*
 * test_scan.c - which files a scan gives, with which hashes.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/scan.h"
#include "scratch_arena.h"

struct found {
    char text[2048]; /* "path=hash " for each file */
    casparian_scan_summary summary;
};

static void scan(struct found *out, scratch_arena *t, const char *relative, const char *pattern,
                 casparian_scan_options options)
{
    const char *roots[] = { t->folder.path };
    guard *all = NULL;
    guard_named start;
    casparian_glob *glob = NULL;
    casparian_scan *self = NULL;
    const casparian_scan_file *file = NULL;
    out->text[0] = '\0';
    scratch_arena_expect(t, guard_new(&all, roots, 1, &t->err));
    scratch_arena_expect(t, guard_open_named(&start, NULL, all, scratch_path(&t->folder, relative),
                                             GUARD_FILES | GUARD_DIRS, t->arena, &t->err));
    scratch_arena_expect(t, casparian_glob_new(&glob, pattern, &t->err));
    options.guard = all;
    options.start = &start;
    options.glob = glob;
    scratch_arena_expect(t, casparian_scan_new(&self, &options, &t->err));
    for (;;) {
        scratch_arena_expect(t, casparian_scan_next(&file, self, &t->err));
        if (!file)
            break;
        assert_int_equal(strncmp(file->path, t->folder.path, strlen(t->folder.path)), 0);
        size_t used = strlen(out->text);
        snprintf(out->text + used, sizeof out->text - used, "%s=%s ", file->relative, file->hash);
    }
    out->summary = *casparian_scan_result(self);
    casparian_scan_free(self);
    casparian_glob_free(glob);
    close(start.fd);
    guard_free(all);
}

static void fill(scratch_arena *t)
{
    scratch_write(&t->folder, "in/a.fix", "abc", 3);
    scratch_write(&t->folder, "in/sub/b.FIX", "", 0);
    scratch_write(&t->folder, "in/c.txt", "abc", 3);
    scratch_write(&t->folder, "in/.hidden/d.fix", "abc", 3);
}

static void files_are_given_by_their_pattern(void **state)
{
    scratch_arena *t = *state;
    struct found seen;
    fill(t);
    scan(&seen, t, "in", "*.fix", (casparian_scan_options){ .is_recursive = true });
    assert_string_equal(seen.text, "a.fix= sub/b.FIX= ");
    scan(&seen, t, "in", "*.fix", (casparian_scan_options){ .is_recursive = false });
    assert_string_equal(seen.text, "a.fix= ");
    scan(&seen, t, "in", ".hidden/*", (casparian_scan_options){ .is_recursive = true });
    assert_string_equal(seen.text, ".hidden/d.fix= ");
    scan(&seen, t, "in", NULL, (casparian_scan_options){ .is_recursive = true, .after = "a.fix" });
    assert_string_equal(seen.text, "c.txt= sub/b.FIX= ");
}

static void a_file_is_its_own_scan(void **state)
{
    scratch_arena *t = *state;
    struct found seen;
    fill(t);
    scan(&seen, t, "in/a.fix", "*.fix", (casparian_scan_options){ .is_recursive = true });
    assert_string_equal(seen.text, "a.fix= ");
    scan(&seen, t, "in/a.fix", "*.txt", (casparian_scan_options){ .is_recursive = true });
    assert_string_equal(seen.text, "");
}

/* Of "abc" and of nothing: XXH64's published values, and those of FIPS 180-4. */
static void hashes_are_those_of_the_bytes(void **state)
{
    scratch_arena *t = *state;
    struct found seen;
    fill(t);
    scan(&seen, t, "in", "*.fix",
         (casparian_scan_options){ .is_recursive = true, .hash_mode = CASPARIAN_HASH_FAST });
    assert_string_equal(seen.text, "a.fix=44bc2cf5ad770999 sub/b.FIX=ef46db3751d8e999 ");
    scan(&seen, t, "in/a.fix", NULL,
         (casparian_scan_options){ .is_recursive = true, .hash_mode = CASPARIAN_HASH_SHA256 });
    assert_string_equal(seen.text,
                        "a.fix=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ");
}

static void names_that_nobody_can_name_are_counted(void **state)
{
    scratch_arena *t = *state;
    struct found seen;
    scratch_write(&t->folder, "in/\xff.fix", "abc", 3);
    scratch_write(&t->folder, "in/good.fix", "abc", 3);
    assert_int_equal(symlinkat("/etc/passwd", t->folder.fd, "in/out.fix"), 0);
    scan(&seen, t, "in", "*.fix", (casparian_scan_options){ .is_recursive = true });
    assert_string_equal(seen.text, "good.fix= ");
    assert_int_equal(seen.summary.scanned, 3);
    assert_int_equal(seen.summary.skipped, 2);
    assert_int_equal(seen.summary.error_count, 2);
    assert_string_equal(seen.summary.errors[0].path, "out.fix");
    assert_string_equal(seen.summary.errors[1].path, "?.fix");
    assert_non_null(strstr(seen.summary.errors[1].why, "UTF-8"));
}

static bool wants_no_large(void *data, const casparian_scan_file *file)
{
    (void)data;
    return file->size < 1000 && file->hash[0] == '\0';
}

/* A sparse file of 64 GiB would spend the budget. */
static void files_that_nobody_wants_have_no_hash(void **state)
{
    scratch_arena *t = *state;
    struct found seen;
    scratch_write(&t->folder, "in/a-large", "", 0);
    scratch_write(&t->folder, "in/b", "abc", 3);
    assert_int_equal(truncate(scratch_path(&t->folder, "in/a-large"), INT64_C(64) << 30), 0);
    scan(&seen, t, "in", NULL,
         (casparian_scan_options){ .is_recursive = true,
                                   .hash_mode = CASPARIAN_HASH_FAST,
                                   .hash_budget_ms = 2000,
                                   .wants = wants_no_large });
    assert_string_equal(seen.text, "b=44bc2cf5ad770999 ");
    assert_false(seen.summary.is_hash_budget_spent);
    scan(&seen, t, "in/a-large", NULL,
         (casparian_scan_options){
             .hash_mode = CASPARIAN_HASH_FAST, .hash_budget_ms = 2000, .wants = wants_no_large });
    assert_string_equal(seen.text, "");
    assert_false(seen.summary.is_hash_budget_spent);
}

/* A sparse file of 64 GiB would take minutes. */
static void hashes_end_with_their_budget(void **state)
{
    scratch_arena *t = *state;
    struct found seen;
    scratch_write(&t->folder, "in/a-large", "", 0);
    scratch_write(&t->folder, "in/b", "abc", 3);
    assert_int_equal(truncate(scratch_path(&t->folder, "in/a-large"), INT64_C(64) << 30), 0);
    scan(&seen, t, "in", NULL,
         (casparian_scan_options){
             .is_recursive = true, .hash_mode = CASPARIAN_HASH_SHA256, .hash_budget_ms = 20 });
    assert_string_equal(seen.text, "a-large= b= ");
    assert_true(seen.summary.is_hash_budget_spent);
}

int main(void)
{
#define EACH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, scratch_arena_set_up, scratch_arena_tear_down)
    const struct CMUnitTest tests[] = {
        EACH(files_are_given_by_their_pattern), EACH(a_file_is_its_own_scan),
        EACH(hashes_are_those_of_the_bytes),    EACH(names_that_nobody_can_name_are_counted),
        EACH(hashes_end_with_their_budget),     EACH(files_that_nobody_wants_have_no_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
