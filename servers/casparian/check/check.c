/*
 * check.c - the rows of an output are judged, and the figures of an output are kept.
 *
 * A batch is judged in passes over its columns: each is converted; what failed becomes events and
 * flags of rows; the columns that rows lack or have too many become events as well; the first
 * rows are profiled. The flags then part the rows.
 *
 * There are two sets of figures: those of the files that were kept, and those of the file that is
 * being read, which are added at its end or forgotten.
 */
#include "check/check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_int.h"
#include "check/quarantine.h"
#include "mcp/hash.h"

#define FIGURES_BYTES_MAX ((size_t)256 << 20)
#define EVENTS_BYTES_MAX ((size_t)512 << 20)

enum { EXTRAS_MAX = CASPARIAN_COLUMNS_MAX, SHAPES_MAX = 1024 };

/* What a row has. */
enum { HAS_CELL = 1, HAS_CELLS = 2, HAS_STRUCTURE = 4, HAS_PARSER_ERROR = 8 };

static const uint64_t name_key[2] = { 0x636865636b2d6578, 0x7472612d6e616d65 };

/* ---- figures --------------------------------------------------------------------------------- */

static void name_figures(const casparian_check *self, struct column_figures *out, const char *name)
{
    out->name = name;
    out->hash = mcp_siphash13(name_key, name, strlen(name));
    out->is_sensitive = casparian_redaction_is_sensitive(self->options.redaction, name);
}

static mcp_status figures_init(const casparian_check *self, struct figures *out, mcp_error *err)
{
    const casparian_definition *definition = self->options.definition;
    mcp_arena *arena = mcp_arena_new(FIGURES_BYTES_MAX);
    *out = (struct figures){ .store = { .arena = arena, .redaction = self->options.redaction } };
    if (arena) {
        out->columns = mcp_arena_array(arena, definition->count, sizeof *out->columns);
        out->extras = mcp_arena_array(arena, EXTRAS_MAX, sizeof(struct column_figures *));
        out->shapes = mcp_arena_array(arena, SHAPES_MAX, sizeof *out->shapes);
    }
    if (!out->columns || !out->extras || !out->shapes) {
        mcp_arena_free(arena);
        out->store.arena = NULL;
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the figures of output '%s'",
                             self->options.output);
    }
    for (size_t i = 0; i < definition->count; i++)
        name_figures(self, &out->columns[i], definition->columns[i].name);
    return MCP_OK;
}

/* The figures of an extra column; NULL: there are too many, or no memory. */
static struct column_figures *find_extra(const casparian_check *self, struct figures *figures,
                                         const char *name)
{
    struct column_figures made = { .name = NULL };
    name_figures(self, &made, name);
    for (size_t i = 0; i < figures->extra_count; i++) {
        struct column_figures *extra = figures->extras[i];
        if (extra->hash == made.hash && strcmp(extra->name, name) == 0)
            return extra;
    }
    if (figures->extra_count == EXTRAS_MAX)
        return NULL;
    struct column_figures *kept = mcp_arena_alloc(figures->store.arena, sizeof *kept);
    made.name = mcp_arena_strdup(figures->store.arena, name);
    if (!kept || !made.name)
        return NULL;
    *kept = made;
    figures->extras[figures->extra_count++] = kept;
    return kept;
}

static void add_shape(struct figures *figures, const struct shape *shape)
{
    size_t at = 0;
    while (at < figures->shape_count && figures->shapes[at].hash != shape->hash)
        at++;
    if (at == SHAPES_MAX)
        return;
    if (at == figures->shape_count)
        figures->shapes[figures->shape_count++].hash = shape->hash;
    figures->shapes[at].rows += shape->rows;
    figures->shapes[at].pure += shape->pure;
}

static void merge_column(struct column_figures *to, struct figures *figures,
                         const struct column_figures *from)
{
    to->dropped += from->dropped;
    for (int i = 0; i < CASPARIAN_VIOLATIONS; i++)
        casparian_tally_merge(&to->tallies[i], &figures->store, &from->tallies[i]);
    if (from->profile && !to->profile)
        to->profile = mcp_arena_alloc(figures->store.arena, sizeof *to->profile);
    if (from->profile && to->profile)
        casparian_profile_merge(to->profile, from->profile);
}

static void add_counts(casparian_check_counts *to, const casparian_check_counts *from)
{
    to->rows_emitted += from->rows_emitted;
    to->rows_valid += from->rows_valid;
    to->rows_quarantined += from->rows_quarantined;
    to->parser_errors += from->parser_errors;
    to->extra_columns_dropped += from->extra_columns_dropped;
    to->profiled_rows += from->profiled_rows;
}

static void merge_figures(const casparian_check *self, struct figures *to,
                          const struct figures *from)
{
    add_counts(&to->counts, &from->counts);
    for (size_t i = 0; i < self->options.definition->count; i++)
        merge_column(&to->columns[i], to, &from->columns[i]);
    for (size_t i = 0; i < from->extra_count; i++) {
        struct column_figures *extra = find_extra(self, to, from->extras[i]->name);
        if (extra)
            merge_column(extra, to, from->extras[i]);
    }
    for (size_t i = 0; i < from->shape_count; i++)
        add_shape(to, &from->shapes[i]);
    casparian_tally_merge(&to->parser, &to->store, &from->parser);
}

/* ---- making ---------------------------------------------------------------------------------- */

static mcp_status make_converters(casparian_check *self, mcp_error *err)
{
    const casparian_definition *definition = self->options.definition;
    mcp_status st = casparian_patterns_compile(&self->patterns, self->arena, err);
    self->converters = mcp_arena_array(self->arena, definition->count, sizeof *self->converters);
    if (st == MCP_OK && !self->converters)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu columns", definition->count);
    for (size_t i = 0; st == MCP_OK && i < definition->count; i++) {
        st = casparian_converter_init(&self->converters[i], self->arena, &definition->columns[i],
                                      err);
        self->converters[i].takes_any = self->options.is_inferred;
    }
    return st;
}

mcp_status casparian_check_new(casparian_check **out, const casparian_check_options *options,
                               mcp_error *err)
{
    casparian_check *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for output '%s'", options->output);
    self->options = *options;
    self->arena = mcp_arena_new(FIGURES_BYTES_MAX);
    mcp_buf_init(&self->events, EVENTS_BYTES_MAX);
    mcp_status st = self->arena ? make_converters(self, err)
                                : mcp_error_set(err, MCP_E_NOMEM, "no memory for output '%s'",
                                                options->output);
    if (st == MCP_OK)
        st = figures_init(self, &self->kept, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_check_free(self);
    return st;
}

static void close_file(casparian_check *self)
{
    mcp_arena_free(self->current.store.arena);
    self->current = (struct figures){ .extra_count = 0 };
    self->is_open = false;
}

void casparian_check_free(casparian_check *self)
{
    if (!self)
        return;
    close_file(self);
    mcp_arena_free(self->kept.store.arena);
    mcp_arena_free(self->arena);
    mcp_buf_clear(&self->events);
    free(self);
}

mcp_status casparian_check_begin(casparian_check *self, const char *path, mcp_error *err)
{
    close_file(self);
    mcp_status st = figures_init(self, &self->current, err);
    if (st != MCP_OK)
        return st;
    self->path = mcp_arena_strdup(self->current.store.arena, path);
    if (!self->path) {
        close_file(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the path of a file");
    }
    self->is_open = true;
    return MCP_OK;
}

void casparian_check_end(casparian_check *self, bool is_kept)
{
    if (self->is_open && is_kept)
        merge_figures(self, &self->kept, &self->current);
    close_file(self);
}

/* ---- judging a batch ------------------------------------------------------------------------- */

/* A batch that is being judged. */
struct judging {
    casparian_check *self;
    const casparian_batch *batch;
    const casparian_definition *definition;
    casparian_converted *columns;
    const casparian_vector **inputs; /* of the columns of the definition; NULL: all rows lack it */
    const casparian_vector **extras;
    struct column_figures **extra_figures; /* one of them may be NULL */
    const char **extra_names;
    size_t extra_count;
    const casparian_vector *row_error, *row_id;
    uint8_t *flags;
    uint64_t *shapes;  /* of each row; NULL: no row has a wrong structure */
    uint32_t *present; /* columns of each row; with `shapes` */
};

static bool bit(const uint8_t *bitmap, size_t at)
{
    return bitmap[at / 8] >> (at % 8) & 1;
}

static bool lacks(const casparian_vector *in, size_t row)
{
    return !in || (in->absent && bit(in->absent, row));
}

static size_t count_absent(const casparian_vector *in, size_t rows)
{
    size_t count = 0;
    for (size_t row = 0; in->absent && row < rows; row++)
        count += bit(in->absent, row);
    return count;
}

/* Columns of a batch mostly stand in the order of the definition, so the search begins behind the
 * column that was found last. */
static void bind(struct judging *j, const casparian_vector *vector, size_t *next)
{
    const casparian_definition *definition = j->definition;
    for (size_t i = 0; i < definition->count; i++) {
        size_t at = (*next + i) % definition->count;
        if (strcmp(definition->columns[at].name, vector->name) == 0) {
            j->inputs[at] = vector;
            *next = at + 1;
            return;
        }
    }
    if (strcmp(vector->name, CASPARIAN_ROW_ERROR) != 0 &&
        strcmp(vector->name, CASPARIAN_ROW_ID) != 0)
        j->extras[j->extra_count++] = vector;
}

static bool make_room(struct judging *j, mcp_arena *arena)
{
    size_t count = j->batch->count + 1;
    j->columns = mcp_arena_array(arena, j->definition->count, sizeof *j->columns);
    j->inputs = mcp_arena_array(arena, j->definition->count, sizeof *j->inputs);
    j->extras = mcp_arena_array(arena, count, sizeof *j->extras);
    j->extra_figures = mcp_arena_array(arena, count, sizeof *j->extra_figures);
    j->extra_names = mcp_arena_array(arena, count, sizeof *j->extra_names);
    j->flags = mcp_arena_array(arena, j->batch->rows + 1, 1);
    return j->columns && j->inputs && j->extras && j->extra_figures && j->extra_names && j->flags;
}

static mcp_status bind_columns(struct judging *j, mcp_arena *arena, mcp_error *err)
{
    size_t next = 0;
    if (!make_room(j, arena))
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a batch of %zu columns",
                             j->batch->count);
    for (size_t i = 0; i < j->batch->count; i++)
        bind(j, &j->batch->columns[i], &next);
    for (size_t i = 0; i < j->extra_count; i++) {
        j->extra_figures[i] = find_extra(j->self, &j->self->current, j->extras[i]->name);
        j->extra_names[i] = j->extras[i]->name;
    }
    j->row_error = casparian_batch_find(j->batch, CASPARIAN_ROW_ERROR);
    j->row_id = casparian_batch_find(j->batch, CASPARIAN_ROW_ID);
    return MCP_OK;
}

static int64_t row_number(const struct judging *j, size_t row)
{
    int64_t id = casparian_row_id(j->row_id, row);
    return id >= 0 ? id : j->self->current.counts.rows_emitted + (int64_t)row;
}

static void happen(struct judging *j, size_t row, size_t column, casparian_violation violation)
{
    const casparian_event event = { (uint32_t)row, (uint32_t)column, (uint32_t)violation };
    mcp_buf_append(&j->self->events, &event, sizeof event);
}

static void tally(struct judging *j, struct column_figures *figures, casparian_violation violation,
                  const casparian_cell *cell, size_t row)
{
    if (figures)
        casparian_tally_add(&figures->tallies[violation], &j->self->current.store, cell,
                            figures->is_sensitive, j->self->path, row_number(j, row));
}

static void fail_cell(struct judging *j, size_t column, size_t row, casparian_violation violation)
{
    struct column_figures *figures = &j->self->current.columns[column];
    casparian_cell cell = casparian_vector_cell(j->inputs[column], row);
    j->flags[row] |= j->flags[row] & HAS_CELL ? HAS_CELLS : HAS_CELL;
    happen(j, row, column, violation);
    if (violation == CASPARIAN_VIOLATION_NULL_NOT_ALLOWED) {
        if (cell.kind == CASPARIAN_KIND_STRING)
            figures->tallies[violation].seen_sentinels |= 1u << casparian_sentinel_of("", 0);
        cell = (casparian_cell){ .kind = CASPARIAN_KIND_NULL };
    }
    tally(j, figures, violation, &cell, row);
}

/* ---- structure ------------------------------------------------------------------------------- */

static bool may_lack(const struct judging *j, size_t column)
{
    return j->definition->mode == CASPARIAN_MODE_ALLOW_MISSING_OPTIONAL &&
           j->definition->columns[column].is_nullable;
}

static bool may_have_extras(const struct judging *j)
{
    return j->definition->mode == CASPARIAN_MODE_ALLOW_EXTRA;
}

static void drop_extras(struct judging *j)
{
    for (size_t i = 0; i < j->extra_count; i++) {
        int64_t count = (int64_t)(j->batch->rows - count_absent(j->extras[i], j->batch->rows));
        j->self->current.counts.extra_columns_dropped += count;
        if (j->extra_figures[i])
            j->extra_figures[i]->dropped += count;
    }
}

static bool has_wrong_structure(const struct judging *j)
{
    bool is_wrong = j->extra_count > 0 && !may_have_extras(j);
    for (size_t i = 0; i < j->definition->count && !is_wrong; i++)
        is_wrong = (!j->inputs[i] || j->inputs[i]->absent) && !may_lack(j, i);
    return is_wrong;
}

/* Count the columns of each row. */
static void count_present(struct judging *j)
{
    size_t whole = 0;
    for (size_t i = 0; i < j->definition->count + j->extra_count; i++) {
        size_t extra = i - j->definition->count;
        const casparian_vector *in = i < j->definition->count ? j->inputs[i] : j->extras[extra];
        whole += in && !in->absent;
        for (size_t row = 0; in && in->absent && row < j->batch->rows; row++)
            j->present[row] += !bit(in->absent, row);
    }
    for (size_t row = 0; row < j->batch->rows; row++)
        j->present[row] += (uint32_t)whole;
}

static void fail_structure(struct judging *j, size_t column, struct column_figures *figures,
                           const casparian_cell *cell, size_t row)
{
    bool is_name = j->present[row] == j->definition->count;
    casparian_violation violation = is_name ? CASPARIAN_VIOLATION_COLUMN_NAME_MISMATCH
                                            : CASPARIAN_VIOLATION_COLUMN_COUNT_MISMATCH;
    j->flags[row] |= HAS_STRUCTURE;
    j->shapes[row] += figures ? figures->hash : 1;
    happen(j, row, column, violation);
    tally(j, figures, violation, cell, row);
}

static void judge_missing(struct judging *j, size_t column)
{
    static const casparian_cell nothing = { .kind = CASPARIAN_KIND_NULL };
    const casparian_vector *in = j->inputs[column];
    for (size_t row = 0; row < j->batch->rows; row++) {
        if (lacks(in, row))
            fail_structure(j, column, &j->self->current.columns[column], &nothing, row);
    }
}

static void judge_extra(struct judging *j, size_t extra)
{
    for (size_t row = 0; row < j->batch->rows; row++) {
        if (lacks(j->extras[extra], row))
            continue;
        casparian_cell cell = casparian_vector_cell(j->extras[extra], row);
        fail_structure(j, j->definition->count + extra, j->extra_figures[extra], &cell, row);
    }
}

static mcp_status prepare_structure(struct judging *j, mcp_arena *arena, mcp_error *err)
{
    if (!has_wrong_structure(j))
        return MCP_OK;
    j->shapes = mcp_arena_array(arena, j->batch->rows + 1, sizeof *j->shapes);
    j->present = mcp_arena_array(arena, j->batch->rows + 1, sizeof *j->present);
    if (!j->shapes || !j->present)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a batch of %zu rows", j->batch->rows);
    count_present(j);
    return MCP_OK;
}

static void add_shapes(struct judging *j)
{
    for (size_t row = 0; j->shapes && row < j->batch->rows; row++) {
        const struct shape shape = { j->shapes[row], 1, j->flags[row] == HAS_STRUCTURE };
        if (j->flags[row] & HAS_STRUCTURE)
            add_shape(&j->self->current, &shape);
    }
}

/* ---- columns, parser errors ------------------------------------------------------------------ */

static mcp_status judge_columns(struct judging *j, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < j->definition->count && st == MCP_OK; i++) {
        casparian_converted *converted = &j->columns[i];
        st = casparian_convert(&j->self->converters[i], converted, j->inputs[i], j->batch->rows,
                               arena, err);
        for (size_t row = 0; st == MCP_OK && converted->failed && row < j->batch->rows; row++) {
            if (converted->failed[row])
                fail_cell(j, i, row, (casparian_violation)(converted->failed[row] - 1));
        }
        if (j->shapes && !may_lack(j, i))
            judge_missing(j, i);
    }
    for (size_t i = 0; j->shapes && !may_have_extras(j) && i < j->extra_count; i++)
        judge_extra(j, i);
    return st;
}

static void judge_parser_errors(struct judging *j)
{
    casparian_cell cell;
    for (size_t row = 0; j->row_error && row < j->batch->rows; row++) {
        if (!casparian_row_error(&cell, j->row_error, row))
            continue;
        j->flags[row] |= HAS_PARSER_ERROR;
        j->self->current.counts.parser_errors++;
        casparian_tally_add(&j->self->current.parser, &j->self->current.store, &cell, false,
                            j->self->path, row_number(j, row));
    }
}

/* ---- profile --------------------------------------------------------------------------------- */

static size_t profiled_rows(const struct judging *j)
{
    int64_t left = CASPARIAN_PROFILED_ROWS_MAX - j->self->kept.counts.profiled_rows -
                   j->self->current.counts.profiled_rows;
    if (j->self->options.has_no_profile || left <= 0)
        return 0;
    return (int64_t)j->batch->rows < left ? j->batch->rows : (size_t)left;
}

/* As casparian_vector_cell, where all cells are texts or null. */
static inline casparian_cell text_cell(const casparian_vector *in, size_t row)
{
    casparian_cell cell = { .kind = CASPARIAN_KIND_NULL };
    if (in->valid && !(in->valid[row / 8] >> (row % 8) & 1))
        return cell;
    cell.kind = CASPARIAN_KIND_STRING;
    cell.text.bytes = in->bytes + in->offsets[row];
    cell.text.length = in->offsets[row + 1] - in->offsets[row];
    return cell;
}

static void profile_column(struct judging *j, struct column_figures *figures,
                           const casparian_vector *in, const casparian_converted *converted,
                           size_t rows)
{
    casparian_kind kind = converted ? converted->vector.type.kind : CASPARIAN_KIND_STRING;
    bool are_texts = in->type.kind == CASPARIAN_KIND_STRING && in->odd_count == 0 && !in->absent;
    if (figures && !figures->profile)
        figures->profile = mcp_arena_alloc(j->self->current.store.arena, sizeof *figures->profile);
    for (size_t row = 0; figures && figures->profile && row < rows; row++) {
        casparian_cell cell = are_texts ? text_cell(in, row) : casparian_vector_cell(in, row);
        casparian_standing standing = CASPARIAN_STANDS;
        if (cell.kind == CASPARIAN_KIND_NULL ||
            (cell.kind == CASPARIAN_KIND_STRING && cell.text.length == 0 &&
             kind != CASPARIAN_KIND_STRING))
            continue;
        if (!converted || (converted->failed && converted->failed[row]))
            standing = j->flags[row] == HAS_CELL ? CASPARIAN_FAILS_ALONE : CASPARIAN_FAILS;
        casparian_profile_add(figures->profile, &j->self->patterns, &cell, standing);
    }
}

static void profile(struct judging *j)
{
    size_t rows = profiled_rows(j);
    for (size_t i = 0; rows > 0 && i < j->definition->count; i++) {
        if (j->inputs[i])
            profile_column(j, &j->self->current.columns[i], j->inputs[i], &j->columns[i], rows);
    }
    for (size_t i = 0; rows > 0 && !may_have_extras(j) && i < j->extra_count; i++)
        profile_column(j, j->extra_figures[i], j->extras[i], NULL, rows);
    j->self->current.counts.profiled_rows += (int64_t)rows;
}

/* ---- parting the rows ------------------------------------------------------------------------ */

static mcp_status part(struct judging *j, casparian_checked *out, mcp_arena *arena, mcp_error *err)
{
    casparian_check_counts *counts = &j->self->current.counts;
    const mcp_buf *events = &j->self->events;
    casparian_judged judged = {
        .batch = j->batch,
        .definition = j->definition,
        .columns = j->columns,
        .extras = j->extra_names,
        .flags = j->flags,
        .events = (const casparian_event *)(const void *)events->data,
        .event_count = events->length / sizeof(casparian_event),
        .row_error = j->row_error,
        .row_id = j->row_id,
        .path = j->self->path,
        .first_index = counts->rows_emitted,
    };
    for (size_t row = 0; row < j->batch->rows; row++)
        judged.invalid += j->flags[row] != 0;
    mcp_status st = casparian_quarantine_split(&out->valid, &out->invalid, &judged, arena, err);
    counts->rows_emitted += (int64_t)j->batch->rows;
    counts->rows_quarantined += (int64_t)judged.invalid;
    counts->rows_valid += (int64_t)(j->batch->rows - judged.invalid);
    return st;
}

mcp_status casparian_check_batch(casparian_check *self, casparian_checked *out,
                                 const casparian_batch *batch, mcp_arena *arena, mcp_error *err)
{
    struct judging j = { .self = self, .batch = batch, .definition = self->options.definition };
    assert(self->is_open);
    mcp_buf_reset(&self->events);
    mcp_status st = bind_columns(&j, arena, err);
    if (st == MCP_OK)
        st = prepare_structure(&j, arena, err);
    if (st == MCP_OK)
        st = judge_columns(&j, arena, err);
    if (st == MCP_OK && self->events.status != MCP_OK)
        st = mcp_error_set(err, self->events.status, "a batch of %zu rows has too many violations",
                           batch->rows);
    if (st != MCP_OK)
        return st;
    judge_parser_errors(&j);
    if (may_have_extras(&j))
        drop_extras(&j);
    add_shapes(&j);
    profile(&j);
    return part(&j, out, arena, err);
}
