/*
 * canonical.h - the absolute path without links of a path.
 */
#ifndef GUARD_CANONICAL_H
#define GUARD_CANONICAL_H

#include <limits.h>
#include <stdbool.h>

/*
 * Resolve links, "." and ".." of `path`, relative to the current directory. A missing
 * component is taken by its text, so the result for a missing path is where it would be.
 *
 * False: more than 40 links, a result over PATH_MAX, or a link in procfs, whose text is not its
 * target.
 */
bool guard_canonical(char out[PATH_MAX], const char *path);

/* Where in `path` the part below `root` starts (an empty text for the root itself); NULL when it is
 * neither the root nor below it. Both are canonical. */
const char *guard_below(const char *root, const char *path);

#endif
