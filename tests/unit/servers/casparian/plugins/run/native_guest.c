/*
 * native_guest.c - a native plugin of tests. NATIVE_MODE in its environment says what it does: the
 * protocol, and every way to violate it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The batch of the protocol page, 4.4: id [1, 2, 3], value ["a", null, "ccc"]. */
static const unsigned char golden[104] = {
    0x43, 0x46, 0x42, 0x31, 1,   0, 2, 0,   3,   0, 0, 0, 0x1f, 0,   0,   0,   2, 0, 0, 0, 2,
    0,    0,    0,    0,    0,   0, 0, 'i', 'd', 5, 1, 0, 0,    5,   0,   0,   0, 0, 0, 0, 0,
    'v',  'a',  'l',  'u',  'e', 0, 1, 0,   0,   0, 0, 0, 0,    0,   2,   0,   0, 0, 0, 0, 0,
    0,    3,    0,    0,    0,   0, 0, 0,   0,   5, 0, 0, 0,    0,   0,   0,   0, 0, 0, 0, 0,
    1,    0,    0,    0,    1,   0, 0, 0,   4,   0, 0, 0, 'a',  'c', 'c', 'c', 0, 0, 0, 0,
};

static void say(const char *line)
{
    fprintf(stderr, "%s\n", line);
}

static void hello(const char *version, const char *encoding)
{
    fprintf(stderr,
            "{\"type\":\"hello\",\"protocol\":\"0.1\",\"parser_id\":\"demo\",\"parser_version\":"
            "\"%s\",\"capabilities\":{\"multi_output\":true}%s}\n",
            version, encoding);
}

static void begin(const char *output, int stream, const char *hash)
{
    fprintf(stderr,
            "{\"type\":\"output_begin\",\"output\":\"%s\",\"schema_hash\":\"%s\","
            "\"stream_index\":%d}\n",
            output, hash, stream);
}

static void end(const char *output, int stream, int rows)
{
    fprintf(stderr,
            "{\"type\":\"output_end\",\"output\":\"%s\",\"rows_emitted\":%d,\"stream_index\":%d}\n",
            output, rows, stream);
}

static void block(const void *bytes, uint32_t length)
{
    uint32_t head = htonl(length);
    fwrite(&head, sizeof head, 1, stdout);
    fwrite(bytes, 1, length, stdout);
    fflush(stdout);
}

static void rows(const char *output, int stream, int batches)
{
    begin(output, stream, "*");
    for (int i = 0; i < batches; i++)
        block(golden, sizeof golden);
    block(golden, 0);
    end(output, stream, 3 * batches);
}

/* What a plugin could reach: each as "word=errno". */
static void reach(void)
{
    char other[500] = "";
    const char *path = getenv("NATIVE_OTHER");
    snprintf(other, sizeof other, "%s", path ? path : "");
    errno = 0;
    int passwd = open("/etc/passwd", O_RDONLY) < 0 ? errno : 0;
    int another = open(other, O_RDONLY) < 0 ? errno : 0;
    int inet = socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
    int local = socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0;
    pid_t child = fork();
    int forked = child < 0 ? errno : 0;
    if (child == 0)
        _exit(0);
    execl("/bin/true", "true", (char *)NULL);
    fprintf(stderr,
            "{\"type\":\"warning\",\"message\":\"passwd=%d other=%d inet=%d unix=%d fork=%d "
            "exec=%d\"}\n",
            passwd, another, inet, local, forked, errno);
}

static int run(const char *mode)
{
    const char *cfb = ",\"encoding\":\"cfb\"";
    if (strcmp(mode, "silent") == 0)
        pause();
    if (strcmp(mode, "no_hello") == 0)
        return 0;
    if (strcmp(mode, "no_finish") == 0) {
        say("{\"type\":\"hello\",\"protocol\":\"0.1\",\"parser_id\":\"demo\",\"parser_version\":"
            "\"1.0.0\",\"capabilities\":{\"finish\":true},\"encoding\":\"cfb\"}");
        rows("rows", 0, 1);
        return 0;
    }
    if (strcmp(mode, "late_hello") == 0)
        begin("rows", 0, "*");
    hello(strcmp(mode, "other_version") == 0 ? "9.9.9" : "1.0.0",
          strcmp(mode, "arrow") == 0 ? "" : cfb);
    if (strcmp(mode, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(mode, "hang") == 0)
        pause();
    if (strcmp(mode, "transient") == 0 || strcmp(mode, "permanent") == 0) {
        say("{\"type\":\"error\",\"message\":\"the disk is busy\"}");
        return strcmp(mode, "transient") == 0 ? 2 : 1;
    }
    if (strcmp(mode, "code") == 0)
        return 7;
    if (strcmp(mode, "noise") == 0) {
        say("a library says something");
        say("{\"type\":\"curious\"}");
        say("{\"type\":\"progress\",\"bytes_done\":5,\"bytes_total\":11,\"rows\":3}");
        for (int i = 0; i < 2 << 20; i++)
            fputc('x', stderr);
        say("");
    }
    if (strcmp(mode, "reach") == 0)
        reach();
    if (strcmp(mode, "hash") == 0)
        begin("rows", 0, "0123");
    if (strcmp(mode, "wrong_stream") == 0)
        begin("rows", 5, "*");
    if (strcmp(mode, "early_begin") == 0)
        begin("rows", 0, "*"), block(golden, 0), begin("rows", 1, "*");
    if (strcmp(mode, "wrong_rows") == 0)
        begin("rows", 0, "*"), block(golden, sizeof golden), block(golden, 0), end("rows", 0, 4);
    if (strcmp(mode, "damaged") == 0)
        begin("rows", 0, "*"), block(golden, 50), pause();
    if (strcmp(mode, "too_long") == 0)
        begin("rows", 0, "*"), fwrite("\x7f\xff\xff\xff", 4, 1, stdout), fflush(stdout), pause();
    if (strcmp(mode, "cut") == 0)
        return begin("rows", 0, "*"), block(golden, sizeof golden), 0;
    if (strcmp(mode, "stray_rows") == 0)
        return block(golden, sizeof golden), 0;
    if (strcmp(mode, "endless") == 0) {
        begin("rows", 0, "*");
        for (;;)
            block(golden, sizeof golden);
    }
    if (strcmp(mode, "streams") == 0) {
        for (int i = 0; i < 1000; i++)
            rows(i % 2 ? "odd" : "even", i, 1);
        return 0;
    }
    rows("rows", 0, 2);
    return 0;
}

int main(void)
{
    const char *mode = getenv("NATIVE_MODE");
    return run(mode ? mode : "");
}
