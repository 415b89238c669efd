/*
 * prompt_file.h - a prompt as its Markdown file says it (the form is in mcp/prompt.h).
 */
#ifndef MCP_FEATURE_PROMPT_FILE_H
#define MCP_FEATURE_PROMPT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/files.h"
#include "mcp/json.h"

/** One argument of a prompt. */
typedef struct mcp__prompt_argument {
    const char *name;
    const char *title;       /* NULL: none */
    const char *description; /* NULL: none */
    bool is_required;
} mcp__prompt_argument;

/** A run of text or, with `is_place`, the name of a place. */
typedef struct mcp__prompt_part {
    const char *text;
    size_t length;
    bool is_place;
} mcp__prompt_part;

typedef struct mcp__prompt_message {
    const char *role; /* "user" or "assistant" */
    mcp__prompt_part *parts;
    size_t part_count;
} mcp__prompt_message;

typedef struct mcp__prompt_file {
    const char *path;
    const char *name;
    const char *title;       /* NULL: none */
    const char *description; /* NULL: none */
    const char *scopes;      /* that a token needs; NULL: none */
    const mcp_json *icons;   /* an array; NULL: none */
    const mcp_json *meta;    /* an object; NULL: none */
    mcp__prompt_argument *arguments;
    size_t argument_count;
    mcp__prompt_message *messages;
    size_t message_count;
} mcp__prompt_file;

#define MCP__PROMPT_ARGUMENTS_MAX 32
#define MCP__PROMPT_MESSAGES_MAX 64

/**
 * Read a prompt's file.
 *
 * @param out  the arena's
 * @param file its path and bytes are borrowed while the prompt lives
 * @return MCP_OK; MCP_E_PARAMS (path, line and fault are in the message); MCP_E_NOMEM
 */
mcp_status mcp__prompt_file_read(const mcp__prompt_file **out, mcp_arena *arena,
                                 const mcp_file *file, mcp_error *err);

/** The argument of that name (`length` bytes); NULL: none. */
mcp__prompt_argument *mcp__prompt_argument_find(const mcp__prompt_file *prompt, const char *name,
                                                size_t length);

#endif
