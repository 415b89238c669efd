/**
 * prompt.h - prompts as Markdown files with placeholders.
 *
 * A prompt is an embedded file "prompts/ANYTHING.md". Its header, between two lines of three
 * dashes, describes it; the rest is the text of its messages:
 *
 *     ---
 *     name: cobre/explain-results
 *     title: Explain results
 *     description: Explain simulation results in domain terms
 *     argument: output_dir, required, Absolute path to the output directory
 *     argument: metric, optional, Metric to explain
 *     scopes: results.read
 *     ---
 *     Look at {{metric}} in {{output_dir}}.
 *
 * Only the name is required. `scopes` lists the scopes that a client's token must have, as for
 * tools (tool.h). An argument's line may be followed by "argument-title: metric, Metric". The
 * header may also have "icons: [...]" and "meta: {...}", each JSON on one line, as prompts/list
 * sends them.
 *
 * A line "--- assistant" or "--- user" in the text starts another message of that role; the first
 * message is the user's. `{{argument}}` is replaced by the value of the argument, which is not
 * searched for placeholders again. An omitted argument leaves its placeholder empty.
 *
 * Content other than text comes from the prompt's function: each block that it writes by
 * mcp_call_image, mcp_call_audio, mcp_call_embed, mcp_call_link or mcp_call_text becomes a user
 * message before the messages of the file.
 */
#ifndef MCP_PROMPT_H
#define MCP_PROMPT_H

#include "mcp/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One prompt. A table of them ends with a row whose name is NULL. */
typedef struct mcp_prompt {
    const char *name; /* as in its file's header */
    /** Checks arguments and sets other placeholders by mcp_call_set_placeholder; NULL: none. */
    mcp_handler *fill;
    unsigned flags; /* enum mcp_flags */
    int timeout_ms; /* 0: the server's default */
} mcp_prompt;

/**
 * Completes an argument of a prompt or a variable of a resource template. A table of them ends with
 * a row whose `of` is NULL.
 */
typedef struct mcp_completion {
    const char *of;       /* the prompt's name or the URI template, as registered */
    const char *argument; /* the argument or variable */
    /** Reads mcp_call_completion_value and answers by mcp_call_add_completion. It must not reveal
     *  more than the client may know. */
    mcp_handler *complete;
} mcp_completion;

#ifdef __cplusplus
}
#endif

#endif
