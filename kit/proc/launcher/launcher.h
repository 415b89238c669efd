/*
 * launcher.h - what the files of the launcher share.
 *
 * The launcher is a program of its own with one thread, so it may use anything between fork and
 * exec. In a fork server (proc/fork.h) it is a fork of the server, which has one thread too, and
 * the child's program is a function. Its processes:
 *
 *     launcher      supervises; parent of
 *     init          process 1 of the PID namespace, where there is one; parent of
 *     the program
 */
#ifndef PROC_LAUNCHER_LAUNCHER_H
#define PROC_LAUNCHER_LAUNCHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "proc/fork.h"
#include "proc/plan.h"

/* The caller's end of the socket closes when the caller dies. */
enum { CONTROL_FD = 0 };

/* Memory that the launcher, init and the child before its exec share. */
typedef struct shared {
    uint32_t held;  /* protections */
    int32_t status; /* init's report of the program, as of waitpid */
    bool has_status;
} shared;

/* A child to start. */
typedef struct launch {
    const proc_plan *plan;
    const void *filter;
    const char *cwd;
    char **argv, **env;
    int fds[PLAN_FDS_MAX]; /* the child's descriptors, by the plan's order */
    int ruleset;           /* -1 */
    int failure_pipe;      /* the end for the child; its exec closes it */
    uint32_t processes;    /* RLIMIT_NPROC; 0: none */
    shared *shared;
    proc_forked *run; /* in a fork server; NULL: argv names a program */
    void *data;       /* of `run` */
} launch;

/* Where and why a start failed; sent through the failure pipe. */
typedef struct start_failure {
    plan_stage stage;
    int32_t error;
} start_failure;

/* Receive the plan from CONTROL_FD, start its child and supervise it to its end. All other
 * descriptors are closed. */
void launcher_run(proc_forked *run, void *data);

/* Receive the descriptors of a message from CONTROL_FD. @return their number, or -1 with errno */
int launcher_receive(int fds[PLAN_MESSAGE_FDS_MAX]);

/* Close this descriptor and all above it. */
void launcher_close_from(int first);

/* Enter the namespaces of the plan. @return false with errno: this process is of no more use */
bool launcher_isolate(launch *l);

/* Take the child's user, without capabilities. @return false with errno */
bool launcher_take_identity(const launch *l);

/* Set the Landlock rules, the limit of processes, the seccomp filter. @return false with errno */
bool launcher_confine(const launch *l);

/* Be process 1 of the namespace: start the program, pass SIGTERM on, end with the program. */
_Noreturn void launcher_init(const launch *l);

/* Become the child's program. Reports a failure to the pipe; does not return. */
_Noreturn void launcher_become(const launch *l, pid_t parent);

/* Close what only the child needs. */
void launcher_close_child_ends(const launch *l);

/* Supervise the child until it and all it started have ended. */
void launcher_supervise(const launch *l, pid_t child, int failure_pipe);

/* Kill every descendant of this process and reap those that are its children. */
void launcher_sweep(void);

#endif
