/*
 * peer.c - starting a sealed process, passing it its files, and learning why it ended.
 */
#include "columns/sealed/peer.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"

#define MIB ((uint64_t)1 << 20)

/* A program with these sanitizers needs terabytes of address space, so it has no limit of it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

enum { START_MS = 60000, END_MS = 5000, WORDS_MS = 500, WORDS_SIZE = 400 };

static const char *const environment_names[] = { "CAUSEWAY_DUCKDB", "LD_LIBRARY_PATH" };

#define ENVIRONMENT_COUNT (sizeof environment_names / sizeof environment_names[0])

/* What a start needs besides the options. */
struct start {
    char program[PATH_MAX];
    char variables[ENVIRONMENT_COUNT][PATH_MAX + 32];
    const char *env[ENVIRONMENT_COUNT + 1];
    const char *argv[3];
    const char *const *arguments; /* of the program: those of the options, or `argv` */
    proc_fd socket;
};

static mcp_status find_program(struct start *self, const columns_sealed_options *options,
                               mcp_error *err)
{
    ssize_t length;

    self->arguments = options->argv ? options->argv : self->argv;
    if (options->argv)
        return MCP_OK;
    length = readlink("/proc/self/exe", self->program, sizeof self->program - 1);
    if (length <= 0)
        return mcp_error_errno(err, errno, "the path of the program is not known");
    self->program[length] = '\0';
    self->argv[0] = self->program;
    self->argv[1] = COLUMNS_SEALED_COMMAND;
    return MCP_OK;
}

static void take_environment(struct start *self)
{
    size_t count = 0;

    for (size_t i = 0; i < ENVIRONMENT_COUNT; i++) {
        const char *value = secure_getenv(environment_names[i]);
        if (!value || strlen(value) > PATH_MAX)
            continue;
        snprintf(self->variables[count], sizeof self->variables[count], "%s=%s",
                 environment_names[i], value);
        self->env[count] = self->variables[count];
        count++;
    }
}

mcp_status peer_server(proc_fork_server **out, const columns_sealed_options *options,
                       mcp_error *err)
{
    struct start *start = mcp_alloc_zeroed(1, sizeof *start);
    mcp_status st;

    if (!start)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the process of a query");
    st = find_program(start, options, err);
    take_environment(start);
    if (st == MCP_OK)
        st = proc_fork_server_new(out, start->arguments, start->env, err);
    free(start);
    return st;
}

static proc_spec make_spec(const struct start *start, const columns_sealed_options *options,
                           proc_fork_server *server)
{
    proc_spec spec = {
        .argv = start->arguments,
        .fork_server = server,
        .env = start->env,
        .in = PROC_NULL,
        .out = PROC_NULL,
        .err = PROC_PIPE,
        .fds = &start->socket,
        .fd_count = 1,
        .limits = { .file_bytes = PROC_NO_BYTES },
    };

    bool is_unlimited = options->is_unlimited_memory || (IS_SANITIZED && !options->argv);
    if (!is_unlimited)
        spec.limits.memory_bytes = options->memory_bytes + 1024 * MIB;
    if (!options->is_unprotected)
        spec.protect = PROC_TREE | PROC_USER | PROC_NO_NETWORK | PROC_SYSCALLS | PROC_NO_FORK;
    return spec;
}

/* The last thing that the process wrote to its standard error, which is where the loader and the
 * C++ library say why they end it. */
static void words_of(struct peer *self, char words[WORDS_SIZE])
{
    size_t length = 0;

    if (proc_read(self->child, PROC_STDERR, words, WORDS_SIZE - 1, &length,
                  mcp_clock_mono_ms() + WORDS_MS, NULL) != MCP_OK)
        length = 0;
    words[length] = '\0';
    words[strcspn(words, "\n")] = '\0';
}

/* READY, or why not. */
static mcp_status await_ready(struct peer *self, mcp_error *err)
{
    columns_sealed_end end = { 0 };
    struct wire_frame frame = { 0 };
    char words[WORDS_SIZE];
    mcp_status st;

    mcp_buf_init(&frame.body, PEER_FRAME_MAX);
    st = wire_receive(self->socket, &frame, mcp_clock_mono_ms() + START_MS, err);
    if (st == MCP_E_STOPPED) {
        words_of(self, words);
        st = mcp_error_set(err, MCP_E_IO, "the process of a query ended at its start: %s", words);
    } else if (st == MCP_OK && frame.kind == WIRE_FAILED) {
        st = peer_failure(&end, &frame, err);
    } else if (st == MCP_OK && frame.kind != WIRE_READY) {
        st = mcp_error_set(err, MCP_E_IO, "the process of a query does not begin as it should");
    }
    mcp_buf_clear(&frame.body);
    return st;
}

static mcp_status start_one(struct peer **out, const columns_sealed_options *options,
                            proc_fork_server *server, mcp_error *err)
{
    struct peer *self = mcp_alloc_zeroed(1, sizeof *self);
    struct start *start = mcp_alloc_zeroed(1, sizeof *start);
    int sockets[2] = { -1, -1 };
    mcp_status st = MCP_OK;

    if (!self || !start)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the process of a query");
    if (st == MCP_OK && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        st = mcp_error_errno(err, errno, "no socket for the process of a query");
    if (self)
        self->socket = sockets[0];
    if (st == MCP_OK)
        st = find_program(start, options, err);
    if (st == MCP_OK) {
        take_environment(start);
        start->socket = (proc_fd){ .fd = sockets[1], .as = PEER_SOCKET };
        proc_spec spec = make_spec(start, options, server);
        st = proc_start(&self->child, &spec, err);
    }
    if (sockets[1] >= 0)
        close(sockets[1]);
    if (st == MCP_OK)
        st = await_ready(self, err);
    free(start);
    if (st == MCP_OK)
        *out = self;
    else
        peer_free(self);
    return st;
}

/* Without its server a process starts as any other, only more slowly, and says what is wrong. */
mcp_status peer_start(struct peer **out, const columns_sealed_options *options,
                      proc_fork_server *server, mcp_error *err)
{
    if (server && start_one(out, options, server, NULL) == MCP_OK)
        return MCP_OK;
    return start_one(out, options, NULL, err);
}

void peer_free(struct peer *self)
{
    if (!self)
        return;
    if (self->socket >= 0)
        close(self->socket);
    proc_free(self->child);
    free(self);
}

/* One frame with descriptors, and its receipt. */
static mcp_status pass(struct peer *self, enum wire_kind kind, const int *fds, size_t count,
                       int64_t until_ms, mcp_error *err)
{
    columns_sealed_end end = { 0 };
    struct wire_frame frame = { 0 };
    mcp_status st = wire_send(self->socket, kind, NULL, 0, fds, count, until_ms, err);

    mcp_buf_init(&frame.body, PEER_FRAME_MAX);
    if (st == MCP_OK)
        st = wire_receive(self->socket, &frame, until_ms, err);
    if (st == MCP_OK && frame.kind == WIRE_FAILED)
        st = peer_failure(&end, &frame, err);
    else if (st == MCP_OK && frame.kind != WIRE_TAKEN)
        st = mcp_error_set(err, MCP_E_IO, "the process of a query does not take its files");
    mcp_buf_clear(&frame.body);
    return st;
}

/* A system without Landlock has the other protections. */
static mcp_status pass_rules(struct peer *self, const int *fds, size_t count, int64_t until_ms,
                             mcp_error *err)
{
    proc_path *paths = mcp_alloc_zeroed(count + 1, sizeof *paths);
    int rules = -1;

    if (!paths)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the files of a query");
    for (size_t i = 0; i < count; i++)
        paths[i] = (proc_path){ .fd = fds[i], .access = PROC_READ };
    mcp_status st = proc_ruleset(&rules, paths, count, err);
    free(paths);
    if (st == MCP_E_UNSUPPORTED)
        return MCP_OK;
    if (st == MCP_OK)
        st = pass(self, WIRE_RULES, &rules, 1, until_ms, err);
    if (rules >= 0)
        close(rules);
    return st;
}

mcp_status peer_send_files(struct peer *self, const int *fds, size_t count, bool has_rules,
                           int64_t until_ms, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < count; i += WIRE_FDS_MAX)
        st = pass(self, WIRE_FILES, fds + i, count - i < WIRE_FDS_MAX ? count - i : WIRE_FDS_MAX,
                  until_ms, err);
    return st == MCP_OK && has_rules ? pass_rules(self, fds, count, until_ms, err) : st;
}

mcp_status peer_failure(columns_sealed_end *end, const struct wire_frame *frame, mcp_error *err)
{
    struct wire_reader in = { frame->body.data, frame->body.length, 0, false };
    uint64_t status = wire_uint(&in);
    const char *message = wire_string(&in);
    const char *name = wire_string(&in);

    if (in.is_bad || status == MCP_OK || status > MCP_E_STORAGE)
        return mcp_error_set(err, MCP_E_IO, "the process of a query fails without a reason");
    snprintf(end->message, sizeof end->message, "%s", message);
    snprintf(end->name, sizeof end->name, "%s", name);
    return mcp_error_set(err, (mcp_status)status, "%s", message);
}

mcp_status peer_lost(struct peer *self, columns_sealed_end *end, mcp_error *err)
{
    char words[WORDS_SIZE];
    proc_end how = { .how = PROC_LOST };

    if (proc_wait(self->child, &how, mcp_clock_mono_ms() + END_MS, NULL) != MCP_OK)
        return mcp_error_set(err, MCP_E_IO, "the process of a query has closed its socket");
    words_of(self, words);
    if (how.how == PROC_SIGNALED && (how.signal == SIGXCPU || how.signal == SIGKILL))
        snprintf(end->message, sizeof end->message,
                 "the query needs more processor time or memory than it may have");
    else if (how.how == PROC_SIGNALED)
        snprintf(end->message, sizeof end->message, "the engine ended by signal %d (%s)%s%s",
                 how.signal, strsignal(how.signal), words[0] ? ": " : "", words);
    else
        snprintf(end->message, sizeof end->message, "the engine ended with status %d%s%s", how.code,
                 words[0] ? ": " : "", words);
    return mcp_error_set(err, MCP_E_LIMIT, "%s", end->message);
}
