/*
 * fuzz_casparian_jsonl.c - any bytes as lines of JSON.
 */
#include "parser_feed.h"
#include "parsers/jsonl_native/jsonl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_parser(&casparian_jsonl, data, size);
    return 0;
}
