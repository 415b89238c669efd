/*
 * scratch.h - a folder of its own for a test, gone when the test ends.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stddef.h>

#define SCRATCH_PATH_MAX 512

typedef struct scratch {
    char path[SCRATCH_PATH_MAX]; /* canonical */
    int fd;
} scratch;

/* Make an empty folder; a failure ends the test. */
void scratch_open(scratch *folder);

/* Remove it with all that is in it. */
void scratch_close(scratch *folder);

/* Write a file there, with its folders. */
void scratch_write(const scratch *folder, const char *relative, const void *bytes, size_t length);

/* Copy a folder of small files (64 KiB each) there, under that name. */
void scratch_copy(const scratch *folder, const char *relative, const char *from);

/* "<path>/<relative>", in one of a few static buffers that take turns. */
const char *scratch_path(const scratch *folder, const char *relative);

/* How many descriptors this process has open: the same before and after means that none leaked. */
size_t scratch_open_descriptors(void);

#endif
