/*
 * serve.c - cobre as an MCP server.
 */
#include "serve/serve.h"

#include <unistd.h>

#include "features/resources.h"
#include "features/tools.h"
#include "gateway/errors.h"
#include "refusals.h"
#include "run/run.h"
#include "shell/commands.h"

/* The first SIGTERM lets the running iteration end, which may take minutes on a large case, and no
 * grace time interrupts it (method page, 10); the second cancels it. */
#define GRACE_MS (24 * 3600 * 1000)

/* 10,000 rows of the widest table, as text and as structured content. */
#define REPLY_MAX ((size_t)32 << 20)

/* One large case always fits; several at once where half of the machine's memory has room for
 * them. The other half is for the engine, the solver and other programs. */
static size_t calls_max_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t half = pages > 0 && page > 0 ? (size_t)pages / 2 * (size_t)page : 0;
    return half > COBRE_CASE_ARENA_MAX ? half : COBRE_CASE_ARENA_MAX;
}

static void write_metrics(mcp_buf *out, void *data)
{
    const cobre_app *app = data;
    serve_metric(out, "cobre_lp_solves_total", "counter", "Linear programs that runs have solved.",
                 (double)atomic_load_explicit(&app->lp_solves, memory_order_relaxed));
}

static mcp_status open_app(serve_setup *setup, void *data, mcp_error *err)
{
    cobre_app *app = data;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    setup->http.write_metrics = write_metrics;
    setup->http.metrics_data = app;
    setup->options.limits.calls_max_bytes = calls_max_bytes();
    app->guard = setup->guard;
    app->threads = (unsigned)cli_int(setup->line, "threads", cores > 0 ? cores : 1);
    return columns_open(&app->engine, err);
}

static void close_app(void *data)
{
    columns_close(((cobre_app *)data)->engine);
}

static const serve_server server = {
    .options = { .name = "cobre-mcp",
                 .version = COBRE_VERSION,
                 .title = "COBRE hydrothermal dispatch",
                 .description = "Validates, trains and simulates hydrothermal cases by SDDP",
                 .instructions =
                     "Validate a case directory before running it. cobre/run may take minutes to "
                     "hours: ask for progress. Query results by their output directory.",
                 .extensions = "{\"io.modelcontextprotocol/ui\":{}}",
                 .write_note = COBRE_WRITES_DISABLED,
                 .explicit_is_error = true, /* as every example of the contract has it */
                 .error_formatter = cobre_refuse_call,
                 .normalize_arguments = cobre_normalize_arguments,
                 .limits = { .arena_max_bytes = COBRE_CASE_ARENA_MAX,
                             .reply_max_bytes = REPLY_MAX,
                             .grace_ms = GRACE_MS } },
    .features = { .files = cobre_files,
                  .tools = cobre_tools,
                  .resources = cobre_resources,
                  .prompts = cobre_prompts,
                  .completions = cobre_completions },
    .open = open_app,
    .close = close_app,
};

int cobre_command_serve(const cli_line *line, void *data)
{
    cobre_app app = { .run_lock = PTHREAD_MUTEX_INITIALIZER };
    (void)data;
    return serve_run(&server, line, &app);
}
