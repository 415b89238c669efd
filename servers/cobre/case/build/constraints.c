/*
 * constraints.c - fills the generic constraints and their rows by stage and block.
 *
 * A bound without a block becomes one row per block of its stage. A term of an element that does
 * not exist is dropped: layer 3 has warned of it. Source: the case page, section 8.1; the method
 * page, sections 2.5 and 16.
 */
#include <stdlib.h>

#include "case/build/builder.h"

/* In the original these variables contribute nothing. */
static bool is_lost(const cobre_builder *b, cobre_variable variable)
{
    cobre_registry registry = cobre_variable_registry(variable);

    return b->is_original &&
           (variable == COBRE_VAR_HYDRO_WITHDRAWAL || registry == COBRE_STATIONS ||
            registry == COBRE_CONTRACTS || registry == COBRE_SOURCES);
}

static void set_terms(cobre_builder *b, const cobre_raw_constraint *raw, cobre_constraint *out)
{
    cobre_term *terms = cobre_make(b, raw->term_count, sizeof *terms);

    for (size_t i = 0; i < raw->term_count && terms; i++) {
        const cobre_raw_term *term = &raw->terms[i];
        size_t entity = cobre_input_index(b->input, cobre_variable_registry(term->variable),
                                          term->id);
        if (entity == COBRE_NONE || is_lost(b, term->variable))
            continue;
        terms[out->term_count++] = (cobre_term){
            .variable = term->variable,
            .entity = entity,
            .block = term->block == COBRE_ABSENT ? COBRE_NONE : (size_t)term->block,
            .coefficient = term->coefficient,
        };
    }
    out->terms = terms;
}

static void set_constraints(cobre_builder *b)
{
    static const cobre_sense senses[] = { COBRE_SENSE_GE, COBRE_SENSE_LE, COBRE_SENSE_EQ };
    const cobre_registry_items *items = &b->input->registries[COBRE_CONSTRAINTS];
    const cobre_raw_constraint *raw = items->items;
    cobre_constraint *constraints = cobre_make(b, items->count, sizeof *constraints);

    for (size_t i = 0; i < items->count && constraints; i++) {
        constraints[i] = (cobre_constraint){
            .id = (int32_t)raw[i].head.id,
            .name = raw[i].head.name,
            .sense = senses[raw[i].sense],
            .has_slack = raw[i].slack_enabled,
            .penalty = raw[i].slack_enabled ? raw[i].slack_penalty : 0,
        };
        set_terms(b, &raw[i], &constraints[i]);
    }
    b->built->constraints = constraints;
    b->built->constraint_count = items->count;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
    const cobre_constraint_row *x = a, *y = b;

    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->constraint != y->constraint)
        return x->constraint < y->constraint ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->bound < y->bound ? -1 : x->bound > y->bound;
}

/* The blocks that the current row of the bounds limits: `first` and their number. */
static size_t blocks_of(const cobre_builder *b, const cobre_cursor *at, size_t *first)
{
    int64_t block = cobre_table_int(at->table, COBRE_GB_BLOCK, at->row);
    size_t count = b->built->stages[at->stage].block_count;

    *first = block == COBRE_ABSENT ? 0 : (size_t)block;
    if (block == COBRE_ABSENT)
        return count;
    return block >= 0 && (size_t)block < count;
}

static size_t count_rows(const cobre_builder *b)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_CONSTRAINT_BOUNDS);
    size_t count = 0, first = 0;

    while (cobre_next_row(b, COBRE_CONSTRAINTS, &at))
        count += blocks_of(b, &at, &first);
    return count;
}

static void set_rows(cobre_builder *b)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_CONSTRAINT_BOUNDS);
    size_t count = count_rows(b), used = 0, first = 0;
    cobre_constraint_row *rows = cobre_make(b, count, sizeof *rows);

    while (rows && cobre_next_row(b, COBRE_CONSTRAINTS, &at)) {
        size_t blocks = blocks_of(b, &at, &first);
        for (size_t i = 0; i < blocks; i++)
            rows[used++] = (cobre_constraint_row){
                .stage = at.stage,
                .constraint = at.entity,
                .block = first + i,
                .bound = cobre_cell_real(&at, COBRE_GB_BOUND),
            };
    }
    if (rows && count > 1)
        qsort(rows, count, sizeof *rows, compare_rows);
    b->built->constraint_rows = rows;
    b->built->constraint_row_count = count;
}

void cobre_build_constraints(cobre_builder *b)
{
    set_constraints(b);
    set_rows(b);
}
