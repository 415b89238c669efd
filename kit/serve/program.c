/*
 * program.c - beginning and end of a program and of its commands: signals, output, exit statuses.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "mcp/buf.h"
#include "mcp/json.h"
#include "serve/serve.h"

#define RECORD_MAX 65536

/* Memory at the end of the heap that is not given back, and the size from which an allocation is a
 * mapping of its own. */
#define TRIM_BYTES (8 << 20)
#define MMAP_BYTES (2 << 20)

int serve_main(const cli_program *program, int argc, char **argv)
{
    return serve_main_with(program, argc, argv, stdout, stderr, NULL);
}

int serve_main_with(const cli_program *program, int argc, char **argv, FILE *out, FILE *err,
                    void *data)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };

    sigaction(SIGXFSZ, &ignore, NULL);
    int exit_status = cli_main(program, argc, argv, out, err, data);
    if (fflush(out) == 0 && !ferror(out))
        return exit_status;
    fprintf(err, "error: standard output cannot be written: %s\n", strerror(errno));
    return exit_status == SERVE_EXIT_DONE ? SERVE_EXIT_FILES : exit_status;
}

void serve_keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
#endif
}

int serve_exit_status(mcp_status status)
{
    switch ((int)status) {
    case MCP_OK:
        return SERVE_EXIT_DONE;
    case MCP_E_PARSE:
    case MCP_E_PARAMS:
    case MCP_E_SCHEMA:
    case MCP_E_LIMIT:
    case MCP_E_EXISTS:
    case MCP_E_RESOURCE:
        return SERVE_EXIT_INVALID;
    case MCP_E_NOT_FOUND:
    case MCP_E_DENIED:
    case MCP_E_IO:
    case MCP_E_BUSY:
    case MCP_E_TIMEOUT:
    case MCP_E_STORAGE:
    case MCP_E_UNSUPPORTED:
        return SERVE_EXIT_FILES;
    case MCP_E_STOPPED:
        if (serve_signals() > 0)
            return serve_signal_status();
        break;
    default:
        break;
    }
    return SERVE_EXIT_INTERNAL;
}

int serve_fail(const cli_line *line, mcp_status status, const mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;

    fprintf(cli_err(line), "error: %s\n", err->message);
    if (cli_flag(line, "json")) {
        mcp_buf_init(&text, RECORD_MAX);
        mcp_json_writer_init(&json, &text);
        mcp_write_object(&json);
        mcp_write_member_string(&json, "error", err->message);
        mcp_write_member_string(&json, "status", mcp_status_name(status));
        mcp_write_end(&json);
        bool is_whole = mcp_json_writer_status(&json) == MCP_OK;
        fprintf(cli_out(line), "%s\n", is_whole ? text.data : "{}");
        mcp_buf_clear(&text);
    }
    return serve_exit_status(status);
}

/* ---- signals --------------------------------------------------------------------------------- */

static atomic_int signals;
static atomic_int first_signal;
static atomic_int signals_most;

static void on_signal(int number)
{
    const struct sigaction standard = { .sa_handler = SIG_DFL };
    int seen = atomic_fetch_add(&signals, 1);

    if (seen == 0)
        atomic_store(&first_signal, number);
    if (seen + 1 < atomic_load(&signals_most))
        return;
    sigaction(SIGINT, &standard, NULL);
    sigaction(SIGTERM, &standard, NULL);
    sigaction(SIGHUP, &standard, NULL);
}

void serve_count_signals(int most, int flags)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
    struct sigaction hangup;

    atomic_store(&signals_most, most);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGHUP);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

void serve_count_signal(int number, int flags)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

int serve_signals(void)
{
    return atomic_load_explicit(&signals, memory_order_relaxed);
}

int serve_signal_status(void)
{
    return 128 + atomic_load(&first_signal);
}
