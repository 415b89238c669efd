/*
 * parse.c - runs the reader of a file over its bytes.
 *
 * JSON parsers disagree about repeated keys, and the original refuses them, so every object is
 * searched for one before anything is read out of it.
 */
#include "case/parse.h"

#include <string.h>

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
    const cobre_member place[] = { COBRE_INT("line", line),
                                   COBRE_TEXT("detail", detail),
                                   { NULL, COBRE_MEMBER_NULL, NULL, 0, 0, NULL } };

    if (line > 0)
        finding.message = cobre_report_text(report, "%s is not valid JSON: %s at line %lld", file,
                                            detail, (long long)line);
    else
        finding.message = cobre_report_text(report, "%s is not valid JSON: %s", file, detail);
    finding.suggestion = "Mend the text; JSON has no comments and no comma after the last item.";
    finding.members = line > 0 ? place : place + 1;
    cobre_report_add(report, &finding);
}

/* The first repeated key in the value or below it, or NULL. MCP_JSON_DEPTH_MAX bounds the depth. */
static const char *repeated_key(const mcp_json *value)
{
    const char *found = mcp_json_is_object(value) ? mcp_json_duplicate(value) : NULL;

    for (size_t i = 0; i < mcp_json_count(value) && !found; i++)
        found = repeated_key(mcp_json_item(value, i));
    return found;
}

mcp_status cobre_parse_text(const mcp_json **root, const char *file, const char *text,
                            size_t length, cobre_report *report, mcp_arena *arena, mcp_error *err)
{
    mcp_error local = MCP_ERROR_INIT;
    const mcp_json *value = NULL;
    mcp_status st = mcp_json_read(&value, arena, text, length, &local);

    *root = NULL;
    /* A limit that has a place is the text's depth, one that has none is the arena's bound. */
    if (st == MCP_E_NOMEM || (st == MCP_E_LIMIT && local.offset < 0))
        return mcp_error_set(err, st, "%s: %s", file, local.message);
    if (st != MCP_OK) {
        report_text_error(report, file, local.message,
                          local.offset >= 0 ? line_of(text, length, local.offset) : 0);
        return MCP_OK;
    }
    const char *repeated = repeated_key(value);
    if (repeated)
        report_text_error(report, file,
                          cobre_report_text(report, "the key \"%.100s\" occurs twice", repeated),
                          0);
    else
        *root = value;
    return MCP_OK;
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
        cobre_reader_type(&reader, "(the whole file)", "object", root);
    else
        file->read(&reader, root, input);
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
