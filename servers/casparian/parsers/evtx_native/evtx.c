/*
 * evtx.c - the file: a header, then chunks of 64 KiB, each with records of its own.
 *
 * A chunk that is not one is skipped, a wrong checksum is only noted: logs of machines that lost
 * power have both. Of a file that is cut the records that are whole count. Notes of a chunk have
 * the number of its first record, or 0.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "parsers/evtx_native/evtx.h"
#include "parsers/evtx_native/rows.h"
#include "parsers/evtx_native/sha256.h"
#include "parsers/evtx_native/value.h"

enum { FILE_HEADER = 4096, CHUNK = 65536, CHUNK_HEADER = 512, RECORD_HEAD = 24, RECORD_TAIL = 4 };
enum { CHECKED_HEADER = 120 };
#define RECORD_MAGIC 0x00002A2AU
#define OUTPUT_VERSION "0.1.0"

struct evtx {
    cf_sink *sink;
    const casparian_source *source;
    struct casparian_evtx_rows rows;
    struct casparian_sha256 sha;
    int64_t records;
    bool has_header;
    bool has_failed;
    struct casparian_tree tree;
    uint8_t rest[CHUNK]; /* of a file that is cut within a chunk */
};

static uint64_t read_uint(const uint8_t *bytes, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void warn(struct evtx *evtx, int64_t record, const char *key, const char *value)
{
    casparian_evtx_annotate(&evtx->rows, record, "parse_warning", key, value, CASPARIAN_EVTX_WARN);
}

static uint32_t checksum(uint32_t before, const uint8_t *bytes, size_t length)
{
    return (uint32_t)crc32(before, bytes, (unsigned)length);
}

static void use_header(struct evtx *evtx, const uint8_t *bytes)
{
    evtx->has_header = true;
    if (memcmp(bytes, "ElfFile\0", 8) != 0) {
        cf_error(evtx->sink, "the file is no Windows event log: it does not begin with ElfFile");
        evtx->has_failed = true;
        return;
    }
    if (checksum(0, bytes, CHECKED_HEADER) != read_uint(bytes + 124, 4))
        warn(evtx, 0, "file_header", "the checksum of the file's header is wrong");
}

static void use_record(struct evtx *evtx, const uint8_t *chunk, size_t at, size_t size)
{
    int64_t id = (int64_t)read_uint(chunk + at + 8, 8);
    int64_t micros = casparian_evtx_micros(read_uint(chunk + at + 16, 8));
    struct casparian_node root;

    evtx->records++;
    if (read_uint(chunk + at + size - RECORD_TAIL, 4) != size)
        warn(evtx, id, "record_size", "the size at the end of the record differs");
    const char *reason = casparian_binxml_read(&root, &evtx->tree, chunk, CHUNK, at + RECORD_HEAD,
                                               at + size - RECORD_TAIL);
    if (reason)
        casparian_evtx_annotate(&evtx->rows, id, "parse_warning", "binary_xml", reason,
                                CASPARIAN_EVTX_ERROR);
    casparian_evtx_rows_add(&evtx->rows, &evtx->tree, &root, id, micros);
}

/* The size of the record at `at`; 0: there is none. */
static size_t record_size(const uint8_t *chunk, size_t at, size_t end)
{
    if (end - at < RECORD_HEAD + RECORD_TAIL || read_uint(chunk + at, 4) != RECORD_MAGIC)
        return 0;
    uint64_t size = read_uint(chunk + at + 4, 4);
    return size >= RECORD_HEAD + RECORD_TAIL && size <= end - at ? (size_t)size : 0;
}

/* The next record behind a malformed one, whose size is at its end, too. */
static size_t find_record(const uint8_t *chunk, size_t at, size_t end)
{
    for (at++; at < end; at++) {
        size_t size = record_size(chunk, at, end);
        if (size > 0 && read_uint(chunk + at + size - RECORD_TAIL, 4) == size)
            return at;
    }
    return end;
}

/* The records up to the free space. */
static void use_records(struct evtx *evtx, const uint8_t *chunk, size_t end, int64_t first)
{
    size_t at = CHUNK_HEADER;

    while (end - at >= RECORD_HEAD + RECORD_TAIL && cf_sink_status(evtx->sink) == CF_OK) {
        size_t size = record_size(chunk, at, end);
        if (size == 0) {
            at = find_record(chunk, at, end);
            warn(evtx, first, "chunk",
                 at < end ? "a record is malformed; up to the next one is skipped"
                          : "a record is malformed; the rest of its chunk is skipped");
            continue;
        }
        use_record(evtx, chunk, at, size);
        at += size;
    }
}

/* `there` bytes of the chunk are in the file; the others are zeros. */
static void use_chunk(struct evtx *evtx, const uint8_t *chunk, size_t there)
{
    int64_t first = (int64_t)read_uint(chunk + 24, 8);
    size_t end = (size_t)read_uint(chunk + 48, 4);

    if (memcmp(chunk, "ElfChnk\0", 8) != 0) {
        static const uint8_t unused[8] = { 0 };
        if (memcmp(chunk, unused, 8) != 0) /* a chunk that was never used is zeros */
            warn(evtx, 0, "chunk", "a chunk does not begin with ElfChnk; it is skipped");
        return;
    }
    uint32_t header = checksum(0, chunk, CHECKED_HEADER);
    if (checksum(header, chunk + 128, CHUNK_HEADER - 128) != read_uint(chunk + 124, 4))
        warn(evtx, first, "chunk_header", "the checksum of a chunk's header is wrong");
    if (end < CHUNK_HEADER || end > CHUNK) {
        warn(evtx, first, "chunk", "the free space of a chunk is outside of it");
        end = CHUNK;
    } else if (end <= there &&
               checksum(0, chunk + CHUNK_HEADER, end - CHUNK_HEADER) != read_uint(chunk + 52, 4)) {
        warn(evtx, first, "chunk_records", "the checksum of a chunk's records is wrong");
    }
    use_records(evtx, chunk, end < there ? end : there, first);
}

/* The end of a file that is cut within a chunk. */
static void use_rest(struct evtx *evtx, const uint8_t *bytes, size_t length)
{
    bool has_records = length > CHUNK_HEADER;

    warn(evtx, 0, "chunk",
         has_records ? "the last chunk is cut; its records up to there are read"
                     : "the last chunk is cut; it is skipped");
    if (!has_records)
        return;
    memcpy(evtx->rest, bytes, length);
    memset(evtx->rest + length, 0, CHUNK - length);
    use_chunk(evtx, evtx->rest, length);
}

static void *evtx_open(cf_sink *sink, const casparian_source *source)
{
    struct evtx *evtx = malloc(sizeof *evtx);

    if (!evtx)
        return NULL;
    evtx->sink = sink;
    evtx->source = source;
    evtx->records = 0;
    evtx->has_header = evtx->has_failed = false;
    casparian_sha256_init(&evtx->sha);
    casparian_evtx_rows_open(&evtx->rows, sink);
    return evtx;
}

static size_t evtx_feed(void *state, const char *bytes, size_t length, bool is_last)
{
    struct evtx *evtx = state;
    const uint8_t *begin = (const uint8_t *)bytes;
    size_t at = 0;

    while (!evtx->has_failed && cf_sink_status(evtx->sink) == CF_OK) {
        size_t wanted = evtx->has_header ? CHUNK : FILE_HEADER;
        if (length - at < wanted)
            break;
        if (evtx->has_header)
            use_chunk(evtx, begin + at, CHUNK);
        else
            use_header(evtx, begin + at);
        casparian_sha256_add(&evtx->sha, begin + at, wanted);
        at += wanted;
    }
    if (!is_last && !evtx->has_failed)
        return at;
    if (!evtx->has_header) {
        cf_error(evtx->sink, "the file is no Windows event log: it has less than 4096 bytes");
        evtx->has_failed = true;
    } else if (at < length && !evtx->has_failed) {
        use_rest(evtx, begin + at, length - at);
    }
    casparian_sha256_add(&evtx->sha, begin + at, length - at);
    return length;
}

static void add_file(struct evtx *evtx)
{
    const char *includes = getenv("EVTX_INCLUDE_PATH");
    cf_output *files = evtx->rows.files;
    char hash[65];

    casparian_sha256_end(&evtx->sha, hash);
    cf_row_new(files);
    if (!includes || strcmp(includes, "0") != 0)
        cf_set_str(files, 0, evtx->source->path, strlen(evtx->source->path));
    cf_set_str(files, 1, hash, 64);
    cf_set_i64(files, 2, evtx->source->size);
    cf_set_ts(files, 3, evtx->source->mtime_us);
    cf_set_i64(files, 4, evtx->records);
    cf_set_str(files, 5, OUTPUT_VERSION, strlen(OUTPUT_VERSION));
    cf_row_commit(files);
}

static int evtx_close(void *state)
{
    struct evtx *evtx = state;
    int result = evtx->has_failed ? 1 : 0;

    if (result == 0)
        add_file(evtx);
    cf_output_close(evtx->rows.events);
    cf_output_close(evtx->rows.event_data);
    cf_output_close(evtx->rows.user_data);
    cf_output_close(evtx->rows.annotations);
    cf_output_close(evtx->rows.files);
    free(evtx);
    return result;
}

const casparian_parser casparian_evtx = {
    .id = "evtx_native",
    .version = "0.1.0",
    .record_max = CHUNK,
    .open = evtx_open,
    .feed = evtx_feed,
    .close = evtx_close,
};
