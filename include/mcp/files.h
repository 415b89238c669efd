/**
 * files.h - files that are part of the program.
 *
 * Tool definitions, prompts and pages lie beside the code as files and reach C as a table of path,
 * bytes and length that cmake/embed.cmake writes; a small program writes it by hand.
 */
#ifndef MCP_FILES_H
#define MCP_FILES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One embedded file. A table of them ends with an entry whose path is NULL. */
typedef struct mcp_file {
    const char *path;  /* relative, with '/': "tools/validate.json" */
    const char *bytes; /* what it holds; need not end in NUL */
    size_t length;     /* of the bytes */
} mcp_file;

/** The file of that path, or NULL. `files` may be NULL. */
const mcp_file *mcp_files_find(const mcp_file *files, const char *path);

#ifdef __cplusplus
}
#endif

#endif
