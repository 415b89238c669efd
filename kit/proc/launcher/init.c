/*
 * init.c - process 1 of a child's PID namespace.
 *
 * The program is not process 1 itself: that one ignores signals without a handler. The kernel kills
 * the whole namespace when process 1 ends, and process 1 when the launcher ends.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

/* Reap what has ended. @return whether the program is among it */
static bool reap(const launch *l, pid_t program)
{
    int status;
    pid_t pid;
    bool has_ended = false;

    for (pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
        if (pid != program)
            continue;
        l->shared->status = status;
        l->shared->has_status = has_ended = true;
    }
    return has_ended;
}

_Noreturn void launcher_init(const launch *l)
{
    sigset_t awaited;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The launcher may have ended before; then nobody is at the other end. */
    pid_t program = fork();
    if (program == 0)
        launcher_become(l, 1);
    if (program < 0) {
        start_failure f = { .stage = STAGE_FORK, .error = errno };
        (void)!write(l->failure_pipe, &f, sizeof f);
        _exit(127);
    }
    launcher_close_child_ends(l);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    while (!reap(l, program)) {
        int number = sigwaitinfo(&awaited, NULL); /* all are blocked, so none is lost */
        if (number == SIGTERM && kill(-program, SIGTERM) != 0)
            kill(program, SIGTERM); /* not yet in its own process group */
    }
    _exit(0);
}
