/**
 * files.h - files embedded in the program.
 *
 * Tool definitions, prompts and pages are files in the source tree. cmake/embed.cmake compiles them
 * into a table of path, bytes and length; a small program can write that table by hand.
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
    const char *bytes; /* its contents; need not end in NUL */
    size_t length;     /* of `bytes` */
} mcp_file;

/** Find a file by its path. @return NULL when there is none; `files` may be NULL */
const mcp_file *mcp_files_find(const mcp_file *files, const char *path);

#ifdef __cplusplus
}
#endif

#endif
