/*
 * launch.c - the launcher: reads the plan, starts the child, and supervises it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

static void report_failure(plan_stage stage, int error)
{
    plan_report report = { .kind = REPORT_FAILED, .stage = stage, .error = error };

    send(CONTROL_FD, &report, sizeof report, MSG_NOSIGNAL);
}

void launcher_close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
    for (int fd = first, end = (int)sysconf(_SC_OPEN_MAX); fd < end; fd++)
        close(fd);
}

int launcher_receive(int fds[PLAN_MESSAGE_FDS_MAX])
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(PLAN_MESSAGE_FDS_MAX * sizeof(int))];
    } control;
    char byte;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t n = recvmsg(CONTROL_FD, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;

    if (n < 0)
        return -1;
    if (!head || head->cmsg_type != SCM_RIGHTS || (message.msg_flags & MSG_CTRUNC)) {
        errno = EPROTO;
        return -1;
    }
    size_t bytes = head->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(head), bytes);
    return (int)(bytes / sizeof(int));
}

/* Take `count` strings; NULL-terminated. */
static char **take_words(char **next, uint32_t count)
{
    char **words = calloc((size_t)count + 1, sizeof *words);

    for (uint32_t i = 0; words && i < count; i++) {
        words[i] = *next;
        *next += strlen(*next) + 1;
    }
    return words;
}

static bool read_plan(launch *l)
{
    int fds[PLAN_MESSAGE_FDS_MAX];
    int count = launcher_receive(fds);
    struct stat file;

    if (count < 1 || fstat(fds[0], &file) != 0)
        return false;
    char *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[0], 0);
    if (bytes == MAP_FAILED)
        return false;
    l->plan = (const proc_plan *)(const void *)bytes;
    uint32_t expected = 1 + l->plan->fd_count + l->plan->has_ruleset;
    if (file.st_size != l->plan->length || count != (int)expected) {
        errno = EPROTO;
        return false;
    }
    close(fds[0]);
    memcpy(l->fds, fds + 1, l->plan->fd_count * sizeof fds[0]);
    l->ruleset = l->plan->has_ruleset ? fds[count - 1] : -1;
    l->filter = bytes + sizeof *l->plan;
    char *next = bytes + sizeof *l->plan + l->plan->filter_length;
    l->cwd = next;
    next += strlen(next) + 1;
    l->argv = take_words(&next, l->plan->argc);
    l->env = take_words(&next, l->plan->envc);
    return l->argv && l->env;
}

void launcher_close_child_ends(const launch *l)
{
    close(l->failure_pipe);
    for (uint32_t i = 0; i < l->plan->fd_count; i++)
        close(l->fds[i]);
    if (l->ruleset >= 0)
        close(l->ruleset);
}

/* Where the kernel first divides the processor among sessions (sched(7), "The autogroup feature"),
 * a nice value counts within its session alone, so the session gets it, too. Elsewhere there is no
 * such file; an ordinary user may write ten of them a second. */
static void lower_session(int nice)
{
    int fd = nice > 0 ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    (void)!dprintf(fd, "%d", nice);
    close(fd);
}

static void launch_child(launch *l)
{
    int ends[2];
    pid_t self = getpid();

    lower_session(l->plan->limits.nice);
    l->shared = mmap(NULL, sizeof *l->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    if (l->shared == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) {
        report_failure(STAGE_FORK, errno);
        return;
    }
    l->failure_pipe = ends[1];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!launcher_isolate(l)) {
        report_failure(STAGE_USER, errno);
        return;
    }
    prctl(PR_SET_DUMPABLE, 0); /* a child of the same user neither traces it nor opens its files */
    pid_t child = fork();
    if (child < 0) {
        report_failure(STAGE_FORK, errno);
        return;
    }
    if (child == 0 && (l->shared->held & PROC_TREE))
        launcher_init(l);
    if (child == 0)
        launcher_become(l, self);
    launcher_close_child_ends(l);
    launcher_supervise(l, child, ends[0]);
}

void launcher_run(proc_forked *run, void *data)
{
    launch l = { .ruleset = -1, .run = run, .data = data };
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC);
    /* What other threads of the caller had open without O_CLOEXEC at the moment of the start. */
    launcher_close_from(CONTROL_FD + 1);
    if (read_plan(&l))
        launch_child(&l);
    else
        report_failure(STAGE_PLAN, errno);
}
