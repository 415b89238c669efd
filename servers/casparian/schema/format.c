/*
 * format.c - patterns of strptime as a list of parts, and the matcher that tries them.
 *
 * The matcher walks the parts from left to right. A part that may take several lengths takes the
 * longest first and a shorter one when the rest does not fit, as a regular expression does. A
 * directive stands in a pattern once, so there are few such choices; STEPS_MAX bounds them anyway.
 */
#include "schema/format.h"

#include <string.h>
#include <strings.h>

enum { PARTS_MAX = CASPARIAN_FORMAT_MAX * 5, STEPS_MAX = 20000 };

/* What a directive says. */
enum {
    YEAR = 1 << 0,
    MONTH = 1 << 1,
    DAY = 1 << 2,
    DAY_OF_YEAR = 1 << 3,
    WEEKDAY = 1 << 4,
    HOUR = 1 << 5,
    HOUR_OF_12 = 1 << 6,
    HALF = 1 << 7, /* AM or PM */
    MINUTE = 1 << 8,
    SECOND = 1 << 9,
    FRACTION = 1 << 10,
    OFFSET = 1 << 11,
    ZONE_NAME = 1 << 12,
};

#define DATE_PARTS (YEAR | MONTH | DAY | DAY_OF_YEAR | WEEKDAY)
#define TIME_PARTS (HOUR | HOUR_OF_12 | HALF | MINUTE | SECOND | FRACTION)
#define ZONE_PARTS (OFFSET | ZONE_NAME)

typedef enum part_kind {
    PART_LITERAL,
    PART_BLANKS,
    PART_NUMBER,
    PART_FRACTION,       /* digits */
    PART_POINT_FRACTION, /* a point and digits, or nothing */
    PART_NAME,
    PART_OFFSET,
} part_kind;

static const char *const months[] = { "January",  "February", "March",  "April",     "May",
                                      "June",     "July",     "August", "September", "October",
                                      "November", "December", NULL };
static const char *const short_months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
                                            "Aug", "Sep", "Oct", "Nov", "Dec", NULL };
static const char *const weekdays[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday",    NULL };
static const char *const short_weekdays[] = {
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", NULL
};
static const char *const halves[] = { "AM", "PM", NULL };
static const char *const zones[] = { "UTC", "GMT", "Z", NULL };

/* A directive and what it takes. */
typedef struct directive {
    const char *text; /* behind the '%' */
    part_kind kind;
    unsigned what;
    int digits_min, digits_max;
    int least, most; /* of a number */
    const char *const *names;
} directive;

/* clang-format off */
static const directive directives[] = {
    { "Y",   PART_NUMBER,         YEAR,        4, 4, 1, 9999, NULL },
    { "y",   PART_NUMBER,         YEAR,        2, 2, 0, 99,   NULL },
    { "m",   PART_NUMBER,         MONTH,       1, 2, 1, 12,   NULL },
    { "d",   PART_NUMBER,         DAY,         1, 2, 1, 31,   NULL },
    { "j",   PART_NUMBER,         DAY_OF_YEAR, 1, 3, 1, 366,  NULL },
    { "H",   PART_NUMBER,         HOUR,        1, 2, 0, 23,   NULL },
    { "I",   PART_NUMBER,         HOUR_OF_12,  1, 2, 1, 12,   NULL },
    { "M",   PART_NUMBER,         MINUTE,      1, 2, 0, 59,   NULL },
    { "S",   PART_NUMBER,         SECOND,      1, 2, 0, 60,   NULL },
    { "f",   PART_FRACTION,       FRACTION,    1, 9, 0, 0,    NULL },
    { "3f",  PART_FRACTION,       FRACTION,    3, 3, 0, 0,    NULL },
    { "6f",  PART_FRACTION,       FRACTION,    6, 6, 0, 0,    NULL },
    { ".f",  PART_POINT_FRACTION, FRACTION,    1, 9, 0, 0,    NULL },
    { ".3f", PART_POINT_FRACTION, FRACTION,    1, 9, 0, 0,    NULL },
    { ".6f", PART_POINT_FRACTION, FRACTION,    1, 9, 0, 0,    NULL },
    { "p",   PART_NAME,           HALF,        0, 0, 0, 0,    halves },
    { "b",   PART_NAME,           MONTH,       0, 0, 0, 0,    short_months },
    { "B",   PART_NAME,           MONTH,       0, 0, 0, 0,    months },
    { "a",   PART_NAME,           WEEKDAY,     0, 0, 0, 0,    short_weekdays },
    { "A",   PART_NAME,           WEEKDAY,     0, 0, 0, 0,    weekdays },
    { "z",   PART_OFFSET,         OFFSET,      0, 0, 0, 0,    NULL },
    { "Z",   PART_NAME,           ZONE_NAME,   0, 0, 0, 0,    zones },
};

/* Directives that are short for a pattern. */
static const struct { const char *text, *pattern; } shorts[] = {
    { "T", "%H:%M:%S" }, { "F", "%Y-%m-%d" }, { "D", "%m/%d/%y" }, { "%", NULL },
};
/* clang-format on */

typedef struct part {
    part_kind kind;
    char literal;
    const directive *directive;
} part;

struct casparian_format {
    size_t count;
    unsigned what; /* all that is read */
    part parts[];
};

/* ---- compiling ------------------------------------------------------------------------------- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static mcp_status add_literal(casparian_format *self, char byte)
{
    bool blank = is_blank(byte);
    if (blank && self->count > 0 && self->parts[self->count - 1].kind == PART_BLANKS)
        return MCP_OK;
    self->parts[self->count++] = (part){ .kind = blank ? PART_BLANKS : PART_LITERAL,
                                         .literal = byte };
    return MCP_OK;
}

static mcp_status compile(casparian_format *self, const char *pattern, mcp_error *err);

static mcp_status add_directive(casparian_format *self, const char *text, size_t *length,
                                mcp_error *err)
{
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++) {
        if (*text != shorts[i].text[0])
            continue;
        *length = 1;
        return shorts[i].pattern ? compile(self, shorts[i].pattern, err) : add_literal(self, '%');
    }
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        const directive *known = &directives[i];
        *length = strlen(known->text);
        if (strncmp(text, known->text, *length) != 0)
            continue;
        if (self->what & known->what)
            return mcp_error_set(err, MCP_E_PARAMS, "%%%s: the pattern says that already",
                                 known->text);
        self->what |= known->what;
        self->parts[self->count++] = (part){ .kind = known->kind, .directive = known };
        return MCP_OK;
    }
    return *text ? mcp_error_set(err, MCP_E_PARAMS, "%%%.1s is not a supported directive", text)
                 : mcp_error_set(err, MCP_E_PARAMS, "a single %% at the end; write %%%%");
}

static mcp_status compile(casparian_format *self, const char *pattern, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (const char *at = pattern; st == MCP_OK && *at; at++) {
        size_t length = 0;
        if (*at != '%') {
            st = add_literal(self, *at);
            continue;
        }
        st = add_directive(self, at + 1, &length, err);
        at += length;
    }
    return st;
}

/* What the kinds have and need. @return why the parts are no such value; NULL: they are */
static const char *misfit(unsigned what, casparian_temporal kind)
{
    bool has_date = (what & YEAR) &&
                    ((what & DAY_OF_YEAR) || (what & (MONTH | DAY)) == (MONTH | DAY));
    bool has_hour = what & (HOUR | HOUR_OF_12);
    if (kind == CASPARIAN_TEMPORAL_DATE && (what & (TIME_PARTS | ZONE_PARTS)))
        return "a date has no time and no zone";
    if (kind == CASPARIAN_TEMPORAL_TIME && (what & (DATE_PARTS | ZONE_PARTS)))
        return "a time has no date and no zone";
    if (kind == CASPARIAN_TEMPORAL_TIMESTAMP && (what & ZONE_PARTS))
        return "a timestamp has no zone; the type timestamp_tz has";
    if ((what & DAY_OF_YEAR) && (what & (MONTH | DAY)))
        return "the day of the year (%j) stands for month and day";
    if (kind != CASPARIAN_TEMPORAL_TIME && !has_date)
        return "a date needs year, month and day, or year and %j";
    if (kind == CASPARIAN_TEMPORAL_TIME && !has_hour)
        return "a time needs %H, or %I and %p";
    if ((what & HOUR) && (what & (HOUR_OF_12 | HALF)))
        return "%H is of 24 hours: neither %I nor %p goes with it";
    if (!(what & HOUR_OF_12) != !(what & HALF))
        return "%I and %p need each other";
    if (((what & MINUTE) && !has_hour) || ((what & SECOND) && !(what & MINUTE)) ||
        ((what & FRACTION) && !(what & SECOND)))
        return "minutes need hours, seconds need minutes, a fraction needs seconds";
    if ((what & ZONE_PARTS) == ZONE_PARTS)
        return "%z and %Z say the same";
    return NULL;
}

mcp_status casparian_format_compile(const casparian_format **out, mcp_arena *arena,
                                    const char *pattern, casparian_temporal kind, mcp_error *err)
{
    if (strlen(pattern) > CASPARIAN_FORMAT_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a pattern of more than %d bytes",
                             CASPARIAN_FORMAT_MAX);
    casparian_format *self = mcp_arena_alloc(arena, sizeof *self + PARTS_MAX * sizeof *self->parts);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a pattern");
    *self = (casparian_format){ .count = 0 };
    mcp_status st = compile(self, pattern, err);
    const char *why = st == MCP_OK ? misfit(self->what, kind) : NULL;
    if (why)
        return mcp_error_set(err, MCP_E_PARAMS, "'%.*s': %s", CASPARIAN_FORMAT_MAX, pattern, why);
    if (st == MCP_OK)
        *out = self;
    return st;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* A match on its way. */
typedef struct match {
    const casparian_format *format;
    const char *text;
    size_t length;
    int steps;
    casparian_moment moment;
    int day_of_year;
    bool is_afternoon;
} match;

static bool match_from(match *self, size_t at, size_t index);

static void take_number(match *self, const directive *what, int value)
{
    casparian_moment *out = &self->moment;
    switch (what->what) {
    case YEAR:
        out->date.year = what->digits_max == 4 ? value : value + (value < 69 ? 2000 : 1900);
        break;
    case MONTH:
        out->date.month = value;
        break;
    case DAY:
        out->date.day = value;
        break;
    case DAY_OF_YEAR:
        self->day_of_year = value;
        break;
    case HOUR:
    case HOUR_OF_12:
        out->hour = value;
        break;
    case MINUTE:
        out->minute = value;
        break;
    default:
        out->second = value;
    }
}

/* The number in so many digits. @return false: there are fewer */
static bool read_digits(int *out, const match *self, size_t at, int count)
{
    int value = 0;
    if ((size_t)count > self->length - at)
        return false;
    for (int i = 0; i < count; i++) {
        if (!is_digit(self->text[at + (size_t)i]))
            return false;
        value = value * 10 + (self->text[at + (size_t)i] - '0');
    }
    *out = value;
    return true;
}

static bool match_number(match *self, size_t at, size_t index, const directive *what)
{
    for (int count = what->digits_max; count >= what->digits_min; count--) {
        int value = 0;
        if (!read_digits(&value, self, at, count) || value < what->least || value > what->most)
            continue;
        take_number(self, what, value);
        if (match_from(self, at + (size_t)count, index + 1))
            return true;
    }
    return false;
}

static bool match_fraction(match *self, size_t at, size_t index, const directive *what)
{
    for (int count = what->digits_max; count >= what->digits_min; count--) {
        int value = 0;
        if (!read_digits(&value, self, at, count))
            continue;
        for (int i = count; i < 6; i++)
            value *= 10;
        for (int i = count; i > 6; i--)
            value /= 10;
        self->moment.micro = value;
        if (match_from(self, at + (size_t)count, index + 1))
            return true;
    }
    return false;
}

static bool match_point_fraction(match *self, size_t at, size_t index, const directive *what)
{
    if (at < self->length && self->text[at] == '.' && match_fraction(self, at + 1, index, what))
        return true;
    self->moment.micro = 0;
    return match_from(self, at, index + 1);
}

static bool match_name(match *self, size_t at, size_t index, const directive *what)
{
    for (int i = 0; what->names[i]; i++) {
        size_t length = strlen(what->names[i]);
        if (length > self->length - at || strncasecmp(self->text + at, what->names[i], length) != 0)
            continue;
        if (what->what == MONTH)
            self->moment.date.month = i + 1;
        else if (what->what == HALF)
            self->is_afternoon = i == 1;
        self->moment.has_offset = self->moment.has_offset || what->what == ZONE_NAME;
        if (match_from(self, at + length, index + 1))
            return true;
    }
    return false;
}

size_t casparian_read_offset(int32_t *out, const char *text, size_t length)
{
    size_t colon = length > 3 && text[3] == ':';
    if (length > 0 && text[0] == 'Z') {
        *out = 0;
        return 1;
    }
    if (length < 5 + colon || (text[0] != '+' && text[0] != '-'))
        return 0;
    const char digits[] = { text[1], text[2], text[3 + colon], text[4 + colon] };
    for (size_t i = 0; i < sizeof digits; i++) {
        if (!is_digit(digits[i]))
            return 0;
    }
    int hours = (digits[0] - '0') * 10 + digits[1] - '0';
    int minutes = (digits[2] - '0') * 10 + digits[3] - '0';
    if (hours > 23 || minutes > 59)
        return 0;
    *out = (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return 5 + colon;
}

static bool match_offset(match *self, size_t at, size_t index)
{
    size_t length = casparian_read_offset(&self->moment.offset_s, self->text + at,
                                          self->length - at);
    self->moment.has_offset = true;
    return length > 0 && match_from(self, at + length, index + 1);
}

static bool match_blanks(match *self, size_t at, size_t index)
{
    size_t end = at;
    while (end < self->length && is_blank(self->text[end]))
        end++;
    return end > at && match_from(self, end, index + 1);
}

static bool match_from(match *self, size_t at, size_t index)
{
    if (++self->steps > STEPS_MAX)
        return false;
    while (index < self->format->count && self->format->parts[index].kind == PART_LITERAL) {
        if (at == self->length || self->text[at] != self->format->parts[index].literal)
            return false;
        at++;
        index++;
    }
    if (index == self->format->count)
        return at == self->length;
    const part *next = &self->format->parts[index];
    switch (next->kind) {
    case PART_BLANKS:
        return match_blanks(self, at, index);
    case PART_NUMBER:
        return match_number(self, at, index, next->directive);
    case PART_FRACTION:
        return match_fraction(self, at, index, next->directive);
    case PART_POINT_FRACTION:
        return match_point_fraction(self, at, index, next->directive);
    case PART_NAME:
        return match_name(self, at, index, next->directive);
    default:
        return match_offset(self, at, index);
    }
}

/* The second 60, of which a day may have one, is the end of the second before it. */
static void fold_leap_second(casparian_moment *moment)
{
    if (moment->second == 60) {
        moment->second = 59;
        moment->micro = (int)CASPARIAN_MICROS_PER_SECOND - 1;
    }
}

static bool finish(match *self)
{
    casparian_moment *out = &self->moment;
    unsigned what = self->format->what;
    if (what & HOUR_OF_12)
        out->hour = out->hour % 12 + (self->is_afternoon ? 12 : 0);
    fold_leap_second(out);
    if (what & DAY_OF_YEAR) {
        if (self->day_of_year > 365 + casparian_is_leap_year(out->date.year))
            return false;
        const casparian_date first = { .year = out->date.year, .month = 1, .day = 1 };
        out->date = casparian_date_of(casparian_days_of(&first) + self->day_of_year - 1);
    }
    return !(what & YEAR) || casparian_date_is_valid(&out->date);
}

bool casparian_format_match(casparian_moment *out, const casparian_format *format, const char *text,
                            size_t length)
{
    match self = { .format = format, .text = text, .length = length };
    if (length > CASPARIAN_FORMAT_MAX || !match_from(&self, 0, 0) || !finish(&self))
        return false;
    *out = self.moment;
    return true;
}

/* ---- without a pattern ----------------------------------------------------------------------- */

/* Two digits and what follows them. */
static bool read_two(int *out, const char *text)
{
    if (!is_digit(text[0]) || !is_digit(text[1]))
        return false;
    *out = (text[0] - '0') * 10 + text[1] - '0';
    return true;
}

enum { DATE_LENGTH = 10, TIME_LENGTH = 8 };

static bool read_date(casparian_date *out, const char *text)
{
    int century = 0, year = 0;
    if (!read_two(&century, text) || !read_two(&year, text + 2) || text[4] != '-' ||
        !read_two(&out->month, text + 5) || text[7] != '-' || !read_two(&out->day, text + 8))
        return false;
    out->year = century * 100 + year;
    return casparian_date_is_valid(out);
}

/* HH:MM:SS and a fraction. @return its length; 0: it is none */
static size_t read_time(casparian_moment *out, const char *text, size_t length)
{
    size_t at = TIME_LENGTH, digits = 0;
    int micro = 0;
    if (length < TIME_LENGTH || !read_two(&out->hour, text) || text[2] != ':' ||
        !read_two(&out->minute, text + 3) || text[5] != ':' || !read_two(&out->second, text + 6) ||
        out->hour > 23 || out->minute > 59 || out->second > 60)
        return 0;
    if (at < length && text[at] == '.') {
        for (at++; at < length && is_digit(text[at]) && digits < 9; at++, digits++)
            micro = digits < 6 ? micro * 10 + text[at] - '0' : micro;
        if (digits == 0)
            return 0;
    }
    for (; digits < 6; digits++)
        micro *= 10;
    out->micro = micro;
    fold_leap_second(out);
    return at;
}

bool casparian_temporal_match(casparian_moment *out, casparian_temporal kind, const char *text,
                              size_t length)
{
    casparian_moment made = { .hour = 0 };
    size_t at = 0;
    if (kind != CASPARIAN_TEMPORAL_TIME) {
        if (length < DATE_LENGTH || !read_date(&made.date, text))
            return false;
        at = DATE_LENGTH;
    }
    if (kind == CASPARIAN_TEMPORAL_TIMESTAMP || kind == CASPARIAN_TEMPORAL_TIMESTAMP_TZ) {
        if (at == length || (text[at] != 'T' && text[at] != ' '))
            return false;
        at++;
    }
    if (kind != CASPARIAN_TEMPORAL_DATE) {
        size_t taken = read_time(&made, text + at, length - at);
        if (taken == 0)
            return false;
        at += taken;
    }
    if (kind == CASPARIAN_TEMPORAL_TIMESTAMP_TZ) {
        size_t taken = casparian_read_offset(&made.offset_s, text + at, length - at);
        if (taken == 0 || taken == 5) /* RFC 3339 has the colon */
            return false;
        made.has_offset = true;
        at += taken;
    }
    *out = made;
    return at == length;
}
