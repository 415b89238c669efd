/*
 * shared_defs.c - completing a schema from a common store of definitions.
 *
 * A client gets each schema on its own, so a shape that ten tools share must stand in all ten.
 * Authors write it once, in tools/_defs.json; here the ones that a schema names are found, through
 * one another, and the schema is written again with them. A name that neither knows is left to the
 * compiler to report.
 */
#include "mcp/feature/shared_defs.h"

#include <stdbool.h>
#include <string.h>

#define MERGED_MAX_BYTES ((size_t)8 * 1024 * 1024)

struct defs_search {
    const mcp_json *own;    /* the schema's `$defs` */
    const mcp_json *shared; /* definitions by name */
    bool *named;            /* one for each member of `shared` */
    bool any;
};

static void look_through(struct defs_search *search, const mcp_json *value);

static void note_reference(struct defs_search *search, const char *reference)
{
    static const char prefix[] = "#/$defs/";
    const char *name = reference + sizeof prefix - 1;

    if (strncmp(reference, prefix, sizeof prefix - 1) != 0)
        return;
    size_t length = strcspn(name, "/");
    if (mcp_json_get_n(search->own, name, length))
        return;
    for (size_t i = 0; i < mcp_json_count(search->shared); i++) {
        size_t n = 0;
        const char *candidate = mcp_json_name(search->shared, i, &n);
        if (n != length || memcmp(candidate, name, n) != 0 || search->named[i])
            continue;
        search->named[i] = true;
        search->any = true;
        look_through(search, mcp_json_item(search->shared, i));
    }
}

/* Depth is bounded by what the reader lets through; each shared shape is entered once. */
static void look_through(struct defs_search *search, const mcp_json *value)
{
    bool is_object = mcp_json_is_object(value);

    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const mcp_json *item = mcp_json_item(value, i);
        const char *text = is_object ? mcp_json_string(item, NULL) : NULL;
        if (text && strcmp(mcp_json_name(value, i, NULL), "$ref") == 0)
            note_reference(search, text);
        else
            look_through(search, item);
    }
}

static void write_merged(mcp_json_writer *writer, const mcp_json *schema,
                         const struct defs_search *search)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(schema); i++) {
        const char *name = mcp_json_name(schema, i, NULL);
        if (strcmp(name, "$defs") != 0)
            mcp_write_member_value(writer, name, mcp_json_item(schema, i));
    }
    mcp_write_member_object(writer, "$defs");
    for (size_t i = 0; i < mcp_json_count(search->own); i++)
        mcp_write_member_value(writer, mcp_json_name(search->own, i, NULL),
                               mcp_json_item(search->own, i));
    for (size_t i = 0; i < mcp_json_count(search->shared); i++)
        if (search->named[i])
            mcp_write_member_value(writer, mcp_json_name(search->shared, i, NULL),
                                   mcp_json_item(search->shared, i));
    mcp_write_end(writer);
    mcp_write_end(writer);
}

static mcp_status rewrite(const mcp_json **out, mcp_arena *arena, const mcp_json *schema,
                          const struct defs_search *search, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, MERGED_MAX_BYTES);
    mcp_json_writer_init(&writer, &text);
    write_merged(&writer, schema, search);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(out, arena, text.data, text.length, err);
    else
        (void)mcp_error_set(err, st, "the schema with its shared shapes cannot be written");
    mcp_buf_clear(&text);
    return st;
}

mcp_status mcp__shared_defs_merge(const mcp_json **out, mcp_arena *arena, const mcp_json *schema,
                                  const mcp_json *shared, mcp_error *err)
{
    const mcp_json *inner = mcp_json_get(shared, "$defs");
    struct defs_search search = { .own = mcp_json_get(schema, "$defs"),
                                  .shared = inner ? inner : shared };

    search.named = mcp_arena_array(arena, mcp_json_count(search.shared) + 1, sizeof(bool));
    if (!search.named)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a schema");
    look_through(&search, schema);
    if (search.any)
        return rewrite(out, arena, schema, &search, err);
    *out = schema;
    return MCP_OK;
}
