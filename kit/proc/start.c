/*
 * start.c - starting a child: its plan, its descriptors, and the launcher that makes it.
 *
 * Protections need code that runs between fork and exec. After a fork of a program with threads
 * that code may call almost nothing, and the fork copies the page tables: with 500 MB resident it
 * took 47 ms and more. So the code is a program of its own, the launcher, which the build embeds
 * here as bytes. It is written to a file in memory for each start and run from there by
 * posix_spawn, which shares the memory until the exec; nothing has to be installed or found.
 * Measured on 2 cores, best of 100: proc_start took 0.85 ms with 5 MB resident and 0.84 ms with 500
 * MB, posix_spawn of the same program with its end 0.55 ms; all protections together added 1 ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/files.h"
#include "proc/child.h"

enum { START_MS = 30000, GRACE_MS = 3000, LINE_MAX_BYTES = 4 << 20 };

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

/* The launcher's program, embedded by the build. */
extern const mcp_file proc_image[];

/* What a start holds until the launcher has it. */
typedef struct start {
    const proc_spec *spec;
    unsigned protect;
    bool is_trial;
    bool has_ruleset;
    int fds[PLAN_MESSAGE_FDS_MAX]; /* the plan's file, the child's descriptors, the rules */
    bool is_ours[PLAN_MESSAGE_FDS_MAX];
    size_t fd_count;
    int control; /* the launcher's end */
} start;

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static mcp_status check(const proc_spec *spec, mcp_error *err)
{
    if (!spec->argv || !spec->argv[0] || !spec->argv[0][0])
        return mcp_error_set(err, MCP_E_PARAMS, "a child process needs a program");
    if (spec->fd_count > PROC_FDS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a child process has at most %d further descriptors", PROC_FDS_MAX);
    for (size_t i = 0; i < spec->fd_count; i++)
        if (spec->fds[i].as < 3 || spec->fds[i].as > PLAN_FD_MAX)
            return mcp_error_set(err, MCP_E_PARAMS, "a further descriptor has a number of 3 to %d",
                                 PLAN_FD_MAX);
    if (spec->timeout_ms < 0 || spec->grace_ms < 0 || spec->limits.nice < 0 ||
        spec->limits.nice > 19)
        return mcp_error_set(err, MCP_E_PARAMS, "a time or the nice value is out of range");
    if ((spec->protect | spec->required) & PROC_NO_EXEC)
        return mcp_error_set(err, MCP_E_PARAMS, "a child process cannot start without exec");
    if ((spec->required & PROC_COUNT) && spec->limits.processes == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "the limit of processes is required, and not set");
    return MCP_OK;
}

static void add_fd(start *s, int fd, bool is_ours)
{
    s->fds[s->fd_count] = fd;
    s->is_ours[s->fd_count++] = is_ours;
}

/* Connect a standard stream; our end of a pipe goes to the child's handle. */
static mcp_status add_stream(start *s, proc *self, proc_stream stream, proc_stdio kind,
                             mcp_error *err)
{
    int ends[2];

    if (kind == PROC_INHERIT) {
        add_fd(s, (int)stream, false);
        return MCP_OK;
    }
    if (kind == PROC_NULL) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return mcp_error_errno(err, errno, "cannot open /dev/null");
        add_fd(s, fd, true);
        return MCP_OK;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return mcp_error_errno(err, errno, "no pipe for a child process");
    int ours = stream == PROC_STDIN ? ends[1] : ends[0];
    add_fd(s, stream == PROC_STDIN ? ends[0] : ends[1], true);
    self->streams[stream] = ours;
    if (fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK) != 0)
        return mcp_error_errno(err, errno, "no pipe for a child process");
    return MCP_OK;
}

static uint32_t append_words(mcp_buf *buf, const char *const *words)
{
    uint32_t count = 0;

    for (; words && words[count]; count++)
        mcp_buf_append(buf, words[count], strlen(words[count]) + 1);
    return count;
}

/* The plan: its header, the filter, the strings. */
static mcp_status append_plan(mcp_buf *buf, const start *s, mcp_error *err)
{
    const unsigned by_filter = PROC_SYSCALLS | PROC_NO_NETWORK | PROC_NO_FORK;
    const proc_spec *spec = s->spec;
    proc_plan plan = {
        .fd_count = (uint32_t)(3 + spec->fd_count),
        .fd_as = { 0, 1, 2 },
        .timeout_ms = spec->timeout_ms,
        .grace_ms = spec->grace_ms > 0 ? spec->grace_ms : GRACE_MS,
        .limits = spec->limits,
        .protect = s->protect,
        .required = spec->required,
        .has_ruleset = s->has_ruleset,
        .is_trial = s->is_trial,
        .may_read_all_files = spec->may_read_all_files,
        .uid = spec->uid,
        .gid = spec->gid,
    };
    const char *cwd = spec->cwd ? spec->cwd : "/";

    for (size_t i = 0; i < spec->fd_count; i++)
        plan.fd_as[3 + i] = spec->fds[i].as;
    mcp_buf_append(buf, &plan, sizeof plan);
    if (s->protect & by_filter) {
        mcp_status st = proc_filter(buf, s->protect & by_filter, err);
        if (st != MCP_OK)
            return st;
        plan.filter_length = (uint32_t)(buf->length - sizeof plan);
    }
    size_t strings_begin = buf->length;
    mcp_buf_append(buf, cwd, strlen(cwd) + 1);
    plan.argc = append_words(buf, spec->argv);
    plan.envc = append_words(buf, spec->env);
    plan.length = (uint32_t)buf->length;
    if (buf->status == MCP_E_LIMIT || buf->length - strings_begin > PLAN_STRINGS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "arguments and environment of a child process exceed %d bytes",
                             PLAN_STRINGS_MAX);
    if (buf->status != MCP_OK)
        return mcp_error_set(err, buf->status, "no memory for the start of a child process");
    memcpy(buf->data, &plan, sizeof plan);
    return MCP_OK;
}

/* A file in memory with these bytes; -1 with errno. */
static int memory_file(const char *name, unsigned flags, const char *bytes, size_t length)
{
    int fd = memfd_create(name, MFD_CLOEXEC | flags);
    size_t written = 0;

    if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 does not know MFD_EXEC */
        fd = memfd_create(name, MFD_CLOEXEC);
    while (fd >= 0 && written < length) {
        ssize_t n = write(fd, bytes + written, length - written);
        if (n < 0 && errno != EINTR) {
            int failure = errno;
            close(fd);
            errno = failure;
            return -1;
        }
        written += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

static mcp_status write_plan(start *s, mcp_error *err)
{
    mcp_buf buf;
    mcp_status st;

    mcp_buf_init(&buf, sizeof(proc_plan) + PLAN_FILTER_MAX + PLAN_STRINGS_MAX);
    st = append_plan(&buf, s, err);
    if (st == MCP_OK) {
        s->fds[0] = memory_file("plan", 0, buf.data, buf.length);
        if (s->fds[0] < 0)
            st = mcp_error_errno(err, errno, "no file for the plan of a child process");
    }
    mcp_buf_clear(&buf);
    return st;
}

int proc_spawn(pid_t *pid, const char *path, char *const *argv, char *const *env, int control)
{
    sigset_t none, all;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;

    sigemptyset(&none);
    sigfillset(&all);
    int failure = posix_spawnattr_init(&attributes);
    if (failure)
        return failure;
    failure = posix_spawn_file_actions_init(&actions);
    if (!failure) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        failure = posix_spawn_file_actions_adddup2(&actions, control, STDIN_FILENO);
        if (!failure)
            failure = posix_spawn(pid, path, &actions, &attributes, argv, env);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return failure;
}

static mcp_status spawn_launcher(proc *self, int control, mcp_error *err)
{
    static char name[] = "causeway-launcher";
    char *argv[] = { name, NULL }, *env[] = { NULL };
    char path[32];
    int image = memory_file(name, MFD_EXEC, proc_image[0].bytes, proc_image[0].length);

    if (image < 0)
        return mcp_error_errno(err, errno, "no file for the launcher of child processes");
    snprintf(path, sizeof path, "/proc/self/fd/%d", image);
    int failure = proc_spawn(&self->launcher, path, argv, env, control);
    close(image);
    return failure ? mcp_error_errno(err, failure, "cannot start the launcher of child processes")
                   : MCP_OK;
}

/* The launcher, or a fork of the server that becomes one. */
static mcp_status start_launcher(start *s, proc *self, mcp_error *err)
{
    int ends[2];
    mcp_status st;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return mcp_error_errno(err, errno, "no socket to the launcher of child processes");
    self->control = ends[0];
    s->control = ends[1];
    self->is_forked = s->spec->fork_server != NULL;
    if (self->is_forked)
        st = proc_fork_server_pass(s->spec->fork_server, s->control, err);
    else
        st = spawn_launcher(self, s->control, err);
    close_fd(&s->control);
    self->has_started = st == MCP_OK;
    return st;
}

bool proc_send_fds(int socket, const int *fds, size_t count, int flags)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(PLAN_MESSAGE_FDS_MAX * sizeof(int))];
    } control = { .bytes = { 0 } };
    char byte = 0;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(count * sizeof *fds),
    };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    ssize_t n;

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof *fds);
    memcpy(CMSG_DATA(head), fds, count * sizeof *fds);
    do
        n = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static mcp_status send_plan(const start *s, const proc *self, mcp_error *err)
{
    if (proc_send_fds(self->control, s->fds, s->fd_count, 0))
        return MCP_OK;
    return mcp_error_errno(err, errno, "cannot hand descriptors to the launcher of '%s'",
                           s->spec->argv[0]);
}

static mcp_status start_failed(const proc_spec *spec, const plan_report *report, mcp_error *err)
{
    const char *program = spec->argv[0];
    char lacking[PROC_WORDS_SIZE];

    switch (report->stage) {
    case STAGE_PROTECT:
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "'%s' requires %s, which this system lacks",
                             program,
                             proc_protection_words(lacking, spec->required & ~report->held));
    case STAGE_USER:
    case STAGE_IDENTITY:
        return mcp_error_errno(err, report->error, "cannot take the identity of '%s'", program);
    case STAGE_EXEC:
        return mcp_error_errno(err, report->error, "cannot run '%s'", program);
    case STAGE_CWD:
        return mcp_error_errno(err, report->error,
                               "cannot enter the working directory '%s' of '%s'",
                               spec->cwd ? spec->cwd : "/", program);
    case STAGE_LIMITS:
        return mcp_error_errno(err, report->error, "cannot set the limits of '%s'", program);
    case STAGE_DESCRIPTORS:
        return mcp_error_errno(err, report->error, "cannot pass descriptors to '%s'", program);
    case STAGE_FORK:
        return mcp_error_errno(err, report->error, "no process for '%s'", program);
    default:
        return mcp_error_errno(err, report->error, "the launcher cannot read the plan of '%s'",
                               program);
    }
}

/* @return MCP_OK; STAGE_USER alone is left to the caller, in `report` */
static mcp_status await_start(const proc_spec *spec, proc *self, plan_report *report,
                              mcp_error *err)
{
    mcp_status st = proc_next_report(self, report, mcp_clock_mono_ms() + START_MS, err);

    self->held = report->held;
    if (self->launcher == 0 && st == MCP_OK && report->kind != REPORT_ENDED)
        self->launcher = report->launcher;
    if (st == MCP_E_TIMEOUT && spec->fork_server)
        proc_fork_server_lost(spec->fork_server);
    if (st != MCP_OK || report->kind == REPORT_STARTED)
        return st;
    if (report->kind == REPORT_FAILED)
        return start_failed(spec, report, err);
    return mcp_error_set(err, MCP_E_IO, "the launcher of '%s' ended", spec->argv[0]);
}

static mcp_status add_ruleset(start *s, mcp_error *err)
{
    int ruleset = -1;
    mcp_status st;

    if (!(s->protect & PROC_FILES))
        return MCP_OK;
    st = proc_ruleset(&ruleset, s->spec->paths, s->spec->path_count, err);
    s->has_ruleset = st == MCP_OK;
    if (st == MCP_OK)
        add_fd(s, ruleset, true);
    return st == MCP_E_UNSUPPORTED ? MCP_OK : st; /* the launcher holds it against `required` */
}

static mcp_status prepare(start *s, proc *self, mcp_error *err)
{
    mcp_status st;

    add_fd(s, -1, true); /* the plan */
    st = add_stream(s, self, PROC_STDIN, s->spec->in, err);
    if (st == MCP_OK)
        st = add_stream(s, self, PROC_STDOUT, s->spec->out, err);
    if (st == MCP_OK)
        st = add_stream(s, self, PROC_STDERR, s->spec->err, err);
    for (size_t i = 0; st == MCP_OK && i < s->spec->fd_count; i++)
        add_fd(s, s->spec->fds[i].fd, false);
    if (st == MCP_OK)
        st = add_ruleset(s, err);
    if (st == MCP_OK)
        st = write_plan(s, err);
    return st;
}

static mcp_status launch(start *s, proc *self, plan_report *report, mcp_error *err)
{
    mcp_status st = prepare(s, self, err);

    if (st == MCP_OK)
        st = start_launcher(s, self, err);
    if (st == MCP_OK)
        st = send_plan(s, self, err);
    for (size_t i = 0; i < s->fd_count; i++)
        if (s->is_ours[i])
            close_fd(&s->fds[i]);
    return st == MCP_OK ? await_start(s->spec, self, report, err) : st;
}

static mcp_status start_once(proc **out, start *s, plan_report *report, mcp_error *err)
{
    const proc_spec *spec = s->spec;
    proc *self = mcp_alloc_zeroed(1, sizeof *self);
    mcp_status st;

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a child process");
    self->control = -1;
    for (int i = 0; i < 3; i++)
        self->streams[i] = -1;
    self->lines.max = (spec->line_max > 0 ? spec->line_max : LINE_MAX_BYTES) + 1;
    st = launch(s, self, report, err);
    if (st == MCP_OK)
        *out = self;
    else
        proc_free(self);
    return st;
}

static mcp_status start_child(proc **out, const proc_spec *spec, bool is_trial, mcp_error *err)
{
    start s = { .spec = spec, .is_trial = is_trial, .control = -1 };
    plan_report report = { .kind = REPORT_ENDED };
    mcp_status st = check(spec, err);

    if (st != MCP_OK)
        return st;
    s.protect = spec->protect | spec->required | (spec->limits.processes > 0 ? PROC_COUNT : 0);
    st = start_once(out, &s, &report, err);
    if (st == MCP_OK || report.kind != REPORT_FAILED || report.stage != STAGE_USER)
        return st;
    /* A user namespace without a user is of no use, and the launcher is in it: begin without. */
    s = (start){ .spec = spec, .is_trial = is_trial, .control = -1, .protect = s.protect };
    s.protect &= ~(unsigned)(PROC_USER | PROC_TREE);
    return start_once(out, &s, &report, err);
}

mcp_status proc_start(proc **out, const proc_spec *spec, mcp_error *err)
{
    return start_child(out, spec, false, err);
}

unsigned proc_protections(uid_t uid)
{
    static const char *const argv[] = { "trial", NULL };
    const proc_spec spec = {
        .argv = argv,
        .in = PROC_NULL,
        .out = PROC_NULL,
        .err = PROC_NULL,
        .limits = { .processes = 64 },
        .protect = PROC_TREE | PROC_USER | PROC_FILES | PROC_NO_NETWORK | PROC_SYSCALLS |
                   PROC_NO_FORK,
        .uid = uid,
        .gid = (gid_t)uid,
    };
    proc *child = NULL;
    unsigned held = 0;

    if (start_child(&child, &spec, true, NULL) == MCP_OK)
        held = proc_held(child);
    proc_free(child);
    return held;
}

const char *proc_protection_words(char out[PROC_WORDS_SIZE], unsigned protections)
{
    static const struct row {
        unsigned bit;
        const char *word;
    } rows[] = {
#define X(name, bit, word) { bit, word },
        PROC_PROTECTION_MAP(X)
#undef X
    };
    size_t length = 0;

    snprintf(out, PROC_WORDS_SIZE, "none");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (protections & rows[i].bit)
            length += (size_t)snprintf(out + length, PROC_WORDS_SIZE - length, "%s%s",
                                       length > 0 ? "+" : "", rows[i].word);
    return out;
}
