/*
 * sink.c - tables, source files, and which rows go where.
 *
 * A batch is bound to its table first: one vector for each column of the table, in its order, of
 * its type. From then on nothing is looked up by name. Bound batches are copied, or encoded into
 * the spool; both forms reach the writer as write_rows.
 */
#include "sinks/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/alloc.h"
#include "sinks/duckdb.h"
#include "sinks/sink_int.h"

#define ARENA_MAX ((size_t)256 << 20)
#define JOB_LETTERS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
#define TEXT_MAX 200 /* of job, plugin and version */

/* Of the widest value, or an offset; and one more offset. */
#define ZEROS_SIZE ((size_t)16 * (CASPARIAN_BATCH_ROWS_MAX + 1))

/* What quarantine has between the declared columns and those of lineage. */
static const write_column quarantine_columns[] = {
    { "_error_msg", { .kind = CASPARIAN_KIND_STRING }, true },
    { "_violation_type", { .kind = CASPARIAN_KIND_STRING }, true },
    { "_violations", { .kind = CASPARIAN_KIND_STRING }, true },
    { "_source_row", { .kind = CASPARIAN_KIND_INT64 }, true },
    { "_output_row_index", { .kind = CASPARIAN_KIND_INT64 }, true },
    { "_source_path", { .kind = CASPARIAN_KIND_STRING }, true },
    { "_raw_row", { .kind = CASPARIAN_KIND_STRING }, true },
};
static const char *const lineage_names[LINEAGE_COUNT] = {
    CASPARIAN_SOURCE_HASH,
    CASPARIAN_JOB_ID,
    CASPARIAN_PROCESSED_AT,
    CASPARIAN_PARSER_VERSION,
};
enum { QUARANTINE_COUNT = sizeof quarantine_columns / sizeof quarantine_columns[0] };

static mcp_status say_failure(const casparian_sink *self, mcp_error *err)
{
    if (err && self->failure.status != MCP_OK)
        *err = self->failure;
    return self->failure.status;
}

/* ---- the sink -------------------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;

    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

static mcp_status check_options(const casparian_sink_options *options, mcp_error *err)
{
    const char *const texts[] = { options->job, options->plugin, options->version };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!texts[i] || strnlen(texts[i], TEXT_MAX) >= TEXT_MAX)
            return mcp_error_set(
                err, MCP_E_PARAMS,
                "a sink has a job, a plugin and its version, of less than %d bytes", TEXT_MAX);
    if (!*options->job || options->job[strspn(options->job, JOB_LETTERS)] != '\0')
        return mcp_error_set(err, MCP_E_PARAMS, "'%.60s' is no id of a job", options->job);
    return MCP_OK;
}

/* Copy a list of paths. NULL: no memory. */
static const char *const *copy_paths(mcp_arena *arena, const char *const *paths)
{
    size_t count = 0;

    while (paths && paths[count])
        count++;
    const char **made = mcp_arena_array(arena, count + 1, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        made[i] = mcp_arena_strdup(arena, paths[i]);
        if (!made[i])
            return NULL;
    }
    return made;
}

static mcp_status take_options(casparian_sink *self, const casparian_sink_options *options,
                               mcp_error *err)
{
    size_t first = 0;

    self->job = mcp_arena_strdup(self->arena, options->job);
    self->plugin = mcp_arena_strdup(self->arena, options->plugin);
    self->version = mcp_arena_strdup(self->arena, options->version);
    self->label = mcp_arena_printf(self->arena, "%s@%s", options->plugin, options->version);
    self->taken = copy_paths(self->arena, options->taken);
    self->attempt = options->attempt;
    self->is_single_file = options->is_single_file;
    self->memory_max = options->memory_max ? options->memory_max : CASPARIAN_SINK_MEMORY_MAX;
    if (!self->job || !self->plugin || !self->version || !self->label || !self->taken)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    return casparian_sink_add_place(&first, self, options->uri, options->dir_fd, err);
}

mcp_status casparian_sink_open(casparian_sink **out, const casparian_sink_options *options,
                               mcp_error *err)
{
    mcp_status st = check_options(options, err);

    if (st != MCP_OK)
        return st;
    casparian_sink *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    self->failure = (mcp_error)MCP_ERROR_INIT;
    self->arena = mcp_arena_new(ARENA_MAX);
    st = self->arena ? take_options(self, options, err)
                     : mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    if (st == MCP_OK)
        *out = self;
    else
        casparian_sink_free(self);
    return st;
}

static void free_file(casparian_sink_file *file)
{
    for (write_rows *rows = file->first, *next; rows; rows = next) {
        next = rows->next;
        write_rows_free(rows);
    }
    write_spool_clear(&file->spool);
    free(file);
}

void casparian_sink_free(casparian_sink *self)
{
    for (casparian_sink_file *file = self->files, *next; file; file = next) {
        next = file->next;
        free_file(file);
    }
    for (size_t i = 0; i < self->count; i++)
        writer_free(self->outputs[i]->writer);
    for (size_t i = 0; i < self->folder_count; i++)
        close(self->folders[i].fd);
    free(self->zeros);
    mcp_arena_free(self->arena);
    free(self);
}

void casparian_sink_abort(casparian_sink *self)
{
    if (self)
        casparian_sink_free(self);
}

/* ---- places ---------------------------------------------------------------------------------- */

const struct sink_folder *sink_folder_of(const casparian_sink_output *output)
{
    return &output->sink->folders[output->place->folder];
}

bool sink_is_staged(const casparian_sink_output *output)
{
    return output->place->uri.kind == CASPARIAN_SINK_DUCKDB;
}

/* The folder that is open, among those of the job: by what it is, since paths may differ. */
static mcp_status find_folder(size_t *out, casparian_sink *self, const char *path, int dir_fd,
                              mcp_error *err)
{
    struct stat about;

    if (fstat(dir_fd, &about) != 0)
        return mcp_error_errno(err, errno, "the sink's folder '%.200s'", path);
    for (*out = 0; *out < self->folder_count; ++*out)
        if (self->folders[*out].device == about.st_dev && self->folders[*out].inode == about.st_ino)
            return MCP_OK;
    const char *copy = mcp_arena_strdup(self->arena, path);
    if (!copy)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return mcp_error_errno(err, errno, "the sink's folder '%.200s'", path);
    self->folders[self->folder_count++] = (struct sink_folder){ copy, fd, about.st_dev,
                                                                about.st_ino };
    return MCP_OK;
}

/* The rows of two databases cannot change in one transaction, so one is all that a job has. */
static mcp_status check_database(const casparian_sink *self, const casparian_sink_uri *uri,
                                 size_t folder, mcp_error *err)
{
    for (const char *const *taken = self->taken; *taken; taken++)
        if (is_same_file(*taken, uri->path))
            return mcp_error_set(err, MCP_E_PARAMS, "'%.150s' is casparian's own file and no sink",
                                 *taken);
    for (size_t i = 0; i < self->place_count; i++) {
        const struct sink_place *other = &self->places[i];
        if (other->uri.kind != CASPARIAN_SINK_DUCKDB)
            continue;
        if (other->folder != folder ||
            strcmp(strrchr(other->uri.path, '/'), strrchr(uri->path, '/')) != 0)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "a job writes to one DuckDB file at most, and '%.150s' and "
                                 "'%.150s' are two",
                                 other->uri.path, uri->path);
    }
    return casparian_duckdb_check(err);
}

mcp_status casparian_sink_add_place(size_t *out, casparian_sink *self,
                                    const casparian_sink_uri *uri, int dir_fd, mcp_error *err)
{
    struct sink_place *place = &self->places[self->place_count];

    for (size_t i = 0; i < self->place_count; i++)
        if (strcmp(self->places[i].uri.text, uri->text) == 0) {
            *out = i;
            return MCP_OK;
        }
    if (self->place_count == CASPARIAN_SINK_PLACES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a job has at most %d sinks",
                             CASPARIAN_SINK_PLACES_MAX);
    size_t folder_count = self->folder_count;
    mcp_status st = find_folder(&place->folder, self, uri->dir, dir_fd, err);
    if (st == MCP_OK && uri->kind == CASPARIAN_SINK_DUCKDB)
        st = check_database(self, uri, place->folder, err);
    if (st == MCP_OK)
        st = casparian_sink_uri_move(&place->uri, self->arena, uri, uri->dir, err);
    if (st == MCP_OK)
        *out = self->place_count++;
    else if (self->folder_count > folder_count)
        close(self->folders[--self->folder_count].fd);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

casparian_sink_output *casparian_sink_find(casparian_sink *self, const char *output,
                                           bool is_quarantine)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->outputs[i]->is_quarantine == is_quarantine &&
            strcmp(self->outputs[i]->definition->output, output) == 0)
            return self->outputs[i];
    return NULL;
}

static mcp_status set_names(struct sink_names *names, const casparian_sink_uri *uri,
                            const casparian_definition *definition, unsigned flags, mcp_error *err)
{
    const char *ending = flags & CASPARIAN_SINK_QUARANTINE ? "_quarantine" : "";
    char base[CASPARIAN_FILE_NAME_SIZE];
    mcp_status st = MCP_OK;

    *names = (struct sink_names){ .name = "" };
    snprintf(names->name, sizeof names->name, "%s%s", definition->output, ending);
    snprintf(base, sizeof base, "%s%s", uri->table ? uri->table : definition->output, ending);
    if (flags & CASPARIAN_SINK_INFERRED)
        return casparian_output_table_name(names->table, base, NULL, err);
    st = casparian_definition_protocol_hash(names->protocol_hash, definition, err);
    return st == MCP_OK ? casparian_output_table_name(names->table, base, names->protocol_hash, err)
                        : st;
}

mcp_status sink_target_key(char out[CASPARIAN_HASH_SIZE], const casparian_sink_uri *uri,
                           const struct sink_names *names, mcp_error *err)
{
    const casparian_target target = { names->name, uri->text, casparian_sink_mode_text(uri->mode),
                                      names->table, names->protocol_hash };

    return casparian_target_key(out, &target, err);
}

mcp_status casparian_sink_target_key(char out[CASPARIAN_HASH_SIZE], const casparian_sink_uri *uri,
                                     const casparian_definition *definition, unsigned flags,
                                     mcp_error *err)
{
    struct sink_names names;
    mcp_status st = set_names(&names, uri, definition, flags, err);

    return st == MCP_OK ? sink_target_key(out, uri, &names, err) : st;
}

/* The name of an attempt's temporary file, without its ending. @return false: it is too long */
static bool hide(char out[CASPARIAN_FILE_NAME_SIZE], const casparian_sink_output *output,
                 int attempt)
{
    const char *ending = sink_is_staged(output) ? ".parquet" : "";
    int length = attempt > 0
                     ? snprintf(out, CASPARIAN_FILE_NAME_SIZE, ".%s%s.%d", output->file, ending,
                                attempt)
                     : snprintf(out, CASPARIAN_FILE_NAME_SIZE, ".%s%s", output->file, ending);

    return length > 0 && length < CASPARIAN_FILE_NAME_SIZE;
}

/* What the attempts before have left. */
static void remove_older(const casparian_sink_output *output)
{
    char hidden[CASPARIAN_FILE_NAME_SIZE], name[CASPARIAN_FILE_NAME_SIZE + 8];

    for (int attempt = 0; attempt < output->sink->attempt; attempt++) {
        if (!hide(hidden, output, attempt))
            continue;
        snprintf(name, sizeof name, "%s.tmp", hidden);
        unlinkat(sink_folder_of(output)->fd, name, 0);
    }
}

static mcp_status name_output(casparian_sink_output *output, unsigned flags, mcp_error *err)
{
    const casparian_sink *sink = output->sink;
    const casparian_sink_uri *uri = &output->place->uri;
    bool is_staged = sink_is_staged(output);
    mcp_status st = set_names(&output->names, uri, output->definition, flags, err);

    if (st == MCP_OK && is_staged)
        st = casparian_stage_name(output->file, output->names.name, sink->job, err);
    else if (st == MCP_OK)
        st = casparian_output_file_name(output->file, output->names.name, sink->job,
                                        casparian_sink_kind_text(uri->kind), err);
    if (st == MCP_OK && !hide(output->hidden, output, sink->attempt))
        st = mcp_error_set(err, MCP_E_LIMIT, "the name of output '%.40s' is too long",
                           output->names.name);
    if (st == MCP_OK)
        remove_older(output);
    return st;
}

static mcp_status set_columns(casparian_sink_output *output, mcp_error *err)
{
    const casparian_definition *definition = output->definition;

    output->count = definition->count + (output->is_quarantine ? QUARANTINE_COUNT : 0);
    output->columns = mcp_arena_array(output->sink->arena, output->count, sizeof *output->columns);
    output->bound = mcp_arena_array(output->sink->arena, output->count, sizeof *output->bound);
    if (!output->columns || !output->bound)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");
    for (size_t i = 0; i < definition->count; i++) {
        const casparian_column *column = &definition->columns[i];
        output->columns[i] = (write_column){ column->name, column->type,
                                             column->is_nullable || output->is_quarantine };
    }
    if (output->is_quarantine)
        memcpy(output->columns + definition->count, quarantine_columns, sizeof quarantine_columns);
    return MCP_OK;
}

/* Whether the place is free: nothing has the file's name, and no other output the table. */
static mcp_status check_place(const casparian_sink_output *output, mcp_error *err)
{
    const casparian_sink *sink = output->sink;
    const struct sink_folder *folder = sink_folder_of(output);

    for (size_t i = 0; i < sink->count; i++) {
        const casparian_sink_output *other = sink->outputs[i];
        bool is_other_place = sink_folder_of(other) != folder ||
                              sink_is_staged(other) != sink_is_staged(output);
        if (is_other_place)
            continue;
        if (strcmp(other->file, output->file) == 0 ||
            (sink_is_staged(output) && strcmp(other->names.table, output->names.table) == 0))
            return mcp_error_set(err, MCP_E_EXISTS,
                                 "the outputs '%.60s' and '%.60s' have one place, '%.60s'",
                                 other->names.name, output->names.name, output->names.table);
    }
    if (!sink_is_staged(output) && guard_is_taken(folder->fd, output->file))
        return mcp_error_set(err, MCP_E_EXISTS,
                             "'%.80s' exists: a job %.20s of another home has written to '%.80s'",
                             output->file, sink->job, folder->path);
    return MCP_OK;
}

static mcp_status open_output(casparian_sink_output *output, mcp_error *err)
{
    const casparian_sink *sink = output->sink;
    const write_options options = { .dir_fd = sink_folder_of(output)->fd,
                                    .name = output->hidden,
                                    .uri = &output->place->uri,
                                    .columns = output->columns,
                                    .count = output->count,
                                    .definition = output->definition,
                                    .lineage_names = lineage_names,
                                    .job = sink->job,
                                    .plugin = sink->label };

    return writer_open(&output->writer,
                       output->place->uri.kind == CASPARIAN_SINK_CSV ? &write_csv : &write_parquet,
                       &options, sink->version, err);
}

mcp_status casparian_sink_add(casparian_sink_output **out, casparian_sink *self, size_t place,
                              const casparian_definition *definition, unsigned flags,
                              mcp_error *err)
{
    if (self->count == CASPARIAN_SINK_OUTPUTS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a job has at most %d outputs",
                             CASPARIAN_SINK_OUTPUTS_MAX);
    casparian_sink_output *output = mcp_arena_alloc(self->arena, sizeof *output);
    if (!output)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");
    output->sink = self;
    output->place = &self->places[place];
    output->definition = definition;
    output->is_quarantine = (flags & CASPARIAN_SINK_QUARANTINE) != 0;
    output->is_inferred = (flags & CASPARIAN_SINK_INFERRED) != 0;
    output->index = self->count;
    mcp_status st = name_output(output, flags, err);
    if (st == MCP_OK)
        st = set_columns(output, err);
    if (st == MCP_OK)
        st = check_place(output, err);
    if (st == MCP_OK)
        st = open_output(output, err);
    if (st != MCP_OK)
        return st;
    self->outputs[self->count++] = output;
    *out = output;
    return MCP_OK;
}

int64_t casparian_sink_rows(const casparian_sink_output *output)
{
    return output->rows;
}

/* ---- binding --------------------------------------------------------------------------------- */

/* The vector of a column: most often it is in its place. */
static const casparian_vector *find_vector(const casparian_batch *batch, const char *name,
                                           size_t place)
{
    if (place < batch->count && strcmp(batch->columns[place].name, name) == 0)
        return &batch->columns[place];
    return casparian_batch_find(batch, name);
}

static bool has_null(const casparian_vector *vector, size_t rows)
{
    if (!vector->valid)
        return false;
    for (size_t i = 0; i < rows / 8; i++)
        if (vector->valid[i] != 0xFF)
            return true;
    unsigned rest = (1u << rows % 8) - 1;
    return rest != 0 && (vector->valid[rows / 8] & rest) != rest;
}

static bool is_type(const casparian_vector *vector, const casparian_type *type)
{
    if (vector->type.kind != type->kind)
        return false;
    return type->kind != CASPARIAN_KIND_DECIMAL ||
           (vector->type.decimal.precision == type->decimal.precision &&
            vector->type.decimal.scale == type->decimal.scale);
}

/* A column that the batch lacks: all rows are null. */
static mcp_status bind_nothing(casparian_sink_output *output, size_t place, mcp_error *err)
{
    casparian_sink *sink = output->sink;
    const write_column *column = &output->columns[place];
    bool is_text = casparian_kind_width(column->type.kind) == 0;

    if (!sink->zeros)
        sink->zeros = mcp_alloc_zeroed(1, ZEROS_SIZE);
    if (!sink->zeros)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an empty column");
    output->bound[place] = (casparian_vector){
        .name = column->name,
        .type = column->type,
        .valid = (const uint8_t *)sink->zeros,
        .values = is_text ? NULL : sink->zeros,
        .offsets = is_text ? (const uint32_t *)(const void *)sink->zeros : NULL,
        .bytes = is_text ? sink->zeros : NULL,
    };
    return MCP_OK;
}

static mcp_status bind_column(casparian_sink_output *output, size_t place,
                              const casparian_batch *batch, mcp_error *err)
{
    const write_column *column = &output->columns[place];
    const casparian_vector *vector = find_vector(batch, column->name, place);
    bool is_nothing = !vector || (vector->type.kind == CASPARIAN_KIND_NULL && !vector->odd_count);

    if (batch->rows > 0 && !column->is_nullable && (is_nothing || has_null(vector, batch->rows)))
        return mcp_error_set(err, MCP_E_PARAMS, "column '%.60s' of '%.60s' must not be null",
                             column->name, output->names.name);
    if (is_nothing)
        return bind_nothing(output, place, err);
    if (!is_type(vector, &column->type) || vector->odd_count > 0)
        return mcp_error_set(err, MCP_E_PARAMS, "column '%.60s' of '%.60s' is no %s", column->name,
                             output->names.name, casparian_kind_text(column->type.kind));
    output->bound[place] = *vector;
    output->bound[place].name = column->name;
    output->bound[place].type = column->type;
    output->bound[place].absent = NULL;
    return MCP_OK;
}

static mcp_status bind_batch(casparian_batch *out, casparian_sink_output *output,
                             const casparian_batch *batch, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (batch->rows > CASPARIAN_BATCH_ROWS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a batch has at most %d rows",
                             CASPARIAN_BATCH_ROWS_MAX);
    for (size_t i = 0; i < output->count && st == MCP_OK; i++)
        st = bind_column(output, i, batch, err);
    *out = (casparian_batch){ batch->rows, output->count, output->bound };
    return st;
}

/* ---- source files ---------------------------------------------------------------------------- */

mcp_status casparian_sink_file_begin(casparian_sink_file **out, casparian_sink *self,
                                     const char *processed_at, mcp_error *err)
{
    if (strnlen(processed_at, WRITE_MOMENT_SIZE) >= WRITE_MOMENT_SIZE)
        return mcp_error_set(err, MCP_E_PARAMS, "'%.80s' is no time", processed_at);
    casparian_sink_file *file = mcp_alloc_zeroed(1, sizeof *file);
    if (!file)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a source file");
    file->sink = self;
    snprintf(file->processed_at, sizeof file->processed_at, "%s", processed_at);
    write_spool_init(&file->spool, CASPARIAN_SINK_SPOOL_MAX);
    file->next = self->files;
    self->files = file;
    *out = file;
    return MCP_OK;
}

/* Give rows to their writer. Takes `rows`. */
static mcp_status push(casparian_sink_file *self, write_rows *rows, mcp_error *err)
{
    casparian_sink_output *output = self->sink->outputs[rows->table];
    size_t count = rows->batch.rows;

    memcpy(rows->source_hash, self->source_hash, sizeof rows->source_hash);
    memcpy(rows->processed_at, self->processed_at, sizeof rows->processed_at);
    mcp_status st = writer_push(output->writer, rows, err);
    if (st == MCP_OK)
        self->rows[output->index] += (int64_t)count;
    self->has_written = true;
    return st;
}

/* Give all that waits to the writers, in the order in which it came. */
static mcp_status push_all(casparian_sink_file *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    write_rows *rows = NULL;

    while (self->first && st == MCP_OK) {
        rows = self->first;
        self->first = rows->next;
        st = push(self, rows, err);
    }
    self->held = 0;
    do {
        if (st == MCP_OK)
            st = write_spool_next(&self->spool, &rows, err);
        if (st == MCP_OK && rows)
            st = push(self, rows, err);
    } while (st == MCP_OK && rows);
    if (st == MCP_OK) {
        write_spool_clear(&self->spool);
        write_spool_init(&self->spool, CASPARIAN_SINK_SPOOL_MAX);
    }
    return st;
}

mcp_status casparian_sink_file_identify(casparian_sink_file *self, const char *sha256,
                                        mcp_error *err)
{
    mcp_error *failure = &self->sink->failure;

    if (strnlen(sha256, CASPARIAN_HASH_SIZE) != CASPARIAN_HASH_SIZE - 1)
        return mcp_error_set(err, MCP_E_PARAMS, "'%.80s' is no SHA-256", sha256);
    memcpy(self->source_hash, sha256, CASPARIAN_HASH_SIZE);
    if (self->sink->is_single_file && failure->status == MCP_OK)
        push_all(self, failure);
    return say_failure(self->sink, err);
}

/* Keep rows until the file has succeeded. */
static mcp_status hold(casparian_sink_file *self, size_t table, const casparian_batch *batch,
                       mcp_error *err)
{
    write_rows *rows = NULL;

    if (self->spool.fd >= 0 || self->held >= self->sink->memory_max)
        return write_spool_add(&self->spool, self->sink->folders[0].fd, table, batch, err);
    mcp_status st = write_rows_copy(&rows, batch, err);
    if (st != MCP_OK)
        return st;
    rows->table = table;
    if (self->first)
        self->last->next = rows;
    else
        self->first = rows;
    self->last = rows;
    self->held += rows->size;
    return MCP_OK;
}

static mcp_status append(casparian_sink_file *self, casparian_sink_output *output,
                         const casparian_batch *batch, mcp_error *err)
{
    casparian_batch bound;
    write_rows *rows = NULL;
    mcp_status st = bind_batch(&bound, output, batch, err);

    if (st != MCP_OK || batch->rows == 0)
        return st;
    if (!self->sink->is_single_file || !self->source_hash[0])
        return hold(self, output->index, &bound, err);
    st = write_rows_copy(&rows, &bound, err);
    if (st != MCP_OK)
        return st;
    rows->table = output->index;
    return push(self, rows, err);
}

mcp_status casparian_sink_append(casparian_sink_file *self, casparian_sink_output *output,
                                 const casparian_batch *batch, mcp_error *err)
{
    mcp_error *failure = &self->sink->failure;

    if (failure->status == MCP_OK)
        append(self, output, batch, failure);
    return say_failure(self->sink, err);
}

static void end_file(casparian_sink_file *self)
{
    casparian_sink_file **at = &self->sink->files;

    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    free_file(self);
}

mcp_status casparian_sink_file_commit(casparian_sink_file *self, const char *sha256, mcp_error *err)
{
    casparian_sink *sink = self->sink;

    if (sink->failure.status == MCP_OK)
        casparian_sink_file_identify(self, sha256, &sink->failure);
    if (sink->failure.status == MCP_OK)
        push_all(self, &sink->failure);
    for (size_t i = 0; i < sink->count; i++)
        sink->outputs[i]->rows += self->rows[i];
    end_file(self);
    return say_failure(sink, err);
}

void casparian_sink_file_discard(casparian_sink_file *self)
{
    if (!self)
        return;
    if (self->has_written && self->sink->failure.status == MCP_OK)
        mcp_error_set(&self->sink->failure, MCP_E_STOPPED,
                      "the only source file has failed after some of its rows were written");
    end_file(self);
}
