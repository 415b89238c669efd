/*
 * shapes.c - the schemas as one document, and a compiled schema for each shape.
 *
 * The document is put together as text, so that references between the files lead within it.
 */
#include "model/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/schema.h"

#define DOCUMENT_URI "https://portarium.dev/openapi"

enum { DOCUMENT_MAX = 1 << 20 };

struct portarium_shapes {
    mcp_arena *arena;
    const mcp_json *document;
    mcp_schema *compiled[PORTARIUM_SHAPE_COUNT];
};

/* clang-format off */
#define NAME(name) #name,
static const char *const names[] = { PORTARIUM_SHAPE_MAP(NAME) };
/* clang-format on */

/* "schemas/Id.json" is "Id": its length, 0 for another file. */
static size_t name_length(const char *path)
{
    static const char folder[] = "schemas/";
    static const char suffix[] = ".json";
    size_t length = strlen(path);
    size_t around = sizeof folder + sizeof suffix - 2;

    return strncmp(path, folder, sizeof folder - 1) == 0 && length > around &&
                   strcmp(path + length - (sizeof suffix - 1), suffix) == 0
               ? length - around
               : 0;
}

static mcp_status read_document(portarium_shapes *self, const mcp_file *files, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, DOCUMENT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_object(&writer, "components");
    mcp_write_member_object(&writer, "schemas");
    for (const mcp_file *file = files; file && file->path; file++) {
        size_t length = name_length(file->path);
        if (length == 0)
            continue;
        const char *name = mcp_arena_strndup(self->arena, file->path + strlen("schemas/"), length);
        mcp_write_name(&writer, name);
        mcp_write_raw(&writer, file->bytes, file->length);
    }
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(&self->document, self->arena, buf.data, buf.length, err);
    else
        mcp_error_set(err, st, "the schemas of bodies: %s", mcp_status_words(st));
    mcp_buf_clear(&buf);
    return st;
}

static const mcp_json *schemas_of(const portarium_shapes *self)
{
    return mcp_json_pointer(self->document, "/components/schemas");
}

static mcp_status compile(portarium_shapes *self, size_t index, mcp_error *err)
{
    const mcp_schema_document document = { DOCUMENT_URI, self->document };
    const mcp_schema_options options = { .documents = &document, .document_count = 1 };
    const mcp_json *schema = NULL;

    if (!mcp_json_get(schemas_of(self), names[index]))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no schemas/%s.json", names[index]);
    const char *text = mcp_arena_printf(
        self->arena, "{\"$ref\":\"" DOCUMENT_URI "#/components/schemas/%s\"}", names[index]);
    if (!text)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the schemas of bodies");
    mcp_status st = mcp_json_read(&schema, self->arena, text, strlen(text), err);
    return st == MCP_OK ? mcp_schema_compile(&self->compiled[index], schema, &options, err) : st;
}

mcp_status portarium_shapes_new(portarium_shapes **out, const mcp_file *files, mcp_error *err)
{
    portarium_shapes *self = calloc(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the schemas of bodies");
    self->arena = mcp_arena_new(0);
    mcp_status st = self->arena ? read_document(self, files, err)
                                : mcp_error_set(err, MCP_E_NOMEM,
                                                "out of memory for the schemas of bodies");
    for (size_t i = 0; st == MCP_OK && i < PORTARIUM_SHAPE_COUNT; i++)
        st = compile(self, i, err);
    if (st == MCP_OK)
        *out = self;
    else
        portarium_shapes_free(self);
    return st;
}

void portarium_shapes_free(portarium_shapes *shapes)
{
    if (!shapes)
        return;
    for (size_t i = 0; i < PORTARIUM_SHAPE_COUNT; i++)
        mcp_schema_free(shapes->compiled[i]);
    mcp_arena_free(shapes->arena);
    free(shapes);
}

bool portarium_is_deeper(const mcp_json *value, int levels)
{
    if (!mcp_json_is_object(value) && !mcp_json_is_array(value))
        return false;
    if (levels == 0)
        return true;
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (portarium_is_deeper(mcp_json_item(value, i), levels - 1))
            return true;
    }
    return false;
}

/* Names the member of the body, not the place within it: that has as many parts as levels. */
static bool find_depth(const mcp_json *body, portarium_fields *fields)
{
    for (size_t i = 0; mcp_json_is_object(body) && i < mcp_json_count(body); i++) {
        if (portarium_is_deeper(mcp_json_item(body, i), PORTARIUM_DEPTH_MAX - 1)) {
            portarium_fields_add(fields,
                                 portarium_fields_at(fields, "", mcp_json_name(body, i, NULL)),
                                 "nested too deep: a body has %d levels", PORTARIUM_DEPTH_MAX);
            return true;
        }
    }
    return false;
}

/* Whether no text of the plane can be that one: PostgreSQL stores no NUL, and C ends at it. */
static bool is_unfit(const char *text, size_t length)
{
    return text && (length > PORTARIUM_TEXT_MAX || memchr(text, '\0', length));
}

/* The first fault that no schema states: a duplicate member, a text that is too long or has a NUL
 * character. Depth first; values are nested at most 64 deep. */
static bool find_fault(const mcp_json *value, const char *at, portarium_fields *fields)
{
    size_t length = 0;
    bool is_object = mcp_json_is_object(value);
    const char *name = is_object ? mcp_json_duplicate(value) : NULL;

    if (name) {
        portarium_fields_add(fields, portarium_fields_at(fields, at, name), "duplicate member");
        return true;
    }
    const char *text = mcp_json_string(value, &length);
    if (is_unfit(text, length)) {
        if (length > PORTARIUM_TEXT_MAX)
            portarium_fields_add(fields, at, "a text of more than %d bytes", PORTARIUM_TEXT_MAX);
        else
            portarium_fields_add(fields, at, "a text with a NUL character");
        return true;
    }
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const mcp_json *item = mcp_json_item(value, i);
        const char *member = is_object ? mcp_json_name(value, i, &length) : NULL;
        if (member && memchr(member, '\0', length)) {
            portarium_fields_add(fields, at, "a name with a NUL character");
            return true;
        }
        text = mcp_json_string(item, &length);
        if (!is_unfit(text, length) && !mcp_json_is_object(item) && !mcp_json_is_array(item))
            continue;
        const char *deeper = is_object ? portarium_fields_at(fields, at, member)
                                       : portarium_fields_index(fields, at, i);
        if (find_fault(item, deeper, fields))
            return true;
    }
    return false;
}

/* The message of a finding without the place that it begins with: the field says that. */
static const char *reason_of(const mcp_schema_finding *finding)
{
    const char *place = *finding->instance_path ? finding->instance_path : "at the root";
    size_t length = strlen(place);
    bool has_place = strncmp(finding->message, place, length) == 0 &&
                     strncmp(finding->message + length, ": ", 2) == 0;
    return finding->message + (has_place ? length + 2 : 0);
}

mcp_status portarium_shape_check(const portarium_shapes *shapes, portarium_shape shape,
                                 const mcp_json *body, portarium_fields *fields, mcp_error *err)
{
    mcp_schema_finding finding = { .instance_path = "" };

    if (!find_depth(body, fields))
        find_fault(body, "", fields);
    mcp_status st = mcp_schema_check(shapes->compiled[shape], body, fields->arena, &finding, err);
    if (st != MCP_OK && st != MCP_E_SCHEMA)
        return st;
    if (st == MCP_E_SCHEMA) {
        const char *field = finding.property ? portarium_fields_at(fields, finding.instance_path,
                                                                   finding.property)
                                             : finding.instance_path;
        portarium_fields_add(fields, field, "%s", reason_of(&finding));
    }
    return portarium_fields_status(fields, err);
}

void portarium_shapes_write(mcp_json_writer *out, const portarium_shapes *shapes)
{
    mcp_write_value(out, schemas_of(shapes));
}
