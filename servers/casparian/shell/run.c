/*
 * run.c - casparian run and backtest: a person runs a plugin over files.
 *
 * A run that a person starts needs no approval; it is a job like any other, done here where no
 * server or worker is there to do it.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/driver.h"
#include "jobs/ephemeral.h"
#include "jobs/job.h"
#include "mcp/clock.h"
#include "shell/commands.h"
#include "shell/follow.h"
#include "shell/plugin_ref.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { WHATIF_MAX = 1000 };

static const char *const onlies[] = { "all", "failed", "quarantined", NULL };
static const char *const modes[] = { "none", "truncate", "hash", NULL };

/* clang-format off */
const cli_option casparian_run_options[] = {
    { .name = "sink", .type = CLI_STRING, .argument = "URI",
      .help = "where the tables go: a directory, parquet://, csv:// or duckdb:// (default: as "
              "[[sinks]] says, else parquet://./output/)" },
    { .name = "force", .type = CLI_FLAG, .help = "also files that are done" },
    { .name = "only", .type = CLI_CHOICE, .argument = "WHICH", .choices = onlies,
      .help = "files that failed, or had invalid rows, in the newest run" },
    { .name = "pattern", .type = CLI_STRING, .argument = "GLOB", .help = "names of files" },
    { .name = "schema", .type = CLI_STRING, .argument = "FILE", .help = "schemas by output (JSON)" },
    { .name = "ephemeral", .type = CLI_STRING, .argument = "ID", .help = "schemas that were proposed" },
    { .name = "allow-quarantine", .type = CLI_FLAG, .help = "invalid rows go to quarantine tables" },
    { .name = "max-quarantine-pct", .type = CLI_STRING, .argument = "N",
      .help = "more of them fail the job (default: 10)" },
    { .name = "whatif", .type = CLI_FLAG, .help = "list the files that would run and why, and do nothing" },
    { .name = "timeout", .type = CLI_INT, .argument = "SECONDS", .min = 1, .max = 86400,
      .help = "the longest wait" },
    { 0 },
};

const cli_option casparian_backtest_options[] = {
    { .name = "pattern", .type = CLI_STRING, .argument = "GLOB", .help = "names of files" },
    { .name = "schema", .type = CLI_STRING, .argument = "FILE", .help = "schemas by output (JSON)" },
    { .name = "ephemeral", .type = CLI_STRING, .argument = "ID", .help = "schemas that were proposed" },
    { .name = "fail-fast", .type = CLI_FLAG, .help = "end early where most files fail" },
    { .name = "follow", .type = CLI_FLAG, .help = "print the progress, also where nobody watches a terminal" },
    { .name = "fail-under", .type = CLI_STRING, .argument = "PCT",
      .help = "exit with 1 where fewer rows of an output are valid" },
    { .name = "redact", .type = CLI_CHOICE, .argument = "MODE", .standard = "none", .choices = modes,
      .help = "how samples are shown" },
    { .name = "timeout", .type = CLI_INT, .argument = "SECONDS", .min = 1, .max = 86400,
      .help = "the longest wait" },
    { 0 },
};
/* clang-format on */

/* ---- arguments ------------------------------------------------------------------------------- */

/* What a command has read. */
typedef struct order {
    casparian_spec spec;
    casparian_schemas schemas;
    casparian_sink_uri sink;
    const char *database; /* that an output goes to; NULL: none */
    casparian_prepare_request how;
    casparian_prepared work;
} order;

static mcp_status read_percent(double *out, const char *text, const char *option, mcp_error *err)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 100))
        return mcp_error_set(err, MCP_E_PARAMS, "--%s: a number from 0 to 100 is required", option);
    *out = value;
    return MCP_OK;
}

static mcp_status read_quarantine(casparian_quarantine *out, const cli_line *line, mcp_error *err)
{
    const char *percent = cli_string(line, "max-quarantine-pct");
    if (cli_flag(line, "allow-quarantine"))
        out->has_allow = out->allow = true;
    if (!percent)
        return MCP_OK;
    out->has_pct = true;
    return read_percent(&out->max_pct, percent, "max-quarantine-pct", err);
}

static casparian_only only_of(const char *word)
{
    if (word && strcmp(word, "failed") == 0)
        return CASPARIAN_ONLY_FAILED;
    return word && strcmp(word, "quarantined") == 0 ? CASPARIAN_ONLY_QUARANTINED
                                                    : CASPARIAN_ONLY_ALL;
}

/* The sink of a route, with an absolute path. */
static mcp_status read_route(casparian_sink_uri *out, casparian_app *app,
                             const casparian_route *route, mcp_error *err)
{
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return mcp_error_set(err, MCP_E_IO, "the current directory cannot be found");
    return casparian_route_sink(out, app->arena, route, mcp_arena_strdup(app->arena, folder), err);
}

/* All entries of [[sinks]] go with the job: its outputs may be more than the plugin declares. */
static mcp_status copy_routes(order *self, casparian_app *app, mcp_error *err)
{
    size_t count = app->config->sink_count;
    casparian_route *routes = mcp_arena_array(app->arena, count, sizeof *routes);
    mcp_status st = routes ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the sinks");
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        casparian_sink_uri sink;
        st = read_route(&sink, app, &app->config->sinks[i], err);
        if (st == MCP_OK)
            routes[i] = (casparian_route){ .topic = app->config->sinks[i].topic, .uri = sink.text };
    }
    self->spec.routes = routes;
    self->spec.route_count = count;
    return st;
}

/* Two databases cannot change in one transaction. `database`: the first that an output goes to. */
static mcp_status check_database(const char **database, const casparian_sink_uri *sink,
                                 mcp_error *err)
{
    if (sink->kind != CASPARIAN_SINK_DUCKDB)
        return MCP_OK;
    if (*database && strcmp(*database, sink->path) != 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "[[sinks]] has two DuckDB files for the outputs of this plugin, "
                             "'%.150s' and '%.150s', and a job writes to one at most; name a sink "
                             "with --sink",
                             *database, sink->path);
    *database = sink->path;
    return MCP_OK;
}

/* Each output has a sink. That of the first is the job's. */
static mcp_status route_outputs(order *self, casparian_app *app, const casparian_plugin *plugin,
                                mcp_error *err)
{
    static const char *const others[] = { "*" };
    const char *const *outputs = plugin->output_count > 0 ? plugin->outputs : others;
    size_t count = plugin->output_count > 0 ? plugin->output_count : 1;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        const casparian_route *route = NULL;
        casparian_sink_uri sink = { .text = NULL };
        st = casparian_route_find(&route, app->config->sinks, app->config->sink_count, outputs[i],
                                  err);
        if (st == MCP_OK)
            st = read_route(&sink, app, route, err);
        if (st == MCP_OK)
            st = check_database(&self->database, &sink, err);
        if (i == 0)
            self->sink = sink;
    }
    return st == MCP_OK && app->config->sink_count > 1 ? copy_routes(self, app, err) : st;
}

/* The sink of the line, else those of [[sinks]] for the plugin's outputs, else ./output. */
static mcp_status read_sink(order *self, casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *given = cli_string(line, "sink");
    const casparian_route route = { .uri = given ? given : "parquet://./output/" };
    casparian_plugin plugin;
    self->how.sink = &self->sink;
    if (given || app->config->sink_count == 0) {
        mcp_status st = read_route(&self->sink, app, &route, err);
        return st == MCP_OK ? check_database(&self->database, &self->sink, err) : st;
    }
    mcp_status st = casparian_shell_plugin(&plugin, app, cli_argument(line, 0), err);
    return st == MCP_OK ? route_outputs(self, app, &plugin, err) : st;
}

static mcp_status prepare(order *self, casparian_app *app, const char *plugin, mcp_error *err)
{
    casparian_plugin_problem problem = { .code = NULL };
    self->how.spec = &self->spec;
    mcp_status st = casparian_shell_plugin_ref(&self->how.plugin_ref, &self->how.plugin_path,
                                               plugin, app->arena, err);
    if (st == MCP_OK)
        st = casparian_driver_prepare(&self->work, &problem, app->driver, app->arena, &self->how,
                                      err);
    return casparian_shell_plugin_failed(app, &problem, st, err);
}

static mcp_status read_order(order *self, casparian_app *app, const cli_line *line, mcp_error *err)
{
    *self = (order){ .spec = { .ephemeral_id = cli_string(line, "ephemeral"),
                               .pattern = cli_string(line, "pattern") } };
    const char *input = cli_argument(line, 1);
    char path[PATH_MAX];
    if (!realpath(input, path))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no file or directory '%.200s'", input);
    self->how.input = mcp_arena_strdup(app->arena, path);
    const char *schemas = cli_string(line, "schema");
    if (!schemas)
        return MCP_OK;
    self->spec.schemas = &self->schemas;
    return casparian_shell_read_schemas(&self->schemas, schemas, app->arena, err);
}

/* ---- run ------------------------------------------------------------------------------------- */

/* Why a file would run. */
static const char *reason_of(const casparian_spec *spec, casparian_foreseen foreseen)
{
    if (spec->only == CASPARIAN_ONLY_FAILED)
        return "it failed in the newest run";
    if (spec->only == CASPARIAN_ONLY_QUARANTINED)
        return "it had invalid rows in the newest run";
    if (spec->force)
        return "--force";
    return foreseen == CASPARIAN_FORESEEN_NEW
               ? "new"
               : "changed, or not done by this plugin into this sink";
}

/* The files that would run, at most WHATIF_MAX of them. @return how many there are */
static size_t write_foreseen(mcp_json_writer *json, const order *self,
                             const casparian_foreseen *foreseen)
{
    size_t count = 0;
    mcp_write_member_array(json, "files");
    for (size_t i = 0; i < self->work.file_count; i++) {
        if (foreseen[i] == CASPARIAN_FORESEEN_DONE || count++ >= WHATIF_MAX)
            continue;
        mcp_write_object(json);
        mcp_write_member_string(json, "path", self->work.files[i].path);
        mcp_write_member_int(json, "size", self->work.files[i].size);
        mcp_write_member_string(json, "reason", reason_of(&self->spec, foreseen[i]));
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return count;
}

/* Where each output that the plugin declares would go, if there are several sinks. */
static void write_sinks(mcp_json_writer *json, const order *self)
{
    const casparian_plugin *plugin = &self->work.plugin;
    const casparian_route *route = NULL;
    if (self->spec.route_count == 0)
        return;
    mcp_write_member_object(json, "sinks");
    for (size_t i = 0; i < plugin->output_count; i++)
        if (casparian_route_find(&route, self->spec.routes, self->spec.route_count,
                                 plugin->outputs[i], NULL) == MCP_OK)
            mcp_write_member_string(json, plugin->outputs[i], route->uri);
    mcp_write_end(json);
}

static mcp_status whatif(const order *self, casparian_app *app, const cli_line *line,
                         mcp_error *err)
{
    static const casparian_shell_column columns[] = { { "SIZE", "/size", true },
                                                      { "WHY", "/reason", false },
                                                      { "FILE", "/path", false } };
    const casparian_foreseen *foreseen = NULL;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_driver_foresee(&foreseen, app->driver, app->arena, &self->work,
                                             &self->sink, &self->spec, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "plugin", self->work.plugin.id);
    mcp_write_member_string(&out.json, "sink", self->sink.text);
    write_sinks(&out.json, self);
    size_t count = write_foreseen(&out.json, self, foreseen);
    mcp_write_member_int(&out.json, "file_count", (int64_t)count);
    mcp_write_member_int(&out.json, "files_skipped", (int64_t)(self->work.file_count - count));
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_table(line, mcp_json_get(answer, "files"), columns, 3,
                                   "No file would run.", err);
    return st;
}

static mcp_status create(int64_t *id, casparian_app *app, const order *self,
                         casparian_job_type type, mcp_error *err)
{
    const casparian_job_request what = { .type = type,
                                         .plugin = self->work.job_plugin,
                                         .input_dir = self->how.input,
                                         .sink_uri = self->how.sink ? self->sink.text : NULL,
                                         .spec = &self->spec,
                                         .files = self->work.files,
                                         .file_count = self->work.file_count };
    return casparian_job_create(id, NULL, app->store, &what, err);
}

static mcp_status run(casparian_app *app, const cli_line *line, mcp_error *err)
{
    order self;
    int64_t id = 0;
    mcp_status st = read_order(&self, app, line, err);
    self.spec.force = cli_flag(line, "force");
    self.spec.only = only_of(cli_string(line, "only"));
    self.how.lists_files = true;
    if (st == MCP_OK)
        st = read_quarantine(&self.spec.quarantine, line, err);
    if (st == MCP_OK)
        st = read_sink(&self, app, line, err);
    self.spec.quarantine_dir = app->quarantine;
    if (st == MCP_OK)
        st = prepare(&self, app, cli_argument(line, 0), err);
    if (st == MCP_OK && app->quarantine && self.work.quarantine.allow && self.database)
        st = mcp_error_set(err, MCP_E_PARAMS, CASPARIAN_QUARANTINE_IN_DUCKDB, self.database);
    if (st != MCP_OK)
        return st;
    if (cli_flag(line, "whatif"))
        return whatif(&self, app, line, err);
    st = create(&id, app, &self, CASPARIAN_JOB_RUN, err);
    return st == MCP_OK ? casparian_shell_follow(app, line, id, err) : st;
}

int casparian_command_run(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(
        line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT | CASPARIAN_NEEDS_DRIVER, run);
}

/* ---- backtest -------------------------------------------------------------------------------- */

/* Whether each output has so many valid rows, in percent. */
static mcp_status check_rates(const casparian_job *job, double least, mcp_error *err)
{
    const mcp_json *outputs = mcp_json_get(job->result, "outputs");
    for (size_t i = 0; i < mcp_json_count(outputs); i++) {
        double rate = 1;
        mcp_json_double(mcp_json_get(mcp_json_item(outputs, i), "pass_rate"), &rate);
        if (100 * rate < least)
            return mcp_error_set(err, MCP_E_STOPPED,
                                 "output %.63s: %.4g %% of the rows are valid, "
                                 "and %.4g %% are required",
                                 mcp_json_name(outputs, i, NULL), 100 * rate, least);
    }
    return MCP_OK;
}

static mcp_status redaction_of(const mcp_json **out, casparian_app *app, const cli_line *line,
                               mcp_error *err)
{
    const char *text = mcp_arena_printf(app->arena, "{\"mode\":\"%s\"}",
                                        cli_string(line, "redact"));
    return text ? mcp_json_read(out, app->arena, text, strlen(text), err) : MCP_E_NOMEM;
}

static mcp_status backtest(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *least = cli_string(line, "fail-under");
    double percent = 0;
    casparian_job job;
    order self;
    int64_t id = 0;
    mcp_status st = read_order(&self, app, line, err);
    self.spec.fail_fast = cli_flag(line, "fail-fast");
    if (st == MCP_OK && least)
        st = read_percent(&percent, least, "fail-under", err);
    if (st == MCP_OK)
        st = redaction_of(&self.spec.redaction, app, line, err);
    if (st == MCP_OK)
        st = prepare(&self, app, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = create(&id, app, &self, CASPARIAN_JOB_BACKTEST, err);
    if (st == MCP_OK)
        st = casparian_shell_follow(app, line, id, err);
    if (st != MCP_OK || !least)
        return st;
    app->failure->is_answered = true;
    st = casparian_job_read(&job, app->store, app->arena, id, err);
    return st == MCP_OK ? check_rates(&job, percent, err) : st;
}

int casparian_command_backtest(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(
        line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT | CASPARIAN_NEEDS_DRIVER, backtest);
}
