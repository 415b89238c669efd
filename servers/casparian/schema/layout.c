/*
 * layout.c - dates and times whose bytes are at fixed places.
 *
 * Each word of a text is compared with what is expected, which leaves a number up to 9 in each byte
 * of a digit and 0 in the others. The last word may overlap the one before it, so no byte behind
 * the text is touched.
 *
 * Where those bytes fit and no blank follows that could belong to them, there is only one way to
 * read the text by the pattern: a number that took fewer digits would leave one where another
 * character must be. So the layout may also say that a text differs.
 */
#include "schema/layout.h"

#include <string.h>

#include "schema/digits.h"

enum { WORD = sizeof(uint64_t), MICRO_DIGITS = 6, FRACTION_DIGITS_MAX = 9 };

/* The place of a number that a pattern does not have: zeros follow the digits of a text. */
enum { NONE = CASPARIAN_LAYOUT_MAX, DIGITS_SIZE = CASPARIAN_LAYOUT_MAX + WORD };

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* ---- making ---------------------------------------------------------------------------------- */

/* A layout that is being made. */
struct making {
    casparian_layout made;
    char bytes[CASPARIAN_LAYOUT_MAX]; /* '\0' where a digit is */
    bool is_at_end;                   /* a fraction or an offset was there */
};

static uint8_t *place_of(casparian_layout *layout, char directive)
{
    switch (directive) {
    case 'Y':
        return &layout->year;
    case 'y':
        return &layout->year_of_century;
    case 'm':
        return &layout->month;
    case 'd':
        return &layout->day;
    case 'H':
        return &layout->hour;
    case 'M':
        return &layout->minute;
    default:
        return &layout->second;
    }
}

static bool add_bytes(struct making *m, const char *bytes, size_t count)
{
    if (m->is_at_end || count > CASPARIAN_LAYOUT_MAX - (size_t)m->made.length)
        return false;
    memcpy(m->bytes + m->made.length, bytes, count);
    m->made.length = (uint8_t)(m->made.length + count);
    return true;
}

/* Digits of a fraction may not follow those of a number. */
static bool add_fraction(struct making *m, casparian_layout_fraction fraction)
{
    bool follows_digit = m->made.length > 0 && m->bytes[m->made.length - 1] == '\0';
    bool fits = !m->is_at_end && (fraction != CASPARIAN_DIGITS || !follows_digit);
    m->made.fraction = fraction;
    m->is_at_end = true;
    return fits;
}

static bool add_offset(struct making *m)
{
    bool fits = !m->made.has_offset;
    m->made.has_offset = true;
    m->is_at_end = true;
    return fits;
}

static bool add_parts(struct making *m, const char *pattern);

/* @param at behind the '%' @param length of the directive */
static bool add_directive(struct making *m, const char *at, size_t *length)
{
    static const char digits[4] = { '\0' };
    static const char *const fractions[] = { ".f", ".3f", ".6f" };
    *length = 1;
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        *length = strlen(fractions[i]);
        if (strncmp(at, fractions[i], *length) == 0)
            return add_fraction(m, CASPARIAN_POINT_AND_DIGITS);
    }
    *length = 1;
    if (*at == 'F')
        return add_parts(m, "%Y-%m-%d");
    if (*at == 'T')
        return add_parts(m, "%H:%M:%S");
    if (*at == 'f')
        return add_fraction(m, CASPARIAN_DIGITS);
    if (*at == 'z')
        return add_offset(m);
    if (*at == '\0' || !strchr("YmdyHMS", *at))
        return false;
    *place_of(&m->made, *at) = m->made.length;
    return add_bytes(m, digits, *at == 'Y' ? 4 : 2);
}

static bool add_parts(struct making *m, const char *pattern)
{
    bool is_known = true;
    for (const char *at = pattern; is_known && *at; at++) {
        size_t length = 0;
        if (*at != '%') {
            is_known = !is_digit(*at) && add_bytes(m, at, 1);
            continue;
        }
        is_known = add_directive(m, at + 1, &length);
        at += length;
    }
    return is_known;
}

/* Where a word begins in the text; the last one may begin within the one before it. */
static size_t begin_of(const casparian_layout *layout, size_t word)
{
    size_t begin = word * WORD;
    return begin + WORD > layout->length && layout->length >= WORD ? layout->length - (size_t)WORD
                                                                   : begin;
}

static void set_words(struct making *m)
{
    m->made.words = (uint8_t)((m->made.length + WORD - 1) / WORD);
    for (size_t word = 0; word < m->made.words; word++) {
        char expected[WORD] = { '\0' }, fixed[WORD];
        size_t begin = begin_of(&m->made, word);
        memset(fixed, 0xFF, sizeof fixed);
        for (size_t i = 0; i < WORD && begin + i < m->made.length; i++) {
            char byte = m->bytes[begin + i];
            expected[i] = byte ? byte : '0';
            fixed[i] = byte ? (char)0xFF : '\0';
        }
        memcpy(&m->made.expected[word], expected, sizeof expected);
        memcpy(&m->made.fixed[word], fixed, sizeof fixed);
    }
}

casparian_layout casparian_layout_of(const char *pattern)
{
    struct making m = { .made = { .year = NONE,
                                  .year_of_century = NONE,
                                  .month = NONE,
                                  .day = NONE,
                                  .hour = NONE,
                                  .minute = NONE,
                                  .second = NONE } };
    if (!add_parts(&m, pattern))
        return (casparian_layout){ .length = 0 };
    set_words(&m);
    return m.made;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Leave the digits of a word. @return 0: it has a digit where one must be, and elsewhere what is
 * expected */
static inline uint64_t take_word(uint8_t *digits, const casparian_layout *layout, size_t word,
                                 uint64_t bytes)
{
    uint64_t left = bytes ^ layout->expected[word];
    memcpy(digits, &left, sizeof left);
    return (left & layout->fixed[word]) | casparian_no_digits(left);
}

/* Leave the digits of a text, each at its place. */
static inline bool take_digits(uint8_t digits[DIGITS_SIZE], const casparian_layout *layout,
                               const char *text)
{
    uint64_t bytes = 0, wrong = 0;
    memset(digits + NONE, 0, WORD);
    if (layout->length < WORD) {
        memcpy(&bytes, text, layout->length);
        return take_word(digits, layout, 0, bytes) == 0;
    }
    for (size_t word = 0; word + 1 < layout->words; word++) {
        memcpy(&bytes, text + word * WORD, sizeof bytes);
        wrong |= take_word(digits + word * WORD, layout, word, bytes);
    }
    size_t last = (size_t)layout->length - WORD;
    memcpy(&bytes, text + last, sizeof bytes);
    return (wrong | take_word(digits + last, layout, layout->words - 1u, bytes)) == 0;
}

static bool has_date(const casparian_layout *layout)
{
    return layout->month != NONE;
}

static inline int two_at(const uint8_t *digits, uint8_t place)
{
    return digits[place] * 10 + digits[place + 1];
}

static inline int year_at(const casparian_layout *layout, const uint8_t *digits)
{
    if (layout->year != NONE)
        return two_at(digits, layout->year) * 100 + two_at(digits, layout->year + 2);
    int year = two_at(digits, layout->year_of_century);
    return year >= 69 ? 1900 + year : 2000 + year;
}

static inline void read_digits_of(casparian_moment *out, const casparian_layout *layout,
                                  const uint8_t *digits)
{
    *out = (casparian_moment){ .hour = two_at(digits, layout->hour),
                               .minute = two_at(digits, layout->minute),
                               .second = two_at(digits, layout->second) };
    if (has_date(layout))
        out->date = (casparian_date){ .year = year_at(layout, digits),
                                      .month = two_at(digits, layout->month),
                                      .day = two_at(digits, layout->day) };
}

/* Digits behind the point, as many as there are. @return the end; NULL: there are none, or more */
static const char *read_digits(casparian_moment *out, const char *at, const char *end)
{
    int micro = 0, count = 0;
    for (; at < end && is_digit(*at); at++, count++)
        micro = count < MICRO_DIGITS ? micro * 10 + (*at - '0') : micro;
    if (count == 0 || count > FRACTION_DIGITS_MAX)
        return NULL;
    for (; count < MICRO_DIGITS; count++)
        micro *= 10;
    out->micro = micro;
    return at;
}

/* What follows the bytes of a fixed place. */
static bool rest_fits(casparian_moment *out, const casparian_layout *layout, const char *at,
                      const char *end)
{
    bool has_point = layout->fraction == CASPARIAN_POINT_AND_DIGITS && at < end && *at == '.';
    if (has_point || layout->fraction == CASPARIAN_DIGITS)
        at = read_digits(out, at + has_point, end);
    if (at && layout->has_offset) {
        size_t length = casparian_read_offset(&out->offset_s, at, (size_t)(end - at));
        out->has_offset = true;
        at = length > 0 ? at + length : NULL;
    }
    return at == end;
}

casparian_layout_match casparian_layout_read(casparian_moment *out, const casparian_layout *layout,
                                             const char *text, size_t length)
{
    uint8_t digits[DIGITS_SIZE];
    if (layout->length == 0 || length < layout->length || length > CASPARIAN_FORMAT_MAX ||
        !take_digits(digits, layout, text))
        return CASPARIAN_MAY_MATCH;
    if (length > layout->length && is_blank(text[layout->length]))
        return CASPARIAN_MAY_MATCH;
    read_digits_of(out, layout, digits);
    if (out->second >= 60) /* a leap second, perhaps */
        return CASPARIAN_MAY_MATCH;
    bool fits = out->hour < 24 && out->minute < 60 &&
                (!has_date(layout) || casparian_date_is_valid(&out->date)) &&
                rest_fits(out, layout, text + layout->length, text + length);
    return fits ? CASPARIAN_MATCHES : CASPARIAN_DIFFERS;
}

bool casparian_read_moment(casparian_moment *out, const casparian_layout *layout,
                           const casparian_format *format, const char *text, size_t length)
{
    casparian_layout_match match = casparian_layout_read(out, layout, text, length);
    return match == CASPARIAN_MATCHES ||
           (match == CASPARIAN_MAY_MATCH && casparian_format_match(out, format, text, length));
}
