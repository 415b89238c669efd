/*
 * report.c - the figures of an output as JSON: its violations, each with its values and with the
 * change of the schema that would help.
 *
 * Which columns to add and to remove is decided for all of them together, since every row must then
 * have just these columns. The shapes of rows tell how many rows would.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check/check_int.h"
#include "check/fix.h"

#define CONTEXT_BYTES_MAX ((size_t)8 << 10)
#define CONTEXT_SPACE ((size_t)4 << 20)

/* A violation of a column that has happened. */
struct context {
    const struct column_figures *figures;
    const casparian_column *column; /* NULL: an extra column */
    size_t order;                   /* of the column; extra columns are behind those declared */
    casparian_violation violation;
    int64_t count;
};

static int64_t structural(const struct column_figures *figures)
{
    return figures->tallies[CASPARIAN_VIOLATION_COLUMN_NAME_MISMATCH].count +
           figures->tallies[CASPARIAN_VIOLATION_COLUMN_COUNT_MISMATCH].count;
}

/* ---- the order of violations ----------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const struct context *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (int)a->violation - (int)b->violation;
}

static size_t list_column(struct context *out, const struct column_figures *figures,
                          const casparian_column *column, size_t order)
{
    size_t count = 0;
    for (int i = 0; i < CASPARIAN_VIOLATIONS; i++) {
        const casparian_tally *tally = &figures->tallies[i];
        if (tally->count > 0)
            out[count++] = (struct context){ figures, column, order, (casparian_violation)i,
                                             tally->count };
    }
    return count;
}

/* @return yours, release with free(); NULL: no memory */
static struct context *list(const casparian_check *self, const struct figures *figures,
                            size_t *count)
{
    const casparian_definition *definition = self->options.definition;
    size_t columns = definition->count + figures->extra_count;
    struct context *all = calloc(columns * CASPARIAN_VIOLATIONS, sizeof *all);
    *count = 0;
    for (size_t i = 0; all && i < definition->count; i++)
        *count += list_column(all + *count, &figures->columns[i], &definition->columns[i], i);
    for (size_t i = 0; all && i < figures->extra_count; i++)
        *count += list_column(all + *count, figures->extras[i], NULL, definition->count + i);
    if (all)
        qsort(all, *count, sizeof *all, compare);
    return all;
}

/* ---- columns to add and to remove ------------------------------------------------------------ */

/* Which columns a fix adds and removes. */
struct plan {
    bool is_applied;
    bool must_not_lose; /* rows have other columns then, so no other fix may cost one */
};

static bool is_frequent(const struct figures *figures, const struct column_figures *column)
{
    int64_t count = structural(column);
    return count > 0 && 2 * count >= figures->counts.rows_emitted;
}

static bool is_reserved(const char *name)
{
    return *name == '\0' || strlen(name) > CASPARIAN_COLUMN_NAME_MAX ||
           strncasecmp(name, "_cf_", 4) == 0;
}

static bool is_removable(const struct figures *figures, size_t column)
{
    return is_frequent(figures, &figures->columns[column]);
}

/* Whether a schema could have the column: its name is free, and one type takes its values. */
static bool is_addable(const casparian_check *self, const struct figures *figures, size_t extra)
{
    const struct column_figures *column = figures->extras[extra];
    const casparian_definition *definition = self->options.definition;
    casparian_type type;
    if (!is_frequent(figures, column) || is_reserved(column->name) ||
        !casparian_fix_type_of(&type, column->profile, &self->patterns))
        return false;
    for (size_t i = 0; i < definition->count; i++) {
        if (!is_removable(figures, i) && strcasecmp(definition->columns[i].name, column->name) == 0)
            return false;
    }
    for (size_t i = 0; i < extra; i++) {
        if (is_frequent(figures, figures->extras[i]) &&
            strcasecmp(figures->extras[i]->name, column->name) == 0)
            return false;
    }
    return true;
}

static struct shape find_shape(const struct figures *figures, uint64_t hash)
{
    struct shape none = { .hash = hash };
    for (size_t i = 0; i < figures->shape_count; i++) {
        if (figures->shapes[i].hash == hash)
            return figures->shapes[i];
    }
    return none;
}

/* The plan is good if more rows have the new columns than are valid with the old ones. */
static struct plan make_plan(const casparian_check *self, const struct figures *figures)
{
    const casparian_definition *definition = self->options.definition;
    struct plan plan = { .is_applied = false };
    size_t added = 0, removed = 0;
    uint64_t hash = 0;
    for (size_t i = 0; i < definition->count; i++) {
        if (is_removable(figures, i)) {
            removed++;
            hash += figures->columns[i].hash;
        }
    }
    for (size_t i = 0; i < figures->extra_count; i++) {
        if (is_addable(self, figures, i)) {
            added++;
            hash += figures->extras[i]->hash;
        }
    }
    bool costs = definition->mode == CASPARIAN_MODE_STRICT
                     ? added + removed > 0
                     : definition->mode == CASPARIAN_MODE_ALLOW_MISSING_OPTIONAL && removed > 0;
    int64_t lost = costs ? figures->counts.rows_valid : 0;
    bool is_empty = removed == definition->count && added == 0;
    struct shape shape = find_shape(figures, hash);
    plan.is_applied = !is_empty && shape.rows > 0 && (lost == 0 || shape.pure > lost);
    plan.must_not_lose = plan.is_applied && costs;
    return plan;
}

/* The one extra column whose name looks like a missing one's. */
static const char *find_renamed(const struct figures *figures, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < figures->extra_count; i++) {
        if (structural(figures->extras[i]) == 0 ||
            !casparian_names_look_alike(figures->extras[i]->name, name))
            continue;
        if (found)
            return NULL;
        found = figures->extras[i]->name;
    }
    return found;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static casparian_fault fault_of(const casparian_check *self, const struct figures *figures,
                                const struct context *context, const struct plan *plan)
{
    const casparian_tally *tally = &context->figures->tallies[context->violation];
    bool is_structural = context->violation == CASPARIAN_VIOLATION_COLUMN_NAME_MISMATCH ||
                         context->violation == CASPARIAN_VIOLATION_COLUMN_COUNT_MISMATCH;
    casparian_fault fault = {
        .violation = context->violation,
        .name = context->figures->name,
        .column = context->column,
        .profile = context->figures->profile,
        .patterns = &self->patterns,
        .rows = figures->counts.rows_emitted,
        .count = is_structural ? structural(context->figures) : tally->count,
        .sentinels = tally->sentinels,
        .has_type_mismatch = context->figures->tallies[CASPARIAN_VIOLATION_TYPE_MISMATCH].count > 0,
        .must_not_lose = plan->must_not_lose,
    };
    if (!is_structural)
        return fault;
    size_t extra = context->order - self->options.definition->count;
    fault.is_structural_fixed = plan->is_applied && !self->options.has_no_profile &&
                                (context->column ? is_removable(figures, context->order)
                                                 : is_addable(self, figures, extra));
    if (context->column)
        fault.renamed = find_renamed(figures, fault.name);
    return fault;
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? round(1e6 * (double)part / (double)whole) / 1e4 : 0;
}

static mcp_status write_context(const casparian_check *self, const struct figures *figures,
                                const struct context *context, const casparian_fix *fix,
                                casparian_tally_limits limits, mcp_buf *text)
{
    const casparian_tally *tally = &context->figures->tallies[context->violation];
    mcp_json_writer out;
    mcp_json_writer_init(&out, text);
    mcp_write_object(&out);
    mcp_write_member_string(&out, "output_name", self->options.output);
    mcp_write_member_string(&out, "column", context->figures->name);
    mcp_write_member_string(&out, "violation_type", casparian_violation_text(context->violation));
    mcp_write_member_int(&out, "count", tally->count);
    mcp_write_member_double(&out, "pct_of_rows",
                            percent(tally->count, figures->counts.rows_emitted));
    casparian_tally_write(tally, &out, self->options.redaction, context->figures->is_sensitive,
                          limits);
    casparian_fix_write(fix, &out);
    mcp_write_member_object(&out, "first_seen");
    mcp_write_member_string(&out, "file", tally->first_file);
    mcp_write_member_int(&out, "row", tally->first_row);
    mcp_write_end(&out);
    mcp_write_end(&out);
    return mcp_json_writer_status(&out);
}

/* A context is at most 8 KiB: the distribution gives way first, then the samples. */
static void write_bounded(const casparian_check *self, const struct figures *figures,
                          const struct context *context, const struct plan *plan,
                          mcp_json_writer *out)
{
    casparian_fault fault = fault_of(self, figures, context, plan);
    casparian_tally_limits limits = { (size_t)self->options.redaction->max_sample_count,
                                      CASPARIAN_DISTRIBUTION_MAX };
    casparian_fix fix;
    mcp_buf text;
    casparian_fix_choose(&fix, &fault);
    mcp_buf_init(&text, CONTEXT_SPACE);
    for (;;) {
        mcp_status st = write_context(self, figures, context, &fix, limits, &text);
        bool is_least = limits.samples == 0 && limits.distribution == 0;
        if (st == MCP_OK && (text.length <= CONTEXT_BYTES_MAX || is_least))
            mcp_write_raw(out, text.data, text.length);
        if ((st == MCP_OK && text.length <= CONTEXT_BYTES_MAX) || is_least)
            break;
        if (limits.distribution > 0)
            limits.distribution--;
        else
            limits.samples--;
        mcp_buf_reset(&text);
    }
    mcp_buf_clear(&text);
}

/* ---- the answers ----------------------------------------------------------------------------- */

void casparian_check_count(const casparian_check *self, casparian_check_counts *out)
{
    const casparian_check_counts *a = &self->kept.counts, *b = &self->current.counts;
    *out = (casparian_check_counts){
        .rows_emitted = a->rows_emitted + b->rows_emitted,
        .rows_valid = a->rows_valid + b->rows_valid,
        .rows_quarantined = a->rows_quarantined + b->rows_quarantined,
        .parser_errors = a->parser_errors + b->parser_errors,
        .extra_columns_dropped = a->extra_columns_dropped + b->extra_columns_dropped,
        .profiled_rows = a->profiled_rows + b->profiled_rows,
    };
}

/* Add what has happened in the file that is being read. */
static void add_open(struct context *all, size_t *count, const struct context *open, size_t added)
{
    for (size_t i = 0; i < added; i++) {
        size_t at = 0;
        while (at < *count && (all[at].violation != open[i].violation ||
                               strcmp(all[at].figures->name, open[i].figures->name) != 0))
            at++;
        if (at == *count)
            all[(*count)++] = open[i];
        else
            all[at].count += open[i].count;
    }
}

size_t casparian_check_top(const casparian_check *self, casparian_violation_count *out, size_t max)
{
    size_t kept_count = 0, open_count = 0, count;
    struct context *kept = list(self, &self->kept, &kept_count);
    struct context *open = self->is_open ? list(self, &self->current, &open_count) : NULL;
    struct context *all = calloc(kept_count + open_count + 1, sizeof *all);
    if (!all) {
        free(kept);
        free(open);
        return 0;
    }
    if (kept_count > 0)
        memcpy(all, kept, kept_count * sizeof *all);
    count = kept_count;
    add_open(all, &count, open, open_count);
    qsort(all, count, sizeof *all, compare);
    for (size_t i = 0; i < count && i < max; i++)
        out[i] = (casparian_violation_count){ all[i].figures->name, all[i].violation,
                                              all[i].count };
    free(kept);
    free(open);
    free(all);
    return count < max ? count : max;
}

void casparian_check_write_violations(const casparian_check *self, mcp_json_writer *out)
{
    const struct figures *figures = &self->kept;
    struct plan plan = make_plan(self, figures);
    size_t count = 0;
    struct context *all = list(self, figures, &count);
    mcp_write_array(out);
    for (size_t i = 0; all && i < count; i++)
        write_bounded(self, figures, &all[i], &plan, out);
    mcp_write_end(out);
    if (!all && out->status == MCP_OK)
        out->status = MCP_E_NOMEM;
    free(all);
}

void casparian_write_parser_errors(const casparian_tally *tally,
                                   const casparian_redaction *redaction, mcp_json_writer *out)
{
    size_t samples = (size_t)redaction->max_sample_count;
    mcp_buf text;
    mcp_buf_init(&text, CONTEXT_SPACE);
    mcp_write_member_object(out, "parser_errors");
    mcp_write_member_int(out, "count", tally->count);
    mcp_write_member_array(out, "samples");
    for (size_t i = 0; i < samples && i < tally->value_count; i++) {
        mcp_buf_reset(&text);
        casparian_redact_said(&text, redaction, tally->values[i].text, tally->values[i].length);
        mcp_write_string_n(out, text.data ? text.data : "", text.length);
    }
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_buf_clear(&text);
}

static void write_dropped(const casparian_check *self, mcp_json_writer *out)
{
    const struct figures *figures = &self->kept;
    mcp_write_member_int(out, "extra_columns_dropped", figures->counts.extra_columns_dropped);
    if (figures->counts.extra_columns_dropped == 0)
        return;
    mcp_write_member_array(out, "extra_columns");
    for (size_t i = 0; i < figures->extra_count; i++) {
        if (figures->extras[i]->dropped > 0)
            mcp_write_string(out, figures->extras[i]->name);
    }
    mcp_write_end(out);
}

void casparian_check_write(const casparian_check *self, mcp_json_writer *out)
{
    const casparian_check_counts *counts = &self->kept.counts;
    int64_t emitted = counts->rows_emitted;
    mcp_write_member_int(out, "rows_emitted", emitted);
    mcp_write_member_int(out, "rows_valid", counts->rows_valid);
    mcp_write_member_int(out, "rows_quarantined", counts->rows_quarantined);
    mcp_write_member_double(out, "pass_rate",
                            emitted > 0 ? (double)counts->rows_valid / (double)emitted : 1);
    mcp_write_member_double(out, "quarantine_pct", percent(counts->rows_quarantined, emitted));
    mcp_write_member_string(out, "schema_hash", self->options.definition->hash);
    mcp_write_name(out, "violations");
    casparian_check_write_violations(self, out);
    casparian_write_parser_errors(&self->kept.parser, self->options.redaction, out);
    write_dropped(self, out);
    if (!self->options.has_no_profile && counts->profiled_rows < emitted)
        mcp_write_member_int(out, "profiled_rows", counts->profiled_rows);
}
