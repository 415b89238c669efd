/*
 * memory.h - how much memory a case and its study may take: less than the machine has, and less
 * than the control groups of the process allow (cgroups(7), versions 1 and 2), as containers and
 * services set them.
 */
#ifndef COBRE_CASE_MEMORY_H
#define COBRE_CASE_MEMORY_H

#include <stddef.h>

/* Nine tenths of what the process may have; the rest is for everything else. */
size_t cobre_memory_most(void);

/*
 * The lowest limit of a process's control groups and of those above them.
 *
 * membership: the groups of the process: /proc/self/cgroup
 * mount:      where their file systems are: /sys/fs/cgroup
 *
 * Bytes; SIZE_MAX: there is none, or it cannot be read.
 */
size_t cobre_memory_limit(const char *membership, const char *mount);

#endif
