/*
 * settle.c - what processes have left: commits that were under way, and files that nothing names.
 *
 * A commit is settled under the locks of all its folders, and not before all of them are there. Of
 * files it has happened once the first file of the home has its final name: then what is missing
 * anywhere can be completed, and before, it is as if the commit had never been. For a database the
 * transaction decides, and the marker tells whether it was done; the marker is dropped only after
 * the manifests of all folders have their names, and then the home's tells it.
 *
 * A commit of files that has happened and has lost one is undone: what is left is no job.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sinks/commit.h"
#include "sinks/duckdb.h"
#include "sinks/intent.h"
#include "sinks/manifest.h"
#include "sinks/sink.h"

#define ARENA_MAX ((size_t)16 << 20)
#define SWEEP_AGE_MS (INT64_C(24) * 3600 * 1000)

/* ---- a commit -------------------------------------------------------------------------------- */

/* What is there of the files of an intent.
 *
 * is_begun: a file of the home has got its final name. Where it still has the other, too, a job of
 * another home has taken the name meanwhile. is_complete: each file has one of its names. */
static mcp_status look_at_files(bool *is_begun, bool *is_complete, const intent *self,
                                const sink_dir *dirs, mcp_error *err)
{
    mcp_status st = MCP_OK;

    *is_begun = false;
    *is_complete = true;
    for (size_t i = 0; i < self->folder_count; i++) {
        const intent_folder *folder = &self->folders[i];
        for (size_t k = 0; k < folder->pair_count && st == MCP_OK; k++) {
            bool is_temporary = false, is_final = false;
            st = intent_look(&is_temporary, &dirs[i], folder->pairs[k].temporary, err);
            if (st == MCP_OK)
                st = intent_look(&is_final, &dirs[i], folder->pairs[k].final, err);
            *is_begun |= i == 0 && is_final && !is_temporary;
            *is_complete &= is_final || is_temporary;
        }
    }
    return st;
}

static mcp_status settle_files(bool *is_committed, const intent *self, const sink_dir *dirs,
                               mcp_error *err)
{
    bool is_begun = false, is_complete = false;
    mcp_status st = look_at_files(&is_begun, &is_complete, self, dirs, err);

    if (st != MCP_OK)
        return st;
    *is_committed = is_begun && is_complete;
    return *is_committed ? intent_rename(self, dirs, err) : intent_remove(self, dirs, err);
}

/* Rows of a database cannot be taken back, so of an intent whose transaction was done the files are
 * completed as far as they are there. */
static mcp_status settle_database(bool *is_committed, const intent *self, const sink_dir *dirs,
                                  mcp_error *err)
{
    const duckdb_file database = { dirs[0].fd, intent_database_name(self) };
    const intent_folder *home = &self->folders[0];
    bool is_marked = false, has_manifest = false;
    mcp_status st = casparian_duckdb_is_marked(&is_marked, &database, self->marker, err);

    if (st == MCP_OK)
        st = intent_look(&has_manifest, &dirs[0], home->pairs[home->pair_count - 1].final, err);
    if (st != MCP_OK)
        return st;
    *is_committed = is_marked || has_manifest;
    if (!*is_committed)
        return intent_remove(self, dirs, err);
    st = intent_rename_rest(self, dirs, err);
    if (st == MCP_OK && is_marked)
        st = intent_unmark(self, dirs, err);
    if (st == MCP_OK)
        intent_remove_stages(self, dirs);
    return st;
}

static mcp_status settle_in(bool *is_committed, const intent *self, const sink_dir *dirs,
                            mcp_error *err)
{
    static const sink_lock none = SINK_LOCK_INIT;
    sink_lock locks[CASPARIAN_SINK_PLACES_MAX];

    for (size_t i = 0; i < self->folder_count; i++)
        locks[i] = none;
    mcp_status st = sink_locks_take(locks, dirs, self->folder_count, intent_database_name(self),
                                    err);
    if (st == MCP_OK)
        st = self->database ? settle_database(is_committed, self, dirs, err)
                            : settle_files(is_committed, self, dirs, err);
    sink_locks_release(locks, self->folder_count);
    return st;
}

/* ---- its folders ----------------------------------------------------------------------------- */

static void close_folders(const sink_dir *dirs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (dirs[i].fd >= 0)
            close(dirs[i].fd);
}

/* Of several folders one that is away would leave the others half done. It had its `_casparian`
 * before the intent was stored; without one, it is the place where a disk is mounted. */
static mcp_status check_folder(const sink_dir *dir, mcp_error *err)
{
    bool is_there = false;
    mcp_status st = dir->fd < 0 ? MCP_OK : intent_look(&is_there, dir, CASPARIAN_MANIFEST_DIR, err);

    if (st != MCP_OK || is_there)
        return st;
    return mcp_error_set(err, MCP_E_NOT_FOUND,
                         "the folder '%.200s' of a commit is not there, or not mounted; the commit "
                         "is completed or undone when it is back. If it is gone for good: mkdir -p "
                         "'%.200s/%s'",
                         dir->path, dir->path, CASPARIAN_MANIFEST_DIR);
}

/* Open them. @param is_gone it has one folder, which is gone, and with it all that was written */
static mcp_status open_folders(sink_dir *dirs, bool *is_gone, const intent *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    *is_gone = false;
    for (size_t i = 0; i < self->folder_count; i++)
        dirs[i] = (sink_dir){ self->folders[i].dir, -1 };
    for (size_t i = 0; i < self->folder_count && st == MCP_OK; i++) {
        dirs[i].fd = open(dirs[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dirs[i].fd < 0 && errno != ENOENT)
            st = mcp_error_errno(err, errno, "the sink's folder '%.200s'", dirs[i].path);
        else if (self->folder_count > 1)
            st = check_folder(&dirs[i], err);
        else
            *is_gone = dirs[i].fd < 0;
    }
    return st;
}

mcp_status casparian_commit_settle(bool *is_committed, const char *text, size_t length,
                                   mcp_error *err)
{
    sink_dir dirs[CASPARIAN_SINK_PLACES_MAX];
    intent self = { .folder_count = 0 };
    bool is_gone = false;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    mcp_status st = arena ? intent_read(&self, arena, text, length, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for an intent");

    *is_committed = false;
    if (st == MCP_OK) {
        st = open_folders(dirs, &is_gone, &self, err);
        if (st == MCP_OK && !is_gone)
            st = settle_in(is_committed, &self, dirs, err);
        close_folders(dirs, self.folder_count);
    }
    mcp_arena_free(arena);
    return st;
}

/* ---- files that nothing names ---------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);

    return length > end && strcmp(name + length - end, ending) == 0;
}

/* The name without the number of an attempt before its ending: ".x.parquet.1.tmp". */
static size_t without_attempt(char *out, size_t size, const char *name)
{
    size_t length = strlen(name), at = length > 4 ? length - 4 : 0;

    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    if (at < 2 || at == length - 4 || name[at - 1] != '.' || strcmp(name + length - 4, ".tmp") != 0)
        return (size_t)snprintf(out, size, "%s", name);
    return (size_t)snprintf(out, size, "%.*s.tmp", (int)(at - 1), name);
}

/* ".<name>_<16 digits>.parquet.tmp" or .csv.tmp of an output, ".<job>.manifest.json.tmp". */
static bool is_temporary(const char *entry)
{
    static const char *const endings[] = { ".parquet.tmp", ".csv.tmp" };
    char name[NAME_MAX + 1];
    size_t length = without_attempt(name, sizeof name, entry), digits = 0;

    if (name[0] != '.' || ends_in(name, ".manifest.json.tmp"))
        return name[0] == '.';
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (!ends_in(name, endings[i]) || length < ending + 18)
            continue;
        const char *at = name + length - ending - 16;
        while (digits < 16 && isxdigit((unsigned char)at[digits]))
            digits++;
        return digits == 16 && at[-1] == '_';
    }
    return false;
}

static bool is_old(int dir_fd, const char *name, int64_t now_ms)
{
    struct stat about;

    return fstatat(dir_fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
           now_ms - (int64_t)about.st_mtim.tv_sec * 1000 > SWEEP_AGE_MS;
}

static mcp_status sweep_folder(int fd, int64_t now_ms,
                               bool (*is_live)(void *data, const char *name), void *data,
                               size_t *removed, mcp_error *err)
{
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir) {
        mcp_error_errno(err, errno, "the sink's folder");
        if (fd >= 0)
            close(fd);
        return MCP_E_IO;
    }
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (is_temporary(entry->d_name) && is_old(fd, entry->d_name, now_ms) &&
            !(is_live && is_live(data, entry->d_name)))
            *removed += unlinkat(fd, entry->d_name, 0) == 0;
    closedir(dir);
    return MCP_OK;
}

mcp_status casparian_commit_sweep(int dir_fd, int64_t now_ms,
                                  bool (*is_live)(void *data, const char *name), void *data,
                                  size_t *removed, mcp_error *err)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;
    mcp_status st = sweep_folder(fd, now_ms, is_live, data, &count, err);

    fd = openat(dir_fd, CASPARIAN_MANIFEST_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (st == MCP_OK && fd >= 0)
        st = sweep_folder(fd, now_ms, is_live, data, &count, err);
    else if (fd >= 0)
        close(fd);
    if (removed)
        *removed = count;
    return st;
}
