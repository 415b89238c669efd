/*
 * child.h - a program whose standard input and output a test holds, line by line.
 *
 * What the program writes to standard error goes to a file, shown when a test fails. Every wait is
 * bounded; a failure ends the test.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mcp/buf.h"

typedef struct child {
    pid_t pid;      /* 0: none */
    int to;         /* its standard input; -1: closed */
    int from;       /* its standard output */
    int complaints; /* its standard error, a file */
    mcp_buf unread; /* read from it; begins with the line given out last */
    size_t given;   /* bytes of that line with its end */
} child;

/** Start a program. `arguments` ends with NULL; its first is the program's path. */
void child_start(child *c, char *const *arguments);

/** Send a line; the newline is added. */
void child_send(child *c, const char *line, size_t length);

/**
 * The next line from it.
 *
 * @param line borrowed until the next call
 * @return false at the end of its output
 */
bool child_next(child *c, const char **line, size_t *length);

/** End its input, read what it still writes (which must be nothing), and wait for it. */
int child_end(child *c);

/** Kill it if it is still there and free what is held; for clean-up. */
void child_clear(child *c);

/** What it wrote to standard error, cut at the end of the static buffer. */
const char *child_complaints(const child *c);

#endif
