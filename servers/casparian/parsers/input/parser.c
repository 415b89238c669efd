/*
 * parser.c - the program around a parser: it maps the file, or unpacks it, and feeds the core.
 *
 * A file is mapped in windows, because the address space of a plugin is limited. Unpacked bytes go
 * through a buffer of two records. A file that is cut short while it is mapped ends the program by
 * SIGBUS, which its host reports as a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "parsers/input/parser.h"

#define WINDOW_BYTES ((size_t)64 << 20)
#define BUFFER_BYTES_MIN ((size_t)1 << 20)
enum { GZ_BUFFER_BYTES = 128 << 10, GZIP_ONLY = 16, MICROS = 1000000 };

static int fail(cf_sink *sink, const char *what, const char *why)
{
    char message[512];

    snprintf(message, sizeof message, "%s: %s", what, why);
    cf_error(sink, message);
    return 1;
}

/* The window that begins at the page of `at`; NULL: it cannot be mapped. */
static char *map_window(int fd, size_t at, size_t size, size_t *length)
{
    *length = size - at < WINDOW_BYTES ? size - at : WINDOW_BYTES;
    void *window = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, fd, (off_t)at);
    if (window == MAP_FAILED)
        return NULL;
    madvise(window, *length, MADV_SEQUENTIAL);
    return window;
}

static int feed_plain(const casparian_parser *parser, void *state, cf_sink *sink, int fd,
                      size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;

    while (done < size && cf_sink_status(sink) == CF_OK) {
        size_t begin = done / page * page, length = 0;
        char *window = map_window(fd, begin, size, &length);
        if (!window)
            return fail(sink, "cannot map the file", strerror(errno));
        bool is_last = begin + length == size;
        size_t used = parser->feed(state, window + (done - begin), length - (done - begin),
                                   is_last);
        munmap(window, length);
        done = is_last ? size : done + used;
        if (done < size)
            cf_progress(sink, done, size, 0);
    }
    if (size == 0)
        parser->feed(state, "", 0, true);
    return 0;
}

/* A file of one or more members of gzip, and what it could not say before. */
struct packed {
    int fd;
    z_stream stream;
    uint64_t read;   /* bytes of the file */
    bool is_inside;  /* of a member */
    bool has_member; /* a member has ended */
    bool is_at_end;  /* of the file */
    Bytef bytes[GZ_BUFFER_BYTES];
};

/* Read more of the file, if all of it is used. NULL, or what is wrong. */
static const char *refill(struct packed *file)
{
    ssize_t count = 0;

    if (file->stream.avail_in > 0)
        return NULL;
    do
        count = read(file->fd, file->bytes, sizeof file->bytes);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return strerror(errno);
    file->read += (uint64_t)count;
    file->stream.next_in = file->bytes;
    file->stream.avail_in = (unsigned)count;
    file->is_at_end = count == 0;
    if (count == 0 && file->is_inside)
        return "it ends too early";
    return count == 0 && !file->has_member ? "it is not packed by gzip" : NULL;
}

/* The next member begins; zeros between members fill up a block of a tape. */
static void begin_member(struct packed *file)
{
    z_stream *stream = &file->stream;

    while (file->has_member && stream->avail_in > 0 && *stream->next_in == 0) {
        stream->next_in++;
        stream->avail_in--;
    }
    if (stream->avail_in == 0)
        return;
    inflateReset(stream);
    file->is_inside = true;
}

/* Unpack what there is into the stream's output. NULL, or what is wrong. */
static const char *inflate_some(struct packed *file)
{
    int code = inflate(&file->stream, Z_NO_FLUSH);
    const char *message = file->stream.msg;
    bool is_header = message && strcmp(message, "incorrect header check") == 0;

    if (code == Z_STREAM_END) {
        file->is_inside = false;
        file->has_member = true;
    }
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
        return NULL;
    if (code == Z_MEM_ERROR)
        return "out of memory";
    if (is_header && file->has_member)
        return "what is behind its end is not packed by gzip";
    return is_header ? "it is not packed by gzip" : message ? message : "it is damaged";
}

/* Fill the buffer from the file; how many bytes came, or -1 with the reason in `why`. */
static ptrdiff_t unpack(struct packed *file, char *buffer, size_t room, const char **why)
{
    const char *wrong = NULL;

    file->stream.next_out = (Bytef *)buffer;
    file->stream.avail_out = (unsigned)room;
    while (!wrong && file->stream.avail_out > 0 && !file->is_at_end) {
        wrong = refill(file);
        if (!wrong && !file->is_at_end && !file->is_inside)
            begin_member(file);
        if (!wrong && file->is_inside)
            wrong = inflate_some(file);
    }
    if (wrong)
        *why = wrong;
    return wrong ? -1 : (ptrdiff_t)(room - file->stream.avail_out);
}

static int feed_unpacked(const casparian_parser *parser, void *state, cf_sink *sink,
                         struct packed *file, size_t packed_size)
{
    size_t room = 2 * parser->record_max + BUFFER_BYTES_MIN, kept = 0;
    char *buffer = malloc(room);
    const char *why = "out of memory";
    bool is_last = false;
    int result = 1;

    while (buffer && !is_last && cf_sink_status(sink) == CF_OK) {
        ptrdiff_t count = unpack(file, buffer + kept, room - kept, &why);
        if (count < 0)
            break;
        is_last = (size_t)count < room - kept;
        size_t length = kept + (size_t)count;
        size_t used = parser->feed(state, buffer, length, is_last);
        kept = length - used;
        memmove(buffer, buffer + used, kept);
        cf_progress(sink, file->read, packed_size, 0);
        result = is_last ? 0 : 1;
    }
    free(buffer);
    return result == 0 || cf_sink_status(sink) != CF_OK ? result
                                                        : fail(sink, "cannot unpack the file", why);
}

static int feed_packed(const casparian_parser *parser, void *state, cf_sink *sink, int fd,
                       size_t size)
{
    struct packed *file = calloc(1, sizeof *file);

    if (!file || inflateInit2(&file->stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        free(file);
        return fail(sink, "cannot unpack the file", "out of memory");
    }
    file->fd = fd;
    int result = feed_unpacked(parser, state, sink, file, size);
    inflateEnd(&file->stream);
    free(file);
    return result;
}

static bool is_packed(const char *path)
{
    size_t length = strlen(path);

    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static int run_file(const casparian_parser *parser, cf_sink *sink, const char *path, int fd)
{
    struct stat facts;

    if (fstat(fd, &facts) != 0)
        return fail(sink, "cannot look at the file", strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return fail(sink, "cannot read the file", "it is not a regular file");
    casparian_source source = {
        path, facts.st_size, (int64_t)facts.st_mtim.tv_sec * MICROS + facts.st_mtim.tv_nsec / 1000
    };
    void *state = parser->open(sink, &source);
    if (!state)
        return 1;
    int fed = is_packed(path) ? feed_packed(parser, state, sink, fd, (size_t)facts.st_size)
                              : feed_plain(parser, state, sink, fd, (size_t)facts.st_size);
    int closed = parser->close(state);
    return fed ? fed : closed;
}

int casparian_parser_main(const casparian_parser *parser, int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", parser->id);
        return 1;
    }
    cf_sink *sink = cf_begin(parser->id, parser->version, "cfb");
    if (!sink)
        return 1;
    int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    int result = fd >= 0 ? run_file(parser, sink, argv[1], fd)
                         : fail(sink, "cannot open the file", strerror(errno));
    if (fd >= 0)
        close(fd);
    return cf_finish(sink, result);
}

int casparian_parser_run(const casparian_parser *parser, cf_sink *sink,
                         const casparian_source *source, const char *bytes, size_t length,
                         size_t piece)
{
    void *state = parser->open(sink, source);
    size_t done = 0, given = 0;

    if (!state)
        return 1;
    for (bool is_last = false; !is_last;) {
        given = piece > 0 && length - given > piece ? given + piece : length;
        is_last = given == length;
        done += parser->feed(state, bytes + done, given - done, is_last);
    }
    return parser->close(state);
}
