/*
 * canonical.c - resolving a path.
 *
 * realpath() fails for a path that does not exist, and so reveals whether it exists. This walk
 * continues instead: each component is appended and, when it is a link, replaced by the link's
 * text; a missing or unreadable component is kept as written. The result is only compared with the
 * roots. Files may be exchanged between this and the opening: the opening is beneath the root and
 * without links, and fails for an exchanged one.
 *
 * Links in procfs (/proc/self/root, /proc/self/cwd, /proc/self/fd/N) are refused. Their text is no
 * path: the kernel follows them to their target, which may be in another mount namespace.
 */
#include "guard/canonical.h"

#include <errno.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

struct walk {
    char *out; /* canonical so far: "" is the root, else "/a/b" */
    size_t length;
    char rest[PATH_MAX]; /* components to come */
    unsigned links;
};

static void pop_component(struct walk *walk)
{
    while (walk->length > 0 && walk->out[walk->length - 1] != '/')
        walk->length--;
    if (walk->length > 0)
        walk->length--;
    walk->out[walk->length] = '\0';
}

static bool push_component(struct walk *walk, const char *name, size_t length)
{
    if (walk->length + length + 2 > PATH_MAX)
        return false;
    walk->out[walk->length++] = '/';
    memcpy(walk->out + walk->length, name, length);
    walk->length += length;
    walk->out[walk->length] = '\0';
    return true;
}

/* The folder of the last component; the link itself is what must not be followed here. */
static bool is_in_procfs(struct walk *walk)
{
    struct statfs fs;
    size_t cut = walk->length;

    while (walk->out[cut - 1] != '/')
        cut--;
    char kept = walk->out[cut];
    walk->out[cut] = '\0';
    int failed = statfs(walk->out, &fs);
    walk->out[cut] = kept;
    return !failed && fs.f_type == PROC_SUPER_MAGIC;
}

/* Put the link's text before the remaining components. */
static bool follow(struct walk *walk, const char *target, size_t target_length)
{
    size_t rest_length = strlen(walk->rest);

    if (++walk->links > LINKS_MAX || is_in_procfs(walk) || target_length == 0)
        return false;
    if (target_length + rest_length + 2 > sizeof walk->rest)
        return false;
    memmove(walk->rest + target_length + 1, walk->rest, rest_length + 1);
    memcpy(walk->rest, target, target_length);
    walk->rest[target_length] = '/';
    if (target[0] == '/') {
        walk->length = 0;
        walk->out[0] = '\0';
    } else {
        pop_component(walk);
    }
    return true;
}

/* Take one component off `rest`; false when its link cannot be resolved. */
static bool step(struct walk *walk)
{
    char name[PATH_MAX], target[PATH_MAX];
    char *start = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(start, "/");

    memcpy(name, start, length);
    memmove(walk->rest, start + length, strlen(start + length) + 1);
    if (length == 0 || (length == 1 && name[0] == '.'))
        return true;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
        pop_component(walk);
        return true;
    }
    if (!push_component(walk, name, length))
        return false;
    ssize_t got = readlink(walk->out, target, sizeof target);
    if (got < 0)
        return true;
    return (size_t)got < sizeof target && follow(walk, target, (size_t)got);
}

bool guard_canonical(char out[PATH_MAX], const char *path)
{
    struct walk walk = { .out = out };
    char cwd[PATH_MAX] = "";

    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return false;
    int length = snprintf(walk.rest, sizeof walk.rest, "%s/%s", cwd, path);
    if (length < 0 || (size_t)length >= sizeof walk.rest)
        return false;
    out[0] = '\0';
    while (walk.rest[0])
        if (!step(&walk))
            return false;
    if (walk.length == 0)
        push_component(&walk, "", 0);
    return true;
}

const char *guard_below(const char *root, const char *path)
{
    size_t length = strlen(root);

    if (strcmp(root, "/") == 0)
        return path + 1;
    if (strncmp(root, path, length) != 0)
        return NULL;
    if (path[length] == '\0')
        return path + length;
    return path[length] == '/' ? path + length + 1 : NULL;
}
