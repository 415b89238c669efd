/**
 * context.h - the names that a condition may use. Pure; any thread.
 *
 *     actor.id actor.roles  workflow.id workflow.name  action.operation action.portFamily
 *     action.tier  run.parameters...  agent.id machine.id  env
 *
 * Each first part must be in every context, as an object with what is known, so that what is not
 * known is null and not an error.
 */
#ifndef PORTARIUM_CONTEXT_H
#define PORTARIUM_CONTEXT_H

#include <stdbool.h>

/** True when the first part of the name is one that every context has. */
bool portarium_context_has(const char *name);

#endif
