/*
 * fuzz_casparian_weblog.c - any bytes as an access log.
 */
#include "parser_feed.h"
#include "parsers/weblog_native/weblog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_parser(&casparian_weblog, data, size);
    return 0;
}
