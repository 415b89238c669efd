/*
 * test_sealed.c - the process of a query: what each of its walls keeps out when the others let it
 * through. The statements here may use functions that read files, which no server allows, so the
 * engine and the system must refuse. The process is this program itself, but under TSan, which does
 * not start with these protections.
 */
#include <dirent.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "columns/sealed/cell.h"
#include "columns/sealed/sealed.h"
#include "mcp/clock.h"
#include "proc/proc.h"
#include "scratch.h"

static const char *const functions[] = { "+", "%", "count", "count_star", "length" };
static const char *const table_functions[] = { "range", "read_text", "read_csv", "glob" };
static const columns_sealed_rules rules = { functions, 5, table_functions, 4, NULL, 0 };

typedef struct world {
    scratch folder;
    columns_sealed *sealed;
    columns_sealed_request request;
    columns_sealed_end end;
    size_t rows;
    columns_cell first; /* of the first row, an integer */
    int stops;          /* stop at this question; 0: never */
    mcp_error err;
} world;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_UNDER_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define IS_UNDER_TSAN
#endif
#ifdef IS_UNDER_TSAN
static const char *const reader[] = { SEALED_READER, COLUMNS_SEALED_COMMAND, NULL };
static const columns_sealed_options options = { .argv = reader };
#else
static const columns_sealed_options options = { 0 };
#endif

static int set_up(void **state)
{
    static world self;

    memset(&self, 0, sizeof self);
    scratch_open(&self.folder);
    self.request = (columns_sealed_request){
        .rules = &rules, .rows_max = 1000, .bytes_max = 1 << 20, .timeout_ms = 60000
    };
    if (columns_sealed_open(&self.sealed, &options, &self.err) != MCP_OK)
        fail_msg("%s", self.err.message);
    *state = &self;
    return 0;
}

static int tear_down(void **state)
{
    world *self = *state;

    columns_sealed_close(self->sealed);
    scratch_close(&self->folder);
    return 0;
}

static mcp_status take_columns(void *data, size_t count, const char *const *names,
                               const char *const *types)
{
    (void)data;
    (void)names;
    (void)types;
    return count > 0 ? MCP_OK : MCP_E_INTERNAL;
}

static mcp_status take_rows(void *data, size_t rows, const void *cells, size_t length)
{
    world *self = data;
    columns_cell_reader reader = { cells, length, 0 };

    if (self->rows == 0)
        columns_cell_next(&reader, &self->first);
    self->rows += rows;
    return MCP_OK;
}

static bool should_stop(void *data)
{
    world *self = data;
    return self->stops > 0 && --self->stops == 0;
}

static mcp_status ask(world *self, const char *sql)
{
    columns_sealed_sink sink = { take_columns, take_rows, should_stop, self };

    self->rows = 0;
    self->request.sql = sql;
    self->request.sql_length = strlen(sql);
    return columns_sealed_query(&self->end, self->sealed, &self->request, &sink, &self->err);
}

static void expect(world *self, const char *sql, int64_t value)
{
    if (ask(self, sql) != MCP_OK)
        fail_msg("%s: %s", sql, self->err.message);
    assert_true(self->rows >= 1);
    assert_int_equal(self->first.kind, COLUMNS_CELL_INTEGER);
    assert_int_equal(self->first.integer, value);
}

static void the_sealed_engine_reads_its_files_alone(void **state)
{
    static const char *const refused[] = {
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_text('/proc/self/environ')",
        "SELECT * FROM read_text('/proc/self/fd/../environ')",
        "SELECT * FROM read_text('/proc/self/fd/3')",
        "SELECT * FROM read_text('/proc/self/fd/101')",
        "SELECT * FROM read_text('/proc/1/fd/100')",
    };
    world *self = *state;
    scratch_write(&self->folder, "given", "12345", 5);
    int fd = open(scratch_path(&self->folder, "given"), O_RDONLY | O_CLOEXEC);

    self->request.fds = &fd;
    self->request.fd_count = 1;
    expect(self, "SELECT length(content) FROM read_text('/proc/self/fd/100')", 5);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mcp_status st = ask(self, refused[i]);
        if (st != MCP_E_PARSE)
            fail_msg("%s: %s", refused[i], mcp_status_name(st));
    }
    close(fd);
}

/* What the program itself runs before the engine is sealed can do what the process can. */
static void the_process_reaches_no_file_and_writes_none(void **state)
{
    world *self = *state;
    char copy[1024];
    char other[1024];
    const char *setup[1];
    int fd = -1;

    scratch_write(&self->folder, "given", "12345", 5);
    scratch_write(&self->folder, "other", "12345", 5);
    fd = open(scratch_path(&self->folder, "given"), O_RDONLY | O_CLOEXEC);
    self->request.fds = &fd;
    self->request.fd_count = 1;
    self->request.setup = setup;
    self->request.setup_count = 1;
    snprintf(copy, sizeof copy, "COPY (SELECT 1) TO '%s'", scratch_path(&self->folder, "made"));
    setup[0] = copy;
    assert_int_equal(ask(self, "SELECT 1"), MCP_E_STORAGE);
    setup[0] = "COPY (SELECT 1) TO '/proc/self/fd/100' (USE_TMP_FILE false)";
    assert_int_equal(ask(self, "SELECT 1"), MCP_E_STORAGE);
    if (proc_protections(0) & PROC_FILES) {
        snprintf(other, sizeof other, "CREATE TABLE x AS FROM read_text('%s')",
                 scratch_path(&self->folder, "other"));
        setup[0] = other;
        assert_int_equal(ask(self, "SELECT 1"), MCP_E_STORAGE);
        setup[0] = "CREATE TABLE x AS FROM read_text('/etc/passwd')";
        assert_int_equal(ask(self, "SELECT 1"), MCP_E_STORAGE);
    }
    setup[0] = "CREATE TABLE x AS FROM read_text('/proc/self/fd/100')";
    expect(self, "SELECT 1", 1);
    assert_int_equal(lseek(fd, 0, SEEK_END), 5);
    close(fd);
}

static void many_files_are_passed(void **state)
{
    enum { FILES = 300 };
    world *self = *state;
    static int fds[FILES];

    scratch_write(&self->folder, "given", "12345", 5);
    for (int i = 0; i < FILES; i++)
        fds[i] = open(scratch_path(&self->folder, "given"), O_RDONLY | O_CLOEXEC);
    self->request.fds = fds;
    self->request.fd_count = FILES;
    expect(self, "SELECT length(content) FROM read_text('/proc/self/fd/399')", 5);
    assert_int_equal(ask(self, "SELECT length(content) FROM read_text('/proc/self/fd/400')"),
                     MCP_E_PARSE);
    for (int i = 0; i < FILES; i++)
        close(fds[i]);
}

static void rows_end_at_their_bounds(void **state)
{
    world *self = *state;

    self->request.rows_max = 10;
    expect(self, "SELECT * FROM range(100)", 0);
    assert_int_equal(self->rows, 10);
    assert_false(self->end.is_cut);
    self->request.rows_max = 1000000;
    self->request.bytes_max = 20; /* a small integer has two bytes */
    expect(self, "SELECT * FROM range(50)", 0);
    assert_int_equal(self->rows, 10);
    assert_true(self->end.is_cut);
    self->request.rows_max = 0;
    assert_int_equal(ask(self, "SELECT 1"), MCP_E_PARAMS);
}

static void an_endless_query_is_interrupted_or_killed(void **state)
{
    world *self = *state;
    const char *sql = "SELECT count(*) FROM range(1000000000000) AS r(x) WHERE x % 7 = 3";

    self->request.timeout_ms = 200;
    assert_int_equal(ask(self, sql), MCP_E_TIMEOUT);
    self->request.timeout_ms = 60000;
    self->stops = 3;
    assert_int_equal(ask(self, sql), MCP_E_STOPPED);
    expect(self, "SELECT 1", 1);
}

static mcp_status take_no_rows(void *data, size_t rows, const void *cells, size_t length)
{
    (void)data;
    (void)rows;
    (void)cells;
    (void)length;
    return MCP_E_STORAGE;
}

static void a_sink_ends_a_query(void **state)
{
    world *self = *state;
    columns_sealed_sink sink = { take_columns, take_no_rows, NULL, self };

    self->request.sql = "SELECT 1";
    self->request.sql_length = 8;
    assert_int_equal(columns_sealed_query(&self->end, self->sealed, &self->request, &sink, NULL),
                     MCP_E_STORAGE);
}

static void nothing_stays_open(void **state)
{
    world *self = *state;
    size_t before;

    columns_sealed_close(self->sealed);
    self->sealed = NULL;
    before = scratch_open_descriptors();
    assert_int_equal(columns_sealed_open(&self->sealed, &options, NULL), MCP_OK);
    for (int i = 0; i < 3; i++)
        expect(self, "SELECT 1", 1);
    columns_sealed_close(self->sealed);
    self->sealed = NULL;
    assert_int_equal(scratch_open_descriptors(), before);
}

static pid_t parent_of(const char *pid)
{
    char path[64];
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* Whether it is a process of queries, and no launcher of one. */
static bool is_server(pid_t pid)
{
    char path[64];
    char arguments[4096];

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, arguments, sizeof arguments) : 0;
    if (fd >= 0)
        close(fd);
    return length > 0 && memmem(arguments, (size_t)length, COLUMNS_SEALED_COMMAND,
                                sizeof COLUMNS_SEALED_COMMAND) != NULL;
}

/* The number of child processes of this one; the last of them in `one`. */
static int count_children(pid_t *one)
{
    int count = 0;
    DIR *folder = opendir("/proc");

    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        if (parent_of(entry->d_name) != getpid())
            continue;
        *one = (pid_t)strtol(entry->d_name, NULL, 10);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

/* Ask until a fork server is the only child of this process, and is not `gone`. */
static pid_t await_server(world *self, pid_t gone)
{
    int64_t until = mcp_clock_mono_ms() + 60000;
    pid_t server = 0;

    expect(self, "SELECT 1", 1);
    while (count_children(&server) != 1 || !is_server(server) || server == gone) {
        if (mcp_clock_mono_ms() > until)
            fail_msg("queries have no fork server");
        expect(self, "SELECT 1", 1);
    }
    return server;
}

static void queries_outlive_their_fork_server(void **state)
{
    world *self = *state;
    pid_t server = 0;

    for (int i = 0; i < 3; i++) {
        server = await_server(self, server);
        assert_int_equal(kill(server, SIGKILL), 0);
    }
    await_server(self, server);
}

static void *kill_soon(void *data)
{
    const pid_t *server = data;

    usleep(20000);
    kill(*server, SIGKILL);
    return NULL;
}

/* A query whose process the server does not fork has one that is started without it. */
static void a_query_survives_the_end_of_the_server(void **state)
{
    world *self = *state;
    pthread_t thread;
    pid_t server = await_server(self, 0);

    assert_int_equal(kill(server, SIGSTOP), 0);
    assert_int_equal(pthread_create(&thread, NULL, kill_soon, &server), 0);
    for (int i = 0; i < 3; i++)
        expect(self, "SELECT 1", 1);
    pthread_join(thread, NULL);
}

static void keep_number(world *self, double *out)
{
    if (ask(self, "SELECT random()") != MCP_OK)
        fail_msg("%s", self->err.message);
    assert_int_equal(self->first.kind, COLUMNS_CELL_NUMBER);
    *out = self->first.number;
}

static void forks_have_their_own_random_numbers(void **state)
{
    static const char *const random_too[] = { "random" };
    static const columns_sealed_rules with_random = { random_too, 1, NULL, 0, NULL, 0 };
    world *self = *state;
    double numbers[3];

    self->request.rules = &with_random;
    for (int i = 0; i < 3; i++)
        keep_number(self, &numbers[i]);
    assert_true(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[0] != numbers[2]);
}

static void closing_ends_all_processes(void **state)
{
    world *self = *state;
    pid_t server = await_server(self, 0);

    columns_sealed_close(self->sealed);
    self->sealed = NULL;
    assert_int_equal(kill(server, 0), -1);
    assert_int_equal(count_children(&server), 0);
}

static void cells_are_read_as_they_were_written(void **state)
{
    static const int64_t integers[] = { 0, 1, -1, 63, -64, 64, INT64_MAX, INT64_MIN };
    mcp_buf bytes;
    columns_cell cell;

    (void)state;
    mcp_buf_init(&bytes, 4096);
    for (size_t i = 0; i < 8; i++)
        columns_cell_put(&bytes,
                         &(columns_cell){ .kind = COLUMNS_CELL_INTEGER, .integer = integers[i] });
    columns_cell_put(&bytes, &(columns_cell){ .kind = COLUMNS_CELL_NUMBER, .number = -0.5 });
    columns_cell_put(&bytes, &(columns_cell){ .kind = COLUMNS_CELL_TEXT, .text = "", .length = 0 });
    columns_cell_put(&bytes, &(columns_cell){ .kind = COLUMNS_CELL_NULL });
    columns_cell_reader reader = { bytes.data, bytes.length, 0 };
    for (size_t i = 0; i < 8; i++) {
        assert_true(columns_cell_next(&reader, &cell));
        assert_int_equal(cell.integer, integers[i]);
    }
    assert_true(columns_cell_next(&reader, &cell));
    assert_true(cell.number == -0.5);
    assert_true(columns_cell_next(&reader, &cell));
    assert_int_equal(cell.kind, COLUMNS_CELL_TEXT);
    assert_true(columns_cell_next(&reader, &cell));
    assert_int_equal(cell.kind, COLUMNS_CELL_NULL);
    assert_false(columns_cell_next(&reader, &cell));
    /* Truncated at any byte, it ends before. */
    for (size_t length = 0; length < bytes.length; length++) {
        size_t count = 0;
        reader = (columns_cell_reader){ bytes.data, length, 0 };
        while (columns_cell_next(&reader, &cell))
            count++;
        assert_true(count < 11);
    }
    mcp_buf_clear(&bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sealed_engine_reads_its_files_alone),
        TEST(the_process_reaches_no_file_and_writes_none),
        TEST(many_files_are_passed),
        TEST(rows_end_at_their_bounds),
        TEST(an_endless_query_is_interrupted_or_killed),
        TEST(a_sink_ends_a_query),
        TEST(nothing_stays_open),
        TEST(queries_outlive_their_fork_server),
        TEST(a_query_survives_the_end_of_the_server),
        TEST(forks_have_their_own_random_numbers),
        TEST(closing_ends_all_processes),
        cmocka_unit_test(cells_are_read_as_they_were_written),
    };

    if (argc > 1 && strcmp(argv[1], COLUMNS_SEALED_COMMAND) == 0)
        return columns_sealed_main();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
