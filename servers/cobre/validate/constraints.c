/*
 * constraints.c - layers 3 and 5 for generic constraints: the elements and blocks that their terms
 * and bounds name.
 *
 * An unknown hydro, thermal, line or bus is an error; an unknown pumping station, contract or
 * source is a warning, as in the original, and its term counts nothing. Source: the errors page,
 * section 5.3.
 */
#include "validate/layers.h"

static bool is_stub(cobre_registry registry)
{
    return registry == COBRE_STATIONS || registry == COBRE_CONTRACTS || registry == COBRE_SOURCES;
}

static void check_term(const cobre_input *input, const cobre_raw_constraint *constraint,
                       const cobre_raw_term *term)
{
    cobre_registry registry = cobre_variable_registry(term->variable);
    const char *name = cobre_variable_name(term->variable);

    if (cobre_input_find(input, registry, term->id))
        return;
    if (!is_stub(registry)) {
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_MISSING_REFERENCE,
                                                 3, COBRE_CONSTRAINTS, &constraint->head,
                                                 "expression");
        cobre_report_reference(input, &finding, name, term->id, registry);
        return;
    }
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                             3, COBRE_CONSTRAINTS, &constraint->head, "expression");
    finding.internal_kind = "UnusedEntity";
    cobre_report_rule(input, &finding, "term_has_an_element", "Correct the id, or remove the term.",
                      "%s(%lld) names no element of %s; the term counts nothing", name,
                      (long long)term->id, cobre_registry_file(registry));
}

static void report_block(const cobre_input *input, cobre_finding *finding, const char *place,
                         int64_t block, const cobre_raw_stage *stage)
{
    finding->internal_kind = "InvalidValue";
    finding->message = cobre_report_text(
        input->report, "%s names block %lld, but stage %lld has %zu", place, (long long)block,
        (long long)stage->head.id, stage->block_count);
    finding->suggestion = "Use the block ids of the stage in stages.json.";
    finding->members = COBRE_MEMBERS(COBRE_REAL("value", (double)block), COBRE_REAL("min", 0),
                                     COBRE_REAL("max", (double)stage->block_count - 1));
    cobre_report_add(input->report, finding);
}

/* The blocks of the terms in a stage where the constraint holds: the first that does not exist. */
static void check_term_blocks(const cobre_input *input, const cobre_raw_constraint *constraint,
                              const cobre_raw_stage *stage)
{
    for (size_t i = 0; i < constraint->term_count; i++) {
        int64_t block = constraint->terms[i].block;
        if (block == COBRE_ABSENT || block < (int64_t)stage->block_count)
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE, 5,
                                                 COBRE_CONSTRAINTS, &constraint->head,
                                                 "expression");
        report_block(input, &finding, cobre_variable_name(constraint->terms[i].variable), block,
                     stage);
        return;
    }
}

static void check_bounds(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_CONSTRAINT_BOUNDS];
    int64_t last_constraint = COBRE_ABSENT, last_stage = COBRE_ABSENT;

    for (size_t i = 0; i < table->rows; i++) {
        size_t row = table->order[i];
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, row);
        int64_t stage_id = cobre_table_int(table, COBRE_COL_STAGE, row);
        int64_t block = cobre_table_int(table, COBRE_GB_BLOCK, row);
        const cobre_raw_constraint *constraint = (const void *)cobre_input_find(
            input, COBRE_CONSTRAINTS, id);
        const cobre_raw_stage *stage = (const void *)cobre_input_find(input, COBRE_STUDY_STAGES,
                                                                      stage_id);
        if (!constraint || !stage)
            continue; /* the layer of references has reported it */
        if (block != COBRE_ABSENT && (block < 0 || block >= (int64_t)stage->block_count)) {
            cobre_finding finding = cobre_finding_row(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE,
                                                      3, input, COBRE_FILE_CONSTRAINT_BOUNDS,
                                                      COBRE_GB_BLOCK, row);
            report_block(input, &finding, "block_id", block, stage);
        }
        if (id != last_constraint || stage_id != last_stage)
            check_term_blocks(input, constraint, stage);
        last_constraint = id;
        last_stage = stage_id;
    }
}

void cobre_check_constraints(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_CONSTRAINTS];
    const cobre_raw_constraint *constraints = items->items;

    for (size_t i = 0; i < items->count; i++) {
        for (size_t k = 0; k < constraints[i].term_count; k++)
            check_term(input, &constraints[i], &constraints[i].terms[k]);
    }
    check_bounds(input);
}
