/*
 * resources.c - files of a case as they stand, and tables of Parquet files as rows of JSON.
 *
 * What a client can know of a failure is the data of its error: the record that a tool would answer
 * with. A resource has at most ROWS_MAX rows of a file, and fewer where its text would exceed
 * TEXT_BYTES: escaped in a reply it is at most twice as long. 10,000 rows of hydros, the widest
 * table, are about 9 MB.
 */
#include "features/resources.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "gateway/directory.h"
#include "guard/paths.h"
#include "mcp/tool.h"
#include "query/entities.h"
#include "query/policies.h"
#include "query/rows.h"
#include "query/scenarios.h"
#include "query/text.h"
#include "results/results.h"

enum { ROWS_MAX = 10000, OPENED_MAX = 5 };

#define PAGE_URI "ui://cobre/convergence"
#define PAGE_FILE "pages/convergence.html"
#define POLICY_FOLDER "policy"
#define TEXT_BYTES ((size_t)15 << 20)
#define TEXT_MAX ((size_t)64 << 20)

static mcp_status read_config(mcp_call *call, void *data);
static mcp_status read_entities(mcp_call *call, void *data);
static mcp_status read_scenarios(mcp_call *call, void *data);
static mcp_status read_convergence(mcp_call *call, void *data);
static mcp_status read_results(mcp_call *call, void *data);
static mcp_status read_policy(mcp_call *call, void *data);
static mcp_status read_page(mcp_call *call, void *data);

/* clang-format off */
const mcp_resource cobre_resources[] = {
    { COBRE_URI_CONFIG,      read_config,      MCP_READS, 10000 },
    { COBRE_URI_ENTITIES,    read_entities,    MCP_READS, 10000 },
    { COBRE_URI_SCENARIOS,   read_scenarios,   MCP_READS, 30000 },
    { COBRE_URI_CONVERGENCE, read_convergence, MCP_READS, 10000 },
    { COBRE_URI_RESULTS,     read_results,     MCP_READS, 30000 },
    { COBRE_URI_POLICY,      read_policy,      MCP_READS, 10000 },
    { PAGE_URI,              read_page,        MCP_READS | MCP_UNLISTED, 10000 },
    { 0 },
};
/* clang-format on */

/* ---- failures -------------------------------------------------------------------------------- */

static mcp_status refuse(mcp_call *call, const cobre_record *record)
{
    mcp_json_writer *data = mcp_call_error_data(call);

    if (!record)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the error record");
    mcp_write_member_string(data, "kind", record->kind);
    mcp_write_member_string(data, "message", record->message);
    mcp_write_member_object(data, "context");
    cobre_members_write(record->members, data);
    mcp_write_end(data);
    mcp_write_member_string(data, "suggestion", record->suggestion);
    return mcp_error_set(mcp_call_error(call), MCP_E_RESOURCE, "%s", record->message);
}

static mcp_status refuse_output(mcp_call *call, mcp_status st, const char *path, int fd,
                                const char *file, const mcp_error *cause)
{
    const cobre_record *record = cobre_output_record(mcp_call_arena(call), st, path,
                                                     results_is_locked(fd), file, cause);

    return record ? refuse(call, record)
                  : mcp_error_set(mcp_call_error(call), st, "%s", cause->message);
}

/* A file of a case: absent, or not readable. */
static mcp_status refuse_input(mcp_call *call, mcp_status st, const char *path, const char *file,
                               const mcp_error *cause)
{
    mcp_arena *arena = mcp_call_arena(call);
    const cobre_record *broken = cobre_output_record(arena, st, path, false, file, cause);

    if (st == MCP_E_NOT_FOUND)
        return refuse(call, cobre_record_new(arena, "MissingFile",
                                             "cobre/inspect-case lists the files of the case.",
                                             COBRE_MEMBERS(COBRE_TEXT("file", file)),
                                             "The case has no %s", file));
    if (!broken)
        return mcp_error_set(mcp_call_error(call), st, "%s", cause->message);
    cobre_record record = *broken; /* no run mends a case */
    record.suggestion = "Write the file again; cobre/validate tells more about the case.";
    return refuse(call, &record);
}

static mcp_status refuse_type(mcp_call *call, const char *type, const char *const *allowed)
{
    return refuse(call, cobre_record_new(mcp_call_arena(call), "InvalidEnum",
                                         "Use one of the entity types that there are.",
                                         COBRE_MEMBERS(COBRE_TEXT("field", "entity_type"),
                                                       COBRE_TEXT("value", type),
                                                       COBRE_LIST("allowed_values", allowed)),
                                         "'%.100s' is no entity type", type));
}

/* Open the directory of a variable; false: `*answer` is what the reader returns. */
static bool open_place(int *fd, const char **path, mcp_call *call, const cobre_app *app,
                       const char *variable, mcp_status *answer)
{
    bool is_case = strcmp(variable, "case_dir") == 0;
    const cobre_place place = {
        .argument = variable,
        .path = mcp_arg_string(call, variable),
        .expected = is_case ? "a case directory" : "an output directory",
    };
    const cobre_record *refusal = NULL;

    *path = place.path;
    *answer = cobre_place_open(fd, NULL, &refusal, app, &place, mcp_call_arena(call),
                               mcp_call_error(call));
    if (*answer == MCP_OK)
        return true;
    if (refusal)
        *answer = refuse(call, refusal);
    return false;
}

/* ---- files of a case ------------------------------------------------------------------------- */

/* The text of a JSON file, as it stands. */
static mcp_status answer_file(mcp_call *call, int fd, const char *path, cobre_file_id id)
{
    const char *file = cobre_files_known[id].path;
    mcp_arena *arena = mcp_call_arena(call);
    mcp_error cause = MCP_ERROR_INIT;
    const mcp_json *root = NULL;
    const char *text = NULL;
    size_t length = 0;
    mcp_status st = guard_read_file(&text, &length, fd, file, TEXT_BYTES, arena, &cause);

    if (st == MCP_OK)
        st = mcp_json_read(&root, arena, text, length, &cause);
    return st == MCP_OK ? mcp_call_contents_text(call, NULL, NULL, text, length)
                        : refuse_input(call, st, path, file, &cause);
}

static mcp_status read_config(mcp_call *call, void *data)
{
    const char *path = NULL;
    mcp_status st = MCP_OK;
    int fd = -1;

    if (!open_place(&fd, &path, call, data, "case_dir", &st))
        return st;
    st = answer_file(call, fd, path, COBRE_FILE_CONFIG);
    close(fd);
    return st;
}

static mcp_status read_entities(mcp_call *call, void *data)
{
    const char *type = mcp_arg_string(call, "entity_type");
    const query_registry *registry = query_registry_find(type ? type : "");
    const char *allowed[16] = { NULL };
    const char *path = NULL;
    mcp_status st = MCP_OK;
    int fd = -1;

    for (size_t i = 0; query_registries[i].name; i++)
        allowed[i] = query_registries[i].name;
    if (!open_place(&fd, &path, call, data, "case_dir", &st))
        return st;
    st = registry ? answer_file(call, fd, path, registry->file)
                  : refuse_type(call, type ? type : "", allowed);
    close(fd);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A text of JSON that is being written. */
struct table_text {
    mcp_buf text;
    mcp_json_writer json;
    uint64_t rows; /* of the table that is being written */
    mcp_call *call;
};

static void text_begin(struct table_text *table, mcp_call *call)
{
    mcp_buf_init(&table->text, TEXT_MAX);
    mcp_json_writer_init(&table->json, &table->text);
    table->rows = 0;
    table->call = call;
}

static mcp_status text_answer(struct table_text *table, mcp_status st)
{
    mcp_error *err = mcp_call_error(table->call);

    if (st == MCP_OK)
        st = mcp_json_writer_status(&table->json);
    if (st == MCP_OK)
        st = mcp_call_contents_text(table->call, NULL, NULL, table->text.data, table->text.length);
    else if (err->status == MCP_OK)
        mcp_error_set(err, st, "the rows cannot be written");
    mcp_buf_clear(&table->text);
    return st;
}

/* Rows as objects, until there is enough text. */
static mcp_status put_rows(const columns_table *rows, void *data, mcp_error *err)
{
    struct table_text *table = data;

    for (size_t row = 0; row < rows->rows && table->text.length < TEXT_BYTES;
         row++, table->rows++) {
        mcp_write_object(&table->json);
        for (size_t i = 0; i < rows->column_count; i++) {
            mcp_write_name(&table->json, rows->columns[i].name);
            query_json_value(&table->json, &rows->columns[i], row);
        }
        mcp_write_end(&table->json);
    }
    mcp_status st = mcp_json_writer_status(&table->json);
    return st == MCP_OK ? st : mcp_error_set(err, st, "the rows cannot be written");
}

static void put_totals(struct table_text *table, uint64_t total)
{
    mcp_write_end(&table->json);
    mcp_write_member_int(&table->json, "total_rows", (int64_t)total);
    mcp_write_member_bool(&table->json, "truncated", total > table->rows);
}

static bool is_stopped(void *data)
{
    return mcp_call_stop(((struct table_text *)data)->call) != MCP_STOP_NONE;
}

static mcp_status answer_table(mcp_call *call, const cobre_app *app, int fd, const char *path,
                               const query_table *of)
{
    const char *names[QUERY_COLUMNS_MAX];
    const query_question question = { .table = of,
                                      .names = names,
                                      .name_count = query_columns_all(names, of),
                                      .rows_max = ROWS_MAX };
    mcp_error cause = MCP_ERROR_INIT;
    struct table_text table;
    query_answer answer;

    const query_sink sink = { .take = put_rows, .should_stop = is_stopped, .data = &table };
    text_begin(&table, call);
    mcp_write_object(&table.json);
    mcp_write_member_array(&table.json, "rows");
    mcp_status st = query_rows(&answer, app->engine, fd, &question, &sink, mcp_call_arena(call),
                               &cause);
    if (st != MCP_OK) {
        mcp_buf_clear(&table.text);
        return refuse_output(call, st, path, fd, answer.file, &cause);
    }
    put_totals(&table, answer.total);
    mcp_write_end(&table.json);
    return text_answer(&table, st);
}

static mcp_status read_convergence(mcp_call *call, void *data)
{
    const char *path = NULL;
    mcp_status st = MCP_OK;
    int fd = -1;

    if (!open_place(&fd, &path, call, data, "output_dir", &st))
        return st;
    st = answer_table(call, data, fd, path, query_table_find("convergence"));
    close(fd);
    return st;
}

static mcp_status read_results(mcp_call *call, void *data)
{
    const char *type = mcp_arg_string(call, "entity_type");
    const query_table *table = query_table_find(type ? type : "");
    const char *allowed[16] = { NULL };
    const char *path = NULL;
    size_t count = 0;
    mcp_status st = MCP_OK;
    int fd = -1;

    for (size_t i = 0; query_tables[i].name; i++)
        if (query_tables[i].folder)
            allowed[count++] = query_tables[i].name;
    if (!open_place(&fd, &path, call, data, "output_dir", &st))
        return st;
    st = table && table->folder ? answer_table(call, data, fd, path, table)
                                : refuse_type(call, type ? type : "", allowed);
    close(fd);
    return st;
}

/* ---- scenarios of an entity ------------------------------------------------------------------ */

static mcp_status put_file(const char *path, const columns_table *rows, uint64_t total, void *data,
                           mcp_error *err)
{
    struct table_text *table = data;

    table->rows = 0;
    mcp_write_member_object(&table->json, path);
    mcp_write_member_array(&table->json, "rows");
    mcp_status st = put_rows(rows, table, err);
    put_totals(table, total);
    mcp_write_end(&table->json);
    return st;
}

static mcp_status refuse_entity(mcp_call *call, const char *text)
{
    return refuse(call,
                  cobre_record_new(mcp_call_arena(call), "MissingReference",
                                   "The resource entities/hydros lists ids and names.",
                                   COBRE_MEMBERS(COBRE_NULL("file"), COBRE_TEXT("entity_id", text),
                                                 COBRE_TEXT("field", "entity_id"),
                                                 COBRE_TEXT("referenced_value", text),
                                                 COBRE_TEXT("referenced_registry", "hydros")),
                                   "no entity of the case is '%.100s'", text));
}

static mcp_status answer_scenarios(mcp_call *call, const cobre_app *app, int fd, const char *path)
{
    const char *text = mcp_arg_string(call, "entity_id");
    mcp_error cause = MCP_ERROR_INIT;
    query_scenario_entity entity;
    const char *file = NULL;
    struct table_text table;
    mcp_status st = query_scenarios_find(&entity, &file, fd, text ? text : "", mcp_call_arena(call),
                                         &cause);

    if (st == MCP_E_NOT_FOUND && !file)
        return refuse_entity(call, text ? text : "");
    if (st != MCP_OK)
        return refuse_input(call, st, path, file, &cause);
    text_begin(&table, call);
    mcp_write_object(&table.json);
    mcp_write_member_int(&table.json, "entity_id", entity.id);
    mcp_write_member_string(&table.json, "name", entity.name);
    mcp_write_member_object(&table.json, "files");
    st = query_scenarios_read(&file, app->engine, fd, &entity, ROWS_MAX, put_file, &table, &cause);
    if (st != MCP_OK) {
        mcp_buf_clear(&table.text);
        return refuse_input(call, st, path, file, &cause);
    }
    mcp_write_end(&table.json);
    mcp_write_end(&table.json);
    return text_answer(&table, st);
}

static mcp_status read_scenarios(mcp_call *call, void *data)
{
    const char *path = NULL;
    mcp_status st = MCP_OK;
    int fd = -1;

    if (!open_place(&fd, &path, call, data, "case_dir", &st))
        return st;
    st = answer_scenarios(call, data, fd, path);
    close(fd);
    return st;
}

/* ---- the policy ------------------------------------------------------------------------------ */

/* A run may exchange the directory while it is read; then it is opened again. */
static mcp_status read_summary(const policy_summary **out, int out_fd, mcp_arena *arena,
                               mcp_error *err)
{
    mcp_status st = MCP_E_BUSY;
    int fd = -1;

    for (int i = 0; st == MCP_E_BUSY && i < OPENED_MAX; i++) {
        st = policy_open(&fd, out_fd, POLICY_FOLDER, err);
        if (st != MCP_OK)
            return st;
        st = policy_read_summary(out, fd, arena, err);
        close(fd);
    }
    return st == MCP_E_BUSY ? MCP_E_IO : st;
}

static mcp_status answer_policy(mcp_call *call, int fd, const char *path)
{
    const policy_summary *summary = NULL;
    mcp_error cause = MCP_ERROR_INIT;
    struct table_text text;
    mcp_status st = read_summary(&summary, fd, mcp_call_arena(call), &cause);

    if (st != MCP_OK)
        return refuse_output(call, st, path, fd, POLICY_FOLDER, &cause);
    text_begin(&text, call);
    mcp_write_object(&text.json);
    query_policy_write_summary(&text.json, summary);
    mcp_write_end(&text.json);
    return text_answer(&text, st);
}

static mcp_status read_policy(mcp_call *call, void *data)
{
    const char *path = NULL;
    mcp_status st = MCP_OK;
    int fd = -1;

    if (!open_place(&fd, &path, call, data, "output_dir", &st))
        return st;
    st = answer_policy(call, fd, path);
    close(fd);
    return st;
}

/* ---- the page of a tool ---------------------------------------------------------------------- */

/* It draws the result that its host passes to it, and needs no other origin. */
static mcp_status read_page(mcp_call *call, void *data)
{
    const mcp_file *file = mcp_files_find(cobre_files, PAGE_FILE);

    (void)data;
    if (!file)
        return mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL, PAGE_FILE " is not embedded");
    mcp_status st = mcp_call_contents_meta(
        call,
        "{\"ui\":{\"csp\":{\"connectDomains\":[],\"resourceDomains\":[]},\"prefersBorder\":true}}");
    return st == MCP_OK ? mcp_call_contents_text(call, NULL, NULL, file->bytes, file->length) : st;
}
