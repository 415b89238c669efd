/*
 * test_settle.c - commits to several folders: killed at each of their steps and settled, also while
 * a folder is away or has lost a file; and the order in which the folders are locked.
 *
 * Called with "job FOLDER SINK SINK JOB" the program is the process that is killed: job JOB writes
 * its events to the first sink and the invalid ones to the second.
 */
#include "sink_rig.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "mcp/clock.h"
#include "sinks/verify.h"

#define QUARANTINE "events_quarantine_73475cb40a568e8d"
#define ROWS 500
#define LOCKED_MS 15000 /* less than a commit waits */

/* ---- a disk that cannot be read -------------------------------------------------------------- */

static const char *unreadable; /* a name whose look-up fails; NULL: none */

int __real_fstatat(int dir_fd, const char *name, struct stat *about, int flags);
int __wrap_fstatat(int dir_fd, const char *name, struct stat *about, int flags);

int __wrap_fstatat(int dir_fd, const char *name, struct stat *about, int flags)
{
    if (!unreadable || strcmp(name, unreadable) != 0)
        return __real_fstatat(dir_fd, name, about, flags);
    errno = EIO;
    return -1;
}

/* ---- a job to two sinks ---------------------------------------------------------------------- */

static size_t add_place(rig *rig, casparian_sink **sink, const char *text, const char *job)
{
    casparian_sink_uri uri;
    size_t place = 0;

    MUST(rig, casparian_sink_uri_read(&uri, rig->arena, text, rig->folder.path, &rig->err));
    mkdir(uri.dir, 0777);
    int fd = open(uri.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const casparian_sink_options options = {
        .uri = &uri, .dir_fd = fd, .job = job, .plugin = "demo", .version = "1.2.0"
    };
    if (*sink)
        MUST(rig, casparian_sink_add_place(&place, *sink, &uri, fd, &rig->err));
    else
        MUST(rig, casparian_sink_open(sink, &options, &rig->err));
    close(fd);
    return place;
}

static casparian_commit *prepare_job(rig *rig, const char *first, const char *second,
                                     const char *job)
{
    casparian_commit *commit = NULL;
    casparian_sink *sink = NULL;
    casparian_sink_output *good = NULL, *bad = NULL;

    add_place(rig, &sink, first, job);
    size_t place = add_place(rig, &sink, second, job);
    MUST(rig, casparian_sink_add(&good, sink, 0, &rig->events, 0, &rig->err));
    MUST(rig,
         casparian_sink_add(&bad, sink, place, &rig->events, CASPARIAN_SINK_QUARANTINE, &rig->err));
    casparian_sink_file *file = begin_file(rig, sink);
    MUST(rig, append_events(rig, file, good, 0, ROWS));
    MUST(rig, append_events(rig, file, bad, 0, ROWS));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    MUST(rig, casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err));
    return commit;
}

static void write_to(rig *rig, const char *first, const char *second, const char *job)
{
    casparian_commit *commit = prepare_job(rig, first, second, job);

    MUST(rig, casparian_commit_apply(commit, &rig->err));
    casparian_commit_free(commit);
}

static void enter(rig *rig, const char *folder)
{
    scratch_close(&rig->folder);
    snprintf(rig->folder.path, sizeof rig->folder.path, "%s", folder);
    rig->folder.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* What the state's transactions store is in files here: "intent" from the first to the second. */
static int run_job(const char *const *arguments)
{
    void *state = NULL;

    rig_open(&state);
    rig *rig = state;
    enter(rig, arguments[0]);
    casparian_commit *commit = prepare_job(rig, arguments[1], arguments[2], arguments[3]);
    const char *intent = casparian_commit_intent(commit);
    scratch_write(&rig->folder, "state/intent.tmp", intent, strlen(intent));
    renameat(rig->folder.fd, "state/intent.tmp", rig->folder.fd, "state/intent");
    MUST(rig, casparian_commit_apply(commit, &rig->err));
    unlinkat(rig->folder.fd, "state/intent", 0);
    casparian_commit_free(commit);
    close(rig->folder.fd);
    mcp_arena_free(rig->arena);
    return 0;
}

static pid_t start(const rig *rig, const char *fault, const char *first, const char *second,
                   const char *job)
{
    char program[512];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    assert_true(length > 0);
    program[length] = '\0';
    pid_t child = fork();
    if (child == 0) {
        if (fault)
            setenv("CAUSEWAY_FAULT", fault, 1);
        execl(program, program, "job", rig->folder.path, first, second, job, (char *)NULL);
        _exit(127);
    }
    return child;
}

/* Run it to its death at the given step. @return whether it was killed; else it has succeeded */
static bool kill_at(const rig *rig, const char *first, const char *second, int step)
{
    char fault[32];
    int status = 0;

    snprintf(fault, sizeof fault, "commit:%d", step);
    pid_t child = start(rig, fault, first, second, "42");
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* ---- what is there --------------------------------------------------------------------------- */

static void empty_folder(rig *rig)
{
    scratch_close(&rig->folder);
    scratch_open(&rig->folder);
    scratch_write(&rig->folder, "state/x", "", 0);
}

/* How many names of a folder, without those of locks, and of its `_casparian`. */
static size_t count_names(const rig *rig, const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(scratch_path(&rig->folder, folder));

    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        const char *name = entry->d_name;
        count += strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strstr(name, ".lock") &&
                 strcmp(name, CASPARIAN_MANIFEST_DIR) != 0;
    }
    if (dir)
        closedir(dir);
    return count;
}

static size_t count_all(const rig *rig, const char *folder)
{
    char manifests[80];

    snprintf(manifests, sizeof manifests, "%s/%s", folder, CASPARIAN_MANIFEST_DIR);
    return count_names(rig, folder) + count_names(rig, manifests);
}

static bool verifies(rig *rig, const char *folder)
{
    casparian_verified found = { .manifests = 0 };
    int fd = open(scratch_path(&rig->folder, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    MUST(rig, casparian_verify(&found, fd, NULL, NULL, NULL, &rig->err));
    close(fd);
    return found.manifests == 1 && found.outputs == 1 && found.failures == 0;
}

/* All is there in both folders, or nothing is: an output and its manifest each. */
static void expect(rig *rig, bool is_committed, bool has_database)
{
    static const char *const folders[] = { "a", "b" };

    for (size_t i = 0; i < 2; i++) {
        if (is_committed) {
            assert_int_equal(count_all(rig, folders[i]), 2);
            assert_true(verifies(rig, folders[i]));
        } else if (!has_database || i == 0) {
            assert_int_equal(count_all(rig, folders[i]), 0);
        }
    }
}

static mcp_status settle(bool *is_committed, rig *rig)
{
    const char *intent = text_of(rig, "state/intent");

    return casparian_commit_settle(is_committed, intent, strlen(intent), &rig->err);
}

static bool settle_twice(rig *rig)
{
    bool is_committed = false, again = false;

    MUST(rig, settle(&is_committed, rig));
    MUST(rig, settle(&again, rig));
    assert_int_equal(again, is_committed);
    return is_committed;
}

/* ---- killed ---------------------------------------------------------------------------------- */

/* How often the commits of all steps were what. */
typedef struct outcomes {
    int unknown, undone, committed; /* the first: killed before there was an intent */
} outcomes;

static outcomes kill_at_each_step(rig *rig, const char *first, const char *second)
{
    bool has_database = strstr(second, "duckdb://") != NULL;
    outcomes all = { 0 };
    bool is_killed = true;

    for (int step = 1; is_killed; step++) {
        empty_folder(rig);
        is_killed = kill_at(rig, first, second, step);
        bool has_intent = has_file(rig, "state/intent");
        bool is_committed = has_intent ? settle_twice(rig) : !is_killed;
        if (has_intent || !is_killed)
            expect(rig, is_committed, has_database);
        all.committed += is_committed;
        all.unknown += !has_intent && is_killed;
        all.undone += has_intent && !is_committed;
    }
    return all;
}

static void a_killed_commit_to_two_folders_is_all_or_none(void **state)
{
    outcomes all = kill_at_each_step(*state, "a", "csv://b");

    /* Before the intent after each of two outputs and of two manifests; then once; then after each
     * of two renames, and the disk has them, in both folders; and not at all. */
    assert_int_equal(all.unknown, 4);
    assert_int_equal(all.undone, 1);
    assert_int_equal(all.committed, 7);
}

static void a_killed_commit_to_a_folder_and_a_database_is_all_or_none(void **state)
{
    outcomes all = kill_at_each_step(*state, "csv://a", "duckdb://b/x.db");

    /* As above; then the transaction, a rename and the disk at home, two and the disk of the other
     * folder, the marker; and not at all. */
    assert_int_equal(all.unknown, 4);
    assert_int_equal(all.undone, 1);
    assert_int_equal(all.committed, 8);
}

/* ---- a folder that is away ------------------------------------------------------------------- */

/* While the folder has another name, and then an empty one has its own. */
static void settle_without(rig *rig, const char *folder)
{
    const char *path = mcp_arena_strdup(rig->arena, scratch_path(&rig->folder, folder));
    const char *away = mcp_arena_printf(rig->arena, "%s.away", path);
    const char *other = strcmp(folder, "a") == 0 ? "b" : "a";
    size_t before = count_all(rig, other);
    bool is_committed = true;

    assert_int_equal(rename(path, away), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(settle(&is_committed, rig), MCP_E_NOT_FOUND);
        assert_false(is_committed);
        assert_non_null(strstr(rig->err.message, path));
        assert_int_equal(count_all(rig, other), before);
        if (i == 0)
            assert_int_equal(mkdir(path, 0777), 0); /* where a disk is mounted */
    }
    assert_int_equal(count_all(rig, folder), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename(away, path), 0);
}

static void a_commit_waits_for_a_folder_that_is_away(void **state)
{
    static const char *const sinks[] = { "csv://b", "duckdb://b/x.db" };
    rig *rig = *state;
    int settled = 0;

    for (size_t i = 0; i < 2; i++) {
        bool is_killed = true;
        for (int step = 1; is_killed; step++) {
            empty_folder(rig);
            is_killed = kill_at(rig, "a", sinks[i], step);
            if (!has_file(rig, "state/intent"))
                continue;
            if (i == 1 && step == 8)
                break; /* not decided, the transaction, a name at home: the rest is as of files */
            settle_without(rig, "a");
            settle_without(rig, "b");
            expect(rig, settle_twice(rig), i == 1);
            settled++;
        }
    }
    assert_int_equal(settled, 10);
}

/* ---- a file that is lost --------------------------------------------------------------------- */

/* Kill after the first rename of the home, and remove the file of the other folder. */
static void lose_a_file(rig *rig, const char *first, const char *second, const char *file, int step)
{
    empty_folder(rig);
    assert_true(kill_at(rig, first, second, step));
    assert_true(has_file(rig, "state/intent"));
    assert_int_equal(unlinkat(rig->folder.fd, file, 0), 0);
}

static void files_without_one_of_them_are_no_job(void **state)
{
    rig *rig = *state;

    lose_a_file(rig, "a", "csv://b", "b/." QUARANTINE ".csv.tmp", 6);
    assert_true(has_file(rig, "a/" EVENTS ".parquet"));
    assert_false(settle_twice(rig));
    expect(rig, false, false);
}

/* A file that cannot be looked for may be there: nothing is removed for it, and nothing decided. */
static void what_cannot_be_read_is_not_undone(void **state)
{
    static const char *const names[] = { EVENTS ".parquet", "." QUARANTINE ".csv.tmp" };
    rig *rig = *state;

    empty_folder(rig);
    assert_true(kill_at(rig, "a", "csv://b", 6)); /* after the first rename of the home */
    for (size_t i = 0; i < 2; i++) {
        bool is_committed = true;
        unreadable = names[i];
        assert_int_equal(settle(&is_committed, rig), MCP_E_IO);
        unreadable = NULL;
        assert_false(is_committed);
        assert_non_null(strstr(rig->err.message, names[i]));
    }
    assert_true(settle_twice(rig));
    expect(rig, true, false);
}

/* Another home's job of the same number has written to the folders, before the first recovers. */
static void files_of_others_are_kept(void **state)
{
    static const char *const theirs[] = { "a/" EVENTS ".parquet", "b/" QUARANTINE ".csv" };
    rig *rig = *state;
    bool is_committed = true;

    empty_folder(rig);
    assert_true(kill_at(rig, "a", "csv://b", 5)); /* before the first rename */
    for (size_t i = 0; i < 2; i++)
        scratch_write(&rig->folder, theirs[i], "theirs", 6);
    MUST(rig, settle(&is_committed, rig));
    assert_false(is_committed);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(text_of(rig, theirs[i]), "theirs");
    assert_int_equal(count_all(rig, "a") + count_all(rig, "b"), 2);
}

/* Rows that are in a database stay, so the job has to count. */
static void rows_of_a_database_are_not_undone(void **state)
{
    rig *rig = *state;

    lose_a_file(rig, "csv://a", "duckdb://b/x.db", "a/." EVENTS ".csv.tmp", 6);
    assert_true(settle_twice(rig));
    assert_true(verifies(rig, "b"));
    assert_true(has_file(rig, "a/_casparian/42.manifest.json"));
    assert_false(verifies(rig, "a"));
}

/* ---- the order of locks ---------------------------------------------------------------------- */

static int open_lock(const rig *rig, const char *folder)
{
    char name[80];

    snprintf(name, sizeof name, "%s/_casparian/.lock", folder);
    return openat(rig->folder.fd, name, O_RDWR | O_CLOEXEC);
}

/* Whether another process takes the lock of a folder, before a commit would give up. */
static bool becomes_locked(const rig *rig, const char *folder)
{
    int64_t until = mcp_clock_mono_ms() + LOCKED_MS;
    bool is_locked = false;

    while (!is_locked && mcp_clock_mono_ms() < until) {
        int fd = open_lock(rig, folder);
        is_locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
        close(fd);
        usleep(1000);
    }
    return is_locked;
}

static ino_t inode_of(const rig *rig, const char *folder)
{
    struct stat about;

    assert_int_equal(stat(scratch_path(&rig->folder, folder), &about), 0);
    return about.st_ino;
}

/* Whatever order a job has them in, it waits for the second folder with the lock of the first. */
static void locks_are_taken_in_one_order(void **state)
{
    rig *rig = *state;
    int status = 0;

    empty_folder(rig);
    write_to(rig, "a", "b", "1");
    bool is_a_first = inode_of(rig, "a") < inode_of(rig, "b");
    for (int i = 0; i < 2; i++) {
        int held = open_lock(rig, is_a_first ? "b" : "a");
        assert_int_equal(flock(held, LOCK_EX), 0);
        pid_t child = start(rig, NULL, i == 0 ? "a" : "b", i == 0 ? "b" : "a", i == 0 ? "2" : "3");
        assert_true(becomes_locked(rig, is_a_first ? "a" : "b"));
        close(held);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        CASE(a_killed_commit_to_two_folders_is_all_or_none),
        CASE(a_killed_commit_to_a_folder_and_a_database_is_all_or_none),
        CASE(a_commit_waits_for_a_folder_that_is_away),
        CASE(files_without_one_of_them_are_no_job),
        CASE(what_cannot_be_read_is_not_undone),
        CASE(files_of_others_are_kept),
        CASE(rows_of_a_database_are_not_undone),
        CASE(locks_are_taken_in_one_order),
    };

    if (argc == 6)
        return run_job((const char *const *)argv + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
