/*
 * broken.h - one error in the base case gives exactly one finding.
 *
 * Findings about features that are not modelled yet are left out of account, so that a rule can be
 * tested before its feature is built. A test that defines BROKEN_UNSUPPORTED looks at those alone.
 */
#ifndef TESTS_COBRE_BROKEN_H
#define TESTS_COBRE_BROKEN_H

#include "../case/base_case.h"

#define CONFIG "config.json"
#define STAGES "stages.json"
#define COSTS "penalties.json"
#define INITIAL "initial_conditions.json"
#define BUSES "system/buses.json"
#define LINES "system/lines.json"
#define HYDROS "system/hydros.json"
#define THERMALS "system/thermals.json"
#define INFLOW "scenarios/inflow_seasonal_stats.parquet"
#define LOAD "scenarios/load_seasonal_stats.parquet"

#define NONE INT64_MIN

/* One break. `find` NULL: `with` is the whole file; both NULL: the file is removed. */
typedef struct broken {
    const char *file, *find, *with;
    cobre_kind kind;
    int layer;
    int64_t entity;
    const char *field;    /* NULL: none */
    const char *found_in; /* NULL: `file` */
    size_t others;        /* further findings of that severity that follow from it */
} broken;

/* Files in place of those of the base case, or beyond them: a good case with another feature. */
static const base_file *broken_context; /* ends with a NULL path; NULL: none */

static inline const char *broken_base(const char *path)
{
    for (const base_file *file = broken_context; file && file->path; file++) {
        if (strcmp(file->path, path) == 0)
            return file->text;
    }
    return base_text(path);
}

static inline char *broken_text(const broken *row)
{
    const char *base = broken_base(row->file);
    size_t size = (base ? strlen(base) : 0) + strlen(row->with) + 1;
    char *text = malloc(size);

    assert_non_null(text);
    if (!row->find) {
        snprintf(text, size, "%s", row->with);
        return text;
    }
    const char *at = base ? strstr(base, row->find) : NULL;
    if (!at)
        fail_msg("%s does not hold %s", row->file, row->find);
    snprintf(text, size, "%.*s%s%s", (int)(at - base), base, row->with, at + strlen(row->find));
    return text;
}

static inline void broken_apply(const scratch *folder, const broken *row)
{
    if (!row->with) {
        assert_int_equal(unlinkat(folder->fd, row->file, 0), 0);
        return;
    }
    char *text = broken_text(row);
    base_write(folder, row->file, text);
    free(text);
}

static inline void broken_restore(const scratch *folder, const char *file)
{
    unlinkat(folder->fd, file, 0);
    if (broken_base(file))
        base_write(folder, file, broken_base(file));
}

static inline bool broken_is(const broken *row, const cobre_finding *finding)
{
    const char *file = row->found_in ? row->found_in : row->file;
    bool has_entity = row->entity != NONE;

    return finding->kind == row->kind && finding->layer == row->layer &&
           strcmp(finding->file, file) == 0 && finding->has_entity_id == has_entity &&
           (!has_entity || finding->entity_id == row->entity) &&
           (row->field ? finding->field && strcmp(finding->field, row->field) == 0
                       : !finding->field);
}

/* A record has its four members, names the file, and says what to do. */
static inline void broken_check_record(const cobre_finding *finding, mcp_arena *arena)
{
    const mcp_json *record = NULL;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 16);
    mcp_json_writer_init(&writer, &buf);
    cobre_finding_write(finding, &writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&record, arena, buf.data, buf.length, NULL), MCP_OK);
    assert_int_equal(mcp_json_count(record), 4);
    assert_string_equal(mcp_json_get_string(record, "kind"), cobre_kind_name(finding->kind));
    assert_non_null(strstr(mcp_json_get_string(record, "message"), finding->file));
    assert_true(strlen(mcp_json_get_string(record, "suggestion")) > 5);
    const mcp_json *context = mcp_json_get(record, "context");
    assert_string_equal(mcp_json_get_string(context, "file"), finding->file);
    assert_non_null(mcp_json_get_string(context, "internal_kind"));
    mcp_buf_clear(&buf);
}

static inline bool broken_counts(const cobre_finding *finding)
{
#ifdef BROKEN_UNSUPPORTED
    return strstr(finding->message, "does not model") != NULL;
#else
    return strstr(finding->message, "does not model") == NULL;
#endif
}

static inline size_t broken_count(const loaded *result, cobre_severity severity)
{
    size_t count = 0, i = 0;
    const cobre_finding *finding = cobre_report_finding(result->report, severity, i++);

    for (; finding; finding = cobre_report_finding(result->report, severity, i++))
        count += broken_counts(finding);
    return count;
}

static inline void broken_check(const broken *row, const loaded *result, cobre_severity severity)
{
    const cobre_finding *finding = cobre_report_finding(result->report, severity, 0);
    bool seen = false;

    for (size_t i = 1; finding; finding = cobre_report_finding(result->report, severity, i++)) {
        seen = seen || broken_is(row, finding);
        broken_check_record(finding, result->arena);
    }
    if (seen && broken_count(result, severity) == 1 + row->others)
        return;
    print_message("found:\n");
    loaded_print(result, severity);
    fail_msg("%s: '%s' -> '%s': expected %s, field %s, alone", row->file,
             row->find ? row->find : "(whole)", row->with ? row->with : "(removed)",
             cobre_kind_name(row->kind), row->field ? row->field : "(none)");
}

/* Break, load, check and restore for every row; at the end the case is valid again. */
static inline void broken_run(columns *engine, const broken *rows, size_t count,
                              cobre_severity severity)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    for (const base_file *file = broken_context; file && file->path; file++)
        base_write(&folder, file->path, file->text);
    for (size_t i = 0; i < count; i++) {
        broken_apply(&folder, &rows[i]);
        loaded result = base_load_at(engine, folder.fd, "broken");
        if (result.status != MCP_OK)
            fail_msg("%s: %s", rows[i].file, result.err.message);
        broken_check(&rows[i], &result, severity);
        if (severity == COBRE_SEVERITY_ERROR) {
            assert_null(result.c);
            assert_true(cobre_report_coverage(result.report)->layers_completed <= rows[i].layer);
        } else if (broken_count(&result, COBRE_SEVERITY_ERROR) ==
                   cobre_report_count(result.report, COBRE_SEVERITY_ERROR)) {
            assert_loads(&result);
            assert_int_equal(cobre_report_coverage(result.report)->layers_completed, 5);
        }
        loaded_free(&result);
        broken_restore(&folder, rows[i].file);
    }
    loaded result = base_load_at(engine, folder.fd, "restored");
    if (broken_count(&result, COBRE_SEVERITY_ERROR) > 0)
        loaded_print(&result, COBRE_SEVERITY_ERROR);
    assert_int_equal(result.status, MCP_OK);
    assert_int_equal(broken_count(&result, COBRE_SEVERITY_ERROR), 0);
    loaded_free(&result);
    scratch_close(&folder);
    print_message("  %zu breaks\n", count);
}

/* The same on another good case. */
static inline void broken_run_on(columns *engine, const base_file *context, const broken *rows,
                                 size_t count, cobre_severity severity)
{
    broken_context = context;
    broken_run(engine, rows, count, severity);
    broken_context = NULL;
}

#define BROKEN_RUN_ON(engine, context, rows, severity)                                             \
    broken_run_on(engine, context, rows, sizeof rows / sizeof((rows)[0]), severity)

#define BROKEN_RUN(engine, rows, severity)                                                         \
    broken_run(engine, rows, sizeof rows / sizeof((rows)[0]), severity)

#endif
