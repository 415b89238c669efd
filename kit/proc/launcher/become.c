/*
 * become.c - from a fork of the launcher to the child's program.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

static _Noreturn void fail(int pipe, plan_stage stage, int error)
{
    start_failure f = { .stage = stage, .error = error };

    (void)!write(pipe, &f, sizeof f);
    _exit(127);
}

static void reset_signals(void)
{
    struct sigaction as_default = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        sigaction(number, &as_default, NULL); /* fails for SIGKILL and SIGSTOP */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Descriptors move above the numbers of the plan first, so that none is overwritten. */
static bool move_descriptors(launch *l, int *failure_pipe)
{
    int moved[PLAN_FDS_MAX];

    *failure_pipe = fcntl(*failure_pipe, F_DUPFD_CLOEXEC, PLAN_FD_MAX + 1);
    if (*failure_pipe < 0)
        return false;
    if (l->ruleset >= 0) {
        l->ruleset = fcntl(l->ruleset, F_DUPFD_CLOEXEC, PLAN_FD_MAX + 1);
        if (l->ruleset < 0)
            return false;
    }
    for (uint32_t i = 0; i < l->plan->fd_count; i++) {
        moved[i] = fcntl(l->fds[i], F_DUPFD_CLOEXEC, PLAN_FD_MAX + 1);
        if (moved[i] < 0)
            return false;
    }
    for (uint32_t i = 0; i < l->plan->fd_count; i++)
        if (dup2(moved[i], l->plan->fd_as[i]) < 0)
            return false;
    return true;
}

/* Set a limit, or the hard limit where that is lower. */
static bool set_limit(int which, uint64_t value)
{
    struct rlimit limit;

    if (getrlimit(which, &limit) != 0)
        return false;
    limit.rlim_max = value < limit.rlim_max ? value : limit.rlim_max;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(which, &limit) == 0;
}

/* Only a privileged process may raise its priority, so one that is lower already stays. */
static bool lower_priority(int nice)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    return (errno == 0 && now >= nice) || setpriority(PRIO_PROCESS, 0, nice) == 0;
}

static bool set_limits(const proc_limits *limits)
{
    uint64_t file_bytes = limits->file_bytes == PROC_NO_BYTES ? 0 : limits->file_bytes;

    return set_limit(RLIMIT_CORE, 0) &&
           (limits->cpu_s == 0 || set_limit(RLIMIT_CPU, limits->cpu_s)) &&
           (limits->file_bytes == 0 || set_limit(RLIMIT_FSIZE, file_bytes)) &&
           (limits->descriptors == 0 || set_limit(RLIMIT_NOFILE, limits->descriptors)) &&
           (limits->memory_bytes == 0 || set_limit(RLIMIT_AS, limits->memory_bytes)) &&
           (limits->nice == 0 || lower_priority(limits->nice));
}

static const char *search_path(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "";
}

/* Run argv[0], looked up in the PATH of the child's environment. @return errno */
static int run_program(const launch *l)
{
    char path[PATH_MAX];
    int error = ENOENT;

    if (strchr(l->argv[0], '/')) {
        execve(l->argv[0], l->argv, l->env);
        return errno;
    }
    for (const char *folder = search_path(l->env); *folder;) {
        int length = (int)strcspn(folder, ":");
        if (length > 0 &&
            snprintf(path, sizeof path, "%.*s/%s", length, folder, l->argv[0]) < (int)sizeof path) {
            execve(path, l->argv, l->env);
            if (errno != ENOENT && errno != ENOTDIR)
                error = errno;
        }
        folder += length + (folder[length] == ':');
    }
    return error;
}

static bool is_of_child(const proc_plan *plan, int fd)
{
    for (uint32_t i = 0; i < plan->fd_count; i++)
        if (plan->fd_as[i] == fd)
            return true;
    return false;
}

/* In the place of an exec: of the launcher's memory and descriptors nothing stays that the child
 * could use. The failure pipe, which is among the last, says that the child runs. */
static _Noreturn void run_function(const launch *l)
{
    munmap(l->shared, sizeof *l->shared);
    environ = l->env;
    for (int fd = 0; fd <= PLAN_FD_MAX; fd++)
        if (!is_of_child(l->plan, fd))
            close(fd);
    launcher_close_from(PLAN_FD_MAX + 1);
    _exit(l->run(l->argv, l->data));
}

_Noreturn void launcher_become(const launch *l, pid_t parent)
{
    int pipe = l->failure_pipe;
    launch moved = *l;

    if (l->plan->limits.nice > 0)
        setpgid(0, 0); /* in the launcher's session, which lower_session has prepared */
    else
        setsid();
    if (!move_descriptors(&moved, &pipe))
        fail(pipe, STAGE_DESCRIPTORS, errno);
    if (chdir(l->cwd) != 0)
        fail(pipe, STAGE_CWD, errno);
    reset_signals();
    if (!set_limits(&l->plan->limits))
        fail(pipe, STAGE_LIMITS, errno);
    if (!launcher_take_identity(l))
        fail(pipe, STAGE_IDENTITY, errno);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user clears it */
    if (getppid() != parent)
        _exit(127);
    if (!launcher_confine(&moved))
        fail(pipe, STAGE_IDENTITY, errno);
    if (l->plan->required & ~l->shared->held)
        fail(pipe, STAGE_PROTECT, 0);
    if (l->plan->is_trial)
        _exit(0);
    if (l->run)
        run_function(l);
    fail(pipe, STAGE_EXEC, run_program(l));
}
