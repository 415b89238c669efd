/*
 * fixture.h - what the tests of lib/schema share: a schema and a value as text, and what must
 * come out.
 */
#ifndef TEST_SCHEMA_FIXTURE_H
#define TEST_SCHEMA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "mcp/schema.h"

static inline const mcp_json *read_json(mcp_arena *arena, const char *text)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_json_read(&value, arena, text, strlen(text), &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return value;
}

static inline mcp_schema *compile(mcp_arena *arena, const char *text,
                                  const mcp_schema_options *options)
{
    mcp_schema *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_schema_compile(&schema, read_json(arena, text), options, &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return schema;
}

/* What checking the value says, under these options. */
static inline mcp_status verdict(const char *schema, const char *value,
                                 const mcp_schema_options *options)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *compiled = compile(arena, schema, options);
    mcp_status st = mcp_schema_check(compiled, read_json(arena, value), arena, NULL, NULL);

    mcp_schema_free(compiled);
    mcp_arena_free(arena);
    return st;
}

static inline void fits(const char *schema, const char *value)
{
    mcp_status st = verdict(schema, value, NULL);

    if (st != MCP_OK)
        fail_msg("%s should fit %s, but: %s", value, schema, mcp_status_words(st));
}

static inline void misfits(const char *schema, const char *value)
{
    mcp_status st = verdict(schema, value, NULL);

    if (st != MCP_E_SCHEMA)
        fail_msg("%s should not fit %s, but: %s", value, schema, mcp_status_words(st));
}

/* A finding as it should be; NULL for what does not matter. */
typedef struct expected {
    const char *keyword;
    const char *instance_path;
    const char *schema_path;
    const char *property;
    const char *message;
} expected;

static inline void same(const char *is, const char *should, const char *value)
{
    if (should && (!is || strcmp(is, should) != 0))
        fail_msg("%s: \"%s\" instead of \"%s\"", value, is ? is : "NULL", should);
}

static inline void finds(const char *schema, const char *value, expected should)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *compiled = compile(arena, schema, NULL);
    mcp_schema_finding finding = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = mcp_schema_check(compiled, read_json(arena, value), arena, &finding, &err);
    if (st != MCP_E_SCHEMA)
        fail_msg("%s should not fit %s", value, schema);
    same(finding.keyword, should.keyword, value);
    same(finding.instance_path, should.instance_path, value);
    same(finding.schema_path, should.schema_path, value);
    same(finding.property, should.property, value);
    same(finding.message, should.message, value);
    assert_string_equal(finding.message, err.message);
    assert_int_equal(err.status, MCP_E_SCHEMA);
    mcp_schema_free(compiled);
    mcp_arena_free(arena);
}

/* The schema does not compile, for a reason that contains these words. */
static inline void rejects_with(const char *schema, mcp_status status, const char *words,
                                const mcp_schema_options *options)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *compiled = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_schema_compile(&compiled, read_json(arena, schema), options, &err);

    if (st != status || err.status != status || !strstr(err.message, words))
        fail_msg("%s: %s: \"%s\" instead of \"%s\"", schema, mcp_status_name(st), err.message,
                 words);
    assert_null(compiled);
    mcp_arena_free(arena);
}

static inline void rejects(const char *schema, const char *words)
{
    rejects_with(schema, MCP_E_SCHEMA, words, NULL);
}

#endif
