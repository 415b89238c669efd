/*
 * inputs.c - listing input files, and the order of a backtest.
 */
#include "jobs/drive/input/inputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/glob.h"
#include "guard/canonical.h"
#include "guard/named.h"
#include "guard/walk.h"
#include "jobs/catalog.h"
#include "sinks/manifest.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the list of files");
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The folder is opened beneath a root, then the file in it, so nothing leads out in between. */
mcp_status casparian_input_open(int *fd, const guard *roots, const char *path, mcp_error *err)
{
    char place[PATH_MAX];
    int folder = -1;
    if (!guard_canonical(place, path))
        return mcp_error_set(err, MCP_E_DENIED, "'%.150s' cannot be resolved", path);
    char *slash = strrchr(place, '/');
    const char *name = slash + 1;
    mcp_arena *arena = mcp_arena_new(64 << 10);
    if (!arena)
        return no_memory(err);
    *slash = '\0';
    mcp_status st = guard_open_dir(&folder, NULL, roots, place[0] ? place : "/", arena, err);
    if (st == MCP_OK) {
        st = guard_open_file(fd, folder, name, err);
        close(folder);
    }
    mcp_arena_free(arena);
    return st;
}

/* ---- listing --------------------------------------------------------------------------------- */

typedef struct lister {
    const guard *roots;
    mcp_arena *arena;
    const casparian_listing *listing;
    casparian_glob **globs; /* a file fits one of them; none: every file */
    size_t glob_count;
    casparian_job_file *files;
    size_t count, room, max;
    const char *const *written; /* files of outputs, sorted */
    size_t written_count;
} lister;

static bool fits(const lister *self, const char *relative)
{
    for (size_t i = 0; i < self->glob_count; i++)
        if (casparian_glob_matches(self->globs[i], relative))
            return true;
    return self->glob_count == 0;
}

/* The pattern of the request stands in the place of those of the plugin. */
static mcp_status compile(lister *self, mcp_error *err)
{
    const casparian_listing *listing = self->listing;
    const casparian_plugin_settings *settings = listing->settings;
    const char *const *patterns = listing->pattern ? &listing->pattern
                                  : settings       ? settings->patterns
                                                   : NULL;
    size_t count = listing->pattern ? 1 : settings ? settings->pattern_count : 0;
    mcp_status st = MCP_OK;
    self->globs = mcp_arena_array(self->arena, count, sizeof *self->globs);
    if (!self->globs)
        return no_memory(err);
    for (; st == MCP_OK && self->glob_count < count; self->glob_count += st == MCP_OK)
        st = casparian_glob_new(&self->globs[self->glob_count], patterns[self->glob_count], err);
    return st;
}

static mcp_status add(lister *self, const char *path, const casparian_job_file *file,
                      mcp_error *err)
{
    if (self->count == CASPARIAN_MAX_FILES)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "'%.120s' has more than %d files: narrow it by a pattern",
                             self->listing->input, CASPARIAN_MAX_FILES);
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 64;
        casparian_job_file *files = mcp_arena_array(self->arena, room, sizeof *files);
        if (!files)
            return no_memory(err);
        if (self->count > 0)
            memcpy(files, self->files, self->count * sizeof *files);
        self->files = files;
        self->room = room;
    }
    const char *copy = mcp_arena_strdup(self->arena, path);
    if (!copy)
        return no_memory(err);
    self->files[self->count] = *file;
    self->files[self->count++].path = copy;
    return MCP_OK;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The path of what is below the input. @return false: it is too long */
static bool put_path(char path[PATH_MAX], const lister *self, const char *relative)
{
    const char *input = self->listing->input;
    const char *between = input[strlen(input) - 1] == '/' ? "" : "/";
    return snprintf(path, PATH_MAX, "%s%s%s", input, between, relative) < PATH_MAX;
}

static bool is_output(const lister *self, const char *path)
{
    return bsearch(&path, self->written, self->written_count, sizeof *self->written,
                   compare_texts) != NULL;
}

/* Whether casparian has written it: then it is no input, though a run's sink is often there. A
 * database has a file for its lock, and one for its log. */
static bool is_written(const lister *self, const char *relative, const char *name, bool is_dir)
{
    char path[PATH_MAX];
    if (is_dir)
        return strcmp(name, CASPARIAN_MANIFEST_DIR) == 0;
    if (self->written_count == 0 || !put_path(path, self, relative))
        return false;
    if (is_output(self, path))
        return true;
    char *ending = strrchr(path, '.');
    if (!ending || (strcmp(ending, ".lock") != 0 && strcmp(ending, ".wal") != 0))
        return false;
    *ending = '\0';
    return is_output(self, path);
}

/* Nothing that is hidden or written by casparian; of the files, what a glob fits. */
static bool wants(void *data, const char *relative, const char *name, bool is_dir)
{
    return name[0] != '.' && (is_dir || fits(data, relative)) &&
           !is_written(data, relative, name, is_dir);
}

/* `dir_fd` is the input, a folder, and `canonical` its path without links. */
static mcp_status list_folder(lister *self, int dir_fd, const char *canonical, mcp_error *err)
{
    const guard_walk_options options = { .guard = self->roots,
                                         .dir_fd = dir_fd,
                                         .path = canonical,
                                         .is_recursive = true,
                                         .wants = wants,
                                         .data = self };
    const guard_entry *entry = NULL;
    guard_walk *walk = NULL;
    char path[PATH_MAX];
    mcp_status st = MCP_OK;
    if (self->listing->store)
        st = casparian_catalog_below(&self->written, &self->written_count, self->listing->store,
                                     self->arena, self->listing->input, err);
    if (st == MCP_OK)
        st = guard_walk_new(&walk, &options, err);
    if (st == MCP_OK)
        st = guard_walk_next(&entry, walk, err);
    while (st == MCP_OK && entry && self->count < self->max) {
        const casparian_job_file file = { .size = entry->size,
                                          .mtime_ns = entry->mtime_ns,
                                          .inode = (int64_t)entry->inode };
        if (put_path(path, self, entry->relative))
            st = add(self, path, &file, err);
        if (st == MCP_OK)
            st = guard_walk_next(&entry, walk, err);
    }
    guard_walk_free(walk);
    return st;
}

static mcp_status list_file(lister *self, mcp_error *err)
{
    const char *path = self->listing->input;
    struct stat what;
    int fd = -1;
    mcp_status st = casparian_input_open(&fd, self->roots, path, err);
    if (st != MCP_OK)
        return st;
    if (fstat(fd, &what) != 0)
        st = mcp_error_errno(err, errno, "'%.150s'", path);
    close(fd);
    if (st != MCP_OK)
        return st;
    const casparian_job_file file = {
        .size = what.st_size,
        .mtime_ns = (int64_t)what.st_mtim.tv_sec * 1000000000 + what.st_mtim.tv_nsec,
        .inode = (int64_t)what.st_ino,
    };
    return add(self, path, &file, err);
}

static int by_path(const void *a, const void *b)
{
    const casparian_job_file *left = a;
    const casparian_job_file *right = b;
    return strcmp(left->path, right->path);
}

static mcp_status list_input(lister *self, mcp_error *err)
{
    const char *canonical = NULL;
    int fd = -1;
    if (guard_open_dir(&fd, &canonical, self->roots, self->listing->input, self->arena, NULL) !=
        MCP_OK)
        return list_file(self, err);
    mcp_status st = list_folder(self, fd, canonical, err);
    close(fd);
    return st;
}

mcp_status casparian_inputs_list(casparian_job_file **out, size_t *count, const guard *roots,
                                 mcp_arena *arena, const casparian_listing *listing, mcp_error *err)
{
    lister self = { .roots = roots, .arena = arena, .listing = listing };
    self.max = listing->max_files > 0 ? (size_t)listing->max_files : SIZE_MAX;
    mcp_status st = compile(&self, err);
    if (st == MCP_OK)
        st = list_input(&self, err);
    for (size_t i = 0; i < self.glob_count; i++)
        casparian_glob_free(self.globs[i]);
    if (st != MCP_OK)
        return st;
    if (self.count > 1)
        qsort(self.files, self.count, sizeof self.files[0], by_path);
    *out = self.files;
    *count = self.count;
    return MCP_OK;
}

/* ---- the inputs of a job --------------------------------------------------------------------- */

static const char *relative_of(const casparian_drive *self, const char *path)
{
    const char *below = guard_below(self->job.input_dir, path);
    const char *slash = strrchr(path, '/');
    return below && *below ? below : slash ? slash + 1 : path;
}

static mcp_status read_frozen(casparian_drive *self, casparian_job_file **files, size_t *count,
                              mcp_error *err)
{
    const casparian_job_outcome *outcomes = NULL;
    mcp_status st = casparian_job_files(&outcomes, count, self->store, self->arena, self->job.id,
                                        NULL, CASPARIAN_MAX_FILES, err);
    if (st != MCP_OK || *count == 0)
        return st;
    *files = mcp_arena_array(self->arena, *count, sizeof **files);
    if (!*files)
        return no_memory(err);
    for (size_t i = 0; i < *count; i++)
        (*files)[i] = outcomes[i].file;
    return MCP_OK;
}

mcp_status casparian_inputs_read(casparian_drive *self, mcp_error *err)
{
    const casparian_listing listing = { .input = self->job.input_dir,
                                        .pattern = self->spec.pattern,
                                        .settings = &self->plugin.settings,
                                        .max_files = self->spec.max_files,
                                        .store = self->store };
    casparian_job_file *files = NULL;
    size_t count = 0;
    mcp_status st = MCP_OK;
    if (self->job.type == CASPARIAN_JOB_RUN)
        st = read_frozen(self, &files, &count, err);
    if (st == MCP_OK && !files && !self->approval.id)
        st = casparian_inputs_list(&files, &count, self->driver->roots, self->arena, &listing, err);
    if (st != MCP_OK || count == 0)
        return st;
    self->inputs = mcp_arena_array(self->arena, count, sizeof *self->inputs);
    if (!self->inputs)
        return no_memory(err);
    self->input_count = count;
    for (size_t i = 0; i < count; i++) {
        self->inputs[i].file = files[i];
        self->inputs[i].relative = relative_of(self, files[i].path);
        self->inputs[i].status = "pending";
        self->bytes_total += files[i].size;
    }
    return MCP_OK;
}
