/*
 * sources.c - casparian scan, source, rule, tag, untag and files: folders, their files, and tags.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/scan.h"
#include "jobs/state/rows.h"
#include "jobs/state/sources.h"
#include "mcp/clock.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { GLOBS_MAX = 32 };

static const char *const hashes[] = { "none", "fast", "sha256", NULL };

/* clang-format off */
const cli_option casparian_scan_flags[] = {
    { .name = "type", .letter = 't', .type = CLI_STRING, .argument = "EXT", .many = true,
      .help = "files with this ending; may be repeated" },
    { .name = "pattern", .letter = 'p', .type = CLI_STRING, .argument = "GLOB", .many = true,
      .help = "files that match; may be repeated" },
    { .name = "no-recursive", .type = CLI_FLAG, .help = "this directory alone" },
    { .name = "depth", .letter = 'd', .type = CLI_INT, .argument = "N", .min = 1, .max = 64,
      .help = "of directories below it" },
    { .name = "min-size", .type = CLI_SIZE, .argument = "SIZE", .min = 0, .max = INT64_MAX,
      .help = "smaller files are left out: 10K, 5M, 1G" },
    { .name = "max-size", .type = CLI_SIZE, .argument = "SIZE", .min = 0, .max = INT64_MAX,
      .help = "larger files are left out" },
    { .name = "stats", .type = CLI_FLAG, .help = "numbers alone" },
    { .name = "hash", .type = CLI_CHOICE, .argument = "KIND", .standard = "none", .choices = hashes,
      .help = "hash the contents" },
    { .name = "register", .type = CLI_STRING, .argument = "NAME",
      .help = "keep the directory as a source of this name, and its files" },
    { .name = "tag", .type = CLI_STRING, .argument = "TAG",
      .help = "register the files, and give each this tag" },
    { 0 },
};

const cli_option casparian_source_add_options[] = {
    { .name = "name", .type = CLI_STRING, .argument = "NAME", .help = "default: the last part of the path" },
    { 0 },
};

const cli_option casparian_rule_add_options[] = {
    { .name = "tag", .type = CLI_STRING, .argument = "TAG", .help = "required" },
    { .name = "source", .letter = 's', .type = CLI_STRING, .argument = "NAME", .help = "required" },
    { .name = "priority", .type = CLI_INT, .argument = "N", .min = -1000000, .max = 1000000,
      .standard = "0", .help = "of several rules that match, the highest counts" },
    { 0 },
};

const cli_option casparian_files_options[] = {
    { .name = "source", .letter = 's', .type = CLI_STRING, .argument = "NAME", .help = "of this source" },
    { .name = "tag", .type = CLI_STRING, .argument = "TAG", .help = "with this tag" },
    { .name = "status", .type = CLI_STRING, .argument = "STATUS", .help = "in this state" },
    { .name = "pattern", .letter = 'p', .type = CLI_STRING, .argument = "GLOB",
      .help = "whose paths in their source match" },
    { .name = "untagged", .type = CLI_FLAG, .help = "without a tag" },
    { .name = "limit", .type = CLI_INT, .argument = "N", .min = 1, .max = 1000, .standard = "50",
      .help = "how many" },
    { 0 },
};
/* clang-format on */

static mcp_status resolve(const char **out, const char *path, mcp_arena *arena, mcp_error *err)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no '%.200s'", path);
    *out = mcp_arena_strdup(arena, real);
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
}

/* The name that a folder gives its source. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash[1] ? slash + 1 : "root";
}

/* ---- walking --------------------------------------------------------------------------------- */

/* What is looked for, and what is done with it. */
typedef struct search {
    casparian_app *app;
    const cli_line *line;
    guard *roots;
    guard_named start;
    casparian_scan *scan;
    casparian_glob *all; /* what the scan is given: `wants` judges by the globs below */
    casparian_glob *globs[GLOBS_MAX]; /* a file must match one of them; none: all */
    size_t glob_count;
    int64_t files, bytes;
    const char *tag; /* for every file, by hand; NULL: none */
    bool is_scan;    /* the line has the options of casparian scan */
} search;

/* One line for a person, or the answer as JSON. Ends the answer. */
static mcp_status tell(casparian_shell_answer *out, casparian_app *app, const cli_line *line,
                       const char *words, mcp_error *err)
{
    const mcp_json *answer = NULL;
    mcp_status st = casparian_shell_answer_end(out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer && !cli_flag(line, "quiet"))
        fprintf(cli_out(line), "%s\n", words ? words : "no memory");
    return st;
}

static void close_search(search *self)
{
    casparian_scan_free(self->scan);
    for (size_t i = 0; i < self->glob_count; i++)
        casparian_glob_free(self->globs[i]);
    casparian_glob_free(self->all);
    if (self->start.fd > 0)
        close(self->start.fd);
    guard_free(self->roots);
}

static mcp_status add_glob(search *self, const char *pattern, mcp_error *err)
{
    if (self->glob_count == GLOBS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "at most %d patterns and endings are legal",
                             GLOBS_MAX);
    mcp_status st = casparian_glob_new(&self->globs[self->glob_count], pattern, err);
    self->glob_count += st == MCP_OK;
    return st;
}

static mcp_status add_globs(search *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && cli_item(self->line, "pattern", i); i++)
        st = add_glob(self, cli_item(self->line, "pattern", i), err);
    for (size_t i = 0; st == MCP_OK && cli_item(self->line, "type", i); i++) {
        const char *ending = cli_item(self->line, "type", i);
        st = add_glob(
            self,
            mcp_arena_printf(self->app->arena, "*.%s", ending[0] == '.' ? ending + 1 : ending),
            err);
    }
    return st;
}

static bool wants(void *data, const casparian_scan_file *file)
{
    const search *self = data;
    bool matches = self->glob_count == 0;
    for (size_t i = 0; i < self->glob_count && !matches; i++)
        matches = casparian_glob_matches(self->globs[i], file->relative);
    return matches && file->size >= cli_int(self->line, "min-size", 0) &&
           file->size <= cli_int(self->line, "max-size", INT64_MAX);
}

static mcp_status open_search(search *self, const char *path, mcp_error *err)
{
    const char *real = NULL;
    mcp_status st = resolve(&real, path, self->app->arena, err);
    const char *top = st == MCP_OK ? "/" : NULL;
    if (st == MCP_OK)
        st = guard_new(&self->roots, &top, 1, err);
    if (st == MCP_OK)
        st = guard_open_named(&self->start, NULL, self->roots, real, GUARD_FILES | GUARD_DIRS,
                              self->app->arena, err);
    if (st == MCP_OK && self->is_scan)
        st = add_globs(self, err);
    if (st == MCP_OK)
        st = casparian_glob_new(&self->all, NULL, err);
    if (st != MCP_OK)
        return st;
    casparian_scan_options options = { .guard = self->roots,
                                       .start = &self->start,
                                       .glob = self->all,
                                       .is_recursive = !self->is_scan ||
                                                       !cli_flag(self->line, "no-recursive") };
    if (self->is_scan) {
        options.wants = wants;
        options.data = self;
        options.depth_max = (int)cli_int(self->line, "depth", 0);
        casparian_hash_mode_read(&options.hash_mode, cli_string(self->line, "hash"));
    }
    return casparian_scan_new(&self->scan, &options, err);
}

/* ---- registering ----------------------------------------------------------------------------- */

/* The rule that tags a file: rules come by priority. */
static const casparian_rule *rule_of(const casparian_source *source, casparian_glob *const *globs,
                                     const char *relative)
{
    for (size_t i = 0; i < source->rule_count; i++)
        if (source->rules[i].is_enabled && globs[i] && casparian_glob_matches(globs[i], relative))
            return &source->rules[i];
    return NULL;
}

static mcp_status register_files(search *self, const casparian_source *source, casparian_sync *sync,
                                 casparian_glob *const *globs, mcp_error *err)
{
    const casparian_scan_file *file = NULL;
    mcp_status st = casparian_scan_next(&file, self->scan, err);
    for (; st == MCP_OK && file; st = casparian_scan_next(&file, self->scan, err)) {
        const casparian_found found = { .path = file->path,
                                        .relative = file->relative,
                                        .name = file->name,
                                        .size = file->size,
                                        .mtime_s = file->mtime_ns / 1000000000,
                                        .device = file->device,
                                        .inode = file->inode,
                                        .hash = file->hash[0] ? file->hash : NULL,
                                        .tag = self->tag,
                                        .rule = rule_of(source, globs, file->relative) };
        self->files++;
        self->bytes += file->size;
        st = casparian_sync_file(sync, &found, err);
        if (st != MCP_OK)
            break;
    }
    return st;
}

/* Find the files of a source. */
static mcp_status sync_source(search *self, const casparian_source *source, mcp_error *err)
{
    casparian_sync *sync = NULL;
    casparian_glob **globs = mcp_arena_array(self->app->arena, source->rule_count + 1,
                                             sizeof *globs);
    mcp_status st = globs ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for rules");
    for (size_t i = 0; st == MCP_OK && i < source->rule_count; i++)
        st = casparian_glob_new(&globs[i], source->rules[i].pattern, err);
    if (st == MCP_OK)
        st = casparian_sync_begin(&sync, self->app->store, source->id, !self->is_scan, err);
    if (st == MCP_OK)
        st = register_files(self, source, sync, globs, err);
    st = casparian_sync_end(sync, st, err);
    for (size_t i = 0; globs && i < source->rule_count; i++)
        casparian_glob_free(globs[i]);
    return st;
}

/* ---- scan ------------------------------------------------------------------------------------ */

static void write_file(mcp_json_writer *json, const casparian_scan_file *file)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "path", file->path);
    mcp_write_member_int(json, "size", file->size);
    casparian_write_time(json, "modified", file->mtime_ns / 1000000);
    if (file->hash[0])
        mcp_write_member_string(json, "hash", file->hash);
    mcp_write_end(json);
}

static mcp_status list_files(search *self, mcp_json_writer *json, mcp_error *err)
{
    const casparian_scan_file *file = NULL;
    mcp_status st = casparian_scan_next(&file, self->scan, err);
    mcp_write_member_array(json, "files");
    for (; st == MCP_OK && file; st = casparian_scan_next(&file, self->scan, err)) {
        self->files++;
        self->bytes += file->size;
        if (!cli_flag(self->line, "stats"))
            write_file(json, file);
    }
    mcp_write_end(json);
    mcp_write_member_int(json, "file_count", self->files);
    mcp_write_member_int(json, "total_size", self->bytes);
    return st;
}

static mcp_status scan_open(search *self, mcp_error *err)
{
    static const casparian_shell_column columns[] = { { "SIZE", "/size", true },
                                                      { "MODIFIED", "/modified", false },
                                                      { "PATH", "/path", false } };
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_shell_answer_begin(&out);
    mcp_status st = list_files(self, &out.json, err);
    st = casparian_shell_answer_close(&out, st, &answer, self->line, self->app->arena, err);
    if (st != MCP_OK || !answer)
        return st;
    if (!cli_flag(self->line, "stats"))
        st = casparian_shell_table(self->line, mcp_json_get(answer, "files"), columns, 3,
                                   "No file was found.", err);
    if (!cli_flag(self->line, "quiet"))
        fprintf(cli_err(self->line), "%lld files, %lld bytes\n", (long long)self->files,
                (long long)self->bytes);
    return st;
}

static mcp_status tell_found(const search *self, const char *source, mcp_error *err)
{
    casparian_shell_answer out;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "source", source);
    mcp_write_member_int(&out.json, "file_count", self->files);
    mcp_write_member_int(&out.json, "total_size", self->bytes);
    return tell(&out, self->app, self->line,
                mcp_arena_printf(self->app->arena,
                                 "%" PRId64 " files, %" PRId64 " bytes in source %s", self->files,
                                 self->bytes, source),
                err);
}

static mcp_status scan_and_register(search *self, const char *name, mcp_error *err)
{
    casparian_source source;
    int64_t id = 0;
    mcp_status st = casparian_source_find(&source, self->app->store, self->app->arena, name, err);
    if (st == MCP_E_NOT_FOUND) {
        st = casparian_source_register(&id, self->app->store, name, self->start.path, err);
        if (st == MCP_OK)
            st = casparian_source_find(&source, self->app->store, self->app->arena, name, err);
    }
    if (st == MCP_OK && strcmp(source.path, self->start.path) != 0)
        st = mcp_error_set(err, MCP_E_EXISTS, "the source '%.100s' is '%.200s'", name, source.path);
    if (st == MCP_OK)
        st = sync_source(self, &source, err);
    return st == MCP_OK ? tell_found(self, name, err) : st;
}

/* Whether files are to be registered: with a tag by hand they are, too. */
static bool registers(const cli_line *line)
{
    return cli_string(line, "register") || cli_string(line, "tag");
}

static mcp_status scan(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *name = cli_string(line, "register");
    search self = { .app = app, .line = line, .is_scan = true, .tag = cli_string(line, "tag") };
    mcp_status st = open_search(&self, cli_argument(line, 0), err);
    if (st == MCP_OK && registers(line))
        st = scan_and_register(&self, name ? name : last_part(self.start.path), err);
    else if (st == MCP_OK)
        st = scan_open(&self, err);
    close_search(&self);
    return st;
}

int casparian_command_scan(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, registers(line) ? CASPARIAN_NEEDS_STORE : 0, scan);
}

/* ---- sources --------------------------------------------------------------------------------- */

/* @param source NULL: the rule stands in its source */
static void write_rule(mcp_json_writer *json, const casparian_rule *rule, const char *source)
{
    mcp_write_object(json);
    mcp_write_member_int(json, "id", rule->id);
    if (source)
        mcp_write_member_string(json, "source", source);
    mcp_write_member_string(json, "pattern", rule->pattern);
    mcp_write_member_string(json, "tag", rule->tag);
    mcp_write_member_int(json, "priority", rule->priority);
    mcp_write_end(json);
}

static void write_source(mcp_json_writer *json, const casparian_source *source)
{
    mcp_write_object(json);
    mcp_write_member_int(json, "id", source->id);
    mcp_write_member_string(json, "name", source->name);
    mcp_write_member_string(json, "path", source->path);
    mcp_write_member_int(json, "file_count", source->file_count);
    mcp_write_member_int(json, "total_size", source->total_size);
    mcp_write_member_int(json, "tagged_count", source->tagged_count);
    casparian_write_time(json, "last_scan_at", source->last_scan_ms);
    mcp_write_member_array(json, "rules");
    for (size_t i = 0; i < source->rule_count; i++)
        write_rule(json, &source->rules[i], NULL);
    mcp_write_end(json);
    mcp_write_end(json);
}

static mcp_status list_sources(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "ID", "/id", true },
        { "NAME", "/name", false },
        { "FILES", "/file_count", true },
        { "TAGGED", "/tagged_count", true },
        { "SCANNED", "/last_scan_at", false },
        { "PATH", "/path", false },
    };
    const casparian_source *all = NULL;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    size_t count = 0;
    mcp_status st = casparian_source_list(&all, &count, app->store, app->arena, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "sources");
    for (size_t i = 0; i < count; i++)
        write_source(&out.json, &all[i]);
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    return st == MCP_OK && answer
               ? casparian_shell_table(line, mcp_json_get(answer, "sources"), columns,
                                       sizeof columns / sizeof columns[0], "There are no sources.",
                                       err)
               : st;
}

int casparian_command_source_list(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, list_sources);
}

static mcp_status add_source(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *name = cli_string(line, "name"), *path = NULL;
    casparian_shell_answer out;
    casparian_source source;
    int64_t id = 0;
    mcp_status st = resolve(&path, cli_argument(line, 0), app->arena, err);
    if (st != MCP_OK)
        return st;
    if (!name)
        name = last_part(path);
    st = casparian_source_register(&id, app->store, name, path, err);
    if (st == MCP_OK)
        st = casparian_source_find(&source, app->store, app->arena, name, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_name(&out.json, "source");
    write_source(&out.json, &source);
    return tell(&out, app, line,
                mcp_arena_printf(app->arena,
                                 "source %" PRId64 " %s; casparian source sync %s finds its files",
                                 id, name, name),
                err);
}

int casparian_command_source_add(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, add_source);
}

static mcp_status show_source(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_source source;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_source_find(&source, app->store, app->arena, cli_argument(line, 0),
                                          err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_name(&out.json, "source");
    write_source(&out.json, &source);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), mcp_json_get(answer, "source"));
    return st;
}

int casparian_command_source_show(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, show_source);
}

static mcp_status remove_source(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    casparian_source source;
    mcp_status st = casparian_source_find(&source, app->store, app->arena, cli_argument(line, 0),
                                          err);
    if (st == MCP_OK)
        st = casparian_source_remove(app->store, source.id, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "removed", source.name);
    return tell(&out, app, line,
                mcp_arena_printf(app->arena, "source %s is forgotten", source.name), err);
}

int casparian_command_source_remove(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, remove_source);
}

static mcp_status sync_one(casparian_app *app, const cli_line *line, mcp_error *err)
{
    search self = { .app = app, .line = line };
    casparian_source source;
    mcp_status st = casparian_source_find(&source, app->store, app->arena, cli_argument(line, 0),
                                          err);
    if (st == MCP_OK)
        st = open_search(&self, source.path, err);
    if (st == MCP_OK)
        st = sync_source(&self, &source, err);
    if (st == MCP_OK)
        st = tell_found(&self, source.name, err);
    close_search(&self);
    return st;
}

int casparian_command_source_sync(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, sync_one);
}

/* ---- rules and tags -------------------------------------------------------------------------- */

static mcp_status list_rules(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "ID", "/id", true },
        { "SOURCE", "/source", false },
        { "PATTERN", "/pattern", false },
        { "TAG", "/tag", false },
        { "PRIORITY", "/priority", true },
    };
    const casparian_source *sources = NULL;
    size_t count = 0;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_source_list(&sources, &count, app->store, app->arena, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "rules");
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < sources[i].rule_count; r++)
            write_rule(&out.json, &sources[i].rules[r], sources[i].name);
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st != MCP_OK || !answer)
        return st;
    return casparian_shell_table(line, mcp_json_get(answer, "rules"), columns,
                                 sizeof columns / sizeof columns[0], "There are no rules.", err);
}

int casparian_command_rule_list(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, list_rules);
}

static mcp_status add_rule(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *name = cli_string(line, "source"), *tag = cli_string(line, "tag");
    casparian_shell_answer out;
    casparian_source source;
    casparian_glob *glob = NULL;
    int64_t id = 0;
    if (!name || !tag)
        return mcp_error_set(err, MCP_E_PARAMS, "--source and --tag are required");
    mcp_status st = casparian_glob_new(&glob, cli_argument(line, 0), err);
    casparian_glob_free(glob);
    if (st == MCP_OK)
        st = casparian_source_find(&source, app->store, app->arena, name, err);
    if (st == MCP_OK)
        st = casparian_rule_add(&id, app->store, source.id, cli_argument(line, 0), tag,
                                cli_int(line, "priority", 0), err);
    if (st != MCP_OK)
        return st;
    const casparian_rule rule = { .id = id,
                                  .pattern = cli_argument(line, 0),
                                  .tag = tag,
                                  .priority = cli_int(line, "priority", 0) };
    casparian_shell_answer_begin(&out);
    mcp_write_name(&out.json, "rule");
    write_rule(&out.json, &rule, source.name);
    return tell(&out, app, line,
                mcp_arena_printf(app->arena,
                                 "rule %" PRId64 "; casparian source sync %s applies it", id,
                                 source.name),
                err);
}

int casparian_command_rule_add(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, add_rule);
}

static mcp_status remove_rule(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    char *end = NULL;
    int64_t id = strtoll(cli_argument(line, 0), &end, 10);
    if (*end)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "'%.60s' is no id of a rule: casparian rule list has them",
                             cli_argument(line, 0));
    mcp_status st = casparian_rule_remove(app->store, id, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_int(&out.json, "removed", id);
    return tell(&out, app, line, mcp_arena_printf(app->arena, "rule %" PRId64 " is forgotten", id),
                err);
}

int casparian_command_rule_remove(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, remove_rule);
}

static mcp_status change_tag(casparian_app *app, const cli_line *line, mcp_error *err)
{
    bool adds = strcmp(cli_command_name(line), "tag") == 0;
    const char *path = NULL, *tag = cli_argument(line, 1);
    casparian_shell_answer out;
    mcp_status st = resolve(&path, cli_argument(line, 0), app->arena, err);
    if (st != MCP_OK)
        return st;
    st = adds ? casparian_tag_add(app->store, path, tag, err)
              : casparian_tag_remove(app->store, path, tag, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "path", path);
    mcp_write_member_string(&out.json, "tag", tag);
    mcp_write_member_bool(&out.json, "has_tag", adds);
    return tell(&out, app, line,
                mcp_arena_printf(app->arena, "%s %s the tag %s", path, adds ? "has" : "lost", tag),
                err);
}

int casparian_command_tag(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, change_tag);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Read page by page: the store knows no globs. `glob` may be NULL. */
static mcp_status find_registered(const casparian_registered ***out, size_t *count,
                                  casparian_app *app, casparian_registered_filter filter,
                                  const casparian_glob *glob, mcp_error *err)
{
    const casparian_registered *page = NULL;
    size_t limit = filter.limit, found = 0;
    mcp_status st = MCP_OK;
    *out = mcp_arena_array(app->arena, limit, sizeof **out);
    *count = 0;
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for files");
    filter.limit = CASPARIAN_FILES_LISTED_MAX;
    do {
        st = casparian_registered_list(&page, &found, app->store, app->arena, &filter, err);
        for (size_t i = 0; st == MCP_OK && i < found && *count < limit; i++)
            if (!glob || casparian_glob_matches(glob, page[i].relative))
                (*out)[(*count)++] = &page[i];
        filter.after = st == MCP_OK && found > 0 ? page[found - 1].id : 0;
    } while (st == MCP_OK && found == CASPARIAN_FILES_LISTED_MAX && *count < limit);
    return st;
}

static mcp_status read_registered(const casparian_registered ***out, size_t *count,
                                  casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_registered_filter filter = { .tag = cli_string(line, "tag"),
                                           .status = cli_string(line, "status"),
                                           .untagged = cli_flag(line, "untagged"),
                                           .limit = (size_t)cli_int(line, "limit", 0) };
    const char *name = cli_string(line, "source"), *pattern = cli_string(line, "pattern");
    casparian_glob *glob = NULL;
    casparian_source source;
    mcp_status st = name ? casparian_source_find(&source, app->store, app->arena, name, err)
                         : MCP_OK;
    if (st == MCP_OK && name)
        filter.source = source.id;
    if (st == MCP_OK && pattern)
        st = casparian_glob_new(&glob, pattern, err);
    if (st == MCP_OK)
        st = find_registered(out, count, app, filter, glob, err);
    casparian_glob_free(glob);
    return st;
}

static mcp_status list_registered(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "ID", "/file_id", true },     { "STATUS", "/status", false }, { "SIZE", "/size", true },
        { "SOURCE", "/source", false }, { "TAGS", "/tags", false },     { "PATH", "/path", false },
    };
    const casparian_registered **files = NULL;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    size_t count = 0;
    mcp_status st = read_registered(&files, &count, app, line, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "files");
    for (size_t i = 0; i < count; i++) {
        mcp_write_object(&out.json);
        mcp_write_member_int(&out.json, "file_id", files[i]->id);
        mcp_write_member_string(&out.json, "path", files[i]->path);
        mcp_write_member_string(&out.json, "status", files[i]->status);
        mcp_write_member_int(&out.json, "size", files[i]->size);
        casparian_write_text(&out.json, "source", files[i]->source);
        mcp_write_member_array(&out.json, "tags");
        for (const char *at = files[i]->tags; *at; at = strchr(at, '\n') + 1)
            mcp_write_string_n(&out.json, at, (size_t)(strchr(at, '\t') - at));
        mcp_write_end(&out.json);
        mcp_write_end(&out.json);
    }
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    return st == MCP_OK && answer
               ? casparian_shell_table(line, mcp_json_get(answer, "files"), columns,
                                       sizeof columns / sizeof columns[0], "No file is registered.",
                                       err)
               : st;
}

int casparian_command_files(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, list_registered);
}
