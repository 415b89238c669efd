/*
 * canonical.h - the absolute path without links that a path stands for.
 */
#ifndef GUARD_CANONICAL_H
#define GUARD_CANONICAL_H

#include <limits.h>
#include <stdbool.h>

/*
 * Resolve links, "." and ".." of `path`, relative to the current directory. What does not exist is
 * taken by its text, so that the answer for a missing path is where it would be.
 *
 * False when that cannot be told: more than 40 links, a result over PATH_MAX, or a link in procfs,
 * whose text says nothing about where it leads.
 */
bool guard_canonical(char out[PATH_MAX], const char *path);

/* Where in `path` the part below `root` starts (an empty text for the root itself); NULL when it is
 * neither the root nor below it. Both are canonical. */
const char *guard_below(const char *root, const char *path);

#endif
