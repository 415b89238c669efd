/*
 * wire.c - see wire.h.
 */
#include "columns/sealed/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "mcp/clock.h"

/* ---- bodies ---------------------------------------------------------------------------------- */

void wire_put_uint(mcp_buf *out, uint64_t number)
{
    char bytes[10];
    size_t length = 0;

    do {
        bytes[length++] = (char)((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
        number >>= 7;
    } while (number > 0);
    mcp_buf_append(out, bytes, length);
}

/* Signs go to the lowest bit, so small numbers of either sign are short. */
void wire_put_int(mcp_buf *out, int64_t number)
{
    uint64_t bits = (uint64_t)number << 1;
    wire_put_uint(out, number < 0 ? ~bits : bits);
}

void wire_put_text(mcp_buf *out, const char *text, size_t length)
{
    wire_put_uint(out, length);
    mcp_buf_append(out, length > 0 ? text : "", length);
}

void wire_put_string(mcp_buf *out, const char *text)
{
    wire_put_text(out, text ? text : "", text ? strlen(text) + 1 : 1);
}

void wire_bytes(struct wire_reader *in, void *out, size_t length)
{
    if (in->is_bad || in->length - in->at < length) {
        in->is_bad = true;
        memset(out, 0, length);
        return;
    }
    memcpy(out, in->bytes + in->at, length);
    in->at += length;
}

unsigned wire_byte(struct wire_reader *in)
{
    unsigned char byte;
    wire_bytes(in, &byte, 1);
    return byte;
}

uint64_t wire_uint(struct wire_reader *in)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned byte = wire_byte(in);
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return in->is_bad ? 0 : number;
    }
    in->is_bad = true;
    return 0;
}

int64_t wire_int(struct wire_reader *in)
{
    uint64_t bits = wire_uint(in);
    return (int64_t)(bits & 1 ? ~(bits >> 1) : bits >> 1);
}

const char *wire_text(struct wire_reader *in, size_t *length)
{
    uint64_t size = wire_uint(in);

    *length = 0;
    if (in->is_bad || in->length - in->at < size) {
        in->is_bad = true;
        return "";
    }
    const char *text = in->bytes + in->at;
    in->at += (size_t)size;
    *length = (size_t)size;
    return text;
}

const char *wire_string(struct wire_reader *in)
{
    size_t length;
    const char *text = wire_text(in, &length);

    if (!in->is_bad && length > 0 && memchr(text, '\0', length) == text + length - 1)
        return text;
    in->is_bad = true;
    return "";
}

size_t wire_count(struct wire_reader *in, size_t max)
{
    uint64_t count = wire_uint(in);

    if (in->is_bad || count > max || count > in->length - in->at) {
        in->is_bad = true;
        return 0;
    }
    return (size_t)count;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* MCP_OK: the socket is ready; MCP_E_TIMEOUT */
static mcp_status await(int fd, short events, int64_t until_ms, mcp_error *err)
{
    struct pollfd poller = { .fd = fd, .events = events };

    for (;;) {
        int64_t left = until_ms - mcp_clock_mono_ms();
        int ready = poll(&poller, 1, left < 0 ? 0 : left > 60000 ? 60000 : (int)left);
        if (ready > 0)
            return MCP_OK;
        if (ready < 0 && errno != EINTR)
            return mcp_error_errno(err, errno, "cannot wait for the process of a query");
        if (ready == 0 && left <= 0)
            return mcp_error_set(err, MCP_E_TIMEOUT, "the process of a query does not answer");
    }
}

static bool must_wait(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ETOOMANYREFS;
}

static mcp_status closed(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_STOPPED, "the process of a query has ended");
}

/* One sendmsg; @return the bytes sent, 0: not now, -1: see errno */
static ssize_t send_some(int fd, struct iovec *parts, size_t count, const int *fds, size_t fd_count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(WIRE_FDS_MAX * sizeof(int))];
    } control = { .bytes = { 0 } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };

    if (fd_count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, fd_count * sizeof(int));
    }
    ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 && must_wait(errno) ? 0 : sent;
}

mcp_status wire_send(int fd, enum wire_kind kind, const void *body, size_t length, const int *fds,
                     size_t fd_count, int64_t until_ms, mcp_error *err)
{
    char head[5] = { (char)kind };
    uint32_t size = (uint32_t)length;
    size_t done = 0;

    memcpy(head + 1, &size, sizeof size);
    while (done < sizeof head + length) {
        size_t of_head = done < sizeof head ? done : sizeof head;
        size_t of_body = done - of_head;
        struct iovec parts[2] = {
            { head + of_head, sizeof head - of_head },
            { (char *)body + of_body, length - of_body },
        };
        mcp_status st = await(fd, POLLOUT, until_ms, err);
        if (st != MCP_OK)
            return st;
        ssize_t sent = send_some(fd, parts, 2, fds, done == 0 ? fd_count : 0);
        if (sent < 0)
            return errno == EPIPE || errno == ECONNRESET
                       ? closed(err)
                       : mcp_error_errno(err, errno, "cannot write to the process of a query");
        done += (size_t)sent;
    }
    return MCP_OK;
}

static void take_fds(struct wire_frame *frame, struct msghdr *message)
{
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count && frame->fd_count < WIRE_FDS_MAX; i++)
            memcpy(&frame->fds[frame->fd_count++], CMSG_DATA(header) + i * sizeof(int),
                   sizeof(int));
    }
}

/* Receive into the head, or into the body, as much as is missing. */
static mcp_status receive_some(int fd, struct wire_frame *frame, mcp_error *err)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(WIRE_FDS_MAX * sizeof(int))];
    } control;
    bool is_head = frame->head_length < sizeof frame->head;
    size_t wanted = is_head                  ? sizeof frame->head - frame->head_length
                    : frame->missing < 65536 ? frame->missing
                                             : 65536;
    char *space = is_head ? frame->head + frame->head_length
                          : mcp_buf_reserve(&frame->body, wanted);
    struct iovec part = { space, wanted };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };

    if (!space)
        return mcp_error_set(err, frame->body.status, "no memory for the rows of a query");
    ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && must_wait(errno))
        return MCP_OK;
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return closed(err);
    if (got < 0)
        return mcp_error_errno(err, errno, "cannot read from the process of a query");
    take_fds(frame, &message);
    if (is_head) {
        frame->head_length += (size_t)got;
    } else {
        mcp_buf_commit(&frame->body, (size_t)got);
        frame->missing -= (size_t)got;
    }
    return MCP_OK;
}

static mcp_status read_head(struct wire_frame *frame, mcp_error *err)
{
    uint32_t length;

    memcpy(&length, frame->head + 1, sizeof length);
    if (frame->head[0] <= 0 || frame->head[0] >= WIRE_KINDS)
        return mcp_error_set(err, MCP_E_PARSE, "the process of a query sends no frame");
    if (length > frame->body.max_bytes)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "a frame of the process of a query is longer than %zu"
                             " bytes",
                             frame->body.max_bytes);
    frame->missing = length;
    return MCP_OK;
}

mcp_status wire_receive(int fd, struct wire_frame *frame, int64_t until_ms, mcp_error *err)
{
    mcp_status st = MCP_OK;

    while (st == MCP_OK && (frame->head_length < sizeof frame->head || frame->missing > 0)) {
        bool had_head = frame->head_length == sizeof frame->head;
        st = await(fd, POLLIN, until_ms, err);
        if (st == MCP_OK)
            st = receive_some(fd, frame, err);
        if (st == MCP_OK && !had_head && frame->head_length == sizeof frame->head)
            st = read_head(frame, err);
    }
    if (st == MCP_OK)
        frame->kind = (enum wire_kind)frame->head[0];
    return st;
}

void wire_frame_reset(struct wire_frame *frame)
{
    mcp_buf_reset(&frame->body);
    frame->head_length = 0;
    frame->kind = 0;
    frame->missing = 0;
    frame->fd_count = 0;
}
