/*
 * profile.c - values are tried against all candidates at once.
 *
 * Patterns are the expensive part. The characters of a text say which of them can match at all, so
 * numbers and words are tried against none, and dates against those with as many digits. A table
 * gives the patterns of each set of characters.
 */
#include "check/profile.h"

#include <string.h>

#include "check/violation.h"

/* Characters in a text, besides digits. */
enum {
    SLASH = 1,
    DASH = 2,
    DOT = 4,
    COLON = 8,
    BLANK = 16,
    TEE = 32,  /* T */
    ZONE = 64, /* Z and + */
    OTHER = 128,
    DIGIT = 256
};

#define STAMP (DASH | COLON)
#define SLASHED (SLASH | COLON | BLANK)
#define NAMED (SLASHED | OTHER)

enum { DIGITS_MIN = 3, TEMPORAL_TEXT_MAX = 40, FINITE_TEXT_MAX = 300 };

/* Of bytes with a mark also OTHER, so that an exclusive or with it says who has none. */
static const uint16_t marks_of_bytes[256] = {
    ['/'] = SLASH | OTHER, ['-'] = DASH | OTHER,   ['.'] = DOT | OTHER,   [':'] = COLON | OTHER,
    [' '] = BLANK | OTHER, ['\t'] = BLANK | OTHER, ['T'] = TEE | OTHER,   ['Z'] = ZONE | OTHER,
    ['+'] = ZONE | OTHER,  ['0'] = DIGIT | OTHER,  ['1'] = DIGIT | OTHER, ['2'] = DIGIT | OTHER,
    ['3'] = DIGIT | OTHER, ['4'] = DIGIT | OTHER,  ['5'] = DIGIT | OTHER, ['6'] = DIGIT | OTHER,
    ['7'] = DIGIT | OTHER, ['8'] = DIGIT | OTHER,  ['9'] = DIGIT | OTHER,
};

/* clang-format off */
static const struct {
    const char *text;
    casparian_temporal kind;
    uint8_t length;                 /* which the text must have; 0: any */
    uint8_t required, allowed;      /* characters */
    uint8_t digits_min, digits_max; /* of the text */
} known[CASPARIAN_FORMATS] = {
    { "%Y-%m-%d", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH,  6, 8 },
    { "%Y/%m/%d", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH, 6, 8 },
    { "%d/%m/%Y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH, 6, 8 },
    { "%d-%m-%Y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH,  6, 8 },
    { "%d.%m.%Y", CASPARIAN_TEMPORAL_DATE, 0, DOT,   DOT,   6, 8 },
    { "%m/%d/%Y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH, 6, 8 },
    { "%m-%d-%Y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH,  6, 8 },
    { "%d/%m/%y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH, 4, 6 },
    { "%m/%d/%y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH, 4, 6 },
    { "%d-%m-%y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH,  4, 6 },
    { "%m-%d-%y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH,  4, 6 },
    { "%y/%m/%d", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH, 4, 6 },
    { "%Y%m%d",   CASPARIAN_TEMPORAL_DATE, 8, 0, 0, 8, 8 },
    { "%y%m%d",   CASPARIAN_TEMPORAL_DATE, 6, 0, 0, 6, 6 },
    /* RFC 3339: with an offset here, without one below. */
    { "%Y-%m-%dT%H:%M:%S%.f%z", CASPARIAN_TEMPORAL_TIMESTAMP_TZ, 0, STAMP | TEE,         STAMP | TEE | DOT | ZONE, 9, 27 },
    { "%Y-%m-%d %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP,    0, STAMP | BLANK,       STAMP | BLANK,       9, 14 },
    { "%Y-%m-%d %H:%M:%S.%f",   CASPARIAN_TEMPORAL_TIMESTAMP,    0, STAMP | BLANK | DOT, STAMP | BLANK | DOT, 10, 23 },
    { "%Y-%m-%dT%H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP,    0, STAMP | TEE,         STAMP | TEE,         9, 14 },
    { "%Y-%m-%dT%H:%M:%S%.f",   CASPARIAN_TEMPORAL_TIMESTAMP,    0, STAMP | TEE,         STAMP | TEE | DOT,   9, 23 },
    { "%Y/%m/%d %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP,    0, SLASHED,             SLASHED,             9, 14 },
    { "%d/%m/%Y %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP,    0, SLASHED,             SLASHED,             9, 14 },
    { "%m/%d/%Y %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP,    0, SLASHED,             SLASHED,             9, 14 },
    { "%d/%b/%Y:%H:%M:%S %z",   CASPARIAN_TEMPORAL_TIMESTAMP_TZ, 0, NAMED, NAMED | DASH | TEE | ZONE, 8, 16 },
    { "%Y%m%d-%H:%M:%S.%f",     CASPARIAN_TEMPORAL_TIMESTAMP,    0, STAMP | DOT,         STAMP | DOT,         10, 23 },
    { "%Y%m%d-%H:%M:%S",        CASPARIAN_TEMPORAL_TIMESTAMP,    0, STAMP,               STAMP,               9, 14 },
    { "%Y%m%d%H%M%S",           CASPARIAN_TEMPORAL_TIMESTAMP,    14, 0, 0, 14, 14 },
};
/* clang-format on */

_Static_assert(CASPARIAN_FORMATS <= 32, "a bit for each pattern");

static void list_by_marks(casparian_patterns *self)
{
    for (unsigned marks = 0; marks < 256; marks++) {
        self->of_marks[marks] = 0;
        for (size_t i = 0; i < CASPARIAN_FORMATS; i++) {
            if ((marks & known[i].required) == known[i].required && !(marks & ~known[i].allowed))
                self->of_marks[marks] |= UINT32_C(1) << i;
        }
    }
}

mcp_status casparian_patterns_compile(casparian_patterns *out, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    list_by_marks(out);
    for (size_t i = 0; i < CASPARIAN_FORMATS && st == MCP_OK; i++) {
        out->items[i].text = known[i].text;
        out->items[i].kind = known[i].kind;
        out->items[i].digits = known[i].length;
        out->items[i].layout = casparian_layout_of(known[i].text);
        st = casparian_format_compile(&out->items[i].format, arena, known[i].text, known[i].kind,
                                      err);
    }
    return st;
}

/* ---- one value ------------------------------------------------------------------------------- */

/* What a value fits, one bit a candidate. */
typedef uint64_t candidates;

_Static_assert(CASPARIAN_CANDIDATES <= 64, "a bit for each candidate");

static candidates bit_of(size_t candidate)
{
    return (candidates)1 << candidate;
}

/* The characters at the begin of a text: enough of them to refuse a number and a time. */
struct marks {
    size_t digits;
    uint8_t found; /* besides digits */
};

static struct marks marks_of(const char *text, size_t length)
{
    struct marks out = { .digits = 0 };
    size_t end = length < TEMPORAL_TEXT_MAX ? length : TEMPORAL_TEXT_MAX;
    unsigned found = 0;
    for (size_t i = 0; i < end; i++) {
        unsigned mark = marks_of_bytes[(unsigned char)text[i]];
        out.digits += mark / DIGIT;
        found |= mark ^ OTHER;
    }
    out.found = (uint8_t)found;
    return out;
}

static candidates patterns_of(const casparian_patterns *patterns, const struct marks *marks,
                              const char *text, size_t length)
{
    candidates fit = 0;
    casparian_moment moment;
    if (length > TEMPORAL_TEXT_MAX || marks->digits < DIGITS_MIN)
        return 0;
    for (uint32_t left = patterns->of_marks[marks->found]; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctz(left);
        if (marks->digits >= known[i].digits_min && marks->digits <= known[i].digits_max &&
            (known[i].length == 0 || length == known[i].length) &&
            casparian_read_moment(&moment, &patterns->items[i].layout, patterns->items[i].format,
                                  text, length))
            fit |= bit_of(i);
    }
    return fit;
}

static void widen(casparian_profile *self, size_t whole, size_t fraction)
{
    self->whole = whole > self->whole ? whole : self->whole;
    self->fraction = fraction > self->fraction ? fraction : self->fraction;
}

/* Whether decimal digits are a number of JSON as well, which has no zeros in front. */
static bool has_no_zero_in_front(const char *text, size_t length)
{
    size_t at = text[0] == '-';
    return text[at] != '0' || at + 1 == length || text[at + 1] == '.';
}

static candidates numbers_of(casparian_profile *self, const struct marks *marks, const char *text,
                             size_t length)
{
    candidates fit = 0;
    casparian_decimal_digits digits;
    int64_t integer;
    double number;
    bool has_dash_inside = length > 0 && (marks->found & DASH) && text[0] != '-';
    bool may_be_number = length > 0 && !(marks->found & (SLASH | COLON | BLANK | TEE)) &&
                         (!has_dash_inside || (marks->found & OTHER)) && /* 1e-5 */
                         ((text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == 'n' ||
                          text[0] == 'N' || text[0] == 'i' || text[0] == 'I');
    if (!may_be_number)
        return 0;
    if (!(marks->found & ~DASH) && casparian_lexical_int64(&integer, text, length))
        fit |= bit_of(CASPARIAN_FITS_INT64);
    bool is_decimal = !(marks->found & ~(DASH | DOT)) &&
                      casparian_decimal_count(&digits, text, length);
    if (is_decimal && digits.whole + digits.fraction <= CASPARIAN_DECIMAL_PRECISION_MAX) {
        widen(self, digits.whole, digits.fraction);
        fit |= bit_of(CASPARIAN_FITS_DECIMAL);
    }
    bool is_float = is_decimal && length <= FINITE_TEXT_MAX
                        ? has_no_zero_in_front(text, length)
                        : casparian_lexical_float64(&number, text, length);
    return fit | (is_float ? bit_of(CASPARIAN_FITS_FLOAT64) : 0);
}

static candidates words_of(const char *text, size_t length)
{
    candidates fit = 0;
    int64_t micros;
    bool truth;
    if (casparian_lexical_boolean(&truth, text, length))
        fit |= bit_of(CASPARIAN_FITS_BOOLEAN);
    if (length > 1 && text[text[0] == '-'] == 'P' &&
        casparian_lexical_duration(&micros, text, length))
        fit |= bit_of(CASPARIAN_FITS_DURATION);
    return fit;
}

static candidates text_fits(casparian_profile *self, const casparian_patterns *patterns,
                            const char *text, size_t length)
{
    struct marks marks = marks_of(text, length);
    casparian_moment moment;
    candidates fit = bit_of(CASPARIAN_FITS_STRING) | words_of(text, length);
    if (!(marks.found & ~(COLON | DOT)) && (marks.found & COLON) &&
        casparian_temporal_match(&moment, CASPARIAN_TEMPORAL_TIME, text, length))
        fit |= bit_of(CASPARIAN_FITS_TIME);
    return fit | numbers_of(self, &marks, text, length) |
           patterns_of(patterns, &marks, text, length);
}

/* The patterns of a kind: a date is one of each pattern of dates, and a timestamp at midnight. */
static candidates temporal_fits(const casparian_patterns *patterns, casparian_kind kind)
{
    candidates fit = 0;
    for (size_t i = 0; i < CASPARIAN_FORMATS; i++) {
        casparian_temporal of = patterns->items[i].kind;
        bool fits = kind == CASPARIAN_KIND_DATE        ? of != CASPARIAN_TEMPORAL_TIMESTAMP_TZ
                    : kind == CASPARIAN_KIND_TIMESTAMP ? of == CASPARIAN_TEMPORAL_TIMESTAMP
                                                       : of == CASPARIAN_TEMPORAL_TIMESTAMP_TZ;
        fit |= fits ? bit_of(i) : 0;
    }
    return fit;
}

static size_t digits_of(casparian_int128 value)
{
    size_t count = 0;
    while (value < INT64_MIN || value > INT64_MAX) { /* a division of 128 bits is slow */
        value /= 10;
        count++;
    }
    for (int64_t rest = (int64_t)value; rest != 0; rest /= 10)
        count++;
    return count;
}

static candidates typed_fits(casparian_profile *self, const casparian_patterns *patterns,
                             const casparian_cell *cell)
{
    size_t digits;
    switch (cell->kind) {
    case CASPARIAN_KIND_BOOLEAN:
        return bit_of(CASPARIAN_FITS_BOOLEAN);
    case CASPARIAN_KIND_INT64:
        widen(self, digits_of(cell->integer), 0);
        return bit_of(CASPARIAN_FITS_INT64) | bit_of(CASPARIAN_FITS_DECIMAL) |
               bit_of(CASPARIAN_FITS_FLOAT64);
    case CASPARIAN_KIND_DECIMAL:
        digits = digits_of(cell->decimal);
        widen(self, digits > cell->scale ? digits - cell->scale : 0, cell->scale);
        return bit_of(CASPARIAN_FITS_DECIMAL) | bit_of(CASPARIAN_FITS_FLOAT64);
    case CASPARIAN_KIND_FLOAT64:
        return bit_of(CASPARIAN_FITS_FLOAT64);
    case CASPARIAN_KIND_BINARY:
        return bit_of(CASPARIAN_FITS_BINARY);
    case CASPARIAN_KIND_TIME:
        return bit_of(CASPARIAN_FITS_TIME);
    case CASPARIAN_KIND_DURATION:
        return bit_of(CASPARIAN_FITS_DURATION);
    default:
        return temporal_fits(patterns, cell->kind);
    }
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void add_length(casparian_profile *self, size_t shortest, size_t longest)
{
    if (longest == 0)
        return;
    self->shortest = self->longest == 0 || shortest < self->shortest ? shortest : self->shortest;
    self->longest = longest > self->longest ? longest : self->longest;
}

static void count(casparian_profile *self, candidates fit, bool is_sentinel,
                  casparian_standing standing)
{
    for (; standing == CASPARIAN_STANDS && fit; fit &= fit - 1) {
        casparian_fits *of = &self->of[__builtin_ctzll(fit)];
        of->fits += !is_sentinel;
        of->kept++;
    }
    for (; fit; fit &= fit - 1) {
        casparian_fits *of = &self->of[__builtin_ctzll(fit)];
        of->fits += !is_sentinel;
        of->won++;
        of->healed += standing == CASPARIAN_FAILS_ALONE;
    }
}

void casparian_profile_add(casparian_profile *self, const casparian_patterns *patterns,
                           const casparian_cell *cell, casparian_standing standing)
{
    candidates fit;
    bool is_text = cell->kind == CASPARIAN_KIND_STRING, is_sentinel = false;
    self->cells++;
    self->failing += standing != CASPARIAN_STANDS;
    self->kinds |= 1u << cell->kind;
    if (is_text) {
        is_sentinel = casparian_sentinel_of(cell->text.bytes, cell->text.length) >= 0;
        self->sentinels += is_sentinel;
        if (!is_sentinel)
            add_length(self, cell->text.length, cell->text.length);
        fit = text_fits(self, patterns, cell->text.bytes, cell->text.length);
    } else {
        fit = typed_fits(self, patterns, cell);
    }
    count(self, fit, is_sentinel, standing);
}

void casparian_profile_merge(casparian_profile *self, const casparian_profile *other)
{
    self->cells += other->cells;
    self->sentinels += other->sentinels;
    self->failing += other->failing;
    self->kinds |= other->kinds;
    widen(self, other->whole, other->fraction);
    add_length(self, other->shortest, other->longest);
    for (size_t i = 0; i < CASPARIAN_CANDIDATES; i++) {
        self->of[i].fits += other->of[i].fits;
        self->of[i].won += other->of[i].won;
        self->of[i].healed += other->of[i].healed;
        self->of[i].kept += other->of[i].kept;
    }
}

int64_t casparian_profile_lost(const casparian_profile *self, casparian_candidate candidate)
{
    return self->cells - self->failing - self->of[candidate].kept;
}

bool casparian_profile_all(const casparian_profile *self, const casparian_patterns *patterns,
                           casparian_candidate candidate)
{
    int64_t values = self->cells - self->sentinels;
    size_t digits = (size_t)candidate < CASPARIAN_FORMATS ? patterns->items[candidate].digits : 0;
    bool has_length = digits == 0 || self->longest == 0 ||
                      (self->shortest == digits && self->longest == digits);
    return values > 0 && has_length && self->of[candidate].fits == values;
}
