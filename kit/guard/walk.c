/*
 * walk.c - a stack of open folders, each with the sorted names that are still to come.
 *
 * A folder's names are read at once, since they must be sorted. Only one folder of each depth is
 * held, so a walk over a tree of a million files needs the memory of its fullest branch.
 */
#include "guard/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/beneath.h"
#include "guard/canonical.h"
#include "guard/paths_int.h"
#include "mcp/alloc.h"
#include "mcp/buf.h"

#define NAMES_BYTES_MAX ((size_t)256 << 20)

/* A name in a folder. */
struct name {
    const char *text;
    unsigned char type; /* DT_... */
};

struct folder {
    DIR *dir;
    mcp_buf texts;
    struct name *names;
    size_t count, next;
    size_t path_length; /* of the part of guard_walk.relative that names it, with its slash */
    const char *after;  /* in guard_walk.after: the rest that is beneath this folder; NULL: all
                           names are to come */
};

struct guard_walk {
    guard_walk_options options;
    struct folder folders[GUARD_WALK_DEPTH_MAX + 1];
    int depth; /* of folders that are open */
    size_t name_count;
    uint64_t scanned;
    char relative[PATH_MAX];
    char *after;
    guard_entry entry;
    const struct guard_root *link_root; /* of an entry that is a link */
    char link_target[PATH_MAX];         /* beneath that root */
};

static void skip(const guard_walk *self, const char *why)
{
    if (self->options.skipped)
        self->options.skipped(self->options.data, self->relative, why);
}

/* ---- folders --------------------------------------------------------------------------------- */

static void close_folder(guard_walk *self)
{
    struct folder *folder = &self->folders[--self->depth];
    self->name_count -= folder->count;
    closedir(folder->dir);
    mcp_buf_clear(&folder->texts);
    free(folder->names);
    *folder = (struct folder){ .dir = NULL };
}

/* One byte of type, then the name with its NUL. */
static mcp_status read_texts(struct folder *folder, size_t names_left, mcp_error *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder->dir);
        if (!entry)
            return errno == 0 ? MCP_OK : mcp_error_errno(err, errno, "a directory cannot be read");
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (folder->count == names_left)
            return mcp_error_set(err, MCP_E_LIMIT, "there are more than %zu names to sort",
                                 GUARD_WALK_NAMES_MAX);
        (void)mcp_buf_putc(&folder->texts, (char)entry->d_type);
        (void)mcp_buf_append(&folder->texts, entry->d_name, strlen(entry->d_name) + 1);
        if (folder->texts.status != MCP_OK)
            return mcp_error_set(err, folder->texts.status, "no memory for names of files");
        folder->count++;
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static mcp_status sort_names(struct folder *folder, mcp_error *err)
{
    const char *at = folder->texts.data;
    folder->names = mcp_alloc_zeroed(folder->count + 1, sizeof *folder->names);
    if (!folder->names)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for names of files");
    for (size_t i = 0; i < folder->count; i++) {
        folder->names[i] = (struct name){ .type = (unsigned char)*at, .text = at + 1 };
        at += 1 + strlen(at + 1) + 1;
    }
    qsort(folder->names, folder->count, sizeof *folder->names, compare_names);
    return MCP_OK;
}

/* Read a folder and put it on the stack. Takes the descriptor. */
static mcp_status open_folder(guard_walk *self, int fd, size_t path_length, const char *after,
                              mcp_error *err)
{
    struct folder *folder = &self->folders[self->depth];
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int failure = errno;
        close(fd);
        return mcp_error_errno(err, failure, "a directory cannot be read");
    }
    *folder = (struct folder){ .dir = dir, .path_length = path_length, .after = after };
    mcp_buf_init(&folder->texts, NAMES_BYTES_MAX);
    mcp_status st = read_texts(folder, GUARD_WALK_NAMES_MAX - self->name_count, err);
    if (st == MCP_OK)
        st = sort_names(folder, err);
    self->depth++;
    self->name_count += folder->count;
    if (st != MCP_OK)
        close_folder(self);
    return st;
}

mcp_status guard_walk_new(guard_walk **out, const guard_walk_options *options, mcp_error *err)
{
    guard_walk *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a walk");
    self->options = *options;
    if (options->depth_max <= 0 || options->depth_max > GUARD_WALK_DEPTH_MAX)
        self->options.depth_max = GUARD_WALK_DEPTH_MAX;
    self->after = options->after ? mcp_alloc_strdup(options->after) : NULL;
    /* A descriptor of its own: two that are duplicates share the position. */
    int fd = openat(options->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mcp_status st = MCP_OK;
    if (options->after && !self->after)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a walk");
    else if (fd < 0)
        st = mcp_error_errno(err, errno, "a directory cannot be read");
    if (st == MCP_OK)
        st = open_folder(self, fd, 0, self->after, err);
    else if (fd >= 0)
        close(fd);
    if (st != MCP_OK) {
        guard_walk_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void guard_walk_free(guard_walk *self)
{
    if (!self)
        return;
    while (self->depth > 0)
        close_folder(self);
    free(self->after);
    free(self);
}

/* ---- entries --------------------------------------------------------------------------------- */

static void fill_entry(guard_walk *self, const char *name, const struct stat *about, bool is_link)
{
    self->entry = (guard_entry){ .relative = self->relative,
                                 .name = name,
                                 .is_link = is_link,
                                 .size = about->st_size,
                                 .mtime_ns = about->st_mtim.tv_sec * INT64_C(1000000000) +
                                             about->st_mtim.tv_nsec,
                                 .device = about->st_dev,
                                 .inode = about->st_ino };
}

/* "<folder of the walk>/<relative>"; false: it is too long. */
static bool whole_path(char out[PATH_MAX], const guard_walk *self)
{
    const char *slash = strcmp(self->options.path, "/") == 0 ? "" : "/";
    int length = snprintf(out, PATH_MAX, "%s%s%s", self->options.path, slash, self->relative);
    return length > 0 && length < PATH_MAX;
}

/* Whether a link is to be given: it leads to a regular file below a root. */
static bool look_at_link(guard_walk *self, const char *name)
{
    char path[PATH_MAX], place[PATH_MAX];
    struct stat about;
    const char *below = NULL;
    self->link_root = whole_path(path, self) && guard_canonical(place, path)
                          ? guard__find_root(self->options.guard, place, &below)
                          : NULL;
    if (!self->link_root) {
        skip(self, "Symlink escapes allowed roots");
        return false;
    }
    int fd = guard_beneath(self->link_root->fd, below, O_PATH, 0);
    if (fd < 0) {
        skip(self, "the link leads to nothing");
        return false;
    }
    bool is_file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    close(fd);
    memcpy(self->link_target, below, strlen(below) + 1);
    if (is_file)
        fill_entry(self, name, &about, true);
    return is_file;
}

static bool look_at_file(guard_walk *self, int dir_fd, const char *name)
{
    struct stat about;
    if (fstatat(dir_fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            skip(self, strerrordesc_np(errno));
        return false;
    }
    fill_entry(self, name, &about, false);
    return S_ISREG(about.st_mode);
}

static unsigned char type_of(int dir_fd, const struct name *name)
{
    struct stat about;
    if (name->type != DT_UNKNOWN)
        return name->type;
    if (fstatat(dir_fd, name->text, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return S_ISREG(about.st_mode)   ? DT_REG
           : S_ISDIR(about.st_mode) ? DT_DIR
           : S_ISLNK(about.st_mode) ? DT_LNK
                                    : DT_UNKNOWN;
}

static bool is_excluded(const guard_walk *self)
{
    char path[PATH_MAX];
    return self->options.guard->excluded_count > 0 &&
           !(whole_path(path, self) && guard_allows(self->options.guard, path));
}

/* Go into the folder that `relative` names, unless it is to be left out. */
static mcp_status enter(guard_walk *self, int dir_fd, const char *name, const char *after,
                        mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    const guard_walk_options *options = &self->options;
    size_t length = strlen(self->relative);
    if (!options->is_recursive || is_excluded(self))
        return MCP_OK;
    if (options->wants && !options->wants(options->data, self->relative, name, true))
        return MCP_OK;
    if (self->depth > options->depth_max || length + 2 > sizeof self->relative) {
        if (options->depth_max == GUARD_WALK_DEPTH_MAX)
            skip(self, "it is nested too deep");
        return MCP_OK;
    }
    int fd = guard_beneath(dir_fd, name, O_RDONLY | O_DIRECTORY, 0);
    mcp_status st = MCP_OK;
    if (fd < 0)
        skip(self, strerrordesc_np(errno));
    else
        st = open_folder(self, fd, length + 1, after, &cause);
    if (st == MCP_E_IO || st == MCP_E_NOT_FOUND || st == MCP_E_DENIED) {
        skip(self, cause.message);
        return MCP_OK;
    }
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s", cause.message);
    return MCP_OK;
}

/* How a name stands to the place at which the walk begins. */
enum place {
    PLACE_BEFORE, /* an earlier walk had it */
    PLACE_ON_WAY, /* the folder with the last file of the earlier walk */
    PLACE_AFTER
};

static enum place place_of(struct folder *folder, const char *name, const char **rest)
{
    const char *after = folder->after;
    *rest = NULL;
    if (!after)
        return PLACE_AFTER;
    size_t length = strcspn(after, "/");
    int order = strncmp(name, after, length);
    if (order == 0 && name[length] != '\0')
        order = 1;
    if (order < 0)
        return PLACE_BEFORE;
    folder->after = NULL;
    if (order > 0)
        return PLACE_AFTER;
    if (after[length] == '\0')
        return PLACE_BEFORE; /* the file itself */
    *rest = after + length + 1;
    return PLACE_ON_WAY;
}

/* Look at the next name of the innermost folder; *is_entry: self->entry is to be given. */
static mcp_status step(bool *is_entry, guard_walk *self, mcp_error *err)
{
    struct folder *folder = &self->folders[self->depth - 1];
    const struct name *name = &folder->names[folder->next++];
    const guard_walk_options *options = &self->options;
    int dir_fd = dirfd(folder->dir);
    size_t length = strlen(name->text);
    const char *rest = NULL;
    enum place place = place_of(folder, name->text, &rest);
    *is_entry = false;
    self->scanned++;
    if (place == PLACE_BEFORE)
        return MCP_OK;
    if (folder->path_length + length + 1 > sizeof self->relative)
        return MCP_OK; /* the path could not be opened by anybody */
    if (folder->path_length > 0)
        self->relative[folder->path_length - 1] = '/';
    memcpy(self->relative + folder->path_length, name->text, length + 1);
    unsigned char type = type_of(dir_fd, name);
    if (type == DT_DIR)
        return enter(self, dir_fd, name->text, rest, err);
    if (type != DT_REG && type != DT_LNK)
        return MCP_OK;
    if (options->wants && !options->wants(options->data, self->relative, name->text, false))
        return MCP_OK;
    *is_entry = type == DT_LNK ? look_at_link(self, name->text)
                               : look_at_file(self, dir_fd, name->text);
    return MCP_OK;
}

mcp_status guard_walk_next(const guard_entry **out, guard_walk *self, mcp_error *err)
{
    const guard_walk_options *options = &self->options;
    bool is_entry = false;
    while (!is_entry) {
        while (self->depth > 0 &&
               self->folders[self->depth - 1].next == self->folders[self->depth - 1].count)
            close_folder(self);
        if (self->depth == 0) {
            *out = NULL;
            return MCP_OK;
        }
        if (options->should_stop && options->should_stop(options->data))
            return mcp_error_set(err, MCP_E_STOPPED, "the walk was stopped");
        mcp_status st = step(&is_entry, self, err);
        if (st != MCP_OK)
            return st;
    }
    *out = &self->entry;
    return MCP_OK;
}

mcp_status guard_walk_open(int *fd, const guard_walk *self, mcp_error *err)
{
    const guard_entry *entry = &self->entry;
    if (entry->is_link)
        return guard_open_file(fd, self->link_root->fd, self->link_target, err);
    return guard_open_file(fd, dirfd(self->folders[self->depth - 1].dir), entry->name, err);
}

uint64_t guard_walk_scanned(const guard_walk *self)
{
    return self->scanned;
}
