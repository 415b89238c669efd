/*
 * program.c - starting a program between two pipes, and its lines.
 */
#include "support/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void bench_give_up(const char *format, ...)
{
    va_list arguments;

    fputs("bench: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

int64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double bench_cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void program_start(program *out, char *const *command)
{
    int down[2];
    int up[2];
    program it = { 0 };
    posix_spawn_file_actions_t actions;

    /* The program's own copies, made by dup2, are open; all four of ours end with its exec. */
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        bench_give_up("pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, down[0], 0);
    posix_spawn_file_actions_adddup2(&actions, up[1], 1);
    int failed = posix_spawnp(&it.pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        bench_give_up("%s: %s", command[0], strerror(failed));
    close(down[0]);
    close(up[1]);
    it.to = down[1];
    it.from = up[0];
    it.unread = malloc(PROGRAM_LINE_MAX);
    if (!it.unread)
        bench_give_up("no memory");
    *out = it;
}

void program_say(const program *it, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t put = write(it->to, text, length);
        if (put < 0 && errno != EINTR)
            bench_give_up("writing to the program: %s", strerror(errno));
        if (put > 0) {
            text += put;
            length -= (size_t)put;
        }
    }
}

void program_read(program *it)
{
    if (it->begin > 0) {
        memmove(it->unread, it->unread + it->begin, it->end - it->begin);
        it->end -= it->begin;
        it->begin = 0;
    }
    if (it->end == PROGRAM_LINE_MAX)
        bench_give_up("the program answers without end");
    ssize_t got = read(it->from, it->unread + it->end, PROGRAM_LINE_MAX - it->end);
    if (got == 0)
        bench_give_up("the program ended");
    if (got < 0 && errno != EINTR)
        bench_give_up("reading from the program: %s", strerror(errno));
    if (got > 0)
        it->end += (size_t)got;
}

const char *program_line_at_hand(program *it, size_t *length)
{
    const char *line = it->unread + it->begin;
    const char *newline = memchr(line, '\n', it->end - it->begin);

    if (!newline)
        return NULL;
    *length = (size_t)(newline - line) + 1;
    it->begin += *length;
    return line;
}

const char *program_line(program *it, size_t *length)
{
    const char *line = program_line_at_hand(it, length);

    while (!line) {
        program_read(it);
        line = program_line_at_hand(it, length);
    }
    return line;
}

/* A line of a process's status, in kB. */
static long status_kb(pid_t pid, const char *name)
{
    char path[64];
    char line[256];
    long kb = -1;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *status = fopen(path, "r");
    if (!status)
        bench_give_up("%s: %s", path, strerror(errno));
    while (kb < 0 && fgets(line, sizeof line, status))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name), NULL, 10);
    fclose(status);
    return kb;
}

long program_resident_kb(const program *it)
{
    return status_kb(it->pid, "VmRSS:");
}

double bench_peak_mib(void)
{
    return (double)status_kb(getpid(), "VmHWM:") / 1024.0;
}

int64_t program_cpu_ns(const program *it)
{
    clockid_t its;
    struct timespec used;

    if (clock_getcpuclockid(it->pid, &its) != 0 || clock_gettime(its, &used) != 0)
        bench_give_up("no processor time of the program");
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void program_end(program *it)
{
    close(it->to);
    close(it->from);
    waitpid(it->pid, NULL, 0);
    free(it->unread);
    *it = (program){ 0 };
}
