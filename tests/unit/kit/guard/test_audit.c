/*
 * test_audit.c - the audit log: whole lines from many writers, files that turn over, failures.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/archive.h"
#include "guard/audit.h"
#include "mcp/arena.h"
#include "mcp/json.h"
#include "oom.h"
#include "scratch.h"

struct world {
    scratch folder;
    char path[SCRATCH_PATH_MAX];
    guard_audit *audit;
    mcp_error err;
};

static int set_up(void **state)
{
    static struct world world;

    scratch_open(&world.folder);
    snprintf(world.path, sizeof world.path, "%s", scratch_path(&world.folder, "audit.ndjson"));
    world.audit = NULL;
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    guard_audit_close(world->audit);
    scratch_close(&world->folder);
    return 0;
}

static mcp_status write_text(struct world *world, const char *object)
{
    return guard_audit_write(world->audit, object, strlen(object), false, &world->err);
}

/* How many lines a file has, each of them an object; -1: there is no file. */
static int lines_of(const char *path)
{
    guard_archive *file = NULL;
    const char *line = NULL;
    size_t length = 0;
    int count = 0;

    if (guard_archive_open(&file, path, NULL) != MCP_OK)
        return -1;
    for (;;) {
        const mcp_json *value = NULL;
        assert_int_equal(guard_archive_line(&line, &length, file, NULL), MCP_OK);
        if (!line)
            break;
        mcp_arena *arena = mcp_arena_new(0);
        assert_int_equal(mcp_json_read(&value, arena, line, length, NULL), MCP_OK);
        assert_true(mcp_json_is_object(value));
        mcp_arena_free(arena);
        count++;
    }
    guard_archive_close(file);
    return count;
}

static void a_line_is_an_object_with_its_time(void **state)
{
    struct world *world = *state;
    char text[1000] = "", wanted[100];
    struct stat st;

    assert_int_equal(guard_audit_open(&world->audit, world->path, NULL, &world->err), MCP_OK);
    assert_int_equal(stat(world->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(write_text(world, "{\"type\":\"tool_call\"}"), MCP_OK);
    assert_int_equal(guard_audit_write(world->audit, "{}", 2, true, &world->err), MCP_OK);
    FILE *file = fopen(world->path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    snprintf(wanted, sizeof wanted, "Z\",\"pid\":%ld,\"seq\":1,\"type\":\"tool_call\"}\n{\"ts\":\"",
             (long)getpid());
    assert_memory_equal(text, "{\"ts\":\"20", 9);
    assert_non_null(strstr(text, wanted));
    assert_non_null(strstr(text, ",\"seq\":2}\n"));
}

static void what_is_no_line_is_refused(void **state)
{
    struct world *world = *state;
    char *longest = malloc(GUARD_AUDIT_LINE_MAX);

    assert_non_null(longest);
    assert_int_equal(guard_audit_open(&world->audit, world->path, NULL, &world->err), MCP_OK);
    assert_int_equal(write_text(world, "[]"), MCP_E_PARAMS);
    assert_int_equal(write_text(world, ""), MCP_E_PARAMS);
    assert_int_equal(write_text(world, "{\"a\":1,\n\"b\":2}"), MCP_E_PARAMS);
    memset(longest, ' ', GUARD_AUDIT_LINE_MAX);
    longest[0] = '{';
    longest[GUARD_AUDIT_LINE_MAX - 1] = '}';
    assert_int_equal(guard_audit_write(world->audit, longest, GUARD_AUDIT_LINE_MAX, false, NULL),
                     MCP_E_LIMIT);
    free(longest);
    assert_int_equal(lines_of(world->path), 0);
    assert_int_equal(symlink("elsewhere", scratch_path(&world->folder, "link")), 0);
    guard_audit *other = NULL;
    assert_int_not_equal(
        guard_audit_open(&other, scratch_path(&world->folder, "link"), NULL, &world->err), MCP_OK);
    assert_int_equal(guard_audit_open(&other, "/nowhere/audit", NULL, &world->err),
                     MCP_E_NOT_FOUND);
}

static void a_full_file_is_turned_over(void **state)
{
    struct world *world = *state;
    guard_audit_options options = { .max_bytes = GUARD_AUDIT_LINE_MAX, .keep = 2 };
    char object[1000], path[SCRATCH_PATH_MAX + 16];
    int written = 0, lines = 0;

    memset(object, 'x', sizeof object);
    memcpy(object, "{\"a\":\"", 6);
    memcpy(object + sizeof object - 2, "\"}", 2);
    assert_int_equal(guard_audit_open(&world->audit, world->path, &options, &world->err), MCP_OK);
    for (; written < 40; written++)
        assert_int_equal(guard_audit_write(world->audit, object, sizeof object, false, &world->err),
                         MCP_OK);
    static const char *const there[] = { "", ".1", ".2.gz" };
    static const char *const gone[] = { ".1.gz", ".2", ".2.gz.part", ".3", ".3.gz" };
    for (size_t i = 0; i < 3; i++) {
        struct stat st;
        snprintf(path, sizeof path, "%s%s", world->path, there[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_true(st.st_size <= (i < 2 ? options.max_bytes : options.max_bytes / 10));
        lines += lines_of(path);
    }
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        snprintf(path, sizeof path, "%s%s", world->path, gone[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(lines, 40); /* 15 a file: 15, 15, 10 */
}

static void a_file_that_was_renamed_is_left(void **state)
{
    struct world *world = *state;
    const char *other = scratch_path(&world->folder, "other");

    assert_int_equal(guard_audit_open(&world->audit, world->path, NULL, &world->err), MCP_OK);
    assert_int_equal(write_text(world, "{}"), MCP_OK);
    assert_int_equal(rename(world->path, other), 0);
    assert_int_equal(write_text(world, "{}"), MCP_OK);
    assert_int_equal(write_text(world, "{}"), MCP_OK);
    assert_int_equal(lines_of(other), 1);
    assert_int_equal(lines_of(world->path), 2);
}

static void a_cut_line_is_ended(void **state)
{
    struct world *world = *state;
    char text[1000] = "";

    scratch_write(&world->folder, "audit.ndjson", "{\"cut\":", 7);
    assert_int_equal(guard_audit_open(&world->audit, world->path, NULL, &world->err), MCP_OK);
    assert_int_equal(write_text(world, "{}"), MCP_OK);
    FILE *file = fopen(world->path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_memory_equal(text, "{\"cut\":\n{\"ts\":", 14);
}

/* In a process of its own, which may not write more than 100 bytes into a file. */
static void a_line_that_does_not_fit_is_taken_back(void **state)
{
    struct world *world = *state;

    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = { 100, 100 };
        bool is_right = guard_audit_open(&world->audit, world->path, NULL, NULL) == MCP_OK &&
                        write_text(world, "{}") == MCP_OK;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        is_right = is_right && write_text(world, "{\"a\":1}") == MCP_E_STORAGE;
        _exit(is_right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(lines_of(world->path), 1);
}

static void a_lock_of_another_is_reported(void **state)
{
    struct world *world = *state;
    guard_audit_options options = { .lock_ms = 10 };
    int fd = open(scratch_path(&world->folder, "audit.ndjson.lock"), O_RDWR | O_CREAT, 0600);

    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(guard_audit_open(&world->audit, world->path, &options, &world->err), MCP_OK);
    assert_int_equal(write_text(world, "{}"), MCP_E_BUSY);
    close(fd);
    assert_int_equal(write_text(world, "{}"), MCP_OK);
}

enum { THREADS = 4, EACH = 100 };

static void *write_many(void *data)
{
    struct world *world = data;

    for (int i = 0; i < EACH; i++)
        if (guard_audit_write(world->audit, "{\"type\":\"x\"}", 12, false, NULL) != MCP_OK)
            return world;
    return NULL;
}

static void lines_of_threads_and_processes_do_not_mix(void **state)
{
    struct world *world = *state;
    guard_audit_options options = { .max_bytes = GUARD_AUDIT_LINE_MAX, .lock_ms = 60000 };
    pthread_t threads[THREADS];
    void *failure = NULL;
    int status = -1, lines = 0;

    pid_t child = fork();
    assert_true(child >= 0);
    assert_int_equal(guard_audit_open(&world->audit, world->path, &options, &world->err), MCP_OK);
    if (child == 0)
        _exit(write_many(world) ? 1 : 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, world), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failure);
        assert_null(failure);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i <= 10; i++) {
        char path[SCRATCH_PATH_MAX + 16];
        snprintf(path, sizeof path, i > 1 ? "%s.%d.gz" : i ? "%s.%d" : "%s", world->path, i);
        int here = lines_of(path);
        lines += here > 0 ? here : 0;
    }
    assert_int_equal(lines, (THREADS + 1) * EACH);
}

static mcp_status open_once(void *data)
{
    struct world *world = data;
    guard_audit *audit = NULL;
    mcp_status st = guard_audit_open(&audit, world->path, NULL, NULL);

    if (st == MCP_OK)
        st = guard_audit_write(audit, "{}", 2, false, NULL);
    guard_audit_close(audit);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    oom_walk(open_once, *state);
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Read the lines of a file; each must have the hash of the one before. The last hash is kept. */
static int chained_lines(const char *path, char before[GUARD_AUDIT_HASH_SIZE])
{
    char line[GUARD_AUDIT_LINE_MAX + 2], wanted[GUARD_AUDIT_HASH_SIZE + 16];
    FILE *in = fopen(path, "re");
    int count = 0;

    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        size_t length = strlen(line) - 1;
        assert_int_equal(line[length], '\n');
        snprintf(wanted, sizeof wanted, "\"prev\":\"%s\"", before);
        assert_non_null(strstr(line, wanted));
        assert_int_equal(guard_audit_hash(before, line, length, NULL), MCP_OK);
        count++;
    }
    (void)fclose(in);
    return count;
}

static void a_chain_goes_from_file_to_file(void **state)
{
    struct world *world = *state;
    const guard_audit_options options = { .max_bytes = (int64_t)GUARD_AUDIT_LINE_MAX,
                                          .is_chained = true };
    char before[GUARD_AUDIT_HASH_SIZE], older[SCRATCH_PATH_MAX + 8], object[4200];

    memset(object, 'x', sizeof object);
    memcpy(object, "{\"text\":\"", 9);
    memcpy(object + 4100, "\"}", 3);
    assert_int_equal(guard_audit_open(&world->audit, world->path, &options, &world->err), MCP_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(write_text(world, object), MCP_OK);
    guard_audit_close(world->audit); /* another process continues it */
    assert_int_equal(guard_audit_open(&world->audit, world->path, &options, &world->err), MCP_OK);
    assert_int_equal(write_text(world, "{}"), MCP_OK);
    snprintf(before, sizeof before, "%064d", 0);
    snprintf(older, sizeof older, "%s.1", world->path);
    assert_int_equal(chained_lines(older, before), 3);
    assert_int_equal(chained_lines(world->path, before), 3);
}

static void old_files_are_removed(void **state)
{
    struct world *world = *state;
    const guard_audit_options options = { .max_age_days = 90 };
    const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

    scratch_write(&world->folder, "audit.ndjson.1", "{}\n", 3);
    scratch_write(&world->folder, "audit.ndjson.2", "{}\n", 3);
    scratch_write(&world->folder, "audit.ndjson.3", "{}\n", 3);
    assert_int_equal(utimensat(world->folder.fd, "audit.ndjson.2", old, 0), 0);
    assert_int_equal(utimensat(world->folder.fd, "audit.ndjson.3", old, 0), 0);
    assert_int_equal(guard_archive_pack(scratch_path(&world->folder, "audit.ndjson.3"), NULL),
                     MCP_OK); /* as old as it was */
    assert_int_equal(guard_audit_open(&world->audit, world->path, &options, &world->err), MCP_OK);
    assert_int_equal(faccessat(world->folder.fd, "audit.ndjson.1", F_OK, 0), 0);
    assert_int_not_equal(faccessat(world->folder.fd, "audit.ndjson.2", F_OK, 0), 0);
    assert_int_not_equal(faccessat(world->folder.fd, "audit.ndjson.3.gz", F_OK, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chain_goes_from_file_to_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_files_are_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_is_an_object_with_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_line_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_file_is_turned_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_was_renamed_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_line_is_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_that_does_not_fit_is_taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lock_of_another_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_of_threads_and_processes_do_not_mix, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_memory_is_a_status, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
