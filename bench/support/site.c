/*
 * site.c - starting an HTTP server, connecting to it, ending it.
 */
#include "support/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, GOODBYE_MS = 2000 };

static void rest_us(long us)
{
    struct timespec time = { .tv_nsec = us * 1000 };

    nanosleep(&time, NULL);
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* True in the child, which dies with the bench. */
static bool fork_site(site *it)
{
    pid_t bench = getpid();

    it->program = (program){ .pid = fork(), .to = -1, .from = -1 };
    if (it->program.pid < 0)
        bench_give_up("fork: %s", strerror(errno));
    if (it->program.pid > 0)
        return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != bench)
        _exit(1);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDIN_FILENO);
    dup2(getenv("BENCH_LOUD") ? STDERR_FILENO : nowhere, STDOUT_FILENO);
    if (!getenv("BENCH_LOUD"))
        dup2(nowhere, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    return true;
}

void site_run(site *it, char *const *command)
{
    if (!fork_site(it))
        return;
    execvp(command[0], command);
    _exit(127);
}

void site_serve(site *it, int (*serve)(int port))
{
    if (fork_site(it))
        _exit(serve(it->port));
}

int site_free_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        bench_give_up("no free port: %s", strerror(errno));
    close(fd);
    return ntohs(address.sin_port);
}

static int try_connect(const site *it)
{
    struct sockaddr_in address = loopback(it->port);
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        bench_give_up("socket: %s", strerror(errno));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

int site_connect(const site *it)
{
    int64_t until = bench_now_ns() + (int64_t)PATIENCE_MS * 1000000;
    int fd = try_connect(it);

    while (fd < 0) {
        if (waitpid(it->program.pid, NULL, WNOHANG) != 0)
            bench_give_up("%s: it ended before it listened (BENCH_LOUD=1 shows why)", it->name);
        if (bench_now_ns() > until)
            bench_give_up("%s: does not listen on port %d", it->name, it->port);
        rest_us(100);
        fd = try_connect(it);
    }
    return fd;
}

void site_end(site *it)
{
    int64_t until = bench_now_ns() + (int64_t)GOODBYE_MS * 1000000;

    kill(it->program.pid, SIGTERM);
    while (waitpid(it->program.pid, NULL, WNOHANG) == 0) {
        if (bench_now_ns() > until)
            kill(it->program.pid, SIGKILL);
        rest_us(1000);
    }
    it->program.pid = 0;
}
