/*
 * beneath.h - opening files beneath a folder, and no others.
 */
#ifndef GUARD_BENEATH_H
#define GUARD_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Open `relative` beneath the folder without following a link anywhere; "" is the folder itself.
 * O_CLOEXEC is added. `mode` counts with O_CREAT.
 *
 * The descriptor, or -1 with errno: EXDEV (it leads out), ELOOP (a link), else as open(2).
 */
int guard_beneath(int dir_fd, const char *relative, int flags, mode_t mode);

/* For tests: behave as on a kernel without openat2(2). */
void guard_beneath_forget_openat2(bool forget);

#endif
