/*
 * describe.c - the tables of members as JSON Schemas (2020-12).
 */
#include <math.h>

#include "model/members.h"

static void write_type(mcp_json_writer *writer, const char *type)
{
    mcp_write_member_string(writer, "type", type);
}

static void write_types(mcp_json_writer *writer, const char *one, const char *other)
{
    mcp_write_member_array(writer, "type");
    mcp_write_string(writer, one);
    mcp_write_string(writer, other);
    mcp_write_end(writer);
}

static void write_shape_or_ref(mcp_json_writer *writer, const universe_shape *shape, bool is_part,
                               bool refs)
{
    mcp_buf ref;

    if (!refs || is_part) {
        universe_shape_schema(writer, shape, is_part, false);
        return;
    }
    mcp_buf_init(&ref, 256);
    mcp_buf_printf(&ref, "#/$defs/%s", shape->name);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "$ref", ref.data);
    mcp_write_end(writer);
    mcp_buf_clear(&ref);
}

static void write_id_limits(mcp_json_writer *writer)
{
    mcp_write_member_int(writer, "minLength", 1);
    mcp_write_member_int(writer, "maxLength", UNIVERSE_ID_MAX);
}

static void write_number(mcp_json_writer *writer, const universe_member *member)
{
    write_type(writer, "number");
    if (!(member->flags & UNIVERSE_M_RANGE))
        return;
    mcp_write_member_double(writer, "minimum", member->min);
    if (member->flags & UNIVERSE_M_BELOW_MAX)
        mcp_write_member_double(writer, "exclusiveMaximum", member->max);
}

static void write_words(mcp_json_writer *writer, const universe_member *member)
{
    write_type(writer, "string");
    mcp_write_member_array(writer, "enum");
    for (size_t i = 0; member->words[i]; i++)
        mcp_write_string(writer, member->words[i]);
    mcp_write_end(writer);
}

static void write_array_of(mcp_json_writer *writer, const universe_member *member, bool refs)
{
    write_type(writer, "array");
    mcp_write_name(writer, "items");
    if (member->kind == UNIVERSE_K_CHILDREN) {
        write_shape_or_ref(writer, member->shape, false, refs);
        return;
    }
    mcp_write_object(writer);
    write_type(writer, member->kind == UNIVERSE_K_IDS ? "string" : "number");
    mcp_write_end(writer);
    if (member->kind != UNIVERSE_K_PAIR)
        return;
    mcp_write_member_int(writer, "minItems", 2);
    mcp_write_member_int(writer, "maxItems", 2);
}

static void write_members_of(mcp_json_writer *writer, const universe_member *member)
{
    switch (member->kind) {
    case UNIVERSE_K_ID:
        write_type(writer, "string");
        write_id_limits(writer);
        break;
    case UNIVERSE_K_ID_NULL:
        write_types(writer, "string", "null");
        write_id_limits(writer);
        break;
    case UNIVERSE_K_TEXT:
        write_type(writer, "string");
        break;
    case UNIVERSE_K_BOOL:
        write_type(writer, "boolean");
        break;
    case UNIVERSE_K_SEED:
        write_types(writer, "string", "number");
        break;
    case UNIVERSE_K_WORD:
        write_words(writer, member);
        break;
    case UNIVERSE_K_INDEX:
        write_type(writer, "integer");
        mcp_write_member_double(writer, "minimum", member->min);
        mcp_write_member_double(writer, "maximum", member->max);
        break;
    default:
        write_number(writer, member);
        break;
    }
}

static void write_member(mcp_json_writer *writer, const universe_member *member, bool refs)
{
    mcp_write_name(writer, member->name);
    if (member->kind == UNIVERSE_K_OBJECT || member->kind == UNIVERSE_K_PART) {
        write_shape_or_ref(writer, member->shape, member->kind == UNIVERSE_K_PART, refs);
        return;
    }
    mcp_write_object(writer);
    if (member->kind == UNIVERSE_K_MAP) {
        write_type(writer, "object");
        mcp_write_name(writer, "additionalProperties");
        write_shape_or_ref(writer, member->shape, false, refs);
    } else if (member->kind == UNIVERSE_K_IDS || member->kind == UNIVERSE_K_PAIR ||
               member->kind == UNIVERSE_K_CHILDREN) {
        write_array_of(writer, member, refs);
    } else {
        write_members_of(writer, member);
    }
    mcp_write_end(writer);
}

void universe_members_schema(mcp_json_writer *writer, const universe_shape *shape, bool refs)
{
    for (size_t i = 0; i < shape->count; i++)
        write_member(writer, &shape->members[i], refs);
}

void universe_shape_schema(mcp_json_writer *writer, const universe_shape *shape, bool is_part,
                           bool refs)
{
    mcp_write_object(writer);
    write_type(writer, "object");
    mcp_write_member_object(writer, "properties");
    universe_members_schema(writer, shape, refs);
    mcp_write_end(writer);
    if (!is_part) {
        mcp_write_member_array(writer, "required");
        for (size_t i = 0; i < shape->count; i++)
            if (shape->members[i].flags & UNIVERSE_M_REQUIRED)
                mcp_write_string(writer, shape->members[i].name);
        mcp_write_end(writer);
    }
    if (!shape->is_open)
        mcp_write_member_bool(writer, "additionalProperties", false);
    mcp_write_end(writer);
}
