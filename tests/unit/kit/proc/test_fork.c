/*
 * test_fork.c - children that are forks of a server, and what ends with it.
 */
#define GUEST_IS_FORKED
#include "guest.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "scratch.h"

/* Each has what the server had, and changes its own. */
static void a_child_has_the_memory_of_the_server(void **state)
{
    proc_spec spec = GUEST("count");

    (void)state;
    guest_prints(&spec, "43");
    guest_prints(&spec, "43");
    assert_true(proc_fork_server_pid(guest_server()) > 0);
}

static void a_child_has_what_its_spec_names(void **state)
{
    static const char *const env[] = { "A=1", NULL };
    int open_one = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    guest_server_end();                         /* the next one could inherit it */
    proc_fd extra = { .fd = open_one, .as = 7 };
    proc_spec descriptors = GUEST("descriptors");
    proc_spec environment = GUEST("environment");
    proc_spec cwd = GUEST("cwd");
    proc_spec signals = GUEST("signals");
    proc_spec limits = GUEST("limits");

    (void)state;
    guest_prints(&descriptors, "0 1 2 ");
    descriptors.fds = &extra;
    descriptors.fd_count = 1;
    guest_prints(&descriptors, "0 1 2 7 ");
    environment.env = env;
    guest_prints(&environment, "A=1\n");
    cwd.cwd = "/usr";
    guest_prints(&cwd, "/usr");
    guest_prints(&signals, "leader");
    limits.limits = (proc_limits){
        .memory_bytes = 512 << 20, .cpu_s = 20, .file_bytes = 4096, .descriptors = 32, .nice = 3
    };
    guest_prints(&limits, "536870912 20 4096 32 0 3");
    close(open_one);
}

static void its_end_is_reported(void **state)
{
    proc_spec leaves = GUEST("leave", "5");
    proc_spec dies = GUEST("die", "11");
    proc_result result;

    (void)state;
    guest_run(&result, &leaves, NULL);
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_int_equal(result.end.code, 5);
    proc_result_clear(&result);
    guest_run(&result, &dies, NULL);
    assert_int_equal(result.end.how, PROC_SIGNALED);
    assert_int_equal(result.end.signal, 11);
    proc_result_clear(&result);
}

static void says_again(proc *child, const char *line)
{
    assert_int_equal(proc_write(child, line, strlen(line), soon(), NULL), MCP_OK);
    assert_int_equal(proc_write(child, "\n", 1, soon(), NULL), MCP_OK);
    guest_says(child, line);
}

static void a_killed_server_is_replaced_and_its_children_live(void **state)
{
    proc_spec spec = GUEST("echo");
    proc *first = guest_start(&spec);
    pid_t killed = proc_fork_server_pid(guest_server());

    (void)state;
    says_again(first, "one");
    kill(killed, SIGKILL);
    says_again(first, "two");
    while (proc_fork_server_pid(guest_server()) == killed) { /* until its end is seen */
        proc *other = NULL;
        if (proc_start(&other, &spec, NULL) == MCP_OK)
            says_again(other, "three");
        proc_free(other);
    }
    proc *second = guest_start(&spec);
    says_again(second, "four");
    says_again(first, "five");
    proc_free(first);
    proc_free(second);
}

static void its_children_live_when_it_is_freed(void **state)
{
    static const char *const argv[] = { PROC_GUEST, "serve", NULL };
    proc_spec spec = GUEST("echo");

    (void)state;
    assert_int_equal(proc_fork_server_new(&spec.fork_server, argv, NULL, NULL), MCP_OK);
    proc *child = guest_start(&spec);
    pid_t pid = proc_fork_server_pid(spec.fork_server);
    proc_fork_server_free(spec.fork_server);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    says_again(child, "one");
    proc_free(child);
}

/* In a process of its own, which is then killed. */
static _Noreturn void be_a_caller(int ready, const char *lock)
{
    proc_spec spec = GUEST("escape", lock, "hang");
    const char *line = NULL;
    size_t length;
    proc *child = NULL;

    if (proc_start(&child, &spec, NULL) != MCP_OK ||
        proc_read_line(child, &line, &length, soon(), NULL) != MCP_OK || !line)
        _exit(1);
    pid_t server = proc_fork_server_pid(spec.fork_server);
    if (write(ready, &server, sizeof server) != sizeof server)
        _exit(1);
    for (;;)
        pause();
}

static void a_killed_caller_takes_all_along(void **state)
{
    scratch folder;
    int ready[2];
    pid_t server = 0;

    (void)state;
    guest_server_end(); /* the caller has one of its own */
    scratch_open(&folder);
    const char *lock = scratch_path(&folder, "lock");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t caller = fork();
    if (caller == 0)
        be_a_caller(ready[1], lock);
    close(ready[1]);
    assert_int_equal(read(ready[0], &server, sizeof server), sizeof server);
    assert_true(is_locked(lock));
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    assert_int_equal(waitpid(server, NULL, 0), server);
    for (int64_t until_ms = soon(); is_locked(lock);) {
        if (mcp_clock_mono_ms() > until_ms)
            fail_msg("a child has outlived its caller");
        usleep(2000);
    }
    close(ready[0]);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    scratch_close(&folder);
}

static void what_cannot_serve_starts_no_child(void **state)
{
    static const char *const none[] = { "/none/such", NULL };
    static const char *const threads[] = { PROC_GUEST, "serve-with-thread", NULL };
    static const char *const other[] = { PROC_GUEST, "leave", "0", NULL };
    static const char *const no_path[] = { "guest", NULL };
    const struct row {
        const char *const *argv;
        mcp_status status;
    } rows[] = { { none, MCP_E_NOT_FOUND }, { threads, MCP_E_IO }, { other, MCP_E_IO } };
    proc_fork_server *server = NULL;
    proc_spec spec = GUEST("echo");

    (void)state;
    assert_int_equal(proc_fork_server_new(&server, no_path, NULL, NULL), MCP_E_PARAMS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        proc *child = NULL;
        assert_int_equal(proc_fork_server_new(&server, rows[i].argv, NULL, NULL), MCP_OK);
        spec.fork_server = server;
        assert_int_equal(proc_start(&child, &spec, NULL), rows[i].status);
        assert_null(child);
        proc_fork_server_free(server);
    }
}

static void nothing_stays_open(void **state)
{
    static const char *const argv[] = { PROC_GUEST, "serve", NULL };
    proc_spec spec = GUEST("count");
    size_t before = scratch_open_descriptors();

    (void)state;
    assert_int_equal(proc_fork_server_new(&spec.fork_server, argv, NULL, NULL), MCP_OK);
    guest_prints(&spec, "43");
    kill(proc_fork_server_pid(spec.fork_server), SIGKILL);
    proc_fork_server_free(spec.fork_server);
    assert_int_equal(scratch_open_descriptors(), before);
}

enum { THREADS = 4, STARTS = 5 };

static void *start_some(void *data)
{
    static char failed[] = "failed";
    proc_spec *spec = data;

    for (int i = 0; i < STARTS; i++) {
        proc *child = NULL;
        const char *line = NULL;
        size_t length = 0;
        bool is_good = proc_start(&child, spec, NULL) == MCP_OK &&
                       proc_read_line(child, &line, &length, soon(), NULL) == MCP_OK && line &&
                       strcmp(line, "ready") == 0;
        proc_free(child);
        if (!is_good)
            return failed;
    }
    return NULL;
}

static void threads_share_a_server(void **state)
{
    proc_spec spec = GUEST("print", "ready");
    pthread_t threads[THREADS];
    void *failure = NULL;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_some, &spec), 0);
    for (int i = 0; i < THREADS; i++) {
        void *one = NULL;
        pthread_join(threads[i], &one);
        failure = one ? one : failure;
    }
    assert_null(failure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_the_memory_of_the_server),
        cmocka_unit_test(a_child_has_what_its_spec_names),
        cmocka_unit_test(its_end_is_reported),
        cmocka_unit_test(a_killed_server_is_replaced_and_its_children_live),
        cmocka_unit_test(its_children_live_when_it_is_freed),
        cmocka_unit_test(a_killed_caller_takes_all_along),
        cmocka_unit_test(what_cannot_serve_starts_no_child),
        cmocka_unit_test(nothing_stays_open),
        cmocka_unit_test(threads_share_a_server),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);

    guest_server_end();
    return failures;
}
