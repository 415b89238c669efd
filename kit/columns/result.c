/*
 * result.c - the rows of a query as arrays.
 *
 * DuckDB's result has chunks of 2048 rows, which are copied into arrays of the arena. A group of
 * fields becomes a column for each of its fields, "group.field"; a repeated field becomes a text of
 * JSON, and a repeated group one for each of its fields. So a column of ours is a leaf: a path of
 * children from a column of the result, a list, and a path of children of its items.
 */
#include "columns/result.h"

#include <string.h>

#include "columns/columns_int.h"
#include "columns/items.h"

enum { DEPTH_MAX = 16, LEAVES_MAX = 2048 };

struct path {
    size_t children[DEPTH_MAX];
    size_t depth;
};

struct leaf {
    size_t column; /* of the result */
    struct path path;
    bool is_list;
    struct path items;        /* where is_list: within each item */
    duckdb_logical_type type; /* of the value, or of what an item has at its path */
};

struct reading {
    const struct engine_api *api;
    duckdb_result *result;
    mcp_arena *arena;
    columns_table *table;
    columns_column *columns;
    struct leaf *leaves;
    size_t leaf_count;
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "the file needs more memory than there is for it");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The vector of a leaf in a chunk, and the masks of all that it lies in: a value is there when none
 * of them is missing. */
struct vector {
    duckdb_vector vector;
    uint64_t *masks[DEPTH_MAX + 1];
    size_t mask_count;
};

static void find_vector(struct vector *out, const struct reading *reading, const struct leaf *leaf,
                        duckdb_data_chunk chunk)
{
    const struct engine_api *api = reading->api;

    out->vector = api->data_chunk_get_vector(chunk, leaf->column);
    out->mask_count = 0;
    for (size_t i = 0;; i++) {
        uint64_t *mask = api->vector_get_validity(out->vector);
        if (mask)
            out->masks[out->mask_count++] = mask;
        if (i == leaf->path.depth)
            return;
        out->vector = api->struct_vector_get_child(out->vector, leaf->path.children[i]);
    }
}

static bool is_there(const struct reading *reading, const struct vector *at, size_t row)
{
    for (size_t i = 0; i < at->mask_count; i++)
        if (!reading->api->validity_row_is_valid(at->masks[i], row))
            return false;
    return true;
}

/* One byte a row, made at the first value that is missing. */
static uint8_t *validity_of(struct reading *reading, columns_column *column)
{
    if (column->valid)
        return (uint8_t *)column->valid;
    uint8_t *valid = mcp_arena_alloc(reading->arena, reading->table->rows);
    if (valid)
        memset(valid, 1, reading->table->rows);
    column->valid = valid;
    return valid;
}

static mcp_status copy_text(struct reading *reading, const char **to, duckdb_string_t *from,
                            mcp_error *err)
{
    size_t length = reading->api->string_t_length(*from);
    const char *data = reading->api->string_t_data(from);

    if (memchr(data, '\0', length))
        return mcp_error_set(err, MCP_E_PARSE, "a text holds a NUL byte");
    *to = mcp_arena_strndup(reading->arena, data, length);
    return *to ? MCP_OK : no_memory(err);
}

static mcp_status copy_texts(struct reading *reading, const char **to, const struct vector *at,
                             size_t rows, mcp_error *err)
{
    duckdb_string_t *from = reading->api->vector_get_data(at->vector);
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < rows && st == MCP_OK; i++)
        if (is_there(reading, at, i))
            st = copy_text(reading, &to[i], &from[i], err);
    return st;
}

static mcp_status copy_lists(struct reading *reading, const char **to, const struct leaf *leaf,
                             const struct vector *at, size_t rows, mcp_error *err)
{
    const struct items items = { .api = reading->api,
                                 .list = at->vector,
                                 .path = leaf->items.children,
                                 .depth = leaf->items.depth,
                                 .type = leaf->type };
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < rows && st == MCP_OK; i++)
        if (is_there(reading, at, i))
            st = items_text(&to[i], &items, i, reading->arena, err);
    return st;
}

/* Moments of any unit in microseconds. */
static void copy_moments(struct reading *reading, int64_t *to, const struct leaf *leaf,
                         const struct vector *at, size_t rows)
{
    const int64_t *from = reading->api->vector_get_data(at->vector);
    duckdb_type type = reading->api->get_type_id(leaf->type);

    for (size_t i = 0; i < rows; i++)
        to[i] = is_there(reading, at, i) ? items_moment(type, from[i]) : 0;
}

/* Mark missing values and set them to zero: DuckDB leaves them undefined. */
static mcp_status mark_missing(struct reading *reading, columns_column *column, char *values,
                               size_t size, const struct vector *at, size_t first, size_t rows,
                               mcp_error *err)
{
    for (size_t i = 0; i < rows; i++) {
        if (is_there(reading, at, i))
            continue;
        uint8_t *valid = validity_of(reading, column);
        if (!valid)
            return no_memory(err);
        valid[first + i] = 0;
        memset(values + i * size, 0, size);
    }
    return MCP_OK;
}

static mcp_status copy_vector(struct reading *reading, size_t index, duckdb_data_chunk chunk,
                              size_t first, size_t rows, mcp_error *err)
{
    const struct leaf *leaf = &reading->leaves[index];
    columns_column *column = &reading->columns[index];
    size_t size = columns_type_row(column->type)->size;
    char *values = (char *)column->values + first * size;
    struct vector at;
    mcp_status st = MCP_OK;

    if (column->type == COLUMNS_OTHER)
        return MCP_OK;
    find_vector(&at, reading, leaf, chunk);
    if (column->type == COLUMNS_TEXT)
        st = copy_texts(reading, (const char **)(void *)values, &at, rows, err);
    else if (column->type == COLUMNS_JSON)
        st = copy_lists(reading, (const char **)(void *)values, leaf, &at, rows, err);
    else if (column->type == COLUMNS_TIMESTAMP || column->type == COLUMNS_TIMESTAMP_UTC)
        copy_moments(reading, (int64_t *)(void *)values, leaf, &at, rows);
    else
        memcpy(values, reading->api->vector_get_data(at.vector), rows * size);
    if (st == MCP_OK && at.mask_count > 0)
        st = mark_missing(reading, column, values, size, &at, first, rows, err);
    return st;
}

static mcp_status copy_chunk(struct reading *reading, duckdb_data_chunk chunk, size_t first,
                             size_t rows, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (rows > reading->table->rows - first)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB gives more rows than it said");
    for (size_t i = 0; i < reading->leaf_count && st == MCP_OK; i++)
        st = copy_vector(reading, i, chunk, first, rows, err);
    return st;
}

static mcp_status copy_rows(struct reading *reading, mcp_error *err)
{
    size_t first = 0;
    mcp_status st = MCP_OK;

    while (st == MCP_OK && first < reading->table->rows) {
        duckdb_data_chunk chunk = reading->api->fetch_chunk(*reading->result);
        if (!chunk)
            return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB gives fewer rows than it said");
        size_t rows = reading->api->data_chunk_get_size(chunk);
        st = copy_chunk(reading, chunk, first, rows, err);
        first += rows;
        reading->api->destroy_data_chunk(&chunk);
    }
    return st;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static columns_type type_of(const struct reading *reading, const struct leaf *leaf)
{
    duckdb_type type = reading->api->get_type_id(leaf->type);

    if (leaf->is_list)
        return COLUMNS_JSON;
    switch (type) {
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
        return COLUMNS_TIMESTAMP;
    case DUCKDB_TYPE_TIMESTAMP_TZ:
        return COLUMNS_TIMESTAMP_UTC;
    default:
        return columns_type_from(type);
    }
}

/* Takes the type of the leaf. */
static mcp_status add_leaf(struct reading *reading, const char *name, struct leaf *leaf,
                           mcp_error *err)
{
    columns_column *column = &reading->columns[reading->leaf_count];
    size_t rows = reading->table->rows;

    if (reading->leaf_count == LEAVES_MAX) {
        reading->api->destroy_logical_type(&leaf->type);
        return mcp_error_set(err, MCP_E_LIMIT, "the file has more than %d fields", LEAVES_MAX);
    }
    reading->leaves[reading->leaf_count++] = *leaf;
    column->name = name;
    column->type = type_of(reading, leaf);
    size_t size = columns_type_row(column->type)->size;
    if (size > 0)
        column->values = mcp_arena_array(reading->arena, rows, size);
    return name && (size == 0 || column->values) ? MCP_OK : no_memory(err);
}

static mcp_status add_field(struct reading *reading, const char *name, struct leaf leaf,
                            mcp_error *err);

static mcp_status add_children(struct reading *reading, const char *name, const struct leaf *group,
                               mcp_error *err)
{
    const struct engine_api *api = reading->api;
    size_t depth = group->path.depth + group->items.depth;
    mcp_status st = MCP_OK;

    if (depth == DEPTH_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "groups are nested deeper than %d", DEPTH_MAX);
    for (size_t i = 0; i < api->struct_type_child_count(group->type) && st == MCP_OK; i++) {
        struct leaf child = *group;
        struct path *path = group->is_list ? &child.items : &child.path;
        char *own = api->struct_type_child_name(group->type, i);
        const char *full = mcp_arena_printf(reading->arena, "%s.%s", name, own ? own : "");
        api->free(own);
        path->children[path->depth++] = i;
        child.type = api->struct_type_child_type(group->type, i);
        st = add_field(reading, full, child, err);
    }
    return st;
}

/* A field of any type; takes the type of the leaf. */
static mcp_status add_field(struct reading *reading, const char *name, struct leaf leaf,
                            mcp_error *err)
{
    const struct engine_api *api = reading->api;
    duckdb_type type = api->get_type_id(leaf.type);
    mcp_status st;

    if (!name) {
        api->destroy_logical_type(&leaf.type);
        return no_memory(err);
    }
    if (type == DUCKDB_TYPE_STRUCT) {
        st = add_children(reading, name, &leaf, err);
        api->destroy_logical_type(&leaf.type);
        return st;
    }
    if (type == DUCKDB_TYPE_LIST && !leaf.is_list) {
        struct leaf items = leaf;
        items.is_list = true;
        items.type = api->list_type_child_type(leaf.type);
        api->destroy_logical_type(&leaf.type);
        return add_field(reading, name, items, err);
    }
    return add_leaf(reading, name, &leaf, err);
}

static mcp_status lay_out(struct reading *reading, mcp_error *err)
{
    const struct engine_api *api = reading->api;
    size_t count = api->column_count(reading->result);
    mcp_status st = MCP_OK;

    reading->columns = mcp_arena_array(reading->arena, LEAVES_MAX, sizeof *reading->columns);
    reading->leaves = mcp_arena_array(reading->arena, LEAVES_MAX, sizeof *reading->leaves);
    if (!reading->columns || !reading->leaves)
        return no_memory(err);
    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        const struct leaf leaf = { .column = i,
                                   .type = api->column_logical_type(reading->result, i) };
        st = add_field(reading,
                       mcp_arena_strdup(reading->arena, api->column_name(reading->result, i)), leaf,
                       err);
    }
    reading->table->column_count = reading->leaf_count;
    reading->table->columns = reading->columns;
    return st;
}

mcp_status result_take(const columns_table **out, const struct engine_api *api,
                       duckdb_result *result, size_t rows_max, mcp_arena *arena, mcp_error *err)
{
    struct reading reading = { .api = api, .result = result, .arena = arena };
    size_t rows = api->row_count(result);

    if (rows > rows_max)
        return mcp_error_set(err, MCP_E_LIMIT, "the file has more than %zu rows", rows_max);
    reading.table = mcp_arena_alloc(arena, sizeof *reading.table);
    if (!reading.table)
        return no_memory(err);
    reading.table->rows = rows;
    mcp_status st = lay_out(&reading, err);
    if (st == MCP_OK)
        st = copy_rows(&reading, err);
    for (size_t i = 0; i < reading.leaf_count; i++)
        api->destroy_logical_type(&reading.leaves[i].type);
    if (st == MCP_OK)
        *out = reading.table;
    return st;
}
