/**
 * builder.h - what the parts of assemble.c share: the case in the making, and the rows of a table.
 *
 * Every part fills its members of the case from input without errors. Memory that is out sets
 * `failed`; each part still returns in order, and the case is then given up.
 */
#ifndef COBRE_CASE_BUILD_BUILDER_H
#define COBRE_CASE_BUILD_BUILDER_H

#include "case/input.h"

typedef struct cobre_builder {
    const cobre_input *input;
    mcp_arena *arena;
    cobre_case *built;
    bool failed;      /* memory is out */
    bool is_original; /* modeling.compatibility "cobre-0.5": method page, 16, is switched off */
} cobre_builder;

/* The parts, in the order in which they run. */
void cobre_build_config(cobre_builder *b);
void cobre_build_stages(cobre_builder *b);
void cobre_build_registries(cobre_builder *b);
void cobre_build_hydros(cobre_builder *b);
void cobre_build_elements_by_stage(cobre_builder *b);
void cobre_build_hydros_by_stage(cobre_builder *b);
void cobre_build_models_by_stage(cobre_builder *b, cobre_hydro_stage *stages);
void cobre_build_scenarios(cobre_builder *b);
void cobre_build_correlation(cobre_builder *b);
void cobre_build_constraints(cobre_builder *b);

/** Zeroed memory for `count` items; NULL sets `failed`. */
void *cobre_make(cobre_builder *b, size_t count, size_t size);

/** The index of the study stage of that id; COBRE_NONE when there is none. */
size_t cobre_stage_index(const cobre_builder *b, int64_t id);

/** The index of an entity; COBRE_NONE for COBRE_ABSENT too. */
size_t cobre_index_or_none(const cobre_builder *b, cobre_registry registry, int64_t id);

/** Whether stage id lies outside [entry, exit); the original ignores both for most elements. */
bool cobre_is_outside(int64_t entry, int64_t exit, int64_t stage_id);

/** The rows of a table in the order of its keys. */
typedef struct cobre_cursor {
    const cobre_table *table;
    size_t next, row;
    size_t entity, stage; /* indices */
    size_t cell;          /* stage * entities + entity */
} cobre_cursor;

cobre_cursor cobre_rows_of(const cobre_builder *b, cobre_file_id id);

/** Go to the next row of an existing entity in an existing study stage. */
bool cobre_next_row(const cobre_builder *b, cobre_registry registry, cobre_cursor *at);

/** Replace the value by the row's, where it has one. */
void cobre_override(double *value, const cobre_cursor *at, size_t column);

/** The real of the row, NAN for none. */
double cobre_cell_real(const cobre_cursor *at, size_t column);

#endif
