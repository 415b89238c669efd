/*
 * encode.c - a policy as FlatBuffers and JSON.
 *
 * The format has a record for every slot of a pool, filled or not; in memory only the filled ones
 * are there. Coefficients are gathered from the study's arrays, which may lie in chunks and by
 * state.
 */
#include "policy/encode.h"

#include <string.h>

#include "flat/builder.h"
#include "mcp/json.h"
#include "policy/schema.h"

/* ---- cuts ------------------------------------------------------------------------------------ */

static size_t slots_of(const policy_stage *stage)
{
    size_t filled = stage->cut_count > 0 ? (size_t)stage->cuts[stage->cut_count - 1].slot + 1 : 0;

    return filled > stage->warm_count ? filled : stage->warm_count;
}

/* Slots with the first block, which stays empty because iterations are counted from 1. */
static uint32_t capacity_of(const policy *self, const policy_stage *stage)
{
    uint64_t openings = stage->opening_count > 0 ? stage->opening_count : 1;
    uint64_t slots = ((uint64_t)self->metadata.max_iterations + 1) * stage->passes * openings +
                     stage->warm_count;

    return slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
}

/* A slot that was never filled: NULL. */
static void add_cut(flat_builder *to, uint32_t place, const policy *self, const policy_stage *stage,
                    const policy_cut *cut, uint32_t slot)
{
    flat_table record = flat_add_table(to, place, &policy_cut_layout);

    flat_add_vector(to, flat_at(&record, CUT_STATE), 0, sizeof(double), sizeof(double));
    double *slope = flat_add_vector(to, flat_at(&record, CUT_COEFFICIENTS), self->dimension,
                                    sizeof *slope, sizeof *slope);
    for (size_t j = 0; cut && slope && j < self->dimension; j++)
        slope[j] = policy_coefficient(stage, (size_t)(cut - stage->cuts), j);
    flat_put_u32(to, &record, CUT_SLOT, slot);
    if (!cut) {
        flat_put_u64(to, &record, CUT_ID,
                     slot < stage->warm_count ? slot : slot - stage->warm_count);
        return;
    }
    flat_put_u64(to, &record, CUT_ID, cut->id);
    flat_put_u32(to, &record, CUT_ITERATION, cut->iteration);
    flat_put_u32(to, &record, CUT_FORWARD_PASS, cut->forward_pass);
    flat_put_f64(to, &record, CUT_INTERCEPT, cut->intercept);
    flat_put_u8(to, &record, CUT_IS_ACTIVE, cut->is_active);
    flat_put_u32(to, &record, CUT_OPENING, cut->opening);
}

static void add_active(flat_builder *to, uint32_t place, const policy_stage *stage)
{
    size_t count = 0, at = 0;

    for (size_t i = 0; i < stage->cut_count; i++)
        count += stage->cuts[i].is_active;
    uint32_t *slots = flat_add_vector(to, place, count, sizeof *slots, sizeof *slots);
    for (size_t i = 0; slots && i < stage->cut_count; i++)
        if (stage->cuts[i].is_active)
            slots[at++] = stage->cuts[i].slot;
}

void policy_encode_cuts(mcp_buf *to_buf, const policy *self, size_t stage_index)
{
    const policy_stage *stage = &self->stages[stage_index];
    size_t slots = slots_of(stage), next = 0;
    flat_builder to;

    flat_builder_begin(&to, to_buf);
    flat_table table = flat_add_table(&to, FLAT_ROOT, &policy_cuts_layout);
    flat_put_u32(&to, &table, CUTS_STAGE, (uint32_t)stage_index);
    flat_put_u32(&to, &table, CUTS_DIMENSION, (uint32_t)self->dimension);
    flat_put_u32(&to, &table, CUTS_CAPACITY, capacity_of(self, stage));
    flat_put_u32(&to, &table, CUTS_WARM_COUNT, stage->warm_count);
    flat_put_u32(&to, &table, CUTS_POPULATED, (uint32_t)slots);
    flat_put_u32(&to, &table, CUTS_OPENINGS, stage->opening_count);
    add_active(&to, flat_at(&table, CUTS_ACTIVE), stage);
    uint32_t cuts = flat_add_references(&to, flat_at(&table, CUTS_CUTS), slots);
    for (size_t i = 0; i < slots && to_buf->status == MCP_OK; i++) {
        bool is_filled = next < stage->cut_count && stage->cuts[next].slot == i;
        add_cut(&to, flat_item(cuts, i), self, stage, is_filled ? &stage->cuts[next] : NULL,
                (uint32_t)i);
        next += is_filled;
    }
}

/* ---- basis and states ------------------------------------------------------------------------ */

/* In the codes of the format. */
static void add_places(flat_builder *to, uint32_t place, const uint8_t *from, size_t count)
{
    static const uint8_t codes[] = {
        [POLICY_PLACE_AT_LOWER] = 0, [POLICY_PLACE_FIXED] = 0, [POLICY_PLACE_BASIC] = 1,
        [POLICY_PLACE_AT_UPPER] = 2, [POLICY_PLACE_FREE] = 3,  [POLICY_PLACE_SUPER] = 4,
    };
    uint8_t *bytes = flat_add_vector(to, place, count, 1, 1);

    for (size_t i = 0; bytes && i < count; i++)
        bytes[i] = codes[from[i]];
}

void policy_encode_basis(mcp_buf *to_buf, const policy *self, size_t stage_index)
{
    const policy_stage *stage = &self->stages[stage_index];
    const policy_bases *bases = &stage->bases;
    size_t rows = bases->rows + bases->set_count;
    flat_builder to;

    flat_builder_begin(&to, to_buf);
    flat_table table = flat_add_table(&to, FLAT_ROOT, &policy_basis_layout);
    flat_put_u32(&to, &table, BASIS_STAGE, (uint32_t)stage_index);
    flat_put_u32(&to, &table, BASIS_ITERATION, self->metadata.completed_iterations);
    flat_put_u32(&to, &table, BASIS_COLUMNS, (uint32_t)bases->columns);
    flat_put_u32(&to, &table, BASIS_ROWS, (uint32_t)rows);
    flat_put_u32(&to, &table, BASIS_CUT_ROWS, (uint32_t)slots_of(stage));
    add_places(&to, flat_at(&table, BASIS_COLUMN_STATUS), bases->bytes, bases->columns);
    add_places(&to, flat_at(&table, BASIS_ROW_STATUS), bases->bytes + bases->columns, rows);
}

static void add_states(flat_builder *to, uint32_t place, const policy_stage *stage, size_t count,
                       size_t dimension)
{
    double *room = flat_add_vector(to, place, count * dimension, sizeof *room, sizeof *room);

    for (size_t i = 0; room && i < count; i++)
        memcpy(room + i * dimension, policy_state(stage, i, dimension), dimension * sizeof *room);
}

void policy_encode_states(mcp_buf *to_buf, const policy *self, size_t stage_index)
{
    const policy_stage *stage = &self->stages[stage_index];
    flat_builder to;

    flat_builder_begin(&to, to_buf);
    flat_table table = flat_add_table(&to, FLAT_ROOT, &policy_states_layout);
    flat_put_u32(&to, &table, STATES_STAGE, (uint32_t)stage_index);
    flat_put_u32(&to, &table, STATES_DIMENSION, (uint32_t)self->dimension);
    flat_put_u32(&to, &table, STATES_COUNT, (uint32_t)stage->state_count);
    add_states(&to, flat_at(&table, STATES_DATA), stage, stage->state_count, self->dimension);
}

/* ---- resume.bin ------------------------------------------------------------------------------ */

static void add_doubles(flat_builder *to, uint32_t place, const double *values, size_t count)
{
    void *room = flat_add_vector(to, place, count, sizeof *values, sizeof *values);

    if (room)
        memcpy(room, values, count * sizeof *values);
}

static void add_bases(flat_builder *to, uint32_t place, const policy_bases *bases)
{
    size_t length = bases->columns + bases->rows + bases->set_count;
    uint8_t *bytes = flat_add_vector(to, place, bases->count * length, 1, 1);

    for (size_t i = 0; bytes && i < bases->count; i++)
        memcpy(bytes + i * length, bases->bytes + i * bases->stride, length);
}

/* One number a cut: the member of policy_cut that `offset` names. */
static void add_of_cuts(flat_builder *to, uint32_t place, const policy_stage *stage, size_t offset)
{
    uint32_t *values = flat_add_vector(to, place, stage->cut_count, sizeof *values, sizeof *values);

    for (size_t i = 0; values && i < stage->cut_count; i++)
        memcpy(&values[i], (const char *)&stage->cuts[i] + offset, sizeof *values);
}

static void add_stage(flat_builder *to, uint32_t place, const policy *self,
                      const policy_stage *stage, bool with_states)
{
    flat_table table = flat_add_table(to, place, &policy_resumed_layout);

    add_of_cuts(to, flat_at(&table, RESUMED_LAST_ACTIVE), stage, offsetof(policy_cut, last_active));
    add_of_cuts(to, flat_at(&table, RESUMED_ACTIVE_COUNT), stage,
                offsetof(policy_cut, active_count));
    add_of_cuts(to, flat_at(&table, RESUMED_ACTIVITY), stage, offsetof(policy_cut, activity_bits));
    flat_put_u32(to, &table, RESUMED_COLUMNS, (uint32_t)stage->bases.columns);
    flat_put_u32(to, &table, RESUMED_ROWS, (uint32_t)stage->bases.rows);
    flat_put_u32(to, &table, RESUMED_BASIS_COUNT, (uint32_t)stage->bases.count);
    size_t size = sizeof *stage->bases.set, count = stage->bases.set_count;
    void *set = flat_add_vector(to, flat_at(&table, RESUMED_WORKING_SET), count, size, size);
    if (set)
        memcpy(set, stage->bases.set, count * size);
    add_bases(to, flat_at(&table, RESUMED_BASES), &stage->bases);
    add_states(to, flat_at(&table, RESUMED_STATES), stage, with_states ? stage->state_count : 0,
               self->dimension);
}

static void add_row(flat_builder *to, uint32_t place, const policy_iteration *from)
{
    flat_table row = flat_add_table(to, place, &policy_row_layout);

    flat_put_i32(to, &row, ROW_ITERATION, from->iteration);
    flat_put_f64(to, &row, ROW_LOWER_BOUND, from->lower_bound);
    flat_put_f64(to, &row, ROW_UPPER_BOUND, from->upper_bound);
    flat_put_f64(to, &row, ROW_UPPER_BOUND_STD, from->upper_bound_std);
    flat_put_f64(to, &row, ROW_CI_95, from->ci_95);
    flat_put_f64(to, &row, ROW_GAP, from->gap);
    flat_put_i32(to, &row, ROW_CUTS_ADDED, from->cuts_added);
    flat_put_i32(to, &row, ROW_CUTS_REMOVED, from->cuts_removed);
    flat_put_i64(to, &row, ROW_CUTS_ACTIVE, from->cuts_active);
    flat_put_i64(to, &row, ROW_TIME_FORWARD, from->time_forward_ms);
    flat_put_i64(to, &row, ROW_TIME_BACKWARD, from->time_backward_ms);
    flat_put_i64(to, &row, ROW_TIME_TOTAL, from->time_total_ms);
    flat_put_i64(to, &row, ROW_WALL_TIME, from->wall_time_ms);
    flat_put_i64(to, &row, ROW_LOWER_BOUND_TIME, from->lower_bound_ms);
    flat_put_i64(to, &row, ROW_OVERHEAD, from->overhead_ms);
    flat_put_i32(to, &row, ROW_FORWARD_PASSES, from->forward_passes);
    flat_put_i64(to, &row, ROW_LP_SOLVES, from->lp_solves);
    flat_put_u8(to, &row, ROW_HAS_INNER_BOUND, from->has_inner_bound);
    flat_put_f64(to, &row, ROW_INNER_BOUND, from->inner_upper_bound);
}

void policy_encode_resume(mcp_buf *to_buf, const policy *self, bool with_states)
{
    flat_builder to;

    flat_builder_begin(&to, to_buf);
    flat_table table = flat_add_table(&to, FLAT_ROOT, &policy_resume_layout);
    flat_put_u32(&to, &table, RESUME_VERSION, POLICY_RESUME_VERSION);
    flat_put_u32(&to, &table, RESUME_COMPLETED, self->metadata.completed_iterations);
    flat_put_i64(&to, &table, RESUME_ELAPSED, self->elapsed_ns);
    uint32_t stages = flat_add_references(&to, flat_at(&table, RESUME_STAGES), self->stage_count);
    for (size_t t = 0; t < self->stage_count && to_buf->status == MCP_OK; t++)
        add_stage(&to, flat_item(stages, t), self, &self->stages[t], with_states);
    uint32_t rows = flat_add_references(&to, flat_at(&table, RESUME_ITERATIONS),
                                        self->iteration_count);
    for (size_t i = 0; i < self->iteration_count && to_buf->status == MCP_OK; i++)
        add_row(&to, flat_item(rows, i), &self->iterations[i]);
    add_doubles(&to, flat_at(&table, RESUME_MEANS), self->means, self->mean_count);
}

/* ---- metadata.json --------------------------------------------------------------------------- */

static void write_periods(mcp_json_writer *to, const policy_period *periods, size_t count)
{
    mcp_write_member_array(to, "lag_periods");
    for (size_t t = 0; t < count; t++) {
        mcp_write_object(to);
        mcp_write_member_bool(to, "is_last", periods[t].is_last);
        mcp_write_member_double(to, "spill", periods[t].spill);
        mcp_write_end(to);
    }
    mcp_write_end(to);
}

void policy_encode_metadata(mcp_buf *to, const policy *self)
{
    const policy_metadata *from = &self->metadata;
    uint64_t states = 0;
    uint32_t warm = 0;
    mcp_json_writer writer;

    for (size_t t = 0; t < self->stage_count; t++) {
        states += self->stages[t].state_count;
        if (self->stages[t].warm_count > warm)
            warm = self->stages[t].warm_count;
    }
    mcp_json_writer_init(&writer, to);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "cobre_version", from->cobre_version);
    mcp_write_member_string(&writer, "created_at", from->created_at);
    mcp_write_member_int(&writer, "completed_iterations", from->completed_iterations);
    mcp_write_name(&writer, "final_lower_bound");
    mcp_write_double_or_null(&writer, from->final_lower_bound);
    mcp_write_name(&writer, "best_upper_bound");
    mcp_write_double_or_null(&writer, from->best_upper_bound);
    mcp_write_member_int(&writer, "state_dimension", (int64_t)self->dimension);
    mcp_write_member_int(&writer, "num_stages", (int64_t)self->stage_count);
    mcp_write_member_int(&writer, "max_iterations", from->max_iterations);
    mcp_write_member_int(&writer, "forward_passes", from->forward_passes);
    mcp_write_member_int(&writer, "warm_start_cuts", warm);
    mcp_write_member_array(&writer, "warm_start_counts");
    for (size_t t = 0; t < self->stage_count; t++)
        mcp_write_int(&writer, self->stages[t].warm_count);
    mcp_write_end(&writer);
    mcp_write_name(&writer, "rng_seed");
    mcp_write_uint(&writer, from->rng_seed);
    mcp_write_name(&writer, "total_visited_states");
    mcp_write_uint(&writer, states);
    if (from->hydro_ids) {
        mcp_write_member_array(&writer, "hydro_ids");
        for (size_t h = 0; h < from->hydro_count; h++)
            mcp_write_int(&writer, from->hydro_ids[h]);
        mcp_write_end(&writer);
    }
    if (from->case_digest)
        mcp_write_member_string(&writer, "case_digest", from->case_digest);
    if (from->floors) {
        mcp_write_member_array(&writer, "future_cost_floors");
        for (size_t t = 0; t < self->stage_count; t++)
            mcp_write_double(&writer, from->floors[t]);
        mcp_write_end(&writer);
    }
    if (from->periods)
        write_periods(&writer, from->periods, self->stage_count);
    mcp_write_end(&writer);
    mcp_buf_putc(to, '\n');
    if (mcp_json_writer_status(&writer) != MCP_OK && to->status == MCP_OK)
        to->status = mcp_json_writer_status(&writer);
}
