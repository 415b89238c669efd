/*
 * fork_server.c - a fork server as its caller sees it: started when it is needed, and again when
 * it has ended.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/alloc.h"
#include "proc/child.h"

struct proc_fork_server {
    char **argv, **env;
    pthread_mutex_t lock; /* guards all below */
    pid_t pid;            /* 0: not started */
    int socket;           /* -1 */
};

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **copy_words(const char *const *words)
{
    size_t count = 0;

    while (words && words[count])
        count++;
    char **copies = mcp_alloc_zeroed(count + 1, sizeof *copies);
    for (size_t i = 0; copies && i < count; i++) {
        copies[i] = mcp_alloc_strdup(words[i]);
        if (!copies[i]) {
            free_words(copies);
            return NULL;
        }
    }
    return copies;
}

mcp_status proc_fork_server_new(proc_fork_server **out, const char *const *argv,
                                const char *const *env, mcp_error *err)
{
    if (!argv || !argv[0] || !strchr(argv[0], '/'))
        return mcp_error_set(err, MCP_E_PARAMS, "a fork server needs the path of its program");
    proc_fork_server *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a fork server");
    pthread_mutex_init(&self->lock, NULL);
    self->socket = -1;
    self->argv = copy_words(argv);
    self->env = copy_words(env);
    if (!self->argv || !self->env) {
        proc_fork_server_free(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a fork server");
    }
    *out = self;
    return MCP_OK;
}

/* With the lock. */
static void end(proc_fork_server *self)
{
    if (self->socket >= 0)
        close(self->socket);
    self->socket = -1;
    if (self->pid == 0)
        return;
    kill(self->pid, SIGKILL);
    while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    self->pid = 0;
}

void proc_fork_server_free(proc_fork_server *self)
{
    if (!self)
        return;
    end(self);
    pthread_mutex_destroy(&self->lock);
    free_words(self->argv);
    free_words(self->env);
    free(self);
}

pid_t proc_fork_server_pid(proc_fork_server *self)
{
    pthread_mutex_lock(&self->lock);
    pid_t pid = self->pid;
    pthread_mutex_unlock(&self->lock);
    return pid;
}

/* With the lock. Does not wait until it serves: its socket holds what it is sent before. */
static mcp_status start(proc_fork_server *self, mcp_error *err)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return mcp_error_errno(err, errno, "no socket to the fork server '%s'", self->argv[0]);
    int failure = proc_spawn(&self->pid, self->argv[0], self->argv, self->env, ends[1]);
    close(ends[1]);
    if (failure) {
        self->pid = 0;
        close(ends[0]);
        return mcp_error_errno(err, failure, "cannot start the fork server '%s'", self->argv[0]);
    }
    self->socket = ends[0];
    return MCP_OK;
}

/* With the lock. @return whether a running server has it; it does not wait */
static bool pass(const proc_fork_server *self, int control)
{
    return self->socket >= 0 && proc_send_fds(self->socket, &control, 1, MSG_DONTWAIT);
}

mcp_status proc_fork_server_pass(proc_fork_server *self, int control, mcp_error *err)
{
    mcp_status st = MCP_OK;

    pthread_mutex_lock(&self->lock);
    if (!pass(self, control)) {
        end(self);
        st = start(self, err);
        if (st == MCP_OK && !pass(self, control))
            st = mcp_error_errno(err, errno, "the fork server '%s' takes no child", self->argv[0]);
    }
    pthread_mutex_unlock(&self->lock);
    return st;
}

void proc_fork_server_lost(proc_fork_server *self)
{
    pthread_mutex_lock(&self->lock);
    end(self);
    pthread_mutex_unlock(&self->lock);
}
