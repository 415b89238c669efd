/*
 * fix.c - the rules of suggested fixes, each a function named after its family: N, T, F and S.
 */
#include "check/fix.h"

#include <stdio.h>
#include <string.h>

enum { DECIMAL_PRECISION_USUAL = 18, EDITS_MAX = 2, NAME_SIZE = CASPARIAN_COLUMN_NAME_MAX + 1 };

/* T4 takes the first of these that fits; the patterns stand between FLOAT64 and TIME. */
static const casparian_candidate before_patterns[] = {
    CASPARIAN_FITS_BOOLEAN,
    CASPARIAN_FITS_INT64,
    CASPARIAN_FITS_DECIMAL,
    CASPARIAN_FITS_FLOAT64,
};
static const casparian_candidate behind_patterns[] = {
    CASPARIAN_FITS_TIME,
    CASPARIAN_FITS_DURATION,
    CASPARIAN_FITS_BINARY,
};

static casparian_kind kind_of(const casparian_patterns *patterns, casparian_candidate candidate)
{
    static const casparian_kind kinds[] = {
        [CASPARIAN_FITS_BOOLEAN] = CASPARIAN_KIND_BOOLEAN,
        [CASPARIAN_FITS_INT64] = CASPARIAN_KIND_INT64,
        [CASPARIAN_FITS_DECIMAL] = CASPARIAN_KIND_DECIMAL,
        [CASPARIAN_FITS_FLOAT64] = CASPARIAN_KIND_FLOAT64,
        [CASPARIAN_FITS_TIME] = CASPARIAN_KIND_TIME,
        [CASPARIAN_FITS_DURATION] = CASPARIAN_KIND_DURATION,
        [CASPARIAN_FITS_BINARY] = CASPARIAN_KIND_BINARY,
        [CASPARIAN_FITS_STRING] = CASPARIAN_KIND_STRING,
    };
    if ((int)candidate >= CASPARIAN_FORMATS)
        return kinds[candidate];
    switch (patterns->items[candidate].kind) {
    case CASPARIAN_TEMPORAL_DATE:
        return CASPARIAN_KIND_DATE;
    case CASPARIAN_TEMPORAL_TIMESTAMP_TZ:
        return CASPARIAN_KIND_TIMESTAMP_TZ;
    default:
        return CASPARIAN_KIND_TIMESTAMP;
    }
}

/* The decimal of at least `scale` digits behind the point that takes every number of the profile.
 * @return false: it would have more than 38 digits */
static bool decimal_for(casparian_decimal_type *out, const casparian_profile *profile,
                        size_t precision, size_t scale)
{
    scale = profile->fraction > scale ? profile->fraction : scale;
    if (profile->whole + scale > CASPARIAN_DECIMAL_PRECISION_MAX)
        return false;
    precision = profile->whole + scale > precision ? profile->whole + scale : precision;
    *out = (casparian_decimal_type){ (uint8_t)precision, (uint8_t)scale };
    return true;
}

/* Whether a change makes rows valid, and never more of them invalid. */
static bool helps(const casparian_fault *fault, casparian_candidate candidate)
{
    const casparian_fits *fits = &fault->profile->of[candidate];
    int64_t lost = casparian_profile_lost(fault->profile, candidate);
    if (fits->won == 0)
        return false;
    return lost == 0 || (!fault->must_not_lose && fits->healed > lost);
}

static bool is_rare(const casparian_fault *fault)
{
    return fault->count * 100 < fault->rows;
}

static void change_type(casparian_fix *out, const casparian_fault *fault,
                        casparian_candidate candidate)
{
    out->action = CASPARIAN_CHANGE_TYPE;
    out->from = fault->column->type;
    out->to.kind = kind_of(fault->patterns, candidate);
    if (out->to.kind == CASPARIAN_KIND_TIMESTAMP_TZ)
        out->to.zone = "UTC";
    bool has_texts = fault->profile->kinds >> CASPARIAN_KIND_STRING & 1;
    if ((int)candidate < CASPARIAN_FORMATS && has_texts)
        out->pattern = fault->patterns->items[candidate].text;
}

static bool change_to_decimal(casparian_fix *out, const casparian_fault *fault, size_t precision,
                              size_t scale)
{
    casparian_decimal_type type;
    if (!casparian_profile_all(fault->profile, fault->patterns, CASPARIAN_FITS_DECIMAL) ||
        !helps(fault, CASPARIAN_FITS_DECIMAL) ||
        !decimal_for(&type, fault->profile, precision, scale))
        return false;
    change_type(out, fault, CASPARIAN_FITS_DECIMAL);
    out->to.decimal = type;
    return true;
}

/* ---- type_mismatch --------------------------------------------------------------------------- */

/* T1 and F3. */
static bool only_sentinels(casparian_fix *out, const casparian_fault *fault)
{
    if (fault->count == 0 || fault->sentinels != fault->count)
        return false;
    if (!fault->column->is_nullable)
        out->action = CASPARIAN_MAKE_NULLABLE;
    snprintf(out->hint, sizeof out->hint,
             "every value that does not fit stands for no value; let the parser emit null instead");
    return true;
}

static bool change_to_candidate(casparian_fix *out, const casparian_fault *fault,
                                casparian_candidate candidate)
{
    casparian_kind kind = kind_of(fault->patterns, candidate);
    if (kind == fault->column->type.kind)
        return false;
    if (candidate == CASPARIAN_FITS_DECIMAL)
        return change_to_decimal(out, fault, DECIMAL_PRECISION_USUAL, 0);
    if (!casparian_profile_all(fault->profile, fault->patterns, candidate) ||
        !helps(fault, candidate))
        return false;
    change_type(out, fault, candidate);
    return true;
}

/* T4: dates before timestamps, these before instants. */
static bool change_to_first(casparian_fix *out, const casparian_fault *fault)
{
    static const casparian_temporal order[] = {
        CASPARIAN_TEMPORAL_DATE,
        CASPARIAN_TEMPORAL_TIMESTAMP,
        CASPARIAN_TEMPORAL_TIMESTAMP_TZ,
    };
    for (size_t i = 0; i < sizeof before_patterns / sizeof before_patterns[0]; i++) {
        if (change_to_candidate(out, fault, before_patterns[i]))
            return true;
    }
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        for (int i = 0; i < CASPARIAN_FORMATS; i++) {
            if (fault->patterns->items[i].kind == order[k] &&
                change_to_candidate(out, fault, (casparian_candidate)i))
                return true;
        }
    }
    for (size_t i = 0; i < sizeof behind_patterns / sizeof behind_patterns[0]; i++) {
        if (change_to_candidate(out, fault, behind_patterns[i]))
            return true;
    }
    return false;
}

/* T6 and F4. */
static void change_to_string(casparian_fix *out, const casparian_fault *fault)
{
    if (fault->column->type.kind != CASPARIAN_KIND_STRING && helps(fault, CASPARIAN_FITS_STRING)) {
        change_type(out, fault, CASPARIAN_FITS_STRING);
        return;
    }
    snprintf(out->hint, sizeof out->hint,
             "no other type takes more of these values; let the parser emit one type");
}

static void choose_type(casparian_fix *out, const casparian_fault *fault)
{
    const casparian_type *type = &fault->column->type;
    if (only_sentinels(out, fault) || !fault->profile)
        return;
    if (type->kind == CASPARIAN_KIND_INT64 &&
        change_to_decimal(out, fault, DECIMAL_PRECISION_USUAL, 0)) /* T2 */
        return;
    if (type->kind == CASPARIAN_KIND_DECIMAL &&
        change_to_decimal(out, fault, type->decimal.precision, type->decimal.scale)) /* T3 */
        return;
    if (change_to_first(out, fault)) /* T4 */
        return;
    if (is_rare(fault)) { /* T5 */
        snprintf(out->hint, sizeof out->hint,
                 "fewer than 1 %% of the rows: leave them to quarantine, or repair them in the "
                 "parser");
        return;
    }
    change_to_string(out, fault);
}

/* ---- format_mismatch ------------------------------------------------------------------------- */

static bool can_be_format(const casparian_fault *fault, int pattern)
{
    casparian_temporal kind = fault->patterns->items[pattern].kind;
    switch (fault->column->type.kind) {
    case CASPARIAN_KIND_DATE:
        return kind == CASPARIAN_TEMPORAL_DATE;
    case CASPARIAN_KIND_TIMESTAMP:
        return kind == CASPARIAN_TEMPORAL_TIMESTAMP;
    case CASPARIAN_KIND_TIMESTAMP_TZ: /* a text without an offset is in the column's zone */
        return kind != CASPARIAN_TEMPORAL_DATE;
    default:
        return false;
    }
}

/* F1: every pattern that reads all values. */
static bool change_to_survivor(casparian_fix *out, const casparian_fault *fault)
{
    bool is_day_first = false, is_month_first = false;
    size_t count = 0;
    for (int i = 0; i < CASPARIAN_FORMATS; i++) {
        const char *text = fault->patterns->items[i].text;
        if (!can_be_format(fault, i) ||
            !casparian_profile_all(fault->profile, fault->patterns, (casparian_candidate)i) ||
            !helps(fault, (casparian_candidate)i))
            continue;
        is_day_first |= text[1] == 'd';
        is_month_first |= text[1] == 'm';
        if (count++ == 0)
            out->pattern = text;
        else
            out->alternatives[out->alternative_count++] = text;
    }
    if (count > 0)
        out->action = CASPARIAN_CHANGE_FORMAT;
    if (is_day_first && is_month_first)
        snprintf(out->hint, sizeof out->hint,
                 "ambiguous: the values can be read with the day first and with the month first");
    return count > 0;
}

/* F2: the pattern that reads the most, if that is 90 %. */
static bool change_to_most(casparian_fix *out, const casparian_fault *fault)
{
    const casparian_profile *profile = fault->profile;
    int64_t values = profile->cells - profile->sentinels;
    int best = -1;
    for (int i = 0; i < CASPARIAN_FORMATS; i++) {
        int64_t fits = profile->of[i].fits;
        size_t digits = fault->patterns->items[i].digits;
        if (can_be_format(fault, i) && fits * 10 >= values * 9 &&
            helps(fault, (casparian_candidate)i) &&
            (digits == 0 || (profile->shortest == digits && profile->longest == digits)) &&
            (best < 0 || fits > profile->of[best].fits))
            best = i;
    }
    if (best < 0)
        return false;
    out->action = CASPARIAN_CHANGE_FORMAT;
    out->pattern = fault->patterns->items[best].text;
    snprintf(out->hint, sizeof out->hint, "%.1f %% of the values have this format",
             100.0 * (double)profile->of[best].fits / (double)values);
    return true;
}

static void choose_format(casparian_fix *out, const casparian_fault *fault)
{
    if (fault->has_type_mismatch) {
        choose_type(out, fault);
        return;
    }
    if (fault->profile && (change_to_survivor(out, fault) || change_to_most(out, fault)))
        return;
    if (!only_sentinels(out, fault) && fault->profile)
        change_to_string(out, fault);
}

/* ---- structure ------------------------------------------------------------------------------- */

static void choose_extra(casparian_fix *out, const casparian_fault *fault)
{
    if (fault->is_structural_fixed &&
        casparian_fix_type_of(&out->to, fault->profile, fault->patterns)) {
        out->action = CASPARIAN_ADD_COLUMN;
        out->name = fault->name;
    } else if (2 * fault->count < fault->rows) {
        snprintf(out->hint, sizeof out->hint,
                 "a rare extra column: drop it in the parser, or use mode allow_extra");
    } else {
        snprintf(out->hint, sizeof out->hint,
                 "rows differ in their columns: let the parser emit the same columns in each row, "
                 "or use mode allow_extra");
    }
}

static void choose_missing(casparian_fix *out, const casparian_fault *fault)
{
    if (fault->is_structural_fixed) {
        out->action = CASPARIAN_REMOVE_COLUMN;
        out->name = fault->name;
    }
    if (fault->renamed)
        snprintf(out->hint, sizeof out->hint, "the column looks renamed to '%.128s'",
                 fault->renamed);
    else if (2 * fault->count < fault->rows)
        snprintf(out->hint, sizeof out->hint,
                 "let the parser emit null, or make the column nullable and use mode "
                 "allow_missing_optional");
    else if (!fault->is_structural_fixed)
        snprintf(out->hint, sizeof out->hint,
                 "rows differ in their columns: let the parser emit the same columns in each row");
}

void casparian_fix_choose(casparian_fix *out, const casparian_fault *fault)
{
    *out = (casparian_fix){ .action = CASPARIAN_NO_FIX };
    switch (fault->violation) {
    case CASPARIAN_VIOLATION_NULL_NOT_ALLOWED: /* N1 */
        out->action = CASPARIAN_MAKE_NULLABLE;
        if (is_rare(fault))
            snprintf(out->hint, sizeof out->hint,
                     "fewer than 1 %% of the rows: leaving them to quarantine is an alternative");
        break;
    case CASPARIAN_VIOLATION_TYPE_MISMATCH:
        choose_type(out, fault);
        break;
    case CASPARIAN_VIOLATION_FORMAT_MISMATCH:
        choose_format(out, fault);
        break;
    default:
        if (fault->column)
            choose_missing(out, fault);
        else
            choose_extra(out, fault);
    }
}

/* ---- the type of an extra column ------------------------------------------------------------- */

static bool has_only(const casparian_profile *profile, casparian_kind kind)
{
    return profile->kinds == 1u << kind;
}

/* A pattern is no type of its own here, as the suggestion has no format: texts stay texts. */
bool casparian_fix_type_of(casparian_type *out, const casparian_profile *profile,
                           const casparian_patterns *patterns)
{
    *out = (casparian_type){ .kind = CASPARIAN_KIND_STRING };
    if (!profile)
        return false;
    if (profile->kinds == 0 || has_only(profile, CASPARIAN_KIND_STRING))
        return true;
    for (int kind = CASPARIAN_KIND_BOOLEAN; kind < CASPARIAN_KIND_COUNT; kind++) {
        if (kind == CASPARIAN_KIND_DECIMAL || !has_only(profile, (casparian_kind)kind))
            continue;
        out->kind = (casparian_kind)kind;
        out->zone = kind == CASPARIAN_KIND_TIMESTAMP_TZ ? "UTC" : NULL;
        return true;
    }
    if (profile->kinds == (1u << CASPARIAN_KIND_DATE | 1u << CASPARIAN_KIND_TIMESTAMP)) {
        out->kind = CASPARIAN_KIND_TIMESTAMP;
        return true;
    }
    for (size_t i = 0; i < sizeof before_patterns / sizeof before_patterns[0]; i++) {
        casparian_candidate candidate = before_patterns[i];
        if (profile->of[candidate].fits != profile->cells ||
            (candidate == CASPARIAN_FITS_DECIMAL &&
             !decimal_for(&out->decimal, profile, DECIMAL_PRECISION_USUAL, 0)))
            continue;
        out->kind = kind_of(patterns, candidate);
        return true;
    }
    return false;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_change(const casparian_fix *self, mcp_json_writer *out)
{
    mcp_write_member_string(out, "action", "change_type");
    mcp_write_name(out, "from");
    casparian_type_write(out, &self->from);
    mcp_write_name(out, "to");
    casparian_type_write(out, &self->to);
    if (self->pattern)
        mcp_write_member_string(out, "format", self->pattern);
}

static void write_format(const casparian_fix *self, mcp_json_writer *out)
{
    mcp_write_member_string(out, "action", "change_format");
    mcp_write_member_string(out, "suggested", self->pattern);
    if (self->alternative_count == 0)
        return;
    mcp_write_member_array(out, "alternatives");
    for (size_t i = 0; i < self->alternative_count; i++)
        mcp_write_string(out, self->alternatives[i]);
    mcp_write_end(out);
}

static void write_column(const casparian_fix *self, mcp_json_writer *out)
{
    bool adds = self->action == CASPARIAN_ADD_COLUMN;
    mcp_write_member_string(out, "action", adds ? "add_column" : "remove_column");
    mcp_write_member_string(out, "name", self->name);
    if (!adds)
        return;
    mcp_write_name(out, "type");
    casparian_type_write(out, &self->to);
}

void casparian_fix_write(const casparian_fix *self, mcp_json_writer *out)
{
    if (self->action != CASPARIAN_NO_FIX) {
        mcp_write_member_object(out, "suggested_fix");
        if (self->action == CASPARIAN_CHANGE_TYPE)
            write_change(self, out);
        else if (self->action == CASPARIAN_CHANGE_FORMAT)
            write_format(self, out);
        else if (self->action == CASPARIAN_MAKE_NULLABLE)
            mcp_write_member_string(out, "action", "make_nullable");
        else
            write_column(self, out);
        mcp_write_end(out);
    }
    if (self->hint[0] != '\0')
        mcp_write_member_string(out, "hint", self->hint);
}

/* ---- names ----------------------------------------------------------------------------------- */

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool are_equal_loosely(const char *a, const char *b)
{
    for (;;) {
        while (*a == '_')
            a++;
        while (*b == '_')
            b++;
        if (lower(*a) != lower(*b))
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

/* Levenshtein's distance, one row of the table at a time. */
static size_t edits_between(const char *a, const char *b)
{
    size_t row[NAME_SIZE];
    size_t height = strlen(a), width = strlen(b);
    for (size_t k = 0; k <= width; k++)
        row[k] = k;
    for (size_t i = 1; i <= height; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= width; k++) {
            size_t least = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            least = row[k] + 1 < least ? row[k] + 1 : least;
            row[k] = row[k - 1] + 1 < least ? row[k - 1] + 1 : least;
        }
    }
    return row[width];
}

bool casparian_names_look_alike(const char *a, const char *b)
{
    size_t height = strlen(a), width = strlen(b);
    if (are_equal_loosely(a, b))
        return true;
    if (height >= NAME_SIZE || width >= NAME_SIZE || height > width + EDITS_MAX ||
        width > height + EDITS_MAX)
        return false;
    return edits_between(a, b) <= EDITS_MAX;
}
