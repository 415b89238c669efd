/**
 * shape.h - the shape of a JSON file: what its field tables do not say by themselves.
 *
 * A reader reads a file by its field tables and by its own code where arrays and unions nest. Its
 * shape names those tables again, so that the file's JSON Schema is made of what the loader reads
 * (schema/schema.h). A shape is constant and belongs to its reader.
 */
#ifndef COBRE_CASE_SHAPE_H
#define COBRE_CASE_SHAPE_H

#include "case/fields.h"

typedef enum cobre_shape_kind {
    COBRE_SHAPE_OBJECT,  /* the members of `tables`, with `joints` at some of them */
    COBRE_SHAPE_LIST,    /* an array of `of` */
    COBRE_SHAPE_MAP,     /* an object of any names, each an `of` */
    COBRE_SHAPE_NUMBER,  /* a number within min and max */
    COBRE_SHAPE_INTEGER, /* an integer within min and max */
    COBRE_SHAPE_TEXT,    /* a text that matches `pattern` */
    COBRE_SHAPE_EITHER   /* one of `either` */
} cobre_shape_kind;

typedef struct cobre_shape cobre_shape;

/** The shape of one member, by its path in the tables; a NULL path ends a list. */
typedef struct cobre_joint {
    const char *path;
    const cobre_shape *shape;
} cobre_joint;

struct cobre_shape {
    cobre_shape_kind kind;
    const cobre_field *tables[3]; /* each ends as usual; NULL: no further one */
    const cobre_joint *joints;    /* NULL: none */
    const char *tag, *tag_value; /* an object of a union: the member that tells it, and its value */
    bool is_closed;              /* the objects within take no other members */
    const char *key;             /* the object has this one member, a list of `of` */
    const char *forbidden;       /* a member that the object may not have */
    const char *rules;           /* JSON of an "allOf": rules between members; NULL: none */
    const cobre_shape *of;
    size_t count, least;              /* items of a list: exactly, at least; 0: any */
    double min, max;                  /* both 0: no limits */
    const char *pattern;              /* a regular expression of ECMA-262 */
    const cobre_shape *const *either; /* NULL ends it */
};

#endif
