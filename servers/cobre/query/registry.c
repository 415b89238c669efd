/*
 * registry.c - see registry.h.
 */
#include "query/registry.h"

#include <string.h>

#include "guard/paths.h"
#include "query/entities.h"

/* clang-format off */
const query_registry query_registries[] = {
    /* name              folder       file                  member */
    { "hydros",           NULL,        COBRE_FILE_HYDROS,    "hydros" },
    { "thermals",         NULL,        COBRE_FILE_THERMALS,  "thermals" },
    { "buses",            NULL,        COBRE_FILE_BUSES,     "buses" },
    { "lines",            "exchanges", COBRE_FILE_LINES,     "lines" },
    { "contracts",        NULL,        COBRE_FILE_CONTRACTS, "contracts" },
    { "pumping_stations", NULL,        COBRE_FILE_STATIONS,  "pumping_stations" },
    { "non_controllable_sources", "non_controllables", COBRE_FILE_SOURCES,
      "non_controllable_sources" },
    { 0 }
};
/* clang-format on */

const query_registry *query_registry_find(const char *name)
{
    for (const query_registry *one = query_registries; one->name; one++)
        if (strcmp(one->name, name) == 0 || (one->folder && strcmp(one->folder, name) == 0))
            return one;
    return NULL;
}

mcp_status query_case_json(const mcp_json **root, int case_fd, cobre_file_id file, mcp_arena *arena,
                           mcp_error *err)
{
    const char *path = cobre_files_known[file].path;
    const char *text = NULL;
    size_t length = 0;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = guard_read_file(&text, &length, case_fd, path, QUERY_CASE_FILE_MAX, arena,
                                    &why);

    if (st == MCP_OK)
        st = mcp_json_read(root, arena, text, length, &why);
    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: %s", path, why.message);
}

bool query_registry_entity(int64_t *id, const char **name, const query_registry *registry,
                           const mcp_json *root, const char *text)
{
    const mcp_json *entities = mcp_json_get(root, registry->member);
    int64_t wanted = 0;
    int64_t own = 0;
    bool is_id = query_entity_id(&wanted, text);

    for (size_t i = 0; i < mcp_json_count(entities); i++) {
        const mcp_json *entity = mcp_json_item(entities, i);
        const char *own_name = mcp_json_get_string(entity, "name");
        if (!mcp_json_int(mcp_json_get(entity, "id"), &own))
            continue;
        if (is_id ? own != wanted : !own_name || strcmp(own_name, text) != 0)
            continue;
        *id = own;
        *name = own_name;
        return true;
    }
    return false;
}
