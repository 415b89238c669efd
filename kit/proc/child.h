/*
 * child.h - a running child, as the files of kit/proc see it.
 */
#ifndef PROC_CHILD_H
#define PROC_CHILD_H

#include "proc/plan.h"
#include "proc/proc.h"

struct proc {
    pid_t launcher;
    unsigned held;  /* protections */
    int control;    /* our end of the socket of orders and reports */
    int streams[3]; /* our ends of the pipes; -1 */
    bool has_ended; /* `end` holds and the launcher has been waited for */
    proc_end end;
    struct { /* standard output in lines */
        char *data;
        size_t begin, end; /* what has been read and not been given out */
        size_t capacity, max;
    } lines;
};

/* Wait until a descriptor is ready for `events` or closed. MCP_E_TIMEOUT, MCP_E_IO. */
mcp_status proc_poll(int fd, short events, int64_t until_ms, mcp_error *err);

/* Write as much as fits now and set `length` to it. MCP_E_STOPPED, MCP_E_IO. */
mcp_status proc_write_some(proc *self, const void *bytes, size_t *length, mcp_error *err);

/* The next report of the launcher; `kind` is REPORT_ENDED with PROC_LOST when it is gone. */
mcp_status proc_next_report(proc *self, plan_report *report, int64_t until_ms, mcp_error *err);

#endif
