/**
 * prompt.h - prompts are Markdown files with places.
 *
 * A prompt is a file "prompts/ANYTHING.md" among the server's embedded files. Its head, between two
 * lines of three dashes, names it; the rest is the text of its messages:
 *
 *     ---
 *     name: cobre/explain-results
 *     title: Explain results
 *     description: Explain simulation results in domain terms
 *     argument: output_dir, required, Absolute path to the output directory
 *     argument: metric, optional, What to look at
 *     ---
 *     Look at {{metric}} in {{output_dir}}.
 *
 * A line "--- assistant" or "--- user" in the text starts another message of that role; the first is
 * the user's. `{{argument}}` is replaced by the argument's value, which is never searched for places
 * again; an argument left out leaves its place empty.
 */
#ifndef MCP_PROMPT_H
#define MCP_PROMPT_H

#include "mcp/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One prompt. A table of them ends with a row whose name is NULL. */
typedef struct mcp_prompt {
    const char *name;
    mcp_handler *fill; /* checks arguments, fills other places by mcp_call_place; NULL: none */
    unsigned flags;
    int timeout_ms; /* 0: the server's default */
} mcp_prompt;

#ifdef __cplusplus
}
#endif

#endif
