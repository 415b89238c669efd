/*
 * start.c - how long a server takes from its start to its first answer, and what it holds when idle.
 *
 * Starts a stdio server again and again, sends `initialize`, and takes the time from before the start until the
 * last byte of the answer is here. Then the handshake is finished, the server left alone for a moment, and its
 * resident memory read. A peer in the same run, `cat`, shows what starting any process costs here.
 *
 *     bench-start [PROGRAM [ARGUMENT...]]       default: cobre-mcp in CAUSEWAY_BIN or build/bin
 */
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40, IDLE_MS = 300, ANSWER_MAX = 1 << 16 };

static const char initialize[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
static const char initialized[] =
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

typedef struct child {
    pid_t pid;
    int to;
    int from;
} child;

typedef struct figures {
    double ms[ROUNDS];
    long resident_kb[ROUNDS];
} figures;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static child start(char **command)
{
    int down[2];
    int up[2];
    child it = { 0 };
    posix_spawn_file_actions_t actions;

    if (pipe(down) != 0 || pipe(up) != 0)
        give_up("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, down[0], 0);
    posix_spawn_file_actions_adddup2(&actions, up[1], 1);
    for (int i = 0; i < 2; i++) {
        posix_spawn_file_actions_addclose(&actions, down[i]);
        posix_spawn_file_actions_addclose(&actions, up[i]);
    }
    if (posix_spawnp(&it.pid, command[0], &actions, NULL, command, environ) != 0)
        give_up(command[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(down[0]);
    close(up[1]);
    it.to = down[1];
    it.from = up[0];
    return it;
}

static void say(const child *it, const char *line)
{
    size_t length = strlen(line);

    if (write(it->to, line, length) != (ssize_t)length)
        give_up("write");
}

static void hear_line(const child *it)
{
    static char answer[ANSWER_MAX];
    size_t length = 0;

    while (length == 0 || answer[length - 1] != '\n') {
        ssize_t got = length < sizeof answer
                          ? read(it->from, answer + length, sizeof answer - length)
                          : 0;
        if (got <= 0) {
            fprintf(stderr, "start: the program ended, or answered without end\n");
            exit(1);
        }
        length += (size_t)got;
    }
}

/* VmRSS of /proc/<pid>/status. */
static long resident_kb(pid_t pid)
{
    char path[64];
    char line[256];
    long kb = -1;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *status = fopen(path, "r");
    if (!status)
        give_up(path);
    while (kb < 0 && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    fclose(status);
    return kb;
}

static void rest(int ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

static void end(child *it)
{
    close(it->to);
    close(it->from);
    waitpid(it->pid, NULL, 0);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static int ascending_kb(const void *a, const void *b)
{
    long x = *(const long *)a;
    long y = *(const long *)b;

    return (x > y) - (x < y);
}

static void measure(figures *out, char **command, int is_server)
{
    for (int i = 0; i < ROUNDS; i++) {
        double from = now_ms();
        child it = start(command);
        say(&it, initialize);
        hear_line(&it);
        out->ms[i] = now_ms() - from;
        if (is_server)
            say(&it, initialized);
        /* One idle round in eight is enough for a figure that hardly varies. */
        if (i % 8 == 0)
            rest(IDLE_MS);
        out->resident_kb[i] = resident_kb(it.pid);
        end(&it);
    }
    qsort(out->ms, ROUNDS, sizeof out->ms[0], ascending);
    qsort(out->resident_kb, ROUNDS, sizeof out->resident_kb[0], ascending_kb);
}

static void print(const char *name, const figures *it)
{
    printf(
        "%-12s start to first answer: median %.1f ms, 90 %% %.1f ms; resident when idle: %.1f MB\n",
        name, it->ms[ROUNDS / 2], it->ms[ROUNDS * 9 / 10],
        (double)it->resident_kb[ROUNDS - 1] / 1024.0);
}

int main(int argc, char **argv)
{
    char program[4096];
    char *server[] = { program, NULL };
    char cat[] = "cat";
    char *peer[] = { cat, NULL };
    const char *bin = getenv("CAUSEWAY_BIN");
    figures figure;

    signal(SIGPIPE, SIG_IGN);
    snprintf(program, sizeof program, "%s/cobre-mcp", bin ? bin : "build/bin");
    measure(&figure, argc > 1 ? argv + 1 : server, 1);
    print(argc > 1 ? argv[1] : "cobre-mcp", &figure);
    measure(&figure, peer, 0);
    print("(cat)", &figure);
    return 0;
}
