/**
 * proc.h - child processes: pipes, deadlines, limits, and the end of everything they started.
 *
 * A child is started from an argument vector, without a shell. It has the environment and the
 * descriptors that its spec names and no others, a session of its own, default signals, and
 * `no_new_privs`. The start does not copy the memory of the caller: a small program that this
 * module carries (kit/proc/launcher) is started by posix_spawn, prepares the child, and supervises
 * it until the end. So a start costs the same with 500 MB resident, and threads do not matter.
 *
 * The launcher enforces the deadline: SIGTERM to the child's process group, after the grace time
 * SIGKILL to everything. Everything that the child started ends with it, also when the caller is
 * killed: the launcher kills the tree when the caller's end of their socket closes.
 *
 * To the end, with input and bounded output:
 *
 *     proc_spec spec = { .argv = argv, .env = env, .timeout_ms = 30000 };
 *     proc_result result;
 *     st = proc_run(&result, &spec, &(proc_run_options){ .input = json, .length = length }, err);
 *     if (st == MCP_OK && result.end.how == PROC_EXITED && result.end.code == 0)
 *         use(result.out.data, result.out.length);
 *     proc_result_clear(&result);
 *
 * As a conversation:
 *
 *     st = proc_start(&child, &spec, err);
 *     st = proc_write(child, line, length, until_ms, err);
 *     st = proc_read_line(child, &answer, &length, until_ms, err);
 *     proc_free(child);
 *
 * Moments are of mcp_clock_mono_ms. A `proc` is used by one thread at a time, except proc_stop and
 * proc_kill, which any thread may call while it lives. Linux only.
 */
#ifndef PROC_PROC_H
#define PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mcp/buf.h"
#include "mcp/error.h"

/** A child process. */
typedef struct proc proc;

/** A moment that never comes. */
#define PROC_FOREVER INT64_MAX

/** As `file_bytes`: the child writes to no file. */
#define PROC_NO_BYTES UINT64_MAX

/** The most further descriptors of a child. */
#define PROC_FDS_MAX 16

/** The three standard streams. */
typedef enum proc_stream { PROC_STDIN, PROC_STDOUT, PROC_STDERR } proc_stream;

/** What a standard stream of the child is connected to. */
typedef enum proc_stdio {
    PROC_PIPE,   /* a pipe to the caller */
    PROC_NULL,   /* /dev/null */
    PROC_INHERIT /* the same stream of the caller */
} proc_stdio;

/**
 * Protections of the system around a child; a set is an `unsigned`. One row: name, bit, word.
 *
 * Which of them a system has depends on its kernel, on the container and on the user:
 * proc_protections says, and proc_held says it of a child. A child does not start without what its
 * spec requires; it starts without what its spec only requests.
 *
 * - TREE: a PID namespace; its end ends every process in it at once, and it sees no others. Without
 *   it the launcher finds and kills all descendants, which a child that kills the launcher evades.
 * - USER: a user namespace, or another user (`uid`), without capabilities.
 * - COUNT: `limits.processes` binds. It does not bind root, also not in a user namespace.
 * - FILES: Landlock; no file but those of `paths`. Descriptors passed on are not bound. With
 *   version 6 of Landlock also no signals and no abstract Unix sockets to the outside.
 * - NO_NETWORK: no sockets (seccomp); where there is USER also a network namespace without any.
 * - SYSCALLS: no ptrace, mount, namespaces, bpf, keyctl, io_uring, userfaultfd, perf and other
 *   system calls by which programs leave a sandbox (seccomp).
 * - NO_FORK: no new process; threads are allowed (seccomp).
 * - NO_EXEC: no new program (seccomp); for proc_filter only, since a child is started by execve. To
 *   bind a child give PROC_EXECUTE to its program, and to the loader of its libraries, alone.
 */
#define PROC_PROTECTION_MAP(X)                                                                     \
    X(TREE, 1, "pid-namespace")                                                                    \
    X(USER, 2, "user")                                                                             \
    X(COUNT, 4, "process-limit")                                                                   \
    X(FILES, 8, "landlock")                                                                        \
    X(NO_NETWORK, 16, "no-network")                                                                \
    X(SYSCALLS, 32, "seccomp")                                                                     \
    X(NO_FORK, 64, "no-fork")                                                                      \
    X(NO_EXEC, 128, "no-exec")

/** The bits PROC_TREE, PROC_USER, ... */
typedef enum proc_protection {
#define X(name, bit, word) PROC_##name = bit,
    PROC_PROTECTION_MAP(X)
#undef X
} proc_protection;

/** Room for proc_protection_words. */
#define PROC_WORDS_SIZE 96

/** What a child may do with a path: bits. */
enum {
    PROC_READ = 1,    /* read files and list folders */
    PROC_WRITE = 2,   /* write, make, remove and rename files */
    PROC_EXECUTE = 4, /* run programs */
    PROC_OPTIONAL = 8 /* a path that does not exist is left out */
};

/** A file, or a folder with all below it. */
typedef struct proc_path {
    const char *path; /* NULL: `fd` */
    int fd;           /* open, with O_PATH suffices */
    unsigned access;
} proc_path;

/** A descriptor for the child besides the standard streams. */
typedef struct proc_fd {
    int fd; /* of the caller, who keeps it */
    int as; /* its number in the child, 3 to 63 */
} proc_fd;

/** Limits of each process; 0: not limited. */
typedef struct proc_limits {
    uint64_t memory_bytes; /* address space */
    uint32_t cpu_s;        /* processor time */
    uint64_t file_bytes;   /* size of a file that it writes; PROC_NO_BYTES */
    uint32_t descriptors;
    uint32_t processes; /* at the same time, threads too, of the whole child */
    int nice;           /* 0 to 19; that of the caller where it is higher. On Linux also of its
                         * session, which it then shares with its launcher (sched(7), autogroup) */
} proc_limits;

struct proc_fork_server;

/** How to start a child. Everything is borrowed for the call. */
typedef struct proc_spec {
    const char *const *argv; /* ends with NULL; a program without "/" is searched in env's PATH */
    struct proc_fork_server *fork_server; /* the child is a fork of it (proc/fork.h), which gets
                                             argv; NULL: a new program */
    const char *const *env;               /* "NAME=value", ends with NULL; NULL: empty */
    const char *cwd;                      /* NULL: "/" */
    proc_stdio in, out, err;
    const proc_fd *fds;
    size_t fd_count;
    proc_limits limits;     /* core dumps are always off */
    int64_t timeout_ms;     /* for its whole life; 0: none */
    int64_t grace_ms;       /* between SIGTERM and SIGKILL; 0: 3,000 */
    size_t line_max;        /* bytes of a line of proc_read_line; 0: 4 MiB */
    unsigned protect;       /* protections that it gets where the system has them */
    unsigned required;      /* those without which it does not start; are requested by this, too */
    const proc_path *paths; /* for PROC_FILES */
    size_t path_count;
    uid_t uid;               /* where the caller is root: run as this user; 0: as the caller */
    gid_t gid;               /* with uid */
    bool may_read_all_files; /* with uid: keep CAP_DAC_READ_SEARCH alone; PROC_FILES bounds it */
} proc_spec;

/** How a child ended. */
typedef enum proc_how {
    PROC_EXITED,       /* by itself, with `code` */
    PROC_SIGNALED,     /* by `signal`, which the caller did not request */
    PROC_TIMED_OUT,    /* at its deadline */
    PROC_STOPPED,      /* by proc_stop, proc_kill, or `should_stop` */
    PROC_OUTPUT_LIMIT, /* killed by proc_run: too much output */
    PROC_LOST          /* its launcher was killed from outside; its status is not known */
} proc_how;

/** The end of a child. */
typedef struct proc_end {
    proc_how how;
    int code;                 /* exit status, where it exited; else -1 */
    int signal;               /* the signal that ended it; else 0 */
    int64_t cpu_ms;           /* processor time of it and of what it waited for */
    int64_t memory_max_bytes; /* the largest resident size among these processes */
} proc_end;

/**
 * Start a child.
 *
 * @param out released by proc_free
 * @return MCP_OK: its program runs; MCP_E_PARAMS: an impossible spec; MCP_E_UNSUPPORTED: a required
 *         protection does not hold, the message names it; MCP_E_NOT_FOUND or MCP_E_DENIED: no such
 *         program or path, or it must not be run; MCP_E_LIMIT: arguments and environment above
 *         1 MiB; MCP_E_NOMEM; MCP_E_IO; MCP_E_TIMEOUT: not started within 30 s
 */
mcp_status proc_start(proc **out, const proc_spec *spec, mcp_error *err);

/** The protections that hold for a child. */
unsigned proc_held(const proc *self);

/**
 * Which protections this system has for a child of this process, found by starting one. Ask once
 * and keep the answer.
 *
 * @param uid as in proc_spec
 * @return a set; without PROC_NO_EXEC, which children do not have; 0: no child can be started
 */
unsigned proc_protections(uid_t uid);

/** Write a set in words, as in "pid-namespace+user+landlock"; "none". @return `out` */
const char *proc_protection_words(char out[PROC_WORDS_SIZE], unsigned protections);

/** The process of the child's launcher, for logs. It is the caller's child, or that of a fork
 * server: do not wait for it. */
pid_t proc_pid(const proc *self);

/** Our end of a stream, to poll; -1: closed or no pipe. Do not close it. It does not block. */
int proc_descriptor(const proc *self, proc_stream stream);

/** A descriptor that is readable once the child and all it started have ended. */
int proc_end_descriptor(const proc *self);

/**
 * Write all bytes to the child's standard input.
 *
 * @return MCP_OK; MCP_E_TIMEOUT (a part may have been written); MCP_E_STOPPED: the child reads no
 *         more; MCP_E_PARAMS: no pipe; MCP_E_IO
 */
mcp_status proc_write(proc *self, const void *bytes, size_t length, int64_t until_ms,
                      mcp_error *err);

/** Close a stream. The child reads the end of its input. */
void proc_close(proc *self, proc_stream stream);

/**
 * Read what is there, waiting for the first byte.
 *
 * @param length 0: the end of the stream
 * @return MCP_OK; MCP_E_TIMEOUT; MCP_E_PARAMS: no pipe; MCP_E_IO
 */
mcp_status proc_read(proc *self, proc_stream stream, void *bytes, size_t size, size_t *length,
                     int64_t until_ms, mcp_error *err);

/**
 * Read a line of standard output. Do not mix with proc_read of that stream: lines are buffered.
 *
 * @param line without its newline, ends with NUL; borrowed until the next call; NULL: the end of
 *             the stream
 * @return MCP_OK; MCP_E_TIMEOUT: what has arrived is kept; MCP_E_LIMIT: longer than `line_max`, the
 *         stream is closed; MCP_E_PARSE: the stream ended within a line; MCP_E_PARAMS: no pipe;
 *         MCP_E_NOMEM; MCP_E_IO
 */
mcp_status proc_read_line(proc *self, const char **line, size_t *length, int64_t until_ms,
                          mcp_error *err);

/**
 * Wait until the child and everything that it started have ended. May be called again.
 *
 * @return MCP_OK; MCP_E_TIMEOUT: it still runs; MCP_E_IO
 */
mcp_status proc_wait(proc *self, proc_end *end, int64_t until_ms, mcp_error *err);

/** Request the end: SIGTERM, after the grace time SIGKILL to everything. Does not wait. */
void proc_stop(proc *self);

/** Kill the child and everything that it started. Does not wait. */
void proc_kill(proc *self);

/** Kill what still runs, wait for its end, and release it. NULL is fine. */
void proc_free(proc *self);

/** Whether a run should stop. Called every 50 ms at most, on the thread of proc_run. */
typedef bool proc_should_stop(void *data);

/** A run to the end. Everything is borrowed for the call. */
typedef struct proc_run_options {
    const void *input; /* for standard input */
    size_t length;
    size_t out_max;                /* bytes of standard output; 0: 1 MiB */
    size_t err_max;                /* of standard error; 0: 64 KiB */
    proc_should_stop *should_stop; /* NULL: never */
    void *data;
} proc_run_options;

/** What a run left. */
typedef struct proc_result {
    proc_end end;
    mcp_buf out, err; /* cut at their maxima; then `how` is PROC_OUTPUT_LIMIT */
} proc_result;

/**
 * Run a child to its end. A child that closes its input early is not an error.
 *
 * @param result filled on every status; released by proc_result_clear
 * @param options NULL: no input
 * @return MCP_OK: it ended, see `result->end`; else as proc_start
 */
mcp_status proc_run(proc_result *result, const proc_spec *spec, const proc_run_options *options,
                    mcp_error *err);

/**
 * Make the seccomp program of PROC_SYSCALLS, PROC_NO_NETWORK, PROC_NO_FORK, PROC_NO_EXEC, for a
 * process that restricts itself: `prctl(PR_SET_NO_NEW_PRIVS, 1)`, then `prctl(PR_SET_SECCOMP,
 * SECCOMP_MODE_FILTER, &program)`, whose `filter` is these bytes and whose `len` is their eighth.
 *
 * @param out the bytes are appended
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: `out` is full; MCP_E_IO
 */
mcp_status proc_filter(mcp_buf *out, unsigned protections, mcp_error *err);

/**
 * Make the Landlock rules of PROC_FILES, for a process that restricts itself: it receives the
 * descriptor, and calls `landlock_restrict_self(descriptor, 0)` after PR_SET_NO_NEW_PRIVS. Rules of
 * several calls add up: only what all of them allow is allowed.
 *
 * @param out the caller's; close it
 * @return MCP_OK; MCP_E_UNSUPPORTED: no Landlock; MCP_E_NOT_FOUND, MCP_E_DENIED: a path;
 *         MCP_E_NOMEM; MCP_E_IO
 */
mcp_status proc_ruleset(int *out, const proc_path *paths, size_t count, mcp_error *err);

/** Free the output. */
void proc_result_clear(proc_result *result);

#endif
