/*
 * test_commit.c - all outputs of a job, or none: commits described, aborted, refused, killed at
 * each of their steps and settled; and what is written about them.
 *
 * Called with "job FOLDER SINK" the program is the process that is killed.
 */
#include "sink_rig.h"
#include "sinks/sink_int.h"

#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <utime.h>

#include "mcp/clock.h"

#define QUARANTINE "events_quarantine_73475cb40a568e8d"
#define ROWS 500

/* ---- the process that is killed -------------------------------------------------------------- */

static casparian_commit *prepare_job(rig *rig, const char *uri, const char *job)
{
    casparian_commit *commit = NULL;
    casparian_sink *sink = open_sink_of(rig, uri, job, false, 0);
    casparian_sink_output *good = add_table(rig, sink, &rig->events, 0);
    casparian_sink_output *bad = add_table(rig, sink, &rig->events, CASPARIAN_SINK_QUARANTINE);
    casparian_sink_file *file = begin_file(rig, sink);

    MUST(rig, append_events(rig, file, good, 0, ROWS));
    MUST(rig, append_events(rig, file, bad, 0, ROWS));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    MUST(rig, casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err));
    return commit;
}

/* What the state's transactions store is in files here: "intent" from the first to the second. */
static int run_job(const char *folder, const char *uri)
{
    rig *rig = NULL;
    void *state = NULL;

    rig_open(&state);
    rig = state;
    scratch_close(&rig->folder);
    snprintf(rig->folder.path, sizeof rig->folder.path, "%s", folder);
    rig->folder.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    casparian_commit *commit = prepare_job(rig, uri, "42");
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

/* Run it to its death at the given step. @return whether it was killed; else it has succeeded */
static bool kill_at(const rig *rig, const char *uri, int step)
{
    char fault[32], program[512];
    int status = 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    assert_true(length > 0);
    program[length] = '\0';
    snprintf(fault, sizeof fault, "commit:%d", step);
    pid_t child = fork();
    if (child == 0) {
        setenv("CAUSEWAY_FAULT", fault, 1);
        execl(program, program, "job", rig->folder.path, uri, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* Files whose names say that they are temporary, hidden ones of locks apart. */
static size_t temporaries(const rig *rig, const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(scratch_path(&rig->folder, folder));

    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        count += strstr(entry->d_name, ".tmp") != NULL;
    if (dir)
        closedir(dir);
    return count;
}

static bool settle(rig *rig)
{
    const char *intent = text_of(rig, "state/intent");
    bool is_committed = false, again = false;

    MUST(rig, casparian_commit_settle(&is_committed, intent, strlen(intent), &rig->err));
    assert_int_equal(temporaries(rig, "."), 0);
    assert_int_equal(temporaries(rig, "_casparian"), 0);
    MUST(rig, casparian_commit_settle(&again, intent, strlen(intent), &rig->err));
    assert_int_equal(again, is_committed);
    return is_committed;
}

static void empty_folder(rig *rig)
{
    scratch_close(&rig->folder);
    scratch_open(&rig->folder);
    scratch_write(&rig->folder, "state/x", "", 0);
}

static void a_killed_commit_of_files_is_all_or_none(void **state)
{
    static const char *const files[] = { EVENTS ".parquet", QUARANTINE ".parquet",
                                         "_casparian/42.manifest.json" };
    rig *rig = *state;
    int committed = 0, undone = 0, unknown = 0, step = 0;
    bool is_killed = true;

    while (is_killed) {
        empty_folder(rig);
        is_killed = kill_at(rig, ".", ++step);
        bool has_intent = has_file(rig, "state/intent");
        bool is_committed = has_intent ? settle(rig) : !is_killed;
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(has_file(rig, files[i]), is_committed);
        if (is_committed) {
            assert_int_equal(count_where(rig, EVENTS ".parquet", "true"), ROWS);
            assert_int_equal(count_where(rig, QUARANTINE ".parquet", "true"), ROWS);
        }
        committed += is_committed;
        unknown += !has_intent && is_killed;
        undone += has_intent && !is_committed;
    }
    /* Two outputs and the manifest: killed before the intent three times, once after it; after each
     * rename and after the disk has them; and then not at all. */
    assert_int_equal(unknown, 3);
    assert_int_equal(undone, 1);
    assert_int_equal(committed, 5);
    assert_int_equal(step, 9);
}

/* An intent without any rename: the process died, or the machine, just after it was stored. */
static void an_intent_that_was_not_begun_is_undone(void **state)
{
    rig *rig = *state;
    bool is_committed = true;
    casparian_commit *commit = prepare_job(rig, ".", "42");
    char *intent = mcp_arena_strdup(rig->arena, casparian_commit_intent(commit));

    casparian_commit_free(commit);
    assert_int_equal(temporaries(rig, "."), 2);
    MUST(rig, casparian_commit_settle(&is_committed, intent, strlen(intent), &rig->err));
    assert_false(is_committed);
    assert_int_equal(temporaries(rig, "."), 0);
    assert_int_equal(temporaries(rig, "_casparian"), 0);
    assert_false(has_file(rig, EVENTS ".parquet"));
    /* The job may run again. */
    write_job(rig, ".", "42", 0, 10);
    assert_int_equal(count_where(rig, EVENTS ".parquet", "true"), 10);
}

/* One output has neither of its names: what is left of the others is no job. */
static void a_begun_commit_that_lost_a_file_is_undone(void **state)
{
    rig *rig = *state;
    bool is_committed = true;
    casparian_commit *commit = prepare_job(rig, ".", "42");
    char *intent = mcp_arena_strdup(rig->arena, casparian_commit_intent(commit));

    casparian_commit_free(commit);
    assert_int_equal(
        renameat(rig->folder.fd, "." EVENTS ".parquet.tmp", rig->folder.fd, EVENTS ".parquet"), 0);
    assert_int_equal(unlinkat(rig->folder.fd, "." QUARANTINE ".parquet.tmp", 0), 0);
    MUST(rig, casparian_commit_settle(&is_committed, intent, strlen(intent), &rig->err));
    assert_false(is_committed);
    assert_false(has_file(rig, EVENTS ".parquet"));
    assert_int_equal(temporaries(rig, "_casparian"), 0);
}

static void what_is_no_intent_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "{\"version\":2,\"dir\":\"/\",\"pairs\":[{\"tmp\":\"a\",\"final\":\"b\"}]}",
        "{\"version\":1,\"dir\":\"x\",\"pairs\":[{\"tmp\":\"a\",\"final\":\"b\"}]}",
        "{\"version\":1,\"dir\":\"/\",\"pairs\":[]}",
        "{\"version\":1,\"dir\":\"/\",\"pairs\":[{\"tmp\":\"../a\",\"final\":\"b\"}]}",
        "{\"version\":1,\"dir\":\"/\",\"pairs\":[{\"tmp\":\"a\",\"final\":\"x/b\"}]}",
        "{\"version\":1,\"dir\":\"/\",\"pairs\":[{\"tmp\":\"a\"}]}",
        "{\"version\":1,\"dir\":\"/\",\"pairs\":[{\"tmp\":\"a\",\"final\":\"_casparian/..\"}]}",
    };
    static const char gone[] = "{\"version\":1,\"dir\":\"/no/such/folder\","
                               "\"pairs\":[{\"tmp\":\"a\",\"final\":\"b\"}]}";
    rig *rig = *state;
    bool is_committed = true;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(
            casparian_commit_settle(&is_committed, texts[i], strlen(texts[i]), &rig->err),
            MCP_E_PARSE);
    MUST(rig, casparian_commit_settle(&is_committed, gone, strlen(gone), &rig->err));
    assert_false(is_committed);
}

/* ---- DuckDB ---------------------------------------------------------------------------------- */

/* Rows of a table; -1: there is none. */
static int64_t rows_of(rig *rig, const char *table)
{
    struct engine duckdb = { .api = NULL };
    char sql[400];
    duckdb_result result;
    int64_t rows = -1;

    if (!has_file(rig, "x.db"))
        return -1;
    MUST(rig, engine_open_file(&duckdb, scratch_path(&rig->folder, "x.db"), true, &rig->err));
    snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", table);
    if (engine_query(&duckdb, &result, sql, MCP_E_NOT_FOUND, &rig->err) == MCP_OK) {
        duckdb_data_chunk chunk = duckdb.api->fetch_chunk(result);
        rows = *(int64_t *)duckdb.api->vector_get_data(duckdb.api->data_chunk_get_vector(chunk, 0));
        duckdb.api->destroy_data_chunk(&chunk);
        duckdb.api->destroy_result(&result);
    }
    engine_close(&duckdb);
    return rows;
}

/* The tables of the events, found by the hash in their names. */
static const char *table_of(rig *rig, const char *base)
{
    char hash[CASPARIAN_HASH_SIZE];

    MUST(rig, casparian_definition_protocol_hash(hash, &rig->events, &rig->err));
    return mcp_arena_printf(rig->arena, "%s__schema_%.8s", base, hash);
}

static int64_t count_tables(rig *rig)
{
    struct engine duckdb = { .api = NULL };
    duckdb_result result;

    MUST(rig, engine_open_file(&duckdb, scratch_path(&rig->folder, "x.db"), true, &rig->err));
    MUST(rig, engine_query(&duckdb, &result, "SELECT count(*) FROM duckdb_tables()", MCP_E_IO,
                           &rig->err));
    duckdb_data_chunk chunk = duckdb.api->fetch_chunk(result);
    int64_t count = *(int64_t *)duckdb.api->vector_get_data(
        duckdb.api->data_chunk_get_vector(chunk, 0));
    duckdb.api->destroy_data_chunk(&chunk);
    duckdb.api->destroy_result(&result);
    engine_close(&duckdb);
    return count;
}

static void a_killed_commit_of_a_database_is_all_or_none(void **state)
{
    rig *rig = *state;
    const char *good = table_of(rig, "events"), *bad = table_of(rig, "events_quarantine");
    int committed = 0, unknown = 0, step = 0;
    bool is_killed = true;

    while (is_killed) {
        empty_folder(rig);
        is_killed = kill_at(rig, "duckdb://x.db", ++step);
        bool has_intent = has_file(rig, "state/intent");
        bool is_committed = has_intent ? settle(rig) : !is_killed;
        assert_int_equal(rows_of(rig, good), is_committed ? ROWS : -1);
        assert_int_equal(rows_of(rig, bad), is_committed ? ROWS : -1);
        assert_int_equal(has_file(rig, "_casparian/42.manifest.json"), is_committed);
        if (is_committed)
            assert_int_equal(count_tables(rig), 2); /* the marker is gone */
        committed += is_committed;
        unknown += !has_intent && is_killed;
    }
    /* As of files; then the transaction, the manifest's name, the disk, the marker. */
    assert_int_equal(unknown, 3);
    assert_int_equal(committed, 5);
    assert_int_equal(step, 9);
}

static void a_table_is_appended_to_or_replaced(void **state)
{
    rig *rig = *state;
    casparian_commit *commit = NULL;

    write_job(rig, "duckdb://x.db?table=mine", "1", 0, 100);
    write_job(rig, "duckdb://x.db?table=mine", "2", 100, 50);
    assert_int_equal(rows_of(rig, table_of(rig, "mine")), 150);
    /* Nothing of ours is left in the file or next to it. */
    assert_int_equal(count_tables(rig), 1);
    assert_int_equal(temporaries(rig, "."), 0);
    assert_false(has_file(rig, "x.db.wal"));
    assert_false(has_file(rig, "x.db.lock.json"));

    write_job(rig, "duckdb://x.db?table=mine&mode=replace", "3", 0, 7);
    assert_int_equal(rows_of(rig, table_of(rig, "mine")), 7);

    casparian_sink *sink = open_sink_of(rig, "duckdb://x.db?table=mine&mode=error", "4", false, 0);
    add_table(rig, sink, &rig->events, 0);
    add_table(rig, sink, &rig->events, CASPARIAN_SINK_QUARANTINE);
    MUST(rig, casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err));
    char *intent = mcp_arena_strdup(rig->arena, casparian_commit_intent(commit));
    assert_int_equal(casparian_commit_apply(commit, &rig->err), MCP_E_EXISTS);
    assert_non_null(strstr(rig->err.message, table_of(rig, "mine")));
    casparian_commit_free(commit);
    bool is_committed = true;
    MUST(rig, casparian_commit_settle(&is_committed, intent, strlen(intent), &rig->err));
    assert_false(is_committed);
    assert_int_equal(rows_of(rig, table_of(rig, "mine")), 7);
    assert_int_equal(temporaries(rig, "."), 0);
}

static void two_outputs_do_not_share_a_table(void **state)
{
    rig *rig = *state;
    casparian_definition others = definition_of(
        rig, "{\"output_name\":\"others\",\"columns\":["
             "{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false},"
             "{\"name\":\"note\",\"type\":\"string\"}]}");
    casparian_sink *sink = open_sink(rig, "duckdb://x.db?table=one");
    casparian_sink_output *output = NULL;

    add_table(rig, sink, &rig->events, 0);
    assert_int_equal(casparian_sink_add(&output, sink, 0, &others, 0, &rig->err), MCP_E_EXISTS);
    casparian_sink_abort(sink);
}

static void casparians_own_files_are_no_sink(void **state)
{
    rig *rig = *state;
    const char *const taken[] = { "/no/such/file", scratch_path(&rig->folder, "state.sqlite"),
                                  NULL };
    casparian_sink *sink = NULL;

    scratch_write(&rig->folder, "state.sqlite", "x", 1);
    assert_int_equal(symlinkat("state.sqlite", rig->folder.fd, "link.db"), 0);
    MUST(rig, casparian_sink_uri_read(&rig->uri, rig->arena, "duckdb://link.db", rig->folder.path,
                                      &rig->err));
    const casparian_sink_options options = { .uri = &rig->uri,
                                             .dir_fd = rig->folder.fd,
                                             .job = "1",
                                             .plugin = "demo",
                                             .version = "1",
                                             .taken = taken };
    assert_int_equal(casparian_sink_open(&sink, &options, &rig->err), MCP_E_PARAMS);
    assert_non_null(strstr(rig->err.message, "state.sqlite"));
}

/* A sink of a database in the folder "in" of the rig. */
static casparian_commit *prepare_in(rig *rig, int dir_fd)
{
    casparian_commit *commit = NULL;
    casparian_sink *sink = NULL;

    MUST(rig, casparian_sink_uri_read(&rig->uri, rig->arena, "duckdb://x.db?table=mine",
                                      scratch_path(&rig->folder, "in"), &rig->err));
    const casparian_sink_options options = {
        .uri = &rig->uri, .dir_fd = dir_fd, .job = "42", .plugin = "demo", .version = "1"
    };
    MUST(rig, casparian_sink_open(&sink, &options, &rig->err));
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *file = begin_file(rig, sink);
    MUST(rig, append_events(rig, file, output, 0, ROWS));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    MUST(rig, casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err));
    return commit;
}

static int make_in(rig *rig)
{
    assert_int_equal(mkdirat(rig->folder.fd, "in", 0700), 0);
    assert_int_equal(mkdirat(rig->folder.fd, "outside", 0700), 0);
    int fd = openat(rig->folder.fd, "in", O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    return fd;
}

/* The folder was checked when it was opened; a link that takes its place later is not followed. */
static void a_folder_that_is_exchanged_changes_nothing(void **state)
{
    rig *rig = *state;
    int fd = make_in(rig);
    casparian_commit *commit = prepare_in(rig, fd);

    assert_int_equal(renameat(rig->folder.fd, "in", rig->folder.fd, "moved"), 0);
    assert_int_equal(symlinkat("outside", rig->folder.fd, "in"), 0);
    MUST(rig, casparian_commit_apply(commit, &rig->err));
    casparian_commit_free(commit);
    close(fd);
    assert_true(has_file(rig, "moved/x.db"));
    assert_false(has_file(rig, "moved/x.db.wal"));
    assert_int_equal(unlinkat(rig->folder.fd, "outside", AT_REMOVEDIR), 0); /* it is empty */
}

/* The engine writes its log next to the database, through a link as well. */
static void a_log_that_is_a_link_is_refused(void **state)
{
    rig *rig = *state;
    int fd = make_in(rig);
    casparian_commit *commit = prepare_in(rig, fd);

    assert_int_equal(symlinkat("../outside/log", fd, "x.db.wal"), 0);
    assert_int_equal(casparian_commit_apply(commit, &rig->err), MCP_E_DENIED);
    assert_non_null(strstr(rig->err.message, "'x.db.wal' is a link"));
    casparian_commit_free(commit);
    close(fd);
    assert_false(has_file(rig, "in/x.db"));
    assert_int_equal(unlinkat(rig->folder.fd, "outside", AT_REMOVEDIR), 0);
}

/* A message names the database as a reader knows it. */
static void a_file_that_is_no_database_is_named(void **state)
{
    rig *rig = *state;
    int fd = make_in(rig);
    casparian_commit *commit = prepare_in(rig, fd);

    scratch_write(&rig->folder, "in/x.db", "this is no database, but it is long enough", 42);
    assert_int_not_equal(casparian_commit_apply(commit, &rig->err), MCP_OK);
    assert_non_null(strstr(rig->err.message, "'x.db'"));
    assert_null(strstr(rig->err.message, "/proc/"));
    casparian_commit_free(commit);
    close(fd);
}

/* ---- what a commit says ---------------------------------------------------------------------- */

static void a_commit_says_what_it_writes(void **state)
{
    rig *rig = *state;
    size_t count = 0;
    struct stat about;
    char key[CASPARIAN_HASH_SIZE];
    casparian_commit *commit = prepare_job(rig, ".", "42");
    const casparian_written *written = casparian_commit_written(commit, &count);

    assert_int_equal(count, 2);
    assert_string_equal(written[0].output, "events");
    assert_string_equal(written[1].output, "events");
    assert_false(written[0].is_quarantine);
    assert_true(written[1].is_quarantine);
    assert_int_equal(written[0].rows, ROWS);
    assert_string_equal(written[0].format, "parquet");
    assert_string_equal(written[0].location, scratch_path(&rig->folder, EVENTS ".parquet"));
    assert_string_equal(written[0].table, table_of(rig, "events"));
    MUST(rig, casparian_sink_target_key(key, &rig->uri, &rig->events, 0, &rig->err));
    assert_string_equal(written[0].target_key, key);
    assert_string_not_equal(written[1].target_key, key);
    assert_false(has_file(rig, EVENTS ".parquet"));
    MUST(rig, casparian_commit_apply(commit, &rig->err));
    assert_int_equal(fstatat(rig->folder.fd, EVENTS ".parquet", &about, 0), 0);
    assert_int_equal(about.st_size, written[0].bytes);
    casparian_commit_free(commit);
}

static void an_aborted_commit_leaves_nothing(void **state)
{
    rig *rig = *state;
    casparian_commit *commit = prepare_job(rig, ".", "42");

    casparian_commit_abort(commit);
    assert_int_equal(temporaries(rig, "."), 0);
    assert_int_equal(temporaries(rig, "_casparian"), 0);
    assert_false(has_file(rig, EVENTS ".parquet"));
    /* The lock is free again. */
    write_job(rig, ".", "43", 0, 10);
}

static void a_file_that_appears_is_not_replaced(void **state)
{
    rig *rig = *state;
    casparian_commit *commit = NULL;
    casparian_sink *sink = open_sink(rig, ".");

    add_table(rig, sink, &rig->events, 0);
    scratch_write(&rig->folder, EVENTS ".parquet", "theirs", 6);
    assert_int_equal(casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err),
                     MCP_E_EXISTS);
    assert_string_equal(text_of(rig, EVENTS ".parquet"), "theirs");
    assert_int_equal(temporaries(rig, "."), 0);
}

/* Another process holds the folder's lock for longer than a commit waits. */
static void a_commit_waits_20_seconds_for_another(void **state)
{
    rig *rig = *state;
    casparian_commit *commit = NULL;

    write_job(rig, ".", "1", 0, 10);
    int lock = openat(rig->folder.fd, "_casparian/.lock", O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    int64_t begin = mcp_clock_mono_ms();
    casparian_sink *sink = open_sink_of(rig, ".", "2", false, 0);
    add_table(rig, sink, &rig->events, 0);
    assert_int_equal(casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err), MCP_E_BUSY);
    assert_true(mcp_clock_mono_ms() - begin >= 20000);
    assert_int_equal(temporaries(rig, "."), 0);
    close(lock);
    write_job(rig, ".", "2", 0, 10);
}

static casparian_sink *open_attempt(rig *rig, int attempt)
{
    casparian_sink *sink = NULL;
    const casparian_sink_options options = { .uri = &rig->uri,
                                             .dir_fd = rig->folder.fd,
                                             .job = "42",
                                             .plugin = "demo",
                                             .version = "1.2.0",
                                             .attempt = attempt };

    MUST(rig, casparian_sink_open(&sink, &options, &rig->err));
    return sink;
}

/* A runner that was suspended has lost its job to another one, and continues before it knows. */
static void a_runner_that_lost_its_job_spoils_nothing(void **state)
{
    static const char *const uris[] = { "csv://.", "parquet://.", "duckdb://x.db" };
    rig *rig = *state;

    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        MUST(rig,
             casparian_sink_uri_read(&rig->uri, rig->arena, uris[i], rig->folder.path, &rig->err));
        casparian_sink *suspended = open_attempt(rig, 0);
        casparian_sink *sink = open_attempt(rig, 1);
        casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
        casparian_sink_file *file = begin_file(rig, sink);
        MUST(rig, append_events(rig, file, output, 0, 10));
        MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
        casparian_sink_output *late = add_table(rig, suspended, &rig->events, 0);
        casparian_sink_file *late_file = begin_file(rig, suspended);
        MUST(rig, append_events(rig, late_file, late, 100, 3));
        MUST(rig, casparian_sink_file_commit(late_file, HASH_A, &rig->err));
        casparian_sink_free(suspended);
        commit_all(rig, sink);
        assert_int_equal(unlinkat(rig->folder.fd, "_casparian/42.manifest.json", 0), 0);
    }
    assert_int_equal(ask(rig, EVENTS ".csv", "(SELECT count(*) FROM read_csv(%s))"), 10);
    assert_int_equal(ask(rig, EVENTS ".parquet", "(SELECT count(*) FROM read_parquet(%s))"), 10);
    assert_int_equal(temporaries(rig, "."), 0);
}

static void only_old_temporary_files_are_swept(void **state)
{
    rig *rig = *state;
    static const char *const old[] = { ".x_0123456789abcdef.parquet.tmp",
                                       ".y_0123456789abcdef.csv.tmp",
                                       ".z_0123456789abcdef.parquet.2.tmp",
                                       "_casparian/.7.0.manifest.json.tmp" };
    static const char *const kept[] = { ".x_0123456789abcde.parquet.tmp", "x.tmp",
                                        "x_0123456789abcdef.parquet",
                                        ".z_0123456789abcdef.csv.tmp" };
    int64_t now = mcp_clock_wall_ms();
    const struct utimbuf yesterday = { now / 1000 - 90000, now / 1000 - 90000 };
    size_t removed = 0;

    for (size_t i = 0; i < 4; i++)
        scratch_write(&rig->folder, old[i], "", 0);
    for (size_t i = 0; i < 4; i++)
        scratch_write(&rig->folder, kept[i], "", 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(utime(scratch_path(&rig->folder, old[i]), &yesterday), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(utime(scratch_path(&rig->folder, kept[i]), &yesterday), 0);
    MUST(rig, casparian_commit_sweep(rig->folder.fd, now, NULL, NULL, &removed, &rig->err));
    assert_int_equal(removed, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(has_file(rig, kept[i]));
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        CASE(a_killed_commit_of_files_is_all_or_none),
        CASE(an_intent_that_was_not_begun_is_undone),
        CASE(a_begun_commit_that_lost_a_file_is_undone),
        CASE(what_is_no_intent_is_refused),
        CASE(a_killed_commit_of_a_database_is_all_or_none),
        CASE(a_table_is_appended_to_or_replaced),
        CASE(two_outputs_do_not_share_a_table),
        CASE(a_folder_that_is_exchanged_changes_nothing),
        CASE(a_log_that_is_a_link_is_refused),
        CASE(a_file_that_is_no_database_is_named),
        CASE(casparians_own_files_are_no_sink),
        CASE(a_commit_says_what_it_writes),
        CASE(an_aborted_commit_leaves_nothing),
        CASE(a_file_that_appears_is_not_replaced),
        CASE(a_commit_waits_20_seconds_for_another),
        CASE(a_runner_that_lost_its_job_spoils_nothing),
        CASE(only_old_temporary_files_are_swept),
    };

    if (argc == 4)
        return run_job(argv[2], argv[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
