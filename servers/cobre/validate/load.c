/*
 * load.c - the pipeline: open, parse, check, and build the case.
 *
 * Layer 1 checks for the required files, layer 2 parses every file present, even when others are
 * missing; inside one file it stops at the first problem. Layers 3 to 5 compare files and so run
 * only when layers 1 and 2 found no error.
 */
#include "validate/load.h"

#include <sys/stat.h>
#include <unistd.h>

#include "case/build/assemble.h"
#include "case/files.h"
#include "case/input.h"
#include "case/memory.h"
#include "case/read/parse.h"
#include "validate/layers.h"

#define TABLE_BYTES_MAX ((size_t)2 << 30)
#define PARQUET_MAX ((off_t)1 << 30)

struct work {
    int dir_fd;
    columns *engine;
    cobre_input *input;
    cobre_report *report;
    mcp_arena *arena;
};

static mcp_status read_json(const struct work *work, cobre_file_id id, mcp_error *err)
{
    mcp_arena *scratch = cobre_file_text_arena();
    const char *text = NULL;
    size_t length = 0;

    if (!scratch)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for %s", cobre_files_known[id].path);
    mcp_status st = cobre_file_text(&text, &length, work->dir_fd, id, work->report, scratch, err);
    if (st == MCP_OK && text)
        st = cobre_parse_json(work->input, id, text, length, err);
    mcp_arena_free(scratch);
    return st;
}

/* A table may take a quarter of the memory, and half of that of a case. */
static size_t rows_most(cobre_file_id id)
{
    size_t bytes = cobre_memory_most() / 4;

    return cobre_rows_most(cobre_files_known[id].table,
                           bytes < TABLE_BYTES_MAX ? bytes : TABLE_BYTES_MAX);
}

static mcp_status read_parquet(const struct work *work, cobre_file_id id, int fd, mcp_error *err)
{
    const columns_read_options options = { .rows_max = rows_most(id) };
    const char *path = cobre_files_known[id].path;
    const columns_table *data = NULL;
    mcp_error local = MCP_ERROR_INIT;
    struct stat about;

    if (fstat(fd, &about) == 0 && about.st_size > PARQUET_MAX) {
        cobre_file_report(work->report, id, COBRE_KIND_PARSE_ERROR, 2,
                          cobre_report_text(work->report, "%s is larger than 1 GiB", path),
                          "Shorten it.", NULL);
        return MCP_OK;
    }
    mcp_status st = columns_read(&data, work->engine, fd, &options, work->arena, &local);
    if (st == MCP_OK)
        return cobre_parse_table(work->input, id, data, err);
    if (st != MCP_E_PARSE && st != MCP_E_LIMIT)
        return mcp_error_set(err, st, "%s: %s", path, local.message);
    cobre_file_report(
        work->report, id, COBRE_KIND_PARSE_ERROR, 2,
        cobre_report_text(work->report, "%s cannot be read as Parquet: %s", path, local.message),
        st == MCP_E_LIMIT ? "Shorten it, or allow the process more memory."
                          : "Write the file again; it may have been cut short.",
        local.message);
    return MCP_OK;
}

static mcp_status read_file(const struct work *work, cobre_file_id id, mcp_error *err)
{
    int fd = -1;
    mcp_status st = cobre_file_open(&fd, work->dir_fd, id, work->report, err);

    if (st != MCP_OK || fd < 0)
        return st;
    work->input->present[id] = true;
    if (cobre_files_known[id].table)
        st = read_parquet(work, id, fd, err);
    else
        st = read_json(work, id, err);
    close(fd);
    return st;
}

/* The lowest layer with an error; 5 when there is none. The report is sorted. */
static int layers_completed(const cobre_report *report)
{
    const cobre_finding *first = cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0);

    return first ? first->layer : 5;
}

static int64_t files_checked(const cobre_input *input)
{
    int64_t count = 0;

    for (size_t i = 0; i < COBRE_FILE_COUNT; i++)
        count += input->present[i];
    return count;
}

static mcp_status build(const cobre_case **out, const cobre_input *input, const char *directory,
                        mcp_error *err)
{
    cobre_case *built = NULL;
    mcp_status st = cobre_assemble(&built, input, directory, err);

    if (st != MCP_OK)
        return st;
    built->files_present = cobre_files_list(input->present, input->arena, &built->file_count);
    if (!built->files_present)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the list of files");
    *out = built;
    return MCP_OK;
}

mcp_status cobre_input_load(cobre_input **out, int dir_fd, columns *engine, cobre_report *report,
                            mcp_arena *arena, mcp_error *err)
{
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);
    const struct work work = { dir_fd, engine, input, report, arena };
    mcp_status st = MCP_OK;

    if (!input)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the case");
    input->arena = arena;
    input->report = report;
    for (size_t i = 0; i < COBRE_FILE_COUNT && st == MCP_OK; i++)
        st = read_file(&work, (cobre_file_id)i, err);
    *out = input;
    return st;
}

mcp_status cobre_case_load(const cobre_case **out, int dir_fd, const char *directory,
                           columns *engine, cobre_report *report, mcp_arena *arena, mcp_error *err)
{
    cobre_input *input = NULL;
    mcp_status st = cobre_input_load(&input, dir_fd, engine, report, arena, err);

    if (!input)
        return st;
    if (st == MCP_OK && cobre_report_count(report, COBRE_SEVERITY_ERROR) == 0)
        cobre_check_layers(input);
    cobre_report_sort(report);
    cobre_report_set_coverage(report,
                              &(cobre_coverage){ layers_completed(report), files_checked(input),
                                                 cobre_input_entities(input) });
    if (st == MCP_OK && cobre_report_status(report) != MCP_OK)
        st = mcp_error_set(err, cobre_report_status(report), "out of memory for the findings");
    if (st == MCP_OK && cobre_report_count(report, COBRE_SEVERITY_ERROR) == 0)
        st = build(out, input, directory, err);
    return st;
}
