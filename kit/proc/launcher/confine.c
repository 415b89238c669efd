/*
 * confine.c - what a child does to itself before its program runs: another user, no capabilities,
 * Landlock, the limit of processes, seccomp.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/launcher/launcher.h"

enum { CAPABILITIES_MAX = 64 };

static bool has_capabilities(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &head, data) != 0)
        return true;
    return (data[0].effective | data[0].permitted | data[0].inheritable | data[1].effective |
            data[1].permitted | data[1].inheritable) != 0;
}

/* Keep this capability alone, also over the exec; -1: none. */
static bool set_capabilities(int kept)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

    /* Needs CAP_SETPCAP; without it there is nothing that an exec could give back. */
    for (int number = 0; number < CAPABILITIES_MAX; number++)
        if (number != kept)
            prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    /* The filter of a service may refuse the call, even to a process that has nothing to lose. */
    if (kept < 0 && !has_capabilities())
        return true;
    if (kept >= 0)
        data[0].effective = data[0].permitted = data[0].inheritable = 1U << kept;
    if (syscall(SYS_capset, &head, data) != 0)
        return false;
    return kept < 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept, 0, 0) == 0;
}

bool launcher_take_identity(const launch *l)
{
    const proc_plan *plan = l->plan;
    bool is_other_user = plan->uid != 0 && geteuid() == 0;
    bool keeps = is_other_user && plan->may_read_all_files;

    if (is_other_user) {
        if (keeps && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0)
            return false;
        if (setgroups(0, NULL) != 0 || setresgid(plan->gid, plan->gid, plan->gid) != 0)
            return false;
        /* The bounding set can be reduced only before CAP_SETPCAP goes. */
        for (int number = 0; number < CAPABILITIES_MAX; number++)
            if (number != CAP_DAC_READ_SEARCH || !keeps)
                prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
        if (setresuid(plan->uid, plan->uid, plan->uid) != 0)
            return false;
        l->shared->held |= PROC_USER;
    } else if (!(plan->protect & PROC_USER)) {
        return true;
    }
    return set_capabilities(keeps ? CAP_DAC_READ_SEARCH : -1);
}

/* RLIMIT_NPROC binds every user but the system's root. */
static void limit_processes(const launch *l)
{
    const struct rlimit limit = { l->processes, l->processes };
    bool is_root = geteuid() == 0; /* a user namespace maps root to root here */

    if (l->processes > 0 && setrlimit(RLIMIT_NPROC, &limit) == 0 && !is_root)
        l->shared->held |= PROC_COUNT;
}

static void load_filter(const launch *l)
{
    /* The kernel copies the program and does not change it. */
    const struct sock_fprog program = {
        .len = (unsigned short)(l->plan->filter_length / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(uintptr_t)l->filter,
    };

    if (program.len == 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return;
    l->shared->held |= l->plan->protect & (PROC_SYSCALLS | PROC_NO_NETWORK | PROC_NO_FORK);
}

bool launcher_confine(const launch *l)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    if (l->ruleset >= 0 && syscall(SYS_landlock_restrict_self, l->ruleset, 0) == 0)
        l->shared->held |= PROC_FILES;
    limit_processes(l);
    load_filter(l);
    return true;
}
