/*
 * follow.c - watches a job, or runs it.
 */
#include "shell/follow.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "gateway/user.h"
#include "jobs/runner.h"
#include "mcp/clock.h"
#include "shell/report.h"
#include "shell/shell.h"

enum { LOOK_MS = 50, DETAIL_SIZE = 96 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* The progress of a job, as it is shown. */
typedef struct view {
    cli_progress bar;
    int64_t done, rows; /* of the newest line */
} view;

static void draw(view *self, const casparian_job *job)
{
    char detail[DETAIL_SIZE] = "";
    int64_t done = 0, total = 0, rows = 0;
    if (!job->progress)
        return;
    mcp_json_int(mcp_json_get(job->progress, "items_done"), &done);
    mcp_json_int(mcp_json_get(job->progress, "items_total"), &total);
    mcp_json_int(mcp_json_get(job->progress, "rows_emitted"), &rows);
    if (self->bar.style == CLI_PROGRESS_LINES && done == self->done && rows == self->rows)
        return;
    self->done = done;
    self->rows = rows;
    self->bar.total = (uint64_t)total;
    snprintf(detail, sizeof detail, "%" PRId64 " rows", rows);
    cli_progress_step(&self->bar, (uint64_t)done, detail);
}

/* Each look has an arena of its own; the last one is the app's. */
static mcp_status watch(casparian_job *job, casparian_app *app, int64_t id, int64_t until_ms,
                        view *shown, mcp_error *err)
{
    bool is_cancelled = false;
    for (;;) {
        mcp_arena *arena = mcp_arena_new(0);
        casparian_cancelled how;
        if (!arena)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a job");
        mcp_status st = casparian_job_read(job, app->store, arena, id, err);
        bool has_ended = st == MCP_OK && job->state > CASPARIAN_JOB_RUNNING;
        if (st == MCP_OK && (!has_ended || shown->bar.style == CLI_PROGRESS_LINES))
            draw(shown, job);
        mcp_arena_free(arena);
        if (st != MCP_OK || has_ended)
            return st == MCP_OK ? casparian_job_read(job, app->store, app->arena, id, err) : st;
        if (mcp_clock_mono_ms() >= until_ms)
            return mcp_error_set(err, MCP_E_TIMEOUT, "job %" PRId64 " has not ended in time", id);
        if (interrupted && !is_cancelled) {
            is_cancelled = true;
            st = casparian_job_cancel(&how, app->store, id, casparian_local_user(app->arena), err);
            if (st != MCP_OK)
                return st;
        }
        usleep(LOOK_MS * 1000);
    }
}

/* A runner of this process, unless another process has one. */
static mcp_status start_runner(casparian_runner **out, casparian_app *app, mcp_error *err)
{
    bool is_alive = false;
    const casparian_runner_options options = { .store = app->store,
                                               .driver = app->driver,
                                               .threads = 1 };
    *out = NULL;
    mcp_status st = casparian_runner_is_alive(app->store, &is_alive, err);
    return st == MCP_OK && !is_alive ? casparian_runner_new(out, &options, err) : st;
}

mcp_status casparian_shell_follow_to(casparian_job *job, casparian_app *app, const cli_line *line,
                                     int64_t id, mcp_error *err)
{
    const struct sigaction handler = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
    bool follows = cli_has(line, "follow") && cli_flag(line, "follow");
    cli_progress_style style = follows ? CLI_PROGRESS_LINES : CLI_PROGRESS_NONE;
    int64_t timeout_s = cli_has(line, "timeout") ? cli_int(line, "timeout", 0) : 0;
    int64_t until_ms = timeout_s ? mcp_clock_mono_ms() + timeout_s * 1000 : INT64_MAX;
    casparian_runner *runner = NULL;
    struct sigaction before;
    view shown = { .done = -1 };
    if (!cli_flag(line, "quiet") && isatty(fileno(cli_err(line))))
        style = CLI_PROGRESS_BAR;
    mcp_status st = start_runner(&runner, app, err);
    if (st != MCP_OK)
        return st;
    sigaction(SIGINT, &handler, &before);
    cli_progress_begin(&shown.bar, cli_err(line), "Parsing", "files", 0, style);
    st = watch(job, app, id, until_ms, &shown, err);
    cli_progress_end(&shown.bar);
    sigaction(SIGINT, &before, NULL);
    casparian_runner_free(runner);
    return st;
}

/* Where the code of the job is one of commands, it decides the exit status. */
static mcp_status fail(casparian_app *app, const casparian_job *job, mcp_error *err)
{
    mcp_status st = mcp_error_set(err, MCP_E_STOPPED, "job %" PRId64 " %s: %s", job->id,
                                  casparian_job_state_text(job->state),
                                  job->error_message ? job->error_message : "no reason is known");
    /* the answer is the job */
    casparian_code code = job->error_code ? casparian_code_find(job->error_code)
                                          : CASPARIAN_CODE_INTERNAL;
    *app->failure = (casparian_shell_failure){
        .code = code == CASPARIAN_CODE_INTERNAL ? CASPARIAN_CODE_FAILED : code,
        .message = mcp_arena_strdup(app->arena, err->message),
        .is_answered = true,
    };
    if (job->error_code && strcmp(job->error_code, "quarantine_not_allowed") == 0)
        app->failure
            ->suggestions[0] = "--allow-quarantine sets such rows apart; casparian quarantine "
                               "says what is wrong with them";
    else if (job->error_code && strcmp(job->error_code, "quarantine_threshold") == 0)
        app->failure->suggestions[0] = "--max-quarantine-pct N allows more of them; casparian "
                                       "quarantine says what is wrong with them";
    return st;
}

mcp_status casparian_shell_follow(casparian_app *app, const cli_line *line, int64_t id,
                                  mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_job job;
    mcp_status st = casparian_shell_follow_to(&job, app, line, id, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    casparian_job_write(&out.json, &job);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_report(line, answer, app->arena, err);
    if (st == MCP_OK && job.state != CASPARIAN_JOB_COMPLETED)
        st = fail(app, &job, err);
    return st;
}
