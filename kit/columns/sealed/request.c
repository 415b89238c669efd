/*
 * request.c - see request.h. Both directions are in one order.
 */
#include "columns/sealed/request.h"

#include "columns/sealed/wire.h"

#define LIST_MAX 65536

static void put_list(mcp_buf *out, const char *const *list, size_t count)
{
    wire_put_uint(out, count);
    for (size_t i = 0; i < count; i++)
        wire_put_string(out, list[i]);
}

static void put_views(mcp_buf *out, const columns_sealed_request *request)
{
    wire_put_uint(out, request->view_count);
    for (size_t i = 0; i < request->view_count; i++) {
        wire_put_string(out, request->views[i].schema);
        wire_put_string(out, request->views[i].name);
        wire_put_string(out, request->views[i].sql);
        wire_put_uint(out, request->views[i].is_optional);
        wire_put_uint(out, request->views[i].is_attached);
    }
}

static void put_params(mcp_buf *out, const columns_sealed_request *request)
{
    wire_put_uint(out, request->param_count);
    for (size_t i = 0; i < request->param_count; i++) {
        const columns_sealed_param *param = &request->params[i];
        mcp_buf_putc(out, (char)param->kind);
        wire_put_int(out, param->integer);
        mcp_buf_append(out, &param->number, sizeof param->number);
        wire_put_text(out, param->text, param->length);
    }
}

mcp_status request_write(mcp_buf *out, const columns_sealed_request *request,
                         const struct sealed_settings *settings)
{
    const columns_sealed_rules *rules = request->rules;

    wire_put_uint(out, settings->memory_bytes);
    wire_put_uint(out, (uint64_t)settings->threads);
    wire_put_uint(out, request->fd_count);
    wire_put_uint(out, request->rows_max);
    wire_put_uint(out, request->bytes_max);
    wire_put_int(out, request->timeout_ms);
    wire_put_uint(out, request->is_explain);
    wire_put_text(out, request->sql, request->sql_length);
    wire_put_string(out, request->search_path);
    put_list(out, request->setup, request->setup_count);
    put_list(out, request->databases, request->database_count);
    put_views(out, request);
    put_list(out, rules->functions, rules->function_count);
    put_list(out, rules->table_functions, rules->table_function_count);
    put_list(out, rules->system_tables, rules->system_table_count);
    put_params(out, request);
    return out->status;
}

/* NULL: no memory; also without items it is not NULL. */
static const char *const *list_of(struct wire_reader *in, size_t *count, mcp_arena *arena)
{
    size_t n = wire_count(in, LIST_MAX);
    const char **list = mcp_arena_array(arena, n + 1, sizeof *list);

    for (size_t i = 0; list && i < n; i++)
        list[i] = wire_string(in);
    *count = n;
    return list;
}

static const columns_sealed_view *views_of(struct wire_reader *in, size_t *count, mcp_arena *arena)
{
    size_t n = wire_count(in, LIST_MAX);
    columns_sealed_view *views = mcp_arena_array(arena, n + 1, sizeof *views);

    for (size_t i = 0; views && i < n; i++) {
        views[i].schema = wire_string(in);
        views[i].name = wire_string(in);
        views[i].sql = wire_string(in);
        views[i].is_optional = wire_uint(in) != 0;
        views[i].is_attached = wire_uint(in) != 0;
    }
    *count = n;
    return views;
}

static const columns_sealed_param *params_of(struct wire_reader *in, size_t *count,
                                             mcp_arena *arena)
{
    size_t n = wire_count(in, COLUMNS_SEALED_PARAMS_MAX);
    columns_sealed_param *params = mcp_arena_array(arena, n + 1, sizeof *params);

    for (size_t i = 0; params && i < n; i++) {
        params[i].kind = (columns_sealed_kind)wire_byte(in);
        params[i].integer = wire_int(in);
        wire_bytes(in, &params[i].number, sizeof params[i].number);
        params[i].text = wire_text(in, &params[i].length);
    }
    *count = n;
    return params;
}

mcp_status request_read(columns_sealed_request *out, struct sealed_settings *settings,
                        mcp_arena *arena, const void *bytes, size_t length, mcp_error *err)
{
    struct wire_reader in = { bytes, length, 0, false };
    columns_sealed_request request = { 0 };
    columns_sealed_rules *rules = mcp_arena_alloc(arena, sizeof *rules);

    if (!rules)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a query");
    request.rules = rules;
    settings->memory_bytes = wire_uint(&in);
    settings->threads = (int)(wire_uint(&in) & 0xFF);
    request.fd_count = (size_t)wire_uint(&in);
    request.rows_max = wire_uint(&in);
    request.bytes_max = wire_uint(&in);
    request.timeout_ms = wire_int(&in);
    request.is_explain = wire_uint(&in) != 0;
    request.sql = wire_text(&in, &request.sql_length);
    request.search_path = wire_string(&in);
    request.setup = list_of(&in, &request.setup_count, arena);
    request.databases = list_of(&in, &request.database_count, arena);
    request.views = views_of(&in, &request.view_count, arena);
    rules->functions = list_of(&in, &rules->function_count, arena);
    rules->table_functions = list_of(&in, &rules->table_function_count, arena);
    rules->system_tables = list_of(&in, &rules->system_table_count, arena);
    request.params = params_of(&in, &request.param_count, arena);
    if (!request.setup || !request.databases || !request.views || !rules->functions ||
        !rules->table_functions || !rules->system_tables || !request.params)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a query");
    if (in.is_bad || in.at != in.length)
        return mcp_error_set(err, MCP_E_PARSE, "a request for the process of a query is broken");
    *out = request;
    return MCP_OK;
}
