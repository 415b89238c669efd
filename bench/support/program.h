/*
 * program.h - a program under measurement, whose standard input and output the bench holds.
 *
 * A bench that cannot go on says why on standard error and exits with 1: a figure is right or
 * absent.
 */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROGRAM_LINE_MAX = 1 << 20 };

typedef struct program {
    pid_t pid;
    int to;       /* its standard input */
    int from;     /* its standard output */
    char *unread; /* read from it and not yet given out */
    size_t begin; /* where the next line begins */
    size_t end;   /* where what was read ends */
} program;

/** Start `command` (ends with NULL; found along PATH). Its standard error is ours. */
void program_start(program *out, char *const *command);

/** Write all of it; waits where the program does not read. */
void program_say(const program *it, const char *text, size_t length);

/**
 * The next line with its newline; waits for it. The program's end is the bench's.
 *
 * @return borrowed until the next call
 */
const char *program_line(program *it, size_t *length);

/** The next line if it was read already, else NULL. */
const char *program_line_at_hand(program *it, size_t *length);

/** Read once what is there, waiting if nothing is. */
void program_read(program *it);

/** VmRSS of /proc/<pid>/status. */
long program_resident_kb(const program *it);

/** Processor time that it has used so far, all threads, in user and in system mode. */
int64_t program_cpu_ns(const program *it);

/** Close its input and output and wait for its end. */
void program_end(program *it);

/** The monotonic clock. */
int64_t bench_now_ns(void);

/** Processor time of this process, all threads. */
double bench_cpu_seconds(void);

/** The most memory that this process has had resident (VmHWM). */
double bench_peak_mib(void);

/** Say "bench: " and the words, and exit with 1. */
void bench_give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
