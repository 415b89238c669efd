/*
 * guest.c - a child that speaks MCP over its standard streams, badly where its argument says so.
 *
 *     legacy        2025-11-25; every other request before initialize is ignored, as old servers do
 *     modern        2026-07-28
 *     dies          ends when a tool is called
 *     dies-once     the same, where the file of the second argument does not exist yet; makes it
 *     quits         ends at once
 *     mute          never answers
 *     deaf          answers the handshake, then reads no more
 *     endless       a line that does not end, when a tool is called
 *     noisy         garbage, foreign ids, requests and second answers around each answer
 *     shy           does not know server/discover and ends there
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *mode;
static const char *mark;

static void send_text(const char *text)
{
    fputs(text, stdout);
    fputc('\n', stdout);
    fflush(stdout);
}

static bool is(const char *name)
{
    return strcmp(mode, name) == 0;
}

static void answer(const char *id, const char *result)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result);
    fflush(stdout);
}

static void make_noise(const char *id)
{
    send_text("a line that a program prints");
    send_text("");
    send_text("[]");
    send_text("{\"jsonrpc\":\"2.0\",\"id\":424242,\"result\":{\"content\":\"of nobody\"}}");
    send_text("{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"method\":\"ping\"}");
    send_text("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}");
    send_text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    printf("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
           "{\"progressToken\":%s,\"progress\":1,\"total\":2,\"message\":\"half\"}}\r\n",
           id);
}

static void on_call(const char *id, const char *line)
{
    if (is("dies") || (is("dies-once") && access(mark, F_OK) != 0)) {
        if (mark)
            fclose(fopen(mark, "w"));
        exit(3);
    }
    if (is("endless")) {
        for (;;)
            fputs("{\"jsonrpc\":\"2.0\",", stdout);
    }
    if (strstr(line, "\"name\":\"hold\""))
        return;
    if (is("noisy"))
        make_noise(id);
    answer(id, "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
    if (is("noisy"))
        answer(id, "{\"content\":\"once more\"}");
}

/* Counts what a test asks about by the tool list. */
static int pongs, refusals, cancelled;

static void on_list(const char *id)
{
    char text[300];

    snprintf(text, sizeof text,
             "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"pongs\":%d,\"refusals\":%d,"
             "\"cancelled\":%d}}]}",
             pongs, refusals, cancelled);
    answer(id, text);
}

static void on_line(const char *line, bool *is_open)
{
    char id[24] = "";
    const char *at = strstr(line, "\"id\":");

    if (at)
        snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 5, ",}"), at + 5);
    pongs += strstr(line, "\"id\":\"p1\",\"result\":{}") != NULL;
    refusals += strstr(line, "\"code\":-32601") != NULL;
    cancelled += strstr(line, "notifications/cancelled") != NULL;
    if (strstr(line, "server/discover") && is("shy"))
        exit(0);
    if (strstr(line, "server/discover") && is("modern"))
        answer(id, "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
                   "\"capabilities\":{\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"public\"}");
    else if (strstr(line, "server/discover") && !is("legacy"))
        printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"\"}}\n",
               id);
    else if (strstr(line, "\"initialize\""))
        answer(id, "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":"
                   "{\"listChanged\":true}},\"serverInfo\":{\"name\":\"g\",\"version\":\"1\"}}");
    fflush(stdout);
    *is_open = *is_open || strstr(line, "notifications/initialized") || is("modern");
    if (*is_open && strstr(line, "\"tools/list\""))
        on_list(id);
    else if (*is_open && strstr(line, "\"tools/call\""))
        on_call(id, line);
}

int main(int count, char **arguments)
{
    static char line[1 << 20];
    bool is_open = false;

    mode = count > 1 ? arguments[1] : "legacy";
    mark = count > 2 ? arguments[2] : NULL;
    if (is("quits"))
        return 0;
    while (fgets(line, sizeof line, stdin)) {
        if (is("mute"))
            continue;
        on_line(line, &is_open);
        if (is_open && is("deaf"))
            pause();
    }
    return 0;
}
