/*
 * session.c - beginning a session, and its requests.
 */
#include "support/session.h"

#include <stdio.h>
#include <string.h>

size_t session_write(char *out, size_t size, const client *by, const char *body, size_t length)
{
    int head = snprintf(out, size,
                        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                        "Content-Type: application/json\r\n"
                        "Accept: application/json, text/event-stream\r\n"
                        "%s%s%s%s%s%sContent-Length: %zu\r\n\r\n",
                        by->site->port, by->token ? "Authorization: Bearer " : "",
                        by->token ? by->token : "", by->token ? "\r\n" : "",
                        by->session[0] ? "Mcp-Session-Id: " : "", by->session,
                        by->session[0] ? "\r\nMCP-Protocol-Version: 2025-11-25\r\n" : "", length);

    if (head < 0 || (size_t)head + length > size)
        bench_give_up("a request longer than %zu bytes", size);
    memcpy(out + head, body, length);
    return (size_t)head + length;
}

static reply ask(client *by, const char *body)
{
    char request[CLIENT_ASK_MAX];

    return client_ask(by, request, session_write(request, sizeof request, by, body, strlen(body)));
}

void session_open(client *by, bool has_session)
{
    size_t length = 0;

    by->session[0] = '\0';
    reply it = ask(by, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                       "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                       "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}");
    if (it.status != 200)
        bench_give_up("%s: initialize was answered by %s", by->site->name, it.head);
    if (!has_session)
        return;
    const char *session = reply_field(&it, "Mcp-Session-Id", &length);
    if (!memmem(it.body, it.body_length, "\"serverInfo\"", 12) || !session ||
        length >= sizeof by->session)
        bench_give_up("%s: initialize was answered by %s", by->site->name, it.head);
    memcpy(by->session, session, length);
    by->session[length] = '\0';
    it = ask(by, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    if (it.status != 202)
        bench_give_up("%s: initialized was answered by %s", by->site->name, it.head);
}
