/*
 * web_client.c - the least that can be called a client of HTTP, of event streams and of WebSocket.
 */
#include "web_client.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/clock.h"
#include "rig.h"

enum { IN_MAX = 64 << 20, PIECE = 64 * 1024 };

void web_client_init(web_client *self)
{
    memset(self, 0, sizeof *self);
    self->fd = -1;
    mcp_buf_init(&self->in, IN_MAX);
    mcp_buf_init(&self->head, IN_MAX);
    mcp_buf_init(&self->payload, IN_MAX);
    mcp_buf_init(&self->before, IN_MAX);
}

void web_client_connect(web_client *self, int port)
{
    if (self->fd < 0)
        self->fd = client_open(port);
}

void web_client_close(web_client *self)
{
    if (self->fd >= 0)
        close(self->fd);
    mcp_buf_clear(&self->in);
    mcp_buf_clear(&self->head);
    mcp_buf_clear(&self->payload);
    mcp_buf_clear(&self->before);
    web_client_init(self);
}

void web_client_send(web_client *self, const char *bytes, size_t length)
{
    (void)client_send(self->fd, bytes, length);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Wait for more bytes; false: the server has closed. */
static bool fill(web_client *self)
{
    struct pollfd waits = { .fd = self->fd, .events = POLLIN };
    char *room = mcp_buf_reserve(&self->in, PIECE);
    ssize_t count;

    assert_non_null(room);
    if (poll(&waits, 1, CLIENT_WAIT_MS) != 1)
        fail_msg("nothing came in time; unread: %.*s", (int)(self->in.length - self->in_at),
                 self->in.data + self->in_at);
    count = recv(self->fd, room, PIECE, 0);
    if (count <= 0)
        return false;
    mcp_buf_commit(&self->in, (size_t)count);
    return true;
}

static size_t unread(const web_client *self)
{
    return self->in.length - self->in_at;
}

/* Make sure of `length` unread bytes; false: the server has closed before. */
static bool need(web_client *self, size_t length)
{
    while (unread(self) < length) {
        if (!fill(self))
            return false;
    }
    return true;
}

/* The bytes up to and with `end`; NULL: the server has closed before it came. */
static const char *take_until(web_client *self, const char *end, size_t *length)
{
    const char *from;
    const char *found;

    for (;;) {
        from = self->in.data ? self->in.data + self->in_at : "";
        found = memmem(from, unread(self), end, strlen(end));
        if (found)
            break;
        if (!fill(self))
            return NULL;
    }
    *length = (size_t)(found - from) + strlen(end);
    self->in_at += *length;
    return from;
}

bool web_client_is_closed(web_client *self)
{
    return self->fd < 0 || (unread(self) == 0 && !fill(self));
}

/* ---- an answer ------------------------------------------------------------------------------- */

bool web_client_field(const web_client *self, const char *name, mcp_buf *out)
{
    size_t length = strlen(name);
    bool is_there = false;

    mcp_buf_reset(out);
    for (const char *line = self->head.data; line && *line; line = strstr(line, "\r\n") + 2) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *value = line + length + 1 + strspn(line + length + 1, " ");
        mcp_buf_printf(out, "%s%.*s", is_there ? ", " : "", (int)strcspn(value, "\r"), value);
        is_there = true;
    }
    mcp_buf_putc(out, '\0');
    return is_there;
}

static web_body body_of(web_client *self, bool has_no_body)
{
    bool is_bare = has_no_body || self->status == 204 || self->status == 304;
    web_body body = WEB_BODY_TO_END;
    mcp_buf value;

    mcp_buf_init(&value, IN_MAX);
    self->is_events = web_client_field(self, "Content-Type", &value) &&
                      strncasecmp(value.data, "text/event-stream", 17) == 0;
    self->is_last = web_client_field(self, "Connection", &value) &&
                    strcasestr(value.data, "close") != NULL;
    if (self->status == 101)
        body = WEB_BODY_FRAMES;
    else if (is_bare)
        body = WEB_BODY_NONE;
    else if (web_client_field(self, "Transfer-Encoding", &value))
        body = WEB_BODY_CHUNKED;
    else if (web_client_field(self, "Content-Length", &value))
        body = WEB_BODY_COUNTED;
    self->left = body == WEB_BODY_COUNTED ? strtoul(value.data, NULL, 10) : 0;
    mcp_buf_clear(&value);
    return body;
}

void web_client_read_head(web_client *self, bool has_no_body)
{
    size_t length = 0;
    const char *text = take_until(self, "\r\n\r\n", &length);

    if (!text || strncmp(text, "HTTP/1.1 ", 9) != 0) {
        fail_msg("this is no answer: %.*s", (int)length, text ? text : "(closed)");
        return;
    }
    self->status = (int)strtol(text + 9, NULL, 10);
    mcp_buf_reset(&self->head);
    mcp_buf_append(&self->head, text, length - 2);
    mcp_buf_putc(&self->head, '\0');
    mcp_buf_reset(&self->payload);
    self->payload_at = 0;
    self->body = body_of(self, has_no_body);
    if (self->status == 100)
        web_client_read_head(self, has_no_body);
}

static bool add_payload(web_client *self, size_t length)
{
    if (!need(self, length))
        fail_msg("the server closed within its answer");
    mcp_buf_append(&self->payload, self->in.data + self->in_at, length);
    self->in_at += length;
    return true;
}

static bool more_of_chunks(web_client *self)
{
    size_t line = 0;
    const char *text = take_until(self, "\r\n", &line);
    char *end = NULL;
    size_t length = text ? strtoul(text, &end, 16) : 0;

    if (!text || end == text || end[0] != '\r') {
        fail_msg("the server closed within its answer, or this is no chunk");
        return false;
    }
    if (length > 0)
        add_payload(self, length);
    if (!take_until(self, "\r\n", &line) || line != 2)
        fail_msg("a chunk does not end where it should");
    return length > 0;
}

static bool more_to_end(web_client *self)
{
    if (unread(self) == 0 && !fill(self))
        return false;
    return add_payload(self, unread(self));
}

/* Put more of the body behind the payload; false: it has ended. */
static bool more_payload(web_client *self)
{
    bool is_more = false;

    if (self->body == WEB_BODY_COUNTED && self->left > 0) {
        is_more = add_payload(self, self->left);
        self->left = 0;
    } else if (self->body == WEB_BODY_CHUNKED) {
        is_more = more_of_chunks(self);
    } else if (self->body == WEB_BODY_TO_END) {
        is_more = more_to_end(self);
    }
    if (!is_more)
        self->body = WEB_BODY_NONE;
    return is_more;
}

const char *web_client_read_body(web_client *self, size_t *length)
{
    size_t from = self->payload_at;

    while (more_payload(self))
        continue;
    *length = self->payload.length - from;
    self->payload_at = self->payload.length;
    mcp_buf_putc(&self->payload, '\0');
    self->payload_at++;
    return self->payload.data + from;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *value_of(char *line, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    return line + length + (line[length + 1] == ' ' ? 2 : 1);
}

static void read_line(web_event *out, char *line)
{
    const char *known[] = { value_of(line, ""), value_of(line, "event"), value_of(line, "id"),
                            value_of(line, "retry"), value_of(line, "data") };
    const char **fields[] = { &out->comment, &out->event, &out->id, &out->retry, &out->data };

    for (size_t i = 0; i < 5; i++) {
        if (known[i] && *fields[i])
            fail_msg("an event has a field twice: %s", line);
        if (known[i]) {
            *fields[i] = known[i];
            return;
        }
    }
    fail_msg("this is no line of an event: %s", line);
}

/* The lines up to a blank one; NULL: the stream has ended. */
static char *take_block(web_client *self)
{
    char *end;
    char *text;

    for (;;) {
        text = self->payload.data ? self->payload.data + self->payload_at : NULL;
        end = text ? memmem(text, self->payload.length - self->payload_at, "\n\n", 2) : NULL;
        if (end)
            break;
        if (more_payload(self))
            continue;
        if (self->payload_at < self->payload.length)
            fail_msg("the stream ended within an event");
        return NULL;
    }
    *end = '\0';
    self->payload_at += (size_t)(end + 2 - text);
    return text;
}

/* What has no data is no event yet: its fields belong to the next one. */
bool web_client_read_event(web_client *self, web_event *out)
{
    char *rest = NULL;
    char *text;

    memset(out, 0, sizeof *out);
    mcp_buf_reset(&self->before);
    while (!out->data && !out->comment) {
        text = take_block(self);
        if (!text)
            return false;
        mcp_buf_printf(&self->before, "%s\n", text);
        if (!strstr(text, "data:") && text[0] != ':')
            continue;
        mcp_buf_putc(&self->before, '\0');
        for (char *line = strtok_r(self->before.data, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest))
            read_line(out, line);
    }
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static size_t big_endian(const char *bytes, size_t count)
{
    size_t value = 0;

    for (size_t i = 0; i < count; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

bool web_client_read_frame(web_client *self, web_frame *out)
{
    size_t head = 2;
    const char *at;

    if (!need(self, 2))
        return false;
    at = self->in.data + self->in_at;
    out->is_final = (at[0] & 0x80) != 0;
    out->opcode = at[0] & 0x0f;
    out->length = (size_t)(at[1] & 0x7f);
    if ((at[0] & 0x70) != 0 || (at[1] & 0x80) != 0)
        fail_msg("a server sends neither reserved bits nor masked frames");
    if (out->length >= 126) {
        size_t more = out->length == 126 ? 2 : 8;
        assert_true(need(self, head + more));
        out->length = big_endian(self->in.data + self->in_at + head, more);
        head += more;
    }
    assert_true(need(self, head + out->length));
    self->in_at += head;
    mcp_buf_reset(&self->payload);
    add_payload(self, out->length);
    mcp_buf_putc(&self->payload, '\0');
    out->bytes = self->payload.data;
    return true;
}

void web_client_send_frame(web_client *self, unsigned first, const char *bytes, size_t length)
{
    static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
    mcp_buf frame;

    mcp_buf_init(&frame, IN_MAX);
    mcp_buf_putc(&frame, (char)first);
    mcp_buf_putc(&frame, (char)(0x80 | (length < 126 ? length : length < 65536 ? 126 : 127)));
    for (int shift = length < 126 ? 0 : length < 65536 ? 16 : 64; shift > 0; shift -= 8)
        mcp_buf_putc(&frame, (char)((uint64_t)length >> (shift - 8)));
    mcp_buf_append(&frame, mask, sizeof mask);
    for (size_t i = 0; i < length; i++)
        mcp_buf_putc(&frame, (char)((unsigned char)bytes[i] ^ mask[i % 4]));
    assert_int_equal(frame.status, MCP_OK);
    web_client_send(self, frame.data, frame.length);
    mcp_buf_clear(&frame);
}
