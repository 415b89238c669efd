/*
 * fuzz_glob.c - any text as a pattern, a NUL, and any text as a path.
 *
 * A folder with a match below it is always entered, and a path that is a pattern without special
 * characters matches itself.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 2048 };

static void must(bool claim)
{
    if (!claim)
        abort();
}

/* Each folder of a path that matches must be entered. */
static void check_folders(const casparian_glob *glob, char *path)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        must(casparian_glob_enters(glob, path));
        *slash = '/';
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 2] = "";
    casparian_glob *glob = NULL;
    if (size > TEXT_MAX)
        size = TEXT_MAX;
    if (size > 0)
        memcpy(text, data, size);
    char *path = text + strlen(text) + 1;
    if (path > text + size)
        path = text + size + 1;
    if (casparian_glob_new(&glob, text, NULL) != MCP_OK)
        return 0;
    if (casparian_glob_matches(glob, path))
        check_folders(glob, path);
    bool is_plain = text[0] && text[0] != '/' && !strpbrk(text, "*?[]{},\\");
    if (is_plain)
        must(casparian_glob_matches(glob, text));
    casparian_glob_free(glob);
    return 0;
}
