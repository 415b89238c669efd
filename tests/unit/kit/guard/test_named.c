/*
 * test_named.c - which names of clients are refused, by which rule.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/beneath.h"
#include "guard/named.h"
#include "scratch.h"

struct world {
    scratch folder; /* roots "one" and "two"; "one/home" is excluded, "one/home/output" a root */
    guard *all;
    mcp_arena *arena;
    mcp_error err;
    size_t descriptors;
};

static void make_links(const scratch *folder)
{
    assert_int_equal(symlinkat("../two/b.txt", folder->fd, "one/across"), 0);
    assert_int_equal(symlinkat("../secret/s.txt", folder->fd, "one/out"), 0);
    assert_int_equal(symlinkat("../secret", folder->fd, "one/out-dir"), 0);
    assert_int_equal(symlinkat("../nothing", folder->fd, "one/dangling"), 0);
    assert_int_equal(symlinkat("home", folder->fd, "one/to-home"), 0);
    assert_int_equal(symlinkat("/proc/self/environ", folder->fd, "one/environ"), 0);
    assert_int_equal(symlinkat("one", folder->fd, "alias"), 0);
    assert_int_equal(mkfifoat(folder->fd, "one/fifo", 0600), 0);
}

static int set_up(void **state)
{
    static struct world world;
    const char *roots[3], *excluded[1];
    world.descriptors = scratch_open_descriptors();
    scratch_open(&world.folder);
    scratch_write(&world.folder, "one/a.txt", "a", 1);
    scratch_write(&world.folder, "one/sub/c.txt", "c", 1);
    scratch_write(&world.folder, "two/b.txt", "b", 1);
    scratch_write(&world.folder, "one-more/x.txt", "x", 1);
    scratch_write(&world.folder, "secret/s.txt", "s", 1);
    scratch_write(&world.folder, "one/home/state.sqlite", "h", 1);
    scratch_write(&world.folder, "one/home/output/o.csv", "o", 1);
    make_links(&world.folder);
    roots[0] = scratch_path(&world.folder, "alias");
    roots[1] = scratch_path(&world.folder, "two");
    roots[2] = scratch_path(&world.folder, "one/home/output");
    excluded[0] = scratch_path(&world.folder, "one/home");
    world.arena = mcp_arena_new(0);
    assert_int_equal(guard_new_without(&world.all, roots, 3, excluded, 1, &world.err), MCP_OK);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    guard_free(world->all);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    return scratch_open_descriptors() == world->descriptors ? 0 : -1;
}

/* Open a name in the scratch folder; its first byte, or the rule that refused it. */
static guard_refusal open_path(struct world *world, const char *path, unsigned kinds, char *byte)
{
    guard_named named = { .fd = -1 };
    guard_refusal why = GUARD_REFUSED_KIND;
    mcp_status st = guard_open_named(&named, &why, world->all, path, kinds, world->arena,
                                     &world->err);
    if (st != MCP_OK) {
        assert_int_equal(named.fd, -1);
        assert_int_not_equal(why, GUARD_REFUSED_NOT);
        return why;
    }
    if (byte)
        assert_int_equal(pread(named.fd, byte, 1, 0), 1);
    close(named.fd);
    return GUARD_REFUSED_NOT;
}

static guard_refusal open_in(struct world *world, const char *relative, unsigned kinds)
{
    return open_path(world, scratch_path(&world->folder, relative), kinds, NULL);
}

static void what_is_below_a_root_opens(void **state)
{
    struct world *world = *state;
    char byte = 0;
    assert_int_equal(open_in(world, "one/a.txt", GUARD_FILES), GUARD_REFUSED_NOT);
    assert_int_equal(open_in(world, "one//sub/./c.txt", GUARD_FILES), GUARD_REFUSED_NOT);
    assert_int_equal(open_in(world, "one/sub/", GUARD_DIRS), GUARD_REFUSED_NOT);
    assert_int_equal(open_in(world, "one", GUARD_FILES | GUARD_DIRS), GUARD_REFUSED_NOT);
    assert_int_equal(open_in(world, "alias/a.txt", GUARD_FILES), GUARD_REFUSED_NOT);
    assert_int_equal(
        open_path(world, scratch_path(&world->folder, "one/across"), GUARD_FILES, &byte),
        GUARD_REFUSED_NOT);
    assert_int_equal(byte, 'b');
}

static void what_is_opened_is_described(void **state)
{
    struct world *world = *state;
    guard_named named;
    struct stat about;
    const char *path = scratch_path(&world->folder, "one/sub/c.txt");
    assert_int_equal(guard_open_named(&named, NULL, world->all,
                                      scratch_path(&world->folder, "alias/sub/c.txt"), GUARD_FILES,
                                      world->arena, &world->err),
                     MCP_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_string_equal(named.path, path);
    assert_false(named.is_dir);
    assert_int_equal(named.size, 1);
    assert_int_equal(named.inode, about.st_ino);
    assert_int_equal(named.mtime_ns / 1000000000, about.st_mtim.tv_sec);
    close(named.fd);
}

static void a_step_up_is_a_traversal_wherever_it_leads(void **state)
{
    static const char *const paths[] = { "one/../one/a.txt", "one/sub/..", "one/../secret/s.txt",
                                         "../x", "one/nothing/../a.txt" };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_int_equal(open_in(world, paths[i], GUARD_FILES | GUARD_DIRS),
                         GUARD_REFUSED_TRAVERSAL);
    assert_int_equal(open_path(world, "..", GUARD_DIRS, NULL), GUARD_REFUSED_TRAVERSAL);
    assert_string_equal(world->err.message, "Path traversal attempt detected: ..");
    scratch_write(&world->folder, "one/..a/b..", "d", 1);
    assert_int_equal(open_in(world, "one/..a/b..", GUARD_FILES), GUARD_REFUSED_NOT);
}

static void a_link_that_leads_out_has_its_own_rule(void **state)
{
    static const char *const paths[] = {
        "one/out",      "one/out-dir", "one/out-dir/s.txt",        "one/out-dir/none",
        "one/dangling", "one/to-home", "one/to-home/state.sqlite", "one/environ",
        "alias/out"
    };
    struct world *world = *state;
    char text[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *path = scratch_path(&world->folder, paths[i]);
        assert_int_equal(open_path(world, path, GUARD_FILES | GUARD_DIRS, NULL),
                         GUARD_REFUSED_LINK);
        snprintf(text, sizeof text, "Symlink escapes allowed roots: %s", path);
        assert_string_equal(world->err.message, text);
    }
}

static void what_is_outside_gives_one_answer(void **state)
{
    static const char *const paths[] = { "secret",   "secret/s.txt",   "secret/none",
                                         "one-more", "one-more/x.txt", "" };
    struct world *world = *state;
    char text[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *path = scratch_path(&world->folder, paths[i]);
        assert_int_equal(open_path(world, path, GUARD_FILES | GUARD_DIRS, NULL),
                         GUARD_REFUSED_OUTSIDE);
        snprintf(text, sizeof text, "Path not allowed: %s (not within allowed roots)", path);
        assert_string_equal(world->err.message, text);
    }
    assert_int_equal(open_path(world, "/proc/self/environ", GUARD_FILES, NULL),
                     GUARD_REFUSED_OUTSIDE);
    assert_int_equal(open_path(world, "/proc/self/cwd", GUARD_FILES, NULL), GUARD_REFUSED_OUTSIDE);
}

static void the_excluded_folder_is_outside_but_for_a_root_in_it(void **state)
{
    struct world *world = *state;
    assert_int_equal(open_in(world, "one/home", GUARD_DIRS), GUARD_REFUSED_OUTSIDE);
    assert_int_equal(open_in(world, "one/home/state.sqlite", GUARD_FILES), GUARD_REFUSED_OUTSIDE);
    assert_int_equal(open_in(world, "one/home/none", GUARD_FILES), GUARD_REFUSED_OUTSIDE);
    assert_int_equal(open_in(world, "one/home/output/o.csv", GUARD_FILES), GUARD_REFUSED_NOT);
    assert_true(guard_allows(world->all, scratch_path(&world->folder, "one/homely")));
}

static void what_is_no_file_and_no_folder_is_refused(void **state)
{
    struct world *world = *state;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             scratch_path(&world->folder, "one/socket"));
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(open_in(world, "one/fifo", GUARD_FILES | GUARD_DIRS), GUARD_REFUSED_KIND);
    assert_int_equal(open_in(world, "one/socket", GUARD_FILES | GUARD_DIRS), GUARD_REFUSED_KIND);
    assert_int_equal(open_in(world, "one/sub", GUARD_FILES), GUARD_REFUSED_KIND);
    assert_int_equal(open_in(world, "one/a.txt", GUARD_DIRS), GUARD_REFUSED_KIND);
    close(listener);
}

static void what_is_missing_below_a_root_is_missing(void **state)
{
    struct world *world = *state;
    assert_int_equal(open_in(world, "one/none", GUARD_FILES), GUARD_REFUSED_MISSING);
    assert_int_equal(open_in(world, "one/none/deeper", GUARD_DIRS), GUARD_REFUSED_MISSING);
    assert_int_equal(open_in(world, "one/a.txt/below", GUARD_FILES), GUARD_REFUSED_MISSING);
}

static void a_name_must_be_utf8_of_some_length(void **state)
{
    static const char *const bad[] = {
        "", "\xff", "one/\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "\xe0\x80\xaf"
    };
    struct world *world = *state;
    char endless[PATH_MAX + 2];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(open_path(world, bad[i], GUARD_FILES, NULL), GUARD_REFUSED_INVALID);
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_int_equal(open_path(world, endless, GUARD_FILES, NULL), GUARD_REFUSED_INVALID);
    scratch_write(&world->folder, "one/\xc3\xa4.txt", "u", 1);
    assert_int_equal(open_in(world, "one/\xc3\xa4.txt", GUARD_FILES), GUARD_REFUSED_NOT);
}

/* ---- targets --------------------------------------------------------------------------------- */

static guard_refusal find_target(struct world *world, guard_target *out, const char *relative)
{
    guard_refusal why = GUARD_REFUSED_KIND;
    mcp_status st = guard_open_target(out, &why, world->all, scratch_path(&world->folder, relative),
                                      world->arena, &world->err);
    return st == MCP_OK ? GUARD_REFUSED_NOT : why;
}

static void a_target_may_be_missing(void **state)
{
    struct world *world = *state;
    guard_target target;
    assert_int_equal(find_target(world, &target, "one/sub/new/deep/x.py"), GUARD_REFUSED_NOT);
    assert_string_equal(target.rest, "new/deep/x.py");
    assert_false(target.exists);
    assert_string_equal(target.path, scratch_path(&world->folder, "one/sub/new/deep/x.py"));
    assert_int_equal(guard_make_dir(NULL, target.dir_fd, "new/deep", NULL), MCP_OK);
    assert_int_equal(guard_write_file(target.dir_fd, target.rest, "p", 1, NULL), MCP_OK);
    close(target.dir_fd);
    assert_int_equal(open_in(world, "one/sub/new/deep/x.py", GUARD_FILES), GUARD_REFUSED_NOT);
    assert_int_equal(find_target(world, &target, "one/sub/new/deep/x.py"), GUARD_REFUSED_NOT);
    assert_true(target.exists);
    assert_false(target.is_dir);
    assert_string_equal(target.rest, "x.py");
    close(target.dir_fd);
    assert_int_equal(find_target(world, &target, "one/sub"), GUARD_REFUSED_NOT);
    assert_true(target.exists);
    assert_true(target.is_dir);
    assert_string_equal(target.rest, "");
    close(target.dir_fd);
}

static void a_target_is_refused_as_a_name_is(void **state)
{
    struct world *world = *state;
    guard_target target;
    assert_int_equal(find_target(world, &target, "secret/new"), GUARD_REFUSED_OUTSIDE);
    assert_int_equal(find_target(world, &target, "one/out-dir/new"), GUARD_REFUSED_LINK);
    assert_int_equal(find_target(world, &target, "one/dangling"), GUARD_REFUSED_LINK);
    assert_int_equal(find_target(world, &target, "one/home/new"), GUARD_REFUSED_OUTSIDE);
    assert_int_equal(find_target(world, &target, "one/new/../x"), GUARD_REFUSED_TRAVERSAL);
    assert_int_equal(find_target(world, &target, "one/fifo"), GUARD_REFUSED_KIND);
    assert_int_equal(find_target(world, &target, "one/a.txt/below"), GUARD_REFUSED_KIND);
    assert_int_equal(find_target(world, &target, "one/home/output/new"), GUARD_REFUSED_NOT);
    close(target.dir_fd);
}

/* ---- races ----------------------------------------------------------------------------------- */

struct swapper {
    const scratch *folder;
    atomic_bool is_over;
};

/* "one/swap" is a folder with an allowed file, then a link out of the root, in turns. */
static void *swap(void *data)
{
    struct swapper *self = data;
    int fd = self->folder->fd;
    while (!atomic_load(&self->is_over)) {
        renameat(fd, "one/swap", fd, "one/real");
        symlinkat("../secret", fd, "one/swap");
        unlinkat(fd, "one/swap", 0);
        renameat(fd, "one/real", fd, "one/swap");
    }
    return NULL;
}

static void race(struct world *world)
{
    struct swapper swapper = { .folder = &world->folder };
    pthread_t thread;
    const char *path = scratch_path(&world->folder, "one/swap/s.txt");
    scratch_write(&world->folder, "one/swap/s.txt", "g", 1);
    assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
    for (int i = 0; i < 5000; i++) {
        char byte = 0;
        if (open_path(world, path, GUARD_FILES, &byte) == GUARD_REFUSED_NOT)
            assert_int_equal(byte, 'g');
    }
    atomic_store(&swapper.is_over, true);
    pthread_join(thread, NULL);
}

static void a_link_in_place_of_a_folder_leads_nowhere(void **state)
{
    race(*state);
}

static void nor_does_it_without_openat2(void **state)
{
    guard_beneath_forget_openat2(true);
    race(*state);
    guard_beneath_forget_openat2(false);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(what_is_below_a_root_opens),
        EACH(what_is_opened_is_described),
        EACH(a_step_up_is_a_traversal_wherever_it_leads),
        EACH(a_link_that_leads_out_has_its_own_rule),
        EACH(what_is_outside_gives_one_answer),
        EACH(the_excluded_folder_is_outside_but_for_a_root_in_it),
        EACH(what_is_no_file_and_no_folder_is_refused),
        EACH(what_is_missing_below_a_root_is_missing),
        EACH(a_name_must_be_utf8_of_some_length),
        EACH(a_target_may_be_missing),
        EACH(a_target_is_refused_as_a_name_is),
        EACH(a_link_in_place_of_a_folder_leads_nowhere),
        EACH(nor_does_it_without_openat2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
