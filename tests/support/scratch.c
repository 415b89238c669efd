/*
 * scratch.c - a folder of its own for a test, gone when the test ends.
 */
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

void scratch_open(scratch *folder)
{
    const char *base = getenv("TMPDIR");
    char made[SCRATCH_PATH_MAX];

    snprintf(made, sizeof made, "%s/scratch-XXXXXX", base && base[0] ? base : P_tmpdir);
    assert_non_null(mkdtemp(made));
    char *canonical = realpath(made, NULL);
    assert_non_null(canonical);
    assert_true(strlen(canonical) < sizeof folder->path);
    memcpy(folder->path, canonical, strlen(canonical) + 1);
    free(canonical);
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder->fd >= 0);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

void scratch_close(scratch *folder)
{
    close(folder->fd);
    nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void scratch_write(const scratch *folder, const char *relative, const void *bytes, size_t length)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", relative);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdirat(folder->fd, path, 0777);
        *slash = '/';
    }
    int fd = openat(folder->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/* What scratch_copy is at; nftw passes nothing on. */
static struct {
    const scratch *folder;
    const char *relative;
    size_t prefix;
} copying;

static int copy_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    char to[PATH_MAX], bytes[1 << 16];
    (void)st;
    (void)where;

    snprintf(to, sizeof to, "%s%s", copying.relative, path + copying.prefix);
    if (kind == FTW_D)
        return mkdirat(copying.folder->fd, to, 0777);
    FILE *from = fopen(path, "re");
    if (!from)
        return -1;
    size_t length = fread(bytes, 1, sizeof bytes, from);
    bool is_whole = feof(from);
    fclose(from);
    if (is_whole)
        scratch_write(copying.folder, to, bytes, length);
    return is_whole ? 0 : -1;
}

void scratch_copy(const scratch *folder, const char *relative, const char *from)
{
    copying.folder = folder;
    copying.relative = relative;
    copying.prefix = strlen(from);
    assert_int_equal(nftw(from, copy_one, 16, FTW_PHYS), 0);
}

const char *scratch_path(const scratch *folder, const char *relative)
{
    static char paths[4][PATH_MAX * 2];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder->path, relative);
    return path;
}

size_t scratch_open_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
