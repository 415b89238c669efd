/*
 * sweep.c - the end of every descendant, where no PID namespace ends them.
 *
 * The launcher is a subreaper: a process whose parent ends becomes its child, so a new session or
 * a double fork does not escape. All descendants are stopped first, in rounds until no new one
 * appears, so that none forks while the others are killed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

enum { ROUNDS_MAX = 200, PROCESSES_MAX = 65536, PAUSE_NS = 5000000 };

typedef struct process {
    pid_t pid, parent;
    bool is_ours;
} process;

/* The parent of a process; 0: it is gone. */
static pid_t parent_of(const char *pid)
{
    char path[64], stat[512];
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, stat, sizeof stat - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    stat[n] = '\0';
    const char *end_of_name = strrchr(stat, ')');
    if (end_of_name && sscanf(end_of_name + 1, " %*c %d", &parent) == 1)
        return (pid_t)parent;
    return 0;
}

/* @return the number of processes, at most `max` */
static size_t list_processes(process *all, size_t max)
{
    DIR *folder = opendir("/proc");
    size_t count = 0;

    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && count < max;
         entry = readdir(folder)) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        all[count] = (process){ .pid = (pid_t)strtol(entry->d_name, NULL, 10),
                                .parent = parent_of(entry->d_name) };
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

/* Mark the descendants of this process. */
static void mark_ours(process *all, size_t count)
{
    pid_t self = getpid();
    bool is_new = true;

    while (is_new) {
        is_new = false;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; !all[i].is_ours && all[i].parent > 0 && k <= count; k++)
                if (k == count ? all[i].parent == self
                               : all[k].is_ours && all[i].parent == all[k].pid)
                    all[i].is_ours = is_new = true;
    }
}

/* Signal every descendant. @return their number */
static size_t signal_ours(process *all, int number)
{
    size_t count = list_processes(all, PROCESSES_MAX), ours = 0;

    mark_ours(all, count);
    for (size_t i = 0; i < count; i++)
        if (all[i].is_ours) {
            kill(all[i].pid, number);
            ours++;
        }
    return ours;
}

/* Reap what has ended. @return whether children are left */
static bool reap(void)
{
    pid_t pid;

    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0);
    return pid == 0;
}

void launcher_sweep(void)
{
    static process all[PROCESSES_MAX];
    static const struct timespec pause = { 0, PAUSE_NS };

    for (int round = 0; round < ROUNDS_MAX && reap(); round++) {
        for (size_t before = 0, now = signal_ours(all, SIGSTOP); now > before && round < ROUNDS_MAX;
             round++) {
            before = now;
            now = signal_ours(all, SIGSTOP);
        }
        signal_ours(all, SIGKILL);
        nanosleep(&pause, NULL);
    }
}
