/**
 * mapping.h - the words of the tools and those of the domain. Pure; any thread.
 */
#ifndef PORTARIUM_MAPPING_H
#define PORTARIUM_MAPPING_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "model/vocabulary.h"

/**
 * The statuses of work items that a tool's word stands for.
 *
 * @param out    one bit (1u << status) for each
 * @param domain true: the domain's own words are accepted, too (mcp.accept_domain_enums)
 * @return false, with *out untouched, for another word
 */
bool portarium_work_items_of(unsigned *out, const char *word, bool domain);

/** The tool's word for a status: "pending", "in-progress", "completed" or "failed". */
const char *portarium_work_item_word(portarium_work_item_status status);

/**
 * The heartbeat status of a tool's word: healthy is ok, degraded and draining are themselves. NULL
 * is ok.
 *
 * @param domain true: "ok" is accepted, too
 * @return false, with *out untouched, for another word
 */
bool portarium_heartbeat_of(portarium_heartbeat *out, const char *word, bool domain);

/** The tool's word for a heartbeat status. */
const char *portarium_heartbeat_word(portarium_heartbeat status);

/**
 * A capability as "entity:verb": itself when it has a colon, else by the table of words ("notify"
 * is "notification:send"), else "agent:" before the word.
 *
 * @return the arena's, a constant or `word`; NULL when out of memory
 */
const char *portarium_capability_of(const char *word, mcp_arena *arena);

#endif
