/**
 * registry.h - the executors of a program: http, exec, mcp and machine.
 */
#ifndef PORTARIUM_EXECUTORS_REGISTRY_H
#define PORTARIUM_EXECUTORS_REGISTRY_H

#include "executors/executor.h"
#include "executors/host.h"

typedef struct portarium_registry portarium_registry;

/** @param host copied; what it points to is borrowed. @param out portarium_registry_free */
mcp_status portarium_registry_new(portarium_registry **out, const portarium_host *host,
                                  mcp_error *err);

/** For the options of the engine; lives as long as the registry. */
const portarium_executors *portarium_registry_executors(const portarium_registry *self);

/** End all connections. No attempt may be running. NULL is fine. */
void portarium_registry_free(portarium_registry *self);

#endif
