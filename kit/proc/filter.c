/*
 * filter.c - the seccomp filters: which system calls a child is refused.
 *
 * The lists name what is refused; other calls are allowed, since an interpreter with its libraries
 * uses most of them. A refused call fails with EPERM, so a library that only tries continues.
 * Calls of another architecture or of x32 end the process.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/child.h"

/* Namespaces, other processes, the kernel's own state, and ways around the other protections. */
static const int kernel_calls[] = {
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(syslog),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(personality),
    SCMP_SYS(vhangup),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(move_pages),
    SCMP_SYS(migrate_pages),
};

static const int network_calls[] = {
    SCMP_SYS(socket),
    SCMP_SYS(socketcall),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    /* io_uring makes sockets without these calls */
    SCMP_SYS(io_uring_setup),
};

static const int fork_calls[] = { SCMP_SYS(fork), SCMP_SYS(vfork) };

static const int exec_calls[] = { SCMP_SYS(execve), SCMP_SYS(execveat) };

static int refuse(scmp_filter_ctx filter, const int *calls, size_t count)
{
    int failure = 0;

    /* A call that this architecture does not have has a number below zero and is left out. */
    for (size_t i = 0; failure == 0 && i < count; i++)
        if (calls[i] >= 0)
            failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
    return failure == -EEXIST ? 0 : failure;
}

/* Refuse clone(2) where its flags, masked, have this value. */
static int refuse_clone(scmp_filter_ctx filter, uint64_t mask, uint64_t value)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, mask, value));
}

/* The flags of clone3(2) are in memory, where a filter cannot look; libraries then use clone(2). */
static int hide_clone3(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int refuse_kernel_calls(scmp_filter_ctx filter)
{
    static const uint64_t namespaces[] = { CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,   CLONE_NEWNS,
                                           CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP };
    int failure = refuse(filter, kernel_calls, sizeof kernel_calls / sizeof kernel_calls[0]);

    for (size_t i = 0; failure == 0 && i < sizeof namespaces / sizeof namespaces[0]; i++)
        failure = refuse_clone(filter, namespaces[i], namespaces[i]);
    if (failure == 0) /* writes into the terminal's input */
        failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                   SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCSTI));
    return failure;
}

static int add_rules(scmp_filter_ctx filter, unsigned protections)
{
    int failure = 0;

    if (protections & (PROC_SYSCALLS | PROC_NO_FORK))
        failure = hide_clone3(filter);
    if (failure == 0 && (protections & PROC_SYSCALLS))
        failure = refuse_kernel_calls(filter);
    if (failure == 0 && (protections & PROC_NO_NETWORK))
        failure = refuse(filter, network_calls, sizeof network_calls / sizeof network_calls[0]);
    if (failure == 0 && (protections & PROC_NO_FORK))
        failure = refuse(filter, fork_calls, sizeof fork_calls / sizeof fork_calls[0]);
    if (failure == 0 && (protections & PROC_NO_FORK))
        failure = refuse_clone(filter, CLONE_THREAD, 0);
    if (failure == 0 && (protections & PROC_NO_EXEC))
        failure = refuse(filter, exec_calls, sizeof exec_calls / sizeof exec_calls[0]);
    return failure;
}

/* libseccomp writes the program to a descriptor. */
static mcp_status export_program(mcp_buf *out, scmp_filter_ctx filter, mcp_error *err)
{
    struct stat file;
    char *space = NULL;
    int fd = memfd_create("filter", MFD_CLOEXEC);
    int failure = fd < 0 ? errno : -seccomp_export_bpf(filter, fd);
    mcp_status st = MCP_OK;

    if (failure == 0 && (fstat(fd, &file) != 0 || file.st_size > PLAN_FILTER_MAX))
        failure = EFBIG;
    if (failure == 0) {
        space = mcp_buf_reserve(out, (size_t)file.st_size);
        if (!space)
            st = mcp_error_set(err, out->status, "no memory for a seccomp filter");
        else if (pread(fd, space, (size_t)file.st_size, 0) != file.st_size)
            failure = EIO;
        else
            mcp_buf_commit(out, (size_t)file.st_size);
    }
    if (fd >= 0)
        close(fd);
    return failure ? mcp_error_errno(err, failure, "cannot write a seccomp filter") : st;
}

mcp_status proc_filter(mcp_buf *out, unsigned protections, mcp_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    mcp_status st;

    if (!filter)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a seccomp filter");
    int failure = add_rules(filter, protections);
    if (failure != 0)
        st = mcp_error_errno(err, -failure, "cannot make a seccomp filter");
    else
        st = export_program(out, filter, err);
    seccomp_release(filter);
    return st;
}
