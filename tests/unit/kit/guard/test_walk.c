/*
 * test_walk.c - the files of a folder, their order, and what is left out.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/walk.h"
#include "scratch_arena.h"

struct walked {
    char text[4096];      /* the files, each with a space behind it */
    char skipped[1024];   /* the same of what was left out */
    const char *unwanted; /* a folder or file */
};

static bool wants(void *data, const char *relative, const char *name, bool is_dir)
{
    const struct walked *self = data;
    (void)is_dir;
    assert_string_equal(relative + strlen(relative) - strlen(name), name);
    return !self->unwanted || strcmp(self->unwanted, relative) != 0;
}

static void note_skipped(void *data, const char *relative, const char *why)
{
    struct walked *self = data;
    assert_true(strlen(why) > 3);
    strncat(self->skipped, relative, 100);
    strncat(self->skipped, " ", 2);
}

/* Walk over "data" with the folder `home` in it excluded. */
static void walk(struct walked *out, scratch_arena *t, guard_walk_options options)
{
    const char *roots[] = { scratch_path(&t->folder, "data") };
    const char *excluded[] = { scratch_path(&t->folder, "data/home") };
    guard *all = NULL;
    guard_named top;
    guard_walk *self = NULL;
    const guard_entry *entry = NULL;
    out->text[0] = out->skipped[0] = '\0';
    scratch_arena_expect(t, guard_new_without(&all, roots, 1, excluded, 1, &t->err));
    scratch_arena_expect(
        t, guard_open_named(&top, NULL, all, roots[0], GUARD_DIRS, t->arena, &t->err));
    options.guard = all;
    options.dir_fd = top.fd;
    options.path = top.path;
    options.wants = wants;
    options.skipped = note_skipped;
    options.data = out;
    scratch_arena_expect(t, guard_walk_new(&self, &options, &t->err));
    for (;;) {
        scratch_arena_expect(t, guard_walk_next(&entry, self, &t->err));
        if (!entry)
            break;
        int fd = -1;
        char byte = 0;
        scratch_arena_expect(t, guard_walk_open(&fd, self, &t->err));
        assert_int_equal(read(fd, &byte, 1), entry->size > 0 ? 1 : 0);
        close(fd);
        strncat(out->text, entry->relative, 200);
        strncat(out->text, " ", 2);
    }
    guard_walk_free(self);
    close(top.fd);
    guard_free(all);
}

static void fill(scratch_arena *t)
{
    static const char *const files[] = { "data/b",          "data/a/z",    "data/a/y/1",
                                         "data/a.txt",      "data/B",      "data/.hidden/h",
                                         "data/home/state", "data/c/last", "secret/s" };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        scratch_write(&t->folder, files[i], "x", 1);
}

static void files_come_in_the_order_of_bytes(void **state)
{
    scratch_arena *t = *state;
    struct walked seen = { .unwanted = NULL };
    fill(t);
    walk(&seen, t, (guard_walk_options){ .is_recursive = true });
    assert_string_equal(seen.text, ".hidden/h B a/y/1 a/z a.txt b c/last ");
    assert_string_equal(seen.skipped, "");
    walk(&seen, t, (guard_walk_options){ .is_recursive = false });
    assert_string_equal(seen.text, "B a.txt b ");
    walk(&seen, t, (guard_walk_options){ .is_recursive = true, .depth_max = 1 });
    assert_string_equal(seen.text, ".hidden/h B a/z a.txt b c/last ");
    seen.unwanted = "a";
    walk(&seen, t, (guard_walk_options){ .is_recursive = true });
    assert_string_equal(seen.text, ".hidden/h B a.txt b c/last ");
}

static void a_walk_begins_after_any_file(void **state)
{
    static const struct {
        const char *after, *rest;
    } cases[] = { { ".hidden/h", "B a/y/1 a/z a.txt b c/last " },
                  { "B", "a/y/1 a/z a.txt b c/last " },
                  { "a/y/1", "a/z a.txt b c/last " },
                  { "a/z", "a.txt b c/last " },
                  { "a/y/0", "a/y/1 a/z a.txt b c/last " },
                  { "a/none/x", "a/y/1 a/z a.txt b c/last " },
                  { "a/zz", "a.txt b c/last " },
                  { "c/last", "" },
                  { "z", "" },
                  { "a", "a.txt b c/last " } };
    scratch_arena *t = *state;
    struct walked seen = { .unwanted = NULL };
    fill(t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        walk(&seen, t, (guard_walk_options){ .is_recursive = true, .after = cases[i].after });
        assert_string_equal(seen.text, cases[i].rest);
    }
}

static void links_are_followed_to_files_below_a_root(void **state)
{
    scratch_arena *t = *state;
    struct walked seen = { .unwanted = NULL };
    int fd = t->folder.fd;
    scratch_write(&t->folder, "data/real/f", "x", 1);
    scratch_write(&t->folder, "data/home/state", "x", 1);
    scratch_write(&t->folder, "secret/s", "x", 1);
    assert_int_equal(symlinkat("real/f", fd, "data/in"), 0);
    assert_int_equal(symlinkat("../secret/s", fd, "data/out"), 0);
    assert_int_equal(symlinkat("home/state", fd, "data/own"), 0);
    assert_int_equal(symlinkat("none", fd, "data/dangling"), 0);
    assert_int_equal(symlinkat("real", fd, "data/dir"), 0);
    assert_int_equal(symlinkat("loop", fd, "data/loop"), 0);
    assert_int_equal(symlinkat("/dev/null", fd, "data/null"), 0);
    walk(&seen, t, (guard_walk_options){ .is_recursive = true });
    assert_string_equal(seen.text, "in real/f ");
    assert_string_equal(seen.skipped, "dangling loop null out own ");
}

static void fifos_and_odd_names_do_no_harm(void **state)
{
    scratch_arena *t = *state;
    struct walked seen = { .unwanted = NULL };
    scratch_write(&t->folder, "data/\xff\xfe", "x", 1);
    scratch_write(&t->folder, "data/new\nline", "x", 1);
    scratch_write(&t->folder, "data/empty", "", 0);
    assert_int_equal(mkfifoat(t->folder.fd, "data/fifo", 0600), 0);
    walk(&seen, t, (guard_walk_options){ .is_recursive = true });
    assert_string_equal(seen.text, "empty new\nline \xff\xfe ");
}

static void a_folder_that_cannot_be_read_is_skipped(void **state)
{
    scratch_arena *t = *state;
    struct walked seen = { .unwanted = NULL };
    scratch_write(&t->folder, "data/closed/f", "x", 1);
    scratch_write(&t->folder, "data/open", "x", 1);
    assert_int_equal(chmod(scratch_path(&t->folder, "data/closed"), 0), 0);
    walk(&seen, t, (guard_walk_options){ .is_recursive = true });
    if (geteuid() == 0) {
        assert_string_equal(seen.text, "closed/f open ");
    } else {
        assert_string_equal(seen.text, "open ");
        assert_string_equal(seen.skipped, "closed ");
    }
    assert_int_equal(chmod(scratch_path(&t->folder, "data/closed"), 0700), 0);
}

static void a_tree_that_is_too_deep_is_skipped(void **state)
{
    scratch_arena *t = *state;
    struct walked seen = { .unwanted = NULL };
    char path[512] = "data";
    for (int i = 0; i < GUARD_WALK_DEPTH_MAX + 3; i++)
        strcat(path, "/d");
    strcat(path, "/f");
    scratch_write(&t->folder, path, "x", 1);
    scratch_write(&t->folder, "data/e", "x", 1);
    walk(&seen, t, (guard_walk_options){ .is_recursive = true });
    assert_string_equal(seen.text, "e ");
    assert_int_equal(strncmp(seen.skipped, "d/d/d/", 6), 0);
}

static bool stop_now(void *data)
{
    (void)data;
    return true;
}

static void a_walk_can_be_stopped(void **state)
{
    scratch_arena *t = *state;
    const char *roots[] = { t->folder.path };
    guard *all = NULL;
    guard_walk *self = NULL;
    const guard_entry *entry = NULL;
    fill(t);
    scratch_arena_expect(t, guard_new(&all, roots, 1, &t->err));
    const guard_walk_options options = { .guard = all,
                                         .dir_fd = t->folder.fd,
                                         .path = t->folder.path,
                                         .is_recursive = true,
                                         .should_stop = stop_now };
    scratch_arena_expect(t, guard_walk_new(&self, &options, &t->err));
    assert_int_equal(guard_walk_next(&entry, self, &t->err), MCP_E_STOPPED);
    guard_walk_free(self);
    guard_free(all);
}

int main(void)
{
#define EACH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, scratch_arena_set_up, scratch_arena_tear_down)
    const struct CMUnitTest tests[] = {
        EACH(files_come_in_the_order_of_bytes),
        EACH(a_walk_begins_after_any_file),
        EACH(links_are_followed_to_files_below_a_root),
        EACH(fifos_and_odd_names_do_no_harm),
        EACH(a_folder_that_cannot_be_read_is_skipped),
        EACH(a_tree_that_is_too_deep_is_skipped),
        EACH(a_walk_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
