/*
 * intent.c - intents: written, read, done, and settled after a crash.
 *
 * No output has its final name before an intent is stored, and all temporary files are on disk
 * then. So an intent with any final name is one whose process died while it renamed, and what is
 * missing can be completed; one without is as if it had never been. For a database the transaction
 * decides, and the marker tells whether it was done; the marker is dropped only after the manifest
 * has its name.
 */
#include "sinks/intent.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/fault.h"
#include "mcp/json.h"
#include "sinks/duckdb.h"
#include "sinks/lock.h"
#include "sinks/manifest.h"

#define ARENA_MAX ((size_t)16 << 20)
#define SWEEP_AGE_MS (INT64_C(24) * 3600 * 1000)

/* ---- as JSON --------------------------------------------------------------------------------- */

mcp_status intent_write(mcp_buf *out, const intent *self)
{
    mcp_json_writer json;

    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_int(&json, "version", 1);
    mcp_write_member_string(&json, "dir", self->dir);
    mcp_write_member_array(&json, "pairs");
    for (size_t i = 0; i < self->pair_count; i++) {
        mcp_write_object(&json);
        mcp_write_member_string(&json, "tmp", self->pairs[i].temporary);
        mcp_write_member_string(&json, "final", self->pairs[i].final);
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    if (self->database) {
        mcp_write_member_string(&json, "database", self->database);
        mcp_write_member_string(&json, "marker", self->marker);
        mcp_write_member_array(&json, "stages");
        for (size_t i = 0; i < self->stage_count; i++)
            mcp_write_string(&json, self->stages[i]);
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

/* A name that leads nowhere else: "x", or "_casparian/x". */
static bool is_name(const char *text)
{
    if (!text || !*text)
        return false;
    const char *slash = strchr(text, '/');
    size_t folder = strlen(CASPARIAN_MANIFEST_DIR);

    if (slash &&
        ((size_t)(slash - text) != folder || memcmp(text, CASPARIAN_MANIFEST_DIR, folder) != 0))
        return false;
    const char *name = slash ? slash + 1 : text;
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool read_pairs(intent *out, mcp_arena *arena, const mcp_json *pairs)
{
    size_t count = mcp_json_count(pairs);
    intent_pair *made = mcp_arena_array(arena, count, sizeof *made);

    for (size_t i = 0; made && i < count; i++) {
        const mcp_json *pair = mcp_json_item(pairs, i);
        made[i] = (intent_pair){ mcp_json_get_string(pair, "tmp"),
                                 mcp_json_get_string(pair, "final") };
        if (!is_name(made[i].temporary) || !is_name(made[i].final))
            return false;
    }
    out->pairs = made;
    out->pair_count = count;
    return made && mcp_json_is_array(pairs) && count > 0;
}

static bool read_stages(intent *out, mcp_arena *arena, const mcp_json *stages)
{
    size_t count = mcp_json_count(stages);
    const char **made = mcp_arena_array(arena, count, sizeof *made);

    for (size_t i = 0; made && i < count; i++) {
        made[i] = mcp_json_string(mcp_json_item(stages, i), NULL);
        if (!is_name(made[i]))
            return false;
    }
    out->stages = made;
    out->stage_count = count;
    return made != NULL;
}

mcp_status intent_read(intent *out, mcp_arena *arena, const char *text, size_t length,
                       mcp_error *err)
{
    const mcp_json *json = NULL;
    int64_t version = 0;
    mcp_status st = mcp_json_read(&json, arena, text, length, err);

    if (st != MCP_OK)
        return st;
    *out = (intent){ .dir = mcp_json_get_string(json, "dir"),
                     .database = mcp_json_get_string(json, "database"),
                     .marker = mcp_json_get_string(json, "marker") };
    bool is_fine = mcp_json_int(mcp_json_get(json, "version"), &version) && version == 1 &&
                   out->dir && out->dir[0] == '/' && !out->database == !out->marker;
    is_fine = is_fine && read_pairs(out, arena, mcp_json_get(json, "pairs"));
    is_fine = is_fine && read_stages(out, arena, mcp_json_get(json, "stages"));
    return is_fine ? MCP_OK : mcp_error_set(err, MCP_E_PARSE, "that is no intent of a commit");
}

/* ---- doing ----------------------------------------------------------------------------------- */

static bool is_there(int dir_fd, const char *name)
{
    struct stat about;

    return fstatat(dir_fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Wait until the disk has the folders' entries. */
static mcp_status sync_folders(int dir_fd, mcp_error *err)
{
    int fd = openat(dir_fd, CASPARIAN_MANIFEST_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = (fd < 0 || fsync(fd) == 0) && fsync(dir_fd) == 0;
    int why = errno;

    if (fd >= 0)
        close(fd);
    return is_synced ? MCP_OK : mcp_error_errno(err, why, "the sink's folder");
}

mcp_status intent_rename(const intent *self, int dir_fd, mcp_error *err)
{
    for (size_t i = 0; i < self->pair_count; i++) {
        const intent_pair *pair = &self->pairs[i];
        if (renameat(dir_fd, pair->temporary, dir_fd, pair->final) != 0 &&
            !(errno == ENOENT && is_there(dir_fd, pair->final)))
            return mcp_error_errno(err, errno, "'%.100s' cannot get its name", pair->final);
        FAULT_POINT("commit");
    }
    mcp_status st = sync_folders(dir_fd, err);
    FAULT_POINT("commit");
    return st;
}

void intent_remove_stages(const intent *self, int dir_fd)
{
    for (size_t i = 0; i < self->stage_count; i++)
        unlinkat(dir_fd, self->stages[i], 0);
}

static mcp_status remove_name(int dir_fd, const char *name, mcp_error *err)
{
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return MCP_OK;
    return mcp_error_errno(err, errno, "'%.100s' cannot be removed", name);
}

mcp_status intent_remove(const intent *self, int dir_fd, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < self->pair_count && st == MCP_OK; i++) {
        st = remove_name(dir_fd, self->pairs[i].temporary, err);
        if (st == MCP_OK)
            st = remove_name(dir_fd, self->pairs[i].final, err);
    }
    intent_remove_stages(self, dir_fd);
    return st == MCP_OK ? sync_folders(dir_fd, err) : st;
}

/* ---- after a crash --------------------------------------------------------------------------- */

/* Of files: whether any has its final name, and each has one of its names. */
static bool is_begun(const intent *self, int dir_fd)
{
    bool is_begun = false;

    for (size_t i = 0; i < self->pair_count; i++) {
        bool is_final = is_there(dir_fd, self->pairs[i].final);
        if (!is_final && !is_there(dir_fd, self->pairs[i].temporary))
            return false;
        is_begun = is_begun || is_final;
    }
    return is_begun;
}

const char *intent_database_name(const intent *self)
{
    return self->database ? strrchr(self->database, '/') + 1 : NULL;
}

mcp_status intent_unmark(const intent *self, int dir_fd, mcp_error *err)
{
    const duckdb_file database = { dir_fd, intent_database_name(self) };
    return casparian_duckdb_unmark(&database, self->marker, err);
}

/* Rows of a database cannot be taken back, so of an intent whose transaction was done the files are
 * completed as far as they are there. */
static mcp_status complete_database(const intent *self, int dir_fd, mcp_error *err)
{
    for (size_t i = 0; i < self->pair_count; i++)
        renameat(dir_fd, self->pairs[i].temporary, dir_fd, self->pairs[i].final);
    mcp_status st = sync_folders(dir_fd, err);
    if (st == MCP_OK)
        st = intent_unmark(self, dir_fd, err);
    if (st == MCP_OK)
        intent_remove_stages(self, dir_fd);
    return st;
}

static mcp_status settle(bool *is_committed, const intent *self, int dir_fd, mcp_error *err)
{
    const duckdb_file database = { dir_fd, intent_database_name(self) };
    bool is_marked = false;
    mcp_status st = MCP_OK;

    *is_committed = is_begun(self, dir_fd);
    if (self->database)
        st = casparian_duckdb_is_marked(&is_marked, &database, self->marker, err);
    if (st != MCP_OK)
        return st;
    if (is_marked) {
        *is_committed = true;
        return complete_database(self, dir_fd, err);
    }
    if (!*is_committed)
        return intent_remove(self, dir_fd, err);
    st = intent_rename(self, dir_fd, err);
    if (st == MCP_OK)
        intent_remove_stages(self, dir_fd);
    return st;
}

static mcp_status settle_in(bool *is_committed, const intent *self, int dir_fd, mcp_error *err)
{
    sink_lock lock = SINK_LOCK_INIT;
    const char *name = intent_database_name(self);
    mcp_status st = sink_lock_take(&lock, dir_fd, name, err);

    if (st == MCP_OK)
        st = settle(is_committed, self, dir_fd, err);
    sink_lock_release(&lock);
    return st;
}

mcp_status intent_settle(bool *is_committed, const char *text, size_t length, mcp_error *err)
{
    intent self = { .dir = NULL };
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    mcp_status st = arena ? intent_read(&self, arena, text, length, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for an intent");

    *is_committed = false;
    int dir_fd = st == MCP_OK ? open(self.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir_fd >= 0)
        st = settle_in(is_committed, &self, dir_fd, err);
    else if (st == MCP_OK && errno != ENOENT) /* in a folder that is gone, nothing is */
        st = mcp_error_errno(err, errno, "the sink's folder '%.100s'", self.dir);
    if (dir_fd >= 0)
        close(dir_fd);
    mcp_arena_free(arena);
    return st;
}

/* ---- files that nothing names ---------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);

    return length > end && strcmp(name + length - end, ending) == 0;
}

/* ".<name>_<16 digits>.parquet.tmp" or .csv.tmp of an output, ".<job>.manifest.json.tmp". */
static bool is_temporary(const char *name)
{
    static const char *const endings[] = { ".parquet.tmp", ".csv.tmp" };
    size_t length = strlen(name), digits = 0;

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

mcp_status intent_sweep(int dir_fd, int64_t now_ms, bool (*is_live)(void *data, const char *name),
                        void *data, size_t *removed, mcp_error *err)
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
