/*
 * files.c - layer 1: whether each file exists and can be read.
 *
 * A name that is no regular file inside the directory (a link, a FIFO, a device) is reported as
 * missing, with the reason, also for an optional file: an input must not be skipped in silence.
 */
#include "case/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guard/paths.h"

#define JSON_MAX ((size_t)64 << 20)

void cobre_file_report(cobre_report *report, cobre_file_id id, cobre_kind kind, int layer,
                       const char *message, const char *suggestion, const char *detail)
{
    cobre_finding finding = {
        .severity = COBRE_SEVERITY_ERROR,
        .kind = kind,
        .layer = layer,
        .file = cobre_files_known[id].path,
        .message = message,
        .suggestion = suggestion,
        .members = detail ? COBRE_MEMBERS(COBRE_TEXT("detail", detail)) : NULL,
    };

    cobre_report_add(report, &finding);
}

static void report_missing(cobre_report *report, cobre_file_id id)
{
    const char *path = cobre_files_known[id].path;

    cobre_file_report(report, id, COBRE_KIND_MISSING_FILE, 1,
                      cobre_report_text(report, "required file %s is missing", path),
                      cobre_report_text(report, "Add %s to the case directory.", path), NULL);
}

static void report_unreadable(cobre_report *report, cobre_file_id id, const char *why)
{
    cobre_file_report(
        report, id, COBRE_KIND_MISSING_FILE, 1,
        cobre_report_text(report, "%s cannot be read: %s", cobre_files_known[id].path, why),
        "Make it a regular, readable file inside the case directory, not a link.", why);
}

/* Whether anything has that name. */
static bool is_something(int dir_fd, const char *path)
{
    struct stat about;

    return fstatat(dir_fd, path, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

mcp_status cobre_file_open(int *fd, int dir_fd, cobre_file_id id, cobre_report *report,
                           mcp_error *err)
{
    const cobre_file *file = &cobre_files_known[id];
    mcp_error local = MCP_ERROR_INIT;
    mcp_status st = guard_open_file(fd, dir_fd, file->path, &local);

    if (st == MCP_OK)
        return MCP_OK;
    *fd = -1;
    if (st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "%s", local.message);
    if (st != MCP_E_NOT_FOUND)
        report_unreadable(report, id, local.message);
    else if (is_something(dir_fd, file->path))
        report_unreadable(report, id, "it is not a regular file");
    else if (file->required)
        report_missing(report, id);
    return MCP_OK;
}

mcp_arena *cobre_file_text_arena(void)
{
    return mcp_arena_new(JSON_MAX + (1 << 20));
}

mcp_status cobre_file_text(const char **text, size_t *length, int dir_fd, cobre_file_id id,
                           cobre_report *report, mcp_arena *arena, mcp_error *err)
{
    const char *path = cobre_files_known[id].path;
    mcp_error local = MCP_ERROR_INIT;
    const char *bytes = NULL;
    mcp_status st = guard_read_file(&bytes, length, dir_fd, path, JSON_MAX, arena, &local);

    *text = bytes;
    if (st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "%s", local.message);
    if (st == MCP_E_LIMIT)
        cobre_file_report(report, id, COBRE_KIND_PARSE_ERROR, 2,
                          cobre_report_text(report, "%s is larger than 64 MiB", path),
                          "Shorten it.", local.message);
    else if (st != MCP_OK)
        report_unreadable(report, id, local.message);
    return MCP_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *cobre_files_list(const bool *present, mcp_arena *arena, size_t *count)
{
    const char **paths = mcp_arena_array(arena, COBRE_FILE_COUNT, sizeof *paths);
    size_t used = 0;

    for (size_t i = 0; i < COBRE_FILE_COUNT && paths; i++) {
        if (present[i])
            paths[used++] = cobre_files_known[i].path;
    }
    if (paths)
        qsort(paths, used, sizeof *paths, compare_paths);
    *count = used;
    return paths;
}
