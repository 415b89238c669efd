/*
 * resources.h - what clients may read as resources: universes, and how to work with them.
 *
 *     docs://universe/TOPIC       system-overview, universe-structure, commands-reference,
 *                                 validation-rules, realtime-streaming, full
 *     universe://{id}/state       the state as JSON
 *     universe://{id}/summary     counts, time, version, size
 */
#ifndef UNIVERSE_RESOURCES_H
#define UNIVERSE_RESOURCES_H

#include "mcp/prompt.h"
#include "service/service.h"

/** Room for the URI of any universe. */
enum { UNIVERSE_URI_SIZE = 3 * UNIVERSE_KEY_MAX + 32 };

/** Suggestions for {id}. */
extern const mcp_completion universe_completions[];

/** "universe://ID/PART", the id percent-encoded; ids longer than UNIVERSE_KEY_MAX are cut. */
void universe_uri(char out[UNIVERSE_URI_SIZE], const char *id, const char *part);

#endif
