/*
 * main.c - the program cobre: its commands; under the name cobre-mcp it is the command serve.
 *
 * Standard output carries results alone (text, or exactly one JSON object with --json); what is said to
 * people goes to standard error. Exit status: 0 done, 1 the input is not valid, 2 a file or directory
 * or the command line, 3 the solver, 4 a failure of our own, 130 and 143 stopped by SIGINT or SIGTERM
 * with what was completed on disk.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case/load.h"
#include "cli/cli.h"
#include "report/console.h"
#include "run/run.h"
#include "tools.h"

#include "errors.h"

enum { EXIT_DONE, EXIT_INVALID, EXIT_FILES, EXIT_SOLVER, EXIT_INTERNAL };

#define CASE_ARENA_MAX ((size_t)4 << 30)
#define JSON_MAX ((size_t)64 << 20)

/* The first SIGTERM lets the running iteration end, which may take minutes on a large case, and no
 * grace time cuts that short (method page, 10); who cannot wait sends the second. */
#define GRACE_MS (24 * 3600 * 1000)

/* ---- the two signals that end a run ------------------------------------------------------------- */

static volatile sig_atomic_t signals_seen;
static volatile sig_atomic_t first_signal;

static void on_signal(int number)
{
    if (!signals_seen)
        first_signal = number;
    if (signals_seen < 2)
        signals_seen++;
}

static void watch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static mcp_stop on_stop(void *data)
{
    (void)data;
    if (!signals_seen)
        return MCP_GO_ON;
    return signals_seen == 1 ? MCP_STOP_SHUTDOWN : MCP_STOP_CANCELLED;
}

/* ---- a case directory from the command line ------------------------------------------------------ */

/* What a command works with; everything is released by work_end. */
struct work {
    const cli_line *line;
    mcp_arena *arena;
    guard *guard;          /* of the whole file system: the user's own rights are the limit */
    columns *engine;
    int case_fd;
    const char *case_dir;
    mcp_error error;
    const char *output;    /* --output, or NULL */
};

static int complain(const struct work *work, int exit_status)
{
    fprintf(cli_err(work->line), "error: %s\n", work->error.message);
    return exit_status;
}

static int print_json(const struct work *work, const mcp_buf *text, int exit_status)
{
    FILE *out = cli_out(work->line);
    fwrite(text->data, 1, text->length, out);
    fputc('\n', out);
    if (fflush(out) == 0 && !ferror(out))
        return exit_status;
    fprintf(cli_err(work->line), "error: standard output cannot be written: %s\n", strerror(errno));
    return EXIT_FILES;
}

static void work_end(struct work *work)
{
    if (work->case_fd >= 0)
        close(work->case_fd);
    columns_close(work->engine);
    guard_free(work->guard);
    mcp_arena_free(work->arena);
}

static int print_record(const struct work *work, const cobre_record *record, int exit_status)
{
    mcp_buf text;
    mcp_json_writer writer;
    fprintf(cli_err(work->line), "error: %s\n", record->message);
    if (record->suggestion)
        fprintf(cli_err(work->line), "  -> %s\n", record->suggestion);
    if (!cli_flag(work->line, "json"))
        return exit_status;
    mcp_buf_init(&text, JSON_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_record_write(record, &writer);
    exit_status = print_json(work, &text, exit_status);
    mcp_buf_clear(&text);
    return exit_status;
}

/* 0, or the exit status after the trouble was told. */
static int work_begin(struct work *work, const cli_line *line)
{
    static const char *const roots[] = { "/" };
    memset(work, 0, sizeof *work);
    work->line = line;
    work->case_fd = -1;
    work->error.offset = -1;
    work->arena = mcp_arena_new(CASE_ARENA_MAX);
    if (!work->arena) {
        mcp_error_set(&work->error, MCP_E_NOMEM, "out of memory");
        return complain(work, EXIT_INTERNAL);
    }
    if (guard_new(&work->guard, roots, 1, &work->error) != MCP_OK
        || columns_open(&work->engine, &work->error) != MCP_OK)
        return complain(work, EXIT_INTERNAL);

    const char *path = cli_argument(line, 0);
    if (guard_open_dir(&work->case_fd, &work->case_dir, work->guard, path, work->arena,
                       &work->error) == MCP_OK)
        return 0;
    const cobre_record *record =
        cobre_record_new(work->arena, "MissingFile", "Check the path and that it is a directory.",
                         COBRE_MEMBERS(COBRE_TEXT("file", path)), "%s", work->error.message);
    return record ? print_record(work, record, EXIT_FILES) : complain(work, EXIT_INTERNAL);
}

/* ---- cobre validate ------------------------------------------------------------------------------ */

static void print_findings(const struct work *work, FILE *stream, const cobre_report *report,
                           cobre_severity severity, const char *word)
{
    for (size_t i = 0;; i++) {
        const cobre_finding *finding = cobre_report_finding(report, severity, i);
        if (!finding)
            return;
        fprintf(stream, "%s: %s\n", word, cobre_finding_line(finding, work->arena));
        if (finding->suggestion)
            fprintf(stream, "  -> %s\n", finding->suggestion);
    }
}

static void print_verdict(const struct work *work, const cobre_case *input,
                          const cobre_report *report)
{
    FILE *out = cli_out(work->line);
    size_t errors = cobre_report_count(report, COBRE_SEVERITY_ERROR);
    size_t warnings = cobre_report_count(report, COBRE_SEVERITY_WARNING);
    if (input)
        fprintf(out, "Valid case: %zu buses, %zu hydros, %zu thermals, %zu lines\n",
                input->bus_count, input->hydro_count, input->thermal_count, input->line_count);
    if (errors || warnings)
        fprintf(out, "Validation: %zu errors, %zu warnings in %s\n", errors, warnings,
                work->case_dir);
    print_findings(work, out, report, COBRE_SEVERITY_ERROR, "error");
    print_findings(work, out, report, COBRE_SEVERITY_WARNING, "warning");
}

static int print_verdict_json(const struct work *work, const cobre_report *report, int exit_status)
{
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, JSON_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    cobre_report_write_verdict(report, &writer);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        exit_status = print_json(work, &text, exit_status);
    else
        exit_status = EXIT_INTERNAL;
    mcp_buf_clear(&text);
    return exit_status;
}

static int validate_case(struct work *work)
{
    const cobre_case *input = NULL;
    cobre_report *report = cobre_report_new(work->arena);
    if (!report)
        return EXIT_INTERNAL;
    if (cobre_case_load(&input, work->case_fd, work->case_dir, work->engine, report, work->arena,
                        &work->error) != MCP_OK)
        return complain(work, EXIT_INTERNAL);
    size_t errors = cobre_report_count(report, COBRE_SEVERITY_ERROR);
    int exit_status = errors ? EXIT_INVALID : EXIT_DONE;
    if (cli_flag(work->line, "json"))
        return print_verdict_json(work, report, exit_status);
    print_verdict(work, input, report);
    if (errors)
        fprintf(cli_err(work->line), "error: the case has %zu error%s\n", errors,
                errors == 1 ? "" : "s");
    return exit_status;
}

static int validate(const cli_line *line, void *data)
{
    (void)data;
    struct work work;
    int exit_status = work_begin(&work, line);
    if (exit_status == 0)
        exit_status = validate_case(&work);
    work_end(&work);
    return exit_status;
}

/* ---- cobre run ----------------------------------------------------------------------------------- */

static void on_started(const cobre_case *input, void *data)
{
    console_started(data, input);
}

static void on_iteration(const sddp_iteration *row, const cobre_case *input, void *data)
{
    (void)input;
    console_iteration(data, row);
}

static void on_trained(const sddp_training *training, void *data)
{
    console_trained(data, training);
}

static void on_scenario(uint32_t done, uint32_t total, int64_t elapsed_ms, void *data)
{
    (void)elapsed_ms;
    console_scenario(data, done, total);
}

static mcp_status open_output(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err)
{
    const struct work *work = data;
    if (work->output)
        return guard_open_or_make_dir(fd, path, work->guard, work->output, arena, err);
    *path = mcp_arena_printf(arena, "%s/output", work->case_dir);
    if (!*path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the output directory's path");
    return guard_make_dir(fd, work->case_fd, "output", err);
}

static int run_exit_status(const cobre_run_result *result)
{
    switch (result->end) {
    case COBRE_RUN_COMPLETED:
        return EXIT_DONE;
    case COBRE_RUN_PARTIAL:
        return signals_seen ? 128 + first_signal : EXIT_DONE;
    case COBRE_RUN_INVALID:
    case COBRE_RUN_REFUSED:
        return EXIT_INVALID;
    case COBRE_RUN_SOLVER_FAILED:
        return EXIT_SOLVER;
    case COBRE_RUN_FAILED:
        break;
    }
    return EXIT_FILES;
}

static int print_run(const struct work *work, const cobre_run_result *result)
{
    int exit_status = run_exit_status(result);
    mcp_buf text;
    mcp_json_writer writer;
    if (result->record)
        return print_record(work, result->record, exit_status);
    if (result->end == COBRE_RUN_INVALID)
        print_findings(work, cli_err(work->line), result->report, COBRE_SEVERITY_ERROR, "error");
    if (!cli_flag(work->line, "json"))
        return exit_status;
    mcp_buf_init(&text, JSON_MAX);
    mcp_json_writer_init(&writer, &text);
    if (result->end == COBRE_RUN_INVALID) {
        cobre_report_write_failure(result->report, &writer);
    } else {
        mcp_write_object(&writer);
        cobre_run_write(result, &writer);
        mcp_write_end(&writer);
    }
    exit_status = mcp_json_writer_status(&writer) == MCP_OK
        ? print_json(work, &text, exit_status) : EXIT_INTERNAL;
    mcp_buf_clear(&text);
    return exit_status;
}

static int run_case(struct work *work)
{
    const cli_line *line = work->line;
    unsigned threads = (unsigned)cli_int(line, "threads", 1);
    console watch;
    cobre_run_result result;
    const cobre_run_observer observer = { on_started, on_iteration, on_trained, on_scenario,
                                          on_stop, &watch };
    const cobre_run_order order = {
        .case_fd = work->case_fd,
        .case_dir = work->case_dir,
        .open_output = open_output,
        .output_data = work,
        .phases = COBRE_PHASES_BOTH,
        .threads = threads,
        .engine = work->engine,
        .observer = &observer,
    };
    work->output = cli_string(line, "output");
    watch_signals();
    console_begin(&watch, cli_err(line), cli_flag(line, "quiet"),
                  cli_use_color(cli_string(line, "color"), cli_err(line)), threads, work->case_dir);
    if (cobre_run(&result, &order, work->arena, &work->error) != MCP_OK)
        return complain(work, EXIT_INTERNAL);
    console_end(&watch, &result);
    return print_run(work, &result);
}

static int run(const cli_line *line, void *data)
{
    (void)data;
    struct work work;
    int exit_status = work_begin(&work, line);
    if (exit_status == 0)
        exit_status = run_case(&work);
    work_end(&work);
    return exit_status;
}

/* ---- cobre serve, cobre-mcp ----------------------------------------------------------------------- */

#define ROOTS_MAX 256

/* The allowed directories: the flag's, by commas; else the variable's, by colons; else here. */
static mcp_status open_guard(cobre_app *app, const cli_line *line, mcp_arena *arena, mcp_error *err)
{
    const char *roots[ROOTS_MAX];
    size_t count = 0;
    const char *given = cli_string(line, "allowed-dirs");
    const char *separator = ",";
    if (!given || !*given) {
        given = getenv("COBRE_MCP_ALLOWED_DIRS");
        separator = ":";
    }
    char *list = mcp_arena_strdup(arena, given && *given ? given : ".");
    if (!list)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    for (char *next = list; next;) {
        const char *root = strsep(&next, separator);
        if (!*root)
            continue;
        if (count == ROOTS_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "more than %d allowed directories", ROOTS_MAX);
        roots[count++] = root;
    }
    return guard_new(&app->guard, roots, count, err);
}

static mcp_log_level log_level(const char *name)
{
    mcp_log_level level = MCP_LOG_DEBUG;
    while (level > MCP_LOG_OFF && strcmp(mcp_log_level_name(level), name) != 0)
        level--;
    return level;
}

static mcp_tool_names tool_names(const char *name)
{
    if (strcmp(name, "safe") == 0)
        return MCP_NAMES_SAFE;
    return strcmp(name, "auto") == 0 ? MCP_NAMES_AUTO : MCP_NAMES_CANONICAL;
}

static mcp_status serve_app(cobre_app *app, const cli_line *line, mcp_error *err)
{
    mcp_server *server = NULL;
    mcp_revision pinned = mcp_revision_find(cli_string(line, "revision"));
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    options.name = "cobre-mcp";
    options.version = COBRE_VERSION;
    options.title = "COBRE hydrothermal dispatch";
    options.description = "Validates, trains and simulates hydrothermal cases by SDDP";
    options.instructions = "Validate a case directory before running it. cobre/run may take minutes "
                           "to hours: ask for progress. Query results by their output directory.";
    options.oldest = pinned;
    options.newest = pinned;
    options.strict_version = cli_flag(line, "strict-version");
    options.tool_names = tool_names(cli_string(line, "tool-names"));
    options.allow_write = cli_flag(line, "allow-write");
    options.write_note = COBRE_WRITES_DISABLED;
    options.refuse = cobre_refuse_call;
    options.fit = cobre_fit_arguments;
    options.data = app;
    options.arena_max_bytes = CASE_ARENA_MAX;
    options.grace_ms = GRACE_MS;
    options.log = (mcp_log){ mcp_log_stderr, NULL, log_level(cli_string(line, "log-level")) };

    const mcp_features features = { .files = cobre_files, .tools = cobre_tools, .data = app };
    mcp_status st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, err);
    mcp_server_free(server);
    return st;
}

static int serve(const cli_line *line, void *data)
{
    (void)data;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cobre_app app = { .run_lock = PTHREAD_MUTEX_INITIALIZER };
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);
    app.threads = (unsigned)cli_int(line, "threads", cores > 0 ? cores : 1);
    mcp_status st = arena ? open_guard(&app, line, arena, &err)
                          : mcp_error_set(&err, MCP_E_NOMEM, "out of memory");
    int exit_status = st == MCP_OK ? EXIT_DONE : EXIT_FILES;
    if (st == MCP_OK)
        st = columns_open(&app.engine, &err);
    if (st == MCP_OK)
        st = serve_app(&app, line, &err);
    if (st != MCP_OK) {
        fprintf(cli_err(line), "error: %s\n", err.message);
        exit_status = exit_status ? exit_status : EXIT_INTERNAL;
    }
    columns_close(app.engine);
    guard_free(app.guard);
    mcp_arena_free(arena);
    return exit_status;
}

/* ---- the tables ----------------------------------------------------------------------------------- */

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const transports[] = { "stdio", NULL };
static const char *const names_choices[] = { "canonical", "safe", "auto", NULL };
static const char *const level_choices[] = { "off", "error", "warning", "info", "debug", NULL };
static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                         NULL };

static const cli_option program_options[] = {
    { .name = "color", .type = CLI_CHOICE, .argument = "WHEN", .help = "colours on standard error",
      .env = "COBRE_COLOR", .standard = "auto", .choices = color_choices },
    { 0 }
};

static const cli_option run_options[] = {
    { .name = "output", .type = CLI_STRING, .argument = "DIR",
      .help = "where results go (default: CASE/output)" },
    { .name = "threads", .type = CLI_INT, .argument = "N", .help = "threads that solve",
      .env = "COBRE_THREADS", .standard = "1", .min = 1, .max = 1024 },
    { .name = "json", .type = CLI_FLAG, .help = "print the result as one JSON object" },
    { .name = "quiet", .type = CLI_FLAG, .help = "say nothing but errors" },
    { 0 }
};

static const cli_option validate_options[] = {
    { .name = "json", .type = CLI_FLAG, .help = "print the findings as one JSON object" },
    { 0 }
};

static const cli_option serve_options[] = {
    { .name = "transport", .type = CLI_CHOICE, .argument = "KIND", .help = "how clients connect",
      .standard = "stdio", .choices = transports },
    { .name = "allow-write", .type = CLI_FLAG,
      .help = "let cobre/run and cobre/export-results write" },
    { .name = "allowed-dirs", .type = CLI_STRING, .argument = "A,B",
      .help = "directories that clients may name (else COBRE_MCP_ALLOWED_DIRS, else the current)" },
    { .name = "threads", .type = CLI_INT, .argument = "N",
      .help = "threads of a run (default: all cores)", .min = 1, .max = 1024 },
    { .name = "tool-names", .type = CLI_CHOICE, .argument = "FORM",
      .help = "how tools are listed: cobre/run, or cobre_run for hosts that refuse a slash",
      .standard = "canonical", .choices = names_choices },
    { .name = "revision", .type = CLI_CHOICE, .argument = "DATE",
      .help = "speak this protocol revision alone", .choices = revisions },
    { .name = "strict-version", .type = CLI_FLAG,
      .help = "refuse a client's unknown revision instead of offering another" },
    { .name = "log-level", .type = CLI_CHOICE, .argument = "LEVEL",
      .help = "what is logged on standard error", .standard = "warning", .choices = level_choices },
    { 0 }
};

static const cli_command commands[] = {
    { .name = "run", .arguments = "CASE", .arguments_min = 1, .arguments_max = 1,
      .summary = "train and simulate a case directory", .options = run_options, .run = run },
    { .name = "validate", .arguments = "CASE", .arguments_min = 1, .arguments_max = 1,
      .summary = "check a case directory without solving", .options = validate_options,
      .run = validate },
    { .name = "serve", .summary = "serve MCP clients (the same as cobre-mcp)",
      .options = serve_options, .run = serve },
    { 0 }
};

static const cli_command serve_alone[] = {
    { .name = "", .summary = "serve MCP clients", .options = serve_options, .run = serve },
    { 0 }
};

static const char exit_notes[] =
    "Exit status: 0 done; 1 the input is not valid; 2 a file, a directory or the command line;\n"
    "3 the solver; 4 an internal failure; 130 or 143 stopped by SIGINT or SIGTERM, with what was\n"
    "completed on disk.\n";

int main(int argc, char **argv)
{
    static const cli_program cobre = {
        .name = "cobre", .version = COBRE_VERSION,
        .summary = "hydrothermal dispatch by stochastic dual dynamic programming",
        .notes = exit_notes, .options = program_options, .commands = commands,
    };
    static const cli_program cobre_mcp = {
        .name = "cobre-mcp", .version = COBRE_VERSION,
        .summary = "cobre for agents: an MCP server over standard input and output",
        .options = program_options, .commands = serve_alone,
    };
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    const cli_program *program = strcmp(name, "cobre-mcp") == 0 ? &cobre_mcp : &cobre;
    return cli_main(program, argc, argv, stdout, stderr, NULL);
}
