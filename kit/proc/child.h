/*
 * child.h - a running child, as the files of kit/proc see it.
 */
#ifndef PROC_CHILD_H
#define PROC_CHILD_H

#include "proc/fork.h"
#include "proc/plan.h"
#include "proc/proc.h"

struct proc {
    pid_t launcher;   /* 0: not known yet */
    bool is_forked;   /* the launcher is a child of a fork server, not of the caller */
    unsigned held;    /* protections */
    int control;      /* our end of the socket of orders and reports */
    int streams[3];   /* our ends of the pipes; -1 */
    bool has_started; /* there is a launcher */
    bool has_ended;   /* `end` holds and the launcher has been waited for */
    proc_end end;
    struct { /* standard output in lines */
        char *data;
        size_t begin, end; /* what has been read and not been given out */
        size_t capacity, max;
    } lines;
};

/* Start a program with this socket as its descriptor 0, in a session of its own and with default
 * signals. @return errno */
int proc_spawn(pid_t *pid, const char *path, char *const *argv, char *const *env, int control);

/* Send a message of descriptors. `flags` as of sendmsg. @return false with errno */
bool proc_send_fds(int socket, const int *fds, size_t count, int flags);

/* Let the server fork a launcher that has this end of a control socket; start the server where it
 * does not run. MCP_E_IO and others: there is none. */
mcp_status proc_fork_server_pass(proc_fork_server *self, int control, mcp_error *err);

/* Kill a server that does not answer. The next child starts another one. */
void proc_fork_server_lost(proc_fork_server *self);

/* Wait until a descriptor is ready for `events` or closed. MCP_E_TIMEOUT, MCP_E_IO. */
mcp_status proc_poll(int fd, short events, int64_t until_ms, mcp_error *err);

/* Write as much as fits now and set `length` to it. MCP_E_STOPPED, MCP_E_IO. */
mcp_status proc_write_some(proc *self, const void *bytes, size_t *length, mcp_error *err);

/* The next report of the launcher; `kind` is REPORT_ENDED with PROC_LOST when it is gone. */
mcp_status proc_next_report(proc *self, plan_report *report, int64_t until_ms, mcp_error *err);

#endif
