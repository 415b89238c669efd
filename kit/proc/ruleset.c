/*
 * ruleset.c - the Landlock rules: which files a child may open.
 *
 * The kernel's headers may be older than the kernel, so the numbers of later versions of the
 * interface stand here. What the running kernel does not know is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/child.h"

#define ACCESS_REFER (1ULL << 13)     /* version 2 */
#define ACCESS_TRUNCATE (1ULL << 14)  /* version 3 */
#define ACCESS_IOCTL_DEV (1ULL << 15) /* version 5 */

#define ACCESS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                               \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |  \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |   \
     ACCESS_REFER | ACCESS_TRUNCATE)

/* What a rule of a file that is no folder may name. */
#define ACCESS_OF_FILE                                                                             \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE |   \
     ACCESS_TRUNCATE | ACCESS_IOCTL_DEV)

/* Of version 6; the kernel takes the beginning that it knows. */
typedef struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped; /* abstract Unix sockets and signals stay inside */
} ruleset_attributes;

/* Every right of the file system that the version knows. */
static uint64_t handled(int version)
{
    return version >= 5   ? (1ULL << 16) - 1
           : version >= 3 ? (1ULL << 15) - 1
           : version == 2 ? (1ULL << 14) - 1
                          : (1ULL << 13) - 1;
}

static uint64_t rights(unsigned access)
{
    return (access & PROC_READ ? ACCESS_READ : 0) | (access & PROC_WRITE ? ACCESS_WRITE : 0) |
           (access & PROC_EXECUTE ? LANDLOCK_ACCESS_FS_EXECUTE : 0);
}

static int add_rule(int ruleset, const proc_path *path, uint64_t known)
{
    struct stat file;
    int fd = path->path ? open(path->path, O_PATH | O_CLOEXEC) : path->fd;
    int failure = 0;

    if (fd < 0)
        return errno == ENOENT && (path->access & PROC_OPTIONAL) ? 0 : errno;
    if (fstat(fd, &file) != 0)
        failure = errno;
    struct landlock_path_beneath_attr rule = {
        .parent_fd = fd,
        .allowed_access = rights(path->access) & known,
    };
    if (!failure && !S_ISDIR(file.st_mode))
        rule.allowed_access &= ACCESS_OF_FILE;
    if (!failure && rule.allowed_access != 0 &&
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        failure = errno;
    if (path->path)
        close(fd);
    return failure;
}

mcp_status proc_ruleset(int *out, const proc_path *paths, size_t count, mcp_error *err)
{
    int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
                               LANDLOCK_CREATE_RULESET_VERSION);

    if (version < 1)
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "this system has no Landlock");
    ruleset_attributes attributes = {
        .handled_access_fs = handled(version),
        .scoped = version >= 6 ? 3 : 0,
    };
    size_t size = version >= 6   ? sizeof attributes
                  : version >= 4 ? 2 * sizeof(uint64_t)
                                 : sizeof(uint64_t);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0)
        return mcp_error_errno(err, errno, "cannot make Landlock rules");
    for (size_t i = 0; i < count; i++) {
        int failure = add_rule(ruleset, &paths[i], attributes.handled_access_fs);
        if (failure) {
            close(ruleset);
            return mcp_error_errno(err, failure, "cannot make a Landlock rule of '%s'",
                                   paths[i].path ? paths[i].path : "a descriptor");
        }
    }
    *out = ruleset;
    return MCP_OK;
}
