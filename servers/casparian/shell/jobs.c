/*
 * jobs.c - casparian jobs list, show, cancel and logs; casparian worker; casparian quarantine.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/user.h"
#include "jobs/job.h"
#include "jobs/runner.h"
#include "jobs/state/quarantined.h"
#include "jobs/state/rows.h"
#include "shell/commands.h"
#include "shell/follow.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { EVENTS_MAX = 1000, FILES_MAX = 1000, IDLE_LOOK_MS = 100, LOG_LINE_SIZE = 65536 };

static const char *const statuses[] = { "all",    "queued",    "running", "completed",
                                        "failed", "cancelled", "stalled", NULL };

/* clang-format off */
const cli_option casparian_jobs_list_options[] = {
    { .name = "status", .type = CLI_CHOICE, .argument = "STATUS", .standard = "all",
      .choices = statuses, .help = "which jobs" },
    { .name = "limit", .type = CLI_INT, .argument = "N", .min = 1, .max = 1000, .standard = "20",
      .help = "how many, the newest first" },
    { 0 },
};

const cli_option casparian_jobs_show_options[] = {
    { .name = "events", .type = CLI_FLAG, .help = "add what has happened" },
    { .name = "files", .type = CLI_FLAG, .help = "add what became of each file" },
    { 0 },
};

const cli_option casparian_jobs_cancel_options[] = {
    { .name = "wait", .type = CLI_FLAG, .help = "until it has ended" },
    { 0 },
};

const cli_option casparian_jobs_logs_options[] = {
    { .name = "tail", .type = CLI_INT, .argument = "N", .min = 1, .max = 1000000,
      .help = "the last lines alone" },
    { 0 },
};

const cli_option casparian_worker_options[] = {
    { .name = "once", .type = CLI_FLAG, .help = "end when nothing is queued" },
    { .name = "max-concurrent", .type = CLI_INT, .argument = "N", .min = 1, .max = 8,
      .help = "jobs at once here (default: max_concurrent of [jobs])" },
    { 0 },
};

const cli_option casparian_quarantine_options[] = {
    { .name = "job", .type = CLI_STRING, .argument = "ID", .help = "of this job alone" },
    { .name = "output", .type = CLI_STRING, .argument = "NAME", .help = "of this output alone" },
    { 0 },
};
/* clang-format on */

static mcp_status read_id(int64_t *out, const char *text, mcp_error *err)
{
    return casparian_job_id_read(out, text)
               ? MCP_OK
               : mcp_error_set(err, MCP_E_PARAMS, "'%.40s' is not a job id", text);
}

/* ---- list ------------------------------------------------------------------------------------ */

static mcp_status list(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "JOB", "/job_id", true },     { "TYPE", "/type", false },
        { "STATUS", "/status", false }, { "CREATED", "/created_at", false },
        { "ROWS", "/rows", true },      { "INPUT", "/input_dir", false },
    };
    const casparian_job_filter filter = { .status = cli_string(line, "status"),
                                          .limit = cli_int(line, "limit", 0) };
    const casparian_job *jobs = NULL;
    const mcp_json *answer = NULL;
    casparian_shell_answer out;
    size_t count = 0;
    mcp_status st = casparian_job_list(&jobs, &count, app->store, app->arena, &filter, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "jobs");
    for (size_t i = 0; i < count; i++)
        casparian_job_write_item(&out.json, &jobs[i]);
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_table(line, mcp_json_get(answer, "jobs"), columns,
                                   sizeof columns / sizeof columns[0], "There are no jobs.", err);
    return st;
}

int casparian_command_jobs_list(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, list);
}

/* ---- show ------------------------------------------------------------------------------------ */

static mcp_status write_events(mcp_json_writer *json, casparian_app *app, int64_t id,
                               mcp_error *err)
{
    const casparian_event *events = NULL;
    size_t count = 0;
    mcp_status st = casparian_job_events(&events, &count, app->store, app->arena, id, 0, EVENTS_MAX,
                                         err);
    mcp_write_member_array(json, "events");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(json);
        mcp_write_member_int(json, "event_id", events[i].id);
        mcp_write_member_string(json, "type", events[i].type);
        casparian_write_time(json, "timestamp", events[i].timestamp_ms);
        mcp_write_member_value(json, "payload", events[i].payload);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return st;
}

static mcp_status write_files(mcp_json_writer *json, casparian_app *app, int64_t id, mcp_error *err)
{
    const casparian_job_outcome *files = NULL;
    size_t count = 0;
    mcp_status st = casparian_job_files(&files, &count, app->store, app->arena, id, NULL, FILES_MAX,
                                        err);
    mcp_write_member_array(json, "files");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "path", files[i].file.path);
        mcp_write_member_string(json, "status", files[i].status);
        casparian_write_text(json, "sha256", files[i].sha256);
        if (files[i].rows >= 0)
            mcp_write_member_int(json, "rows", files[i].rows);
        casparian_write_text(json, "error_kind", files[i].error_kind);
        casparian_write_text(json, "error", files[i].error_message);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return st;
}

static mcp_status show(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_job job;
    int64_t id;
    mcp_status st = read_id(&id, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = casparian_job_read(&job, app->store, app->arena, id, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    casparian_job_write(&out.json, &job);
    if (cli_flag(line, "events"))
        st = write_events(&out.json, app, id, err);
    if (st == MCP_OK && cli_flag(line, "files"))
        st = write_files(&out.json, app, id, err);
    st = casparian_shell_answer_close(&out, st, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_jobs_show(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, show);
}

/* ---- cancel ---------------------------------------------------------------------------------- */

static mcp_status cancel(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *user = casparian_local_user(app->arena);
    casparian_cancelled how = CASPARIAN_CANCEL_ABSENT;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_job job;
    int64_t id;
    mcp_status st = read_id(&id, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = casparian_job_cancel(&how, app->store, id,
                                  mcp_arena_printf(app->arena, "cli:%s", user ? user : ""), err);
    if (st == MCP_OK && how == CASPARIAN_CANCEL_ABSENT)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no job %" PRId64, id);
    if (st == MCP_OK && cli_flag(line, "wait"))
        st = casparian_shell_follow_to(&job, app, line, id, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "job_id", cli_argument(line, 0));
    mcp_write_member_string(&out.json, "status",
                            how == CASPARIAN_CANCEL_DONE ? "cancelled" : "already_completed");
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        fprintf(cli_out(line), "%s\n", mcp_json_get_string(answer, "status"));
    return st;
}

int casparian_command_jobs_cancel(const cli_line *line, void *data)
{
    unsigned parts = CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT;
    (void)data;
    return casparian_shell_run(
        line, cli_flag(line, "wait") ? parts | CASPARIAN_NEEDS_DRIVER : parts, cancel);
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* Where the last `count` lines begin; 0: there are fewer. */
static long find_tail(FILE *file, int64_t count)
{
    int64_t lines = 0;
    long at = 0;
    if (fseek(file, 0, SEEK_END) == 0)
        at = ftell(file);
    for (at--; at > 0; at--) { /* the newest newline ends the last line */
        if (fseek(file, at - 1, SEEK_SET) != 0)
            return 0;
        if (fgetc(file) == '\n' && ++lines == count)
            return at;
    }
    return 0;
}

static mcp_status logs(casparian_app *app, const cli_line *line, mcp_error *err)
{
    char bytes[LOG_LINE_SIZE];
    int64_t id;
    size_t length;
    mcp_status st = read_id(&id, cli_argument(line, 0), err);
    if (st != MCP_OK)
        return st;
    const char *path = mcp_arena_printf(app->arena, "%s/logs/jobs/%" PRId64 ".log", app->home, id);
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "job %" PRId64 " has no log", id);
    if (cli_given(line, "tail"))
        fseek(file, find_tail(file, cli_int(line, "tail", 0)), SEEK_SET);
    do {
        length = fread(bytes, 1, sizeof bytes, file);
        fwrite(bytes, 1, length, cli_out(line));
    } while (length > 0);
    st = ferror(file) ? mcp_error_set(err, MCP_E_IO, "%s cannot be read", path) : MCP_OK;
    fclose(file);
    return st;
}

int casparian_command_jobs_logs(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_HOME, logs);
}

/* ---- worker ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopping;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stopping = 1;
}

static mcp_status work(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const struct sigaction handler = { .sa_handler = on_signal };
    const casparian_runner_options options = { .store = app->store,
                                               .driver = app->driver,
                                               .threads = (int)cli_int(line, "max-concurrent", 0) };
    casparian_runner *runner = NULL;
    bool is_idle = false;
    sigaction(SIGINT, &handler, NULL);
    sigaction(SIGTERM, &handler, NULL);
    mcp_status st = casparian_runner_new(&runner, &options, err);
    while (st == MCP_OK && !stopping && !(cli_flag(line, "once") && is_idle)) {
        usleep(IDLE_LOOK_MS * 1000);
        if (cli_flag(line, "once"))
            st = casparian_runner_is_idle(runner, &is_idle, err);
    }
    casparian_runner_free(runner);
    return st;
}

int casparian_command_worker(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(
        line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT | CASPARIAN_NEEDS_DRIVER, work);
}

/* ---- quarantine ------------------------------------------------------------------------------ */

static mcp_status quarantine(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "JOB", "/job_id", true },         { "TYPE", "/job_type", false },
        { "PLUGIN", "/plugin", false },     { "OUTPUT", "/output_name", false },
        { "ROWS", "/rows_emitted", true },  { "INVALID", "/rows_quarantined", true },
        { "LOCATION", "/location", false },
    };
    casparian_quarantined_filter filter = { .output = cli_string(line, "output") };
    const char *job = cli_string(line, "job");
    const casparian_quarantined *all = NULL;
    const mcp_json *answer = NULL;
    casparian_shell_answer out;
    size_t count = 0;
    mcp_status st = job ? read_id(&filter.job, job, err) : MCP_OK;
    if (st == MCP_OK)
        st = casparian_quarantined_read(&all, &count, app->store, app->arena, &filter, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "outputs");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(&out.json);
        casparian_write_job(&out.json, "job_id", all[i].job);
        mcp_write_member_string(&out.json, "job_type", all[i].job_type);
        mcp_write_member_string(&out.json, "plugin", all[i].plugin);
        mcp_write_member_string(&out.json, "output_name", all[i].output);
        mcp_write_member_int(&out.json, "rows_emitted", all[i].rows_emitted);
        mcp_write_member_int(&out.json, "rows_quarantined", all[i].rows_quarantined);
        casparian_write_text(&out.json, "location", all[i].location);
        if (all[i].violations)
            mcp_write_member_value(&out.json, "violations", all[i].violations);
        mcp_write_end(&out.json);
    }
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_table(line, mcp_json_get(answer, "outputs"), columns,
                                   sizeof columns / sizeof columns[0], "Nothing is in quarantine.",
                                   err);
    return st;
}

int casparian_command_quarantine(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, quarantine);
}
