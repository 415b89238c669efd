/*
 * test_save.c - the policy directory: what is written is read, and a complete policy is there at
 * every moment.
 *
 * The linker puts __wrap_renameat2 into the place of renameat2 (tests/CMakeLists.txt), so that a
 * test can play a file system without RENAME_EXCHANGE, or a process that dies there; and the same
 * for fsync and syncfs, to count them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/read.h"
#include "policy/save.h"
#include "policy_sample.h"
#include "scratch.h"

int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

static int exchange_failure; /* errno of the exchange; 0: it works */

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (exchange_failure == 0 || faccessat(to_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return __real_renameat2(from_fd, from, to_fd, to, flags);
    errno = exchange_failure;
    return -1;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_syncfs(int fd);
int __wrap_syncfs(int fd);

static int flushes, flushes_of_all;
static int flush_failure; /* errno of a flush of all; 0: it works */

int __wrap_fsync(int fd)
{
    flushes++;
    return __real_fsync(fd);
}

int __wrap_syncfs(int fd)
{
    flushes_of_all++;
    errno = flush_failure;
    return flush_failure == 0 ? __real_syncfs(fd) : -1;
}

struct world {
    scratch folder;
    mcp_arena *arena;
    mcp_error err;
    sample one, two; /* after one and two iterations */
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    assert_non_null(world);
    scratch_open(&world->folder);
    world->arena = mcp_arena_new(0);
    sample_init(&world->one, 1);
    sample_init(&world->two, 2);
    exchange_failure = flush_failure = flushes = flushes_of_all = 0;
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    free(world);
    return 0;
}

static mcp_status save(struct world *world, const sample *what, const char *path)
{
    return policy_save(world->folder.fd, path, &what->policy, NULL, &world->err);
}

static mcp_status read_back(struct world *world, const policy **out, const char *path)
{
    int fd = -1;
    mcp_status st = policy_open(&fd, world->folder.fd, path, &world->err);

    if (st != MCP_OK)
        return st;
    st = policy_read(out, fd, POLICY_ALL, world->arena, &world->err);
    close(fd);
    return st;
}

static void expect_saved(struct world *world, const sample *what, const char *path)
{
    const policy *read = NULL;

    assert_int_equal(read_back(world, &read, path), MCP_OK);
    expect_same_policy(&what->policy, read, true);
}

static bool is_there(const struct world *world, const char *name)
{
    return faccessat(world->folder.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void rename_to(const struct world *world, const char *from, const char *to)
{
    assert_int_equal(renameat(world->folder.fd, from, world->folder.fd, to), 0);
}

static void what_was_saved_is_read(void **state)
{
    struct world *world = *state;
    size_t open_before = scratch_open_descriptors();

    assert_int_equal(save(world, &world->two, "./policy"), MCP_OK);
    assert_true(is_there(world, "policy/basis/stage_002.bin"));
    assert_false(is_there(world, "policy/states"));
    expect_saved(world, &world->two, "policy");
    assert_int_equal(scratch_open_descriptors(), open_before);
}

static void a_save_replaces_the_one_before(void **state)
{
    struct world *world = *state;

    assert_int_equal(save(world, &world->one, "runs/a/policy/"), MCP_OK);
    assert_int_equal(save(world, &world->two, "runs/a/policy"), MCP_OK);
    expect_saved(world, &world->two, "runs/a/policy");
    assert_false(is_there(world, "runs/a/policy.tmp"));
    assert_false(is_there(world, "runs/a/policy.old"));
}

/* exports.states: files of their own, and resume.bin without them. */
static void states_may_have_files_of_their_own(void **state)
{
    struct world *world = *state;
    policy_save_options options = { .states = true };

    assert_int_equal(
        policy_save(world->folder.fd, "policy", &world->two.policy, &options, &world->err), MCP_OK);
    assert_true(is_there(world, "policy/states/stage_001.bin"));
    assert_false(is_there(world, "policy/states/stage_000.bin"));
    expect_saved(world, &world->two, "policy");
}

/* store_basis false. */
static void without_bases_a_policy_has_cuts_alone(void **state)
{
    struct world *world = *state;
    const policy *read = NULL;

    world->two.policy.is_exact = false;
    assert_int_equal(save(world, &world->two, "policy"), MCP_OK);
    assert_false(is_there(world, "policy/resume.bin"));
    assert_false(is_there(world, "policy/basis"));
    assert_int_equal(read_back(world, &read, "policy"), MCP_OK);
    expect_same_policy(&world->two.policy, read, false);
}

static void without_exchange_the_old_one_steps_aside(void **state)
{
    struct world *world = *state;

    exchange_failure = EINVAL;
    assert_int_equal(save(world, &world->one, "policy"), MCP_OK);
    assert_int_equal(save(world, &world->two, "policy"), MCP_OK);
    expect_saved(world, &world->two, "policy");
    assert_false(is_there(world, "policy.old"));
    assert_false(is_there(world, "policy.tmp"));
}

/* Of a save without exchange that was interrupted: the new one is complete, the old one aside. */
static void an_interrupted_save_leaves_the_newest(void **state)
{
    struct world *world = *state;

    assert_int_equal(save(world, &world->one, "policy"), MCP_OK);
    rename_to(world, "policy", "policy.old");
    expect_saved(world, &world->one, "policy");
    assert_int_equal(save(world, &world->two, "policy"), MCP_OK);
    assert_false(is_there(world, "policy.old"));
    rename_to(world, "policy", "policy.tmp");
    assert_int_equal(save(world, &world->one, "policy.spare"), MCP_OK);
    rename_to(world, "policy.spare", "policy.old");
    expect_saved(world, &world->two, "policy");
    /* What is left keeps until the next save is complete. */
    assert_int_equal(policy_prepare(world->folder.fd, "policy", &world->err), MCP_OK);
    assert_true(is_there(world, "policy/metadata.json"));
    assert_false(is_there(world, "policy.tmp"));
    assert_false(is_there(world, "policy.old"));
    expect_saved(world, &world->two, "policy");
}

/* metadata.json comes last. */
static void a_directory_without_metadata_is_no_policy(void **state)
{
    struct world *world = *state;
    const policy *read = NULL;

    assert_int_equal(read_back(world, &read, "policy"), MCP_E_NOT_FOUND);
    assert_int_equal(save(world, &world->one, "policy"), MCP_OK);
    assert_int_equal(unlinkat(world->folder.fd, "policy/metadata.json", 0), 0);
    assert_int_equal(read_back(world, &read, "policy"), MCP_E_NOT_FOUND);
    assert_int_equal(save(world, &world->two, "policy"), MCP_OK);
    expect_saved(world, &world->two, "policy");
}

static void a_full_disk_keeps_the_last_policy(void **state)
{
    struct world *world = *state;
    struct rlimit whole, tight;
    size_t failed = 0;

    assert_int_equal(save(world, &world->one, "policy"), MCP_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
    for (rlim_t bytes = 0; bytes < 4000; bytes += 100) {
        tight = (struct rlimit){ bytes, whole.rlim_max };
        setrlimit(RLIMIT_FSIZE, &tight);
        mcp_status st = save(world, &world->two, "policy");
        setrlimit(RLIMIT_FSIZE, &whole);
        if (st == MCP_OK)
            break;
        failed++;
        assert_int_equal(st, MCP_E_IO);
        assert_non_null(strstr(world->err.message, strerrordesc_np(EFBIG)));
        expect_saved(world, &world->one, "policy");
        assert_false(is_there(world, "policy.tmp"));
    }
    assert_true(failed > 10);
}

/* Each flush waits for the disk, and a long study has hundreds of files. */
static void the_files_of_a_long_study_are_flushed_at_once(void **state)
{
    enum { STAGES = 60 };
    struct world *world = *state;
    policy_stage stages[STAGES];
    sample longer;

    assert_int_equal(save(world, &world->one, "policy"), MCP_OK);
    assert_in_range(flushes, 2 * SAMPLE_STAGES, 20);
    assert_int_equal(flushes_of_all, 0);

    sample_init(&longer, 2);
    for (size_t t = 0; t < STAGES; t++)
        stages[t] = longer.stages[1];
    longer.policy.stages = stages;
    longer.policy.stage_count = STAGES;
    longer.policy.is_exact = false;
    longer.policy.metadata.floors = NULL;
    longer.policy.metadata.periods = NULL;
    flush_failure = EIO;
    assert_int_equal(save(world, &longer, "policy"), MCP_E_IO);
    expect_saved(world, &world->one, "policy");
    assert_false(is_there(world, "policy.tmp"));
    flush_failure = flushes = flushes_of_all = 0;
    assert_int_equal(save(world, &longer, "policy"), MCP_OK);
    assert_int_equal(flushes_of_all, 1);
    assert_int_equal(flushes, 3); /* metadata.json, its folder, and that of the exchange */
    assert_true(is_there(world, "policy/cuts/stage_059.bin"));
}

static void what_is_no_policy_is_not_replaced(void **state)
{
    struct world *world = *state;

    scratch_write(&world->folder, "thesis/chapter-1.txt", "words", 5);
    assert_int_equal(save(world, &world->one, "thesis"), MCP_E_PARAMS);
    assert_non_null(strstr(world->err.message, "chapter-1.txt"));
    assert_true(is_there(world, "thesis/chapter-1.txt"));
    scratch_write(&world->folder, "policy.old/notes.txt", "words", 5);
    assert_int_equal(policy_prepare(world->folder.fd, "policy", &world->err), MCP_E_PARAMS);
    assert_true(is_there(world, "policy.old/notes.txt"));
    scratch_write(&world->folder, "file", "words", 5);
    assert_int_equal(save(world, &world->one, "file"), MCP_E_PARAMS);
    assert_true(is_there(world, "file"));
}

static void a_path_that_leads_away_is_refused(void **state)
{
    struct world *world = *state;
    static const char *const paths[] = { "../policy", "a/../../policy", ".." };

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_int_equal(save(world, &world->one, paths[i]), MCP_E_DENIED);
    assert_int_equal(symlinkat("/tmp", world->folder.fd, "link"), 0);
    assert_int_equal(save(world, &world->one, "link"), MCP_E_DENIED);
    assert_int_equal(save(world, &world->one, "link/policy"), MCP_E_DENIED);
    assert_int_equal(save(world, &world->one, "./"), MCP_E_PARAMS);
    assert_int_equal(save(world, &world->one, "/"), MCP_E_PARAMS);
}

/* Save one policy after the other for ever, and a byte into the pipe after each. */
static void keep_saving(struct world *world, const sample *what[3], int done)
{
    for (unsigned i = 1;; i++)
        if (save(world, what[i % 3], "policy") != MCP_OK || write(done, "x", 1) != 1)
            _exit(1);
}

/* The process is killed while it saves: what is there is the last policy that it saved, or the one
 * that it was about to save. */
static void a_killed_process_leaves_a_complete_policy(void **state)
{
    struct world *world = *state;
    sample three;
    const sample *what[] = { &world->one, &world->two, &three };

    sample_init(&three, 3);
    for (unsigned round = 0; round < 32; round++) {
        const policy *found = NULL;
        unsigned saved = 0;
        int done[2];
        char byte;

        exchange_failure = round % 2 ? EINVAL : 0;
        assert_int_equal(save(world, what[0], "policy"), MCP_OK);
        assert_int_equal(pipe(done), 0);
        pid_t child = fork();
        if (child == 0)
            keep_saving(world, what, done[1]);
        close(done[1]);
        while (saved < round % 4 && read(done[0], &byte, 1) == 1)
            saved++;
        usleep(round * 300);
        kill(child, SIGKILL);
        while (read(done[0], &byte, 1) == 1)
            saved++;
        waitpid(child, NULL, 0);
        close(done[0]);
        assert_true(saved >= round % 4);
        assert_int_equal(read_back(world, &found, "policy"), MCP_OK);
        size_t which = found->metadata.completed_iterations - 1;
        assert_true(which == saved % 3 || which == (saved + 1) % 3);
        expect_same_policy(&what[which]->policy, found, true);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_was_saved_is_read),
        TEST(a_save_replaces_the_one_before),
        TEST(states_may_have_files_of_their_own),
        TEST(without_bases_a_policy_has_cuts_alone),
        TEST(without_exchange_the_old_one_steps_aside),
        TEST(an_interrupted_save_leaves_the_newest),
        TEST(a_directory_without_metadata_is_no_policy),
        TEST(a_full_disk_keeps_the_last_policy),
        TEST(the_files_of_a_long_study_are_flushed_at_once),
        TEST(what_is_no_policy_is_not_replaced),
        TEST(a_path_that_leads_away_is_refused),
        TEST(a_killed_process_leaves_a_complete_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
