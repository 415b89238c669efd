/*
 * weblog.c - lines in the Common and Combined Log Format.
 *
 *     HOST IDENT USER [10/Oct/2023:13:55:36 +0200] "METHOD TARGET PROTOCOL" STATUS BYTES
 *
 * and in the combined format two more quoted fields, the referer and the user agent. A blank stands
 * between two fields. The cells of a row are set while the line is read; when it turns out to be
 * malformed, the row is dropped and the line becomes a row of http_parse_errors.
 */
#include <stdlib.h>
#include <string.h>

#include "parsers/input/rejects.h"
#include "parsers/input/scan.h"
#include "parsers/weblog_native/weblog.h"

enum { LINE_BYTES_MAX = 64 << 10, DATE_BYTES = 11, TIME_BYTES = 26 };

enum {
    LINE_NUMBER,
    REMOTE_HOST,
    IDENT,
    USER,
    TS,
    METHOD,
    PATH,
    QUERY,
    PROTOCOL,
    STATUS,
    BYTES,
    REFERER,
    USER_AGENT,
    ROW_ID
};

static const cf_column columns[] = {
    { "line_number", CF_INT64, 0, 0, NULL }, { "remote_host", CF_STRING, 0, 0, NULL },
    { "ident", CF_STRING, 0, 0, NULL },      { "user", CF_STRING, 0, 0, NULL },
    { "ts", CF_TIMESTAMP_TZ, 0, 0, "UTC" },  { "method", CF_STRING, 0, 0, NULL },
    { "path", CF_STRING, 0, 0, NULL },       { "query", CF_STRING, 0, 0, NULL },
    { "protocol", CF_STRING, 0, 0, NULL },   { "status", CF_INT64, 0, 0, NULL },
    { "bytes", CF_INT64, 0, 0, NULL },       { "referer", CF_STRING, 0, 0, NULL },
    { "user_agent", CF_STRING, 0, 0, NULL }, { "__cf_row_id", CF_INT64, 0, 0, NULL },
};

struct weblog {
    cf_sink *sink;
    cf_output *requests;
    cf_output *rejects;
    int64_t line;
    bool is_skipping;      /* the rest of a line that is too long */
    char date[DATE_BYTES]; /* of the line before */
    int64_t date_days;
    char unescaped[LINE_BYTES_MAX];
};

/* The rest of a line. */
struct cursor {
    const char *at;
    const char *end;
};

struct span {
    const char *bytes;
    size_t length;
};

/* The value of decimal digits, or -1. */
static int digits(const char *at, size_t count)
{
    int value = 0;

    for (size_t i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9')
            return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value;
}

static int month_of(const char *name)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int month = 0; month < 12; month++)
        if (memcmp(name, names + 3 * month, 3) == 0)
            return month + 1;
    return -1;
}

/* Days since 1970-01-01 in the Gregorian calendar, by years that begin in March. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_in(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* 10/Oct/2023; lines that follow one another mostly have the same. */
static bool read_date(struct weblog *log, const char *at, int64_t *days)
{
    if (memcmp(at, log->date, DATE_BYTES) != 0) {
        int day = digits(at, 2), month = month_of(at + 3), year = digits(at + 7, 4);
        if (at[2] != '/' || at[6] != '/' || day < 1 || month < 0 || year < 0 ||
            day > days_in(year, month))
            return false;
        memcpy(log->date, at, DATE_BYTES);
        log->date_days = days_of(year, month, day);
    }
    *days = log->date_days;
    return true;
}

/* 10/Oct/2023:13:55:36 +0200, as microseconds in UTC. A leap second is the one after it. */
static bool read_time(struct weblog *log, const char *at, int64_t *micros)
{
    int hour = digits(at + 12, 2), minute = digits(at + 15, 2), second = digits(at + 18, 2);
    int zone_hour = digits(at + 22, 2), zone_minute = digits(at + 24, 2);
    int64_t days = 0;

    if (at[11] != ':' || at[14] != ':' || at[17] != ':' || at[20] != ' ' ||
        (at[21] != '+' && at[21] != '-'))
        return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
        zone_hour < 0 || zone_hour > 23 || zone_minute < 0 || zone_minute > 59)
        return false;
    if (!read_date(log, at, &days))
        return false;
    int64_t east = (zone_hour * 60 + zone_minute) * 60;
    int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    *micros = (seconds - (at[21] == '-' ? -east : east)) * 1000000;
    return true;
}

/* The bytes before the next blank, which is used too; false: there is none, or nothing before
 * it. */
static bool take_word(struct cursor *line, struct span *word)
{
    const char *blank = memchr(line->at, ' ', (size_t)(line->end - line->at));

    if (!blank || blank == line->at)
        return false;
    *word = (struct span){ line->at, (size_t)(blank - line->at) };
    line->at = blank + 1;
    return true;
}

static bool take(struct cursor *line, char byte)
{
    if (line->at == line->end || *line->at != byte)
        return false;
    line->at++;
    return true;
}

/* A quoted field. A backslash before a quote or a backslash is an escape, and else a byte of the
 * field. The result is valid until the next call. */
static bool take_quoted(struct weblog *log, struct cursor *line, struct span *field)
{
    if (!take(line, '"'))
        return false;
    const char *begin = line->at, *at = casparian_find_either(begin, line->end, '"', '\\');
    size_t used = 0;
    if (at < line->end && *at == '"') {
        *field = (struct span){ begin, (size_t)(at - begin) };
        line->at = at + 1;
        return true;
    }
    for (;; at = casparian_find_either(begin, line->end, '"', '\\')) {
        memcpy(log->unescaped + used, begin, (size_t)(at - begin));
        used += (size_t)(at - begin);
        if (at == line->end)
            return false;
        if (*at == '"')
            break;
        bool is_escape = line->end - at > 1 && (at[1] == '"' || at[1] == '\\');
        log->unescaped[used++] = is_escape ? at[1] : '\\';
        begin = at + (is_escape ? 2 : 1);
    }
    *field = (struct span){ log->unescaped, used };
    line->at = at + 1;
    return true;
}

static bool is_empty(struct span field)
{
    return field.length == 0 || (field.length == 1 && field.bytes[0] == '-');
}

/* A cell, or null for "-". */
static void set_field(struct weblog *log, size_t column, struct span field)
{
    if (!is_empty(field))
        cf_set_str(log->requests, column, field.bytes, field.length);
}

static void set_target(struct weblog *log, struct span target)
{
    const char *mark = memchr(target.bytes, '?', target.length);
    size_t path = mark ? (size_t)(mark - target.bytes) : target.length;

    cf_set_str(log->requests, PATH, target.bytes, path);
    if (mark && path + 1 < target.length)
        cf_set_str(log->requests, QUERY, mark + 1, target.length - path - 1);
}

/* METHOD TARGET PROTOCOL; a request of another form is kept whole, as the path. */
static void set_request(struct weblog *log, struct span request)
{
    struct cursor rest = { request.bytes, request.bytes + request.length };
    struct span method, target;

    if (!take_word(&rest, &method) || !take_word(&rest, &target) || rest.at == rest.end ||
        memchr(rest.at, ' ', (size_t)(rest.end - rest.at))) {
        set_field(log, PATH, request);
        return;
    }
    cf_set_str(log->requests, METHOD, method.bytes, method.length);
    set_target(log, target);
    cf_set_str(log->requests, PROTOCOL, rest.at, (size_t)(rest.end - rest.at));
}

/* STATUS BYTES, up to a blank or the end of the line. */
static const char *read_status(struct weblog *log, struct cursor *line)
{
    size_t left = (size_t)(line->end - line->at);
    int status = left >= 5 ? digits(line->at, 3) : -1;
    int64_t bytes = 0;

    if (status < 100 || line->at[3] != ' ')
        return "the status is not a number from 100 to 999";
    cf_set_i64(log->requests, STATUS, status);
    line->at += 4;
    if (take(line, '-'))
        return line->at == line->end || *line->at == ' ' ? NULL
                                                         : "the number of bytes is malformed";
    const char *begin = line->at;
    for (; line->at < line->end && *line->at >= '0' && *line->at <= '9'; line->at++)
        if (__builtin_mul_overflow(bytes, 10, &bytes) ||
            __builtin_add_overflow(bytes, *line->at - '0', &bytes))
            return "the number of bytes is too large";
    if (line->at == begin || (line->at < line->end && *line->at != ' '))
        return "the number of bytes is malformed";
    cf_set_i64(log->requests, BYTES, bytes);
    return NULL;
}

/* The fields of the combined format, which may be missing together. */
static const char *read_combined(struct weblog *log, struct cursor *line)
{
    struct span field;

    if (line->at == line->end)
        return NULL;
    if (!take(line, ' ') || !take_quoted(log, line, &field))
        return "the referer is not a quoted field";
    set_field(log, REFERER, field);
    if (!take(line, ' ') || !take_quoted(log, line, &field))
        return "the user agent is not a quoted field";
    set_field(log, USER_AGENT, field);
    return line->at == line->end ? NULL : "there is text after the last field";
}

/* Set the cells of a row; what is wrong with the line, or NULL. */
static const char *read_line(struct weblog *log, struct cursor line)
{
    struct span host, ident, user, request;
    int64_t micros = 0;

    if (!take_word(&line, &host) || is_empty(host))
        return "there is no remote host";
    if (!take_word(&line, &ident) || !take_word(&line, &user))
        return "there is no time in brackets after three fields";
    if (line.end - line.at < TIME_BYTES + 3 || line.at[0] != '[')
        return "there is no time in brackets after three fields";
    if (line.at[TIME_BYTES + 1] != ']' || line.at[TIME_BYTES + 2] != ' ' ||
        !read_time(log, line.at + 1, &micros))
        return "the time is not of the form 10/Oct/2023:13:55:36 +0200";
    line.at += TIME_BYTES + 3;
    cf_set_i64(log->requests, LINE_NUMBER, log->line);
    cf_set_i64(log->requests, ROW_ID, log->line);
    cf_set_str(log->requests, REMOTE_HOST, host.bytes, host.length);
    set_field(log, IDENT, ident);
    set_field(log, USER, user);
    cf_set_ts(log->requests, TS, micros);
    if (!take_quoted(log, &line, &request))
        return "the request is not a quoted field";
    set_request(log, request);
    if (!take(&line, ' '))
        return "there is no status after the request";
    const char *reason = read_status(log, &line);
    return reason ? reason : read_combined(log, &line);
}

static void use_line(struct weblog *log, const char *at, size_t length)
{
    const char *reason = NULL;

    log->line++;
    if (length > 0 && at[length - 1] == '\r')
        length--;
    if (length == 0)
        return;
    if (length > LINE_BYTES_MAX) {
        reason = "line too long";
    } else {
        cf_row_new(log->requests);
        reason = read_line(log, (struct cursor){ at, at + length });
    }
    if (!reason)
        cf_row_commit(log->requests);
    else
        casparian_rejects_add(log->rejects, log->line, reason, at, length);
}

static void *weblog_open(cf_sink *sink, const casparian_source *source)
{
    static const cf_schema schema = { columns, sizeof columns / sizeof columns[0], NULL, false };
    struct weblog *log = calloc(1, sizeof *log);

    (void)source;
    if (!log)
        return NULL;
    log->sink = sink;
    memcpy(log->date, "01/Jan/1970", DATE_BYTES);
    log->requests = cf_output_open(sink, "http_requests", &schema);
    log->rejects = casparian_rejects_open(sink, "http_parse_errors");
    return log;
}

static size_t weblog_feed(void *state, const char *bytes, size_t length, bool is_last)
{
    struct weblog *log = state;
    const char *at = bytes, *end = bytes + length;

    while (at < end && cf_sink_status(log->sink) == CF_OK) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline && !is_last && end - at <= LINE_BYTES_MAX + 1 && !log->is_skipping)
            return (size_t)(at - bytes);
        const char *stop = newline ? newline : end;
        if (!log->is_skipping)
            use_line(log, at, (size_t)(stop - at));
        log->is_skipping = !newline;
        at = newline ? newline + 1 : end;
    }
    return length;
}

static int weblog_close(void *state)
{
    struct weblog *log = state;

    cf_output_close(log->requests);
    cf_output_close(log->rejects);
    free(log);
    return 0;
}

const casparian_parser casparian_weblog = {
    .id = "weblog_native",
    .version = "0.1.0",
    .record_max = LINE_BYTES_MAX + 1, /* with a CR */
    .open = weblog_open,
    .feed = weblog_feed,
    .close = weblog_close,
};
