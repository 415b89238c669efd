/*
 * commit.c - from a sink that has all its rows to outputs that are there.
 *
 * Prepare ends the writers, all at once, and waits for each; takes the locks of the folders; writes
 * the manifest of each under a temporary name; and makes the intent. All that apply does then is a
 * transaction of a database, if the job has one, and renames. What a crash leaves is settled in
 * settle.c. The folder of the database, else that of the first output, is the home (intent.h).
 */
#include "sinks/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault/fault.h"
#include "guard/paths.h"
#include "keys/canonical.h"
#include "mcp/alloc.h"
#include "sinks/duckdb.h"
#include "sinks/intent.h"
#include "sinks/lock.h"
#include "sinks/sink_int.h"

#define MANIFESTS_MAX ((size_t)1 << 30) /* bytes of all manifests of a folder, read */

struct casparian_commit {
    casparian_sink *sink; /* its arena has all texts */
    size_t dir_count;     /* folders that are written to; the home is the first */
    const struct sink_folder *folders[CASPARIAN_SINK_PLACES_MAX];
    sink_dir dirs[CASPARIAN_SINK_PLACES_MAX]; /* the same, for intents and locks */
    sink_lock locks[CASPARIAN_SINK_PLACES_MAX];
    char hashes[CASPARIAN_SINK_PLACES_MAX][CASPARIAN_HASH_SIZE]; /* of their manifests */
    casparian_written *written;
    size_t count;
    const casparian_sink_uri *database; /* NULL: none */
    duckdb_stage *stages;
    size_t stage_count;
    intent intent;
    char *text; /* of the intent */
};

static mcp_status say_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
}

/* ---- the folders ----------------------------------------------------------------------------- */

/* A quarantine table that got no rows is none. */
static void drop_empty(casparian_sink *sink)
{
    size_t kept = 0;

    for (size_t i = 0; i < sink->count; i++) {
        casparian_sink_output *output = sink->outputs[i];
        if (!output->is_quarantine || output->rows > 0)
            sink->outputs[kept++] = output;
        else
            writer_free(output->writer);
    }
    sink->count = kept;
}

static void add_folder(casparian_commit *self, const struct sink_folder *folder)
{
    for (size_t i = 0; i < self->dir_count; i++)
        if (self->folders[i] == folder)
            return;
    self->folders[self->dir_count] = folder;
    self->dirs[self->dir_count++] = (sink_dir){ folder->path, folder->fd };
}

/* A job without outputs has a manifest in the folder of its first place. */
static void list_folders(casparian_commit *self)
{
    const casparian_sink *sink = self->sink;

    for (size_t i = 0; i < sink->count && !self->database; i++)
        if (sink_is_staged(sink->outputs[i])) {
            self->database = &sink->outputs[i]->place->uri;
            add_folder(self, sink_folder_of(sink->outputs[i]));
        }
    for (size_t i = 0; i < sink->count; i++)
        add_folder(self, sink_folder_of(sink->outputs[i]));
    if (self->dir_count == 0)
        add_folder(self, &sink->folders[0]);
}

/* ---- the files ------------------------------------------------------------------------------- */

static mcp_status describe(casparian_commit *self, size_t i, const writer_result *result,
                           mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    const casparian_sink_output *output = sink->outputs[i];
    const casparian_sink_uri *uri = &output->place->uri;
    bool is_staged = sink_is_staged(output);
    casparian_written *written = &self->written[i];

    *written = (casparian_written){
        .output = output->definition->output,
        .is_quarantine = output->is_quarantine,
        .is_inferred = output->is_inferred,
        .definition = output->definition,
        .sink = uri,
        .format = casparian_sink_kind_text(uri->kind),
        .location = mcp_arena_printf(sink->arena, is_staged ? "%s#%s" : "%s/%s", uri->path,
                                     is_staged ? output->names.table : output->file),
        .file = is_staged ? strrchr(uri->path, '/') + 1 : output->file,
        .table = output->names.table,
        .protocol_hash = output->names.protocol_hash,
        .rows = output->rows,
        .bytes = result->bytes,
    };
    if (!is_staged)
        memcpy(written->sha256, result->sha256, sizeof written->sha256);
    for (size_t k = 0; k < self->dir_count; k++)
        if (self->folders[k] == sink_folder_of(output))
            written->manifest_sha256 = self->hashes[k];
    mcp_status st = sink_target_key(written->target_key, uri, &output->names, err);
    return st == MCP_OK && !written->location ? say_memory(err) : st;
}

static mcp_status finish_writers(casparian_commit *self, mcp_error *err)
{
    casparian_sink *sink = self->sink;
    mcp_status st = MCP_OK;

    self->written = mcp_arena_array(sink->arena, sink->count, sizeof *self->written);
    if (!self->written)
        return say_memory(err);
    for (size_t i = 0; i < sink->count; i++)
        writer_end(sink->outputs[i]->writer);
    for (size_t i = 0; i < sink->count && st == MCP_OK; i++) {
        writer_result result = { .bytes = 0 };
        st = writer_wait(sink->outputs[i]->writer, &result, err);
        if (st == MCP_OK)
            st = describe(self, i, &result, err);
        if (st == MCP_OK)
            self->count++;
        FAULT_POINT("commit");
    }
    return st;
}

/* ---- the intent ------------------------------------------------------------------------------ */

static mcp_status check_free(const casparian_commit *self, mcp_error *err)
{
    for (size_t i = 0; i < self->intent.folder_count; i++) {
        const intent_folder *folder = &self->intent.folders[i];
        for (size_t k = 0; k < folder->pair_count; k++)
            if (guard_is_taken(self->dirs[i].fd, folder->pairs[k].final))
                return mcp_error_set(
                    err, MCP_E_EXISTS,
                    "'%.80s' exists: a job %.20s of another home has written to '%.150s'",
                    folder->pairs[k].final, self->sink->job, folder->dir);
    }
    return MCP_OK;
}

/* The rows of a database, as files next to it. */
static mcp_status list_stages(casparian_commit *self, mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    const char **names = mcp_arena_array(sink->arena, sink->count, sizeof *names);

    self->stages = mcp_arena_array(sink->arena, sink->count, sizeof *self->stages);
    if (!names || !self->stages)
        return say_memory(err);
    for (size_t i = 0; i < sink->count; i++) {
        const casparian_sink_output *output = sink->outputs[i];
        if (!sink_is_staged(output))
            continue;
        const char *temporary = mcp_arena_printf(sink->arena, "%s.tmp", output->hidden);
        if (!temporary)
            return say_memory(err);
        names[self->stage_count] = temporary;
        self->stages[self->stage_count++] = (duckdb_stage){ temporary, output->names.table,
                                                            output->place->uri.mode };
    }
    self->intent.stages = names;
    self->intent.stage_count = self->stage_count;
    return MCP_OK;
}

/* The pairs of the files in a folder, and the manifest's. */
static mcp_status make_pairs(intent_folder *out, const casparian_commit *self, size_t at,
                             mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    mcp_arena *arena = sink->arena;
    intent_pair *pairs = mcp_arena_array(arena, sink->count + 1, sizeof *pairs);
    size_t count = 0;

    if (!pairs)
        return say_memory(err);
    for (size_t i = 0; i < sink->count; i++) {
        const casparian_sink_output *output = sink->outputs[i];
        if (sink_folder_of(output) != self->folders[at] || sink_is_staged(output))
            continue;
        pairs[count] = (intent_pair){ mcp_arena_printf(arena, "%s.tmp", output->hidden),
                                      output->file };
        if (!pairs[count++].temporary)
            return say_memory(err);
    }
    pairs[count] = (intent_pair){
        mcp_arena_printf(arena, "%s/.%s.%d.manifest.json.tmp", CASPARIAN_MANIFEST_DIR, sink->job,
                         sink->attempt),
        mcp_arena_printf(arena, "%s/%s.manifest.json", CASPARIAN_MANIFEST_DIR, sink->job),
    };
    *out = (intent_folder){ self->dirs[at].path, pairs, count + 1 };
    return pairs[count].temporary && pairs[count].final ? MCP_OK : say_memory(err);
}

static mcp_status fill_intent(casparian_commit *self, mcp_error *err)
{
    intent_folder *folders = mcp_arena_array(self->sink->arena, self->dir_count, sizeof *folders);
    mcp_status st = folders ? MCP_OK : say_memory(err);

    for (size_t i = 0; i < self->dir_count && st == MCP_OK; i++)
        st = make_pairs(&folders[i], self, i, err);
    if (st != MCP_OK)
        return st;
    self->intent = (intent){ .folders = folders, .folder_count = self->dir_count };
    return self->database ? list_stages(self, err) : MCP_OK;
}

/* The marker has the name of the stage of the whole job: no output has an empty name. */
static mcp_status name_marker(casparian_commit *self, mcp_error *err)
{
    char marker[CASPARIAN_FILE_NAME_SIZE];
    mcp_status st = casparian_stage_name(marker, "", self->sink->job, err);

    if (st != MCP_OK)
        return st;
    self->intent.database = self->database->path;
    self->intent.marker = mcp_arena_strdup(self->sink->arena, marker);
    return self->intent.marker ? MCP_OK : say_memory(err);
}

static mcp_status make_intent(casparian_commit *self, mcp_error *err)
{
    mcp_buf text;
    mcp_status st = fill_intent(self, err);

    if (st == MCP_OK && self->database)
        st = name_marker(self, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, CASPARIAN_INTENT_MAX);
    st = intent_write(&text, &self->intent);
    if (st == MCP_OK)
        self->text = mcp_buf_take(&text, NULL);
    else
        mcp_error_set(err, st, "the intent of a commit: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

/* ---- the manifest ---------------------------------------------------------------------------- */

static mcp_status put_file(int dir_fd, const char *name, const mcp_buf *bytes, mcp_error *err)
{
    int fd = openat(dir_fd, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    size_t done = 0;

    if (fd < 0)
        return mcp_error_errno(err, errno, "'%.100s' cannot be made", name);
    while (done < bytes->length) {
        ssize_t put = write(fd, bytes->data + done, bytes->length - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            break;
        done += (size_t)put;
    }
    bool is_written = done == bytes->length && fsync(fd) == 0;
    int why = errno;
    if (close(fd) == 0 && is_written)
        return MCP_OK;
    mcp_error_errno(err, is_written ? errno : why, "'%.100s' cannot be written", name);
    unlinkat(dir_fd, name, 0);
    return MCP_E_IO;
}

static mcp_status find_previous(const char **out, const casparian_sink *sink, int dir_fd,
                                mcp_error *err)
{
    const casparian_manifest *all = NULL;
    size_t count = 0;
    mcp_arena *arena = mcp_arena_new(MANIFESTS_MAX);
    mcp_status st = arena ? casparian_manifests_read(&all, &count, dir_fd, arena, err)
                          : say_memory(err);
    const char *head = NULL;

    if (st == MCP_OK)
        st = casparian_manifests_head(&head, all, count, arena, err);
    *out = head ? mcp_arena_strdup(sink->arena, head) : NULL;
    mcp_arena_free(arena);
    return st == MCP_OK && head && !*out ? say_memory(err) : st;
}

/* The outputs of a folder. */
static mcp_status list_outputs(casparian_manifest_outcome *out, const casparian_commit *self,
                               size_t at, mcp_error *err)
{
    casparian_manifest_output *all = mcp_arena_array(self->sink->arena, self->count, sizeof *all);
    size_t count = 0;

    if (!all)
        return say_memory(err);
    for (size_t i = 0; i < self->count; i++) {
        const casparian_written *written = &self->written[i];
        const casparian_sink_output *output = self->sink->outputs[i];
        bool is_staged = sink_is_staged(output);
        if (sink_folder_of(output) != self->folders[at])
            continue;
        all[count++] = (casparian_manifest_output){
            .name = output->names.name,
            .file = written->file,
            .table = is_staged ? written->table : NULL,
            .schema_hash = written->is_quarantine ? NULL : written->definition->hash,
            .rows = written->rows,
            .bytes = written->bytes,
            .sha256 = is_staged ? NULL : written->sha256,
        };
    }
    out->outputs = all;
    out->output_count = count;
    return MCP_OK;
}

static mcp_status write_manifest(casparian_commit *self, size_t at,
                                 const casparian_manifest_facts *facts, mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    const intent_folder *folder = &self->intent.folders[at];
    casparian_manifest_outcome outcome = { .job = sink->job,
                                           .plugin = sink->plugin,
                                           .version = sink->version };
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf bytes;
    mcp_status st = find_previous(&outcome.previous, sink, self->dirs[at].fd, err);

    if (st == MCP_OK)
        st = list_outputs(&outcome, self, at, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&bytes, CASPARIAN_MANIFEST_MAX);
    st = casparian_manifest_write(&bytes, facts, &outcome, err);
    if (st == MCP_OK)
        st = mcp_sha256(digest, bytes.data, bytes.length, err);
    if (st == MCP_OK) {
        keys_hex(self->hashes[at], digest);
        st = put_file(self->dirs[at].fd, folder->pairs[folder->pair_count - 1].temporary, &bytes,
                      err);
    }
    mcp_buf_clear(&bytes);
    return st;
}

/* ---- prepare --------------------------------------------------------------------------------- */

/* Wait until the disk has the temporary names. */
static mcp_status sync_folder(const casparian_commit *self, size_t at, mcp_error *err)
{
    if (fsync(self->locks[at].manifests_fd) == 0 && fsync(self->dirs[at].fd) == 0)
        return MCP_OK;
    return mcp_error_errno(err, errno, "the sink's folder '%.200s'", self->dirs[at].path);
}

/* The manifest of each folder, and the disk has all of it. */
static mcp_status write_manifests(casparian_commit *self, const casparian_manifest_facts *facts,
                                  mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < self->dir_count && st == MCP_OK; i++) {
        st = write_manifest(self, i, facts, err);
        if (st == MCP_OK)
            st = sync_folder(self, i, err);
        FAULT_POINT("commit");
    }
    return st;
}

static mcp_status prepare(casparian_commit *self, const casparian_manifest_facts *facts,
                          mcp_error *err)
{
    casparian_sink *sink = self->sink;
    mcp_status st = sink->failure.status;

    if (st != MCP_OK) {
        if (err)
            *err = sink->failure;
        return st;
    }
    if (sink->files)
        return mcp_error_set(err, MCP_E_PARAMS, "a source file of job %.20s has not ended",
                             sink->job);
    drop_empty(sink);
    list_folders(self);
    st = finish_writers(self, err);
    if (st == MCP_OK)
        st = make_intent(self, err);
    if (st == MCP_OK)
        st = sink_locks_take(self->locks, self->dirs, self->dir_count,
                             intent_database_name(&self->intent), err);
    if (st == MCP_OK)
        st = check_free(self, err);
    return st == MCP_OK ? write_manifests(self, facts, err) : st;
}

/* Remove what was prepared: the files of the outputs, and the manifests. */
static void remove_temporaries(casparian_commit *self)
{
    const casparian_sink *sink = self->sink;

    for (size_t i = 0; i < sink->count; i++) {
        char name[CASPARIAN_FILE_NAME_SIZE + 8];
        snprintf(name, sizeof name, "%s.tmp", sink->outputs[i]->hidden);
        unlinkat(sink_folder_of(sink->outputs[i])->fd, name, 0);
    }
    for (size_t i = 0; i < self->intent.folder_count; i++) {
        const intent_folder *folder = &self->intent.folders[i];
        unlinkat(self->dirs[i].fd, folder->pairs[folder->pair_count - 1].temporary, 0);
    }
}

mcp_status casparian_commit_prepare(casparian_commit **out, casparian_sink *sink,
                                    const casparian_manifest_facts *facts, mcp_error *err)
{
    static const sink_lock none = SINK_LOCK_INIT;
    casparian_commit *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self) {
        casparian_sink_free(sink);
        return say_memory(err);
    }
    self->sink = sink;
    for (size_t i = 0; i < CASPARIAN_SINK_PLACES_MAX; i++)
        self->locks[i] = none;
    mcp_status st = prepare(self, facts, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_commit_abort(self);
    return st;
}

const casparian_written *casparian_commit_written(const casparian_commit *self, size_t *count)
{
    *count = self->count;
    return self->written;
}

const char *casparian_commit_manifest_hash(const casparian_commit *self, size_t at)
{
    return at < self->dir_count ? self->hashes[at] : NULL;
}

const char *casparian_commit_intent(const casparian_commit *self)
{
    return self->text;
}

/* ---- apply ----------------------------------------------------------------------------------- */

static mcp_status load_database(casparian_commit *self, mcp_error *err)
{
    const duckdb_load load = { .file = { self->dirs[0].fd, intent_database_name(&self->intent) },
                               .marker = self->intent.marker,
                               .stages = self->stages,
                               .count = self->stage_count };
    mcp_status st = casparian_duckdb_load(&load, err);

    FAULT_POINT("commit");
    return st;
}

mcp_status casparian_commit_apply(casparian_commit *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    FAULT_POINT("commit");
    if (self->database)
        st = load_database(self, err);
    if (st == MCP_OK)
        st = intent_rename(&self->intent, self->dirs, err);
    if (st == MCP_OK && self->database) {
        st = intent_unmark(&self->intent, self->dirs, err);
        FAULT_POINT("commit");
    }
    if (st == MCP_OK)
        intent_remove_stages(&self->intent, self->dirs);
    return st;
}

void casparian_commit_abort(casparian_commit *self)
{
    if (!self)
        return;
    remove_temporaries(self);
    casparian_commit_free(self);
}

void casparian_commit_free(casparian_commit *self)
{
    if (!self)
        return;
    sink_locks_release(self->locks, self->dir_count);
    casparian_sink_free(self->sink);
    free(self->text);
    free(self);
}
