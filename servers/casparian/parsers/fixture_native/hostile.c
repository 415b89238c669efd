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
#include <sys/wait.h>
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

static void open_socket(char *report, size_t size)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), error = fd < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    report_end(report, size, "socket", error);
}

static void read_other(char *report, size_t size)
{
    char byte = 0;
    int fd = open(path_or("/etc/passwd"), O_RDONLY | O_CLOEXEC);
    int error = fd < 0 || read(fd, &byte, 1) < 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    report_end(report, size, "read_other", error);
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
    { "fork_bomb", fork_bomb },     { "import_bomb", fork_bomb },
    { "thread_bomb", thread_bomb }, { "setsid", leave_session },
    { "oom", fill_memory },         { "fill_scratch", fill_scratch },
    { "exec", start_program },      { "socket", open_socket },
    { "read_other", read_other },   { "forge_frames", forge_frames },
    { "stop_self", stop_self },
};

casparian_attempt *casparian_hostile_find(const char *mode)
{
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        if (strcmp(attempts[i].mode, mode) == 0)
            return attempts[i].run;
    return NULL;
}
