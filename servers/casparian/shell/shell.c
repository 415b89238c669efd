/*
 * shell.c - the beginning and the end of commands.
 */
#include "shell/shell.h"

#include <inttypes.h>
#include <string.h>

#include "shell/commands.h"

#define ERROR_MAX 65536

extern const mcp_file casparian_files[];

int casparian_shell_open(casparian_app *app, const cli_line *line, unsigned parts)
{
    mcp_error err = MCP_ERROR_INIT;
    app->log = (mcp_log){ .sink = mcp_log_stderr,
                          .level = cli_flag(line, "verbose") ? MCP_LOG_INFO : MCP_LOG_ERROR };
    mcp_status st = casparian_app_open(app, line, parts, &err);
    if (st == MCP_OK)
        return CASPARIAN_EXIT_DONE;
    (void)casparian_shell_fail_status(line, st, &err);
    return st == MCP_E_PARAMS || st == MCP_E_PARSE ? CASPARIAN_EXIT_USAGE
                                                   : CASPARIAN_EXIT_ENVIRONMENT;
}

static void write_failure(mcp_json_writer *json, const casparian_shell_failure *failure)
{
    mcp_write_object(json);
    mcp_write_member_object(json, "error");
    mcp_write_member_string(json, "code", casparian_code_text(failure->code));
    mcp_write_member_string(json, "message", failure->message);
    mcp_write_member_string(json, "context", failure->context);
    mcp_write_member_array(json, "suggestions");
    for (size_t i = 0; i < 4 && failure->suggestions[i]; i++)
        mcp_write_string(json, failure->suggestions[i]);
    mcp_write_end(json);
    mcp_write_end(json);
    mcp_write_end(json);
}

int casparian_shell_fail(const cli_line *line, const casparian_shell_failure *failure)
{
    mcp_json_writer json;
    mcp_buf text;
    fprintf(cli_err(line), "error: %s\n", failure->message);
    for (size_t i = 0; i < 4 && failure->suggestions[i]; i++)
        fprintf(cli_err(line), "TRY: %s\n", failure->suggestions[i]);
    if (cli_flag(line, "json") && !failure->is_answered) {
        mcp_buf_init(&text, ERROR_MAX);
        mcp_json_writer_init(&json, &text);
        write_failure(&json, failure);
        if (mcp_json_writer_status(&json) == MCP_OK)
            casparian_shell_print(line, &text);
        mcp_buf_clear(&text);
    }
    return casparian_code_exit_status(failure->code);
}

static int fail_after(const cli_line *line, bool is_answered, mcp_status status,
                      const mcp_error *err)
{
    return casparian_shell_fail(
        line, &(casparian_shell_failure){ .code = casparian_code_of(status),
                                          .message = err->message[0] ? err->message
                                                                     : mcp_status_words(status),
                                          .is_answered = is_answered });
}

int casparian_shell_fail_status(const cli_line *line, mcp_status status, const mcp_error *err)
{
    return fail_after(line, false, status, err);
}

int casparian_shell_run(const cli_line *line, unsigned parts, casparian_shell_work *work)
{
    casparian_shell_failure failure = { .message = NULL };
    casparian_app app = { .files = casparian_files, .failure = &failure };
    mcp_error err = MCP_ERROR_INIT;
    int exit_status = casparian_shell_open(&app, line, parts);
    if (exit_status == CASPARIAN_EXIT_DONE) {
        mcp_status st = work(&app, line, &err);
        if (st != MCP_OK)
            exit_status = failure.message ? casparian_shell_fail(line, &failure)
                                          : fail_after(line, failure.is_answered, st, &err);
    }
    casparian_app_close(&app);
    return exit_status;
}

void casparian_shell_print(const cli_line *line, const mcp_buf *text)
{
    fwrite(text->data, 1, text->length, cli_out(line));
    fputc('\n', cli_out(line));
}
