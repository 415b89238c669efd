/*
 * rollback.c - copies of the working sets and the bases of all stages, in the arena of the study.
 */
#include "sddp/iteration/rollback.h"

#include <string.h>

typedef struct saved_stage {
    size_t cuts; /* of the pool */
    uint32_t *set;
    size_t set_count, set_room;
    uint8_t *bytes; /* of the basis store, with its stride then */
    size_t stride, room;
} saved_stage;

struct rollback {
    saved_stage *stages;
};

mcp_status rollback_new(rollback **out, sddp *study, mcp_error *err)
{
    rollback *made = mcp_arena_alloc(study->arena, sizeof *made);

    if (made)
        made->stages = mcp_arena_array(study->arena, study->stages, sizeof *made->stages);
    if (!made || !made->stages)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the study");
    *out = made;
    return MCP_OK;
}

static mcp_status make_room(saved_stage *saved, const sddp *study, size_t stage, mcp_error *err)
{
    size_t bytes = study->basis_stores[stage].stride * study->basis_stores[stage].slots;
    size_t cuts = study_pool(study, stage)->capacity;

    if (bytes > saved->room) {
        saved->bytes = mcp_arena_alloc(study->arena, bytes);
        saved->room = saved->bytes ? bytes : 0;
    }
    if (cuts > saved->set_room) {
        saved->set = mcp_arena_array(study->arena, cuts, sizeof *saved->set);
        saved->set_room = saved->set ? cuts : 0;
    }
    if (saved->room < bytes || saved->set_room < cuts)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the state before an iteration");
    return MCP_OK;
}

mcp_status rollback_mark(sddp *study, mcp_error *err)
{
    for (size_t t = 0; t < study->stages; t++) {
        saved_stage *saved = &study->rollback->stages[t];
        const cut_pool *pool = study_pool(study, t);
        const basis_store *store = &study->basis_stores[t];
        mcp_status st = make_room(saved, study, t, err);
        if (st != MCP_OK)
            return st;
        saved->cuts = pool->count;
        saved->set_count = pool->set_count;
        saved->stride = store->stride;
        if (pool->set_count > 0)
            memcpy(saved->set, pool->set, pool->set_count * sizeof *saved->set);
        memcpy(saved->bytes, store->bytes, store->slots * store->stride);
    }
    return MCP_OK;
}

void rollback_return(sddp *study)
{
    for (size_t t = 0; t < study->stages; t++) {
        const saved_stage *saved = &study->rollback->stages[t];
        cut_pool *pool = study_pool(study, t);
        basis_store *store = &study->basis_stores[t];

        study_forget_notes(study, t);
        if (study_leads_node(study, t)) {
            cuts_take_back(pool, saved->cuts);
            cuts_set_rows(pool, saved->set, saved->set_count);
        }
        for (size_t i = 0; i < store->slots; i++)
            memcpy(store->bytes + i * store->stride, saved->bytes + i * saved->stride,
                   saved->stride);
        store->row_count = saved->set_count;
        if (saved->set_count > 0)
            memcpy(store->rows, saved->set, saved->set_count * sizeof *store->rows);
        store->version = pool->version;
        store->epoch = pool->epoch;
    }
}
