/*
 * listen.c - listening sockets on the loop.
 *
 * The socket is polled and accept4 called here, not by libuv, because of one error: without a free
 * descriptor a connection stays in the queue, and the socket stays readable; a plain loop would
 * spin. Then the socket is not polled for RETRY_MS.
 *
 * The file of a Unix-domain socket gets its mode at birth: bind() gives it the mode of the unbound
 * socket, so that other users can connect at no moment, and the process's umask stays as it is.
 */
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "net/loop_int.h"

#define RETRY_MS 100
#define ACCEPTS_A_TURN 64
#define BACKLOG 4096

struct mcp__listener {
    uv_poll_t *watch;
    mcp__timer *retry;
    mcp__accept_callback *callback;
    void *data;
    int fd;
    int port;
    bool is_paused;   /* by the user */
    bool is_stalled;  /* no descriptors; `retry` is running */
    bool is_reported; /* that it stalls; until one can be taken again */
    char *path;       /* of a Unix-domain socket's file; NULL: TCP */
    dev_t device;     /* which file it was when it was made */
    ino_t inode;
};

/* ---- taking connections ---------------------------------------------------------------------- */

static void on_readable(uv_poll_t *handle, int status, int events);

static void look(mcp__listener *listener)
{
    bool looks = !listener->is_paused && !listener->is_stalled;

    (void)uv_poll_start(listener->watch, looks ? UV_READABLE : 0, on_readable);
}

static void on_retry(void *data)
{
    mcp__listener *listener = data;

    listener->is_stalled = false;
    look(listener);
}

static void stall(mcp__listener *listener, int code)
{
    listener->is_stalled = true;
    look(listener);
    mcp__timer_start(listener->retry, RETRY_MS);
    if (listener->is_reported)
        return;
    listener->is_reported = true;
    listener->callback(-code, listener->data);
}

/* What concerns the one connection only: it died while it waited, or a firewall forbade it. */
static bool is_passing(int code)
{
    return code == ECONNABORTED || code == EINTR || code == EPERM || code == EPROTO ||
           code == ENETDOWN || code == EHOSTDOWN || code == EHOSTUNREACH || code == ENETUNREACH;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    mcp__listener *listener = handle->data;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN && !listener->is_paused; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener->is_reported = false;
            listener->callback(fd, listener->data);
        } else if (!is_passing(errno)) {
            if (errno != EAGAIN)
                stall(listener, errno);
            return;
        }
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* Whether it takes connections; its address. */
static bool is_listening(int fd)
{
    int type = 0, listens = 0;
    socklen_t type_length = sizeof type, length = sizeof listens;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens;
}

mcp_status mcp__socket_address(char host[MCP__ADDRESS_SIZE], int *port, int socket, mcp_error *err)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } name = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t length = sizeof name;
    const void *bytes = NULL;

    host[0] = '\0';
    *port = 0;
    if (!is_listening(socket) || getsockname(socket, &name.any, &length) != 0)
        return mcp_error_set(err, MCP_E_PARAMS, "descriptor %d is not a listening socket", socket);
    switch (name.any.sa_family) {
    case AF_UNIX:
        return MCP_OK;
    case AF_INET:
        bytes = &name.v4.sin_addr;
        *port = ntohs(name.v4.sin_port);
        break;
    case AF_INET6:
        bytes = &name.v6.sin6_addr;
        *port = ntohs(name.v6.sin6_port);
        break;
    default:
        break;
    }
    if (!bytes || !inet_ntop(name.any.sa_family, bytes, host, MCP__ADDRESS_SIZE))
        return mcp_error_set(err, MCP_E_PARAMS, "descriptor %d is neither TCP nor a Unix socket",
                             socket);
    return MCP_OK;
}

/* Remember which file is ours, so that another process's is never removed. */
static void note_file(mcp__listener *listener, const char *path)
{
    struct stat about;

    if (lstat(path, &about) != 0)
        return;
    listener->device = about.st_dev;
    listener->inode = about.st_ino;
    listener->path = mcp_alloc(strlen(path) + 1);
    if (listener->path)
        memcpy(listener->path, path, strlen(path) + 1);
}

static mcp_status start(mcp__listener *listener, mcp__loop *loop, mcp_error *err)
{
    char host[MCP__ADDRESS_SIZE];

    if (listen(listener->fd, BACKLOG) != 0)
        return mcp_error_errno(err, errno, "the socket cannot be listened on");
    (void)mcp__socket_address(host, &listener->port, listener->fd, NULL);
    mcp_status st = mcp__timer_new(&listener->retry, loop, on_retry, listener, err);
    if (st != MCP_OK)
        return st;
    int code = mcp__poll_new(&listener->watch, loop, listener->fd, listener);
    if (code != 0)
        return mcp_error_errno(err, -code, "the listening socket cannot be watched");
    look(listener);
    return MCP_OK;
}

/* A bound socket becomes a listener, or is closed. `path`: of a file that is ours; NULL: none. */
static mcp_status adopt(mcp__listener **out, mcp__loop *loop, int fd, const char *path,
                        mcp__accept_callback *callback, void *data, mcp_error *err)
{
    mcp__listener *listener = mcp_alloc_zeroed(1, sizeof *listener);

    if (!listener) {
        (void)close(fd);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to listen with");
    }
    listener->fd = fd;
    listener->callback = callback;
    listener->data = data;
    if (path)
        note_file(listener, path);
    mcp_status st = start(listener, loop, err);
    if (st != MCP_OK) {
        mcp__listener_free(listener);
        return st;
    }
    *out = listener;
    return MCP_OK;
}

/* A socket that is bound to an address; `place` is its name for people. */
static mcp_status bind_socket(int *out, const struct sockaddr *address, socklen_t length,
                              const char *place, mcp_error *err)
{
    int on = 1;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return mcp_error_errno(err, errno, "no socket to listen with");
    /* Else the port stays taken for a minute after a restart. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if ((address->sa_family == AF_UNIX && fchmod(fd, S_IRUSR | S_IWUSR) != 0) ||
        bind(fd, address, length) != 0) {
        mcp_status st = mcp_error_errno(err, errno, "cannot listen on %s", place);
        (void)close(fd);
        return st;
    }
    *out = fd;
    return MCP_OK;
}

/* ---- TCP ------------------------------------------------------------------------------------- */

static mcp_status resolve(struct addrinfo **out, const char *host, int port, mcp_error *err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    char service[16];

    if (port < 0 || port > 65535)
        return mcp_error_set(err, MCP_E_PARAMS, "port %d: ports are 0 to 65535", port);
    (void)snprintf(service, sizeof service, "%d", port);
    int code = getaddrinfo(host, service, &hints, out);
    if (code != 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "no address for host \"%s\": %s", host,
                             gai_strerror(code));
    return MCP_OK;
}

mcp_status mcp__listen_tcp(mcp__listener **out, mcp__loop *loop, const char *host, int port,
                           mcp__accept_callback *callback, void *data, mcp_error *err)
{
    struct addrinfo *address = NULL;
    char place[sizeof err->message];
    int fd = -1;

    mcp_status st = resolve(&address, host, port, err);
    if (st != MCP_OK)
        return st;
    (void)snprintf(place, sizeof place, "%s port %d", host, port);
    st = bind_socket(&fd, address->ai_addr, address->ai_addrlen, place, err);
    freeaddrinfo(address);
    return st == MCP_OK ? adopt(out, loop, fd, NULL, callback, data, err) : st;
}

/* ---- Unix domain ----------------------------------------------------------------------------- */

/* Whether somebody answers at the socket. */
static bool is_alive(const struct sockaddr_un *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool alive = fd >= 0 &&
                 (connect(fd, (const struct sockaddr *)name, sizeof *name) == 0 || errno == EAGAIN);

    if (fd >= 0)
        (void)close(fd);
    return alive;
}

/* Make way for our file: a dead process's socket is removed, nothing else is. */
static mcp_status clear_way(const struct sockaddr_un *name, mcp_error *err)
{
    const char *path = name->sun_path;
    struct stat about;

    if (lstat(path, &about) != 0)
        return MCP_OK; /* bind will say what is wrong, if anything is */
    if (!S_ISSOCK(about.st_mode))
        return mcp_error_set(err, MCP_E_PARAMS, "%s exists and is not a socket", path);
    if (is_alive(name))
        return mcp_error_set(err, MCP_E_BUSY, "%s: another process listens there", path);
    if (unlink(path) != 0)
        return mcp_error_errno(err, errno, "%s, a dead process's socket, cannot be removed", path);
    return MCP_OK;
}

mcp_status mcp__listen_unix(mcp__listener **out, mcp__loop *loop, const char *path,
                            mcp__accept_callback *callback, void *data, mcp_error *err)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    size_t length = strlen(path);
    int fd = -1;

    if (length == 0 || length >= sizeof name.sun_path)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of a socket has 1 to %zu bytes: \"%s\"",
                             sizeof name.sun_path - 1, path);
    memcpy(name.sun_path, path, length + 1);
    mcp_status st = clear_way(&name, err);
    if (st == MCP_OK)
        st = bind_socket(&fd, (const struct sockaddr *)&name, sizeof name, path, err);
    return st == MCP_OK ? adopt(out, loop, fd, path, callback, data, err) : st;
}

/* ---- passed sockets -------------------------------------------------------------------------- */

mcp_status mcp__listen_socket(mcp__listener **out, mcp__loop *loop, int fd,
                              mcp__accept_callback *callback, void *data, mcp_error *err)
{
    char host[MCP__ADDRESS_SIZE];
    int port = 0;
    mcp_status st = mcp__socket_address(host, &port, fd, err);

    if (st != MCP_OK)
        return st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return mcp_error_errno(err, errno, "descriptor %d cannot be listened on", fd);
    return adopt(out, loop, fd, NULL, callback, data, err);
}

/* ---- the listener ---------------------------------------------------------------------------- */

int mcp__listener_port(const mcp__listener *listener)
{
    return listener->port;
}

void mcp__listener_pause(mcp__listener *listener, bool is_paused)
{
    listener->is_paused = is_paused;
    look(listener);
}

void mcp__listener_free(mcp__listener *listener)
{
    struct stat about;

    if (!listener)
        return;
    if (listener->path && lstat(listener->path, &about) == 0 && about.st_dev == listener->device &&
        about.st_ino == listener->inode)
        (void)unlink(listener->path);
    mcp__handle_close((uv_handle_t *)listener->watch);
    mcp__timer_free(listener->retry);
    (void)close(listener->fd);
    free(listener->path);
    free(listener);
}

mcp_status mcp__descriptors_raise(size_t *got, mcp_error *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return mcp_error_errno(err, errno, "the limit of open files cannot be read");
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            return mcp_error_errno(err, errno, "the limit of open files cannot be raised");
    }
    *got = (size_t)limit.rlim_cur;
    return MCP_OK;
}
