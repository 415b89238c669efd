/**
 * scenarios.h - the scenario files of a case directory, read without validation.
 *
 * Source: seed SS2.8 and SS3.1; the output page, section 10.
 */
#ifndef COBRE_QUERY_SCENARIOS_H
#define COBRE_QUERY_SCENARIOS_H

#include "columns/columns.h"
#include "query/registry.h"

/** The result of cobre/list-scenarios. */
typedef struct query_scenario_summary {
    bool is_external; /* the training's inflow */
    int64_t count, stages, entities;
    int64_t max_order, seasons, groups; /* of the PAR model */
} query_scenario_summary;

/**
 * Summarise the scenarios of a case.
 *
 * @param file the file at fault when MCP_OK was not returned
 * @return MCP_OK; MCP_E_NOT_FOUND (there is no scenario file); MCP_E_PARSE, MCP_E_DENIED,
 *         MCP_E_LIMIT (a file that cannot be read); MCP_E_IO; MCP_E_NOMEM; MCP_E_UNSUPPORTED
 */
mcp_status query_scenarios_summarize(query_scenario_summary *out, const char **file,
                                     columns *engine, int case_fd, mcp_arena *arena,
                                     mcp_error *err);

/** An entity that scenarios are given for. */
typedef struct query_scenario_entity {
    int64_t id;
    const char *name; /* NULL: none is known */
    const query_registry *registry;
} query_scenario_entity;

/**
 * Find the entity that a text names: a decimal integer is the id of a hydro, a name is looked for
 * among hydros, then buses, then non-controllable sources.
 *
 * @param file the file at fault
 * @return MCP_OK; MCP_E_NOT_FOUND (no such entity, `*file` NULL); as query_case_json for a registry
 *         that cannot be read
 */
mcp_status query_scenarios_find(query_scenario_entity *out, const char **file, int case_fd,
                                const char *text, mcp_arena *arena, mcp_error *err);

/** Receives a file's rows of an entity; `total` is the number of all. */
typedef mcp_status query_scenario_rows(const char *path, const columns_table *rows, uint64_t total,
                                       void *data, mcp_error *err);

/**
 * Read the rows of an entity from every scenario file that has some, in the order of their paths.
 *
 * @param rows_max of each file
 * @param file     the file at fault
 * @return as query_scenarios_summarize, less MCP_E_NOT_FOUND; what `take` returned
 */
mcp_status query_scenarios_read(const char **file, columns *engine, int case_fd,
                                const query_scenario_entity *entity, uint64_t rows_max,
                                query_scenario_rows *take, void *data, mcp_error *err);

#endif
