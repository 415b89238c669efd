/*
 * fuzz_casparian_evtx.c - any bytes as a Windows event log, and as the first chunk of one.
 */
#include "parser_feed.h"
#include "parsers/evtx_native/evtx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Short inputs become a chunk that is filled with zeros, so that fuzzing reaches the records. */
static void feed_as_chunk(const uint8_t *data, size_t size)
{
    enum { HEADER = 4096, CHUNK = 65536 };
    uint8_t *file = calloc(1, HEADER + CHUNK);

    feed_must(file != NULL);
    memcpy(file, "ElfFile", 7);
    memcpy(file + HEADER + 512, data, size);
    memcpy(file + HEADER, "ElfChnk", 7);
    file[HEADER + 50] = 1; /* the free space begins at 65536 */
    feed_parser(&casparian_evtx, file, HEADER + CHUNK);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_parser(&casparian_evtx, data, size);
    if (size > 0 && size <= 65536 - 512)
        feed_as_chunk(data, size);
    return 0;
}
