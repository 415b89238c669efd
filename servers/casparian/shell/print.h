/**
 * print.h - answers of commands: as JSON with --json, else as a table or as lines.
 *
 * A command writes its answer as JSON, as the tool of the same name does; what a person sees is
 * made of that.
 */
#ifndef CASPARIAN_SHELL_PRINT_H
#define CASPARIAN_SHELL_PRINT_H

#include "cli/cli.h"
#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/json.h"

/** A column of a table, of an array of objects. */
typedef struct casparian_shell_column {
    const char *title;
    const char *pointer; /* JSON Pointer into the object */
    bool is_right;
} casparian_shell_column;

/** An answer that is being written. */
typedef struct casparian_shell_answer {
    mcp_buf text;
    mcp_json_writer json; /* in an open object */
} casparian_shell_answer;

/** Begin an answer; casparian_shell_answer_end must follow. */
void casparian_shell_answer_begin(casparian_shell_answer *self);

/**
 * End the object, and free what was written.
 *
 * @param out the answer, in the arena; where the line has --json it was printed, and `out` is NULL
 * @return MCP_OK; the writer's failure; MCP_E_NOMEM
 */
mcp_status casparian_shell_answer_end(casparian_shell_answer *self, const mcp_json **out,
                                      const cli_line *line, mcp_arena *arena, mcp_error *err);

/**
 * As casparian_shell_answer_end if `st` is MCP_OK. Else nothing is printed: an answer that is not
 * whole would be a second document before that of the failure.
 *
 * @return `st`, or the status of casparian_shell_answer_end
 */
mcp_status casparian_shell_answer_close(casparian_shell_answer *self, mcp_status st,
                                        const mcp_json **out, const cli_line *line,
                                        mcp_arena *arena, mcp_error *err);

/** Print a table of an array of objects; `empty` where it has none. */
mcp_status casparian_shell_table(const cli_line *line, const mcp_json *rows,
                                 const casparian_shell_column *columns, size_t count,
                                 const char *empty, mcp_error *err);

/** Print an object, a line a member, with what is inside indented. Control characters and those
 *  that change the direction of text are shown as \u00XX. */
void casparian_shell_document(FILE *stream, const mcp_json *value);

/** Print the warnings of an answer to standard error, with such characters shown. `warnings` may be
 *  NULL. */
void casparian_shell_warnings(const cli_line *line, const mcp_json *warnings);

/** Append a value as one line of text, with such characters shown. @return out->status */
mcp_status casparian_shell_line(mcp_buf *out, const mcp_json *value);

#endif
