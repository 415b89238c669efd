/*
 * files.c - opening the scenarios of a table.
 */
#include "report/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/buf.h"

#define PARTITION "scenario_id="
#define SPARE 64 /* descriptors for everything else: the engine, the streams */

/* How many files may be opened. */
static size_t room_for_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return SPARE;
    if (limit.rlim_cur < limit.rlim_max) {
        const struct rlimit raised = { limit.rlim_max, limit.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    size_t most = limit.rlim_cur > REPORT_SCENARIOS_MAX ? REPORT_SCENARIOS_MAX
                                                        : (size_t)limit.rlim_cur;
    return most > (size_t)2 * SPARE ? most - SPARE : SPARE;
}

static int compare_ids(const void *a, const void *b)
{
    const long *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The scenarios of the folder, in order; the text of a directory's name gives the number. */
static mcp_status list_scenarios(mcp_buf *ids, int folder_fd, mcp_error *err)
{
    int fd = dup(folder_fd);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return mcp_error_set(err, MCP_E_IO, "the folder cannot be read: %s", strerror(errno));
    }
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char *end = NULL;
        if (strncmp(entry->d_name, PARTITION, strlen(PARTITION)) != 0)
            continue;
        long id = strtol(entry->d_name + strlen(PARTITION), &end, 10);
        if (*end == '\0' && id >= 0)
            mcp_buf_append(ids, &id, sizeof id);
    }
    closedir(dir);
    if (ids->status != MCP_OK)
        return mcp_error_set(err, ids->status, "too many scenarios");
    if (ids->length > 0)
        qsort(ids->data, ids->length / sizeof(long), sizeof(long), compare_ids);
    return MCP_OK;
}

static mcp_status open_scenarios(int *fds, size_t *opened, int folder_fd, const long *ids,
                                 size_t count, mcp_error *err)
{
    char path[64];
    for (*opened = 0; *opened < count; (*opened)++) {
        snprintf(path, sizeof path, PARTITION "%04ld/data.parquet", ids[*opened]);
        mcp_status st = guard_open_file(&fds[*opened], folder_fd, path, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

static mcp_status open_listed(report_files *out, int folder_fd, const mcp_buf *ids, size_t fd_max,
                              mcp_arena *arena, mcp_error *err)
{
    size_t all = ids->length / sizeof(long), room = room_for_files(), opened = 0;
    size_t count = all < room ? all : room;
    if (fd_max && count > fd_max)
        count = fd_max;
    if (count == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no scenario");
    int *fds = mcp_arena_array(arena, count, sizeof *fds);
    if (!fds)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the list of files");
    mcp_status st = open_scenarios(fds, &opened, folder_fd, (const long *)(void *)ids->data, count,
                                   err);
    *out = (report_files){ fds, opened, all - opened };
    if (st != MCP_OK)
        report_files_close(out);
    return st;
}

mcp_status report_files_open(report_files *out, int out_fd, const char *folder, size_t fd_max,
                             mcp_arena *arena, mcp_error *err)
{
    char path[96];
    int folder_fd = -1;
    mcp_buf ids;
    snprintf(path, sizeof path, "simulation/%s", folder);
    mcp_status st = guard_open_subdir(&folder_fd, out_fd, path, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&ids, (size_t)REPORT_SCENARIOS_MAX * 16 * sizeof(long));
    st = list_scenarios(&ids, folder_fd, err);
    if (st == MCP_OK)
        st = open_listed(out, folder_fd, &ids, fd_max, arena, err);
    mcp_buf_clear(&ids);
    close(folder_fd);
    return st;
}

void report_files_close(report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        close(files->fds[i]);
    files->count = 0;
}
