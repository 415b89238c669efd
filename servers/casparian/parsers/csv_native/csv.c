/*
 * csv.c - delimited text: RFC 4180, read as leniently as spreadsheets do.
 *
 * A record ends at LF or CRLF outside of quotes; at CR where lines end so and none of the beginning
 * ends with LF. A cell that begins with a quote ends at the next quote that is not doubled; what
 * follows up to the delimiter belongs to the cell, too. A quote elsewhere is a byte as any other.
 * Lines without a byte are no records.
 *
 * A record of more than 1 MiB, or one whose quote is not closed, is a row of csv_parse_errors, and
 * reading continues at the line after its first one. So a hostile file could have the same bytes
 * scanned again for each of its lines: `wasted` bounds that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsers/csv_native/csv.h"
#include "parsers/csv_native/header.h"
#include "parsers/input/rejects.h"
#include "parsers/input/scan.h"

#define RECORD_BYTES_MAX ((size_t)1 << 20)
#define WASTED_BYTES_MAX ((size_t)256 << 20)
enum { GUESS_BYTES = 64 << 10 };

struct csv {
    cf_sink *sink;
    cf_output *rejects;
    struct casparian_csv_header header;
    int64_t line;     /* of the next byte */
    size_t wasted;    /* bytes of records that were given up */
    char delimiter;   /* 0: not known yet */
    char line_end;    /* LF, with a CR before it or not; or CR */
    bool is_begun;    /* past the byte order mark */
    bool has_header;  /* the columns are known */
    bool is_skipping; /* the rest of a line that is too long */
    bool has_failed;
    char unescaped[1 << 20];
};

static const char too_long[] = "the record is longer than 1 MiB";
static const char quote_too_long[] = "a quote is not closed within 1 MiB";

enum outcome { RECORD, UNFINISHED, MALFORMED };

/* A record that is being read. */
struct record {
    const char *begin;
    const char *at;
    const char *end;
    bool is_last;  /* there is nothing behind `end` */
    bool can_grow; /* there may be more, and the record is not too long yet */
    bool is_cut;   /* `end` is that of the longest record, not of the input */
    size_t cells;
    int64_t lines; /* ends of lines in quotes */
    const char *reason;
};

static enum outcome malformed(struct record *record, const char *reason)
{
    record->reason = reason;
    return MALFORMED;
}

static bool set_cell(struct csv *csv, struct record *record, const char *bytes, size_t length)
{
    struct casparian_csv_header *header = &csv->header;
    size_t cell = record->cells++;

    if (!csv->has_header && header->is_named) {
        record->reason = casparian_csv_header_add(header, bytes, length);
        return !record->reason;
    }
    if (!csv->has_header) {
        record->reason = casparian_csv_header_add(header, "", 0);
        if (record->reason)
            return false;
    }
    size_t column = casparian_csv_header_column(header, cell);
    if (column == CF_NO_COLUMN) {
        record->reason = "the record has more than 2000 cells";
        return false;
    }
    cf_set_str(header->rows, column, bytes, length);
    return true;
}

static int64_t count_lines(const struct csv *csv, const char *at, const char *end)
{
    int64_t count = 0;

    for (; at < end; at++)
        count += *at == csv->line_end;
    return count;
}

/* The place behind an unquoted cell, or the rest of a quoted one: the delimiter, the end of the
 * line, or that of the input. `*cell_end` is without the CR of a CRLF. */
static const char *end_of_cell(const struct csv *csv, const struct record *record, const char *at,
                               const char **cell_end)
{
    const char *stop = casparian_find_either(at, record->end, csv->delimiter, csv->line_end);
    bool is_end_of_line = stop == record->end || *stop == csv->line_end;
    bool has_cr = csv->line_end == '\n' && stop > at && stop[-1] == '\r';

    *cell_end = is_end_of_line && has_cr ? stop - 1 : stop;
    return stop;
}

/* The quoted cell at `record->at`: its bytes are put together in `unescaped` where it has a doubled
 * quote or text behind the quotes. */
static enum outcome read_quoted(struct csv *csv, struct record *record)
{
    const char *begin = record->at + 1, *cell_end = NULL;
    size_t used = 0;

    for (;;) {
        const char *quote = memchr(begin, '"', (size_t)(record->end - begin));
        if (!quote) {
            record->at = record->end;
            return record->can_grow ? UNFINISHED
                                    : malformed(record, record->is_cut ? quote_too_long
                                                                       : "a quote is not closed");
        }
        size_t length = (size_t)(quote - begin);
        bool is_doubled = quote + 1 < record->end && quote[1] == '"';
        record->lines += count_lines(csv, begin, quote);
        if (!is_doubled && used == 0) {
            const char *stop = end_of_cell(csv, record, quote + 1, &cell_end);
            record->at = stop;
            if (cell_end == quote + 1)
                return set_cell(csv, record, begin, length) ? RECORD : MALFORMED;
        }
        if (used + length + 1 > sizeof csv->unescaped)
            return malformed(record, too_long);
        memcpy(csv->unescaped + used, begin, length);
        used += length;
        begin = quote + 1;
        if (!is_doubled)
            break;
        csv->unescaped[used++] = '"';
        begin = quote + 2;
    }
    record->at = end_of_cell(csv, record, begin, &cell_end);
    size_t rest = (size_t)(cell_end - begin);
    if (used + rest > sizeof csv->unescaped)
        return malformed(record, too_long);
    memcpy(csv->unescaped + used, begin, rest);
    return set_cell(csv, record, csv->unescaped, used + rest) ? RECORD : MALFORMED;
}

static enum outcome read_cell(struct csv *csv, struct record *record)
{
    const char *begin = record->at, *cell_end = NULL;

    if (begin < record->end && *begin == '"')
        return read_quoted(csv, record);
    record->at = end_of_cell(csv, record, begin, &cell_end);
    return set_cell(csv, record, begin, (size_t)(cell_end - begin)) ? RECORD : MALFORMED;
}

/* Read the record at `record->at` and leave that behind it. */
static enum outcome read_record(struct csv *csv, struct record *record)
{
    for (;;) {
        enum outcome outcome = read_cell(csv, record);
        if (outcome != RECORD)
            return outcome;
        if (record->at == record->end && record->is_last)
            return RECORD;
        if (record->at == record->end)
            return record->can_grow ? UNFINISHED : malformed(record, too_long);
        if (*record->at++ == csv->line_end)
            return RECORD;
    }
}

/* The bytes of the first line that is not empty, up to its end outside of quotes. */
static size_t first_line(const char *bytes, size_t length)
{
    bool is_quoted = false;
    size_t at = 0;

    for (; at < length; at++) {
        bool is_end = bytes[at] == '\n' || bytes[at] == '\r';
        if (is_end && !is_quoted && at > 0 && bytes[at - 1] != '\n' && bytes[at - 1] != '\r')
            break;
        is_quoted = is_quoted != (bytes[at] == '"');
    }
    return at;
}

/* The delimiter that is most frequent outside of quotes; 0: there is none. */
static char most_frequent(const char *bytes, size_t length)
{
    static const char candidates[] = { ',', ';', '|', '\t' };
    size_t counts[256] = { 0 }, most = 0;
    bool is_quoted = false;
    char best = '\0';

    for (size_t i = 0; i < length; i++) {
        is_quoted = is_quoted != (bytes[i] == '"');
        counts[(unsigned char)bytes[i]] += !is_quoted;
    }
    for (size_t i = 0; i < sizeof candidates; i++) {
        size_t count = counts[(unsigned char)candidates[i]];
        best = count > most ? candidates[i] : best;
        most = count > most ? count : most;
    }
    return best;
}

/* That of the first line, since the rows may have more decimal commas than delimiters. Where it has
 * none, that of the beginning of the file. */
static char guess_delimiter(const char *bytes, size_t length)
{
    size_t beginning = length < GUESS_BYTES ? length : GUESS_BYTES;
    char first = most_frequent(bytes, first_line(bytes, beginning));
    char any = first ? first : most_frequent(bytes, beginning);

    return any ? any : ',';
}

/* CR where no line of the beginning ends with LF, but some with CR outside of quotes. */
static char guess_line_end(const char *bytes, size_t length)
{
    bool is_quoted = false, has_cr = false;

    for (size_t i = 0; i < length && i < GUESS_BYTES; i++) {
        if (bytes[i] == '\n')
            return '\n';
        is_quoted = is_quoted != (bytes[i] == '"');
        has_cr = has_cr || (bytes[i] == '\r' && !is_quoted && i + 1 < length);
    }
    return has_cr ? '\r' : '\n';
}

static bool is_utf16(const char *bytes, size_t length)
{
    return length >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0);
}

/* The first two characters are ASCII in UTF-16. */
static bool seems_utf16(const char *bytes, size_t length)
{
    return length >= 4 && ((bytes[0] && !bytes[1] && bytes[2] && !bytes[3]) ||
                           (!bytes[0] && bytes[1] && !bytes[2] && bytes[3]));
}

static void give_up(struct csv *csv, const char *reason)
{
    cf_error(csv->sink, reason);
    csv->has_failed = true;
}

/* The first line of the record becomes a row of errors; returns the place behind it. */
static const char *reject(struct csv *csv, const struct record *record, const char *end)
{
    const char *newline = memchr(record->begin, csv->line_end, (size_t)(end - record->begin));
    const char *stop = newline ? newline : end;

    casparian_rejects_add(csv->rejects, csv->line, record->reason, record->begin,
                          (size_t)(stop - record->begin));
    if (record->at > stop)
        csv->wasted += (size_t)(record->at - stop);
    if (csv->wasted > WASTED_BYTES_MAX)
        give_up(csv, "too many records have a quote that is not closed: is the delimiter right?");
    csv->line++;
    csv->is_skipping = !newline;
    return newline ? newline + 1 : end;
}

/* The place behind a line end at `at`, or `at`: there is none. */
static const char *skip_line_end(const struct csv *csv, const char *at, const char *end)
{
    const char *next = csv->line_end == '\n' && at < end && *at == '\r' ? at + 1 : at;

    return next < end && *next == csv->line_end ? next + 1 : at;
}

/* The record was read. */
static void finish_record(struct csv *csv, const struct record *record)
{
    bool is_row = csv->has_header || !csv->header.is_named;

    if (is_row) {
        cf_row_id(csv->header.rows, csv->line);
        cf_row_commit(csv->header.rows);
    }
    csv->has_header = true;
    csv->line += 1 + record->lines;
}

/* Use the record at `at`; returns the place behind it, or `at`: it is not finished. */
static const char *use_record(struct csv *csv, const char *at, const char *end, bool is_last)
{
    bool is_cut = (size_t)(end - at) > RECORD_BYTES_MAX;
    struct record record = { .begin = at,
                             .at = at,
                             .end = is_cut ? at + RECORD_BYTES_MAX : end,
                             .is_last = is_last && !is_cut,
                             .can_grow = !is_last && !is_cut,
                             .is_cut = is_cut };

    if (!csv->has_header)
        casparian_csv_header_clear(&csv->header);
    cf_row_new(csv->header.rows);
    enum outcome outcome = read_record(csv, &record);
    if (outcome == UNFINISHED)
        return at;
    if (outcome == MALFORMED && !csv->has_header && csv->header.is_named) {
        give_up(csv, record.reason);
        return end;
    }
    if (outcome == MALFORMED)
        return reject(csv, &record, end);
    finish_record(csv, &record);
    return record.at;
}

/* The byte order mark, the line ends and the delimiter; false: more bytes are needed for that. */
static bool begin(struct csv *csv, const char **at, const char *end, bool is_last)
{
    size_t length = (size_t)(end - *at);

    if (length < GUESS_BYTES && !is_last)
        return false;
    if (csv->delimiter == 0)
        csv->delimiter = guess_delimiter(*at, length);
    csv->line_end = guess_line_end(*at, length);
    if (is_utf16(*at, length))
        give_up(csv, "the file is UTF-16: convert it, as by iconv -f UTF-16 -t UTF-8");
    else if (seems_utf16(*at, length))
        give_up(csv, "the file seems to be UTF-16 without a byte order mark: convert it, as by "
                     "iconv -f UTF-16LE -t UTF-8");
    if (length >= 3 && memcmp(*at, "\xEF\xBB\xBF", 3) == 0)
        *at += 3;
    csv->is_begun = true;
    return true;
}

static size_t csv_feed(void *state, const char *bytes, size_t length, bool is_last)
{
    struct csv *csv = state;
    const char *at = bytes, *end = bytes + length;

    if (!csv->is_begun && !begin(csv, &at, end, is_last))
        return 0;
    while (at < end && !csv->has_failed && cf_sink_status(csv->sink) == CF_OK) {
        if (csv->is_skipping) {
            const char *newline = memchr(at, csv->line_end, (size_t)(end - at));
            csv->is_skipping = !newline;
            at = newline ? newline + 1 : end;
            continue;
        }
        const char *next = skip_line_end(csv, at, end);
        if (next != at) {
            csv->line++;
            at = next;
            continue;
        }
        next = use_record(csv, at, end, is_last);
        if (next == at)
            return (size_t)(at - bytes);
        at = next;
    }
    return length;
}

/* The delimiter of CSV_DELIMITER: a byte, or "tab" or "\t"; 0 where it is not set. */
static bool read_delimiter(const char *text, char *delimiter)
{
    *delimiter = '\0';
    if (!text || text[0] == '\0')
        return true;
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0)
        *delimiter = '\t';
    else if (text[1] == '\0' && !strchr("\"\r\n", text[0]))
        *delimiter = text[0];
    return *delimiter != '\0';
}

static void *csv_open(cf_sink *sink, const casparian_source *source)
{
    static const cf_schema open = { NULL, 0, NULL, true };
    const char *header = getenv("CSV_HEADER");
    struct csv *csv = calloc(1, sizeof *csv);

    (void)source;
    if (!csv)
        return NULL;
    if (!read_delimiter(getenv("CSV_DELIMITER"), &csv->delimiter)) {
        cf_error(sink, "CSV_DELIMITER must be one byte, or tab");
        free(csv);
        return NULL;
    }
    csv->sink = sink;
    csv->line = 1;
    csv->header.is_named = !header || strcmp(header, "0") != 0;
    csv->header.rows = cf_output_open(sink, "rows", &open);
    csv->rejects = casparian_rejects_open(sink, "csv_parse_errors");
    return csv;
}

static int csv_close(void *state)
{
    struct csv *csv = state;
    int result = csv->has_failed ? 1 : 0;

    cf_output_close(csv->header.rows);
    cf_output_close(csv->rejects);
    casparian_csv_header_clear(&csv->header);
    free(csv);
    return result;
}

const casparian_parser casparian_csv = {
    .id = "csv_native",
    .version = "0.1.0",
    .record_max = RECORD_BYTES_MAX,
    .open = csv_open,
    .feed = csv_feed,
    .close = csv_close,
};
