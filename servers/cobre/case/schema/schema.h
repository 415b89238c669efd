/**
 * schema.h - the JSON Schemas (draft 2020-12) of a case's JSON files, made of the loader's tables.
 *
 * A schema says what layer 2 of the validation asks of one file; rules between files are not in it.
 *
 *     for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++)
 *         cobre_schema_write(&cobre_schemas[i], &writer);
 */
#ifndef COBRE_CASE_SCHEMA_SCHEMA_H
#define COBRE_CASE_SCHEMA_SCHEMA_H

#include "mcp/json.h"

#include "case/inventory.h"
#include "case/shape.h"

enum { COBRE_SCHEMA_COUNT = 17 };

typedef struct cobre_schema {
    cobre_file_id file;
    const char *name; /* "buses": written as buses.schema.json, "$id" urn:cobre:schema:buses */
    const cobre_shape *shape;
    const char *title;
} cobre_schema;

/** One per JSON file of the format, by name. */
extern const cobre_schema cobre_schemas[COBRE_SCHEMA_COUNT];

/** The schema of a file; NULL for a Parquet file. */
const cobre_schema *cobre_schema_of(cobre_file_id file);

/** Write a schema as one JSON object. */
void cobre_schema_write(const cobre_schema *schema, mcp_json_writer *writer);

#endif
