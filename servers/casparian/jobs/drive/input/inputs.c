/*
 * inputs.c - listing input files, and the order of a backtest.
 */
#include "jobs/drive/input/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/glob.h"
#include "guard/canonical.h"
#include "guard/named.h"

enum { DEPTH_MAX = 64 };

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

static mcp_status add(lister *self, const char *path, const struct stat *what, mcp_error *err)
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
    self->files[self->count++] = (casparian_job_file){
        .path = copy,
        .size = what->st_size,
        .mtime_ns = (int64_t)what->st_mtim.tv_sec * 1000000000 + what->st_mtim.tv_nsec,
        .inode = (int64_t)what->st_ino,
    };
    return MCP_OK;
}

/* A link counts where it leads to a regular file below a root. */
static bool follow(const lister *self, const char *path, struct stat *what)
{
    int fd = -1;
    if (casparian_input_open(&fd, self->roots, path, NULL) != MCP_OK)
        return false;
    bool is_file = fstat(fd, what) == 0 && S_ISREG(what->st_mode);
    close(fd);
    return is_file;
}

static mcp_status list_folder(lister *self, int folder, char *path, size_t base, int depth,
                              mcp_error *err);

/* `path` is that of the entry; its part from `base` is relative to the input. */
static mcp_status list_entry(lister *self, int folder, const char *name, char *path, size_t base,
                             int depth, mcp_error *err)
{
    struct stat what;
    if (fstatat(folder, name, &what, AT_SYMLINK_NOFOLLOW) != 0)
        return MCP_OK; /* it has vanished */
    if (S_ISDIR(what.st_mode) && depth < DEPTH_MAX && guard_allows(self->roots, path)) {
        int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd >= 0 ? list_folder(self, fd, path, base, depth + 1, err) : MCP_OK;
    }
    bool is_file = S_ISREG(what.st_mode);
    if (!is_file && !S_ISLNK(what.st_mode))
        return MCP_OK;
    if (!fits(self, path + base) || (!is_file && !follow(self, path, &what)))
        return MCP_OK;
    return add(self, path, &what, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* The names of a folder that are not hidden, sorted; the caller's. Takes the descriptor. */
static mcp_status read_names(char ***out, size_t *count, int folder, mcp_error *err)
{
    size_t room = 64;
    size_t read = 0;
    DIR *all = fdopendir(folder);
    char **names = malloc(room * sizeof *names);
    if (!all || !names) {
        if (all)
            closedir(all);
        else
            close(folder);
        free(names);
        return no_memory(err);
    }
    bool has_memory = true;
    for (const struct dirent *entry = readdir(all); entry && has_memory; entry = readdir(all)) {
        if (entry->d_name[0] == '.')
            continue;
        if (read == room) {
            char **more = realloc(names, 2 * room * sizeof *names);
            has_memory = more != NULL;
            names = more ? more : names;
            room = more ? 2 * room : room;
        }
        if (has_memory)
            names[read] = strdup(entry->d_name);
        has_memory = has_memory && names[read];
        read += has_memory;
    }
    closedir(all);
    if (!has_memory) {
        free_names(names, read);
        return no_memory(err);
    }
    qsort(names, read, sizeof names[0], by_name);
    *out = names;
    *count = read;
    return MCP_OK;
}

/* Takes the descriptor. */
static mcp_status list_folder(lister *self, int folder, char *path, size_t base, int depth,
                              mcp_error *err)
{
    size_t length = strlen(path);
    char **names = NULL;
    size_t count = 0;
    int held = dup(folder); /* read_names closes its own */
    mcp_status st = held >= 0 ? read_names(&names, &count, folder, err)
                              : mcp_error_errno(err, errno, "'%.150s'", path);
    if (held < 0)
        close(folder);
    for (size_t i = 0; st == MCP_OK && i < count && self->count < self->max; i++) {
        if (length + 1 + strlen(names[i]) >= PATH_MAX)
            continue;
        snprintf(path + length, PATH_MAX - length, "%s%s", path[length - 1] == '/' ? "" : "/",
                 names[i]);
        st = list_entry(self, held, names[i], path, base, depth, err);
        path[length] = '\0';
    }
    if (st == MCP_OK || count > 0)
        free_names(names, count);
    if (held >= 0)
        close(held);
    return st;
}

static int by_path(const void *a, const void *b)
{
    const casparian_job_file *left = a;
    const casparian_job_file *right = b;
    return strcmp(left->path, right->path);
}

static mcp_status list_input(lister *self, mcp_error *err)
{
    char path[PATH_MAX];
    struct stat what;
    int fd = -1;
    mcp_status st = guard_open_dir(&fd, NULL, self->roots, self->listing->input, self->arena, NULL);
    snprintf(path, sizeof path, "%s", self->listing->input);
    if (st == MCP_OK) {
        size_t length = strlen(path);
        return list_folder(self, fd, path, length + (path[length - 1] != '/'), 0, err);
    }
    st = casparian_input_open(&fd, self->roots, path, err);
    if (st != MCP_OK)
        return st;
    if (fstat(fd, &what) != 0)
        st = mcp_error_errno(err, errno, "'%.150s'", path);
    close(fd);
    return st == MCP_OK ? add(self, path, &what, err) : st;
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
                                        .max_files = self->spec.max_files };
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
