/*
 * tables.c - one row a table.
 */
#include "query/tables.h"

#include <assert.h>
#include <string.h>

#include "query/entities.h"

/* clang-format off */
const query_table query_tables[] = {
    /* name        folder      schema             entity        code */
    { "hydros",    "hydros",    RESULTS_HYDROS,    "hydro_id",   QUERY_HYDRO },
    { "thermals",  "thermals",  RESULTS_THERMALS,  "thermal_id", QUERY_THERMAL },
    { "buses",     "buses",     RESULTS_BUSES,     "bus_id",     QUERY_BUS },
    { "lines",     "exchanges", RESULTS_EXCHANGES, "line_id",    QUERY_LINE },
    { "costs",     "costs",     RESULTS_COSTS,     NULL,         -1 },
    { "contracts", "contracts", RESULTS_CONTRACTS, "contract_id", QUERY_CONTRACT },
    { "pumping_stations", "pumping_stations", RESULTS_PUMPING_STATIONS, "pumping_station_id",
      QUERY_PUMPING_STATION },
    { "non_controllable_sources", "non_controllables", RESULTS_NON_CONTROLLABLES,
      "non_controllable_id", QUERY_NON_CONTROLLABLE },
    { "convergence", NULL,      RESULTS_CONVERGENCE, NULL,       -1 },
    { 0 }
};
/* clang-format on */

const query_table *query_table_find(const char *name)
{
    for (const query_table *table = query_tables; table->name; table++)
        if (strcmp(table->name, name) == 0 || (table->folder && strcmp(table->folder, name) == 0))
            return table;
    return NULL;
}

const char *query_column_find(const query_table *table, const char *name)
{
    const results_schema *schema = results_schema_of(table->schema);

    if (table->schema == RESULTS_HYDROS && strcmp(name, "storage_hm3") == 0)
        name = "storage_final_hm3";
    if (table->folder && strcmp(name, QUERY_SCENARIO) == 0)
        return QUERY_SCENARIO;
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return schema->fields[i].name;
    return NULL;
}

size_t query_columns_all(const char **names, const query_table *table)
{
    const results_schema *schema = results_schema_of(table->schema);
    size_t count = 0;

    assert(schema->count < QUERY_COLUMNS_MAX);
    if (table->folder)
        names[count++] = QUERY_SCENARIO;
    for (size_t i = 0; i < schema->count; i++)
        names[count++] = schema->fields[i].name;
    return count;
}
