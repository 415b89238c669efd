/*
 * test_protect.c - each protection that this system has, against what it must prevent.
 *
 * The tests ask proc_protections what holds here and skip the rest: in a container less may hold.
 * Where they run as root the children run as another user.
 */
#include "guest.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <arpa/inet.h>

#include "scratch.h"

enum { NOBODY = 65534 };

static uid_t other_user(void)
{
    return geteuid() == 0 ? NOBODY : 0;
}

/* Skips the test where the protections do not hold. */
static void needs(unsigned protections)
{
    static unsigned held;
    static bool is_known;
    char words[PROC_WORDS_SIZE];

    if (!is_known)
        held = proc_protections(other_user());
    is_known = true;
    if ((held & protections) == protections)
        return;
    print_message("this system lacks %s\n", proc_protection_words(words, protections & ~held));
    skip();
}

static const proc_path libraries[] = {
    { "/lib", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/lib64", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/usr/lib", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/usr/lib64", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { PROC_GUEST, -1, PROC_READ | PROC_EXECUTE },
    { NULL, -1, 0 }, /* two for the tests */
    { NULL, -1, 0 },
};

enum { LIBRARIES = 5 };

/* A guest that has these protections or does not start. */
static proc_spec protect(proc_spec spec, unsigned protections)
{
    spec.required = protections;
    spec.uid = other_user();
    spec.gid = (gid_t)other_user();
    spec.may_read_all_files = true; /* the build folder may be private */
    spec.paths = libraries;
    spec.path_count = LIBRARIES;
    return spec;
}

static void expect(proc_spec spec, unsigned protections, const char *output)
{
    spec = protect(spec, protections);
    guest_prints(&spec, output);
}

static void words(void **state)
{
    char all[PROC_WORDS_SIZE];

    (void)state;
    assert_string_equal(proc_protection_words(all, 0), "none");
    assert_string_equal(proc_protection_words(all, PROC_FILES | PROC_TREE),
                        "pid-namespace+landlock");
    assert_string_equal(proc_protection_words(all, ~0U),
                        "pid-namespace+user+process-limit+landlock+no-network+seccomp+no-fork+"
                        "no-exec");
    print_message("here: %s\n", proc_protection_words(all, proc_protections(other_user())));
}

static void what_is_not_requested_does_not_hold(void **state)
{
    proc_spec spec = GUEST("hang");
    proc *child = guest_start(&spec);

    (void)state;
    assert_int_equal(proc_held(child), 0);
    proc_free(child);
}

static void what_is_requested_holds_where_it_can(void **state)
{
    unsigned requested = PROC_TREE | PROC_USER | PROC_FILES | PROC_NO_NETWORK | PROC_SYSCALLS;
    proc_spec spec = protect(GUEST("hang"), 0);

    (void)state;
    spec.protect = requested;
    proc *child = guest_start(&spec);
    assert_int_equal(proc_held(child), proc_protections(other_user()) & requested);
    proc_free(child);
}

/* Root without another user is not bound by the limit of processes. */
static void what_is_required_and_lacks_is_refused(void **state)
{
    proc_spec spec = GUEST("hang");
    mcp_error err = MCP_ERROR_INIT;
    proc *child = NULL;

    (void)state;
    spec.required = PROC_NO_EXEC;
    assert_int_equal(proc_start(&child, &spec, &err), MCP_E_PARAMS);
    spec.required = PROC_COUNT;
    assert_int_equal(proc_start(&child, &spec, &err), MCP_E_PARAMS);
    if (geteuid() != 0)
        return;
    spec.limits.processes = 8;
    assert_int_equal(proc_start(&child, &spec, &err), MCP_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "process-limit"));
    assert_null(child);
}

static void nothing_outlives_its_namespace(void **state)
{
    scratch folder;
    proc_result result;

    (void)state;
    needs(PROC_TREE);
    scratch_open(&folder);
    chmod(folder.path, 0777);
    const char *lock = scratch_path(&folder, "lock");
    proc_spec ends = protect(GUEST("escape", lock), PROC_TREE);
    guest_prints(&ends, "escaped\n");
    assert_false(is_locked(lock));
    proc_spec hangs = protect(GUEST("escape", lock, "hang"), PROC_TREE);
    hangs.timeout_ms = 300;
    guest_run(&result, &hangs, NULL);
    assert_int_equal(result.end.how, PROC_TIMED_OUT);
    assert_false(is_locked(lock));
    proc_result_clear(&result);
    scratch_close(&folder);
}

static void a_child_in_a_namespace_ends_as_others_do(void **state)
{
    proc_spec spec = protect(GUEST("catch-sigterm"), PROC_TREE);
    proc_spec dies = protect(GUEST("die", "15"), PROC_TREE);
    proc_spec leaves = protect(GUEST("leave", "5"), PROC_TREE);
    proc_result result;
    proc_end end;

    (void)state;
    needs(PROC_TREE);
    proc *child = guest_start(&spec);
    guest_says(child, "ready");
    proc_stop(child);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_STOPPED);
    assert_int_equal(end.code, 7);
    proc_free(child);
    guest_run(&result, &dies, NULL);
    assert_int_equal(result.end.how, PROC_SIGNALED);
    assert_int_equal(result.end.signal, 15);
    proc_result_clear(&result);
    guest_run(&result, &leaves, NULL);
    assert_int_equal(result.end.how, PROC_EXITED);
    assert_int_equal(result.end.code, 5);
    proc_result_clear(&result);
}

static void the_supervisor_cannot_be_killed(void **state)
{
    proc_spec spec = protect(GUEST("kill-parents"), PROC_TREE);
    proc_end end;

    (void)state;
    needs(PROC_TREE);
    proc *child = guest_start(&spec);
    guest_says(child, "ready");
    proc_stop(child);
    assert_int_equal(proc_wait(child, &end, soon(), NULL), MCP_OK);
    assert_int_equal(end.how, PROC_STOPPED);
    assert_int_equal(end.signal, SIGTERM);
    proc_free(child);
}

/* Even when the launcher is killed, the namespace ends with it. */
static void the_namespace_ends_with_its_launcher(void **state)
{
    scratch folder;

    (void)state;
    needs(PROC_TREE);
    scratch_open(&folder);
    chmod(folder.path, 0777);
    const char *lock = scratch_path(&folder, "lock");
    proc_spec spec = protect(GUEST("escape", lock, "hang"), PROC_TREE);
    proc *child = guest_start(&spec);
    guest_says(child, "escaped");
    kill(proc_pid(child), SIGKILL);
    for (int64_t until_ms = soon(); is_locked(lock);) {
        if (mcp_clock_mono_ms() > until_ms)
            fail_msg("a process has escaped");
        usleep(2000);
    }
    proc_free(child);
    scratch_close(&folder);
}

/* Run a bomb with room for 16 processes, and expect that it ends with few. Others of the user count
 * as well: where they end meanwhile there may be more, where they begin perhaps none. */
static void expect_bound(proc_spec spec)
{
    proc_result result;
    long count = 0;

    spec = protect(spec, PROC_COUNT);
    spec.protect = PROC_TREE | PROC_USER;
    spec.limits.processes = 16;
    for (int64_t until_ms = soon(); count == 0 && mcp_clock_mono_ms() < until_ms;) {
        guest_run(&result, &spec, NULL);
        assert_int_equal(result.end.how, PROC_EXITED);
        count = strtol(result.out.data, NULL, 10);
        proc_result_clear(&result);
    }
    assert_in_range(count, 1, 200);
}

static void processes_are_bounded(void **state)
{
    (void)state;
    needs(PROC_COUNT);
    expect_bound(GUEST("fork-bomb"));
    expect_bound(GUEST("thread-bomb"));
}

/* Without a namespace, too, a bomb ends with the child. */
static void a_bomb_is_swept_away(void **state)
{
    proc_spec spec = GUEST("fork-bomb");
    proc_result result;

    (void)state;
    needs(PROC_COUNT);
    spec = protect(spec, PROC_COUNT);
    spec.limits.processes = 50;
    guest_run(&result, &spec, NULL);
    assert_int_equal(result.end.how, PROC_EXITED);
    proc_result_clear(&result);
}

static void files_outside_are_not_opened(void **state)
{
    scratch folder;
    proc_path paths[LIBRARIES + 2];

    (void)state;
    needs(PROC_FILES);
    scratch_open(&folder);
    chmod(folder.path, 0777);
    scratch_write(&folder, "in/read", "x", 1);
    scratch_write(&folder, "out/read", "x", 1);
    scratch_write(&folder, "rw/read", "x", 1);
    char in[600], other[600], up[600], rw[600], mine[600];
    snprintf(in, sizeof in, "%s/in/read", folder.path);
    snprintf(other, sizeof other, "%s/out/read", folder.path);
    snprintf(up, sizeof up, "%s/in/../out/read", folder.path);
    snprintf(rw, sizeof rw, "%s/rw", folder.path);
    snprintf(mine, sizeof mine, "%s/rw/mine", folder.path);
    chmod(rw, 0777);
    memcpy(paths, libraries, sizeof paths);
    paths[LIBRARIES] = (proc_path){ NULL, open(in, O_PATH), PROC_READ };
    paths[LIBRARIES + 1] = (proc_path){ rw, -1, PROC_READ | PROC_WRITE };

    const struct row {
        proc_spec spec;
        const char *output;
    } rows[] = {
        { GUEST("open", in), "done" },
        { GUEST("open", mine, "write"), "done" },
        { GUEST("open", in, "write"), "Permission denied" },
        { GUEST("open", other), "Permission denied" },
        { GUEST("open", up), "Permission denied" },
        { GUEST("open", "/etc/passwd"), "Permission denied" },
        { GUEST("open", "/proc/self/environ"), "Permission denied" },
        { GUEST("open", "/proc/1/cmdline"), "Permission denied" },
        { GUEST("open", "/"), "Permission denied" },
        { GUEST("exec", "/bin/sh"), "Permission denied" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        proc_spec spec = protect(rows[i].spec, PROC_FILES);
        spec.paths = paths;
        spec.path_count = LIBRARIES + 2;
        guest_prints(&spec, rows[i].output);
    }
    close(paths[LIBRARIES].fd);
    scratch_close(&folder);
}

static void a_path_that_is_not_there(void **state)
{
    proc_spec spec = GUEST("leave", "0");
    proc_path none = { "/none/such", -1, PROC_READ };
    mcp_error err = MCP_ERROR_INIT;
    proc *child = NULL;

    (void)state;
    needs(PROC_FILES);
    spec.required = PROC_FILES;
    spec.paths = &none;
    spec.path_count = 1;
    assert_int_equal(proc_start(&child, &spec, &err), MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "/none/such"));
}

static void there_are_no_sockets(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t length = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    char port[8];

    (void)state;
    needs(PROC_NO_NETWORK);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&at, &length);
    snprintf(port, sizeof port, "%d", ntohs(at.sin_port));
    guest_prints(&GUEST("connect", port), "done");
    expect(GUEST("connect", port), PROC_NO_NETWORK, "Operation not permitted");
    expect(GUEST("sockets"), PROC_NO_NETWORK, "0");
    close(listener);
}

static void dangerous_calls_are_refused(void **state)
{
    (void)state;
    needs(PROC_SYSCALLS);
    expect(GUEST("trace-itself"), PROC_SYSCALLS, "Operation not permitted");
    expect(GUEST("namespace"), PROC_SYSCALLS, "Operation not permitted");
    expect(GUEST("ring"), PROC_SYSCALLS, "Operation not permitted");
    expect(GUEST("clone3"), PROC_SYSCALLS, "Function not implemented");
    expect(GUEST("fork"), PROC_SYSCALLS, "done");
    expect(GUEST("thread"), PROC_SYSCALLS, "done");
}

static void there_are_no_new_processes(void **state)
{
    (void)state;
    needs(PROC_NO_FORK);
    expect(GUEST("fork"), PROC_NO_FORK, "Operation not permitted");
    expect(GUEST("clone3"), PROC_NO_FORK, "Function not implemented");
    expect(GUEST("fork-bomb"), PROC_NO_FORK, "0");
    expect(GUEST("thread"), PROC_NO_FORK, "done");
}

static void other_processes_are_out_of_reach(void **state)
{
    char pid[16], environment[64];

    (void)state;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(environment, sizeof environment, "/proc/%s/environ", pid);
    needs(PROC_TREE | PROC_USER);
    expect(GUEST("signal", pid, "0"), PROC_TREE | PROC_USER, "No such process");
    expect(GUEST("trace", pid), PROC_TREE | PROC_USER, "No such process");
    expect(GUEST("open", environment), PROC_TREE | PROC_USER, "Permission denied");
    needs(PROC_FILES);
    expect(GUEST("open", environment), PROC_FILES, "Permission denied");
}

static void there_are_no_capabilities(void **state)
{
    char expected[32];
    proc_spec spec = GUEST("identity");

    (void)state;
    needs(PROC_USER);
    snprintf(expected, sizeof expected, "%u %x 0", geteuid() == 0 ? NOBODY : geteuid(),
             geteuid() == 0 ? 1U << 2 : 0); /* CAP_DAC_READ_SEARCH alone */
    expect(spec, PROC_USER, expected);
    if (geteuid() != 0 || !(proc_protections(0) & PROC_USER))
        return;
    spec.required = PROC_USER; /* root in a user namespace */
    guest_prints(&spec, "0 0 0");
}

/* What a unit of systemd may do to its service: no capabilities, and unshare and capset refused. */
static void become_confined(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_capset, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

    for (int number = 0; number < 64; number++)
        prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    if (syscall(SYS_capset, &head, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(2);
}

static void a_service_without_capabilities_has_children(void **state)
{
    int status = 0;

    (void)state;
    needs(PROC_SYSCALLS);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        proc_spec spec = GUEST("identity");
        proc_result result;
        spec.protect = PROC_USER | PROC_TREE;
        become_confined();
        _exit(proc_run(&result, &spec, NULL, NULL) == MCP_OK && result.end.how == PROC_EXITED ? 0
                                                                                              : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Bytes in a file, at their beginning. */
static int file_of(const mcp_buf *bytes)
{
    int fd = memfd_create("bytes", 0);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes->data, bytes->length), bytes->length);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void a_process_restricts_itself(void **state)
{
    scratch folder;
    proc_path paths[LIBRARIES + 2];
    mcp_buf filter;
    int ruleset = -1;

    (void)state;
    needs(PROC_FILES | PROC_SYSCALLS);
    scratch_open(&folder);
    scratch_write(&folder, "input", "x", 1);
    scratch_write(&folder, "other", "x", 1);
    char input[600], other[600];
    snprintf(input, sizeof input, "%s/input", folder.path);
    snprintf(other, sizeof other, "%s/other", folder.path);
    paths[0] = (proc_path){ NULL, open(input, O_RDONLY), PROC_READ };
    assert_int_equal(proc_ruleset(&ruleset, paths, 1, NULL), MCP_OK);
    mcp_buf_init(&filter, 32768);
    assert_int_equal(
        proc_filter(&filter, PROC_SYSCALLS | PROC_NO_NETWORK | PROC_NO_FORK | PROC_NO_EXEC, NULL),
        MCP_OK);
    assert_int_equal(filter.length % 8, 0);
    proc_spec spec = GUEST("restrict", input, other, "landlock");
    const proc_fd fds[] = { { ruleset, 3 }, { file_of(&filter), 4 } };
    spec.fds = fds;
    spec.fd_count = 2;
    guest_prints(&spec, "done,Permission denied,Operation not permitted,Operation not permitted,0,"
                        "done");
    close(fds[1].fd);
    close(ruleset);
    close(paths[0].fd);
    mcp_buf_clear(&filter);
    scratch_close(&folder);
}

static void a_filter_has_its_buffer(void **state)
{
    mcp_buf small;

    (void)state;
    mcp_buf_init(&small, 16);
    assert_int_equal(proc_filter(&small, PROC_SYSCALLS, NULL), MCP_E_LIMIT);
    mcp_buf_clear(&small);
}

static void all_at_once(void **state)
{
    unsigned all = proc_protections(other_user());
    proc_spec spec = protect(GUEST("echo"), all);
    proc_result result;

    (void)state;
    spec.limits = (proc_limits){
        .memory_bytes = 1 << 30,
        .cpu_s = 60,
        .file_bytes = PROC_NO_BYTES,
        .descriptors = 64,
        .processes = 64,
        .nice = 5,
    };
    guest_run(&result, &spec, &(proc_run_options){ .input = "sealed", .length = 6 });
    assert_int_equal(result.end.code, 0);
    assert_string_equal(result.out.data, "sealed");
    proc_result_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(what_is_not_requested_does_not_hold),
        cmocka_unit_test(what_is_requested_holds_where_it_can),
        cmocka_unit_test(what_is_required_and_lacks_is_refused),
        cmocka_unit_test(nothing_outlives_its_namespace),
        cmocka_unit_test(a_child_in_a_namespace_ends_as_others_do),
        cmocka_unit_test(the_supervisor_cannot_be_killed),
        cmocka_unit_test(the_namespace_ends_with_its_launcher),
        cmocka_unit_test(processes_are_bounded),
        cmocka_unit_test(a_bomb_is_swept_away),
        cmocka_unit_test(files_outside_are_not_opened),
        cmocka_unit_test(a_path_that_is_not_there),
        cmocka_unit_test(there_are_no_sockets),
        cmocka_unit_test(dangerous_calls_are_refused),
        cmocka_unit_test(there_are_no_new_processes),
        cmocka_unit_test(other_processes_are_out_of_reach),
        cmocka_unit_test(there_are_no_capabilities),
        cmocka_unit_test(a_service_without_capabilities_has_children),
        cmocka_unit_test(a_process_restricts_itself),
        cmocka_unit_test(a_filter_has_its_buffer),
        cmocka_unit_test(all_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
