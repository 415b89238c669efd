/*
 * isolate.c - the namespaces around a child, and how many processes its user has.
 *
 * A caller that is no root, or names no other user, gets a user namespace, in which the launcher
 * may make the others. Root that names another user makes them itself: a user of a user namespace
 * could keep no capability over files outside.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? write(fd, text, strlen(text)) : -1;
    int failure = errno;

    if (fd >= 0)
        close(fd);
    errno = failure;
    return n == (ssize_t)strlen(text);
}

/* A user namespace in which this user is itself. @return false with errno: made, but without it */
static bool enter_user_namespace(launch *l)
{
    char users[64], groups[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (unshare(CLONE_NEWUSER) != 0)
        return true;
    snprintf(users, sizeof users, "%u %u 1", uid, uid);
    snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
    if (!write_file("/proc/self/uid_map", users))
        return false;
    if (!write_file("/proc/self/setgroups", "deny") && errno != ENOENT)
        return false;
    if (!write_file("/proc/self/gid_map", groups))
        return false;
    l->shared->held |= PROC_USER;
    return true;
}

/* Tasks of a user in /proc, this one among them. */
static uint32_t count_tasks(uid_t uid)
{
    DIR *folder = opendir("/proc");
    uint32_t count = 0;

    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        char path[300];
        struct stat tasks;
        snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
        if (isdigit((unsigned char)entry->d_name[0]) && stat(path, &tasks) == 0 &&
            tasks.st_uid == uid && tasks.st_nlink > 2)
            count += (uint32_t)tasks.st_nlink - 2; /* a folder each */
    }
    if (folder)
        closedir(folder);
    return count;
}

/* Since Linux 5.14 a user namespace counts its processes apart from the user's others. */
static bool namespaces_count_apart(void)
{
    struct utsname name;
    int major = 0, minor = 0;

    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

/* RLIMIT_NPROC counts what the user has, which may be more than the child's. */
static void count_processes(launch *l, uid_t uid)
{
    bool is_apart = (l->shared->held & PROC_USER) && namespaces_count_apart();

    l->processes = l->plan->limits.processes;
    if (l->processes == 0)
        return;
    if (!is_apart)
        l->processes += count_tasks(uid);
    else if (l->shared->held & PROC_TREE)
        l->processes += 2; /* the launcher and init */
    else
        l->processes += 1;
}

bool launcher_isolate(launch *l)
{
    unsigned protect = l->plan->protect;
    bool is_other_user = l->plan->uid != 0 && geteuid() == 0;
    uid_t uid = is_other_user ? l->plan->uid : geteuid();

    if ((protect & (PROC_USER | PROC_TREE)) && !is_other_user && !enter_user_namespace(l))
        return false;
    if (protect & PROC_NO_NETWORK)
        unshare(CLONE_NEWNET | CLONE_NEWIPC); /* a second wall; the seccomp filter is the first */
    count_processes(l, uid);
    if ((protect & PROC_TREE) && unshare(CLONE_NEWPID) == 0)
        l->shared->held |= PROC_TREE;
    return true;
}
