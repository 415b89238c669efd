/*
 * report.c - collects findings, sorts them, and writes them as error records.
 *
 * A broken directory can yield a finding per row of a file with a million rows, so each severity
 * keeps the first COBRE_FINDINGS_MAX and counts the rest. Strings are copied into the arena only
 * for findings that are kept. The lists are arrays of pointers, sorted once at the end with the
 * order of discovery as the last key, so that two runs give the same report.
 */
#include "findings/report.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/text.h"

enum { TEXT_BUFFERS = 4, TEXT_SIZE = 640 };

struct kept {
    cobre_finding finding;
    size_t order;
};

struct list {
    const struct kept **items;
    size_t count; /* of findings, kept or not */
    size_t kept, room;
};

struct cobre_report {
    mcp_arena *arena;
    mcp_status status;
    cobre_coverage coverage;
    struct list lists[2]; /* by cobre_severity */
    char texts[TEXT_BUFFERS][TEXT_SIZE];
    size_t next_text;
};

static const char *const kind_names[] = {
#define X(name, words) words,
    COBRE_KIND_MAP(X)
#undef X
};

/* The original's name for a kind; a finding can have a more precise one (errors page, 2.3). */
static const char *const internal_names[] = {
    [COBRE_KIND_MISSING_FILE] = "FileNotFound",
    [COBRE_KIND_PARSE_ERROR] = "ParseError",
    [COBRE_KIND_SCHEMA_VIOLATION] = "SchemaViolation",
    [COBRE_KIND_TYPE_MISMATCH] = "SchemaViolation",
    [COBRE_KIND_OUT_OF_RANGE] = "SchemaViolation",
    [COBRE_KIND_INVALID_ENUM] = "SchemaViolation",
    [COBRE_KIND_DUPLICATE_ID] = "SchemaViolation",
    [COBRE_KIND_MISSING_REFERENCE] = "InvalidReference",
    [COBRE_KIND_COVERAGE_MISMATCH] = "DimensionMismatch",
    [COBRE_KIND_STAGE_MISMATCH] = "InvalidValue",
    [COBRE_KIND_INCOMPATIBLE_SETTINGS] = "BusinessRuleViolation",
    [COBRE_KIND_PHYSICAL_CONSTRAINT] = "BusinessRuleViolation",
    [COBRE_KIND_CAPACITY_VIOLATION] = "InvalidValue",
    [COBRE_KIND_PENALTY_CONSISTENCY] = "ModelQuality",
};

cobre_report *cobre_report_new(mcp_arena *arena)
{
    cobre_report *report = mcp_arena_alloc(arena, sizeof *report);

    if (report)
        report->arena = arena;
    return report;
}

const char *cobre_kind_name(cobre_kind kind)
{
    return kind_names[kind];
}

/* Remove the last character when the cut split it. */
static void end_at_character(char *text, size_t length)
{
    size_t start = length;

    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xC0)
        text[start - 1] = '\0';
}

const char *cobre_report_text(cobre_report *report, const char *format, ...)
{
    char *text = report->texts[report->next_text];
    va_list arguments;

    report->next_text = (report->next_text + 1) % TEXT_BUFFERS;
    va_start(arguments, format);
    int length = vsnprintf(text, TEXT_SIZE, format, arguments);
    va_end(arguments);
    if (length >= TEXT_SIZE)
        end_at_character(text, TEXT_SIZE - 1);
    return text;
}

/* ---- the place in words ---------------------------------------------------------------------- */

static int label_write(char *text, size_t size, const cobre_finding *finding)
{
    int length = snprintf(text, size, "%s", finding->noun ? finding->noun : "");

    if (finding->noun && finding->has_entity_id && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, " %lld",
                           (long long)finding->entity_id);
    if (finding->entity_name && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, " '%s'", finding->entity_name);
    if (finding->row > 0 && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, "%srow %lld", length ? ", " : "",
                           (long long)finding->row);
    return length;
}

static const char *with_place(mcp_arena *arena, const cobre_finding *finding)
{
    char label[256];
    const char *file = finding->file ? finding->file : "";

    if (label_write(label, sizeof label, finding) >= (int)sizeof label)
        end_at_character(label, sizeof label - 1);
    if (label[0])
        return mcp_arena_printf(arena, "%s (%s in %s)", finding->message, label, file);
    if (strstr(finding->message, file))
        return finding->message; /* it is about the file and says so */
    return mcp_arena_printf(arena, "%s (%s)", finding->message, file);
}

/* The message without the file that it begins with: the line has named it. */
static const char *after_file(const char *message, const char *file)
{
    size_t length = strlen(file);

    if (strncmp(message, file, length) != 0)
        return message;
    if (strncmp(message + length, ": ", 2) == 0)
        return message + length + 2;
    return message[length] == ' ' ? message + length + 1 : message;
}

const char *cobre_finding_line(const cobre_finding *finding, mcp_arena *arena)
{
    char label[256];
    const char *kind = cobre_kind_name(finding->kind);

    if (label_write(label, sizeof label, finding) >= (int)sizeof label)
        end_at_character(label, sizeof label - 1);
    const char *message = after_file(finding->bare ? finding->bare : finding->message,
                                     finding->file);
    if (label[0])
        return mcp_arena_printf(arena, "[%s] %s (%s): %s", kind, finding->file, label, message);
    return mcp_arena_printf(arena, "[%s] %s: %s", kind, finding->file, message);
}

/* ---- keeping --------------------------------------------------------------------------------- */

static bool text_copy(mcp_arena *arena, const char **text)
{
    if (!*text)
        return true;
    *text = cobre_text_clean(arena, *text);
    return *text != NULL;
}

static const struct kept *finding_copy(mcp_arena *arena, const cobre_finding *finding, size_t order)
{
    struct kept *kept = mcp_arena_alloc(arena, sizeof *kept);

    if (!kept)
        return NULL;
    kept->finding = *finding;
    kept->order = order;
    cobre_finding *copy = &kept->finding;
    copy->bare = finding->message;
    copy->message = with_place(arena, finding);
    if (copy->message)
        copy->message = cobre_text_clean(arena, copy->message);
    if (!copy->internal_kind)
        copy->internal_kind = internal_names[finding->kind];
    if (!copy->message || !text_copy(arena, &copy->bare) ||
        !text_copy(arena, &copy->internal_kind) || !text_copy(arena, &copy->file) ||
        !text_copy(arena, &copy->noun) || !text_copy(arena, &copy->entity_name) ||
        !text_copy(arena, &copy->field) || !text_copy(arena, &copy->suggestion))
        return NULL;
    copy->members = cobre_members_copy(arena, finding->members);
    return copy->members ? kept : NULL;
}

/* Room for one more pointer. The arena keeps the outgrown arrays: at most the same size again. */
static bool list_grow(mcp_arena *arena, struct list *list)
{
    if (list->kept < list->room)
        return true;
    size_t room = list->room ? list->room * 2 : 16;
    const struct kept **items = mcp_arena_array(arena, room, sizeof *items);
    if (!items)
        return false;
    if (list->kept > 0)
        memcpy(items, list->items, list->kept * sizeof *items);
    list->items = items;
    list->room = room;
    return true;
}

void cobre_report_add(cobre_report *report, const cobre_finding *finding)
{
    struct list *list = &report->lists[finding->severity];

    list->count++;
    if (list->kept >= COBRE_FINDINGS_MAX || report->status != MCP_OK)
        return;
    const struct kept *kept = finding_copy(report->arena, finding, list->count);
    if (!kept || !list_grow(report->arena, list)) {
        report->status = MCP_E_NOMEM;
        return;
    }
    list->items[list->kept++] = kept;
}

mcp_status cobre_report_status(const cobre_report *report)
{
    return report->status;
}

void cobre_report_out_of_memory(cobre_report *report)
{
    report->status = MCP_E_NOMEM;
}

static int compare(const void *left, const void *right)
{
    const struct kept *a = *(const struct kept *const *)left;
    const struct kept *b = *(const struct kept *const *)right;
    const cobre_finding *x = &a->finding, *y = &b->finding;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    int files = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    if (files != 0)
        return files;
    if (x->has_entity_id != y->has_entity_id)
        return x->has_entity_id ? 1 : -1;
    if (x->has_entity_id && x->entity_id != y->entity_id)
        return x->entity_id < y->entity_id ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void cobre_report_sort(cobre_report *report)
{
    for (size_t i = 0; i < 2; i++) {
        struct list *list = &report->lists[i];
        if (list->kept > 1)
            qsort(list->items, list->kept, sizeof *list->items, compare);
    }
}

size_t cobre_report_count(const cobre_report *report, cobre_severity severity)
{
    return report->lists[severity].count;
}

const cobre_finding *cobre_report_finding(const cobre_report *report, cobre_severity severity,
                                          size_t index)
{
    const struct list *list = &report->lists[severity];

    if (index >= list->kept)
        return NULL;
    assert(list->items[index]); /* the first `kept` items are findings, each */
    return &list->items[index]->finding;
}

const cobre_coverage *cobre_report_coverage(const cobre_report *report)
{
    return &report->coverage;
}

void cobre_report_set_coverage(cobre_report *report, const cobre_coverage *coverage)
{
    report->coverage = *coverage;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The record of a finding; its object stays open. */
static void begin_record(const cobre_finding *finding, mcp_json_writer *writer)
{
    cobre_record_begin(writer, cobre_kind_name(finding->kind), finding->message);
    mcp_write_member_string(writer, "file", finding->file);
    if (finding->has_entity_id)
        mcp_write_member_int(writer, "entity_id", finding->entity_id);
    if (finding->entity_name)
        mcp_write_member_string(writer, "entity_name", finding->entity_name);
    if (finding->row > 0)
        mcp_write_member_int(writer, "row", finding->row);
    if (finding->field)
        mcp_write_member_string(writer, "field", finding->field);
    cobre_members_write(finding->members, writer);
    mcp_write_member_string(writer, "internal_kind", finding->internal_kind);
    cobre_record_end(writer, finding->suggestion);
}

void cobre_finding_write(const cobre_finding *finding, mcp_json_writer *writer)
{
    begin_record(finding, writer);
    mcp_write_end(writer);
}

/* The record that ends a truncated list; it has the kind of the last finding kept. */
static void write_remainder(const struct list *list, cobre_severity severity,
                            mcp_json_writer *writer)
{
    const cobre_finding *last = &list->items[list->kept - 1]->finding;
    char message[128];

    snprintf(message, sizeof message, "%zu further %s are not listed", list->count - list->kept,
             severity == COBRE_SEVERITY_ERROR ? "errors" : "warnings");
    cobre_finding remainder = {
        .severity = severity,
        .kind = last->kind,
        .layer = last->layer,
        .file = last->file,
        .internal_kind = last->internal_kind,
        .message = message,
        .suggestion = "Correct those that are listed and validate again.",
    };
    cobre_finding_write(&remainder, writer);
}

void cobre_report_write(const cobre_report *report, cobre_severity severity,
                        mcp_json_writer *writer)
{
    const struct list *list = &report->lists[severity];

    mcp_write_array(writer);
    for (size_t i = 0; i < list->kept; i++)
        cobre_finding_write(&list->items[i]->finding, writer);
    if (list->kept > 0 && list->count > list->kept)
        write_remainder(list, severity, writer);
    mcp_write_end(writer);
}

void cobre_report_write_summary(const cobre_report *report, mcp_json_writer *writer)
{
    const cobre_coverage *coverage = &report->coverage;

    mcp_write_object(writer);
    mcp_write_member_int(writer, "files_checked", coverage->files_checked);
    mcp_write_member_int(writer, "entities_validated", coverage->entities_validated);
    mcp_write_member_int(writer, "layers_completed", coverage->layers_completed);
    mcp_write_member_int(writer, "error_count",
                         (int64_t)cobre_report_count(report, COBRE_SEVERITY_ERROR));
    mcp_write_member_int(writer, "warning_count",
                         (int64_t)cobre_report_count(report, COBRE_SEVERITY_WARNING));
    mcp_write_end(writer);
}

void cobre_report_write_verdict(const cobre_report *report, mcp_json_writer *writer)
{
    mcp_write_member_bool(writer, "valid", cobre_report_count(report, COBRE_SEVERITY_ERROR) == 0);
    mcp_write_name(writer, "errors");
    cobre_report_write(report, COBRE_SEVERITY_ERROR, writer);
    mcp_write_name(writer, "warnings");
    cobre_report_write(report, COBRE_SEVERITY_WARNING, writer);
    mcp_write_name(writer, "summary");
    cobre_report_write_summary(report, writer);
}

void cobre_report_write_failure(const cobre_report *report, mcp_json_writer *writer)
{
    const cobre_finding *first = cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0);

    assert(first); /* only a report with errors is a failure */
    begin_record(first, writer);
    mcp_write_name(writer, "errors");
    cobre_report_write(report, COBRE_SEVERITY_ERROR, writer);
    mcp_write_end(writer);
}
