/*
 * test_files.c - reading, writing and removing beneath an open folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/paths.h"
#include "scratch.h"

struct world {
    scratch folder;
    mcp_arena *arena;
    mcp_error err;
    size_t descriptors;
};

static int set_up(void **state)
{
    static struct world world;

    world.descriptors = scratch_open_descriptors();
    scratch_open(&world.folder);
    scratch_write(&world.folder, "case/system/hydros.json", "[1]", 3);
    scratch_write(&world.folder, "sibling", "outside", 7);
    assert_int_equal(symlinkat("system", world.folder.fd, "case/link"), 0);
    assert_int_equal(symlinkat("../sibling", world.folder.fd, "case/out"), 0);
    assert_int_equal(mkfifoat(world.folder.fd, "case/pipe", 0666), 0);
    world.arena = mcp_arena_new(0);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    return scratch_open_descriptors() == world->descriptors ? 0 : -1;
}

static mcp_status open_file(struct world *world, const char *relative)
{
    int fd = -1;
    mcp_status st = guard_open_file(&fd, world->folder.fd, relative, &world->err);

    if (st == MCP_OK)
        close(fd);
    return st;
}

static void only_regular_files_open(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_file(world, "case/system/hydros.json"), MCP_OK);
    assert_int_equal(open_file(world, "case/none"), MCP_E_NOT_FOUND);
    assert_int_equal(open_file(world, "case/system"), MCP_E_NOT_FOUND);
    assert_int_equal(open_file(world, "case/pipe"), MCP_E_NOT_FOUND);
    assert_int_equal(open_file(world, "case/link/hydros.json"), MCP_E_DENIED);
    assert_int_equal(open_file(world, "case/out"), MCP_E_DENIED);
    assert_int_equal(open_file(world, "case/../sibling"), MCP_E_DENIED);
    assert_int_equal(open_file(world, ".."), MCP_E_DENIED);
    assert_int_equal(open_file(world, "/etc/passwd"), MCP_E_PARAMS);
    assert_int_equal(open_file(world, ""), MCP_E_PARAMS);
    assert_int_equal(open_file(world, "sibling/..hidden"), MCP_E_NOT_FOUND);
}

static void existence_is_seen_without_links(void **state)
{
    struct world *world = *state;

    assert_true(guard_exists(world->folder.fd, "case"));
    assert_true(guard_exists(world->folder.fd, "case/system/hydros.json"));
    assert_false(guard_exists(world->folder.fd, "case/pipe"));
    assert_false(guard_exists(world->folder.fd, "case/out"));
    assert_false(guard_exists(world->folder.fd, "case/../sibling"));
    assert_true(guard_is_taken(world->folder.fd, "case/system/hydros.json"));
    assert_true(guard_is_taken(world->folder.fd, "case/pipe"));
    assert_true(guard_is_taken(world->folder.fd, "case/out"));
    assert_false(guard_is_taken(world->folder.fd, "case/none"));
    assert_false(guard_is_taken(world->folder.fd, "case/../sibling"));
    assert_false(guard_exists(world->folder.fd, "none"));
}

static void a_folder_is_known_by_a_path_without_links(void **state)
{
    struct world *world = *state;
    char path[PATH_MAX], linked[PATH_MAX + 8];
    int fd = -1;

    assert_non_null(realpath(world->folder.path, path));
    assert_true(guard_is_at(world->folder.fd, path));
    snprintf(linked, sizeof linked, "%s/case", path);
    assert_false(guard_is_at(world->folder.fd, linked));
    assert_int_equal(guard_open_subdir(&fd, world->folder.fd, "case", &world->err), MCP_OK);
    assert_true(guard_is_at(fd, linked));
    assert_int_equal(symlinkat("case", world->folder.fd, "other"), 0);
    snprintf(linked, sizeof linked, "%s/other", path);
    assert_false(guard_is_at(fd, linked));
    assert_false(guard_is_at(fd, "case"));
    assert_int_equal(unlinkat(world->folder.fd, "other", 0), 0);
    close(fd);
}

static void whole_files_are_read_within_a_bound(void **state)
{
    struct world *world = *state;
    const char *bytes = NULL;
    size_t length = 0;

    assert_int_equal(guard_read_file(&bytes, &length, world->folder.fd, "case/system/hydros.json",
                                     3, world->arena, &world->err),
                     MCP_OK);
    assert_int_equal(length, 3);
    assert_string_equal(bytes, "[1]");
    assert_int_equal(guard_read_file(&bytes, &length, world->folder.fd, "case/system/hydros.json",
                                     2, world->arena, &world->err),
                     MCP_E_LIMIT);
    assert_int_equal(guard_read_file(&bytes, &length, world->folder.fd, "case/system", 100,
                                     world->arena, &world->err),
                     MCP_E_NOT_FOUND);
    mcp_arena *small = mcp_arena_new(1);
    assert_int_equal(
        guard_read_file(&bytes, &length, world->folder.fd, "sibling", 100, small, &world->err),
        MCP_E_NOMEM);
    mcp_arena_free(small);
}

static void folders_are_made_without_following_links(void **state)
{
    struct world *world = *state;
    int fd = -1;

    assert_int_equal(guard_make_dir(&fd, world->folder.fd, "a/./b//c", &world->err), MCP_OK);
    close(fd);
    assert_int_equal(guard_make_dir(NULL, world->folder.fd, "a/b", &world->err), MCP_OK);
    assert_true(guard_exists(world->folder.fd, "a/b/c"));
    assert_int_equal(guard_make_dir(NULL, world->folder.fd, "case/link/new", &world->err),
                     MCP_E_DENIED);
    assert_int_equal(guard_make_dir(NULL, world->folder.fd, "sibling/new", &world->err),
                     MCP_E_NOT_FOUND);
    assert_int_equal(guard_make_dir(NULL, world->folder.fd, "../new", &world->err), MCP_E_DENIED);
    assert_false(guard_exists(world->folder.fd, "case/system/new"));
}

/* ---- the disk -------------------------------------------------------------------------------- */

static ino_t synced[8]; /* what was waited for, in this order */
static size_t synced_count;
static int sync_failure; /* 0: none */

int disk_fsync(int fd) __asm__("fsync") __attribute__((visibility("default"), used));

int disk_fsync(int fd)
{
    struct stat about;

    if (fstat(fd, &about) == 0 && synced_count < 8)
        synced[synced_count++] = about.st_ino;
    if (sync_failure == 0)
        return (int)syscall(SYS_fsync, fd);
    errno = sync_failure;
    return -1;
}

static ino_t inode_of(const struct world *world, const char *name)
{
    struct stat about;

    assert_int_equal(fstatat(world->folder.fd, name, &about, 0), 0);
    return about.st_ino;
}

static void the_disk_has_the_name_of_each_durable_folder(void **state)
{
    struct world *world = *state;
    int fd = -1;

    synced_count = 0;
    int root = open(world->folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC); /* as guards have */
    assert_int_equal(guard_make_durable_dir(&fd, root, "a/b", &world->err), MCP_OK);
    close(fd);
    close(root);
    assert_int_equal(synced_count, 2);
    assert_int_equal(synced[0], inode_of(world, "."));
    assert_int_equal(synced[1], inode_of(world, "a"));
    assert_int_equal(guard_make_durable_dir(NULL, world->folder.fd, "a/c", &world->err), MCP_OK);
    assert_int_equal(synced_count, 3); /* the name of "c" alone is new */
    assert_int_equal(synced[2], inode_of(world, "a"));
    assert_int_equal(guard_make_durable_dir(NULL, world->folder.fd, "a/b", &world->err), MCP_OK);
    assert_int_equal(synced_count, 3);
    sync_failure = EIO;
    assert_int_equal(guard_make_durable_dir(NULL, world->folder.fd, "d", &world->err), MCP_E_IO);
    sync_failure = EINVAL; /* a file system that cannot tell */
    assert_int_equal(guard_make_durable_dir(NULL, world->folder.fd, "e", &world->err), MCP_OK);
    sync_failure = 0;
}

static void files_are_replaced_whole(void **state)
{
    struct world *world = *state;
    const char *bytes = NULL;
    size_t length = 0;

    assert_int_equal(
        guard_write_file(world->folder.fd, "case/system/hydros.json", "new text", 8, &world->err),
        MCP_OK);
    assert_int_equal(guard_read_file(&bytes, &length, world->folder.fd, "case/system/hydros.json",
                                     100, world->arena, &world->err),
                     MCP_OK);
    assert_string_equal(bytes, "new text");
    assert_false(guard_exists(world->folder.fd, "case/system/hydros.json.tmp"));
    assert_int_equal(guard_write_file(world->folder.fd, "empty", "", 0, &world->err), MCP_OK);
    assert_true(guard_exists(world->folder.fd, "empty"));
    assert_int_equal(guard_write_file(world->folder.fd, "none/file", "x", 1, &world->err),
                     MCP_E_NOT_FOUND);
    assert_int_equal(guard_write_file(world->folder.fd, "case/system", "x", 1, &world->err),
                     MCP_E_IO);
    assert_false(guard_exists(world->folder.fd, "case/system.tmp"));
}

/* A link laid where the temporary file goes, or the target, must not be written through. */
static void links_are_replaced_not_written_through(void **state)
{
    struct world *world = *state;
    const char *bytes = NULL;
    size_t length = 0;

    assert_int_equal(symlinkat("../sibling", world->folder.fd, "case/new.tmp"), 0);
    assert_int_equal(guard_write_file(world->folder.fd, "case/new", "mine", 4, &world->err),
                     MCP_OK);
    assert_int_equal(guard_write_file(world->folder.fd, "case/out", "mine", 4, &world->err),
                     MCP_OK);
    assert_int_equal(guard_read_file(&bytes, &length, world->folder.fd, "sibling", 100,
                                     world->arena, &world->err),
                     MCP_OK);
    assert_string_equal(bytes, "outside");
    assert_true(guard_exists(world->folder.fd, "case/out"));
    assert_int_equal(guard_write_file(world->folder.fd, "case/link/x", "mine", 4, &world->err),
                     MCP_E_DENIED);
}

static void names_of_one_component_are_checked(void **state)
{
    static const char *const bad[] = { "", ".", "..", "a/b", "/a" };
    struct world *world = *state;
    int fd = -1;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(guard_create(&fd, world->folder.fd, bad[i], &world->err), MCP_E_PARAMS);
        assert_int_equal(guard_replace(world->folder.fd, "sibling", bad[i], &world->err),
                         MCP_E_PARAMS);
        assert_int_equal(guard_replace(world->folder.fd, bad[i], "sibling", &world->err),
                         MCP_E_PARAMS);
    }
    assert_int_equal(guard_replace(world->folder.fd, "none", "sibling", &world->err),
                     MCP_E_NOT_FOUND);
    assert_int_equal(guard_create(&fd, world->folder.fd, "case", &world->err), MCP_E_IO);
}

static void trees_are_removed_and_links_not_followed(void **state)
{
    struct world *world = *state;

    assert_int_equal(guard_remove_tree(world->folder.fd, "case", &world->err), MCP_OK);
    assert_false(guard_exists(world->folder.fd, "case"));
    assert_true(guard_exists(world->folder.fd, "sibling"));
    assert_int_equal(guard_remove_tree(world->folder.fd, "case", &world->err), MCP_OK);
    assert_int_equal(guard_remove_tree(world->folder.fd, "case/x/y", &world->err), MCP_OK);
    assert_int_equal(guard_remove_tree(world->folder.fd, "sibling", &world->err), MCP_OK);
    assert_false(guard_exists(world->folder.fd, "sibling"));
    assert_int_equal(guard_remove_tree(world->folder.fd, ".", &world->err), MCP_E_PARAMS);
    assert_int_equal(guard_remove_tree(world->folder.fd, "..", &world->err), MCP_E_DENIED);
}

struct remover {
    int dir_fd;
    mcp_status status;
};

static void *remove_world(void *data)
{
    struct remover *self = data;

    self->status = guard_remove_tree(self->dir_fd, "both", NULL);
    return NULL;
}

static void two_may_remove_one_tree(void **state)
{
    struct world *world = *state;
    struct remover removers[2];
    pthread_t threads[2];
    char path[64];

    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 20; i++) {
            (void)snprintf(path, sizeof path, "both/%d/a/b", i);
            assert_int_equal(guard_make_dir(NULL, world->folder.fd, path, &world->err), MCP_OK);
        }
        for (int i = 0; i < 2; i++) {
            removers[i] = (struct remover){ .dir_fd = world->folder.fd };
            assert_int_equal(pthread_create(&threads[i], NULL, remove_world, &removers[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(removers[0].status, MCP_OK);
        assert_int_equal(removers[1].status, MCP_OK);
        assert_false(guard_exists(world->folder.fd, "both"));
    }
}

static void the_depth_of_a_tree_is_bounded(void **state)
{
    struct world *world = *state;
    char deep[300] = "d";

    for (size_t i = 1; i < 70; i++)
        memcpy(deep + 2 * i - 1, "/d", 3);
    assert_int_equal(guard_make_dir(NULL, world->folder.fd, deep, &world->err), MCP_OK);
    assert_int_equal(guard_remove_tree(world->folder.fd, "d", &world->err), MCP_E_LIMIT);
    assert_int_equal(guard_remove_tree(world->folder.fd, "d/d/d/d/d/d/d/d/d/d", &world->err),
                     MCP_OK);
    assert_int_equal(guard_remove_tree(world->folder.fd, "d", &world->err), MCP_OK);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(only_regular_files_open),
        EACH(existence_is_seen_without_links),
        EACH(a_folder_is_known_by_a_path_without_links),
        EACH(whole_files_are_read_within_a_bound),
        EACH(folders_are_made_without_following_links),
        EACH(the_disk_has_the_name_of_each_durable_folder),
        EACH(files_are_replaced_whole),
        EACH(links_are_replaced_not_written_through),
        EACH(names_of_one_component_are_checked),
        EACH(trees_are_removed_and_links_not_followed),
        EACH(two_may_remove_one_tree),
        EACH(the_depth_of_a_tree_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
