/**
 * layout.h - the common patterns of dates and times, whose numbers all have their longest form,
 * read eight bytes at a time.
 *
 * A layout is a part of a pattern where each byte is a digit or a known character, and perhaps a
 * fraction of a second and an offset behind it. It gives the reading of casparian_format_match or
 * leaves the text to that function. Every function is pure; any thread.
 */
#ifndef CASPARIAN_SCHEMA_LAYOUT_H
#define CASPARIAN_SCHEMA_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/format.h"

enum { CASPARIAN_LAYOUT_WORDS_MAX = 4, CASPARIAN_LAYOUT_MAX = CASPARIAN_LAYOUT_WORDS_MAX * 8 };

/** What is behind the bytes of a fixed place. */
typedef enum casparian_layout_fraction {
    CASPARIAN_NO_FRACTION,
    CASPARIAN_DIGITS,           /* %f */
    CASPARIAN_POINT_AND_DIGITS, /* %.f, %.3f, %.6f: or nothing */
} casparian_layout_fraction;

/** Made of %Y %m %d %y %H %M %S %F %T, then perhaps a fraction, then perhaps %z. */
typedef struct casparian_layout {
    uint8_t length; /* of the bytes of a fixed place; 0: it reads nothing */
    uint8_t words;
    bool has_offset;
    casparian_layout_fraction fraction;
    /* places; CASPARIAN_LAYOUT_MAX: none */
    uint8_t year, year_of_century, month, day, hour, minute, second;
    uint64_t expected[CASPARIAN_LAYOUT_WORDS_MAX]; /* '0' where a digit is */
    uint64_t fixed[CASPARIAN_LAYOUT_WORDS_MAX];    /* 0xFF where no digit is */
} casparian_layout;

/** @param pattern that casparian_format_compile has taken */
casparian_layout casparian_layout_of(const char *pattern);

/** What a layout knows of a text. */
typedef enum casparian_layout_match {
    CASPARIAN_MAY_MATCH, /* casparian_format_match must decide */
    CASPARIAN_MATCHES,   /* and that function gives the same moment */
    CASPARIAN_DIFFERS,   /* that function gives false */
} casparian_layout_match;

/** Read a text. `out` is undefined unless it matches. */
casparian_layout_match casparian_layout_read(casparian_moment *out, const casparian_layout *layout,
                                             const char *text, size_t length);

/** Read a text by a pattern: by the layout if that can, else by the format. */
bool casparian_read_moment(casparian_moment *out, const casparian_layout *layout,
                           const casparian_format *format, const char *text, size_t length);

#endif
