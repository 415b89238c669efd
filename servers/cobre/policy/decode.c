/*
 * decode.c - reads and checks the files of a policy.
 *
 * The reader of FlatBuffers keeps to the bytes; here it is checked that the numbers make sense
 * together: lengths agree, slots follow one another, values are finite. A good file shares no
 * parts, so what is allocated for it is no larger than the file.
 */
#include "policy/decode.h"

#include <math.h>
#include <string.h>

#include "flat/reader.h"
#include "mcp/json.h"
#include "policy/schema.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy");
}

static mcp_status pass_on(const flat_reader *from, mcp_error *err)
{
    if (from->error.status != MCP_OK && err)
        *err = from->error;
    return from->error.status;
}

static bool are_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* Copy the items of a vector. NULL: no memory. */
static void *copy_items(const flat_items *items, mcp_arena *arena)
{
    void *room = mcp_arena_array(arena, items->count, items->size);

    if (room && items->count > 0)
        memcpy(room, items->bytes, items->count * items->size);
    return room;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* A file of cuts, opened and its head checked. */
typedef struct cut_file {
    flat_reader reader;
    flat_items records;
    size_t dimension;
    uint32_t warm, openings;
} cut_file;

/* One record. */
typedef struct cut_record {
    policy_cut cut;
    flat_items slope;
    bool is_filled;
} cut_record;

static mcp_status open_cuts(cut_file *file, policy_bytes from, size_t dimension, mcp_error *err)
{
    flat_reader *r = &file->reader;

    flat_reader_begin(r, from.bytes, from.length);
    flat_view head = flat_read_root(r, &policy_cuts_layout);
    uint32_t own = flat_get_u32(r, &head, CUTS_DIMENSION);
    uint32_t populated = flat_get_u32(r, &head, CUTS_POPULATED);
    file->warm = flat_get_u32(r, &head, CUTS_WARM_COUNT);
    file->openings = flat_get_u32(r, &head, CUTS_OPENINGS);
    file->records = flat_get_items(r, &head, CUTS_CUTS, sizeof(uint32_t));
    file->dimension = dimension;
    mcp_status st = pass_on(r, err);
    if (st != MCP_OK)
        return st;
    if (own != dimension)
        return mcp_error_set(err, MCP_E_PARSE,
                             "StageCuts.state_dimension is %u; metadata.json has %zu", own,
                             dimension);
    if (populated != file->records.count || file->warm > file->records.count)
        return mcp_error_set(
            err, MCP_E_PARSE,
            "StageCuts.populated_count %u and warm_start_count %u do not fit %zu cuts", populated,
            file->warm, file->records.count);
    if (dimension > 0 && file->records.count > from.length / sizeof(double) / dimension)
        return mcp_error_set(err, MCP_E_PARSE,
                             "StageCuts.cuts: %zu cuts of %zu coefficients do not fit the file",
                             file->records.count, dimension);
    return MCP_OK;
}

static bool is_zero(const flat_items *items)
{
    for (size_t i = 0; i < items->count * items->size; i++)
        if (items->bytes[i] != 0)
            return false;
    return true;
}

static mcp_status read_cut(cut_record *out, cut_file *file, size_t index, mcp_error *err)
{
    flat_reader *r = &file->reader;
    flat_view view = flat_get_table_item(r, &file->records, index, &policy_cut_layout);
    policy_cut *cut = &out->cut;

    *cut = (policy_cut){
        .id = flat_get_u64(r, &view, CUT_ID),
        .slot = flat_get_u32(r, &view, CUT_SLOT),
        .iteration = flat_get_u32(r, &view, CUT_ITERATION),
        .forward_pass = flat_get_u32(r, &view, CUT_FORWARD_PASS),
        .opening = flat_get_u32(r, &view, CUT_OPENING),
        .is_active = flat_get_u8(r, &view, CUT_IS_ACTIVE) != 0,
        .intercept = flat_get_f64(r, &view, CUT_INTERCEPT),
    };
    out->slope = flat_get_items(r, &view, CUT_COEFFICIENTS, sizeof(double));
    mcp_status st = pass_on(r, err);
    if (st != MCP_OK)
        return st;
    if (cut->slot != index)
        return mcp_error_set(err, MCP_E_PARSE, "cut %zu: its slot_index is %u", index, cut->slot);
    if (out->slope.count != file->dimension)
        return mcp_error_set(err, MCP_E_PARSE, "cut %zu has %zu coefficients instead of %zu", index,
                             out->slope.count, file->dimension);
    if (!isfinite(cut->intercept))
        return mcp_error_set(err, MCP_E_PARSE, "cut %zu: its intercept is no finite number", index);
    out->is_filled = cut->iteration != 0 || cut->is_active || cut->intercept != 0.0 ||
                     !is_zero(&out->slope);
    return MCP_OK;
}

mcp_status policy_decode_counts(policy_counts *out, policy_bytes from, size_t dimension,
                                mcp_error *err)
{
    cut_file file;
    cut_record record;
    mcp_status st = open_cuts(&file, from, dimension, err);
    policy_counts counts = { .warm = file.warm };

    for (size_t i = 0; st == MCP_OK && i < file.records.count; i++) {
        st = read_cut(&record, &file, i, err);
        counts.cuts += st == MCP_OK && record.is_filled;
        counts.active += st == MCP_OK && record.cut.is_active;
    }
    if (st == MCP_OK)
        *out = counts;
    return st;
}

mcp_status policy_decode_cuts(policy_stage *stage, policy_bytes from, size_t dimension,
                              mcp_arena *arena, mcp_error *err)
{
    cut_file file;
    cut_record record;
    size_t count = 0;
    mcp_status st = open_cuts(&file, from, dimension, err);

    if (st != MCP_OK)
        return st;
    policy_cut *cuts = mcp_arena_array(arena, file.records.count, sizeof *cuts);
    double *slopes = mcp_arena_array(arena, file.records.count, dimension * sizeof *slopes);
    const double **chunk = mcp_arena_alloc(arena, sizeof *chunk);
    if (!cuts || !slopes || !chunk)
        return no_memory(err);
    *chunk = slopes;
    for (size_t i = 0; i < file.records.count; i++) {
        st = read_cut(&record, &file, i, err);
        if (st != MCP_OK)
            return st;
        if (!record.is_filled)
            continue;
        double *slope = slopes + count * dimension;
        if (dimension > 0)
            memcpy(slope, record.slope.bytes, dimension * sizeof *slope);
        if (!are_finite(slope, dimension))
            return mcp_error_set(err, MCP_E_PARSE, "cut %zu: a coefficient is no finite number", i);
        cuts[count++] = record.cut;
    }
    stage->warm_count = file.warm;
    stage->opening_count = file.openings;
    stage->cuts = cuts;
    stage->cut_count = count;
    stage->coefficients = chunk;
    stage->cuts_a_chunk = count > 0 ? count : 1;
    stage->cut_stride = dimension;
    stage->state_stride = 1;
    return MCP_OK;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Keep the vector as the visited states of a stage. */
static mcp_status take_states(policy_stage *stage, const flat_items *items, size_t dimension,
                              mcp_arena *arena, mcp_error *err)
{
    size_t count = dimension > 0 ? items->count / dimension : 0;

    if (count * dimension != items->count)
        return mcp_error_set(err, MCP_E_PARSE, "%s: %zu numbers are not states of %zu",
                             items->layout->name, items->count, dimension);
    double *states = copy_items(items, arena);
    const double **chunk = mcp_arena_alloc(arena, sizeof *chunk);
    if (!states || !chunk)
        return no_memory(err);
    *chunk = states;
    if (!are_finite(states, items->count))
        return mcp_error_set(err, MCP_E_PARSE, "%s: a state is no finite number",
                             items->layout->name);
    stage->states = chunk;
    stage->states_a_chunk = count > 0 ? count : 1;
    stage->state_count = count;
    return MCP_OK;
}

mcp_status policy_decode_states(policy_stage *stage, policy_bytes from, size_t dimension,
                                mcp_arena *arena, mcp_error *err)
{
    flat_reader r;

    flat_reader_begin(&r, from.bytes, from.length);
    flat_view head = flat_read_root(&r, &policy_states_layout);
    uint32_t own = flat_get_u32(&r, &head, STATES_DIMENSION);
    uint32_t count = flat_get_u32(&r, &head, STATES_COUNT);
    flat_items data = flat_get_items(&r, &head, STATES_DATA, sizeof(double));
    mcp_status st = pass_on(&r, err);
    if (st != MCP_OK)
        return st;
    if (own != dimension || data.count != (size_t)count * dimension)
        return mcp_error_set(err, MCP_E_PARSE,
                             "StageStates: %u states of %u numbers; the policy has states of %zu, "
                             "and the file %zu numbers",
                             count, own, dimension, data.count);
    return take_states(stage, &data, dimension, arena, err);
}

/* ---- resume.bin ------------------------------------------------------------------------------ */

static mcp_status misfit(const char *what, size_t stage, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_PARSE, "ResumeStage %zu: %s do not fit the policy", stage,
                         what);
}

/* Give every cut what the file has of it. */
static mcp_status take_activity(policy_stage *stage, size_t index, flat_reader *r,
                                const flat_view *view, mcp_error *err)
{
    static const struct {
        unsigned field;
        size_t offset;
    } members[] = {
        { RESUMED_LAST_ACTIVE, offsetof(policy_cut, last_active) },
        { RESUMED_ACTIVE_COUNT, offsetof(policy_cut, active_count) },
        { RESUMED_ACTIVITY, offsetof(policy_cut, activity_bits) },
    };
    policy_cut *cuts = (policy_cut *)stage->cuts; /* the arena's, made by policy_decode_cuts */

    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
        flat_items items = flat_get_items(r, view, members[m].field, sizeof(uint32_t));
        if (r->error.status == MCP_OK && items.count != stage->cut_count)
            return misfit("the cuts", index, err);
        for (size_t i = 0; i < items.count; i++)
            memcpy((char *)&cuts[i] + members[m].offset, items.bytes + i * items.size, items.size);
    }
    return pass_on(r, err);
}

/* Each cut at most once. */
static mcp_status check_set(const uint32_t *set, size_t count, const policy_stage *stage,
                            size_t index, mcp_arena *arena, mcp_error *err)
{
    uint8_t *seen = mcp_arena_alloc(arena, stage->cut_count);

    if (!seen)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (set[i] >= stage->cut_count || seen[set[i]])
            return misfit("the cuts of the working set", index, err);
        seen[set[i]] = 1;
    }
    return MCP_OK;
}

static mcp_status take_bases(policy_stage *stage, size_t index, flat_reader *r,
                             const flat_view *view, mcp_arena *arena, mcp_error *err)
{
    policy_bases bases = {
        .columns = flat_get_u32(r, view, RESUMED_COLUMNS),
        .rows = flat_get_u32(r, view, RESUMED_ROWS),
        .count = flat_get_u32(r, view, RESUMED_BASIS_COUNT),
    };
    flat_items set = flat_get_items(r, view, RESUMED_WORKING_SET, sizeof(uint32_t));
    flat_items bytes = flat_get_items(r, view, RESUMED_BASES, 1);
    mcp_status st = pass_on(r, err);

    if (st != MCP_OK)
        return st;
    bases.set_count = set.count;
    bases.stride = bases.columns + bases.rows + set.count;
    if (set.count > stage->cut_count || bytes.count != bases.count * bases.stride)
        return misfit("the bases", index, err);
    for (size_t i = 0; i < bytes.count; i++)
        if (bytes.bytes[i] > POLICY_PLACE_FIXED)
            return misfit("the places of a basis", index, err);
    bases.set = copy_items(&set, arena);
    bases.bytes = copy_items(&bytes, arena);
    if (!bases.set || !bases.bytes)
        return no_memory(err);
    st = check_set(bases.set, bases.set_count, stage, index, arena, err);
    if (st == MCP_OK)
        stage->bases = bases;
    return st;
}

static mcp_status take_stage(policy_stage *stage, size_t index, flat_reader *r,
                             const flat_view *view, size_t dimension, mcp_arena *arena,
                             mcp_error *err)
{
    mcp_status st = take_activity(stage, index, r, view, err);

    if (st == MCP_OK)
        st = take_bases(stage, index, r, view, arena, err);
    if (st != MCP_OK || stage->state_count > 0) /* they have files of their own */
        return st;
    flat_items states = flat_get_items(r, view, RESUMED_STATES, sizeof(double));
    st = pass_on(r, err);
    return st == MCP_OK && states.count > 0 ? take_states(stage, &states, dimension, arena, err)
                                            : st;
}

static mcp_status take_rows(policy *out, flat_reader *r, const flat_view *head, mcp_arena *arena,
                            mcp_error *err)
{
    flat_items items = flat_get_items(r, head, RESUME_ITERATIONS, sizeof(uint32_t));
    policy_iteration *rows = mcp_arena_array(arena, items.count, sizeof *rows);

    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < items.count; i++) {
        flat_view row = flat_get_table_item(r, &items, i, &policy_row_layout);
        rows[i] = (policy_iteration){
            .iteration = flat_get_i32(r, &row, ROW_ITERATION),
            .lower_bound = flat_get_f64(r, &row, ROW_LOWER_BOUND),
            .upper_bound = flat_get_f64(r, &row, ROW_UPPER_BOUND),
            .upper_bound_std = flat_get_f64(r, &row, ROW_UPPER_BOUND_STD),
            .ci_95 = flat_get_f64(r, &row, ROW_CI_95),
            .gap = flat_get_f64(r, &row, ROW_GAP),
            .cuts_added = flat_get_i32(r, &row, ROW_CUTS_ADDED),
            .cuts_removed = flat_get_i32(r, &row, ROW_CUTS_REMOVED),
            .cuts_active = flat_get_i64(r, &row, ROW_CUTS_ACTIVE),
            .time_forward_ms = flat_get_i64(r, &row, ROW_TIME_FORWARD),
            .time_backward_ms = flat_get_i64(r, &row, ROW_TIME_BACKWARD),
            .time_total_ms = flat_get_i64(r, &row, ROW_TIME_TOTAL),
            .wall_time_ms = flat_get_i64(r, &row, ROW_WALL_TIME),
            .lower_bound_ms = flat_get_i64(r, &row, ROW_LOWER_BOUND_TIME),
            .overhead_ms = flat_get_i64(r, &row, ROW_OVERHEAD),
            .forward_passes = flat_get_i32(r, &row, ROW_FORWARD_PASSES),
            .lp_solves = flat_get_i64(r, &row, ROW_LP_SOLVES),
            .has_inner_bound = flat_get_u8(r, &row, ROW_HAS_INNER_BOUND) != 0,
            .inner_upper_bound = flat_get_f64(r, &row, ROW_INNER_BOUND),
        };
        if (r->error.status == MCP_OK && rows[i].iteration != (int32_t)i + 1)
            return mcp_error_set(err, MCP_E_PARSE, "Resume.iterations: row %zu is of iteration %d",
                                 i, (int)rows[i].iteration);
    }
    mcp_status st = pass_on(r, err);
    if (st == MCP_OK) {
        out->iterations = rows;
        out->iteration_count = items.count;
    }
    return st;
}

static mcp_status check_head(const policy *out, flat_reader *r, const flat_view *head,
                             const flat_items *stages, mcp_error *err)
{
    uint32_t version = flat_get_u32(r, head, RESUME_VERSION);
    uint32_t completed = flat_get_u32(r, head, RESUME_COMPLETED);
    mcp_status st = pass_on(r, err);

    if (st != MCP_OK)
        return st;
    if (version != POLICY_RESUME_VERSION)
        return mcp_error_set(err, MCP_E_PARSE, "Resume.version is %u; this program knows %d",
                             version, POLICY_RESUME_VERSION);
    if (completed != out->metadata.completed_iterations || stages->count != out->stage_count)
        return mcp_error_set(
            err, MCP_E_PARSE, "Resume: %u iterations and %zu stages; metadata.json has %u and %zu",
            completed, stages->count, out->metadata.completed_iterations, out->stage_count);
    return MCP_OK;
}

mcp_status policy_decode_resume(policy *out, policy_stage *stages, policy_bytes from,
                                mcp_arena *arena, mcp_error *err)
{
    policy read = *out;
    flat_reader r;

    flat_reader_begin(&r, from.bytes, from.length);
    flat_view head = flat_read_root(&r, &policy_resume_layout);
    flat_items tables = flat_get_items(&r, &head, RESUME_STAGES, sizeof(uint32_t));
    mcp_status st = check_head(out, &r, &head, &tables, err);
    for (size_t t = 0; t < tables.count && st == MCP_OK; t++) {
        flat_view view = flat_get_table_item(&r, &tables, t, &policy_resumed_layout);
        st = take_stage(&stages[t], t, &r, &view, out->dimension, arena, err);
    }
    if (st == MCP_OK)
        st = take_rows(&read, &r, &head, arena, err);
    if (st != MCP_OK)
        return st;
    flat_items means = flat_get_items(&r, &head, RESUME_MEANS, sizeof(double));
    read.elapsed_ns = flat_get_i64(&r, &head, RESUME_ELAPSED);
    st = pass_on(&r, err);
    if (st != MCP_OK)
        return st;
    read.means = copy_items(&means, arena);
    read.mean_count = means.count;
    read.is_exact = true;
    if (!read.means)
        return no_memory(err);
    if (read.iteration_count != read.metadata.completed_iterations || read.elapsed_ns < 0)
        return mcp_error_set(err, MCP_E_PARSE, "Resume.iterations: %zu rows for %u iterations",
                             read.iteration_count, read.metadata.completed_iterations);
    *out = read;
    return MCP_OK;
}

/* ---- metadata.json --------------------------------------------------------------------------- */

static mcp_status get_count(uint32_t *out, const mcp_json *from, const char *name, mcp_error *err)
{
    uint64_t value = 0;

    if (!mcp_json_uint(mcp_json_get(from, name), &value) || value > UINT32_MAX)
        return mcp_error_set(err, MCP_E_PARSE, "'%s' is not an integer from 0 to %u", name,
                             UINT32_MAX);
    *out = (uint32_t)value;
    return MCP_OK;
}

/* A number, or null. */
static mcp_status get_bound(double *out, const mcp_json *from, const char *name, mcp_error *err)
{
    const mcp_json *value = mcp_json_get(from, name);

    *out = NAN;
    if (!value || mcp_json_is_null(value) || mcp_json_double(value, out))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARSE, "'%s' is neither a number nor null", name);
}

static mcp_status get_text(const char **out, const mcp_json *from, const char *name,
                           mcp_arena *arena, mcp_error *err)
{
    const char *text = mcp_json_get_string(from, name);

    *out = mcp_arena_strdup(arena, text ? text : "");
    return *out ? MCP_OK : no_memory(err);
}

static mcp_status get_warm_counts(policy_stage *stages, size_t count, const mcp_json *from,
                                  mcp_error *err)
{
    const mcp_json *counts = mcp_json_get(from, "warm_start_counts");
    uint64_t value = 0;

    for (size_t t = 0; t < mcp_json_count(counts); t++) {
        if (t >= count || !mcp_json_uint(mcp_json_item(counts, t), &value) || value > UINT32_MAX)
            return mcp_error_set(err, MCP_E_PARSE, "'warm_start_counts' does not fit the stages");
        stages[t].warm_count = (uint32_t)value;
    }
    return MCP_OK;
}

static mcp_status get_hydros(policy_metadata *out, const mcp_json *from, mcp_arena *arena,
                             mcp_error *err)
{
    const mcp_json *list = mcp_json_get(from, "hydro_ids");
    int64_t value = 0;

    if (!list)
        return MCP_OK;
    int32_t *ids = mcp_arena_array(arena, mcp_json_count(list), sizeof *ids);
    if (!ids)
        return no_memory(err);
    for (size_t h = 0; h < mcp_json_count(list); h++) {
        if (!mcp_json_int(mcp_json_item(list, h), &value) || value < INT32_MIN || value > INT32_MAX)
            return mcp_error_set(err, MCP_E_PARSE, "'hydro_ids' holds something else than ids");
        ids[h] = (int32_t)value;
    }
    out->hydro_ids = ids;
    out->hydro_count = mcp_json_count(list);
    return MCP_OK;
}

static mcp_status get_floors(policy_metadata *out, size_t stages, const mcp_json *from,
                             mcp_arena *arena, mcp_error *err)
{
    const mcp_json *list = mcp_json_get(from, "future_cost_floors");

    if (!list)
        return MCP_OK;
    double *floors = mcp_arena_array(arena, stages, sizeof *floors);
    if (!floors)
        return no_memory(err);
    for (size_t t = 0; t < stages; t++)
        if (!mcp_json_double(mcp_json_item(list, t), &floors[t]) || !(floors[t] <= 0.0))
            return mcp_error_set(err, MCP_E_PARSE,
                                 "'future_cost_floors' has no number up to 0 for stage %zu", t);
    out->floors = floors;
    return MCP_OK;
}

static mcp_status get_periods(policy_metadata *out, size_t stages, const mcp_json *from,
                              mcp_arena *arena, mcp_error *err)
{
    const mcp_json *list = mcp_json_get(from, "lag_periods");

    if (!list)
        return MCP_OK;
    if (mcp_json_count(list) != stages)
        return mcp_error_set(err, MCP_E_PARSE, "'lag_periods' does not fit the stages");
    policy_period *periods = mcp_arena_array(arena, stages, sizeof *periods);
    if (!periods)
        return no_memory(err);
    for (size_t t = 0; t < stages; t++) {
        const mcp_json *item = mcp_json_item(list, t);
        if (!mcp_json_bool(mcp_json_get(item, "is_last"), &periods[t].is_last) ||
            !mcp_json_double(mcp_json_get(item, "spill"), &periods[t].spill) ||
            !(periods[t].spill >= 0.0 && periods[t].spill <= 1.0))
            return mcp_error_set(err, MCP_E_PARSE,
                                 "'lag_periods' has no is_last, or a spill that is no share, for "
                                 "stage %zu",
                                 t);
    }
    out->periods = periods;
    return MCP_OK;
}

static mcp_status get_metadata(policy_metadata *out, const mcp_json *from, mcp_arena *arena,
                               mcp_error *err)
{
    mcp_status st = get_text(&out->cobre_version, from, "cobre_version", arena, err);

    if (st == MCP_OK)
        st = get_text(&out->created_at, from, "created_at", arena, err);
    if (st == MCP_OK)
        st = get_count(&out->completed_iterations, from, "completed_iterations", err);
    if (st == MCP_OK)
        st = get_bound(&out->final_lower_bound, from, "final_lower_bound", err);
    if (st == MCP_OK)
        st = get_bound(&out->best_upper_bound, from, "best_upper_bound", err);
    if (st == MCP_OK)
        st = get_count(&out->max_iterations, from, "max_iterations", err);
    if (st == MCP_OK)
        st = get_count(&out->forward_passes, from, "forward_passes", err);
    if (st == MCP_OK && !mcp_json_uint(mcp_json_get(from, "rng_seed"), &out->rng_seed))
        st = mcp_error_set(err, MCP_E_PARSE, "'rng_seed' is not an integer from 0 to 2^64 - 1");
    if (st == MCP_OK)
        st = get_hydros(out, from, arena, err);
    if (st == MCP_OK && mcp_json_get_string(from, "case_digest"))
        st = get_text(&out->case_digest, from, "case_digest", arena, err);
    return st;
}

mcp_status policy_decode_metadata(policy *out, policy_bytes from, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *json = NULL;
    uint32_t dimension = 0, stages = 0;
    policy read = { .is_exact = false };
    mcp_status st = mcp_json_read(&json, arena, from.bytes, from.length, err);

    if (st == MCP_OK && !mcp_json_is_object(json))
        st = mcp_error_set(err, MCP_E_PARSE, "the file holds no JSON object");
    if (st == MCP_OK)
        st = get_metadata(&read.metadata, json, arena, err);
    if (st == MCP_OK)
        st = get_count(&dimension, json, "state_dimension", err);
    if (st == MCP_OK)
        st = get_count(&stages, json, "num_stages", err);
    if (st == MCP_OK && (dimension > POLICY_DIMENSION_MAX || stages > POLICY_STAGES_MAX))
        st = mcp_error_set(err, MCP_E_PARSE, "%u stages and states of %u numbers are too many",
                           stages, dimension);
    if (st != MCP_OK)
        return st == MCP_E_LIMIT ? mcp_error_set(err, MCP_E_PARSE, "the JSON is nested too deep")
                                 : st;
    policy_stage *made = mcp_arena_array(arena, stages, sizeof *made);
    if (!made)
        return no_memory(err);
    for (size_t t = 0; t < stages; t++)
        made[t].passes = read.metadata.forward_passes;
    st = get_warm_counts(made, stages, json, err);
    if (st == MCP_OK)
        st = get_floors(&read.metadata, stages, json, arena, err);
    if (st == MCP_OK)
        st = get_periods(&read.metadata, stages, json, arena, err);
    read.dimension = dimension;
    read.stages = made;
    read.stage_count = stages;
    if (st == MCP_OK)
        *out = read;
    return st;
}
