/*
 * test_paths.c - which folders a user may name.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/paths.h"
#include "scratch.h"

struct world {
    scratch folder; /* roots "one" and "two", and "secret" next to them */
    guard *all;
    mcp_arena *arena;
    mcp_error err;
    size_t descriptors;
};

static int set_up(void **state)
{
    static struct world world;
    const char *roots[2];

    world.descriptors = scratch_open_descriptors();
    scratch_open(&world.folder);
    scratch_write(&world.folder, "one/case/config.json", "{}", 2);
    scratch_write(&world.folder, "two/case/config.json", "{}", 2);
    scratch_write(&world.folder, "one-more/config.json", "{}", 2);
    scratch_write(&world.folder, "secret/config.json", "{}", 2);
    assert_int_equal(symlinkat("../two/case", world.folder.fd, "one/across"), 0);
    assert_int_equal(symlinkat("../secret", world.folder.fd, "one/out"), 0);
    assert_int_equal(symlinkat("../no-such", world.folder.fd, "one/out-and-absent"), 0);
    roots[0] = scratch_path(&world.folder, "one");
    roots[1] = scratch_path(&world.folder, "two/");
    world.arena = mcp_arena_new(0);
    assert_int_equal(guard_new(&world.all, roots, 2, &world.err), MCP_OK);
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

static mcp_status open_path(struct world *world, const char *path, const char **canonical)
{
    int fd = -1;
    mcp_status st = guard_open_dir(&fd, canonical, world->all, path, world->arena, &world->err);

    if (st == MCP_OK)
        close(fd);
    else
        assert_int_equal(fd, -1);
    return st;
}

static void folders_inside_open(void **state)
{
    struct world *world = *state;
    const char *canonical = NULL;

    assert_int_equal(open_path(world, scratch_path(&world->folder, "one"), &canonical), MCP_OK);
    assert_string_equal(canonical, scratch_path(&world->folder, "one"));
    assert_int_equal(
        open_path(world, scratch_path(&world->folder, "secret/../one/./case/"), &canonical),
        MCP_OK);
    assert_string_equal(canonical, scratch_path(&world->folder, "one/case"));
    assert_int_equal(open_path(world, scratch_path(&world->folder, "one/across"), &canonical),
                     MCP_OK);
    assert_string_equal(canonical, scratch_path(&world->folder, "two/case"));
    assert_int_equal(open_path(world, scratch_path(&world->folder, "two/case"), NULL), MCP_OK);
}

static void relative_paths_start_at_the_current_directory(void **state)
{
    struct world *world = *state;
    const char *canonical = NULL;
    char before[PATH_MAX];

    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch_path(&world->folder, "one")), 0);
    assert_int_equal(open_path(world, "case", &canonical), MCP_OK);
    assert_string_equal(canonical, scratch_path(&world->folder, "one/case"));
    assert_int_equal(open_path(world, "../secret", NULL), MCP_E_DENIED);
    assert_int_equal(chdir(before), 0);
}

static void what_is_outside_gives_one_answer(void **state)
{
    static const char *const outside[] = { "secret",
                                           "no-such",
                                           "one-more",
                                           "one/out",
                                           "one/out/config.json",
                                           "one/out/none",
                                           "one/out-and-absent",
                                           "one/../secret",
                                           "one/../..",
                                           "secret/config.json",
                                           "one/../no-such/case" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        char expected[sizeof world->err.message + PATH_MAX];
        const char *path = scratch_path(&world->folder, outside[i]);
        assert_int_equal(open_path(world, path, NULL), MCP_E_DENIED);
        snprintf(expected, sizeof expected, "Path '%s' is not within the allowed directories",
                 path);
        assert_string_equal(world->err.message, expected);
    }
}

static void links_of_procfs_are_no_way_in_or_out(void **state)
{
    static const char *const ways[][2] = {
        { "/proc/self/root", "/one/case" },
        { "/proc/self/root", "/secret" },
        { "/proc/thread-self/root", "/one" },
        { "/proc/1/root", "/one" },
    };
    struct world *world = *state;
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snprintf(path, sizeof path, "%s%s%s", ways[i][0], world->folder.path, ways[i][1]);
        assert_int_equal(open_path(world, path, NULL), MCP_E_DENIED);
    }
    assert_int_equal(open_path(world, "/proc/self/cwd", NULL), MCP_E_DENIED);
    snprintf(path, sizeof path, "/proc/self/fd/%d/one", world->folder.fd);
    assert_int_equal(open_path(world, path, NULL), MCP_E_DENIED);
}

static void what_is_inside_but_no_folder_is_not_found(void **state)
{
    struct world *world = *state;
    char name[301];

    assert_int_equal(open_path(world, scratch_path(&world->folder, "one/none"), NULL),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(world->err.message, "does not exist"));
    assert_int_equal(open_path(world, scratch_path(&world->folder, "one/case/config.json"), NULL),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(world->err.message, "is not a directory"));
    memset(name, 'x', 300);
    name[300] = '\0';
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/one/%s", world->folder.path, name);
    assert_int_equal(open_path(world, path, NULL), MCP_E_NOT_FOUND);
    assert_non_null(strstr(world->err.message, "...' does not exist"));
}

static void empty_and_endless_paths_are_bad_arguments(void **state)
{
    struct world *world = *state;
    char path[PATH_MAX + 100];

    assert_int_equal(open_path(world, "", NULL), MCP_E_PARAMS);
    memset(path, '/', sizeof path);
    path[PATH_MAX] = '\0';
    assert_int_equal(open_path(world, path, NULL), MCP_E_PARAMS);
    path[PATH_MAX - 1] = '\0';
    assert_int_equal(open_path(world, path, NULL), MCP_E_DENIED);
}

static void an_arena_that_is_full_is_a_status(void **state)
{
    struct world *world = *state;
    mcp_arena *small = mcp_arena_new(1);
    const char *canonical = NULL;
    int fd = -1;

    assert_int_equal(guard_open_dir(&fd, &canonical, world->all,
                                    scratch_path(&world->folder, "one"), small, &world->err),
                     MCP_E_NOMEM);
    assert_int_equal(fd, -1);
    assert_null(canonical);
    mcp_arena_free(small);
}

static void folders_are_made_inside_only(void **state)
{
    struct world *world = *state;
    const char *canonical = NULL;
    struct stat st;
    int fd = -1;

    assert_int_equal(guard_open_or_make_dir(&fd, &canonical, world->all,
                                            scratch_path(&world->folder, "one/new/deep"),
                                            world->arena, &world->err),
                     MCP_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    close(fd);
    assert_string_equal(canonical, scratch_path(&world->folder, "one/new/deep"));
    assert_int_equal(guard_open_or_make_dir(&fd, NULL, world->all,
                                            scratch_path(&world->folder, "one/out/new"),
                                            world->arena, &world->err),
                     MCP_E_DENIED);
    assert_int_equal(fstatat(world->folder.fd, "secret/new", &st, 0), -1);
    assert_int_equal(guard_open_or_make_dir(&fd, NULL, world->all,
                                            scratch_path(&world->folder, "one/case/config.json/x"),
                                            world->arena, &world->err),
                     MCP_E_NOT_FOUND);
}

static void roots_must_exist(void **state)
{
    struct world *world = *state;
    const char *roots[2] = { world->folder.path, scratch_path(&world->folder, "none") };
    guard *all = NULL;

    assert_int_equal(guard_new(&all, roots, 0, &world->err), MCP_E_PARAMS);
    assert_int_equal(guard_new(&all, roots, 2, &world->err), MCP_E_NOT_FOUND);
    assert_non_null(strstr(world->err.message, "none"));
    roots[1] = scratch_path(&world->folder, "one/case/config.json");
    assert_int_equal(guard_new(&all, roots, 2, &world->err), MCP_E_NOT_FOUND);
    roots[1] = "";
    assert_int_equal(guard_new(&all, roots, 2, &world->err), MCP_E_NOT_FOUND);
    assert_null(all);
}

static void the_root_folder_allows_everything(void **state)
{
    struct world *world = *state;
    const char *roots[1] = { "/" };
    guard *all = NULL;
    int fd = -1;

    assert_int_equal(guard_new(&all, roots, 1, &world->err), MCP_OK);
    assert_int_equal(guard_open_dir(&fd, NULL, all, "/", world->arena, &world->err), MCP_OK);
    close(fd);
    assert_int_equal(guard_open_dir(&fd, NULL, all, world->folder.path, world->arena, &world->err),
                     MCP_OK);
    close(fd);
    guard_free(all);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(folders_inside_open),
        EACH(relative_paths_start_at_the_current_directory),
        EACH(what_is_outside_gives_one_answer),
        EACH(links_of_procfs_are_no_way_in_or_out),
        EACH(what_is_inside_but_no_folder_is_not_found),
        EACH(empty_and_endless_paths_are_bad_arguments),
        EACH(an_arena_that_is_full_is_a_status),
        EACH(folders_are_made_inside_only),
        EACH(roots_must_exist),
        EACH(the_root_folder_allows_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
