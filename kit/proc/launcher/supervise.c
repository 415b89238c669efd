/*
 * supervise.c - a child's life: orders of the caller, the deadline, the grace time, the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

enum { WAIT_MAX_MS = 3600000 };

typedef struct life {
    const launch *launch;
    pid_t child; /* init, or the program */
    bool has_init;
    int failure_pipe; /* -1: the start is decided */
    int64_t deadline_ms, grace_ms;
    bool has_deadline;
    bool is_killed;
    proc_how reason; /* PROC_EXITED until an order or the deadline ends it */
    plan_report end;
} life;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void report(const plan_report *what)
{
    send(CONTROL_FD, what, sizeof *what, MSG_NOSIGNAL);
}

static void on_child(int number)
{
    (void)number; /* ends ppoll */
}

static void kill_all(life *self)
{
    self->is_killed = true;
    kill(self->child, SIGKILL);
}

/* SIGTERM now, SIGKILL after the grace time. */
static void terminate(life *self, proc_how reason)
{
    if (self->reason != PROC_EXITED)
        return;
    self->reason = reason;
    /* Init passes it on. A program may have no group yet. */
    if (self->has_init || kill(-self->child, SIGTERM) != 0)
        kill(self->child, SIGTERM);
    self->deadline_ms = now_ms() + self->grace_ms;
    self->has_deadline = true;
}

static void on_deadline(life *self)
{
    self->has_deadline = false;
    if (self->reason == PROC_EXITED)
        terminate(self, PROC_TIMED_OUT);
    else
        kill_all(self);
}

static void on_order(life *self)
{
    char order = PLAN_KILL;
    ssize_t n = recv(CONTROL_FD, &order, 1, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0 && order == PLAN_STOP) {
        terminate(self, PROC_STOPPED);
        return;
    }
    if (self->reason == PROC_EXITED)
        self->reason = PROC_STOPPED;
    kill_all(self);
}

/* The pipe ends when the program runs; a failure comes before. */
static void on_started(life *self)
{
    start_failure f;
    ssize_t n = read(self->failure_pipe, &f, sizeof f);
    plan_report what = {
        .kind = REPORT_STARTED,
        .held = self->launch->shared->held,
        .launcher = getpid(),
    };

    if (n < 0 && errno == EINTR)
        return;
    if (n == (ssize_t)sizeof f) {
        what.kind = REPORT_FAILED;
        what.stage = f.stage;
        what.error = f.error;
    }
    report(&what);
    close(self->failure_pipe);
    self->failure_pipe = -1;
}

/* Reap what has ended. @return whether the child is among it */
static bool reap(life *self)
{
    struct rusage usage;
    int status;
    pid_t pid;
    bool has_ended = false;

    for (pid = wait4(-1, &status, WNOHANG, &usage); pid > 0;
         pid = wait4(-1, &status, WNOHANG, &usage)) {
        if (pid != self->child)
            continue;
        has_ended = true;
        self->end = (plan_report){
            .kind = REPORT_ENDED,
            .wait_status = status,
            .cpu_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000,
            .memory_max_bytes = usage.ru_maxrss * 1024,
        };
    }
    return has_ended;
}

/* Wait for an order, the start, the deadline or the end of a process. */
static void wait_for_event(life *self)
{
    struct pollfd fds[2] = {
        { .fd = CONTROL_FD, .events = POLLIN },
        { .fd = self->failure_pipe, .events = POLLIN },
    };
    int64_t left_ms = self->has_deadline ? self->deadline_ms - now_ms() : WAIT_MAX_MS;
    sigset_t none;

    left_ms = left_ms < 0 ? 0 : left_ms > WAIT_MAX_MS ? WAIT_MAX_MS : left_ms;
    const struct timespec wait = { .tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000 };
    sigemptyset(&none);
    if (self->is_killed)
        fds[0].fd = -1;
    if (ppoll(fds, 2, &wait, &none) < 0)
        return;
    if (fds[1].revents)
        on_started(self);
    if (fds[0].revents)
        on_order(self);
}

void launcher_supervise(const launch *l, pid_t child, int failure_pipe)
{
    struct sigaction on_sigchld = { .sa_handler = on_child };
    life self = {
        .launch = l,
        .child = child,
        .has_init = (l->shared->held & PROC_TREE) != 0,
        .failure_pipe = failure_pipe,
        .grace_ms = l->plan->grace_ms,
        .has_deadline = l->plan->timeout_ms > 0,
        .deadline_ms = now_ms() + l->plan->timeout_ms,
        .reason = PROC_EXITED,
    };

    sigaction(SIGCHLD, &on_sigchld, NULL);
    while (!reap(&self)) {
        wait_for_event(&self);
        if (self.has_deadline && now_ms() >= self.deadline_ms)
            on_deadline(&self);
    }
    if (self.failure_pipe >= 0)
        on_started(&self);
    if (self.has_init && l->shared->has_status)
        self.end.wait_status = l->shared->status;
    launcher_sweep();
    self.end.how = self.reason != PROC_EXITED               ? self.reason
                   : WIFSIGNALED(self.end.wait_status) != 0 ? PROC_SIGNALED
                                                            : PROC_EXITED;
    report(&self.end);
}
