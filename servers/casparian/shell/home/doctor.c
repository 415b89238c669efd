/*
 * doctor.c - casparian doctor and casparian config: what this machine has, and what is set.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "about/doctor.h"
#include "columns/engine.h"
#include "gateway/settings.h"
#include "plugins/guest.h"
#include "schema/zone.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"

/* ---- doctor ---------------------------------------------------------------------------------- */

static void check_engine(doctor *self)
{
    struct engine engine = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    bool is_good = engine_load(&engine, &err) == MCP_OK;
    doctor_note(self, "libduckdb", is_good, "%s",
                is_good ? "queries and DuckDB files" : err.message);
}

static void check_python(doctor *self, casparian_app *app)
{
    casparian_plugin_list all;
    mcp_error err = MCP_ERROR_INIT;
    const char *python = NULL;
    if (casparian_registry_list(&all, app->arena, app->registry, false, &err) == MCP_OK)
        for (size_t i = 0; i < all.count; i++)
            if (all.items[i].python)
                python = all.items[i].python;
    doctor_note(self, "python", python != NULL, "%s", python ? python : "no interpreter was found");
}

static void check_zones(doctor *self, mcp_arena *arena)
{
    const casparian_zone *zone = NULL;
    mcp_error err = MCP_ERROR_INIT;
    bool is_good = casparian_zone_load(&zone, arena, "Europe/Berlin", &err) == MCP_OK;
    doctor_note(self, "time zones", is_good, "%s", is_good ? "the system's database" : err.message);
}

static mcp_status examine(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = { { "CHECK", "/check", false },
                                                      { "RESULT", "/result", false },
                                                      { "DETAIL", "/detail", false } };
    char words[CASPARIAN_SANDBOX_WORDS_SIZE];
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    doctor self = { .arena = app->arena };
    doctor_check_directory(&self, "home", app->home, true);
    doctor_note(&self, "state", app->store != NULL, "state.sqlite, up to date");
    check_engine(&self);
    check_python(&self, app);
    check_zones(&self, app->arena);
    bool is_sealed = casparian_sandbox_level(words);
    doctor_note(&self, "isolation of parsers", is_sealed, "%s", words);
    doctor_check_listening(&self, line);
    casparian_shell_answer_begin(&out);
    mcp_write_name(&out.json, "checks");
    doctor_write(&self, &out.json);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_table(line, mcp_json_get(answer, "checks"), columns, 3, "", err);
    if (st != MCP_OK || self.failures == 0)
        return st;
    app->failure->is_answered = true;
    return mcp_error_set(err, MCP_E_STOPPED, "%zu of the checks failed", self.failures);
}

const cli_option casparian_doctor_options[] = { DOCTOR_OPTIONS(NULL, NULL, NULL), { 0 } };

int casparian_command_doctor(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, examine);
}

/* ---- config ---------------------------------------------------------------------------------- */

static mcp_status config(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_shell_answer_begin(&out);
    casparian_config_write(&out.json, app->config);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(answer); i++) {
        const mcp_json *one = mcp_json_item(answer, i);
        mcp_buf value;
        mcp_buf_init(&value, 65536);
        casparian_shell_line(&value, mcp_json_get(one, "value"));
        fprintf(cli_out(line), "%s = %s  (%s)\n", mcp_json_name(answer, i, NULL),
                value.data ? value.data : "", mcp_json_get_string(one, "origin"));
        mcp_buf_clear(&value);
    }
    return st;
}

int casparian_command_config(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, 0, config);
}
