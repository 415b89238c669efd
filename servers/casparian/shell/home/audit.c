/*
 * audit.c - casparian audit verify and tail: whether the audit log is whole, and its last lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/archive.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { TAIL = 20, TAIL_MAX = 10000, FILES_MAX = 100, FAULTS_MAX = 100 };

/* clang-format off */
const cli_option casparian_audit_tail_options[] = {
    { .name = "lines", .letter = 'n', .type = CLI_INT, .argument = "N", .standard = "20", .min = 1,
      .max = TAIL_MAX, .help = "how many" },
    { 0 },
};
/* clang-format on */

static const char *path_of(const casparian_app *app)
{
    const char *path = app->config->audit.path;
    return path ? path : casparian_home_path(app, "mcp_audit.ndjson");
}

/* ---- verify ---------------------------------------------------------------------------------- */

/* What was read so far, of all files in the order in which they were written. */
struct check {
    casparian_shell_answer *out; /* in the array of faults */
    mcp_arena *arena;            /* of one line */
    char before[GUARD_AUDIT_HASH_SIZE];
    int64_t files, lines, chained, faults;
    bool is_in_chain; /* the line before was chained */
};

static void add_fault(struct check *self, const char *file, int64_t line, const char *why)
{
    mcp_json_writer *json = &self->out->json;
    if (self->faults++ >= FAULTS_MAX)
        return;
    mcp_write_object(json);
    mcp_write_member_string(json, "file", file);
    mcp_write_member_int(json, "line", line);
    mcp_write_member_string(json, "error", why);
    mcp_write_end(json);
}

/* The first line that is kept may follow one that is not. */
static void check_chain(struct check *self, const char *file, int64_t number, const char *before)
{
    bool is_first = self->lines == 1;
    if (before) {
        self->chained++;
        if (!is_first && strcmp(before, self->before) != 0)
            add_fault(self, file, number, "the line before was changed, or lines are missing");
    } else if (self->is_in_chain) {
        add_fault(self, file, number, "it is not in the chain");
    }
    self->is_in_chain = before != NULL;
}

static mcp_status check_line(struct check *self, const char *file, int64_t number, const char *text,
                             size_t length, mcp_error *err)
{
    const mcp_json *line = NULL;
    self->arena = mcp_arena_new(0);
    if (!self->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a line");
    self->lines++;
    mcp_status st = mcp_json_read(&line, self->arena, text, length, NULL);
    if (st == MCP_OK && mcp_json_is_object(line))
        check_chain(self, file, number, mcp_json_get_string(line, "prev"));
    else
        add_fault(self, file, number, "it is not a JSON object");
    mcp_arena_free(self->arena);
    return guard_audit_hash(self->before, text, length, err);
}

static mcp_status check_lines(struct check *self, guard_archive *in, const char *file,
                              mcp_error *err)
{
    const char *text = NULL;
    size_t length = 0;
    int64_t number = 0;
    mcp_status st = guard_archive_line(&text, &length, in, err);
    while (st == MCP_OK && text) {
        st = check_line(self, file, ++number, text, length, err);
        if (st == MCP_OK)
            st = guard_archive_line(&text, &length, in, err);
    }
    if (st != MCP_E_IO && st != MCP_E_LIMIT)
        return st;
    add_fault(self, file, number + 1, "it and what follows cannot be read");
    return MCP_OK;
}

/* A file that is not there is fine, but for the present one. */
static mcp_status check_file(struct check *self, const char *path, bool is_required, mcp_error *err)
{
    guard_archive *in = NULL;
    mcp_status st = guard_archive_open(&in, path, err);
    if (st == MCP_E_NOT_FOUND && !is_required)
        return MCP_OK;
    if (st != MCP_OK)
        return st;
    self->files++;
    st = check_lines(self, in, path, err);
    guard_archive_close(in);
    return st;
}

static mcp_status check_files(struct check *self, const char *path, mcp_arena *arena,
                              mcp_error *err)
{
    static const char *const suffixes[] = { ".gz", "" };
    mcp_status st = MCP_OK;
    for (int i = 2 * FILES_MAX + 1; st == MCP_OK && i >= 2; i--) {
        const char *older = mcp_arena_printf(arena, "%s.%d%s", path, i / 2, suffixes[i % 2]);
        st = older ? check_file(self, older, false, err)
                   : mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    }
    return st == MCP_OK ? check_file(self, path, true, err) : st;
}

static void print_check(const cli_line *line, const struct check *check, const mcp_json *answer)
{
    const mcp_json *faults = mcp_json_get(answer, "errors");
    for (size_t i = 0; i < mcp_json_count(faults); i++) {
        const mcp_json *fault = mcp_json_item(faults, i);
        int64_t number = 0;
        mcp_json_int(mcp_json_get(fault, "line"), &number);
        fprintf(cli_out(line), "%s:%" PRId64 ": %s\n", mcp_json_get_string(fault, "file"), number,
                mcp_json_get_string(fault, "error"));
    }
    fprintf(cli_out(line), "%" PRId64 " lines in %" PRId64 " files, %" PRId64 " in the chain: %s\n",
            check->lines, check->files, check->chained, check->faults == 0 ? "valid" : "NOT VALID");
}

static mcp_status verify(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    struct check check = { .out = &out };
    const char *path = path_of(app);
    if (!path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "errors");
    mcp_status st = check_files(&check, path, app->arena, err);
    mcp_write_end(&out.json);
    mcp_write_member_int(&out.json, "files", check.files);
    mcp_write_member_int(&out.json, "lines", check.lines);
    mcp_write_member_int(&out.json, "chained", check.chained);
    mcp_write_member_bool(&out.json, "valid", check.faults == 0);
    if (st != MCP_OK) {
        mcp_buf_clear(&out.text);
        return st;
    }
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        print_check(line, &check, answer);
    if (st != MCP_OK || check.faults == 0)
        return st;
    app->failure->is_answered = true;
    return mcp_error_set(err, MCP_E_STOPPED, "the audit log is not valid: %" PRId64 " faults",
                         check.faults);
}

int casparian_command_audit_verify(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, 0, verify);
}

/* ---- tail ------------------------------------------------------------------------------------ */

/* The last lines in a ring. */
struct ring {
    char **lines;
    size_t size, next;
};

static mcp_status read_ring(struct ring *self, const char *path, mcp_error *err)
{
    guard_archive *in = NULL;
    const char *text = NULL;
    size_t length = 0;
    mcp_status st = guard_archive_open(&in, path, err);
    while (st == MCP_OK) {
        st = guard_archive_line(&text, &length, in, err);
        if (st != MCP_OK || !text)
            break;
        char *copy = strndup(text, length);
        if (!copy) {
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a line");
            break;
        }
        free(self->lines[self->next]);
        self->lines[self->next] = copy;
        self->next = (self->next + 1) % self->size;
    }
    guard_archive_close(in);
    return st;
}

/* Of the present file and the one before, which may just have been turned over. */
static mcp_status tail(casparian_app *app, const cli_line *line, mcp_error *err)
{
    struct ring ring = { .size = (size_t)cli_int(line, "lines", TAIL) };
    const char *path = path_of(app);
    const char *older = path ? mcp_arena_printf(app->arena, "%s.1", path) : NULL;
    ring.lines = mcp_arena_array(app->arena, ring.size, sizeof *ring.lines);
    if (!older || !ring.lines)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for lines");
    mcp_status st = read_ring(&ring, older, err);
    if (st == MCP_OK || st == MCP_E_NOT_FOUND)
        st = read_ring(&ring, path, err);
    for (size_t i = 0; i < ring.size; i++) {
        char *text = ring.lines[(ring.next + i) % ring.size];
        if (text && st == MCP_OK)
            fprintf(cli_out(line), "%s\n", text);
        free(text);
    }
    return st;
}

int casparian_command_audit_tail(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, 0, tail);
}
