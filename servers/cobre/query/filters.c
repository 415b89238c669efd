/*
 * filters.c - see filters.h.
 */
#include "query/filters.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/entities.h"

#define TEXT_MAX 200 /* bytes of a client's text that a record repeats */

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the filters");
}

static mcp_status kept(const cobre_record *record, mcp_error *err)
{
    return record ? MCP_OK : no_memory(err);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* JSON Schema calls 1e30 an integer; it is beyond every stored value. */
static int64_t bound_of(const mcp_json *value)
{
    int64_t bound = 0;
    double number = 0;

    if (mcp_json_int(value, &bound))
        return bound;
    mcp_json_double(value, &number);
    if (number >= 9e18)
        return INT64_MAX;
    return number <= -9e18 ? INT64_MIN : (int64_t)number;
}

mcp_status query_range_read(query_range *out, const cobre_record **refusal, const char *field,
                            const mcp_json *json, mcp_arena *arena, mcp_error *err)
{
    *out = (query_range){ 0 };
    if (!json)
        return MCP_OK;
    out->is_set = true;
    out->first = bound_of(mcp_json_item(json, 0));
    out->last = bound_of(mcp_json_item(json, 1));
    if (out->first <= out->last)
        return MCP_OK;
    *refusal = cobre_record_new(
        arena, "OutOfRange", "Give the smaller number first.",
        COBRE_MEMBERS(COBRE_TEXT("field", field), COBRE_INT("value", out->first), COBRE_NULL("min"),
                      COBRE_INT("max", out->last)),
        "%s begins at %" PRId64 ", after its end %" PRId64, field, out->first, out->last);
    return kept(*refusal, err);
}

/* ---- columns --------------------------------------------------------------------------------- */

static mcp_status refuse_column(const cobre_record **refusal, const char *name,
                                const query_table *table, mcp_arena *arena, mcp_error *err)
{
    const char *all[QUERY_COLUMNS_MAX + 1];

    all[query_columns_all(all, table)] = NULL;
    *refusal = cobre_record_new(arena, "InvalidEnum", "Name some of the columns that there are.",
                                COBRE_MEMBERS(COBRE_TEXT("field", "filters.columns"),
                                              COBRE_TEXT("value", name),
                                              COBRE_LIST("allowed_values", all)),
                                "%s have no column '%.*s'", table->name, TEXT_MAX, name);
    return kept(*refusal, err);
}

static mcp_status refuse_double(const cobre_record **refusal, const char *name, mcp_arena *arena,
                                mcp_error *err)
{
    *refusal = cobre_record_new(arena, "SchemaViolation", "Name each column once.",
                                COBRE_MEMBERS(COBRE_TEXT("field", "filters.columns"),
                                              COBRE_TEXT("expected", "different names"),
                                              COBRE_TEXT("actual", name)),
                                "the column '%.*s' is named twice", TEXT_MAX, name);
    return kept(*refusal, err);
}

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static mcp_status refuse_count(const cobre_record **refusal, const char *field, size_t count,
                               int64_t most, mcp_arena *arena, mcp_error *err)
{
    *refusal = cobre_record_new(
        arena, "OutOfRange", "Ask in several calls, or leave it out.",
        COBRE_MEMBERS(COBRE_TEXT("field", field), COBRE_INT("value", (int64_t)count),
                      COBRE_INT("min", 1), COBRE_INT("max", most)),
        "%s has %zu items; 1 to %" PRId64 " are possible", field, count, most);
    return kept(*refusal, err);
}

/* A text without NUL; "" stands for one that has NUL, and names nothing. */
static const char *text_of(const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    return text && strlen(text) == length ? text : "";
}

static mcp_status read_columns(query_filters *out, const cobre_record **refusal,
                               const mcp_json *json, const query_table *table, mcp_arena *arena,
                               mcp_error *err)
{
    size_t count = mcp_json_count(json);
    size_t room = json ? count : QUERY_COLUMNS_MAX;

    if (json && (count == 0 || count > QUERY_COLUMNS_MAX))
        return refuse_count(refusal, "filters.columns", count, QUERY_COLUMNS_MAX, arena, err);
    const char **names = mcp_arena_array(arena, room, sizeof *names);
    const char **shown = mcp_arena_array(arena, room, sizeof *shown);
    if (!names || !shown)
        return no_memory(err);
    out->names = names;
    out->shown = json ? shown : names;
    out->name_count = json ? count : query_columns_all(names, table);
    for (size_t i = 0; i < count; i++) {
        shown[i] = text_of(mcp_json_item(json, i));
        names[i] = query_column_find(table, shown[i]);
        if (!names[i])
            return refuse_column(refusal, shown[i], table, arena, err);
        if (is_one_of(shown, i, shown[i]))
            return refuse_double(refusal, shown[i], arena, err);
    }
    return MCP_OK;
}

/* ---- entities -------------------------------------------------------------------------------- */

static mcp_status refuse_item(const cobre_record **refusal, size_t index, const mcp_json *item,
                              mcp_arena *arena, mcp_error *err)
{
    const char *field = mcp_arena_printf(arena, "filters.entity_id.%zu", index);

    *refusal = cobre_record_new(
        arena, "TypeMismatch", "Give ids as integers or their decimal text, or exact names.",
        COBRE_MEMBERS(COBRE_TEXT("field", field), COBRE_TEXT("expected_type", "string"),
                      COBRE_TEXT("actual_type", mcp_json_type_name(mcp_json_type_of(item)))),
        "item %zu of filters.entity_id is neither an id nor a name", index);
    return kept(*refusal, err);
}

/* JSON Schema calls 1.0 an integer. */
static bool is_integral(const mcp_json *value)
{
    double number = 0;

    return mcp_json_double(value, &number) && number == trunc(number);
}

static const char *entity_text(const mcp_json *value, mcp_arena *arena)
{
    int64_t id = 0;
    double number = 0;

    if (mcp_json_int(value, &id))
        return mcp_arena_printf(arena, "%" PRId64, id);
    if (mcp_json_double(value, &number))
        return mcp_arena_printf(arena, "%.0f", number + 0.0); /* not "-0" */
    return text_of(value);
}

static mcp_status read_entities(query_filters *out, const cobre_record **refusal,
                                const mcp_json *json, const query_table *table, mcp_arena *arena,
                                mcp_error *err)
{
    bool is_list = mcp_json_is_array(json);
    size_t count = is_list ? mcp_json_count(json) : 1;

    if (!json)
        return MCP_OK;
    if (!table->entity) {
        *refusal = cobre_record_new(arena, "SchemaViolation", "Leave entity_id out.",
                                    COBRE_MEMBERS(COBRE_TEXT("field", "filters.entity_id"),
                                                  COBRE_TEXT("expected", "no entity_id"),
                                                  COBRE_TEXT("actual", table->name)),
                                    "%s has no entities", table->name);
        return kept(*refusal, err);
    }
    if (count == 0 || count > QUERY_ENTITIES_MAX)
        return refuse_count(refusal, "filters.entity_id", count, QUERY_ENTITIES_MAX, arena, err);
    const char **texts = mcp_arena_array(arena, count, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++) {
        const mcp_json *item = is_list ? mcp_json_item(json, i) : json;
        if (!mcp_json_is_string(item) && !is_integral(item))
            return refuse_item(refusal, i, item, arena, err);
        texts[i] = entity_text(item, arena);
        if (!texts[i])
            return no_memory(err);
    }
    out->entities = texts;
    out->entity_count = count;
    return texts ? MCP_OK : no_memory(err);
}

static mcp_status refuse_entity(const cobre_record **refusal, const char *text,
                                const query_table *table, mcp_arena *arena, mcp_error *err)
{
    *refusal = cobre_record_new(
        arena, "MissingReference", "training/dictionaries/entities.csv lists ids and names.",
        COBRE_MEMBERS(COBRE_TEXT("file", QUERY_ENTITIES), COBRE_TEXT("entity_id", text),
                      COBRE_TEXT("field", "filters.entity_id"),
                      COBRE_TEXT("referenced_value", text),
                      COBRE_TEXT("referenced_registry", table->name)),
        "none of the %s is '%.*s'", table->name, TEXT_MAX, text);
    return kept(*refusal, err);
}

static int by_number(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a;
    int64_t second = *(const int64_t *)b;

    return (first > second) - (first < second);
}

static size_t sort_ids(int64_t *ids, size_t count)
{
    size_t kept_count = 0;

    qsort(ids, count, sizeof *ids, by_number);
    for (size_t i = 0; i < count; i++)
        if (kept_count == 0 || ids[kept_count - 1] != ids[i])
            ids[kept_count++] = ids[i];
    return kept_count;
}

/* Without a dictionary ids are taken as they are. */
static mcp_status take_ids(query_question *out, const query_filters *filters, mcp_arena *arena,
                           const mcp_error *absent, mcp_error *err)
{
    int64_t *ids = mcp_arena_array(arena, filters->entity_count, sizeof *ids);

    if (!ids)
        return no_memory(err);
    for (size_t i = 0; i < filters->entity_count; i++)
        if (!query_entity_id(&ids[i], filters->entities[i]))
            return mcp_error_set(err, MCP_E_NOT_FOUND, "%s", absent->message);
    out->ids = ids;
    out->id_count = sort_ids(ids, filters->entity_count);
    return MCP_OK;
}

/* Each text may name several entities; a list of all ids is as long as the dictionary at most, once
 * doubles are gone. */
static mcp_status find_ids(query_question *out, const cobre_record **refusal,
                           const query_filters *filters, const query_entities *entities,
                           mcp_arena *arena, mcp_error *err)
{
    int64_t code = out->table->entity_code;
    size_t room = 0;
    size_t count = 0;

    for (size_t i = 0; i < filters->entity_count; i++) {
        size_t found = query_entities_find(NULL, entities, code, filters->entities[i]);
        if (found == 0)
            return refuse_entity(refusal, filters->entities[i], out->table, arena, err);
        room += found;
    }
    int64_t *ids = mcp_arena_array(arena, room, sizeof *ids);
    if (!ids)
        return no_memory(err);
    for (size_t i = 0; i < filters->entity_count; i++)
        count += query_entities_find(ids + count, entities, code, filters->entities[i]);
    out->ids = ids;
    out->id_count = sort_ids(ids, count);
    return MCP_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static mcp_status refuse_range(const cobre_record **refusal, const char *field,
                               const query_table *table, mcp_arena *arena, mcp_error *err)
{
    *refusal = cobre_record_new(arena, "SchemaViolation", "Leave the filter out.",
                                COBRE_MEMBERS(COBRE_TEXT("field", field),
                                              COBRE_TEXT("expected", "no such filter"),
                                              COBRE_TEXT("actual", table->name)),
                                "%s has neither stages nor scenarios", table->name);
    return kept(*refusal, err);
}

mcp_status query_filters_read(query_filters *out, const cobre_record **refusal,
                              const mcp_json *filters, const query_table *table, mcp_arena *arena,
                              mcp_error *err)
{
    static const char *const fields[2] = { "filters.stage_range", "filters.scenario_range" };
    query_range *ranges[2] = { &out->stages, &out->scenarios };
    const mcp_json *limit = mcp_json_get(filters, "limit");
    int64_t rows = limit ? bound_of(limit) : QUERY_LIMIT_DEFAULT;
    mcp_status st = MCP_OK;

    *refusal = NULL;
    *out = (query_filters){ 0 };
    out->limit = rows > 0 ? (uint64_t)rows : 0;
    for (size_t i = 0; i < 2 && st == MCP_OK && !*refusal; i++) {
        const mcp_json *range = mcp_json_get(filters, fields[i] + strlen("filters."));
        if (range && !table->folder)
            return refuse_range(refusal, fields[i], table, arena, err);
        st = query_range_read(ranges[i], refusal, fields[i], range, arena, err);
    }
    if (st == MCP_OK && !*refusal)
        st = read_columns(out, refusal, mcp_json_get(filters, "columns"), table, arena, err);
    if (st == MCP_OK && !*refusal)
        st = read_entities(out, refusal, mcp_json_get(filters, "entity_id"), table, arena, err);
    return st;
}

mcp_status query_filters_resolve(query_question *out, const cobre_record **refusal,
                                 const query_filters *filters, const query_table *table, int out_fd,
                                 mcp_arena *arena, mcp_error *err)
{
    query_entities entities = { 0 };
    mcp_error why = MCP_ERROR_INIT;

    *refusal = NULL;
    *out = (query_question){ .table = table,
                             .names = filters->names,
                             .name_count = filters->name_count,
                             .stages = filters->stages,
                             .scenarios = filters->scenarios,
                             .rows_max = filters->limit };
    if (!filters->entities)
        return MCP_OK;
    mcp_status st = query_entities_read(&entities, out_fd, arena, &why);
    if (st == MCP_E_NOT_FOUND)
        return take_ids(out, filters, arena, &why, err);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s", why.message);
    return find_ids(out, refusal, filters, &entities, arena, err);
}
