/**
 * filters.h - the filters of a question as clients write them: checked, and resolved to ids.
 *
 *     query_filters_read(&filters, &refusal, json, table, arena, err);     needs no directory
 *     query_filters_resolve(&question, &refusal, &filters, table, out_fd, arena, err);
 *
 * What a client gets wrong is a record, not an error: both set `*refusal` and return MCP_OK.
 *
 * Source: seed SS2.3; the output page, section 10; the errors page, section 7.
 */
#ifndef COBRE_QUERY_FILTERS_H
#define COBRE_QUERY_FILTERS_H

#include "findings/record.h"
#include "query/rows.h"

#define QUERY_LIMIT_DEFAULT 1000
#define QUERY_ENTITIES_MAX 10000 /* that a question may name */

typedef struct query_filters {
    const char *const *entities; /* ids and names as given */
    size_t entity_count;
    query_range stages, scenarios;
    const char *const *names; /* of columns, as stored */
    const char *const *shown; /* the same, as the client names them */
    size_t name_count;
    uint64_t limit;
} query_filters;

/**
 * Read filters.
 *
 * @param out     the arena's; without filters: all columns, QUERY_LIMIT_DEFAULT
 * @param refusal NULL: the filters are right
 * @param filters an object that matches the schema of the tools; NULL: none
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status query_filters_read(query_filters *out, const cobre_record **refusal,
                              const mcp_json *filters, const query_table *table, mcp_arena *arena,
                              mcp_error *err);

/**
 * Read an inclusive range of integers.
 *
 * @param field its name for the record, "filters.stage_range"
 * @param json  an array of two numbers; NULL: no range
 */
mcp_status query_range_read(query_range *out, const cobre_record **refusal, const char *field,
                            const mcp_json *json, mcp_arena *arena, mcp_error *err);

/**
 * Make a question of filters: entities become ids.
 *
 * @param out    everything but rows_max, which is the limit of the filters; the arena's
 * @param out_fd the output directory, whose dictionary has the names
 * @return MCP_OK; MCP_E_PARSE, MCP_E_DENIED, MCP_E_LIMIT (the dictionary cannot be read);
 *         MCP_E_NOT_FOUND (a name is given, and there is no dictionary); MCP_E_IO; MCP_E_NOMEM
 */
mcp_status query_filters_resolve(query_question *out, const cobre_record **refusal,
                                 const query_filters *filters, const query_table *table, int out_fd,
                                 mcp_arena *arena, mcp_error *err);

#endif
