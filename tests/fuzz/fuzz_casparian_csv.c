/*
 * fuzz_casparian_csv.c - any bytes as delimited text.
 */
#include "parser_feed.h"
#include "parsers/csv_native/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_parser(&casparian_csv, data, size);
    return 0;
}
