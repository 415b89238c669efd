/*
 * profile.c - values are tried against all candidates at once.
 *
 * Patterns are the expensive part. The separators of a text say which of them can match at all, so
 * numbers and words are tried against none, and dates against a few.
 */
#include "check/profile.h"

#include <string.h>

#include "check/violation.h"

/* Separators in a text. */
enum { SLASH = 1, DASH = 2, DOT = 4, COLON = 8, OTHER = 16 };

enum { DIGITS_MIN = 3, TEMPORAL_TEXT_MAX = 40 };

/* clang-format off */
static const struct {
    const char *text;
    casparian_temporal kind;
    uint8_t digits, required, allowed;
} known[CASPARIAN_FORMATS] = {
    { "%Y-%m-%d", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH },
    { "%Y/%m/%d", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH },
    { "%d/%m/%Y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH },
    { "%d-%m-%Y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH },
    { "%d.%m.%Y", CASPARIAN_TEMPORAL_DATE, 0, DOT,   DOT },
    { "%m/%d/%Y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH },
    { "%m-%d-%Y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH },
    { "%d/%m/%y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH },
    { "%m/%d/%y", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH },
    { "%d-%m-%y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH },
    { "%m-%d-%y", CASPARIAN_TEMPORAL_DATE, 0, DASH,  DASH },
    { "%y/%m/%d", CASPARIAN_TEMPORAL_DATE, 0, SLASH, SLASH },
    { "%Y%m%d",   CASPARIAN_TEMPORAL_DATE, 8, 0, 0 },
    { "%y%m%d",   CASPARIAN_TEMPORAL_DATE, 6, 0, 0 },
    /* RFC 3339: with an offset here, without one below. */
    { "%Y-%m-%dT%H:%M:%S%.f%z", CASPARIAN_TEMPORAL_TIMESTAMP_TZ, 0, DASH | COLON | OTHER, DASH | COLON | DOT | OTHER },
    { "%Y-%m-%d %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP, 0, DASH | COLON | OTHER, DASH | COLON | OTHER },
    { "%Y-%m-%d %H:%M:%S.%f",   CASPARIAN_TEMPORAL_TIMESTAMP, 0, DASH | COLON | DOT | OTHER, DASH | COLON | DOT | OTHER },
    { "%Y-%m-%dT%H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP, 0, DASH | COLON | OTHER, DASH | COLON | OTHER },
    { "%Y-%m-%dT%H:%M:%S%.f",   CASPARIAN_TEMPORAL_TIMESTAMP, 0, DASH | COLON | OTHER, DASH | COLON | DOT | OTHER },
    { "%Y/%m/%d %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP, 0, SLASH | COLON | OTHER, SLASH | COLON | OTHER },
    { "%d/%m/%Y %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP, 0, SLASH | COLON | OTHER, SLASH | COLON | OTHER },
    { "%m/%d/%Y %H:%M:%S",      CASPARIAN_TEMPORAL_TIMESTAMP, 0, SLASH | COLON | OTHER, SLASH | COLON | OTHER },
    { "%d/%b/%Y:%H:%M:%S %z",   CASPARIAN_TEMPORAL_TIMESTAMP_TZ, 0, SLASH | COLON | OTHER, SLASH | COLON | DASH | OTHER },
    { "%Y%m%d-%H:%M:%S.%f",     CASPARIAN_TEMPORAL_TIMESTAMP, 0, DASH | COLON | DOT, DASH | COLON | DOT },
    { "%Y%m%d-%H:%M:%S",        CASPARIAN_TEMPORAL_TIMESTAMP, 0, DASH | COLON, DASH | COLON },
    { "%Y%m%d%H%M%S",           CASPARIAN_TEMPORAL_TIMESTAMP, 14, 0, 0 },
};
/* clang-format on */

mcp_status casparian_patterns_compile(casparian_patterns *out, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < CASPARIAN_FORMATS && st == MCP_OK; i++) {
        out->items[i].text = known[i].text;
        out->items[i].kind = known[i].kind;
        out->items[i].digits = known[i].digits;
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

static uint8_t separators_of(const char *text, size_t length, size_t *digits)
{
    uint8_t found = 0;
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '/':
            found |= SLASH;
            break;
        case '-':
            found |= DASH;
            break;
        case '.':
            found |= DOT;
            break;
        case ':':
            found |= COLON;
            break;
        default:
            if (text[i] >= '0' && text[i] <= '9')
                ++*digits;
            else
                found |= OTHER;
        }
    }
    return found;
}

static candidates patterns_of(const casparian_patterns *patterns, const char *text, size_t length)
{
    candidates fit = 0;
    size_t digits = 0;
    casparian_moment moment;
    if (length > TEMPORAL_TEXT_MAX)
        return 0;
    uint8_t found = separators_of(text, length, &digits);
    for (size_t i = 0; digits >= DIGITS_MIN && i < CASPARIAN_FORMATS; i++) {
        if ((found & known[i].required) == known[i].required && !(found & ~known[i].allowed) &&
            (known[i].digits == 0 || length == known[i].digits) &&
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

static candidates numbers_of(casparian_profile *self, const char *text, size_t length)
{
    candidates fit = 0;
    casparian_decimal_digits digits;
    int64_t integer;
    double number;
    bool may_be_number = length > 0 &&
                         ((text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == 'n' ||
                          text[0] == 'N' || text[0] == 'i' || text[0] == 'I');
    if (!may_be_number)
        return 0;
    if (casparian_lexical_int64(&integer, text, length))
        fit |= bit_of(CASPARIAN_FITS_INT64);
    if (casparian_decimal_count(&digits, text, length) &&
        digits.whole + digits.fraction <= CASPARIAN_DECIMAL_PRECISION_MAX) {
        widen(self, digits.whole, digits.fraction);
        fit |= bit_of(CASPARIAN_FITS_DECIMAL);
    }
    if (casparian_lexical_float64(&number, text, length))
        fit |= bit_of(CASPARIAN_FITS_FLOAT64);
    return fit;
}

static candidates text_fits(casparian_profile *self, const casparian_patterns *patterns,
                            const char *text, size_t length)
{
    candidates fit = bit_of(CASPARIAN_FITS_STRING);
    casparian_moment moment;
    int64_t micros;
    bool truth;
    if (casparian_lexical_boolean(&truth, text, length))
        fit |= bit_of(CASPARIAN_FITS_BOOLEAN);
    if (casparian_lexical_duration(&micros, text, length))
        fit |= bit_of(CASPARIAN_FITS_DURATION);
    if (casparian_temporal_match(&moment, CASPARIAN_TEMPORAL_TIME, text, length))
        fit |= bit_of(CASPARIAN_FITS_TIME);
    return fit | numbers_of(self, text, length) | patterns_of(patterns, text, length);
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
    for (; fit; fit &= fit - 1) {
        casparian_fits *of = &self->of[__builtin_ctzll(fit)];
        of->fits += !is_sentinel;
        of->won += standing != CASPARIAN_STANDS;
        of->healed += standing == CASPARIAN_FAILS_ALONE;
        of->kept += standing == CASPARIAN_STANDS;
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
