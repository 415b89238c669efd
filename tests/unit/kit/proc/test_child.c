/*
 * test_child.c - conversations with children, and their end.
 */
#include "guest.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "scratch.h"

static void lines_are_exchanged(void **state)
{
    proc_spec spec = GUEST("echo");
    proc *child = guest_start(&spec);
    proc_end end;
    const char *line;
    size_t length;

    (void)state;
    assert_int_equal(proc_write(child, "one\ntwo\n\nthr", 12, soon(), NULL), MCP_OK);
    guest_says(child, "one");
    guest_says(child, "two");
    guest_says(child, "");
    assert_int_equal(proc_read_line(child, &line, &length, mcp_clock_mono_ms() + 20, NULL),
                     MCP_E_TIMEOUT);
    assert_int_equal(proc_write(child, "ee\n", 3, soon(), NULL), MCP_OK);
    guest_says(child, "three");
    proc_close(child, PROC_STDIN);
    assert_int_equal(proc_read_line(child, &line, &length, soon(), NULL), MCP_OK);
    assert_null(line);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_EXITED);
    assert_int_equal(end.code, 0);
    assert_int_equal(proc_write(child, "x", 1, soon(), NULL), MCP_E_PARAMS);
    proc_free(child);
}

static void long_lines(void **state)
{
    proc_spec spec = GUEST("echo");
    char text[10001];
    const char *line;
    size_t length;

    (void)state;
    memset(text, 'a', sizeof text);
    text[10000] = '\n';
    spec.line_max = 10000;
    proc *child = guest_start(&spec);
    assert_int_equal(proc_write(child, text, sizeof text, soon(), NULL), MCP_OK);
    assert_int_equal(proc_read_line(child, &line, &length, soon(), NULL), MCP_OK);
    assert_int_equal(length, 10000);
    assert_int_equal(proc_write(child, "a", 1, soon(), NULL), MCP_OK);
    assert_int_equal(proc_write(child, text, sizeof text, soon(), NULL), MCP_OK);
    assert_int_equal(proc_read_line(child, &line, &length, soon(), NULL), MCP_E_LIMIT);
    assert_int_equal(proc_descriptor(child, PROC_STDOUT), -1);
    proc_free(child);
}

static void a_stream_that_ends_within_a_line(void **state)
{
    proc_spec spec = GUEST("echo");
    proc *child = guest_start(&spec);
    const char *line;
    size_t length;

    (void)state;
    assert_int_equal(proc_write(child, "half", 4, soon(), NULL), MCP_OK);
    proc_close(child, PROC_STDIN);
    assert_int_equal(proc_read_line(child, &line, &length, soon(), NULL), MCP_E_PARSE);
    proc_free(child);
}

static void a_child_that_is_gone_reads_no_more(void **state)
{
    proc_spec spec = GUEST("leave", "0");
    proc *child = guest_start(&spec);

    (void)state;
    signal(SIGPIPE, SIG_DFL); /* it must not end this process */
    assert_int_equal(proc_wait(child, NULL, soon(), NULL), MCP_OK);
    assert_int_equal(proc_write(child, "x", 1, soon(), NULL), MCP_E_STOPPED);
    proc_free(child);
}

static void a_full_pipe_has_a_deadline(void **state)
{
    static const char much[300000];
    proc_spec spec = GUEST("hang");
    proc *child = guest_start(&spec);

    (void)state;
    assert_int_equal(proc_write(child, much, sizeof much, mcp_clock_mono_ms() + 20, NULL),
                     MCP_E_TIMEOUT);
    assert_int_equal(proc_wait(child, NULL, mcp_clock_mono_ms() + 20, NULL), MCP_E_TIMEOUT);
    proc_free(child);
}

static void sigterm_comes_first(void **state)
{
    proc_spec spec = GUEST("catch-sigterm");
    proc *child = guest_start(&spec);
    proc_end end;

    (void)state;
    guest_says(child, "ready");
    proc_stop(child);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_STOPPED);
    assert_int_equal(end.code, 7);
    proc_free(child);
}

static void sigkill_comes_after_the_grace(void **state)
{
    proc_spec spec = GUEST("ignore-sigterm");
    proc_end end;

    (void)state;
    spec.grace_ms = 20;
    proc *child = guest_start(&spec);
    guest_says(child, "ready");
    proc_stop(child);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_STOPPED);
    assert_int_equal(end.signal, SIGKILL);
    assert_int_equal(proc_wait(child, &end, 0, NULL), MCP_OK); /* again */
    proc_free(child);
}

static void the_end_can_be_polled(void **state)
{
    proc_spec spec = GUEST("hang");
    proc *child = guest_start(&spec);
    struct pollfd end = { .fd = proc_end_descriptor(child), .events = POLLIN };

    (void)state;
    assert_int_equal(poll(&end, 1, 0), 0);
    proc_kill(child);
    assert_int_equal(poll(&end, 1, GUEST_MS), 1);
    proc_free(child);
}

static void freeing_kills(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    const char *lock = scratch_path(&folder, "lock");
    proc_spec spec = GUEST("escape", lock, "hang");
    proc *child = guest_start(&spec);
    guest_says(child, "escaped");
    assert_true(is_locked(lock));
    proc_free(child);
    assert_false(is_locked(lock));
    proc_free(NULL);
    scratch_close(&folder);
}

static void await_unlock(const char *path)
{
    int64_t until_ms = soon();

    while (is_locked(path)) {
        if (mcp_clock_mono_ms() > until_ms)
            fail_msg("a process has escaped");
        usleep(2000);
    }
}

/* The caller is killed by SIGKILL: the child and what it started end. */
static void a_killed_caller_takes_all_along(void **state)
{
    scratch folder;
    int ready[2];
    char byte;

    (void)state;
    scratch_open(&folder);
    const char *lock = scratch_path(&folder, "lock");
    assert_int_equal(pipe(ready), 0);
    pid_t caller = fork();
    if (caller == 0) {
        proc_spec spec = GUEST("escape", lock, "hang");
        proc *child = NULL;
        const char *line;
        size_t length;
        if (proc_start(&child, &spec, NULL) == MCP_OK &&
            proc_read_line(child, &line, &length, soon(), NULL) == MCP_OK && line)
            (void)!write(ready[1], "y", 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(is_locked(lock));
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    await_unlock(lock);
    close(ready[0]);
    scratch_close(&folder);
}

static void a_killed_launcher_is_reported(void **state)
{
    proc_spec spec = GUEST("hang");
    proc *child = guest_start(&spec);
    proc_end end;

    (void)state;
    kill(proc_pid(child), SIGKILL);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_LOST);
    assert_int_equal(end.code, -1);
    proc_free(child);
}

enum { THREADS = 4, STARTS = 5 };

static const char *start_some(void)
{
    for (int i = 0; i < STARTS; i++) {
        proc_spec spec = GUEST("print", "ready");
        proc *child = NULL;
        const char *line = NULL;
        size_t length;
        if (proc_start(&child, &spec, NULL) != MCP_OK)
            return "no start";
        if (proc_read_line(child, &line, &length, soon(), NULL) != MCP_OK || !line ||
            strcmp(line, "ready") != 0)
            return "no line";
        if (proc_wait(child, NULL, soon(), NULL) != MCP_OK)
            return "no end";
        proc_free(child);
    }
    return NULL;
}

static void *run_starts(void *data)
{
    *(const char **)data = start_some();
    return NULL;
}

static void threads_start_children(void **state)
{
    pthread_t threads[THREADS];
    const char *failures[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_starts, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_null(failures[i]);
    }
}

static void *stop_soon(void *data)
{
    usleep(20000);
    proc_stop(data);
    return NULL;
}

static void another_thread_stops_a_child(void **state)
{
    proc_spec spec = GUEST("hang");
    proc *child = guest_start(&spec);
    pthread_t thread;
    proc_end end;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, child), 0);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_STOPPED);
    pthread_join(thread, NULL);
    proc_free(child);
}

/* A child outlives the thread that started it. */
static void *start_one(void *data)
{
    *(proc **)data = guest_start(&GUEST("echo"));
    return NULL;
}

static void the_starting_thread_may_end(void **state)
{
    proc *child = NULL;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, start_one, &child), 0);
    pthread_join(thread, NULL);
    assert_int_equal(proc_write(child, "still\n", 6, soon(), NULL), MCP_OK);
    guest_says(child, "still");
    proc_free(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_exchanged),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(a_stream_that_ends_within_a_line),
        cmocka_unit_test(a_child_that_is_gone_reads_no_more),
        cmocka_unit_test(a_full_pipe_has_a_deadline),
        cmocka_unit_test(sigterm_comes_first),
        cmocka_unit_test(sigkill_comes_after_the_grace),
        cmocka_unit_test(the_end_can_be_polled),
        cmocka_unit_test(freeing_kills),
        cmocka_unit_test(a_killed_caller_takes_all_along),
        cmocka_unit_test(a_killed_launcher_is_reported),
        cmocka_unit_test(threads_start_children),
        cmocka_unit_test(another_thread_stops_a_child),
        cmocka_unit_test(the_starting_thread_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
