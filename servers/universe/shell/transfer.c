/*
 * transfer.c - the commands list, export and import: universes out of a database and into one.
 *
 * Neither way is a state ever held as text: export streams it from a frozen view, import cuts the
 * text at its entities as it comes (model/json/import.c). So a snapshot of any size passes in the
 * memory of its universe.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/table.h"
#include "gateway/replies.h"
#include "mcp/clock.h"
#include "serve/serve.h"
#include "shell/line.h"
#include "shell/open.h"
#include "shell/output.h"

enum { PIECE = 64 << 10, STEP_BYTES = 16 << 20, LISTED_MAX = 1000000, TEXT_MAX = 1 << 30 };

/* ---- list ------------------------------------------------------------------------------------ */

struct listed {
    universe_record *records;
    size_t count;
    struct listed *next;
};

static mcp_status read_pages(struct listed **first, size_t *total, universe_work *work)
{
    const char *cursor = NULL;
    struct listed **end = first;
    mcp_status st = MCP_OK;
    do {
        struct listed *page = mcp_arena_array(work->arena, 1, sizeof *page);
        if (!page)
            return mcp_error_set(&work->err, MCP_E_NOMEM, "out of memory");
        st = universe_service_list(&page->records, &page->count, &cursor, work->service, cursor,
                                   UNIVERSE_LIST_MAX, work->arena, &work->err);
        if (st != MCP_OK)
            return st;
        *total += page->count;
        *end = page;
        end = &page->next;
    } while (cursor && *total < LISTED_MAX);
    return st;
}

static void write_record(mcp_json_writer *json, const universe_record *record)
{
    char utc[MCP_CLOCK_UTC_SIZE];
    mcp_write_object(json);
    mcp_write_member_string(json, "id", record->id);
    mcp_write_member_string(json, "name", record->name);
    mcp_write_member_int(json, "version", record->version);
    mcp_write_member_double(json, "time", record->time);
    mcp_write_member_int(json, "bodies", record->bodies);
    mcp_clock_utc(utc, record->created_ms, 1);
    mcp_write_member_string(json, "createdAt", utc);
    mcp_clock_utc(utc, record->updated_ms, 1);
    mcp_write_member_string(json, "updatedAt", utc);
    mcp_write_end(json);
}

static mcp_status print_json_list(const cli_line *line, const struct listed *page, mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_array(&json);
    for (; page; page = page->next) {
        for (size_t i = 0; i < page->count; i++)
            write_record(&json, &page->records[i]);
    }
    mcp_write_end(&json);
    return universe_work_print(line, &text, mcp_json_writer_status(&json), err);
}

static mcp_status print_table(const cli_line *line, const struct listed *page, size_t total,
                              universe_work *work)
{
    enum { COLUMNS = 6 };
    static const cli_table_column columns[COLUMNS] = { { "ID", false },     { "NAME", false },
                                                       { "VERSION", true }, { "BODIES", true },
                                                       { "TIME", true },    { "CHANGED", false } };
    const char **cells = mcp_arena_array(work->arena, total * COLUMNS + 1, sizeof *cells);
    size_t at = 0;
    if (!cells)
        return mcp_error_set(&work->err, MCP_E_NOMEM, "out of memory");
    for (; page; page = page->next) {
        for (size_t i = 0; i < page->count; i++) {
            const universe_record *record = &page->records[i];
            char utc[MCP_CLOCK_UTC_SIZE];
            mcp_clock_utc(utc, record->updated_ms, 0);
            cells[at++] = record->id;
            cells[at++] = record->name;
            cells[at++] = mcp_arena_printf(work->arena, "%lld", (long long)record->version);
            cells[at++] = mcp_arena_printf(work->arena, "%lld", (long long)record->bodies);
            cells[at++] = mcp_arena_printf(work->arena, "%.6g", record->time);
            cells[at++] = mcp_arena_strdup(work->arena, utc);
        }
    }
    cli_table_print(cli_out(line), columns, COLUMNS, cells, total,
                    cli_use_color(NULL, cli_out(line)));
    return MCP_OK;
}

int universe_line_list(const cli_line *line, void *data)
{
    const universe_rules rules = { 0 };
    struct listed *pages = NULL;
    universe_work work;
    size_t total = 0;
    (void)data;

    mcp_status st = universe_work_begin(&work, line, &rules, true);
    if (st == MCP_OK)
        st = read_pages(&pages, &total, &work);
    if (st == MCP_OK)
        st = cli_flag(line, "json") ? print_json_list(line, pages, &work.err)
                                    : print_table(line, pages, total, &work);
    return universe_work_end(&work, line, st);
}

void universe_complete_id(const cli_line *line, size_t index, cli_words *words)
{
    const universe_rules rules = { 0 };
    struct listed *pages = NULL;
    universe_work work;
    size_t total = 0;

    if (index > 0) {
        cli_offer_files(words, false);
        return;
    }
    mcp_status st = universe_work_begin(&work, line, &rules, true);
    if (st == MCP_OK)
        st = read_pages(&pages, &total, &work);
    for (const struct listed *page = st == MCP_OK ? pages : NULL; page; page = page->next)
        for (size_t i = 0; i < page->count; i++)
            cli_offer(words, page->records[i].id, page->records[i].name);
    (void)universe_work_end(&work, line, st);
}

/* ---- export ---------------------------------------------------------------------------------- */

static mcp_status look(universe_version *out, universe_work *work, const char *id, int64_t version)
{
    mcp_status st = universe_service_record(&out->record, work->service, id, work->arena,
                                            &work->err);
    if (st == MCP_OK && version == UNIVERSE_ANY_VERSION)
        return universe_service_get(out, work->service, id, work->arena, &work->err);
    if (st == MCP_OK)
        st = universe_service_at(&out->view, work->service, id, version, &work->err);
    out->record.version = version;
    return st;
}

static mcp_status write_state(int64_t *bytes, universe_work *work, const cli_line *line,
                              const universe_view *view)
{
    const char *path = cli_argument(line, 1);
    universe_output output;
    universe_summary summary;
    cli_progress progress;

    universe_view_summary(&summary, view);
    mcp_status st = universe_output_open(&output, path, cli_out(line), &work->err);
    if (st != MCP_OK)
        return st;
    cli_progress_begin(&progress, cli_err(line), "Exporting", "MB", (summary.bytes >> 20) + 1,
                       cli_flag(line, "quiet") ? CLI_PROGRESS_NONE : CLI_PROGRESS_BAR);
    output.progress = &progress;
    st = universe_view_write(view, NULL, universe_output_write, &output, NULL, &work->err);
    if (st == MCP_OK)
        st = universe_output_write("\n", 1, &output, &work->err);
    *bytes = output.bytes;
    cli_progress_end(&progress);
    return universe_output_close(&output, st, &work->err);
}

static mcp_status print_exported(const cli_line *line, const universe_record *record, int64_t bytes,
                                 mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 16);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "id", record->id);
    mcp_write_member_int(&json, "version", record->version);
    mcp_write_member_int(&json, "bytes", bytes);
    mcp_write_member_string(&json, "file", cli_argument(line, 1));
    mcp_write_end(&json);
    return universe_work_print(line, &text, mcp_json_writer_status(&json), err);
}

int universe_line_export(const cli_line *line, void *data)
{
    const universe_rules rules = { 0 };
    const char *path = cli_argument(line, 1);
    bool is_file = path && strcmp(path, "-") != 0;
    universe_version current = { 0 };
    universe_work work;
    int64_t bytes = 0;
    (void)data;

    if (cli_flag(line, "json") && !is_file) {
        fprintf(cli_err(line), "error: --json needs a FILE: the state has standard output\n");
        return SERVE_EXIT_FILES;
    }
    mcp_status st = universe_work_begin(&work, line, &rules, true);
    if (st == MCP_OK)
        st = look(&current, &work, cli_argument(line, 0),
                  cli_int(line, "version", UNIVERSE_ANY_VERSION));
    if (st == MCP_OK)
        st = write_state(&bytes, &work, line, current.view);
    if (st == MCP_OK && cli_flag(line, "json"))
        st = print_exported(line, &current.record, bytes, &work.err);
    universe_view_free(current.view);
    return universe_work_end(&work, line, st);
}

/* ---- import ---------------------------------------------------------------------------------- */

static mcp_status open_input(FILE **out, uint64_t *size, const char *path, mcp_error *err)
{
    struct stat about;
    *out = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    *size = 0;
    if (!*out)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    if (fstat(fileno(*out), &about) == 0 && S_ISREG(about.st_mode))
        *size = (uint64_t)about.st_size;
    return MCP_OK;
}

static mcp_status feed_all(universe_import *import, FILE *file, cli_progress *progress,
                           const char *path, mcp_error *err)
{
    char piece[PIECE];
    uint64_t done = 0, reported = 0;
    mcp_status st = MCP_OK;
    while (st == MCP_OK) {
        size_t length = fread(piece, 1, sizeof piece, file);
        if (length == 0)
            break;
        st = universe_import_feed(import, piece, length, err);
        done += length;
        if (st == MCP_OK && universe_is_stopped())
            st = mcp_error_set(err, MCP_E_STOPPED, "stopped");
        if (done >= reported + STEP_BYTES) {
            reported = done;
            cli_progress_step(progress, done >> 20, NULL);
        }
    }
    if (st == MCP_OK && ferror(file))
        st = mcp_error_errno(err, errno, "%s cannot be read", path);
    return st;
}

static mcp_status read_state(universe_view **out, universe_import *import, const cli_line *line,
                             mcp_error *err)
{
    const char *path = cli_argument(line, 0);
    universe_state *state = NULL;
    cli_progress progress;
    FILE *file = NULL;
    uint64_t size = 0;

    mcp_status st = open_input(&file, &size, path, err);
    if (st != MCP_OK)
        return st;
    cli_progress_begin(&progress, cli_err(line), "Importing", "MB", size > 0 ? (size >> 20) + 1 : 0,
                       cli_flag(line, "quiet") ? CLI_PROGRESS_NONE : CLI_PROGRESS_BAR);
    st = feed_all(import, file, &progress, path, err);
    if (st == MCP_OK)
        st = universe_import_end(&state, import, err);
    if (st == MCP_E_PARAMS && universe_import_is_repairable(import)) {
        char words[sizeof err->message];
        memcpy(words, err->message, sizeof words);
        mcp_error_set(err, st, "%s; --lenient repairs or accepts such a state", words);
    }
    cli_progress_end(&progress);
    if (st == MCP_OK)
        st = universe_state_freeze(out, state, err);
    universe_state_free(state);
    if (file != stdin)
        fclose(file);
    return st;
}

/* The name of a new universe: --name, else the file's without its folder and ".json". */
static const char *name_of(const cli_line *line, mcp_arena *arena)
{
    const char *path = cli_argument(line, 0), *given = cli_string(line, "name");
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);

    if (given)
        return given;
    if (strcmp(path, "-") == 0 || length == 0)
        return "Imported";
    if (length > 5 && strcmp(base + length - 5, ".json") == 0)
        length -= 5;
    return mcp_arena_strndup(arena, base, length);
}

/* Whether the universe is there; MCP_E_EXISTS where it must not be. */
static mcp_status find(bool *found, universe_work *work, const cli_line *line)
{
    universe_record record;
    const char *id = cli_string(line, "id");
    *found = false;
    if (!id)
        return MCP_OK;
    mcp_status st = universe_service_record(&record, work->service, id, work->arena, &work->err);
    *found = st == MCP_OK;
    if (st == MCP_OK && !cli_flag(line, "replace"))
        return mcp_error_set(&work->err, MCP_E_EXISTS,
                             "the universe %.128s exists: --replace puts the state in its place",
                             id);
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

static mcp_status store(universe_version *out, universe_work *work, const cli_line *line,
                        universe_view *view, bool exists)
{
    const universe_replacement by = { .view = view,
                                      .name = cli_string(line, "name"),
                                      .label = "{\"type\":\"import\"}" };
    universe_result result = { 0 };
    const char *id = cli_string(line, "id");
    if (!exists)
        return universe_service_create(out, NULL, work->service, id, name_of(line, work->arena),
                                       view, NULL, work->arena, &work->err);
    mcp_status st = universe_service_replace(&result, work->service, id, &by, UNIVERSE_ANY_VERSION,
                                             NULL, work->arena, &work->err);
    *out = result.current;
    return st;
}

static mcp_status print_imported(const cli_line *line, const universe_version *current,
                                 const universe_import *import, mcp_error *err)
{
    size_t repairs = universe_import_repairs(import);
    mcp_json_writer json;
    mcp_buf text;

    if (!cli_flag(line, "json")) {
        for (size_t i = 0; !cli_flag(line, "quiet") && universe_import_repair(import, i); i++)
            fprintf(cli_err(line), "repaired: %s\n", universe_import_repair(import, i));
        fprintf(cli_out(line), "%s\n", current->record.id);
        return MCP_OK;
    }
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "id", current->record.id);
    mcp_write_member_string(&json, "name", current->record.name);
    mcp_write_member_int(&json, "version", current->record.version);
    mcp_write_member_int(&json, "bodies",
                         (int64_t)universe_view_count(current->view, UNIVERSE_STARS));
    mcp_write_member_int(&json, "repairCount", (int64_t)repairs);
    mcp_write_member_array(&json, "repairs");
    for (size_t i = 0; universe_import_repair(import, i); i++)
        mcp_write_string(&json, universe_import_repair(import, i));
    mcp_write_end(&json);
    mcp_write_end(&json);
    return universe_work_print(line, &text, mcp_json_writer_status(&json), err);
}

int universe_line_import(const cli_line *line, void *data)
{
    const universe_rules rules = { .lenient = cli_flag(line, "lenient") };
    universe_import *import = NULL;
    universe_version current = { 0 };
    universe_view *view = NULL;
    universe_work work;
    bool exists = false;
    (void)data;

    mcp_status st = universe_work_begin(&work, line, &rules, false);
    if (st == MCP_OK)
        st = find(&exists, &work, line);
    if (st == MCP_OK)
        st = universe_import_new(&import, &rules, &work.err);
    if (st == MCP_OK)
        st = read_state(&view, import, line, &work.err);
    if (st == MCP_OK)
        st = store(&current, &work, line, view, exists);
    if (st == MCP_OK)
        st = print_imported(line, &current, import, &work.err);
    universe_view_free(current.view);
    universe_view_free(view);
    universe_import_free(import);
    return universe_work_end(&work, line, st);
}
