/*
 * parse.c - applies the reader of a file to its bytes.
 *
 * JSON parsers disagree about repeated keys, and the original refuses them, so every object is
 * searched for one before it is read.
 */
#include "case/read/parse.h"

#include "case/read/readers.h"

/* By file; a Parquet file has none. */
static cobre_read *const readers[COBRE_FILE_COUNT] = {
    [COBRE_FILE_CONFIG] = cobre_read_config,
    [COBRE_FILE_PENALTIES] = cobre_read_penalties,
    [COBRE_FILE_STAGES] = cobre_read_stages,
    [COBRE_FILE_INITIAL] = cobre_read_initial,
    [COBRE_FILE_BUSES] = cobre_read_buses,
    [COBRE_FILE_LINES] = cobre_read_lines,
    [COBRE_FILE_HYDROS] = cobre_read_hydros,
    [COBRE_FILE_THERMALS] = cobre_read_thermals,
    [COBRE_FILE_SOURCES] = cobre_read_sources,
    [COBRE_FILE_STATIONS] = cobre_read_stations,
    [COBRE_FILE_CONTRACTS] = cobre_read_contracts,
    [COBRE_FILE_MODELS] = cobre_read_models,
    [COBRE_FILE_LOAD_FACTORS] = cobre_read_load_factors,
    [COBRE_FILE_CORRELATION] = cobre_read_correlation,
    [COBRE_FILE_SOURCE_FACTORS] = cobre_read_source_factors,
    [COBRE_FILE_EXCHANGE_FACTORS] = cobre_read_exchange_factors,
    [COBRE_FILE_CONSTRAINTS] = cobre_read_constraints,
};

static int64_t line_of(const char *text, size_t length, int64_t offset)
{
    int64_t line = 1;

    for (size_t i = 0; i < length && (int64_t)i < offset; i++)
        line += text[i] == '\n';
    return line;
}

static void report_text_error(cobre_report *report, const char *file, const char *detail,
                              int64_t line)
{
    cobre_finding finding = {
        .severity = COBRE_SEVERITY_ERROR,
        .kind = COBRE_KIND_PARSE_ERROR,
        .layer = 2,
        .file = file,
    };
    const cobre_member place[] = { COBRE_INT("line", line), COBRE_TEXT("detail", detail),
                                   COBRE_MEMBERS_END };

    if (line > 0)
        finding.message = cobre_report_text(report, "%s is not valid JSON: %s at line %lld", file,
                                            detail, (long long)line);
    else
        finding.message = cobre_report_text(report, "%s is not valid JSON: %s", file, detail);
    finding.suggestion = "Correct the text; JSON has no comments and no comma after the last item.";
    finding.members = line > 0 ? place : place + 1;
    cobre_report_add(report, &finding);
}

/* The first repeated key in the value or below it, or NULL. *place, at first "", receives the place
 * of its object: "buses[3]". MCP_JSON_DEPTH_MAX bounds the depth. */
static const char *repeated_key(cobre_report *report, const mcp_json *value, const char **place)
{
    const char *found = mcp_json_is_object(value) ? mcp_json_duplicate(value) : NULL;
    size_t i = 0;

    if (found)
        return found;
    for (; i < mcp_json_count(value) && !found; i++)
        found = repeated_key(report, mcp_json_item(value, i), place);
    if (!found)
        return NULL;
    const char *dot = **place && **place != '[' ? "." : "";
    *place = mcp_json_is_object(value)
                 ? cobre_report_text(report, "%.60s%s%s", mcp_json_name(value, i - 1, NULL), dot,
                                     *place)
                 : cobre_report_text(report, "[%zu]%s%s", i - 1, dot, *place);
    return found;
}

mcp_status cobre_parse_text(const mcp_json **root, const char *file, const char *text,
                            size_t length, cobre_report *report, mcp_arena *arena, mcp_error *err)
{
    mcp_error local = MCP_ERROR_INIT;
    const mcp_json *value = NULL;
    mcp_status st = mcp_json_read(&value, arena, text, length, &local);

    *root = NULL;
    /* A limit with an offset is the text's depth, one without is the arena's bound. */
    if (st == MCP_E_NOMEM || (st == MCP_E_LIMIT && local.offset < 0))
        return mcp_error_set(err, st, "%s: %s", file, local.message);
    if (st != MCP_OK) {
        report_text_error(report, file, local.message,
                          local.offset >= 0 ? line_of(text, length, local.offset) : 0);
        return MCP_OK;
    }
    const char *place = "", *repeated = repeated_key(report, value, &place);
    if (repeated)
        report_text_error(report, file,
                          cobre_report_text(report, "the key \"%.100s\" occurs twice%s%.300s",
                                            repeated, *place ? " in " : "", place),
                          0);
    else
        *root = value;
    return MCP_OK;
}

static void report_no_object(cobre_report *report, const char *file, const mcp_json *root)
{
    const char *actual = mcp_json_type_name(mcp_json_type_of(root));
    const cobre_finding finding = {
        .severity = COBRE_SEVERITY_ERROR,
        .kind = COBRE_KIND_TYPE_MISMATCH,
        .layer = 2,
        .file = file,
        .message = cobre_report_text(report, "%s must be a JSON object, but is of type %s", file,
                                     actual),
        .suggestion = cobre_report_text(report, "Write %s as one object, { ... }.", file),
        .members = COBRE_MEMBERS(COBRE_TEXT("expected_type", "object"),
                                 COBRE_TEXT("actual_type", actual)),
    };

    cobre_report_add(report, &finding);
}

static mcp_status reader_end(const cobre_reader *reader, mcp_error *err)
{
    if (reader->status == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, reader->status, "out of memory for %s", reader->file);
}

mcp_status cobre_parse_json(cobre_input *input, cobre_file_id id, const char *text, size_t length,
                            mcp_error *err)
{
    const cobre_file *file = &cobre_files_known[id];
    cobre_reader reader = { .report = input->report, .arena = input->arena, .file = file->path };
    const mcp_json *root = NULL;
    mcp_status st = cobre_parse_text(&root, file->path, text, length, input->report, input->arena,
                                     err);

    if (st != MCP_OK || !root)
        return st;
    if (!mcp_json_is_object(root))
        report_no_object(input->report, file->path, root);
    else
        readers[id](&reader, root, input);
    return reader_end(&reader, err);
}

mcp_status cobre_parse_table(cobre_input *input, cobre_file_id id, const columns_table *data,
                             mcp_error *err)
{
    const cobre_file *file = &cobre_files_known[id];
    cobre_reader reader = { .report = input->report, .arena = input->arena, .file = file->path };

    cobre_read_rows(&reader, data, file->table, &input->tables[id]);
    input->entries[id] = input->tables[id].rows;
    return reader_end(&reader, err);
}
