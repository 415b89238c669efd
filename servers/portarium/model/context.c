/*
 * context.c - the first parts of names.
 */
#include "model/context.h"

#include <string.h>

bool portarium_context_has(const char *name)
{
    static const char *const roots[] = { "actor", "workflow", "action", "run",
                                         "agent", "machine",  "env" };
    size_t length = strcspn(name, ".");

    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strlen(roots[i]) == length && memcmp(roots[i], name, length) == 0)
            return true;
    return false;
}
