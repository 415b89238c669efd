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
 *     scopes: results.read
 *     ---
 *     Look at {{metric}} in {{output_dir}}.
 *
 * All but the name may be left out. `scopes` are those that a client's token must have, as for tools (tool.h).
 * There may also be lines "argument-title: metric, Metric" after an argument's own, and "icons: [...]" and
 * "meta: {...}", which are JSON on one line, as prompts/list sends them.
 *
 * A line "--- assistant" or "--- user" in the text starts another message of that role; the first is
 * the user's. `{{argument}}` is replaced by the argument's value, which is never searched for places
 * again; an argument left out leaves its place empty.
 *
 * What is no text comes from the prompt's function: each block that it writes by mcp_call_image,
 * mcp_call_audio, mcp_call_embed, mcp_call_link or mcp_call_text becomes a message of the user's, in
 * front of those of the file.
 */
#ifndef MCP_PROMPT_H
#define MCP_PROMPT_H

#include "mcp/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One prompt. A table of them ends with a row whose name is NULL. */
typedef struct mcp_prompt {
    const char *name;  /* as its file's head has it */
    mcp_handler *fill; /* checks arguments, fills other places by mcp_call_place; NULL: not needed */
    unsigned flags;    /* enum mcp_flags */
    int timeout_ms;    /* 0: the server's default */
} mcp_prompt;

/**
 * Suggests values while a client fills an argument of a prompt, or a variable of a resource template. A
 * table of them ends with a row whose `of` is NULL.
 */
typedef struct mcp_completion {
    const char *of;        /* the prompt's name or the URI template, as registered */
    const char *argument;  /* the argument or variable */
    mcp_handler *complete; /* reads mcp_call_typed, answers by mcp_call_suggest; must not tell more than
                              the caller may know */
} mcp_completion;

#ifdef __cplusplus
}
#endif

#endif
