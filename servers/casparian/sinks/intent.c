/*
 * intent.c - intents: written, read and done.
 *
 * No output has its final name before an intent is stored, and all temporary files are on disk
 * then. What a process that died has left is settled in settle.c.
 */
#include "sinks/intent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/fault.h"
#include "mcp/json.h"
#include "sinks/duckdb.h"
#include "sinks/manifest.h"
#include "sinks/sink.h"

/* ---- as JSON --------------------------------------------------------------------------------- */

static void write_folder(mcp_json_writer *json, const intent_folder *folder)
{
    mcp_write_member_string(json, "dir", folder->dir);
    mcp_write_member_array(json, "pairs");
    for (size_t i = 0; i < folder->pair_count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "tmp", folder->pairs[i].temporary);
        mcp_write_member_string(json, "final", folder->pairs[i].final);
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

static void write_database(mcp_json_writer *json, const intent *self)
{
    mcp_write_member_string(json, "database", self->database);
    mcp_write_member_string(json, "marker", self->marker);
    mcp_write_member_array(json, "stages");
    for (size_t i = 0; i < self->stage_count; i++)
        mcp_write_string(json, self->stages[i]);
    mcp_write_end(json);
}

mcp_status intent_write(mcp_buf *out, const intent *self)
{
    mcp_json_writer json;

    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_int(&json, "version", self->folder_count > 1 ? 2 : 1);
    write_folder(&json, &self->folders[0]);
    if (self->folder_count > 1)
        mcp_write_member_array(&json, "also");
    for (size_t i = 1; i < self->folder_count; i++) {
        mcp_write_object(&json);
        write_folder(&json, &self->folders[i]);
        mcp_write_end(&json);
    }
    if (self->folder_count > 1)
        mcp_write_end(&json);
    if (self->database)
        write_database(&json, self);
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

static bool read_folder(intent_folder *out, mcp_arena *arena, const mcp_json *json)
{
    const mcp_json *pairs = mcp_json_get(json, "pairs");
    size_t count = mcp_json_count(pairs);
    intent_pair *made = mcp_arena_array(arena, count, sizeof *made);

    for (size_t i = 0; made && i < count; i++) {
        const mcp_json *pair = mcp_json_item(pairs, i);
        made[i] = (intent_pair){ mcp_json_get_string(pair, "tmp"),
                                 mcp_json_get_string(pair, "final") };
        if (!is_name(made[i].temporary) || !is_name(made[i].final))
            return false;
    }
    *out = (intent_folder){ mcp_json_get_string(json, "dir"), made, count };
    return made && mcp_json_is_array(pairs) && count > 0 && out->dir && out->dir[0] == '/';
}

/* The home, and with version 2 other folders. */
static bool read_folders(intent *out, mcp_arena *arena, const mcp_json *json, int64_t version)
{
    const mcp_json *also = mcp_json_get(json, "also");
    size_t count = 1 + mcp_json_count(also);

    if (version == 1 ? also != NULL : !mcp_json_is_array(also) || count == 1)
        return false;
    if (count > CASPARIAN_SINK_PLACES_MAX)
        return false;
    intent_folder *folders = mcp_arena_array(arena, count, sizeof *folders);
    if (!folders || !read_folder(&folders[0], arena, json))
        return false;
    for (size_t i = 1; i < count; i++)
        if (!read_folder(&folders[i], arena, mcp_json_item(also, i - 1)))
            return false;
    out->folders = folders;
    out->folder_count = count;
    return true;
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
    *out = (intent){ .database = mcp_json_get_string(json, "database"),
                     .marker = mcp_json_get_string(json, "marker") };
    bool is_fine = mcp_json_int(mcp_json_get(json, "version"), &version) &&
                   (version == 1 || version == 2) && !out->database == !out->marker;
    is_fine = is_fine && read_folders(out, arena, json, version);
    is_fine = is_fine && read_stages(out, arena, mcp_json_get(json, "stages"));
    return is_fine ? MCP_OK : mcp_error_set(err, MCP_E_PARSE, "that is no intent of a commit");
}

/* ---- doing ----------------------------------------------------------------------------------- */

mcp_status intent_look(bool *is_there, const sink_dir *dir, const char *name, mcp_error *err)
{
    struct stat about;

    *is_there = fstatat(dir->fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (*is_there || errno == ENOENT)
        return MCP_OK;
    return mcp_error_errno(err, errno, "'%.100s' in '%.150s' cannot be looked for", name,
                           dir->path);
}

/* Wait until the disk has the folder's entries. */
static mcp_status sync_folder(const sink_dir *dir, mcp_error *err)
{
    int fd = openat(dir->fd, CASPARIAN_MANIFEST_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = (fd < 0 || fsync(fd) == 0) && fsync(dir->fd) == 0;
    int why = errno;

    if (fd >= 0)
        close(fd);
    return is_synced ? MCP_OK : mcp_error_errno(err, why, "the sink's folder '%.200s'", dir->path);
}

/* It may have its name already. */
static mcp_status rename_pair(const intent_pair *pair, const sink_dir *dir, mcp_error *err)
{
    bool is_renamed = false;

    if (renameat(dir->fd, pair->temporary, dir->fd, pair->final) == 0)
        return MCP_OK;
    int why = errno;
    mcp_status st = why == ENOENT ? intent_look(&is_renamed, dir, pair->final, err) : MCP_OK;
    if (st != MCP_OK || is_renamed)
        return st;
    return mcp_error_errno(err, why, "'%.100s' in '%.150s' cannot get its name", pair->final,
                           dir->path);
}

static mcp_status rename_in(const intent_folder *folder, const sink_dir *dir, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < folder->pair_count && st == MCP_OK; i++) {
        st = rename_pair(&folder->pairs[i], dir, err);
        FAULT_POINT("commit");
    }
    if (st == MCP_OK)
        st = sync_folder(dir, err);
    FAULT_POINT("commit");
    return st;
}

mcp_status intent_rename(const intent *self, const sink_dir *dirs, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < self->folder_count && st == MCP_OK; i++)
        st = rename_in(&self->folders[i], &dirs[i], err);
    return st;
}

mcp_status intent_rename_rest(const intent *self, const sink_dir *dirs, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < self->folder_count && st == MCP_OK; i++) {
        const intent_folder *folder = &self->folders[i];
        for (size_t k = 0; k < folder->pair_count && st == MCP_OK; k++)
            if (renameat(dirs[i].fd, folder->pairs[k].temporary, dirs[i].fd,
                         folder->pairs[k].final) != 0 &&
                errno != ENOENT)
                st = mcp_error_errno(err, errno, "'%.100s' in '%.150s' cannot get its name",
                                     folder->pairs[k].final, dirs[i].path);
        if (st == MCP_OK)
            st = sync_folder(&dirs[i], err);
    }
    return st;
}

void intent_remove_stages(const intent *self, const sink_dir *dirs)
{
    for (size_t i = 0; i < self->stage_count; i++)
        unlinkat(dirs[0].fd, self->stages[i], 0);
}

static mcp_status remove_name(const sink_dir *dir, const char *name, mcp_error *err)
{
    if (unlinkat(dir->fd, name, 0) == 0 || errno == ENOENT)
        return MCP_OK;
    return mcp_error_errno(err, errno, "'%.100s' in '%.150s' cannot be removed", name, dir->path);
}

static mcp_status remove_in(const intent_folder *folder, const sink_dir *dir, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < folder->pair_count && st == MCP_OK; i++) {
        const intent_pair *pair = &folder->pairs[i];
        bool is_temporary = false;
        st = intent_look(&is_temporary, dir, pair->temporary, err);
        if (st == MCP_OK)
            st = remove_name(dir, is_temporary ? pair->temporary : pair->final, err);
    }
    return st == MCP_OK ? sync_folder(dir, err) : st;
}

mcp_status intent_remove(const intent *self, const sink_dir *dirs, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = self->folder_count; i > 0 && st == MCP_OK; i--)
        st = remove_in(&self->folders[i - 1], &dirs[i - 1], err);
    intent_remove_stages(self, dirs);
    return st;
}

const char *intent_database_name(const intent *self)
{
    return self->database ? strrchr(self->database, '/') + 1 : NULL;
}

mcp_status intent_unmark(const intent *self, const sink_dir *dirs, mcp_error *err)
{
    const duckdb_file database = { dirs[0].fd, intent_database_name(self) };
    return casparian_duckdb_unmark(&database, self->marker, err);
}
