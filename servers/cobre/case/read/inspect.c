/*
 * inspect.c - the contents of a case directory, without validation.
 *
 * config.json is returned unchanged; the registries and the stages are only counted. So an
 * incomplete case can be inspected. Source: the output page, section 10; seed SS2.7.
 */
#include "case/read/inspect.h"

#include <string.h>
#include <unistd.h>

#include "case/files.h"
#include "case/input.h"
#include "case/read/parse.h"

struct look {
    int dir_fd;
    cobre_report *report;
    mcp_arena *arena;
    bool present[COBRE_FILE_COUNT];
};

/* The text of a file as JSON; *root is NULL when the file is absent or was reported. */
static mcp_status read_root(const mcp_json **root, struct look *look, cobre_file_id id,
                            mcp_error *err)
{
    mcp_arena *scratch = cobre_file_text_arena();
    const char *text = NULL;
    size_t length = 0;

    *root = NULL;
    if (!scratch)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for %s", cobre_files_known[id].path);
    mcp_status st = cobre_file_text(&text, &length, look->dir_fd, id, look->report, scratch, err);
    if (st == MCP_OK && text)
        st = cobre_parse_text(root, cobre_files_known[id].path, text, length, look->report,
                              look->arena, err);
    mcp_arena_free(scratch);
    return st;
}

/* Layer 1's findings about other files than config.json go to a report that is not read. */
static mcp_status find_files(struct look *look, mcp_error *err)
{
    cobre_report *unread = cobre_report_new(look->arena);
    mcp_status st = unread ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "out of memory");

    for (size_t i = 0; i < COBRE_FILE_COUNT && st == MCP_OK; i++) {
        int fd = -1;
        cobre_report *report = i == COBRE_FILE_CONFIG ? look->report : unread;
        st = cobre_file_open(&fd, look->dir_fd, (cobre_file_id)i, report, err);
        look->present[i] = fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    return st;
}

static mcp_status count_items(int64_t *count, struct look *look, cobre_file_id id, const char *key,
                              mcp_error *err)
{
    const mcp_json *root = NULL;

    *count = 0;
    if (!look->present[id])
        return MCP_OK;
    mcp_status st = read_root(&root, look, id, err);
    *count = (int64_t)mcp_json_count(mcp_json_get(root, key));
    return st;
}

static mcp_status count_stages(int64_t *count, struct look *look, mcp_error *err)
{
    const mcp_json *root = NULL;
    int64_t id = 0;

    *count = 0;
    if (!look->present[COBRE_FILE_STAGES])
        return MCP_OK;
    mcp_status st = read_root(&root, look, COBRE_FILE_STAGES, err);
    const mcp_json *stages = mcp_json_get(root, "stages");
    for (size_t i = 0; i < mcp_json_count(stages); i++)
        *count += mcp_json_int(mcp_json_get(mcp_json_item(stages, i), "id"), &id) && id >= 0;
    return st;
}

static const char *source_of(const mcp_json *config)
{
    const char *scheme = mcp_json_string(
        mcp_json_pointer(config, "/training/scenario_source/inflow/scheme"), NULL);

    return scheme && strcmp(scheme, "external") == 0 ? "external" : "par";
}

/* The seed requires an object. */
static void refuse_non_object(const struct look *look, const mcp_json *config)
{
    if (config && !mcp_json_is_object(config))
        cobre_file_report(look->report, COBRE_FILE_CONFIG, COBRE_KIND_PARSE_ERROR, 2,
                          "config.json holds no JSON object", "Write an object.", NULL);
}

mcp_status cobre_case_inspect(cobre_inspection *out, int dir_fd, cobre_report *report,
                              mcp_arena *arena, mcp_error *err)
{
    struct look look = { .dir_fd = dir_fd, .report = report, .arena = arena };
    cobre_inspection seen = { 0 };
    mcp_status st = find_files(&look, err);

    if (st == MCP_OK && look.present[COBRE_FILE_CONFIG])
        st = read_root(&seen.config, &look, COBRE_FILE_CONFIG, err);
    refuse_non_object(&look, seen.config);
    if (st == MCP_OK)
        st = count_items(&seen.hydros, &look, COBRE_FILE_HYDROS, "hydros", err);
    if (st == MCP_OK)
        st = count_items(&seen.thermals, &look, COBRE_FILE_THERMALS, "thermals", err);
    if (st == MCP_OK)
        st = count_items(&seen.buses, &look, COBRE_FILE_BUSES, "buses", err);
    if (st == MCP_OK)
        st = count_items(&seen.lines, &look, COBRE_FILE_LINES, "lines", err);
    if (st == MCP_OK)
        st = count_stages(&seen.stages, &look, err);
    if (st != MCP_OK)
        return st;
    seen.scenario_source = source_of(seen.config);
    seen.files_present = cobre_files_list(look.present, arena, &seen.file_count);
    if (!seen.files_present || cobre_report_status(report) != MCP_OK)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the inspection");
    cobre_report_sort(report);
    if (cobre_report_count(report, COBRE_SEVERITY_ERROR) == 0)
        *out = seen;
    return MCP_OK;
}

void cobre_inspection_write(const cobre_inspection *about, mcp_json_writer *out)
{
    mcp_write_member_value(out, "config", about->config);
    mcp_write_member_object(out, "entities");
    mcp_write_member_int(out, "hydros", about->hydros);
    mcp_write_member_int(out, "thermals", about->thermals);
    mcp_write_member_int(out, "buses", about->buses);
    mcp_write_member_int(out, "lines", about->lines);
    mcp_write_end(out);
    mcp_write_member_int(out, "stages", about->stages);
    mcp_write_member_string(out, "scenario_source", about->scenario_source);
    mcp_write_member_array(out, "files_present");
    for (size_t i = 0; i < about->file_count; i++)
        mcp_write_string(out, about->files_present[i]);
    mcp_write_end(out);
}
