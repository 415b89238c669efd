/*
 * rejects.c - rows of lines that could not be read.
 */
#include <string.h>

#include "parsers/input/rejects.h"

enum { PREVIEW_BYTES_MAX = 200 };

cf_output *casparian_rejects_open(cf_sink *sink, const char *name)
{
    static const cf_column columns[] = { { "line_number", CF_INT64, 0, 0, NULL },
                                         { "error_reason", CF_STRING, 0, 0, NULL },
                                         { "raw_line_preview", CF_STRING, 0, 0, NULL } };
    static const cf_schema schema = { columns, 3, NULL, false };

    return cf_output_open(sink, name, &schema);
}

/* Where the text is cut: not within a character of UTF-8, which has at most four bytes. */
static size_t preview_bytes(const char *bytes, size_t length)
{
    size_t cut = PREVIEW_BYTES_MAX;

    if (length <= PREVIEW_BYTES_MAX)
        return length;
    while (cut > PREVIEW_BYTES_MAX - 4 && ((unsigned char)bytes[cut] & 0xC0) == 0x80)
        cut--;
    return cut;
}

void casparian_rejects_add(cf_output *rejects, int64_t line, const char *reason, const char *bytes,
                           size_t length)
{
    cf_row_new(rejects);
    cf_set_i64(rejects, 0, line);
    cf_set_str(rejects, 1, reason, strlen(reason));
    cf_set_str(rejects, 2, bytes, preview_bytes(bytes, length));
    cf_row_commit(rejects);
}
