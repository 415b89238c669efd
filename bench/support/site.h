/*
 * site.h - an HTTP server under measurement: a process of the bench's own, on a port of the
 * loopback.
 *
 * site_end terminates it; the kernel kills it when the bench ends first. Its standard error is
 * dropped unless BENCH_LOUD is set.
 */
#ifndef BENCH_SITE_H
#define BENCH_SITE_H

#include "support/program.h"

typedef struct site {
    const char *name;
    const char *tool; /* that it is asked to run; NULL: echo */
    int port;
    program program; /* its pid only: for program_resident_kb and program_cpu_ns */
} site;

/** Run `command` (ends with NULL; found along PATH) as the site; `name` and `port` are set. */
void site_run(site *it, char *const *command);

/** Run `serve` in a process of its own as the site; what it returns is the exit status. */
void site_serve(site *it, int (*serve)(int port));

/** A port that nobody listens on. */
int site_free_port(void);

/** A connection; waits, up to ten seconds, until it listens. Not blocking, without delay. */
int site_connect(const site *it);

/** SIGTERM, and SIGKILL where that takes longer than two seconds. */
void site_end(site *it);

#endif
