/*
 * commit.c - from a sink that has all its rows to outputs that are there.
 *
 * Prepare ends the writers, all at once, and waits for each; takes the folder's lock; writes the
 * manifest under a temporary name; and makes the intent. All that apply does then is a transaction
 * of a database, if the sink is one, and renames. What a crash leaves is settled in intent.c.
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
    sink_lock lock;
    casparian_written *written;
    size_t count;
    duckdb_stage *stages; /* of DuckDB, one a table */
    intent intent;
    char *text; /* of the intent */
    char manifest_hash[CASPARIAN_HASH_SIZE];
    bool is_database;
};

static mcp_status say_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a commit");
}

/* ---- the files ------------------------------------------------------------------------------- */

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

static mcp_status describe(casparian_commit *self, size_t i, const writer_result *result,
                           mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    const casparian_sink_output *output = sink->outputs[i];
    const char *name = strrchr(sink->uri.path, '/') + 1;
    casparian_written *written = &self->written[i];

    *written = (casparian_written){
        .output = output->definition->output,
        .is_quarantine = output->is_quarantine,
        .is_inferred = output->is_inferred,
        .definition = output->definition,
        .format = casparian_sink_kind_text(sink->uri.kind),
        .location = mcp_arena_printf(sink->arena, self->is_database ? "%s#%s" : "%s/%s",
                                     sink->uri.path,
                                     self->is_database ? output->names.table : output->file),
        .file = self->is_database ? name : output->file,
        .table = output->names.table,
        .protocol_hash = output->names.protocol_hash,
        .rows = output->rows,
        .bytes = result->bytes,
    };
    if (!self->is_database)
        memcpy(written->sha256, result->sha256, sizeof written->sha256);
    mcp_status st = sink_target_key(written->target_key, &sink->uri, &output->names, err);
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
    for (size_t i = 0; i < self->intent.pair_count; i++)
        if (guard_is_taken(self->sink->dir_fd, self->intent.pairs[i].final))
            return mcp_error_set(err, MCP_E_EXISTS,
                                 "'%.80s' exists: a job %.20s of another home has written here",
                                 self->intent.pairs[i].final, self->sink->job);
    return MCP_OK;
}

/* The pairs of the outputs and the manifest's; of DuckDB the latter alone. */
static mcp_status make_pairs(casparian_commit *self, mcp_error *err)
{
    casparian_sink *sink = self->sink;
    mcp_arena *arena = sink->arena;
    intent_pair *pairs = mcp_arena_array(arena, sink->count + 1, sizeof *pairs);
    const char **stages = mcp_arena_array(arena, sink->count, sizeof *stages);
    size_t count = 0;

    self->stages = mcp_arena_array(arena, sink->count, sizeof *self->stages);
    if (!pairs || !stages || !self->stages)
        return say_memory(err);
    for (size_t i = 0; i < sink->count; i++) {
        const casparian_sink_output *output = sink->outputs[i];
        const char *temporary = mcp_arena_printf(arena, "%s.tmp", output->hidden);
        if (!temporary)
            return say_memory(err);
        stages[i] = temporary;
        self->stages[i] = (duckdb_stage){ temporary, output->names.table };
        if (!self->is_database)
            pairs[count++] = (intent_pair){ temporary, output->file };
    }
    pairs[count] = (intent_pair){
        mcp_arena_printf(arena, "%s/.%s.manifest.json.tmp", CASPARIAN_MANIFEST_DIR, sink->job),
        mcp_arena_printf(arena, "%s/%s.manifest.json", CASPARIAN_MANIFEST_DIR, sink->job),
    };
    if (!pairs[count].temporary || !pairs[count].final)
        return say_memory(err);
    self->intent = (intent){ .dir = sink->uri.dir, .pairs = pairs, .pair_count = count + 1 };
    if (self->is_database) {
        self->intent.database = sink->uri.path;
        self->intent.stages = stages;
        self->intent.stage_count = sink->count;
    }
    return MCP_OK;
}

/* The marker has the name of the stage of the whole job: no output has an empty name. */
static mcp_status make_intent(casparian_commit *self, mcp_error *err)
{
    char marker[CASPARIAN_FILE_NAME_SIZE];
    mcp_buf text;
    mcp_status st = casparian_stage_name(marker, "", self->sink->job, err);

    if (st == MCP_OK && self->is_database) {
        self->intent.marker = mcp_arena_strdup(self->sink->arena, marker);
        st = self->intent.marker ? MCP_OK : say_memory(err);
    }
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

static mcp_status find_previous(const char **out, const casparian_sink *sink, mcp_error *err)
{
    const casparian_manifest *all = NULL;
    size_t count = 0;
    mcp_arena *arena = mcp_arena_new(MANIFESTS_MAX);
    mcp_status st = arena ? casparian_manifests_read(&all, &count, sink->dir_fd, arena, err)
                          : say_memory(err);
    const char *head = NULL;

    if (st == MCP_OK)
        st = casparian_manifests_head(&head, all, count, arena, err);
    *out = head ? mcp_arena_strdup(sink->arena, head) : NULL;
    mcp_arena_free(arena);
    return st == MCP_OK && head && !*out ? say_memory(err) : st;
}

static mcp_status list_outputs(casparian_manifest_output **out, const casparian_commit *self,
                               mcp_error *err)
{
    casparian_manifest_output *all = mcp_arena_array(self->sink->arena, self->count, sizeof *all);

    if (!all)
        return say_memory(err);
    for (size_t i = 0; i < self->count; i++) {
        const casparian_written *written = &self->written[i];
        all[i] = (casparian_manifest_output){
            .name = self->sink->outputs[i]->names.name,
            .file = written->file,
            .table = self->is_database ? written->table : NULL,
            .schema_hash = written->is_quarantine ? NULL : written->definition->hash,
            .rows = written->rows,
            .bytes = written->bytes,
            .sha256 = self->is_database ? NULL : written->sha256,
        };
    }
    *out = all;
    return MCP_OK;
}

static mcp_status write_manifest(casparian_commit *self, const casparian_manifest_facts *facts,
                                 mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    casparian_manifest_output *outputs = NULL;
    casparian_manifest_outcome outcome = { .job = sink->job,
                                           .plugin = sink->plugin,
                                           .version = sink->version,
                                           .output_count = self->count };
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf bytes;
    mcp_status st = find_previous(&outcome.previous, sink, err);

    if (st == MCP_OK)
        st = list_outputs(&outputs, self, err);
    if (st != MCP_OK)
        return st;
    outcome.outputs = outputs;
    mcp_buf_init(&bytes, CASPARIAN_MANIFEST_MAX);
    st = casparian_manifest_write(&bytes, facts, &outcome, err);
    if (st == MCP_OK)
        st = mcp_sha256(digest, bytes.data, bytes.length, err);
    if (st == MCP_OK) {
        keys_hex(self->manifest_hash, digest);
        st = put_file(sink->dir_fd, self->intent.pairs[self->intent.pair_count - 1].temporary,
                      &bytes, err);
    }
    mcp_buf_clear(&bytes);
    return st;
}

/* ---- prepare --------------------------------------------------------------------------------- */

/* Wait until the disk has the temporary names. */
static mcp_status sync_folders(const casparian_commit *self, mcp_error *err)
{
    if (fsync(self->lock.manifests_fd) == 0 && fsync(self->sink->dir_fd) == 0)
        return MCP_OK;
    return mcp_error_errno(err, errno, "the sink's folder");
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
    st = finish_writers(self, err);
    if (st == MCP_OK)
        st = make_pairs(self, err);
    if (st == MCP_OK)
        st = make_intent(self, err);
    if (st == MCP_OK)
        st = sink_lock_take(&self->lock, sink->dir_fd,
                            self->is_database ? strrchr(sink->uri.path, '/') + 1 : NULL, err);
    if (st == MCP_OK)
        st = check_free(self, err);
    if (st == MCP_OK)
        st = write_manifest(self, facts, err);
    if (st == MCP_OK)
        st = sync_folders(self, err);
    FAULT_POINT("commit");
    return st;
}

/* Remove what was prepared: the files of the outputs, and the manifest. */
static void remove_temporaries(casparian_commit *self)
{
    const casparian_sink *sink = self->sink;

    for (size_t i = 0; i < sink->count; i++) {
        char name[CASPARIAN_FILE_NAME_SIZE + 8];
        snprintf(name, sizeof name, "%s.tmp", sink->outputs[i]->hidden);
        unlinkat(sink->dir_fd, name, 0);
    }
    if (self->intent.pair_count > 0)
        unlinkat(sink->dir_fd, self->intent.pairs[self->intent.pair_count - 1].temporary, 0);
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
    self->lock = none;
    self->is_database = sink->uri.kind == CASPARIAN_SINK_DUCKDB;
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

const char *casparian_commit_manifest_hash(const casparian_commit *self)
{
    return self->manifest_hash;
}

const char *casparian_commit_intent(const casparian_commit *self)
{
    return self->text;
}

/* ---- apply ----------------------------------------------------------------------------------- */

static mcp_status load_database(casparian_commit *self, mcp_error *err)
{
    const casparian_sink *sink = self->sink;
    const duckdb_load load = { .file = { sink->dir_fd, intent_database_name(&self->intent) },
                               .marker = self->intent.marker,
                               .mode = sink->uri.mode,
                               .stages = self->stages,
                               .count = self->count };
    mcp_status st = casparian_duckdb_load(&load, err);

    FAULT_POINT("commit");
    return st;
}

mcp_status casparian_commit_apply(casparian_commit *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    FAULT_POINT("commit");
    if (self->is_database)
        st = load_database(self, err);
    if (st == MCP_OK)
        st = intent_rename(&self->intent, self->sink->dir_fd, err);
    if (st == MCP_OK && self->is_database) {
        st = intent_unmark(&self->intent, self->sink->dir_fd, err);
        FAULT_POINT("commit");
    }
    if (st == MCP_OK)
        intent_remove_stages(&self->intent, self->sink->dir_fd);
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
    sink_lock_release(&self->lock);
    casparian_sink_free(self->sink);
    free(self->text);
    free(self);
}

/* ---- what processes have left ---------------------------------------------------------------- */

mcp_status casparian_commit_settle(bool *is_committed, const char *text, size_t length,
                                   mcp_error *err)
{
    return intent_settle(is_committed, text, length, err);
}

mcp_status casparian_commit_sweep(int dir_fd, int64_t now_ms,
                                  bool (*is_live)(void *data, const char *name), void *data,
                                  size_t *removed, mcp_error *err)
{
    return intent_sweep(dir_fd, now_ms, is_live, data, removed, err);
}
