/*
 * entities.h - what each folder below simulation/ holds: its table, its number of rows, its rows.
 */
#ifndef RESULTS_ENTITIES_H
#define RESULTS_ENTITIES_H

#include <stddef.h>

#include "hydro/model.h"
#include "results/sheet.h"
#include "sddp/sddp.h"

/* The folders, in the order in which they are written. */
enum {
    ENTITY_COSTS,
    ENTITY_BUSES,
    ENTITY_HYDROS,
    ENTITY_THERMALS,
    ENTITY_EXCHANGES,
    ENTITY_INFLOW_LAGS,
    ENTITY_SOURCES,
    ENTITY_STATIONS,
    ENTITY_CONTRACTS,
    ENTITY_VIOLATIONS,
    ENTITY_COUNT
};

/* What the rows are made from besides the decisions; made once a run. */
struct entity_case {
    const cobre_case *input;
    const hydro_models *models; /* NULL: constant productivity */
    size_t lags;
    const size_t *first_constraint; /* by stage, stages + 1: its rows of generic constraints */
    double *arrived;                /* scratch, by hydro: hm3 of the stage */
    double *diverted;               /* scratch, by hydro and block: m3/s */
};

struct entity_folder {
    const char *path; /* below simulation/ */
    results_table table;
    /* The most rows of a scenario; 0: the case has none of that entity, and no folder. */
    size_t (*rows)(const struct entity_case *of);
    /* Append the rows of one stage. */
    void (*fill)(sheet *to, const struct entity_case *of, const sddp_stage_result *did);
};

extern const struct entity_folder entity_folders[ENTITY_COUNT];

/* models may be NULL. The arrays of out are the arena's. MCP_OK; MCP_E_NOMEM. */
mcp_status entity_case_make(struct entity_case *out, mcp_arena *arena, const cobre_case *input,
                            const hydro_models *models, size_t lags, mcp_error *err);

#endif
