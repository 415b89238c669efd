/*
 * views.c - see views.h.
 *
 * The files are grouped by output, plain and quarantined ones apart. A view is a union by name of
 * parts: all Parquet files without superseded rows are one part, CSV files of one schema one, each
 * DuckDB table one, and each file with superseded rows is one of its own with a condition. Files
 * get their descriptors when the first view needs them.
 */
#include "query/views.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "query/guard.h"
#include "query/source.h"

#define VIEW_MAX ((size_t)3 << 20)
#define WARNINGS_MAX 50

/* The files of an output. */
typedef struct group {
    const char *output;
    bool is_quarantine, is_control;
    const char *newest; /* the schema hash of the newest file */
    int64_t created_ms, job_id;
} group;

/* Words of the statement. */
typedef struct words {
    mcp_arena *arena;
    const char **list; /* sorted by nothing; distinct words are few */
    size_t count, capacity;
    bool is_out_of_memory;
    bool has_all; /* sqlite_master or information_schema: every view is needed */
} words;

typedef struct maker {
    const casparian_catalog *catalog;
    mcp_arena *arena;
    mcp_error *err;
    words words;
    group *groups;
    size_t group_count;
    casparian_sources sources;
    columns_sealed_view *views;
    size_t view_count, view_capacity;
    const char *warnings[WARNINGS_MAX];
    size_t warning_count;
    const char *left_out;
    bool is_volatile;
} maker;

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the views of a query");
}

/* Double the room of an array of the arena. */
static bool grow(mcp_arena *arena, void **items, size_t *capacity, size_t count, size_t size)
{
    size_t wanted = *capacity > 0 ? 2 * *capacity : 16;
    void *more = count < *capacity ? *items : mcp_arena_array(arena, wanted, size);

    if (count < *capacity)
        return true;
    if (!more)
        return false;
    if (count > 0)
        memcpy(more, *items, count * size);
    *items = more;
    *capacity = wanted;
    return true;
}

/* ---- the words of the statement -------------------------------------------------------------- */

static bool has_word(const words *self, const char *word)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcasecmp(self->list[i], word) == 0)
            return true;
    return false;
}

/* A quoted name has its quotes doubled. */
static void note_word(void *data, const casparian_guard_name *name)
{
    words *self = data;
    char *word = mcp_arena_strndup(self->arena, name->text, name->length);
    size_t length = 0;

    if (!word || !grow(self->arena, (void **)&self->list, &self->capacity, self->count,
                       sizeof *self->list)) {
        self->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < name->length; i++, length++) {
        word[length] = word[i];
        if (name->is_quoted && word[i] == '"' && word[i + 1] == '"')
            i++;
    }
    word[length] = '\0';
    if (!has_word(self, word))
        self->list[self->count++] = word;
}

static bool is_needed(const words *self, const char *name)
{
    return self->has_all || has_word(self, name);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_of(const casparian_catalog_file *file, const group *of)
{
    return file->is_quarantine == of->is_quarantine && file->is_control == of->is_control &&
           strcmp(file->output, of->output) == 0;
}

static group *find_group(group *groups, size_t count, const casparian_catalog_file *file)
{
    for (size_t i = 0; i < count; i++)
        if (is_of(file, &groups[i]))
            return &groups[i];
    return NULL;
}

static bool is_newer(const casparian_catalog_file *file, const group *than)
{
    return file->created_ms != than->created_ms ? file->created_ms > than->created_ms
                                                : file->job_id >= than->job_id;
}

/* NULL: no memory */
static group *make_groups(size_t *out, const casparian_catalog *catalog, mcp_arena *arena)
{
    group *groups = mcp_arena_array(arena, catalog->count + 1, sizeof *groups);
    size_t count = 0;

    for (size_t i = 0; groups && i < catalog->count; i++) {
        const casparian_catalog_file *file = &catalog->files[i];
        group *of = find_group(groups, count, file);
        if (!of) {
            of = &groups[count++];
            of->output = file->output;
            of->is_quarantine = file->is_quarantine;
            of->is_control = file->is_control;
            of->created_ms = INT64_MIN;
        }
        if (is_newer(file, of)) {
            of->newest = file->schema_hash;
            of->created_ms = file->created_ms;
            of->job_id = file->job_id;
        }
    }
    *out = count;
    return groups;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Which files of a group a view has. */
typedef struct choice {
    const group *of;
    const char *hash;    /* of this schema; NULL: of any */
    bool has_superseded; /* with what newer jobs have replaced */
} choice;

static bool is_chosen(const choice *which, const casparian_catalog_file *file)
{
    return is_of(file, which->of) &&
           (!which->hash || strcmp(file->schema_hash, which->hash) == 0) &&
           (which->has_superseded || !file->is_superseded);
}

static bool is_view_made(const maker *self, const char *schema, const char *name)
{
    for (size_t i = 0; i < self->view_count; i++)
        if (strcasecmp(self->views[i].name, name) == 0 &&
            strcmp(self->views[i].schema, schema) == 0)
            return true;
    return false;
}

/* A word of the statement may name views of two outputs that differ in case or by a suffix; the
 * first is made. */
static mcp_status add_view(maker *self, const char *schema, const char *name, const char *sql,
                           bool is_attached)
{
    if (!sql || !grow(self->arena, (void **)&self->views, &self->view_capacity, self->view_count,
                      sizeof *self->views))
        return no_memory(self->err);
    self->views[self->view_count++] = (columns_sealed_view){
        .schema = schema,
        .name = name,
        .sql = sql,
        .is_optional = !has_word(&self->words, name),
        .is_attached = is_attached,
    };
    return MCP_OK;
}

static mcp_status put_files(casparian_source_text *text, maker *self, const choice *which)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < self->catalog->count; i++)
        if (is_chosen(which, &self->catalog->files[i]))
            st = casparian_source_add(text, &self->sources, i, which->has_superseded, self->err);
    return st;
}

/* The SELECT of a choice; "": it has no file. NULL in `out`: no memory. `is_attached`: it reads a
 * table of a DuckDB file. */
static mcp_status make_select(const char **out, bool *is_attached, maker *self, const choice *which)
{
    casparian_source_text text;
    mcp_buf sql;
    mcp_status st = casparian_source_begin(&text, self->arena, self->err);

    mcp_buf_init(&sql, VIEW_MAX);
    if (st == MCP_OK)
        st = put_files(&text, self, which);
    if (st == MCP_OK)
        st = casparian_source_end(&sql, &text, self->err);
    *is_attached = casparian_source_is_attached(&text);
    if (st == MCP_OK)
        *out = mcp_arena_strndup(self->arena, sql.data ? sql.data : "", sql.length);
    mcp_buf_clear(&sql);
    return st;
}

static mcp_status make_view(maker *self, const char *schema, const char *name, choice which)
{
    bool is_attached = false;
    const char *sql = NULL;
    mcp_status st;

    if (!name)
        return no_memory(self->err);
    if (is_view_made(self, schema, name))
        return MCP_OK;
    st = make_select(&sql, &is_attached, self, &which);
    if (st != MCP_OK || (sql && sql[0]))
        return st == MCP_OK ? add_view(self, schema, name, sql, is_attached) : st;
    if (which.has_superseded || !sql)
        return sql ? MCP_OK : no_memory(self->err);
    /* Everything is superseded: the columns, and no row. */
    which.has_superseded = true;
    st = make_select(&sql, &is_attached, self, &which);
    if (st == MCP_OK && sql && sql[0])
        st = add_view(self, schema, name,
                      mcp_arena_printf(self->arena, "SELECT * FROM (%s) WHERE false", sql),
                      is_attached);
    return st;
}

static void warn(maker *self, char *warning)
{
    if (warning && self->warning_count < WARNINGS_MAX)
        self->warnings[self->warning_count++] = warning;
}

/* Rows that only x__all has. */
static void warn_of_older(maker *self, const group *of)
{
    int64_t rows = 0;
    size_t files = 0;

    for (size_t i = 0; i < self->catalog->count; i++) {
        const casparian_catalog_file *file = &self->catalog->files[i];
        if (is_of(file, of) && !file->is_superseded && strcmp(file->schema_hash, of->newest) != 0) {
            rows += file->rows;
            files++;
        }
    }
    if (files > 0)
        warn(self, mcp_arena_printf(self->arena,
                                    "%s leaves out %" PRId64 " rows in %zu files of an "
                                    "older schema; %s__all has them",
                                    of->output, rows, files, of->output));
}

static mcp_status make_schema_views(maker *self, const group *of)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < self->catalog->count; i++) {
        const casparian_catalog_file *file = &self->catalog->files[i];
        if (!is_of(file, of))
            continue;
        char *name = mcp_arena_printf(self->arena, "%s__schema_%.8s", of->output,
                                      file->schema_hash);
        if (name && is_needed(&self->words, name))
            st = make_view(self, "outputs", name, (choice){ of, file->schema_hash, true });
    }
    return st;
}

static mcp_status make_output_views(maker *self, const group *of)
{
    char *all = mcp_arena_printf(self->arena, "%s__all", of->output);
    mcp_status st = all ? MCP_OK : no_memory(self->err);

    if (st == MCP_OK && is_needed(&self->words, of->output)) {
        st = make_view(self, "outputs", of->output, (choice){ of, of->newest, false });
        if (!self->words.has_all)
            warn_of_older(self, of);
    }
    if (st == MCP_OK && is_needed(&self->words, all))
        st = make_view(self, "outputs", all, (choice){ of, NULL, true });
    return st == MCP_OK ? make_schema_views(self, of) : st;
}

static mcp_status make_quarantine_views(maker *self, const group *of)
{
    char *name = mcp_arena_printf(self->arena, "%s_quarantine", of->output);
    mcp_status st = name ? MCP_OK : no_memory(self->err);

    if (st == MCP_OK && is_needed(&self->words, name))
        st = make_view(self, "outputs", name, (choice){ of, NULL, false });
    if (st == MCP_OK && is_needed(&self->words, of->output) &&
        is_needed(&self->words, "quarantine"))
        st = make_view(self, "quarantine", of->output, (choice){ of, NULL, false });
    return st;
}

static mcp_status make_control_view(maker *self, const group *of)
{
    if (!is_needed(&self->words, of->output) || !is_needed(&self->words, "casparian"))
        return MCP_OK;
    self->is_volatile = true;
    return make_view(self, "casparian", of->output, (choice){ of, NULL, true });
}

/* Outputs come first: their names go before those of quarantines. */
static mcp_status make_all(maker *self)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < self->group_count; i++)
        if (!self->groups[i].is_quarantine && !self->groups[i].is_control)
            st = make_output_views(self, &self->groups[i]);
    for (size_t i = 0; st == MCP_OK && i < self->group_count; i++)
        if (self->groups[i].is_quarantine)
            st = make_quarantine_views(self, &self->groups[i]);
    for (size_t i = 0; st == MCP_OK && i < self->group_count; i++)
        if (self->groups[i].is_control)
            st = make_control_view(self, &self->groups[i]);
    return st;
}

/* Of files whose place is not allowed no name is given, and each output is named once. */
static bool is_warned_of(const maker *self, size_t file)
{
    const casparian_catalog_file *files = self->catalog->files;
    for (size_t i = 0; i < file; i++)
        if (casparian_source_refusal(&self->sources, i) == CASPARIAN_SOURCE_DENIED &&
            strcmp(files[i].output, files[file].output) == 0)
            return true;
    return false;
}

static void warn_of_left_out(maker *self)
{
    size_t before = self->warning_count;
    for (size_t i = 0; i < self->catalog->count; i++) {
        const casparian_catalog_file *file = &self->catalog->files[i];
        const char *slash = strrchr(file->location, '/');
        int refusal = casparian_source_refusal(&self->sources, i);
        if (refusal == CASPARIAN_SOURCE_MISSING)
            warn(self, mcp_arena_printf(self->arena, "a file of %s is missing and left out: %s",
                                        file->output, slash ? slash + 1 : file->location));
        else if (refusal == CASPARIAN_SOURCE_DENIED && !is_warned_of(self, i))
            warn(self,
                 mcp_arena_printf(self->arena,
                                  "files of %s are left out: they are not within allowed roots "
                                  "(--allow-path)",
                                  file->output));
    }
    self->left_out = self->warning_count > before ? self->warnings[before] : NULL;
}

static mcp_status read_words(maker *self, const char *sql, size_t length)
{
    self->words.arena = self->arena;
    casparian_guard_names(sql, length, note_word, &self->words);
    if (self->words.is_out_of_memory)
        return no_memory(self->err);
    self->words.has_all = has_word(&self->words, "sqlite_master") ||
                          has_word(&self->words, "information_schema");
    return MCP_OK;
}

static mcp_status take_result(casparian_views *out, maker *self)
{
    const char **warnings = mcp_arena_array(self->arena, self->warning_count + 1, sizeof *warnings);

    if (!warnings)
        return no_memory(self->err);
    memcpy(warnings, self->warnings, self->warning_count * sizeof *warnings);
    out->views = self->views;
    out->view_count = self->view_count;
    out->warnings = warnings;
    out->warning_count = self->warning_count;
    out->left_out = self->left_out;
    out->is_volatile = self->is_volatile;
    out->fds = self->sources.fds;
    out->locations = self->sources.locations;
    out->fd_count = self->sources.fd_count;
    out->setup = self->sources.setup;
    out->databases = self->sources.databases;
    out->setup_count = self->sources.setup_count;
    return MCP_OK;
}

mcp_status casparian_views_make(casparian_views *out, const casparian_catalog *catalog,
                                const char *sql, size_t length, size_t files_max, mcp_arena *arena,
                                mcp_error *err)
{
    maker self = { .catalog = catalog, .arena = arena, .err = err };
    mcp_status st = casparian_sources_init(&self.sources, catalog, files_max, arena, err);

    if (st == MCP_OK)
        st = read_words(&self, sql, length);
    if (st == MCP_OK) {
        self.groups = make_groups(&self.group_count, catalog, arena);
        st = self.groups ? make_all(&self) : no_memory(err);
    }
    if (st == MCP_OK)
        warn_of_left_out(&self);
    if (st == MCP_OK)
        st = take_result(out, &self);
    if (st != MCP_OK)
        casparian_sources_clear(&self.sources);
    return st;
}

void casparian_views_clear(casparian_views *views)
{
    for (size_t i = 0; i < views->fd_count; i++)
        close(views->fds[i]);
    views->fd_count = 0;
}

/* Whether a file of the group can be read. Tables of the state need no file. */
static bool is_readable(const casparian_catalog *catalog, const group *of)
{
    int fd = -1;
    for (size_t i = 0; !of->is_control && fd < 0 && i < catalog->count; i++)
        if (is_of(&catalog->files[i], of))
            fd = casparian_source_open(catalog, &catalog->files[i]);
    if (fd >= 0)
        close(fd);
    return of->is_control || fd >= 0;
}

static const char *name_of(const group *of, mcp_arena *arena)
{
    return of->is_quarantine ? mcp_arena_printf(arena, "quarantine.%s", of->output)
           : of->is_control  ? mcp_arena_printf(arena, "casparian.%s", of->output)
                             : of->output;
}

size_t casparian_views_names(const char **out, size_t max, const casparian_catalog *catalog,
                             mcp_arena *arena)
{
    size_t group_count = 0;
    group *groups = make_groups(&group_count, catalog, arena);
    size_t count = 0;

    for (size_t i = 0; groups && i < group_count && count < max; i++)
        if (is_readable(catalog, &groups[i]))
            out[count++] = name_of(&groups[i], arena);
    return count;
}
