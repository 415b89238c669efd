/*
 * fuzz_http.c - whatever a client may send to the HTTP server.
 *
 * The first byte says in how small pieces the rest is sent. However it is cut, the same requests
 * are understood and the same is answered; a request that is handed out is well formed; and what
 * comes back begins with a status line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "feeder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seen; /* a hash of all that was handed out */

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static void note(const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        seen = (seen ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

static void must_be_visible(const char *text)
{
    for (; *text; text++)
        must(*text > ' ' && *text < 0x7f);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    mcp__http_head_out head = { .status = 200 };
    const char *name = NULL;
    const char *value = NULL;
    size_t length = 0;

    (void)data;
    must_be_visible(mcp__http_method(exchange));
    must_be_visible(mcp__http_target(exchange));
    must(mcp__http_minor(exchange) == 0 || mcp__http_field_count(exchange, "host") == 1);
    note(mcp__http_target(exchange), strlen(mcp__http_target(exchange)) + 1);
    const char *path = mcp__http_path(exchange, &length);
    must(length > 0 && (path[0] == '/' || path[0] == '*'));
    for (size_t i = 0; mcp__http_field_at(exchange, i, &name, &value); i++) {
        must_be_visible(name);
        must(strpbrk(value, "\r\n") == NULL);
        note(value, strlen(value) + 1);
    }
    const char *body = mcp__http_body(exchange, &length);
    note(body, length);
    (void)mcp__http_reply(exchange, &head, body, length, NULL);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    (void)exchange;
    (void)data;
}

static uint64_t run(feeder *self, const uint8_t *bytes, size_t length, size_t step)
{
    mcp_buf answer;

    seen = 14695981039346656037u;
    mcp_buf_init(&answer, 64 << 20);
    feeder_feed(self, "", bytes, length, step, &answer);
    must(answer.length == 0 || strncmp(answer.data, "HTTP/1.1 ", 9) == 0);
    mcp_buf_clear(&answer);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static feeder self;

    if (!self.http) {
        mcp__http_options options = {
            .body_max_bytes = 4096,
            .handler = { .request = on_request, .hung_up = on_hung_up },
        };
        feeder_start(&self, &options);
    }
    if (size < 2 || size > 65536)
        return 0;
    uint64_t whole = run(&self, data + 1, size - 1, size);
    must(run(&self, data + 1, size - 1, data[0] % 32 + size / 64 + 1u) == whole);
    return 0;
}
