/*
 * run.c - a child from its start to its end, with input and bounded output.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "proc/child.h"

enum { OUT_MAX = 1 << 20, ERR_MAX = 64 << 10, TURN_MS = 50, READ_BYTES = 65536 };

typedef struct run {
    proc *child;
    const proc_run_options *options;
    proc_result *result;
    size_t written; /* of the input */
    bool is_over;   /* too much output */
    bool is_stopping;
} run;

static void feed(run *r)
{
    mcp_status st = MCP_OK;

    if (r->written < r->options->length) {
        size_t part = r->options->length - r->written;
        part = part < READ_BYTES ? part : READ_BYTES;
        const char *bytes = r->options->input;
        st = proc_write_some(r->child, bytes + r->written, &part, NULL);
        r->written += part;
    }
    if (st != MCP_OK || r->written == r->options->length)
        proc_close(r->child, PROC_STDIN);
}

/* Take what a stream has; its end closes it, and too much kills the child. */
static mcp_status take(run *r, proc_stream stream, mcp_buf *into, mcp_error *err)
{
    char bytes[READ_BYTES];
    size_t length = 0, room = into->max_bytes - into->length;
    mcp_status st = proc_read(r->child, stream, bytes, sizeof bytes, &length, 0, err);

    if (st == MCP_E_TIMEOUT)
        return MCP_OK;
    if (st != MCP_OK)
        return st;
    if (length == 0)
        proc_close(r->child, stream);
    if (length > room) {
        r->is_over = true;
        proc_kill(r->child);
        proc_close(r->child, stream);
    }
    st = mcp_buf_append(into, bytes, length < room ? length : room);
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "no memory for the output of a child process");
}

/* Wait for something to do, at most until the next look at should_stop. */
static mcp_status turn(run *r, bool *has_ended, mcp_error *err)
{
    struct pollfd fds[4] = {
        { .fd = proc_descriptor(r->child, PROC_STDIN), .events = POLLOUT },
        { .fd = proc_descriptor(r->child, PROC_STDOUT), .events = POLLIN },
        { .fd = proc_descriptor(r->child, PROC_STDERR), .events = POLLIN },
        { .fd = proc_end_descriptor(r->child), .events = POLLIN },
    };
    mcp_status st = MCP_OK;

    if (!r->is_stopping && r->options->should_stop && r->options->should_stop(r->options->data)) {
        r->is_stopping = true;
        proc_stop(r->child);
    }
    if (poll(fds, 4, r->options->should_stop && !r->is_stopping ? TURN_MS : -1) < 0)
        return errno == EINTR ? MCP_OK : mcp_error_errno(err, errno, "cannot wait for a child");
    if (fds[0].revents)
        feed(r);
    if (fds[1].revents)
        st = take(r, PROC_STDOUT, &r->result->out, err);
    if (st == MCP_OK && fds[2].revents)
        st = take(r, PROC_STDERR, &r->result->err, err);
    /* The end comes last: what the child has written is read first. */
    *has_ended = fds[3].revents && !fds[1].revents && !fds[2].revents;
    return st;
}

static mcp_status run_to_end(run *r, mcp_error *err)
{
    mcp_status st = MCP_OK;
    bool has_ended = false;

    if (r->options->length == 0)
        proc_close(r->child, PROC_STDIN);
    while (st == MCP_OK && !has_ended)
        st = turn(r, &has_ended, err);
    if (st == MCP_OK)
        st = proc_wait(r->child, &r->result->end, PROC_FOREVER, err);
    if (st == MCP_OK && r->is_over)
        r->result->end.how = PROC_OUTPUT_LIMIT;
    return st;
}

mcp_status proc_run(proc_result *result, const proc_spec *spec, const proc_run_options *options,
                    mcp_error *err)
{
    static const proc_run_options none;
    run r = { .options = options ? options : &none, .result = result };
    mcp_status st;

    result->end = (proc_end){ .how = PROC_LOST, .code = -1 };
    mcp_buf_init(&result->out, r.options->out_max > 0 ? r.options->out_max : OUT_MAX);
    mcp_buf_init(&result->err, r.options->err_max > 0 ? r.options->err_max : ERR_MAX);
    st = proc_start(&r.child, spec, err);
    if (st == MCP_OK)
        st = run_to_end(&r, err);
    proc_free(r.child);
    return st;
}

void proc_result_clear(proc_result *result)
{
    mcp_buf_clear(&result->out);
    mcp_buf_clear(&result->err);
}
