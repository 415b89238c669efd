/*
 * save.c - a policy into a new directory, and that directory into the place of the old one.
 *
 * renameat2() with RENAME_EXCHANGE is one step for every other process and for a crash; rename()
 * alone cannot replace a directory that holds files. Every file is flushed before the directory
 * that names it, and all of it before the exchange. In a long study that would take seconds: its
 * file system is flushed once instead, before metadata.json says that the files are there.
 *
 * "<path>.tmp" may hold the last complete policy, when a save without exchange was interrupted. So
 * that one is moved to its place before a new one is begun.
 */
#include "policy/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/buf.h"
#include "policy/encode.h"
#include "policy/path.h"
#include "policy/read.h"

/* The most stages of a study whose files are flushed one by one. */
#define FLUSHED_EACH 24

/* A policy being saved. */
struct saving {
    const policy *policy;
    bool flushes_each;
    int parent_fd; /* the folder that holds all three names */
    char name[POLICY_PATH_SIZE], temporary[POLICY_PATH_SIZE + 8], old[POLICY_PATH_SIZE + 8];
    mcp_buf bytes; /* of one file */
};

static mcp_status say_errno(const char *name, mcp_error *err)
{
    int failure = errno;

    return mcp_error_set(err, failure == ENOMEM ? MCP_E_NOMEM : MCP_E_IO, "%.150s: %s", name,
                         strerrordesc_np(failure));
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status write_whole(int fd, const char *name, const char *bytes, size_t length,
                              mcp_error *err)
{
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return say_errno(name, err);
        bytes += put;
        length -= (size_t)put;
    }
    return MCP_OK;
}

/* The content of a file or a folder to the disk, unless all of them are to go at once. */
static mcp_status flush(const struct saving *self, int fd, const char *name, mcp_error *err)
{
    return !self->flushes_each || fsync(fd) == 0 ? MCP_OK : say_errno(name, err);
}

/* Write the buffer, which it empties, to a new file of the folder. */
static mcp_status write_file(struct saving *self, int dir_fd, const char *name, mcp_error *err)
{
    mcp_buf *bytes = &self->bytes;
    int fd = -1;

    if (bytes->status != MCP_OK)
        return mcp_error_set(err, bytes->status, "%s cannot be put together: %s", name,
                             mcp_status_words(bytes->status));
    mcp_status st = guard_create(&fd, dir_fd, name, err);
    if (st != MCP_OK)
        return st;
    st = write_whole(fd, name, bytes->data, bytes->length, err);
    if (st == MCP_OK)
        st = flush(self, fd, name, err);
    if (close(fd) != 0 && st == MCP_OK)
        st = say_errno(name, err);
    mcp_buf_reset(bytes);
    return st;
}

/* One file a stage, where there is something to write. */
static mcp_status write_folder(struct saving *self, int dir_fd, const char *folder,
                               void (*encode)(mcp_buf *, const policy *, size_t),
                               bool (*has)(const policy_stage *), mcp_error *err)
{
    char name[32];
    int fd = -1;
    mcp_status st = guard_make_dir(&fd, dir_fd, folder, err);

    for (size_t t = 0; t < self->policy->stage_count && st == MCP_OK; t++) {
        if (!has(&self->policy->stages[t]))
            continue;
        snprintf(name, sizeof name, "stage_%03zu.bin", t);
        encode(&self->bytes, self->policy, t);
        st = write_file(self, fd, name, err);
    }
    if (st == MCP_OK)
        st = flush(self, fd, folder, err);
    if (fd >= 0)
        close(fd);
    return st;
}

static bool always(const policy_stage *stage)
{
    (void)stage;
    return true;
}

static bool has_basis(const policy_stage *stage)
{
    return stage->bases.count > 0;
}

static bool has_states(const policy_stage *stage)
{
    return stage->state_count > 0;
}

static mcp_status write_files(struct saving *self, int fd, bool states, mcp_error *err)
{
    const policy *from = self->policy;
    mcp_status st = write_folder(self, fd, "cuts", policy_encode_cuts, always, err);

    if (st == MCP_OK && from->is_exact)
        st = write_folder(self, fd, "basis", policy_encode_basis, has_basis, err);
    if (st == MCP_OK && states)
        st = write_folder(self, fd, "states", policy_encode_states, has_states, err);
    if (st == MCP_OK && from->is_exact) {
        policy_encode_resume(&self->bytes, from, !states);
        st = write_file(self, fd, "resume.bin", err);
    }
    if (st == MCP_OK && !self->flushes_each && syncfs(fd) != 0)
        st = say_errno(self->temporary, err);
    if (st != MCP_OK)
        return st;
    self->flushes_each = true;
    policy_encode_metadata(&self->bytes, from);
    st = write_file(self, fd, "metadata.json", err);
    return st == MCP_OK ? flush(self, fd, self->temporary, err) : st;
}

/* ---- directories ----------------------------------------------------------------------------- */

/* Whether all entries of a directory are those of a policy: the path may be that of something else,
 * by mistake, and what is there is removed. */
static mcp_status check_entries(DIR *dir, const char *name, mcp_error *err)
{
    static const char *const known[] = { ".",    "..",    "metadata.json", "resume.bin",
                                         "cuts", "basis", "states" };

    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno == 0 ? MCP_OK : say_errno(name, err);
        size_t i = 0;
        while (i < sizeof known / sizeof known[0] && strcmp(entry->d_name, known[i]) != 0)
            i++;
        if (i == sizeof known / sizeof known[0])
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "'%.100s' holds '%.60s', which is no part of a policy: give "
                                 "policy.path a directory of its own",
                                 name, entry->d_name);
    }
}

/* MCP_OK also where nothing is of that name. */
static mcp_status check_replaceable(const struct saving *self, const char *name, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    int fd = -1;
    mcp_status st = guard_open_subdir(&fd, self->parent_fd, name, &why);

    if (st == MCP_E_NOT_FOUND && faccessat(self->parent_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return MCP_OK;
    if (st != MCP_OK)
        return mcp_error_set(err, st == MCP_E_NOT_FOUND ? MCP_E_PARAMS : st, "%s", why.message);
    DIR *dir = fdopendir(fd);
    if (!dir) {
        st = say_errno(name, err);
        close(fd);
        return st;
    }
    st = check_entries(dir, name, err);
    closedir(dir);
    return st;
}

/* Remove a policy directory, so that no reader takes what is left of it for a policy. */
static mcp_status remove_policy(const struct saving *self, const char *name, mcp_error *err)
{
    int fd = -1;

    if (guard_open_subdir(&fd, self->parent_fd, name, NULL) == MCP_OK) {
        unlinkat(fd, "metadata.json", 0);
        close(fd);
    }
    return guard_remove_tree(self->parent_fd, name, err);
}

static bool is_complete(const struct saving *self, const char *name)
{
    int fd = -1;

    if (guard_open_subdir(&fd, self->parent_fd, name, NULL) != MCP_OK)
        return false;
    bool complete = policy_is_complete(fd);
    close(fd);
    return complete;
}

/* Give the temporary directory the policy's name, and remove what had it. */
static mcp_status replace(const struct saving *self, mcp_error *err)
{
    int at = self->parent_fd;
    const char *gone = self->temporary;

    if (renameat2(at, self->temporary, at, self->name, RENAME_EXCHANGE) != 0) {
        bool had_one = errno != ENOENT;
        if (had_one && errno != EINVAL && errno != ENOSYS)
            return say_errno(self->name, err);
        if ((had_one && renameat(at, self->name, at, self->old) != 0) ||
            renameat(at, self->temporary, at, self->name) != 0)
            return say_errno(self->name, err);
        gone = self->old;
    }
    if (fsync(at) != 0)
        return say_errno(self->name, err);
    return remove_policy(self, gone, err);
}

/* After a save that was interrupted: the newest complete policy gets its name, the rest goes. */
static mcp_status recover(const struct saving *self, mcp_error *err)
{
    int at = self->parent_fd;
    mcp_status st = check_replaceable(self, self->name, err);

    if (st == MCP_OK)
        st = check_replaceable(self, self->temporary, err);
    if (st == MCP_OK)
        st = check_replaceable(self, self->old, err);
    if (st != MCP_OK)
        return st;
    if (!is_complete(self, self->name)) {
        const char *last = is_complete(self, self->temporary) ? self->temporary
                           : is_complete(self, self->old)     ? self->old
                                                              : NULL;
        if (last)
            st = remove_policy(self, self->name, err);
        if (last && st == MCP_OK && renameat(at, last, at, self->name) != 0)
            st = say_errno(self->name, err);
    }
    if (st == MCP_OK)
        st = remove_policy(self, self->temporary, err);
    return st == MCP_OK ? remove_policy(self, self->old, err) : st;
}

static mcp_status save(struct saving *self, const policy_save_options *options, mcp_error *err)
{
    int fd = -1;
    mcp_status st = recover(self, err);

    if (st == MCP_OK)
        st = guard_make_dir(&fd, self->parent_fd, self->temporary, err);
    if (st != MCP_OK)
        return st;
    st = write_files(self, fd, options && options->states, err);
    close(fd);
    if (st == MCP_OK)
        st = replace(self, err);
    else
        remove_policy(self, self->temporary, NULL);
    return st;
}

/* Open the folder that holds the policy, made if need be, and name what will be in it. */
static mcp_status find_place(struct saving *self, int dir_fd, const char *path, mcp_error *err)
{
    char plain[POLICY_PATH_SIZE];
    mcp_status st = policy_path_plain(plain, path, err);

    if (st != MCP_OK)
        return st;
    char *slash = strrchr(plain, '/');
    const char *name = slash ? slash + 1 : plain;
    snprintf(self->name, sizeof self->name, "%s", name);
    snprintf(self->temporary, sizeof self->temporary, "%s.tmp", name);
    snprintf(self->old, sizeof self->old, "%s.old", name);
    if (slash)
        *slash = '\0';
    if (slash)
        return guard_make_dir(&self->parent_fd, dir_fd, plain, err);
    self->parent_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    return self->parent_fd >= 0 ? MCP_OK : say_errno(path, err);
}

mcp_status policy_prepare(int dir_fd, const char *path, mcp_error *err)
{
    struct saving saving = { .parent_fd = -1 };
    mcp_status st = find_place(&saving, dir_fd, path, err);

    if (st != MCP_OK)
        return st;
    st = recover(&saving, err);
    close(saving.parent_fd);
    return st;
}

mcp_status policy_save(int dir_fd, const char *path, const policy *self,
                       const policy_save_options *options, mcp_error *err)
{
    struct saving saving = { .policy = self,
                             .flushes_each = self->stage_count <= FLUSHED_EACH,
                             .parent_fd = -1 };
    mcp_status st = find_place(&saving, dir_fd, path, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&saving.bytes, POLICY_FILE_MAX);
    st = save(&saving, options, err);
    mcp_buf_clear(&saving.bytes);
    close(saving.parent_fd);
    return st;
}
