/*
 * memory.c - reads the limits of the machine and of control groups.
 *
 * A line of /proc/self/cgroup is "NUMBER:CONTROLLERS:PATH"; version 2 has the number 0 and no
 * controllers. A group's limit is a file in its folder, and the folders above it have theirs.
 * Inside a container the path may not be there; then the mount itself is the process's group.
 */
#include "case/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The machine's memory when it does not say. */
#define FALLBACK_GIB 4

#define TEXT_MAX 8192
#define PATH_SIZE 4608 /* a path of /proc/self/cgroup has 4096 bytes at most */

/* Read the beginning of a file as a text; empty when it cannot be read. */
static void read_text(char *text, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;

    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

static size_t read_limit(const char *folder, const char *file)
{
    char path[PATH_SIZE + 64], text[64], *end = text;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    read_text(text, sizeof text, path);
    unsigned long long limit = strtoull(text, &end, 10);
    return end == text ? SIZE_MAX : limit; /* "max" is no number */
}

/* The lowest limit of the group at `path` below `root`, and of those above it. */
static size_t limit_of(const char *root, const char *path, const char *file)
{
    char folder[PATH_SIZE];
    size_t least = SIZE_MAX, length = strlen(root);

    if (snprintf(folder, sizeof folder, "%s%s", root, path) >= (int)sizeof folder)
        return SIZE_MAX;
    for (;;) {
        size_t limit = read_limit(folder, file);
        char *slash = strrchr(folder, '/');
        least = limit < least ? limit : least;
        if (!slash || (size_t)(slash - folder) < length)
            return least;
        *slash = '\0';
    }
}

/* Whether a list "a,b" has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static size_t lower(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The limit that a line of the membership leads to. */
static size_t limit_of_line(char *line, const char *mount)
{
    char root[PATH_SIZE / 2];
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return SIZE_MAX;
    *path++ = '\0';
    controllers++;
    if (*controllers == '\0') {
        snprintf(root, sizeof root, "%s/unified", mount); /* where version 1 is there too */
        return lower(limit_of(mount, path, "memory.max"), limit_of(root, path, "memory.max"));
    }
    snprintf(root, sizeof root, "%s/memory", mount);
    return has_word(controllers, "memory") ? limit_of(root, path, "memory.limit_in_bytes")
                                           : SIZE_MAX;
}

size_t cobre_memory_limit(const char *membership, const char *mount)
{
    char text[TEXT_MAX], *rest = text;
    size_t least = SIZE_MAX;

    read_text(text, sizeof text, membership);
    while (*rest) {
        char *line = rest;
        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
        least = lower(least, limit_of_line(line, mount));
    }
    return least;
}

size_t cobre_memory_most(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    size_t machine = (size_t)FALLBACK_GIB << 30;

    if (pages > 0 && page > 0)
        machine = (size_t)pages * (size_t)page;
    return lower(machine, cobre_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup")) / 10 * 9;
}
