/*
 * postgres.c - running the script that starts and ends a PostgreSQL.
 */
#include "postgres.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"

extern char **environ;

enum { START_MAX_MS = 250000, URL_MAX = 256 };

static scratch folder;
static char url[URL_MAX];
static char socket_url[URL_MAX + SCRATCH_PATH_MAX];

/* Run the script; what it prints goes to `out`. It bounds its own waits. */
static int run_script(const char *action, char *out, size_t size)
{
    const char *top = getenv("CAUSEWAY_SOURCE");
    char script[SCRATCH_PATH_MAX];
    int ends[2];
    pid_t pid = 0;
    int status = -1;
    size_t length = 0;

    snprintf(script, sizeof script, "%s/tests/support/postgres", top ? top : ".");
    char *arguments[] = { script, (char *)action, folder.path, NULL };
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    assert_int_equal(posix_spawn(&pid, script, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    struct pollfd readable = { .fd = ends[0], .events = POLLIN };
    while (length + 1 < size && poll(&readable, 1, START_MAX_MS) == 1) {
        ssize_t got = read(ends[0], out + length, size - length - 1);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    out[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *postgres_url(void)
{
    if (url[0])
        return url;
    scratch_open(&folder);
    assert_int_equal(run_script("start", url, sizeof url), 0);
    url[strcspn(url, "\n")] = '\0';
    return url;
}

const char *postgres_socket_url(void)
{
    const char *port = strrchr(postgres_url(), ':') + 1;

    snprintf(socket_url, sizeof socket_url, "postgres:///postgres?host=%s&port=%.*s&user=causeway",
             folder.path, (int)strcspn(port, "/"), port);
    return socket_url;
}

const char *postgres_folder(void)
{
    postgres_url();
    return folder.path;
}

void postgres_stop(void)
{
    char ignored[URL_MAX];

    if (!url[0])
        return;
    run_script("stop", ignored, sizeof ignored);
    scratch_close(&folder);
    url[0] = '\0';
}
