/*
 * builder.c - memory, indices and table rows for the parts of assemble.c.
 */
#include "case/build/builder.h"

#include <stdlib.h>

void *cobre_make(cobre_builder *b, size_t count, size_t size)
{
    void *array = mcp_arena_array(b->arena, count, size);

    b->failed = b->failed || !array;
    return array;
}

static int compare_stages(const void *a, const void *b)
{
    int32_t x = ((const cobre_stage *)a)->id, y = ((const cobre_stage *)b)->id;

    return x < y ? -1 : x > y;
}

size_t cobre_stage_index(const cobre_builder *b, int64_t id)
{
    const cobre_case *built = b->built;

    if (id < INT32_MIN || id > INT32_MAX || built->stage_count == 0)
        return COBRE_NONE;
    const cobre_stage key = { .id = (int32_t)id };
    const cobre_stage *found = bsearch(&key, built->stages, built->stage_count,
                                       sizeof *built->stages, compare_stages);
    return found ? (size_t)(found - built->stages) : COBRE_NONE;
}

size_t cobre_index_or_none(const cobre_builder *b, cobre_registry registry, int64_t id)
{
    return id == COBRE_ABSENT ? COBRE_NONE : cobre_input_index(b->input, registry, id);
}

bool cobre_is_outside(int64_t entry, int64_t exit, int64_t stage_id)
{
    return (entry != COBRE_ABSENT && stage_id < entry) ||
           (exit != COBRE_ABSENT && stage_id >= exit);
}

cobre_cursor cobre_rows_of(const cobre_builder *b, cobre_file_id id)
{
    return (cobre_cursor){ .table = &b->input->tables[id] };
}

bool cobre_next_row(const cobre_builder *b, cobre_registry registry, cobre_cursor *at)
{
    const cobre_table *table = at->table;

    while (at->next < table->rows) {
        at->row = table->order[at->next++];
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, at->row);
        at->entity = cobre_input_index(b->input, registry, id);
        at->stage = cobre_stage_index(b, cobre_table_int(table, COBRE_COL_STAGE, at->row));
        if (at->entity == COBRE_NONE || at->stage == COBRE_NONE)
            continue;
        at->cell = at->stage * b->input->registries[registry].count + at->entity;
        return true;
    }
    return false;
}

double cobre_cell_real(const cobre_cursor *at, size_t column)
{
    return cobre_table_real(at->table, column, at->row);
}

void cobre_override(double *value, const cobre_cursor *at, size_t column)
{
    double given = cobre_cell_real(at, column);

    if (!isnan(given))
        *value = given;
}
