/**
 * glob.h - patterns of paths: "*.fix", "logs/2026-??/x*", "{in,out}/[a-m]*.csv".
 *
 *     *       any characters of one component
 *     ?       one of them
 *     [a-z]   one of these; [!a-z] and [^a-z]: one of all others
 *     {a,b}   one of the patterns between the commas
 *     **      as a component: any number of components
 *     \x      the character x itself
 *
 * A pattern without a slash is for names at any depth ("*.fix" is "**" and "*.fix" as components),
 * an empty one and "*" are for all; a slash at the beginning is left out. Letters match without
 * case. A component that begins with a dot is hidden: only a pattern whose component begins with a
 * dot matches it.
 *
 * A pattern is compiled once, and matching takes time proportional to both lengths, whatever they
 * are. A glob never changes, so threads may share it.
 */
#ifndef CASPARIAN_FILES_GLOB_H
#define CASPARIAN_FILES_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

/** The longest pattern, in bytes. */
#define CASPARIAN_GLOB_MAX 1024

typedef struct casparian_glob casparian_glob;

/**
 * Compile a pattern.
 *
 * @param out     yours, free it with casparian_glob_free
 * @param pattern NULL: all
 * @return MCP_OK; MCP_E_PARAMS: the message says what is wrong with it; MCP_E_NOMEM
 */
mcp_status casparian_glob_new(casparian_glob **out, const char *pattern, mcp_error *err);

/** NULL is fine. */
void casparian_glob_free(casparian_glob *self);

/** Whether a relative path matches. Bytes that are no UTF-8 match "?" one by one. */
bool casparian_glob_matches(const casparian_glob *self, const char *path);

/** Whether anything below the folder of that relative path might match. */
bool casparian_glob_enters(const casparian_glob *self, const char *folder);

#endif
