/*
 * items.c - see items.h.
 */
#include "columns/items.h"

#include "columns/columns.h"
#include "mcp/json.h"

#define TEXT_MAX ((size_t)16 << 20)

/* ---- moments --------------------------------------------------------------------------------- */

int64_t items_moment(duckdb_type type, int64_t value)
{
    int64_t factor = type == DUCKDB_TYPE_TIMESTAMP_S    ? 1000000
                     : type == DUCKDB_TYPE_TIMESTAMP_MS ? 1000
                                                        : 1;
    int64_t moment = 0;

    if (type == DUCKDB_TYPE_TIMESTAMP_NS)
        return value >= 0 ? value / 1000 : -((999 - value) / 1000);
    return __builtin_mul_overflow(value, factor, &moment) ? INT64_MAX : moment;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void put_value(mcp_json_writer *writer, const struct engine_api *api, duckdb_vector vector,
                      duckdb_logical_type type, size_t row);

static void put_list(mcp_json_writer *writer, const struct items *items, size_t row)
{
    const struct engine_api *api = items->api;
    const duckdb_list_entry *entry = (const duckdb_list_entry *)api->vector_get_data(items->list) +
                                     row;
    duckdb_vector values = api->list_vector_get_child(items->list);

    mcp_write_array(writer);
    for (uint64_t i = 0; i < entry->length; i++) {
        duckdb_vector value = values;
        size_t at = entry->offset + i;
        bool is_there = true;
        for (size_t k = 0; k < items->depth && is_there; k++) {
            uint64_t *mask = api->vector_get_validity(value);
            is_there = !mask || api->validity_row_is_valid(mask, at);
            value = api->struct_vector_get_child(value, items->path[k]);
        }
        if (is_there)
            put_value(writer, api, value, items->type, at);
        else
            mcp_write_null(writer);
    }
    mcp_write_end(writer);
}

static void put_group(mcp_json_writer *writer, const struct engine_api *api, duckdb_vector vector,
                      duckdb_logical_type type, size_t row)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < api->struct_type_child_count(type); i++) {
        char *name = api->struct_type_child_name(type, i);
        duckdb_logical_type child = api->struct_type_child_type(type, i);
        mcp_write_name(writer, name ? name : "");
        put_value(writer, api, api->struct_vector_get_child(vector, i), child, row);
        api->destroy_logical_type(&child);
        api->free(name);
    }
    mcp_write_end(writer);
}

static void put_nested_list(mcp_json_writer *writer, const struct engine_api *api,
                            duckdb_vector vector, duckdb_logical_type type, size_t row)
{
    struct items items = { .api = api, .list = vector, .type = api->list_type_child_type(type) };

    put_list(writer, &items, row);
    api->destroy_logical_type(&items.type);
}

static void put_moment(mcp_json_writer *writer, duckdb_type type, int64_t value)
{
    char text[COLUMNS_MOMENT_SIZE];

    columns_moment_text(text, items_moment(type, value),
                        type == DUCKDB_TYPE_TIMESTAMP_TZ ? "Z" : "");
    mcp_write_string(writer, text);
}

#define AT(type) (((const type *)data)[row])

/* Numbers and booleans; false: another type. */
static bool put_number(mcp_json_writer *writer, duckdb_type type, const void *data, size_t row)
{
    switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
        mcp_write_bool(writer, AT(uint8_t) != 0);
        return true;
    case DUCKDB_TYPE_TINYINT:
        mcp_write_int(writer, AT(int8_t));
        return true;
    case DUCKDB_TYPE_SMALLINT:
        mcp_write_int(writer, AT(int16_t));
        return true;
    case DUCKDB_TYPE_INTEGER:
        mcp_write_int(writer, AT(int32_t));
        return true;
    case DUCKDB_TYPE_BIGINT:
        mcp_write_int(writer, AT(int64_t));
        return true;
    case DUCKDB_TYPE_UTINYINT:
        mcp_write_int(writer, AT(uint8_t));
        return true;
    case DUCKDB_TYPE_USMALLINT:
        mcp_write_int(writer, AT(uint16_t));
        return true;
    case DUCKDB_TYPE_UINTEGER:
        mcp_write_int(writer, AT(uint32_t));
        return true;
    case DUCKDB_TYPE_UBIGINT:
        mcp_write_uint(writer, AT(uint64_t));
        return true;
    case DUCKDB_TYPE_FLOAT:
        mcp_write_double_or_null(writer, (double)AT(float));
        return true;
    case DUCKDB_TYPE_DOUBLE:
        mcp_write_double_or_null(writer, AT(double));
        return true;
    default:
        return false;
    }
}

static void put_value(mcp_json_writer *writer, const struct engine_api *api, duckdb_vector vector,
                      duckdb_logical_type type, size_t row)
{
    duckdb_type id = api->get_type_id(type);
    uint64_t *mask = api->vector_get_validity(vector);
    void *data = api->vector_get_data(vector);
    char date[COLUMNS_MOMENT_SIZE];

    if (mask && !api->validity_row_is_valid(mask, row)) {
        mcp_write_null(writer);
        return;
    }
    if (put_number(writer, id, data, row))
        return;
    switch (id) {
    case DUCKDB_TYPE_VARCHAR:
        mcp_write_string_n(writer, api->string_t_data((duckdb_string_t *)data + row),
                           api->string_t_length(AT(duckdb_string_t)));
        return;
    case DUCKDB_TYPE_DATE:
        columns_date_text(date, AT(int32_t));
        mcp_write_string(writer, date);
        return;
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
        put_moment(writer, id, AT(int64_t));
        return;
    case DUCKDB_TYPE_LIST:
        put_nested_list(writer, api, vector, type, row);
        return;
    case DUCKDB_TYPE_STRUCT:
        put_group(writer, api, vector, type, row);
        return;
    default:
        mcp_write_null(writer); /* no type that Parquet files of a study have */
    }
}

mcp_status items_text(const char **out, const struct items *items, size_t row, mcp_arena *arena,
                      mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&writer, &text);
    put_list(&writer, items, row);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK) {
        *out = mcp_arena_strndup(arena, text.data, text.length);
        st = *out ? MCP_OK : MCP_E_NOMEM;
    }
    mcp_buf_clear(&text);
    return st == MCP_OK ? st : mcp_error_set(err, st, "a repeated field cannot be written");
}
