/*
 * fields.c - applies a table of members to a JSON object.
 *
 * The order in a table matters in one way only: a parent object that may not be null precedes its
 * children, because a child's path that meets null counts as absent. Integers must be written as
 * JSON integers; real members take both. Texts become C strings here, so a NUL in them is refused.
 */
#include "case/fields.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 192 };

static const char *const type_words[] = {
    [COBRE_FIELD_BOOL] = "boolean",   [COBRE_FIELD_INT32] = "integer",
    [COBRE_FIELD_UINT32] = "integer", [COBRE_FIELD_INT64] = "integer",
    [COBRE_FIELD_REAL] = "number",    [COBRE_FIELD_TEXT] = "string",
    [COBRE_FIELD_CHOICE] = "string",  [COBRE_FIELD_DATE] = "string (YYYY-MM-DD)",
    [COBRE_FIELD_ARRAY] = "array",    [COBRE_FIELD_OBJECT] = "object",
    [COBRE_FIELD_ANY] = "value",
};

/* ---- registries ------------------------------------------------------------------------------ */

static const struct names {
    const char *file, *noun;
} names[COBRE_REGISTRY_COUNT] = {
    [COBRE_BUSES] = { "system/buses.json", "bus" },
    [COBRE_LINES] = { "system/lines.json", "line" },
    [COBRE_HYDROS] = { "system/hydros.json", "hydro" },
    [COBRE_THERMALS] = { "system/thermals.json", "thermal" },
    [COBRE_SOURCES] = { "system/non_controllable_sources.json", "source" },
    [COBRE_STATIONS] = { "system/pumping_stations.json", "pumping station" },
    [COBRE_CONTRACTS] = { "system/energy_contracts.json", "contract" },
    [COBRE_CONSTRAINTS] = { "constraints/generic_constraints.json", "constraint" },
    [COBRE_STUDY_STAGES] = { "stages.json", "stage" },
};

const char *cobre_registry_file(cobre_registry registry)
{
    return names[registry].file;
}

const char *cobre_registry_noun(cobre_registry registry)
{
    return names[registry].noun;
}

/* ---- the problems ---------------------------------------------------------------------------- */

cobre_finding cobre_reader_finding(const cobre_reader *reader, cobre_kind kind, const char *path)
{
    return (cobre_finding){
        .severity = COBRE_SEVERITY_ERROR,
        .kind = kind,
        .layer = 2,
        .file = reader->file,
        .noun = reader->noun,
        .has_entity_id = reader->has_id,
        .entity_id = reader->id,
        .entity_name = reader->name,
        .row = reader->row,
        .field = path,
    };
}

static void report(cobre_reader *reader, cobre_finding *finding)
{
    reader->failed = true;
    cobre_report_add(reader->report, finding);
}

void cobre_reader_missing(cobre_reader *reader, const char *path)
{
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_SCHEMA_VIOLATION, path);

    finding.message = cobre_report_text(reader->report, "%s: required field is missing", path);
    finding.suggestion = cobre_report_text(reader->report, "Add %s to %s.", path,
                                           reader->noun ? reader->noun : reader->file);
    finding.members = COBRE_MEMBERS(COBRE_TEXT("expected", "a value"), COBRE_NULL("actual"));
    report(reader, &finding);
}

void cobre_reader_type(cobre_reader *reader, const char *path, const char *expected,
                       const mcp_json *value)
{
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_TYPE_MISMATCH, path);
    const char *actual = mcp_json_type_name(mcp_json_type_of(value));

    finding.message = cobre_report_text(reader->report, "%s must be of type %s, but is %s", path,
                                        expected, actual);
    finding.suggestion = cobre_report_text(reader->report, "Write %s as %s.", path, expected);
    finding.members = COBRE_MEMBERS(COBRE_TEXT("expected_type", expected),
                                    COBRE_TEXT("actual_type", actual));
    report(reader, &finding);
}

void cobre_reader_range(cobre_reader *reader, const char *path, double value, double min,
                        double max, const char *rule)
{
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_OUT_OF_RANGE, path);

    finding.message = cobre_report_text(reader->report, "%s is %.12g, but %s", path, value, rule);
    finding.suggestion = cobre_report_text(reader->report, "Check the value of %s: it %s.", path,
                                           rule);
    finding.members = COBRE_MEMBERS(COBRE_REAL("value", value), COBRE_REAL("min", min),
                                    COBRE_REAL("max", max));
    report(reader, &finding);
}

/* "a, b, c" of a list that ends with NULL; truncated where it is too long. */
static const char *joined(char *text, size_t size, const char *const *list)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; list[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", list[i]);
    return text;
}

void cobre_reader_enum(cobre_reader *reader, const char *path, const char *value,
                       const char *const *choices)
{
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_INVALID_ENUM, path);
    char words[256];

    finding.message = cobre_report_text(reader->report, "%s has the unknown value '%.100s'", path,
                                        value);
    finding.suggestion = cobre_report_text(reader->report, "Use one of: %s.",
                                           joined(words, sizeof words, choices));
    finding.members = COBRE_MEMBERS(COBRE_TEXT("value", value),
                                    COBRE_LIST("allowed_values", choices));
    report(reader, &finding);
}

void cobre_reader_duplicate(cobre_reader *reader, const char *path, int64_t id,
                            const char *registry)
{
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_DUPLICATE_ID, path);

    finding.has_entity_id = true;
    finding.entity_id = id;
    finding.message = cobre_report_text(reader->report, "%s %lld occurs twice in %s", path,
                                        (long long)id, registry);
    finding.suggestion = cobre_report_text(reader->report, "Give every entry of %s its own %s.",
                                           registry, path);
    finding.members = COBRE_MEMBERS(COBRE_TEXT("registry", registry));
    report(reader, &finding);
}

void cobre_reader_violation(cobre_reader *reader, const char *path, const char *expected,
                            const char *actual, const char *suggestion)
{
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_SCHEMA_VIOLATION, path);

    finding.message = cobre_report_text(reader->report, "%s: expected %s, found %s", path, expected,
                                        actual);
    finding.suggestion = suggestion;
    finding.members = COBRE_MEMBERS(COBRE_TEXT("expected", expected), COBRE_TEXT("actual", actual));
    report(reader, &finding);
}

/* ---- around the members ---------------------------------------------------------------------- */

void cobre_reader_entity(cobre_reader *reader, const char *noun, const mcp_json *object)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(object, "name"), &length);

    reader->noun = noun;
    reader->has_id = mcp_json_int(mcp_json_get(object, "id"), &reader->id);
    reader->name = name && !memchr(name, '\0', length) ? name : NULL;
}

void *cobre_reader_array(cobre_reader *reader, size_t count, size_t size)
{
    void *array = mcp_arena_array(reader->arena, count, size);

    if (!array) {
        reader->failed = true;
        reader->status = MCP_E_NOMEM;
    }
    return array;
}

bool cobre_reader_is_object(cobre_reader *reader, const mcp_json *value, const char *path)
{
    if (reader->failed)
        return false;
    if (!mcp_json_is_object(value))
        cobre_reader_type(reader, path, "object", value);
    return !reader->failed;
}

/*
 * Days since 1970-01-01 of a date of the Gregorian calendar (after Howard Hinnant: years begin in
 * March, so that the leap day is a year's last).
 */
static int32_t day_number(int year, int month, int day)
{
    int y = year - (month <= 2);
    int era = y / 400;
    int year_of_era = y - era * 400;
    int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static int digits(const char *text, size_t count)
{
    int value = 0;

    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static int days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

static bool parse_date(cobre_date *out, const char *text)
{
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-')
        return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    *out = (cobre_date){ text, day_number(year, month, day) };
    return true;
}

/* ---- one member ------------------------------------------------------------------------------ */

static void *place(const cobre_field *field, void *record)
{
    return (char *)record + field->offset;
}

static void set_absent(const cobre_field *field, void *record)
{
    switch (field->type) {
    case COBRE_FIELD_BOOL:
        *(bool *)place(field, record) = field->preset != 0;
        break;
    case COBRE_FIELD_INT32:
    case COBRE_FIELD_UINT32:
    case COBRE_FIELD_INT64:
    case COBRE_FIELD_CHOICE:
        *(int64_t *)place(field, record) = field->has_preset ? (int64_t)field->preset
                                                             : COBRE_ABSENT;
        break;
    case COBRE_FIELD_REAL:
        *(double *)place(field, record) = field->has_preset ? field->preset : NAN;
        break;
    case COBRE_FIELD_DATE:
        *(cobre_date *)place(field, record) = (cobre_date){ NULL, 0 };
        break;
    case COBRE_FIELD_TEXT:
    case COBRE_FIELD_ARRAY:
    case COBRE_FIELD_OBJECT:
    case COBRE_FIELD_ANY:
    default:
        *(const void **)place(field, record) = NULL;
        break;
    }
}

/* The value at a dotted path; *culprit is a step of the path that is no object, or NULL. */
static const mcp_json *walk(const mcp_json *object, const char *path, const mcp_json **culprit,
                            size_t *culprit_length)
{
    const char *step = path;

    *culprit = NULL;
    for (const char *dot = strchr(step, '.'); dot; dot = strchr(step, '.')) {
        object = mcp_json_get_n(object, step, (size_t)(dot - step));
        if (!object || mcp_json_is_null(object))
            return NULL;
        if (!mcp_json_is_object(object)) {
            *culprit = object;
            *culprit_length = (size_t)(dot - path);
            return NULL;
        }
        step = dot + 1;
    }
    return mcp_json_get(object, step);
}

static bool in_range(cobre_reader *reader, const char *path, unsigned flags, double value)
{
    double max = flags & COBRE_AT_MOST_ONE ? 1 : INFINITY;

    if ((flags & COBRE_POSITIVE) && !(value > 0))
        cobre_reader_range(reader, path, value, 0, max, "must be > 0");
    else if ((flags & COBRE_NOT_NEGATIVE) && !(value >= 0))
        cobre_reader_range(reader, path, value, 0, max, "must be >= 0");
    else if ((flags & COBRE_AT_MOST_ONE) && !(value <= 1))
        cobre_reader_range(reader, path, value, -INFINITY, 1, "must be <= 1");
    else if (!(flags & COBRE_UNBOUNDED) && !(fabs(value) <= COBRE_NUMBER_MAX))
        cobre_reader_range(reader, path, value, -COBRE_NUMBER_MAX, COBRE_NUMBER_MAX,
                           COBRE_NUMBER_RULE);
    return !reader->failed;
}

static void read_integer(cobre_reader *reader, const char *path, const cobre_field *field,
                         const mcp_json *value, int64_t *out)
{
    bool is_signed = field->type != COBRE_FIELD_UINT32;
    double low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
    double real = 0;
    int64_t number = 0;
    bool fits = mcp_json_int(value, &number);

    if (!fits && mcp_json_type_of(value) != MCP_JSON_UINT) {
        cobre_reader_type(reader, path, "integer", value);
        return;
    }
    mcp_json_double(value, &real);
    if (field->type != COBRE_FIELD_INT64 && (!fits || real < low || real > high))
        cobre_reader_range(reader, path, real, low, high,
                           is_signed ? "must fit 32 bits" : "must be >= 0 and fit 32 bits");
    else if (!fits)
        cobre_reader_range(reader, path, real, (double)INT64_MIN, (double)INT64_MAX,
                           "must fit 64 bits");
    else if (in_range(reader, path, field->flags, real))
        *out = number;
}

static void read_real(cobre_reader *reader, const char *path, const cobre_field *field,
                      const mcp_json *value, double *out)
{
    double number = 0;

    if (!mcp_json_double(value, &number))
        cobre_reader_type(reader, path, "number", value);
    else if (in_range(reader, path, field->flags, number))
        *out = number;
}

/* The text as a C string; NULL, reported, for any other value. */
static const char *text_of(cobre_reader *reader, const char *path, const char *expected,
                           const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (!text) {
        cobre_reader_type(reader, path, expected, value);
        return NULL;
    }
    if (memchr(text, '\0', length)) {
        cobre_reader_violation(reader, path, "a text without NUL", "one with NUL",
                               "Remove the \\u0000 from the text.");
        return NULL;
    }
    return text;
}

static void read_choice(cobre_reader *reader, const char *path, const cobre_field *field,
                        const mcp_json *value, int64_t *out)
{
    const char *text = text_of(reader, path, "string", value);

    if (!text)
        return;
    for (size_t i = 0; field->choices[i]; i++) {
        if (strcmp(field->choices[i], text) == 0) {
            *out = (int64_t)i;
            return;
        }
    }
    cobre_reader_enum(reader, path, text, field->choices);
}

static void read_date(cobre_reader *reader, const char *path, const mcp_json *value,
                      cobre_date *out)
{
    const char *text = text_of(reader, path, type_words[COBRE_FIELD_DATE], value);

    if (text && !parse_date(out, text))
        cobre_reader_violation(reader, path, "a date YYYY-MM-DD",
                               cobre_report_text(reader->report, "'%.40s'", text),
                               "Write year, month and day as in 2024-01-31.");
}

static void read_value(cobre_reader *reader, const char *path, const cobre_field *field,
                       const mcp_json *value, void *record)
{
    void *out = place(field, record);

    switch (field->type) {
    case COBRE_FIELD_BOOL:
        if (!mcp_json_bool(value, out))
            cobre_reader_type(reader, path, "boolean", value);
        break;
    case COBRE_FIELD_INT32:
    case COBRE_FIELD_UINT32:
    case COBRE_FIELD_INT64:
        read_integer(reader, path, field, value, out);
        break;
    case COBRE_FIELD_REAL:
        read_real(reader, path, field, value, out);
        break;
    case COBRE_FIELD_TEXT:
        *(const char **)out = text_of(reader, path, "string", value);
        break;
    case COBRE_FIELD_CHOICE:
        read_choice(reader, path, field, value, out);
        break;
    case COBRE_FIELD_DATE:
        read_date(reader, path, value, out);
        break;
    case COBRE_FIELD_ARRAY:
    case COBRE_FIELD_OBJECT:
    case COBRE_FIELD_ANY:
    default:
        if ((field->type == COBRE_FIELD_ARRAY && !mcp_json_is_array(value)) ||
            (field->type == COBRE_FIELD_OBJECT && !mcp_json_is_object(value)))
            cobre_reader_type(reader, path, type_words[field->type], value);
        *(const mcp_json **)out = value;
        break;
    }
}

/* Whether the object around a member is there. */
static bool is_within(const mcp_json *object, const char *path)
{
    for (const char *dot = strchr(path, '.'); dot && object; dot = strchr(path, '.')) {
        object = mcp_json_get_n(object, path, (size_t)(dot - path));
        path = dot + 1;
    }
    return mcp_json_is_object(object);
}

static void read_field(cobre_reader *reader, const mcp_json *object, const char *prefix,
                       const cobre_field *field, void *record)
{
    char path[PATH_SIZE];
    const mcp_json *culprit;
    size_t culprit_length = 0;
    const mcp_json *value = walk(object, field->path, &culprit, &culprit_length);

    snprintf(path, sizeof path, "%s%s", prefix, field->path);
    if (culprit) {
        snprintf(path, sizeof path, "%s%.*s", prefix, (int)culprit_length, field->path);
        cobre_reader_type(reader, path, "object", culprit);
    } else if (!value || (mcp_json_is_null(value) && (field->flags & COBRE_NULLABLE))) {
        if ((field->flags & COBRE_REQUIRED) ||
            ((field->flags & COBRE_WITHIN) && is_within(object, field->path)))
            cobre_reader_missing(reader, path);
    } else {
        read_value(reader, path, field, value, record);
    }
}

void cobre_read_fields(cobre_reader *reader, const mcp_json *object, const char *prefix,
                       const cobre_field *fields, void *record)
{
    for (const cobre_field *field = fields; field->path; field++) {
        set_absent(field, record);
        if (!reader->failed)
            read_field(reader, object, prefix, field, record);
    }
}

/* ---- arrays ---------------------------------------------------------------------------------- */

const mcp_json *cobre_reader_root(cobre_reader *reader, const mcp_json *root, const char *key)
{
    const mcp_json *array = NULL;
    const cobre_field fields[] = { { key, COBRE_FIELD_ARRAY, COBRE_REQUIRED, 0, 0, false,
                                     COBRE_NO_REGISTRY, NULL },
                                   COBRE_FIELDS_END };

    cobre_read_fields(reader, root, "", fields, &array);
    return reader->failed ? NULL : array;
}

double *cobre_reader_numbers(cobre_reader *reader, const mcp_json *array, const char *path)
{
    size_t count = mcp_json_count(array);
    double *numbers = reader->failed ? NULL : cobre_reader_array(reader, count, sizeof *numbers);

    for (size_t i = 0; i < count && numbers && !reader->failed; i++) {
        if (!mcp_json_double(mcp_json_item(array, i), &numbers[i]))
            cobre_reader_type(reader, path, "array of numbers", mcp_json_item(array, i));
        else
            in_range(reader, path, 0, numbers[i]);
    }
    return reader->failed ? NULL : numbers;
}
