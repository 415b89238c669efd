/*
 * bodies.h - what tests of bodies share: the shapes, an arena, and bodies as text in which ' stands
 * for ".
 */
#ifndef TESTS_PORTARIUM_BODIES_H
#define TESTS_PORTARIUM_BODIES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/files.h"
#include "model/shapes.h"

extern const mcp_file portarium_files[];

typedef struct bodies {
    portarium_shapes *shapes;
    mcp_arena *arena;
    portarium_fields fields;
    mcp_error err;
} bodies;

static inline int bodies_set_up(void **state)
{
    bodies *self = calloc(1, sizeof *self);

    assert_non_null(self);
    self->arena = mcp_arena_new(0);
    if (portarium_shapes_new(&self->shapes, portarium_files, &self->err) != MCP_OK)
        fail_msg("%s", self->err.message);
    portarium_fields_init(&self->fields, self->arena);
    *state = self;
    return 0;
}

static inline int bodies_tear_down(void **state)
{
    bodies *self = *state;

    portarium_shapes_free(self->shapes);
    mcp_arena_free(self->arena);
    free(self);
    return 0;
}

/* The value of a text in which ' stands for ". The fields begin empty again. */
static inline const mcp_json *body_of(bodies *self, const char *text)
{
    char *copy = mcp_arena_strdup(self->arena, text);
    const mcp_json *out = NULL;

    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    portarium_fields_init(&self->fields, self->arena);
    if (mcp_json_read(&out, self->arena, copy, strlen(copy), &self->err) != MCP_OK)
        fail_msg("%s: %s", self->err.message, text);
    return out;
}

/* The only breach is of this field. */
static inline void expect_field(const bodies *self, mcp_status st, const char *field,
                                const char *of)
{
    if (st != MCP_E_SCHEMA || self->fields.count != 1 ||
        strcmp(self->fields.items[0].field, field) != 0)
        fail_msg("%s: %s, %zu breaches, first '%s': %s; expected '%s'", of, mcp_status_name(st),
                 self->fields.count, self->fields.count ? self->fields.items[0].field : "",
                 self->fields.count ? self->fields.items[0].message : "", field);
}

#endif
