/*
 * registry.c - the executors and what they share.
 */
#include "executors/registry.h"

#include <stdlib.h>

#include "executors/kinds.h"

struct portarium_registry {
    portarium_host host;
    portarium_room room;
    portarium_executors executors;
};

static const portarium_executor *const kinds[] = { &portarium_http, &portarium_exec, &portarium_mcp,
                                                   &portarium_machine };

mcp_status portarium_registry_new(portarium_registry **out, const portarium_host *host,
                                  mcp_error *err)
{
    portarium_registry *self = calloc(1, sizeof *self);
    *out = NULL;
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for executors");
    self->host = *host;
    self->room.host = &self->host;
    self->executors.count = sizeof kinds / sizeof *kinds;
    for (size_t i = 0; i < self->executors.count; i++) {
        self->executors.items[i].executor = kinds[i];
        self->executors.items[i].data = &self->room;
    }
    mcp_status st = portarium_vault_new(&self->room.vault, &self->host, err);
    if (st == MCP_OK)
        st = portarium_links_new(&self->room.links, err);
    if (st == MCP_OK)
        *out = self;
    else
        portarium_registry_free(self);
    return st;
}

const portarium_executors *portarium_registry_executors(const portarium_registry *self)
{
    return &self->executors;
}

void portarium_registry_free(portarium_registry *self)
{
    if (!self)
        return;
    portarium_links_free(self->room.links);
    portarium_vault_free(self->room.vault);
    free(self);
}
