/*
 * test_beneath.c - opening beneath a folder, by the kernel and by the walk that stands in for it.
 *
 * Both ways must give the same answers, so every case runs through both.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/beneath.h"
#include "scratch.h"

static const struct {
    const char *name;
    int flags;
    int failure; /* 0: it opens */
} attempts[] = {
    { "a/file", O_RDONLY, 0 },
    { "./a/./file", O_RDONLY, 0 },
    { "a//file", O_RDONLY, 0 },
    { "a", O_RDONLY | O_DIRECTORY, 0 },
    { "a/", O_RDONLY | O_DIRECTORY, 0 },
    { ".", O_RDONLY | O_DIRECTORY, 0 },
    { "", O_RDONLY | O_DIRECTORY, 0 },
    { "a", O_PATH, 0 },
    { "a/file", O_RDONLY | O_DIRECTORY, ENOTDIR },
    { "a/file/x", O_RDONLY, ENOTDIR },
    { "a/none", O_RDONLY, ENOENT },
    { "none/file", O_RDONLY, ENOENT },
    { "..", O_RDONLY, EXDEV },
    { "../other", O_RDONLY, EXDEV },
    { "/etc/passwd", O_RDONLY, EXDEV },
    { "in/file", O_RDONLY, ELOOP },
    { "out", O_RDONLY, ELOOP },
    { "out", O_PATH, ELOOP },
    { "out", O_RDONLY | O_DIRECTORY, ELOOP },
    { "out/passwd", O_RDONLY, ELOOP },
    { "a/link", O_RDONLY, ELOOP },
    { "dangling", O_RDWR | O_CREAT, ELOOP },
    { "dangling", O_RDWR | O_CREAT | O_EXCL, EEXIST },
};

static void fill(scratch *folder)
{
    scratch_open(folder);
    scratch_write(folder, "a/file", "here", 4);
    assert_int_equal(symlinkat("a", folder->fd, "in"), 0);
    assert_int_equal(symlinkat("/etc", folder->fd, "out"), 0);
    assert_int_equal(symlinkat("file", folder->fd, "a/link"), 0);
    assert_int_equal(symlinkat("nowhere", folder->fd, "dangling"), 0);
}

static void try_all(int dir_fd)
{
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        errno = 0;
        int fd = guard_beneath(dir_fd, attempts[i].name, attempts[i].flags, 0666);
        int failure = fd < 0 ? errno : 0;
        if (fd >= 0) {
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
            close(fd);
        }
        if (failure != attempts[i].failure)
            fail_msg("'%s' with 0x%x: %s", attempts[i].name, attempts[i].flags, strerror(failure));
    }
}

static void both_ways_agree(void **state)
{
    scratch folder;

    (void)state;
    fill(&folder);
    size_t before = scratch_open_descriptors();
    try_all(folder.fd);
    guard_beneath_forget_openat2(true);
    try_all(folder.fd);
    guard_beneath_forget_openat2(false);
    assert_int_equal(scratch_open_descriptors(), before);
    scratch_close(&folder);
}

static void files_are_made_with_their_mode(void **state)
{
    scratch folder;
    struct stat st;

    (void)state;
    fill(&folder);
    mode_t mask = umask(022);
    for (int i = 0; i < 2; i++) {
        char name[32];
        guard_beneath_forget_openat2(i == 1);
        snprintf(name, sizeof name, "a/new%d", i);
        int fd = guard_beneath(folder.fd, name, O_RDWR | O_CREAT | O_EXCL, 0666);
        assert_true(fd >= 0);
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0644);
        close(fd);
    }
    guard_beneath_forget_openat2(false);
    umask(mask);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(files_are_made_with_their_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
