/*
 * simulation.c - the files of the scenarios, and the simulation's metadata.
 *
 * When a scenario is complete its decisions are copied into the sheets of a vacant slot, which the
 * queue's thread writes; so the solver waits for the disk only when no slot is vacant.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "guard/paths.h"
#include "results/results_int.h"

#define QUEUED_MAX 64 /* scenarios that wait to be written */
#define QUEUED_BYTES ((size_t)64 << 20)

static size_t rows_of(const results *self, size_t entity)
{
    return entity_folders[entity].rows(&self->entities);
}

/* Room for all rows of one scenario. */
static mcp_status make_sheets(results *self, struct queue_slot *slot, mcp_error *err)
{
    sheet **sheets = mcp_arena_array(self->arena, ENTITY_COUNT, sizeof *sheets);

    if (!sheets)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a scenario");
    for (size_t i = 0; i < ENTITY_COUNT; i++) {
        size_t rows = rows_of(self, i);
        if (rows == 0)
            continue;
        sheets[i] = sheet_new(self->arena, entity_folders[i].table, rows);
        if (!sheets[i])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a scenario of %zu rows", rows);
    }
    slot->sheets = sheets;
    return MCP_OK;
}

/* The scenarios that may wait to be written: two at least, QUEUED_BYTES of them. */
static size_t slots_wanted(const results *self)
{
    size_t scenarios = self->input->config.simulation_scenarios, bytes = 1;

    for (size_t i = 0; i < ENTITY_COUNT; i++)
        bytes += rows_of(self, i) * sheet_row_bytes(entity_folders[i].table);
    size_t wanted = QUEUED_BYTES / bytes;
    if (wanted > scenarios)
        wanted = scenarios;
    if (wanted > QUEUED_MAX)
        wanted = QUEUED_MAX;
    return wanted < 2 ? 2 : wanted;
}

/* Made by the first simulation of a run; a failure leaves no slots. */
static mcp_status make_slots(results *self, mcp_error *err)
{
    size_t wanted = slots_wanted(self);

    if (self->slots)
        return MCP_OK;
    struct queue_slot *slots = mcp_arena_array(self->arena, wanted, sizeof *slots);
    if (!slots)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu scenarios", wanted);
    for (size_t i = 0; i < wanted; i++) {
        mcp_status st = make_sheets(self, &slots[i], err);
        if (st != MCP_OK)
            return st;
    }
    self->slots = slots;
    self->slot_count = wanted;
    return MCP_OK;
}

void results_end_scenarios(results *self)
{
    queue_end(&self->scenarios);
    for (size_t i = 0; i < ENTITY_COUNT; i++) {
        if (self->entity_fds[i] >= 0)
            close(self->entity_fds[i]);
        self->entity_fds[i] = -1;
    }
}

static mcp_status make_entity_folder(results *self, size_t entity, mcp_error *err)
{
    char path[64];

    snprintf(path, sizeof path, "simulation/%s", entity_folders[entity].path);
    mcp_status st = guard_remove_tree(self->out_fd, path, err);
    if (st == MCP_OK && rows_of(self, entity) > 0)
        st = guard_make_dir(&self->entity_fds[entity], self->out_fd, path, err);
    return st;
}

void results_simulation_folders(const results *self, const char *const **out, mcp_arena *arena)
{
    const char **folders = mcp_arena_array(arena, ENTITY_COUNT + 1, sizeof *folders);
    size_t count = 0;

    *out = NULL;
    for (size_t i = 0; folders && i < ENTITY_COUNT; i++) {
        if (rows_of(self, i) == 0)
            continue;
        folders[count] = mcp_arena_printf(arena, "simulation/%s", entity_folders[i].path);
        if (!folders[count++])
            return;
    }
    *out = folders;
}

static mcp_status write_entity(const results *self, const struct queue_slot *slot, size_t entity,
                               mcp_error *err)
{
    char folder[32];
    int fd = -1;

    snprintf(folder, sizeof folder, "scenario_id=%04" PRIu32, slot->scenario);
    mcp_status st = guard_make_dir(&fd, self->entity_fds[entity], folder, err);
    if (st != MCP_OK)
        return st;
    st = sheet_write(slot->sheets[entity], fd, "data.parquet", err);
    close(fd);
    return st;
}

/* The files of one scenario; on the queue's thread. */
static mcp_status write_slot(const struct queue_slot *slot, void *data, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < ENTITY_COUNT && st == MCP_OK; i++)
        if (slot->sheets[i])
            st = write_entity(data, slot, i, &cause);
    if (st != MCP_OK)
        mcp_error_set(err, st, "scenario %" PRIu32 ": %s", slot->scenario, cause.message);
    return st;
}

mcp_status results_begin_simulation(results *self, mcp_error *err)
{
    results_begin_phase(self);
    results_end_scenarios(self);
    mcp_status st = make_slots(self, err);
    for (size_t i = 0; i < ENTITY_COUNT && st == MCP_OK; i++)
        st = make_entity_folder(self, i, err);
    if (st != MCP_OK)
        return st;
    records_begin(&self->records, self->arena, self->out_fd, "simulation");
    queue_begin(&self->scenarios, self->slots, self->slot_count, write_slot, self);
    return MCP_OK;
}

mcp_status results_write_scenario(results *self, const sddp_scenario *scenario, mcp_error *err)
{
    struct queue_slot *slot = NULL;
    mcp_status st = queue_vacant(&slot, &self->scenarios, err);

    if (st != MCP_OK)
        return st;
    slot->scenario = scenario->scenario;
    for (size_t i = 0; i < ENTITY_COUNT; i++) {
        sheet *to = slot->sheets[i];
        if (!to)
            continue;
        sheet_clear(to);
        for (size_t t = 0; t < scenario->stage_count; t++)
            entity_folders[i].fill(to, &self->entities, &scenario->stages[t]);
    }
    queue_submit(&self->scenarios);
    return MCP_OK;
}

static const char *status_of(const results *self, const sddp_simulation *simulation, bool failed)
{
    if (failed || self->scenarios.failed > 0)
        return "failed";
    return self->scenarios.written == simulation->scenarios_total ? "complete" : "partial";
}

static void describe_costs(const sddp_simulation *simulation, mcp_json_writer *writer)
{
    const struct {
        const char *name;
        double value;
    } members[] = { { "mean", simulation->mean }, { "std", simulation->std },
                    { "min", simulation->min },   { "max", simulation->max },
                    { "cvar", simulation->cvar }, { "cvar_alpha", 0.95 } };

    mcp_write_member_object(writer, "cost_summary");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        mcp_write_name(writer, members[i].name);
        mcp_write_double_or_null(writer, members[i].value);
    }
    mcp_write_end(writer);
}

static mcp_status write_metadata(const results *self, const sddp_simulation *simulation,
                                 const char *status, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    results_describe_run(self, &writer, status);
    mcp_write_member_object(&writer, "scenarios");
    mcp_write_member_int(&writer, "total", simulation->scenarios_total);
    mcp_write_member_int(&writer, "completed", self->scenarios.written);
    mcp_write_member_int(&writer, "failed", self->scenarios.failed);
    mcp_write_end(&writer);
    if (self->scenarios.written > 0)
        describe_costs(simulation, &writer);
    results_describe_distribution(self, &writer);
    mcp_write_end(&writer);
    return results_write_json(self, "simulation/metadata.json", &writer, err);
}

mcp_status results_end_simulation(results *self, const sddp_simulation *simulation, bool failed,
                                  mcp_error *err)
{
    results_end_scenarios(self);
    const mcp_error *failure = &self->scenarios.failure;
    const char *words = status_of(self, simulation, failed);
    mcp_status st = records_end(&self->records, err);
    if (st == MCP_OK)
        st = write_metadata(self, simulation, words, err);
    if (failure->status != MCP_OK) /* the first, whatever became of the metadata */
        st = mcp_error_set(err, failure->status, "%s", failure->message);
    if (st == MCP_OK && words[0] == 'c')
        st = results_mark_success(self, "simulation", err);
    return st;
}
