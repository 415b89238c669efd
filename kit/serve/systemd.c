/*
 * systemd.c - the variables and datagrams of systemd.
 */
#include "serve/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_SOCKET 3
#define WATCHDOG_MAX_US (INT64_C(1000000) * 60 * 60 * 24 * 365)

/* ---- variables ------------------------------------------------------------------------------- */

/* A number of a variable; `fallback` where it is not set. */
static mcp_status read_number(int64_t *out, const char *name, int64_t fallback, int64_t most,
                              mcp_error *err)
{
    const char *text = getenv(name);
    char *end = NULL;

    *out = fallback;
    if (!text)
        return MCP_OK;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end || number < 0 || number > most)
        return mcp_error_set(err, MCP_E_PARAMS, "%s is not a number from 0 to %lld", name,
                             (long long)most);
    *out = number;
    return MCP_OK;
}

/* Whether what the variables say is for this process. */
static mcp_status is_for_us(bool *out, const char *pid_name, mcp_error *err)
{
    int64_t pid = 0;
    mcp_status st = read_number(&pid, pid_name, getpid(), INT32_MAX, err);

    *out = pid == getpid();
    return st;
}

static mcp_status read_sockets(serve_systemd *out, mcp_error *err)
{
    char host[MCP_ADDRESS_SIZE];
    int64_t count = 0;
    bool is_ours = false;
    int port = 0;
    mcp_status st = is_for_us(&is_ours, "LISTEN_PID", err);

    if (st == MCP_OK && is_ours && getenv("LISTEN_PID"))
        st = read_number(&count, "LISTEN_FDS", 0, MCP_SOCKETS_MAX, err);
    for (int i = 0; st == MCP_OK && i < count; i++) {
        int fd = FIRST_SOCKET + i;
        st = mcp_socket_address(host, &port, fd, err);
        if (st == MCP_OK && fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
            st = mcp_error_errno(err, errno, "descriptor %d of LISTEN_FDS", fd);
        out->sockets[out->socket_count++] = fd;
    }
    return st;
}

mcp_status serve_systemd_read(serve_systemd *out, mcp_error *err)
{
    int64_t watchdog_us = 0;
    bool is_ours = false;

    *out = (serve_systemd){ .notify = getenv("NOTIFY_SOCKET") };
    mcp_status st = read_sockets(out, err);
    if (st == MCP_OK)
        st = is_for_us(&is_ours, "WATCHDOG_PID", err);
    if (st == MCP_OK && is_ours)
        st = read_number(&watchdog_us, "WATCHDOG_USEC", 0, WATCHDOG_MAX_US, err);
    /* At least once a millisecond, where somebody watches at all. */
    out->watchdog_ms = watchdog_us > 0 ? watchdog_us / 2000 + (watchdog_us < 2000) : 0;
    return st;
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* "@name" is one of the abstract namespace: its first byte is NUL. */
static mcp_status read_address(struct sockaddr_un *out, socklen_t *length, const char *text,
                               mcp_error *err)
{
    size_t size = strlen(text);

    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if ((text[0] != '/' && text[0] != '@') || size < 2 || size >= sizeof out->sun_path)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "NOTIFY_SOCKET is neither an absolute path nor @name, of 2 to %zu "
                             "bytes",
                             sizeof out->sun_path - 1);
    memcpy(out->sun_path, text, size);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (text[0] == '@')
        out->sun_path[0] = '\0';
    return MCP_OK;
}

mcp_status serve_systemd_notify(const serve_systemd *self, const char *state, mcp_error *err)
{
    struct sockaddr_un address;
    socklen_t length = 0;

    if (!self->notify)
        return MCP_OK;
    mcp_status st = read_address(&address, &length, self->notify, err);
    if (st != MCP_OK)
        return st;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return mcp_error_errno(err, errno, "no socket for NOTIFY_SOCKET");
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, length) < 0)
        st = mcp_error_errno(err, errno, "NOTIFY_SOCKET %s cannot be written to", self->notify);
    (void)close(fd);
    return st;
}
