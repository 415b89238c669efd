/*
 * message_scan.h - the id of a message that cannot be read, and the repair of what people wrote in
 * it.
 */
#ifndef MCP_CORE_MESSAGE_MESSAGE_SCAN_H
#define MCP_CORE_MESSAGE_MESSAGE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/** A message's text, looked at once more. */
typedef struct mcp__message_scan {
    const char *
        /* the text of the top-level member `id`; NULL: none, or it is not one text of an object */
        id;
    size_t id_length;
    size_t repaired; /* escapes that were replaced */
} mcp__message_scan;

/**
 * Walk over a text that is JSON but for single values: escapes of one half of a surrogate pair,
 * numbers beyond a double, any depth. Such escapes become those of U+FFFD where people write: in
 * the values of params.arguments, params.argument and params.inputResponses, and in the result of a
 * response. They stay elsewhere.
 *
 * @param out  *out is always filled; its id is in `text`
 * @param text changed in place, its length stays
 */
void mcp__message_scan_text(mcp__message_scan *out, char *text, size_t length);

#endif
