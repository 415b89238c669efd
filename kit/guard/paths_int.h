/*
 * paths_int.h - the roots of a guard, shared by those who open names.
 */
#ifndef GUARD_PATHS_INT_H
#define GUARD_PATHS_INT_H

#include "guard/paths.h"

#define GUARD_SHOWN_MAX 150 /* of a path in a message, which has 240 bytes in all */

struct guard_root {
    char *path;  /* canonical */
    char *given; /* absolute, as it was named */
    int fd;      /* O_PATH */
};

struct guard {
    size_t count, excluded_count;
    char **excluded; /* canonical */
    struct guard_root roots[];
};

/* "..." where a path is not shown whole. */
const char *guard__shown_end(const char *path);

/* The innermost root that contains the path; *below is the part after it. NULL: there is none, or
 * an excluded folder is nearer. */
const struct guard_root *guard__find_root(const guard *all, const char *canonical,
                                          const char **below);

#endif
