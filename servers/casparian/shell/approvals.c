/*
 * approvals.c - casparian approvals list, show, approve and reject; casparian mcp list and approve.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/user.h"
#include "jobs/approval.h"
#include "mcp/clock.h"
#include "shell/commands.h"
#include "shell/follow.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { LIMIT = 50, FILES_SHOWN = 20, REPLY_SIZE = 16 };

static const char *const statuses[] = { "pending", "approved", "rejected", "expired", "all", NULL };

/* clang-format off */
const cli_option casparian_approvals_list_options[] = {
    { .name = "status", .type = CLI_CHOICE, .argument = "STATUS", .standard = "pending",
      .choices = statuses, .help = "which requests" },
    { .name = "all", .type = CLI_FLAG, .help = "the same as --status all" },
    { .name = "limit", .type = CLI_INT, .argument = "N", .min = 1, .max = 1000, .standard = "50",
      .help = "how many, the newest first" },
    { 0 },
};

const cli_option casparian_approve_options[] = {
    { .name = "yes", .letter = 'y', .type = CLI_FLAG, .help = "do not ask" },
    { .name = "wait", .type = CLI_FLAG, .help = "follow the job to its end; run it here if nobody does" },
    { .name = "timeout", .type = CLI_INT, .argument = "SECONDS", .min = 1, .max = 86400,
      .help = "the longest wait" },
    { .name = "reject", .type = CLI_FLAG, .help = "reject it", .hidden = true },
    { .name = "reason", .type = CLI_STRING, .argument = "TEXT", .help = "of a rejection", .hidden = true },
    { 0 },
};

const cli_option casparian_reject_options[] = {
    { .name = "reason", .type = CLI_STRING, .argument = "TEXT", .help = "why; the requester sees it" },
    { 0 },
};
/* clang-format on */

/* ---- list ------------------------------------------------------------------------------------ */

/* A length of time as a person says it: its largest unit, rounded down. */
static const char *span_text(mcp_arena *arena, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };
    size_t i = 0;
    if (ms < 0)
        ms = 0; /* another clock made the request */
    while (i < 3 && ms < units[i].ms)
        i++;
    return mcp_arena_printf(arena, "%lld %s", (long long)(ms / units[i].ms), units[i].name);
}

/* An entry for a person: times are seen from now. */
static void write_row(mcp_json_writer *json, const casparian_approval *approval, int64_t now_ms,
                      mcp_arena *arena)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "id", approval->id);
    mcp_write_member_string(json, "age", span_text(arena, now_ms - approval->created_ms));
    if (strcmp(approval->status, "pending") == 0)
        mcp_write_member_string(json, "left", span_text(arena, approval->expires_ms - now_ms));
    mcp_write_member_string(json, "status", approval->status);
    mcp_write_member_string(json, "operation", approval->operation);
    mcp_write_member_value(json, "summary", approval->summary);
    mcp_write_end(json);
}

static mcp_status list(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "ID", "/id", false },
        { "AGE", "/age", true },
        { "EXPIRES IN", "/left", true },
        { "STATUS", "/status", false },
        { "OPERATION", "/operation", false },
        { "DESCRIPTION", "/summary/description", false },
    };
    int64_t now_ms = mcp_clock_wall_ms();
    const char *status = cli_flag(line, "all") ? "all" : cli_string(line, "status");
    const casparian_approval *all = NULL;
    const mcp_json *answer = NULL;
    casparian_shell_answer out;
    size_t count = 0;
    mcp_status st = casparian_approval_list(&all, &count, app->store, app->arena, status,
                                            (size_t)cli_int(line, "limit", LIMIT), err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "approvals");
    for (size_t i = 0; i < count; i++)
        if (cli_flag(line, "json"))
            casparian_approval_write_item(&out.json, &all[i]);
        else
            write_row(&out.json, &all[i], now_ms, app->arena);
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_table(line, mcp_json_get(answer, "approvals"), columns,
                                   sizeof columns / sizeof columns[0], "No request is pending.",
                                   err);
    return st;
}

int casparian_command_approvals_list(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, list);
}

/* ---- show ------------------------------------------------------------------------------------ */

static mcp_status write_files(mcp_json_writer *json, casparian_app *app, const char *id,
                              mcp_error *err)
{
    const casparian_job_outcome *files = NULL;
    size_t count = 0;
    mcp_status st = casparian_approval_files(&files, &count, app->store, app->arena, id, NULL,
                                             FILES_SHOWN, err);
    if (st != MCP_OK || count == 0)
        return st;
    mcp_write_member_array(json, "files");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "path", files[i].file.path);
        mcp_write_member_int(json, "size", files[i].file.size);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return MCP_OK;
}

/* Everything that the request binds. `approval` may be NULL. */
static mcp_status show_request(casparian_approval *approval, const mcp_json **answer,
                               casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *id = cli_argument(line, 0);
    casparian_shell_answer out;
    mcp_status st = casparian_approval_id_is_valid(id)
                        ? casparian_approval_read(approval, app->store, app->arena, id, err)
                        : MCP_E_NOT_FOUND;
    if (st == MCP_E_NOT_FOUND)
        return mcp_error_set(err, st, "there is no approval '%.80s'", id);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    casparian_approval_write(&out.json, approval);
    mcp_write_member_value(&out.json, "snapshot", approval->snapshot);
    mcp_write_member_string(&out.json, "snapshot_sha256", approval->snapshot_sha256);
    st = write_files(&out.json, app, id, err);
    return casparian_shell_answer_close(&out, st, answer, line, app->arena, err);
}

static mcp_status show(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_approval approval;
    const mcp_json *answer = NULL;
    mcp_status st = show_request(&approval, &answer, app, line, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_approvals_show(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, show);
}

/* ---- decide ---------------------------------------------------------------------------------- */

/* Who sits at a terminal is shown the request and asked; elsewhere --yes is required. */
static mcp_status confirm(const cli_line *line, const casparian_approval *approval, mcp_error *err)
{
    char reply[REPLY_SIZE];
    FILE *stream = cli_err(line);
    if (cli_flag(line, "yes"))
        return MCP_OK;
    if (!isatty(STDIN_FILENO) || !isatty(fileno(stream)))
        return mcp_error_set(err, MCP_E_DENIED,
                             "approving requires a terminal, or --yes; nothing was decided");
    casparian_shell_document(stream, approval->summary);
    casparian_shell_document(stream, approval->snapshot);
    fprintf(stream, "Approve? [y/N] ");
    fflush(stream);
    bool agrees = fgets(reply, sizeof reply, stdin) && (reply[0] == 'y' || reply[0] == 'Y');
    return agrees ? MCP_OK : mcp_error_set(err, MCP_E_DENIED, "nothing was decided");
}

static mcp_status print_decided(const cli_line *line, casparian_app *app,
                                const casparian_approval *approval, casparian_decided how,
                                mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "approval_id", approval->id);
    mcp_write_member_string(&out.json, "status", casparian_decided_text(how));
    if (approval->job)
        mcp_write_member_string(&out.json, "job_id",
                                mcp_arena_printf(app->arena, "%lld", (long long)approval->job));
    if (approval->result)
        mcp_write_member_value(&out.json, "result", approval->result);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st != MCP_OK || !answer)
        return st;
    fprintf(cli_out(line), "%s %s\n", casparian_decided_text(how), approval->id);
    if (how == CASPARIAN_DECIDED_APPROVED && approval->job)
        fprintf(cli_out(line), "job %lld queued\n", (long long)approval->job);
    if (approval->result)
        casparian_shell_document(cli_out(line), approval->result);
    return MCP_OK;
}

/* What the caller asked for has not happened. */
static mcp_status check_decided(const casparian_approval *approval, casparian_decided how,
                                bool approves, mcp_error *err)
{
    if (how == (approves ? CASPARIAN_DECIDED_APPROVED : CASPARIAN_DECIDED_REJECTED)) {
        const char *failure = mcp_json_get_string(approval->result, "error");
        return failure ? mcp_error_set(err, MCP_E_IO, "%s", failure) : MCP_OK;
    }
    return mcp_error_set(err, MCP_E_EXISTS, "the request is decided already: %s",
                         casparian_decided_text(how));
}

static mcp_status decide_as(casparian_app *app, const cli_line *line, bool approves, mcp_error *err)
{
    casparian_approval approval;
    casparian_decided how = CASPARIAN_DECIDED_ABSENT;
    const char *id = cli_argument(line, 0);
    mcp_status st = casparian_approval_id_is_valid(id)
                        ? casparian_approval_read(&approval, app->store, app->arena, id, err)
                        : MCP_E_NOT_FOUND;
    if (st == MCP_E_NOT_FOUND)
        return mcp_error_set(err, st, "there is no approval '%.80s'", id);
    if (st == MCP_OK && approves && strcmp(approval.status, "pending") == 0)
        st = confirm(line, &approval, err);
    if (st != MCP_OK)
        return st;
    const char *user = casparian_local_user(app->arena);
    const casparian_decision decision = {
        .id = id,
        .approves = approves,
        .by = user ? mcp_arena_printf(app->arena, "cli:%s", user) : NULL,
        .reason = approves ? NULL : cli_string(line, "reason"),
        .snapshot_sha256 = approves ? approval.snapshot_sha256 : NULL,
    };
    st = casparian_approval_decide(&how, &approval, app->store, app->arena, &decision, err);
    if (st == MCP_OK)
        st = print_decided(line, app, &approval, how, err);
    if (st == MCP_OK)
        st = check_decided(&approval, how, approves, err);
    if (st == MCP_OK && approves && approval.job && cli_flag(line, "wait"))
        st = casparian_shell_follow(app, line, approval.job, err);
    return st;
}

static mcp_status approve(casparian_app *app, const cli_line *line, mcp_error *err)
{
    return decide_as(app, line, !cli_flag(line, "reject"), err);
}

static mcp_status reject(casparian_app *app, const cli_line *line, mcp_error *err)
{
    return decide_as(app, line, false, err);
}

int casparian_command_approve(const cli_line *line, void *data)
{
    unsigned parts = CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT;
    (void)data;
    return casparian_shell_run(
        line, cli_flag(line, "wait") ? parts | CASPARIAN_NEEDS_DRIVER : parts, approve);
}

int casparian_command_reject(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT, reject);
}
