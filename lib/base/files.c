/*
 * files.c - finding an embedded file by its path.
 */
#include "mcp/files.h"

#include <string.h>

const mcp_file *mcp_files_find(const mcp_file *files, const char *path)
{
    for (const mcp_file *file = files; path && file && file->path; file++) {
        if (strcmp(file->path, path) == 0)
            return file;
    }
    return NULL;
}
