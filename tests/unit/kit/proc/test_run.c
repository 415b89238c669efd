/*
 * test_run.c - children run to their end: input, output, status, limits, deadlines.
 */
#include "guest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "oom.h"
#include "scratch.h"

static void expect_how(const proc_spec *spec, const proc_run_options *options, proc_how how)
{
    proc_result result;

    guest_run(&result, spec, options);
    assert_int_equal(result.end.how, how);
    proc_result_clear(&result);
}

static void input_comes_back(void **state)
{
    proc_spec spec = GUEST("echo");
    size_t length = 900000; /* more than the pipes hold */
    char *bytes = malloc(length);
    proc_result result;

    (void)state;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    guest_run(&result, &spec, &(proc_run_options){ .input = bytes, .length = length });
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_int_equal(result.end.code, 0);
    assert_int_equal(result.out.length, length);
    assert_memory_equal(result.out.data, bytes, length);
    assert_int_equal(result.err.length, 0);
    proc_result_clear(&result);
    free(bytes);
}

static void a_child_that_reads_no_input_is_no_error(void **state)
{
    static const char input[300000];
    proc_spec spec = GUEST("leave", "3");
    proc_result result;

    (void)state;
    guest_run(&result, &spec, &(proc_run_options){ .input = input, .length = sizeof input });
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_int_equal(result.end.code, 3);
    proc_result_clear(&result);
}

static void arguments_are_passed_as_they_are(void **state)
{
    proc_spec spec = GUEST("print", "a b", "$HOME;`id`", "", "\xc3\xa9\n");

    (void)state;
    guest_prints(&spec, "a b\n$HOME;`id`\n\n\xc3\xa9\n\n");
}

static void standard_error_is_apart(void **state)
{
    proc_spec spec = GUEST("complain", "no");
    proc_result result;

    (void)state;
    guest_run(&result, &spec, NULL);
    assert_int_equal(result.out.length, 0);
    assert_string_equal(result.err.data, "no");
    proc_result_clear(&result);
}

static void the_environment_is_that_of_the_spec(void **state)
{
    proc_spec spec = GUEST("environment");

    (void)state;
    setenv("SECRET_OF_OURS", "1", 1);
    guest_prints(&spec, "");
    spec.env = (const char *const[]){ "A=1", "B=x y", NULL };
    guest_prints(&spec, "A=1\nB=x y\n");
}

static void the_working_directory_is_that_of_the_spec(void **state)
{
    proc_spec spec = GUEST("cwd");
    mcp_error err = MCP_ERROR_INIT;
    proc_result result;
    scratch folder;

    (void)state;
    guest_prints(&spec, "/");
    scratch_open(&folder);
    spec.cwd = folder.path;
    guest_prints(&spec, folder.path);
    spec.cwd = scratch_path(&folder, "none");
    assert_int_equal(proc_run(&result, &spec, NULL, &err), MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "working directory"));
    proc_result_clear(&result);
    scratch_close(&folder);
}

static void descriptors_of_ours_are_closed(void **state)
{
    proc_spec spec = GUEST("descriptors");
    int leaky = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */

    (void)state;
    assert_true(leaky >= 0);
    guest_prints(&spec, "0 1 2 ");
    spec.fds = (const proc_fd[]){ { leaky, 3 }, { leaky, 63 }, { leaky, 10 } };
    spec.fd_count = 3;
    guest_prints(&spec, "0 1 2 3 10 63 ");
    close(leaky);
}

static void a_descriptor_has_its_number(void **state)
{
    proc_spec spec = GUEST("read-from", "9");
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "by pipe", 7), 7);
    spec.fds = &(proc_fd){ ends[0], 9 };
    spec.fd_count = 1;
    guest_prints(&spec, "by pipe");
    close(ends[0]);
    close(ends[1]);
}

static void signals_are_reset(void **state)
{
    proc_spec spec = GUEST("signals");
    sigset_t some;

    (void)state;
    signal(SIGINT, SIG_IGN);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, NULL);
    guest_prints(&spec, "leader");
    sigprocmask(SIG_UNBLOCK, &some, NULL);
    signal(SIGINT, SIG_DFL);
}

static void statuses(void **state)
{
    proc_spec nine = GUEST("die", "9"), segv = GUEST("die", "11"), leave = GUEST("leave", "200");
    proc_result result;

    (void)state;
    guest_run(&result, &nine, NULL);
    assert_int_equal(result.end.how, PROC_SIGNALED);
    assert_int_equal(result.end.signal, 9);
    assert_int_equal(result.end.code, -1);
    proc_result_clear(&result);
    guest_run(&result, &segv, NULL);
    assert_int_equal(result.end.how, PROC_SIGNALED);
    assert_int_equal(result.end.signal, 11);
    proc_result_clear(&result);
    guest_run(&result, &leave, NULL);
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_int_equal(result.end.code, 200);
    assert_int_equal(result.end.signal, 0);
    assert_true(result.end.memory_max_bytes > 0);
    proc_result_clear(&result);
}

static void refused(const proc_spec *spec, mcp_status expected, const char *words)
{
    mcp_error err = MCP_ERROR_INIT;
    proc *child = NULL;

    assert_int_equal(proc_start(&child, spec, &err), expected);
    assert_null(child);
    if (!strstr(err.message, words))
        fail_msg("'%s' does not name '%s'", err.message, words);
}

static void programs_that_cannot_run(void **state)
{
    proc_spec none = { .argv = (const char *const[]){ "/none/such", NULL } };
    proc_spec folder = { .argv = (const char *const[]){ "/", NULL } };
    proc_spec search = { .argv = (const char *const[]){ "no-such-program", NULL },
                         .env = (const char *const[]){ "PATH=/usr/bin:/bin", NULL } };
    proc_spec nothing = { .argv = (const char *const[]){ NULL } };
    proc_spec low = GUEST("leave", "0");
    char *long_word = malloc((1 << 20) + 1);

    (void)state;
    refused(&none, MCP_E_NOT_FOUND, "/none/such");
    refused(&folder, MCP_E_DENIED, "'/'");
    refused(&search, MCP_E_NOT_FOUND, "no-such-program");
    refused(&nothing, MCP_E_PARAMS, "program");
    low.fds = &(proc_fd){ 0, 2 };
    low.fd_count = 1;
    refused(&low, MCP_E_PARAMS, "3 to 63");
    low.fds = (const proc_fd[PROC_FDS_MAX + 1]){ { 0, 3 } };
    low.fd_count = PROC_FDS_MAX + 1;
    refused(&low, MCP_E_PARAMS, "at most 16");
    memset(long_word, 'x', 1 << 20);
    long_word[1 << 20] = '\0';
    none.env = (const char *const[]){ long_word, NULL };
    refused(&none, MCP_E_LIMIT, "1048576");
    free(long_word);
}

static void a_name_is_searched_in_the_path_of_the_child(void **state)
{
    proc_spec spec = { .argv = (const char *const[]){ "sh", "-c", "echo found", NULL },
                       .env = (const char *const[]){ "PATH=/none:/bin:/usr/bin", NULL },
                       .timeout_ms = GUEST_MS };

    (void)state;
    guest_prints(&spec, "found\n");
    spec.env = NULL;
    refused(&spec, MCP_E_NOT_FOUND, "'sh'");
}

static void endless_output_ends_the_child(void **state)
{
    proc_spec out = GUEST("flood", "1"), err = GUEST("flood", "2");
    proc_run_options options = { .out_max = 100000, .err_max = 1000 };
    proc_result result;

    (void)state;
    guest_run(&result, &out, &options);
    assert_int_equal(result.end.how, PROC_OUTPUT_LIMIT);
    assert_int_equal(result.out.length, 100000);
    proc_result_clear(&result);
    guest_run(&result, &err, &options);
    assert_int_equal(result.end.how, PROC_OUTPUT_LIMIT);
    assert_int_equal(result.err.length, 1000);
    proc_result_clear(&result);
}

static void output_of_the_limit_is_whole(void **state)
{
    proc_spec spec = GUEST("echo");
    proc_result result;

    (void)state;
    guest_run(&result, &spec,
              &(proc_run_options){ .input = "12345678", .length = 8, .out_max = 8 });
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_string_equal(result.out.data, "12345678");
    proc_result_clear(&result);
    expect_how(&spec, &(proc_run_options){ .input = "12345678", .length = 8, .out_max = 7 },
               PROC_OUTPUT_LIMIT);
}

static void the_deadline_ends_a_child(void **state)
{
    proc_spec hangs = GUEST("hang"), ignores = GUEST("ignore-sigterm"), loops = GUEST("spin");

    (void)state;
    hangs.timeout_ms = loops.timeout_ms = ignores.timeout_ms = 30;
    ignores.grace_ms = 30;
    expect_how(&hangs, NULL, PROC_TIMED_OUT);
    expect_how(&loops, NULL, PROC_TIMED_OUT);
    expect_how(&ignores, NULL, PROC_TIMED_OUT);
}

static bool stop_at_once(void *data)
{
    (*(int *)data)++;
    return true;
}

static void a_run_can_be_stopped(void **state)
{
    proc_spec spec = GUEST("hang");
    int asked = 0;

    (void)state;
    expect_how(&spec, &(proc_run_options){ .should_stop = stop_at_once, .data = &asked },
               PROC_STOPPED);
    assert_int_equal(asked, 1);
}

static void nothing_escapes(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    const char *lock = scratch_path(&folder, "lock");
    proc_spec ends = GUEST("escape", lock);
    guest_prints(&ends, "escaped\n");
    assert_false(is_locked(lock));
    proc_spec hangs = GUEST("escape", lock, "hang");
    hangs.timeout_ms = 300;
    expect_how(&hangs, NULL, PROC_TIMED_OUT);
    assert_false(is_locked(lock));
    scratch_close(&folder);
}

static void limits_are_set(void **state)
{
    proc_spec spec = GUEST("limits");

    (void)state;
    spec.limits = (proc_limits){
        .memory_bytes = 512 << 20, .cpu_s = 20, .file_bytes = 4096, .descriptors = 32, .nice = 3
    };
    int own = getpriority(PRIO_PROCESS, 0);
    char words[64];
    (void)snprintf(words, sizeof words, "536870912 20 4096 32 0 %d", own > 3 ? own : 3);
    guest_prints(&spec, words);
}

/* Where the kernel divides the processor among sessions (sched(7)), and the file tells. */
static void the_session_has_the_priority(void **state)
{
    proc_spec spec = GUEST("print", "");
    const char *argv[] = { "/bin/cat", "/proc/self/autogroup", NULL };
    proc_result result;

    (void)state;
    if (access("/proc/self/autogroup", W_OK) != 0)
        skip();
    spec.argv = argv;
    spec.limits.nice = 3;
    guest_run(&result, &spec, NULL);
    assert_non_null(strstr(result.out.data, " nice 3"));
    proc_result_clear(&result);
}

/* As below nice(1): an ordinary user may not raise a priority, and nobody wants that here. The last
 * test, as the priority of the test cannot be raised again either. */
static void a_lower_priority_is_kept(void **state)
{
    proc_spec spec = GUEST("limits");
    proc_result result;

    (void)state;
    assert_int_equal(setpriority(PRIO_PROCESS, 0, 19), 0);
    spec.limits.nice = 3;
    guest_run(&result, &spec, NULL);
    assert_non_null(strstr(result.out.data, " 19"));
    proc_result_clear(&result);
}

static void memory_is_limited(void **state)
{
    proc_spec spec = GUEST("allocate", "4294967296");

    (void)state;
    spec.limits.memory_bytes = 256 << 20;
    guest_prints(&spec, "refused");
}

static void files_are_limited(void **state)
{
    scratch folder;

    (void)state;
    scratch_open(&folder);
    proc_spec spec = GUEST("write-file", scratch_path(&folder, "big"));
    spec.limits.file_bytes = 8192;
    guest_prints(&spec, "8192 File too large");
    spec.limits.file_bytes = PROC_NO_BYTES;
    guest_prints(&spec, "0 File too large");
    scratch_close(&folder);
}

static void processor_time_is_limited(void **state)
{
    proc_spec spec = GUEST("spin");
    proc_result result;

    (void)state;
    spec.limits.cpu_s = 1;
    guest_run(&result, &spec, NULL);
    assert_int_equal(result.end.how, PROC_SIGNALED);
    assert_true(result.end.cpu_ms > 0);
    proc_result_clear(&result);
}

static mcp_status run_once(void *data)
{
    proc_spec spec = GUEST("echo");
    proc_result result;
    mcp_status st = proc_run(&result, &spec, data, NULL);

    proc_result_clear(&result);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    oom_walk(run_once, &(proc_run_options){ .input = "1234", .length = 4 });
}

static void no_descriptor_leaks(void **state)
{
    proc_spec spec = GUEST("leave", "0"), none = { .argv = (const char *const[]){ "/none", NULL } };
    size_t before = scratch_open_descriptors();

    (void)state;
    expect_how(&spec, NULL, PROC_EXITED);
    refused(&none, MCP_E_NOT_FOUND, "/none");
    assert_int_equal(scratch_open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_comes_back),
        cmocka_unit_test(a_child_that_reads_no_input_is_no_error),
        cmocka_unit_test(arguments_are_passed_as_they_are),
        cmocka_unit_test(standard_error_is_apart),
        cmocka_unit_test(the_environment_is_that_of_the_spec),
        cmocka_unit_test(the_working_directory_is_that_of_the_spec),
        cmocka_unit_test(descriptors_of_ours_are_closed),
        cmocka_unit_test(a_descriptor_has_its_number),
        cmocka_unit_test(signals_are_reset),
        cmocka_unit_test(statuses),
        cmocka_unit_test(programs_that_cannot_run),
        cmocka_unit_test(a_name_is_searched_in_the_path_of_the_child),
        cmocka_unit_test(endless_output_ends_the_child),
        cmocka_unit_test(output_of_the_limit_is_whole),
        cmocka_unit_test(the_deadline_ends_a_child),
        cmocka_unit_test(a_run_can_be_stopped),
        cmocka_unit_test(nothing_escapes),
        cmocka_unit_test(limits_are_set),
        cmocka_unit_test(the_session_has_the_priority),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(files_are_limited),
        cmocka_unit_test(processor_time_is_limited),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(no_descriptor_leaks),
        cmocka_unit_test(a_lower_priority_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
