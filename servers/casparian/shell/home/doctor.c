/*
 * doctor.c - casparian doctor and casparian config: what this machine has, and what is set.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "about/doctor.h"
#include "columns/columns.h"
#include "db/probe.h"
#include "gateway/settings.h"
#include "plugins/guest.h"
#include "plugins/metadata.h"
#include "schema/zone.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"

#define WORDS_SIZE 4200

extern const mcp_file casparian_files[];

/* ---- doctor ---------------------------------------------------------------------------------- */

/* The home and its parents are made by the commands that need it. */
static void check_home(doctor *self, const casparian_app *app)
{
    char words[WORDS_SIZE];
    mcp_error err = MCP_ERROR_INIT;
    const char *state = casparian_home_path(app, "state.sqlite");
    const char *url = state ? mcp_arena_printf(app->arena, "sqlite:%s", state) : NULL;
    doctor_check_made(self, "home", app->home);
    if (!url || access(state, F_OK) != 0)
        return;
    mcp_status st = db_probe(words, sizeof words, url, app->files, &err);
    doctor_note(self, "state", st == MCP_OK, "%s", st == MCP_OK ? words : err.message);
}

static void check_paths(doctor *self, const casparian_mcp_settings *mcp)
{
    for (size_t i = 0; i < mcp->allowed_path_count; i++)
        doctor_check_directory(self, "allowed path", mcp->allowed_paths[i], false);
}

static void check_python(doctor *self, const casparian_app *app)
{
    mcp_error err = MCP_ERROR_INIT;
    const char *python = NULL, *preferred = app->config->work.plugins.python;
    bool is_good = casparian_python_find(&python, app->arena, preferred, &err) == MCP_OK;
    doctor_note(self, "python", is_good, "%s", is_good ? python : err.message);
}

static void check_zones(doctor *self)
{
    const casparian_zone *zone = NULL;
    mcp_error err = MCP_ERROR_INIT;
    bool is_good = casparian_zone_load(&zone, self->arena, "Europe/Berlin", &err) == MCP_OK;
    doctor_note(self, "time zones", is_good, "%s", is_good ? "the system's database" : err.message);
}

static void check(doctor *self, const cli_line *line, void *data)
{
    char words[CASPARIAN_SANDBOX_WORDS_SIZE];
    casparian_app app = { .files = casparian_files };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = casparian_app_open(&app, line, 0, &err);
    (void)data;
    doctor_note(self, "settings", st == MCP_OK, "%s", st == MCP_OK ? app.config_path : err.message);
    if (app.home)
        check_home(self, &app);
    if (st == MCP_OK) {
        check_paths(self, &app.config->mcp);
        check_python(self, &app);
    }
    doctor_check_library(self, "libduckdb", columns_version);
    check_zones(self);
    bool is_sealed = casparian_sandbox_level(words);
    doctor_note(self, "isolation of parsers", is_sealed, "%s", words);
    doctor_check_listening(self, line);
    casparian_app_close(&app);
}

const cli_option casparian_doctor_options[] = { DOCTOR_OPTIONS(NULL, NULL, NULL), { 0 } };

int casparian_command_doctor(const cli_line *line, void *data)
{
    return doctor_run(line, check, data);
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
