/*
 * checkpoint_file.c - the last checkpoint of each workspace that the file has; those behind it.
 *
 * The file is opened for each append, so that it can be moved away. What is appended in one go is
 * taken back when it does not get in whole; a process that is killed meanwhile leaves a piece,
 * which the next one ends with an empty line.
 */
#include "service/trail/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/notes.h"
#include "service/trail/checkpoints.h"

/* Of one append: workspaces that are looked at, and checkpoints that are written. */
enum { WORKSPACES = 200, NOTES = 200, ARENA_MAX = 8 << 20 };

static const char prefix[] = "portarium/"; /* of an origin */

/* How far the file is, of a workspace. */
typedef struct position {
    char *workspace;
    uint64_t size;
} position;

struct portarium_checkpoint_file {
    const char *path;
    portarium_key key;
    position *positions; /* in the order of workspaces */
    size_t count, room;
};

/* ---- positions ------------------------------------------------------------------------------- */

/* Where the workspace is, or would be. */
static size_t place_of(const portarium_checkpoint_file *self, const char *workspace)
{
    size_t from = 0, to = self->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(self->positions[middle].workspace, workspace) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint64_t size_of(const portarium_checkpoint_file *self, const char *workspace)
{
    size_t at = place_of(self, workspace);
    bool is_there = at < self->count && strcmp(self->positions[at].workspace, workspace) == 0;
    return is_there ? self->positions[at].size : 0;
}

static bool make_room(portarium_checkpoint_file *self)
{
    if (self->count < self->room)
        return true;
    size_t room = self->room > 0 ? self->room * 2 : 64;
    position *longer = reallocarray(self->positions, room, sizeof *longer);
    if (!longer)
        return false;
    self->positions = longer;
    self->room = room;
    return true;
}

static mcp_status put(portarium_checkpoint_file *self, const char *workspace, uint64_t size,
                      mcp_error *err)
{
    size_t at = place_of(self, workspace);
    if (at < self->count && strcmp(self->positions[at].workspace, workspace) == 0) {
        if (self->positions[at].size < size)
            self->positions[at].size = size;
        return MCP_OK;
    }
    char *copy = strdup(workspace);
    if (!copy || !make_room(self)) {
        free(copy);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the checkpoints of %s", self->path);
    }
    memmove(&self->positions[at + 1], &self->positions[at],
            (self->count - at) * sizeof *self->positions);
    self->positions[at] = (position){ .workspace = copy, .size = size };
    self->count++;
    return MCP_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static mcp_status fails(const portarium_checkpoint_file *self, const char *what, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_IO, "%s cannot be %s: %s", self->path, what, strerror(errno));
}

static int open_file(const portarium_checkpoint_file *self)
{
    return open(self->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
}

/* A checkpoint that the file has. One of another key, or a broken one, does not count. */
static mcp_status on_note(const portarium_stored_note *note, void *data, mcp_error *err)
{
    portarium_checkpoint_file *self = data;
    portarium_checkpoint checkpoint;
    bool is_ours = strncmp(note->origin, prefix, sizeof prefix - 1) == 0 &&
                   portarium_checkpoint_open(&checkpoint, note->note, note->length, &self->key,
                                             NULL) == MCP_OK;
    return is_ours ? put(self, note->origin + sizeof prefix - 1, note->size, err) : MCP_OK;
}

static mcp_status read_all(portarium_checkpoint_file *self, mcp_error *err)
{
    struct stat about;
    int fd = open_file(self);
    if (fd < 0)
        return fails(self, "opened", err);
    bool is_regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    FILE *file = is_regular ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return is_regular ? fails(self, "read", err)
                          : mcp_error_set(err, MCP_E_IO, "%s is not a regular file", self->path);
    }
    mcp_status st = portarium_notes_read(file, on_note, self, err);
    fclose(file);
    return st;
}

/* Whether the file ends with the end of a checkpoint. */
static bool has_end(int fd, off_t size)
{
    char last[2];
    return size == 0 ||
           (size >= 2 && pread(fd, last, 2, size - 2) == 2 && memcmp(last, "\n\n", 2) == 0);
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return fdatasync(fd) == 0;
}

/* With the lock. */
static mcp_status append_text(const portarium_checkpoint_file *self, int fd, const mcp_buf *text,
                              mcp_error *err)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return fails(self, "read", err);
    if ((has_end(fd, about.st_size) || write_all(fd, "\n\n", 2)) &&
        write_all(fd, text->data, text->length))
        return MCP_OK;
    mcp_status st = fails(self, "written", err);
    if (ftruncate(fd, about.st_size) != 0)
        return mcp_error_set(err, MCP_E_IO, "%s cannot be written, and has a piece at its end: %s",
                             self->path, strerror(errno));
    return st;
}

static mcp_status write_text(const portarium_checkpoint_file *self, const mcp_buf *text,
                             mcp_error *err)
{
    int fd = open_file(self);
    if (fd < 0)
        return fails(self, "opened", err);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return mcp_error_set(err, MCP_E_BUSY, "%s is locked by another process", self->path);
    }
    mcp_status st = append_text(self, fd, text, err);
    close(fd);
    return st;
}

/* ---- the database ---------------------------------------------------------------------------- */

typedef struct note {
    const char *workspace, *text;
    size_t length;
    uint64_t size;
} note;

/* A page of workspaces, and the checkpoints of these that the file lacks. */
typedef struct page {
    const portarium_checkpoint_file *file;
    const char *after; /* the last workspace before; "": none */
    const char *behind[WORKSPACES], *last;
    size_t workspace_count, behind_count, note_count;
    note notes[NOTES];
} page;

static mcp_status find_behind(page *self, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(self->after), db_int(WORKSPACES) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT h.workspace, COALESCE((SELECT MAX(c.size) FROM checkpoints c "
                             "WHERE c.workspace = h.workspace), 0) FROM heads h WHERE "
                             "h.workspace > $1 ORDER BY h.workspace LIMIT $2",
                             values, 2, err);
    while (portarium_next(rows, &st, err) && self->workspace_count < WORKSPACES) {
        self->last = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
        if (!self->last)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a workspace");
        else if ((uint64_t)db_int_at(rows, 1) > size_of(self->file, self->last))
            self->behind[self->behind_count++] = self->last;
        self->workspace_count++;
    }
    db_rows_free(rows);
    return st;
}

static mcp_status read_notes(page *self, const char *workspace, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(workspace), db_int((int64_t)size_of(self->file, workspace)),
                          db_int((int64_t)(NOTES - self->note_count)) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT size, note FROM checkpoints WHERE workspace = $1 AND "
                             "size > $2 ORDER BY size LIMIT $3",
                             values, 3, err);
    while (portarium_next(rows, &st, err) && self->note_count < NOTES) {
        note *next = &self->notes[self->note_count++];
        const char *text = db_text_at(rows, 1, &next->length);
        next->workspace = workspace;
        next->size = (uint64_t)db_int_at(rows, 0);
        next->text = mcp_arena_strndup(tx->arena, text, next->length);
        if (!next->text)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a checkpoint");
    }
    db_rows_free(rows);
    return st;
}

static mcp_status read_page(portarium_tx *tx, void *data, mcp_error *err)
{
    page *self = data;
    self->workspace_count = self->behind_count = self->note_count = 0;
    mcp_status st = find_behind(self, tx, err);
    for (size_t i = 0; st == MCP_OK && i < self->behind_count && self->note_count < NOTES; i++)
        st = read_notes(self, self->behind[i], tx, err);
    return st;
}

/* ---- appending ------------------------------------------------------------------------------- */

static mcp_status write_page(portarium_checkpoint_file *self, const page *what, mcp_error *err)
{
    mcp_buf text;
    mcp_buf_init(&text, (size_t)NOTES * (PORTARIUM_NOTE_MAX + 1));
    for (size_t i = 0; i < what->note_count; i++) {
        mcp_buf_append(&text, what->notes[i].text, what->notes[i].length);
        mcp_buf_putc(&text, '\n');
    }
    mcp_status st = text.status == MCP_OK
                        ? write_text(self, &text, err)
                        : mcp_error_set(err, text.status, "no memory for checkpoints");
    mcp_buf_clear(&text);
    for (size_t i = 0; st == MCP_OK && i < what->note_count; i++)
        st = put(self, what->notes[i].workspace, what->notes[i].size, err);
    return st;
}

/* One page. @param after the last workspace before it, then that of this page. @param is_last there
 * is nothing behind it */
static mcp_status append_page(portarium_checkpoint_file *self, portarium_committer *committer,
                              char after[PORTARIUM_ID_MAX + 1], bool *is_last, mcp_error *err)
{
    static const portarium_actor actor = { .subject = "system:upkeep" };
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    page *what = arena ? mcp_arena_alloc(arena, sizeof *what) : NULL;
    const portarium_tx as = { .arena = arena, .actor = &actor };
    mcp_status st = what ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for checkpoints");
    if (st == MCP_OK) {
        *what = (page){ .file = self, .after = after };
        st = portarium_view(committer, &as, read_page, what, err);
    }
    if (st == MCP_OK && what->note_count > 0)
        st = write_page(self, what, err);
    bool is_whole = st == MCP_OK && what->note_count < NOTES; /* else it is read once more */
    *is_last = is_whole && what->workspace_count < WORKSPACES;
    if (is_whole && what->last)
        snprintf(after, PORTARIUM_ID_MAX + 1, "%s", what->last);
    mcp_arena_free(arena);
    return st;
}

mcp_status portarium_checkpoint_file_append(portarium_checkpoint_file *self,
                                            portarium_committer *committer, mcp_error *err)
{
    char after[PORTARIUM_ID_MAX + 1] = "";
    bool is_last = false;
    mcp_status st = MCP_OK;
    while (st == MCP_OK && !is_last)
        st = append_page(self, committer, after, &is_last, err);
    return st;
}

mcp_status portarium_checkpoint_file_open(portarium_checkpoint_file **out, const char *path,
                                          const keys_pair *pair, mcp_error *err)
{
    portarium_checkpoint_file *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %s", path);
    self->path = path;
    self->key.name = PORTARIUM_SIGNER;
    keys_pair_public(pair, self->key.bytes);
    mcp_status st = read_all(self, err);
    if (st != MCP_OK) {
        portarium_checkpoint_file_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_checkpoint_file_free(portarium_checkpoint_file *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        free(self->positions[i].workspace);
    free(self->positions);
    free(self);
}
