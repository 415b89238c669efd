/*
 * hostile.c - processes, threads, memory, files, sockets and programs that a plugin has no right
 * to.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "parsers/fixture_native/hostile.h"

enum { MANY = 500, MEBIBYTE = 1 << 20, MEMORY_MIB_MAX = 4096, SCRATCH_MIB_MAX = 1024, FDS = 256 };
enum { LIFETIME_S = 60 };

static void report_end(char *report, size_t size, const char *what, int error)
{
    snprintf(report, size, "%s: %s", what, error ? strerror(error) : "done");
}

static void report_count(char *report, size_t size, int count, const char *what, int error)
{
    snprintf(report, size, "%d %s: %s", count, what, error ? strerror(error) : "done");
}

/* The file that CF_FIXTURE_PATH names, or another. */
static const char *path_or(const char *other)
{
    const char *path = getenv("CF_FIXTURE_PATH");

    return path ? path : other;
}

static void sleep_and_end(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    alarm(LIFETIME_S);
    for (;;)
        pause();
}

static void fork_bomb(char *report, size_t size)
{
    int count = 0, error = 0;

    for (; count < MANY && error == 0; count += error == 0) {
        pid_t child = fork();
        if (child == 0)
            sleep_and_end();
        error = child < 0 ? errno : 0;
    }
    report_count(report, size, count, "processes", error);
}

static void *sleep_in_thread(void *data)
{
    sleep(LIFETIME_S);
    return data;
}

static void thread_bomb(char *report, size_t size)
{
    int count = 0, error = 0;
    pthread_t thread;

    for (; count < MANY && error == 0; count += error == 0)
        error = pthread_create(&thread, NULL, sleep_in_thread, NULL);
    report_count(report, size, count, "threads", error);
}

/* A child in a session of its own, which outlives the end of the process group. */
static void leave_session(char *report, size_t size)
{
    pid_t child = fork();

    if (child == 0) {
        setsid();
        sleep_and_end();
    }
    report_end(report, size, "setsid", child < 0 ? errno : 0);
}

static void fill_memory(char *report, size_t size)
{
    int count = 0;

    for (; count < MEMORY_MIB_MAX; count++) {
        char *block = malloc(MEBIBYTE);
        if (!block)
            break;
        memset(block, count, MEBIBYTE);
    }
    report_count(report, size, count, "MiB of memory", count < MEMORY_MIB_MAX ? ENOMEM : 0);
}

static void fill_scratch(char *report, size_t size)
{
    char *block = calloc(1, MEBIBYTE), name[32];
    int count = 0, error = block ? 0 : ENOMEM;

    signal(SIGXFSZ, SIG_IGN);
    while (count < SCRATCH_MIB_MAX && error == 0) {
        /* A new file every 16 MiB, because the size of one file is limited, too. */
        snprintf(name, sizeof name, "fill-%d", count / 16);
        int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        ssize_t done = fd < 0 ? -1 : write(fd, block, MEBIBYTE);
        error = done == MEBIBYTE ? 0 : done < 0 ? errno : ENOSPC;
        count += error == 0;
        if (fd >= 0)
            close(fd);
    }
    free(block);
    report_count(report, size, count, "MiB of scratch", error);
}

static void start_program(char *report, size_t size)
{
    char name[] = "true";
    char *const argv[] = { name, NULL }, *const environment[] = { NULL };

    execve(path_or("/bin/true"), argv, environment);
    report_end(report, size, "exec", errno);
}

/* Sockets of every family and type; ends at the first that opens. */
static void open_socket(char *report, size_t size)
{
    static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET };
    int fd = -1, error = 0;

    for (int family = AF_UNIX; family < AF_MAX && fd < 0; family++) {
        for (size_t i = 0; i < sizeof types / sizeof types[0] && fd < 0; i++) {
            fd = socket(family, types[i], 0);
            error = fd < 0 ? errno : 0;
        }
    }
    if (fd >= 0)
        close(fd);
    report_end(report, size, "socket", error);
}

static void read_path(char *report, size_t size, const char *what, const char *path)
{
    char byte = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = fd < 0 || read(fd, &byte, 1) < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    report_end(report, size, what, error);
}

static void read_other(char *report, size_t size)
{
    read_path(report, size, "read_other", path_or("/etc/passwd"));
}

static void read_processes(char *report, size_t size)
{
    read_path(report, size, "read_processes", "/proc/1/environ");
}

/* The file normal.txt of the same folder: the input of another case. */
static void read_sibling(char *report, size_t size)
{
    char path[512];
    const char *own = getenv("CF_FILE_PATH");
    const char *slash = own ? strrchr(own, '/') : NULL;

    snprintf(path, sizeof path, "%.*s/normal.txt", slash ? (int)(slash - own) : 0, own ? own : "");
    read_path(report, size, "read_sibling", path);
}

/* By number, past libc. What is not denied is named. */
static void call_system(char *report, size_t size)
{
    static const struct {
        const char *name;
        long number;
    } calls[] = {
        { "ptrace", SYS_ptrace },
        { "unshare", SYS_unshare },
        { "setns", SYS_setns },
        { "mount", SYS_mount },
        { "bpf", SYS_bpf },
        { "keyctl", SYS_keyctl },
        { "io_uring_setup", 425 },
        { "userfaultfd", SYS_userfaultfd },
        { "perf_event_open", SYS_perf_event_open },
        { "clone", SYS_clone },
        { "clone3", 435 },
    };

    snprintf(report, size, "system_calls: denied");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        long result = syscall(calls[i].number, 0, 0, 0, 0, 0, 0);
        if (result == 0 && calls[i].number == SYS_clone)
            _exit(0); /* this is the child */
        if (result >= 0 || (errno != EPERM && errno != ENOSYS))
            snprintf(report, size, "system_calls: %s is not denied", calls[i].name);
    }
}

/* Whatever the host has left open gets bytes that look like an end of success. */
static void forge_frames(char *report, size_t size)
{
    static const char end[] = { 0, 0, 0, 0 };
    int count = 0;

    for (int fd = 3; fd < FDS; fd++)
        count += write(fd, end, sizeof end) > 0;
    report_count(report, size, count, "descriptors", 0);
}

static void stop_self(char *report, size_t size)
{
    report_end(report, size, "stop_self", raise(SIGSTOP) ? errno : 0);
}

static const struct {
    const char *mode;
    casparian_attempt *run;
} attempts[] = {
    { "fork_bomb", fork_bomb },      { "import_bomb", fork_bomb },
    { "thread_bomb", thread_bomb },  { "setsid", leave_session },
    { "oom", fill_memory },          { "fill_scratch", fill_scratch },
    { "exec", start_program },       { "socket", open_socket },
    { "read_other", read_other },    { "read_processes", read_processes },
    { "stop_self", stop_self },      { "read_sibling", read_sibling },
    { "system_calls", call_system }, { "forge_frames", forge_frames },
};

casparian_attempt *casparian_hostile_find(const char *mode)
{
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        if (strcmp(attempts[i].mode, mode) == 0)
            return attempts[i].run;
    return NULL;
}
