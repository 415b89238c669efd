/*
 * compare.c - changes of outputs, then of their columns.
 */
#include "schema/compare.h"

#include <stdio.h>
#include <string.h>

/* Digits of the longest int64. */
enum { INT64_DIGITS = 19 };

typedef struct comparison {
    mcp_arena *arena;
    casparian_change_found *found;
    void *data;
    const char *output;
    bool has_failed; /* no memory */
} comparison;

static void tell(comparison *self, const char *column, const char *what, const char *from,
                 const char *to, bool breaks)
{
    const casparian_change change = { self->output, column, what, from, to, breaks };
    self->found(self->data, &change);
}

static const char *describe(comparison *self, const casparian_type *type)
{
    const char *kind = casparian_kind_text(type->kind), *text = kind;
    if (type->kind == CASPARIAN_KIND_DECIMAL)
        text = mcp_arena_printf(self->arena, "%s(%d,%d)", kind, type->decimal.precision,
                                type->decimal.scale);
    else if (type->kind == CASPARIAN_KIND_TIMESTAMP_TZ)
        text = mcp_arena_printf(self->arena, "%s(%s)", kind, type->zone);
    self->has_failed = self->has_failed || !text;
    return text ? text : kind;
}

/* Whether every value of a type is one of the other, in the same form. */
static bool fits(const casparian_type *value, const casparian_type *into)
{
    if (casparian_type_equal(value, into))
        return true;
    if (into->kind != CASPARIAN_KIND_DECIMAL)
        return false;
    int digits = into->decimal.precision - into->decimal.scale;
    if (value->kind == CASPARIAN_KIND_INT64)
        return digits >= INT64_DIGITS;
    return value->kind == CASPARIAN_KIND_DECIMAL && value->decimal.scale <= into->decimal.scale &&
           value->decimal.precision - value->decimal.scale <= digits;
}

/* The place of a column; the count of columns: there is none. */
static size_t find(const casparian_definition *in, const char *name)
{
    size_t at = 0;
    while (at < in->count && strcmp(in->columns[at].name, name) != 0)
        at++;
    return at;
}

static void compare_column(comparison *self, const casparian_column *older,
                           const casparian_column *newer)
{
    const char *before = older->pattern ? older->pattern : "";
    const char *after = newer->pattern ? newer->pattern : "";
    if (!casparian_type_equal(&older->type, &newer->type))
        tell(self, older->name, "type", describe(self, &older->type), describe(self, &newer->type),
             !fits(&newer->type, &older->type));
    if (older->is_nullable != newer->is_nullable)
        tell(self, older->name, "nullable", older->is_nullable ? "true" : "false",
             newer->is_nullable ? "true" : "false", newer->is_nullable);
    if (strcmp(before, after) != 0)
        tell(self, older->name, "format", older->pattern, newer->pattern, false);
}

static void compare_output(comparison *self, const casparian_definition *older,
                           const casparian_definition *newer)
{
    size_t last = 0;
    bool is_moved = false;
    self->output = older->output;
    if (older->mode != newer->mode)
        tell(self, NULL, "mode", casparian_mode_text(older->mode), casparian_mode_text(newer->mode),
             false);
    for (size_t i = 0; i < older->count; i++) {
        const casparian_column *column = &older->columns[i];
        size_t at = find(newer, column->name);
        if (at == newer->count) {
            tell(self, column->name, "removed", describe(self, &column->type), NULL, true);
            continue;
        }
        compare_column(self, column, &newer->columns[at]);
        is_moved = is_moved || at < last;
        last = at;
    }
    if (is_moved)
        tell(self, NULL, "order", NULL, NULL, false);
    for (size_t i = 0; i < newer->count; i++)
        if (find(older, newer->columns[i].name) == older->count)
            tell(self, newer->columns[i].name, "added", NULL,
                 describe(self, &newer->columns[i].type), false);
}

mcp_status casparian_schemas_compare(const casparian_schemas *older, const casparian_schemas *newer,
                                     mcp_arena *arena, casparian_change_found *found, void *data,
                                     mcp_error *err)
{
    comparison self = { .arena = arena, .found = found, .data = data };
    for (size_t i = 0; i < older->count; i++) {
        const casparian_definition *after = casparian_schemas_find(newer, older->items[i].output);
        self.output = older->items[i].output;
        if (after)
            compare_output(&self, &older->items[i], after);
        else
            tell(&self, NULL, "removed", NULL, NULL, true);
    }
    for (size_t i = 0; i < newer->count; i++) {
        self.output = newer->items[i].output;
        if (!casparian_schemas_find(older, self.output))
            tell(&self, NULL, "added", NULL, NULL, false);
    }
    return self.has_failed ? mcp_error_set(err, MCP_E_NOMEM, "no memory for changes") : MCP_OK;
}
