/*
 * test_failing.c - a disk that fails at any write of a job: once (EIO), or from there on (ENOSPC).
 * Then all outputs are there or none is, no temporary file is left, and the next job succeeds.
 *
 * The program's functions of these names take the place of the system's, for the engine too.
 */
#include "sink_rig.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#define QUARANTINE "events_quarantine_73475cb40a568e8d"
#define ROWS 40
#define POINTS_MAX 500

/* ---- the disk -------------------------------------------------------------------------------- */

static const char *failing_folder; /* NULL: nothing fails */
static atomic_int calls, fail_at, fail_with;
static atomic_bool fails_on;

/* Whether this call fails; sets errno. */
static bool fails(int fd)
{
    char link[64], path[4096];
    int before = errno;
    if (!failing_folder)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    errno = before;
    if (strncmp(path, failing_folder, strlen(failing_folder)) != 0)
        return false;
    int call = atomic_fetch_add(&calls, 1) + 1;
    int wanted = atomic_load(&fail_at);
    if (call < wanted || (call > wanted && !atomic_load(&fails_on)))
        return false;
    errno = atomic_load(&fail_with);
    return true;
}

#define REPLACES(name) __asm__(name) __attribute__((visibility("default"), used))

ssize_t disk_write(int fd, const void *bytes, size_t length) REPLACES("write");
ssize_t disk_pwrite(int fd, const void *bytes, size_t length, off_t at) REPLACES("pwrite");
ssize_t disk_pwrite64(int fd, const void *bytes, size_t length, off_t at) REPLACES("pwrite64");
int disk_fsync(int fd) REPLACES("fsync");
int disk_fdatasync(int fd) REPLACES("fdatasync");
int disk_renameat(int from_fd, const char *from, int to_fd, const char *to) REPLACES("renameat");

ssize_t disk_write(int fd, const void *bytes, size_t length)
{
    return fails(fd) ? -1 : syscall(SYS_write, fd, bytes, length);
}

ssize_t disk_pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t disk_pwrite64(int fd, const void *bytes, size_t length, off_t at)
{
    return disk_pwrite(fd, bytes, length, at);
}

int disk_fsync(int fd)
{
    return fails(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int disk_fdatasync(int fd)
{
    return fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int disk_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return fails(from_fd) ? -1 : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

/* ---- a job ----------------------------------------------------------------------------------- */

/* Rows, to a commit that is prepared. */
static mcp_status prepare(casparian_commit **out, rig *rig, casparian_sink *sink)
{
    casparian_sink_output *good = add_table(rig, sink, &rig->events, 0);
    casparian_sink_output *bad = add_table(rig, sink, &rig->events, CASPARIAN_SINK_QUARANTINE);
    casparian_sink_file *file = NULL;
    mcp_status st = casparian_sink_file_begin(&file, sink, AT, &rig->err);

    if (st == MCP_OK)
        st = append_events(rig, file, good, 0, ROWS);
    if (st == MCP_OK)
        st = append_events(rig, file, bad, 0, ROWS);
    if (st != MCP_OK) {
        casparian_sink_file_discard(file);
        casparian_sink_abort(sink);
        return st;
    }
    st = casparian_sink_file_commit(file, HASH_A, &rig->err);
    if (st != MCP_OK) {
        casparian_sink_abort(sink);
        return st;
    }
    return casparian_commit_prepare(out, sink, &plain_facts, &rig->err);
}

/* One job on the failing disk; what it leaves is settled on a good one, as the job's driver does.
 * @param is_committed whether its outputs are visible */
static mcp_status run(rig *rig, bool *is_committed, const char *uri, const char *job)
{
    casparian_commit *commit = NULL;
    casparian_sink *sink = open_sink_of(rig, uri, job, false, 0);

    *is_committed = false;
    failing_folder = atomic_load(&fail_at) > 0 ? rig->folder.path : NULL;
    mcp_status st = prepare(&commit, rig, sink);
    if (st != MCP_OK) {
        failing_folder = NULL;
        return st;
    }
    const char *intent = mcp_arena_strdup(rig->arena, casparian_commit_intent(commit));
    st = casparian_commit_apply(commit, &rig->err);
    failing_folder = NULL;
    casparian_commit_free(commit);
    *is_committed = st == MCP_OK;
    if (st != MCP_OK) {
        mcp_error cause = MCP_ERROR_INIT;
        if (casparian_commit_settle(is_committed, intent, strlen(intent), &cause) != MCP_OK)
            fail_msg("settling: %s", cause.message);
    }
    return st;
}

static size_t temporaries(const rig *rig, const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(scratch_path(&rig->folder, folder));

    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        count += strstr(entry->d_name, ".tmp") || strstr(entry->d_name, "stage");
    if (dir)
        closedir(dir);
    return count;
}

/* Rows of job 42 in a table of x.db; 0 also where there is none. */
static int64_t rows_in(rig *rig, const char *base)
{
    char hash[CASPARIAN_HASH_SIZE];
    struct engine duckdb = { .api = NULL };
    duckdb_result result;
    int64_t rows = 0;

    if (!has_file(rig, "x.db"))
        return 0;
    MUST(rig, casparian_definition_protocol_hash(hash, &rig->events, &rig->err));
    MUST(rig, engine_open_file(&duckdb, scratch_path(&rig->folder, "x.db"), false, &rig->err));
    const char *sql = mcp_arena_printf(
        rig->arena, "SELECT count(*) FROM \"%s__schema_%.8s\" WHERE _cf_job_id = '42'", base, hash);
    if (engine_query(&duckdb, &result, sql, MCP_E_NOT_FOUND, &rig->err) == MCP_OK) {
        duckdb_data_chunk chunk = duckdb.api->fetch_chunk(result);
        rows = *(int64_t *)duckdb.api->vector_get_data(duckdb.api->data_chunk_get_vector(chunk, 0));
        duckdb.api->destroy_data_chunk(&chunk);
        duckdb.api->destroy_result(&result);
    }
    engine_close(&duckdb);
    return rows;
}

/* All outputs of job 42 are there, or none is. */
static void check_outputs(rig *rig, bool is_committed, const char *ending)
{
    static const char *const names[] = { EVENTS, QUARANTINE };
    static const char *const tables[] = { "events", "events_quarantine" };

    for (size_t i = 0; i < 2; i++) {
        if (ending)
            assert_int_equal(has_file(rig, mcp_arena_printf(rig->arena, "%s%s", names[i], ending)),
                             is_committed);
        else
            assert_int_equal(rows_in(rig, tables[i]), is_committed ? ROWS : 0);
    }
    assert_int_equal(has_file(rig, "_casparian/42.manifest.json"), is_committed);
    assert_int_equal(temporaries(rig, "."), 0);
    assert_int_equal(temporaries(rig, "_casparian"), 0);
}

/* Let every write fail, or every `step`th, one after the other, until a job has fewer. */
static void fail_everywhere(rig *rig, const char *uri, const char *ending, int error, bool stays,
                            int step)
{
    int failed = 0;

    for (int point = 1; point < POINTS_MAX; point += step) {
        bool is_committed = false;
        scratch_close(&rig->folder);
        scratch_open(&rig->folder);
        size_t before = scratch_open_descriptors();
        atomic_store(&calls, 0);
        atomic_store(&fail_with, error);
        atomic_store(&fails_on, stays);
        atomic_store(&fail_at, point);
        mcp_status st = run(rig, &is_committed, uri, "42");
        atomic_store(&fail_at, 0);
        if (st != MCP_OK && rig->err.message[0] == '\0')
            fail_msg("write %d: no reason", point);
        check_outputs(rig, is_committed, ending);
        assert_int_equal(scratch_open_descriptors(), before);
        if (atomic_load(&calls) < point) {
            assert_int_equal(st, MCP_OK);
            break;
        }
        failed += st != MCP_OK;
        if (run(rig, &is_committed, uri, "43") != MCP_OK)
            fail_msg("the job after write %d failed: %s", point, rig->err.message);
        check_outputs(rig, st == MCP_OK || has_file(rig, "_casparian/42.manifest.json"), ending);
    }
    print_message("%s: %d of the writes of a job end it\n", uri, failed);
    assert_true(failed > 2);
}

static void parquet(void **state)
{
    fail_everywhere(*state, "parquet://.", ".parquet", EIO, false, 1);
    fail_everywhere(*state, "parquet://.", ".parquet", ENOSPC, true, 1);
}

static void csv(void **state)
{
    fail_everywhere(*state, "csv://.", ".csv", EIO, false, 1);
    fail_everywhere(*state, "csv://.", ".csv", ENOSPC, true, 1);
}

static void duckdb(void **state)
{
    fail_everywhere(*state, "duckdb://x.db", NULL, EIO, false, 5);
    fail_everywhere(*state, "duckdb://x.db", NULL, ENOSPC, true, 5);
    fail_everywhere(*state, "duckdb://x.db", NULL, EIO, true, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parquet, rig_open, rig_close),
        cmocka_unit_test_setup_teardown(csv, rig_open, rig_close),
        cmocka_unit_test_setup_teardown(duckdb, rig_open, rig_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
