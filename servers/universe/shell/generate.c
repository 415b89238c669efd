/*
 * generate.c - the command generate: a universe from a seed, into a database or, with --dry-run,
 * into figures.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "gateway/replies.h"
#include "generate/generate.h"
#include "mcp/clock.h"
#include "shell/line.h"
#include "shell/open.h"

enum { CONFIG_MAX = 1 << 20, PERCENT = 100 };

/* ---- the configuration ----------------------------------------------------------------------- */

static mcp_status read_text(mcp_buf *text, const char *path, mcp_error *err)
{
    char piece[4096];
    size_t length = 0;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    for (length = fread(piece, 1, sizeof piece, file); length > 0;
         length = fread(piece, 1, sizeof piece, file))
        mcp_buf_append(text, piece, length);
    mcp_status st = ferror(file) ? mcp_error_errno(err, errno, "%s cannot be read", path) : MCP_OK;
    if (file != stdin)
        fclose(file);
    if (st == MCP_OK && text->status != MCP_OK)
        st = mcp_error_set(err, text->status, "%s is longer than %d bytes", path, CONFIG_MAX);
    return st;
}

static mcp_status read_file(const mcp_json **out, const char *path, mcp_arena *arena,
                            mcp_error *err)
{
    mcp_buf text;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_buf_init(&text, CONFIG_MAX);
    mcp_status st = read_text(&text, path, err);
    if (st == MCP_OK) {
        st = mcp_json_read(out, arena, text.data, text.length, &cause);
        if (st == MCP_OK && !mcp_json_is_object(*out))
            st = mcp_error_set(&cause, MCP_E_PARAMS, "not an object");
        if (st != MCP_OK)
            mcp_error_set(err, st, "%s is no configuration: %s", path, cause.message);
    }
    mcp_buf_clear(&text);
    return st;
}

/* A seed of digits is a number: the same text as a string gives another universe. */
static void write_seed(mcp_json_writer *json, const char *seed)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(seed, &end, 10);
    mcp_write_name(json, "seed");
    if (errno == 0 && end != seed && *end == '\0')
        mcp_write_int(json, number);
    else
        mcp_write_string(json, seed);
}

/* What the file says, with what the line says over it. */
static void write_config(mcp_json_writer *json, const mcp_json *file, const char *seed,
                         const char *preset)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(file); i++) {
        const char *name = mcp_json_name(file, i, NULL);
        if ((seed && strcmp(name, "seed") == 0) || (preset && strcmp(name, "stylePreset") == 0))
            continue;
        mcp_write_member_value(json, name, mcp_json_item(file, i));
    }
    if (seed)
        write_seed(json, seed);
    if (preset)
        mcp_write_member_string(json, "stylePreset", preset);
    mcp_write_end(json);
}

static mcp_status read_config(const mcp_json **out, const cli_line *line, universe_work *work)
{
    const char *path = cli_string(line, "config");
    const mcp_json *file = NULL;
    mcp_json_writer json;
    mcp_buf text;

    mcp_status st = path ? read_file(&file, path, work->arena, &work->err) : MCP_OK;
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, 2 * CONFIG_MAX);
    mcp_json_writer_init(&json, &text);
    write_config(&json, file, cli_string(line, "seed"), cli_string(line, "preset"));
    st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_json_read(out, work->arena, text.data, text.length, &work->err);
    else
        mcp_error_set(&work->err, st, "writing the configuration: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool on_progress(double fraction, void *data)
{
    cli_progress_step(data, fraction > 0 ? (uint64_t)(fraction * PERCENT) : 0, NULL);
    return universe_is_stopped();
}

static mcp_status generate(universe_view **out, const cli_line *line, const mcp_json *config,
                           universe_work *work)
{
    cli_progress progress;
    universe_state *state = NULL;

    cli_progress_begin(&progress, cli_err(line), "Generating", "%", PERCENT,
                       cli_flag(line, "quiet") ? CLI_PROGRESS_NONE : CLI_PROGRESS_BAR);
    mcp_status st = universe_generate(&state, config, on_progress, &progress, work->arena,
                                      &work->err);
    cli_progress_end(&progress);
    if (st == MCP_OK)
        st = universe_state_freeze(out, state, &work->err);
    universe_state_free(state);
    return st;
}

/* ---- storing --------------------------------------------------------------------------------- */

static mcp_status find(bool *found, universe_work *work, const cli_line *line)
{
    universe_record record = { 0 };
    const char *id = cli_string(line, "id");
    mcp_status st = id ? universe_service_record(&record, work->service, id, work->arena,
                                                 &work->err)
                       : MCP_E_NOT_FOUND;
    *found = st == MCP_OK;
    if (st == MCP_OK && !cli_flag(line, "replace"))
        return mcp_error_set(&work->err, MCP_E_EXISTS,
                             "the universe %.128s exists: --replace puts another in its place", id);
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

/* The log has the configuration. A new universe is created with its state, so that none is left
 * without. */
static mcp_status store(universe_version *current, universe_work *work, const cli_line *line,
                        const mcp_json *config)
{
    universe_replacement by = { .view = current->view,
                                .keeps_time = true,
                                .name = cli_string(line, "name"),
                                .label = universe_generator_label(work->arena, config) };
    universe_result result = { 0 };
    bool found = false;
    if (!by.label)
        return mcp_error_set(&work->err, MCP_E_NOMEM, "out of memory");
    mcp_status st = find(&found, work, line);
    if (st == MCP_OK && found)
        st = universe_service_replace(&result, work->service, cli_string(line, "id"), &by,
                                      UNIVERSE_ANY_VERSION, NULL, work->arena, &work->err);
    else if (st == MCP_OK)
        st = universe_service_create(&result.current, NULL, work->service, cli_string(line, "id"),
                                     by.name ? by.name : "Generated", by.view, by.label,
                                     work->arena, &work->err);
    if (st == MCP_OK) {
        universe_view_free(current->view);
        *current = result.current;
    }
    return st;
}

static mcp_status print_generated(const cli_line *line, const universe_version *current,
                                  mcp_error *err)
{
    universe_summary summary;
    mcp_buf text;

    if (cli_flag(line, "json")) {
        mcp_buf_init(&text, CONFIG_MAX);
        mcp_status st = universe_reply_summary(&text, current, err);
        return universe_work_print(line, &text, st, err);
    }
    universe_view_summary(&summary, current->view);
    fprintf(cli_out(line), "%s%s%zu bodies in %zu systems, %zu groups, about %.1f MB of JSON\n",
            current->record.id, current->record.id[0] ? ": " : "", summary.counts[UNIVERSE_STARS],
            summary.roots, summary.counts[UNIVERSE_GROUPS], (double)summary.bytes / 1e6);
    return MCP_OK;
}

int universe_line_generate(const cli_line *line, void *data)
{
    const universe_rules rules = { 0 };
    const mcp_json *config = NULL;
    universe_version current = { .record = { .id = "", .name = "" } };
    universe_work work;
    bool is_dry = cli_flag(line, "dry-run");
    (void)data;

    mcp_status st = is_dry ? universe_work_begin_alone(&work)
                           : universe_work_begin(&work, line, &rules, false);
    if (st == MCP_OK)
        st = read_config(&config, line, &work);
    if (st == MCP_OK)
        st = generate(&current.view, line, config, &work);
    current.record.created_ms = current.record.updated_ms = mcp_clock_wall_ms();
    if (st == MCP_OK && !is_dry)
        st = store(&current, &work, line, config);
    if (st == MCP_OK)
        st = print_generated(line, &current, &work.err);
    if (st == MCP_OK && !is_dry && fflush(cli_out(line)) != 0)
        st = mcp_error_errno(&work.err, errno,
                             "the universe %.64s was created; standard output cannot be written",
                             current.record.id);
    universe_view_free(current.view);
    return universe_work_end(&work, line, st);
}
