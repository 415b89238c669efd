/*
 * fuzz_entities.c - any bytes as the dictionary of entities of an output directory.
 *
 * What is taken has names inside the text, is found by name and by id, and is the same when it is
 * written with every name in quotes and read again.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/buf.h"
#include "query/entities.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, ARENA_MAX = 16 << 20, SEARCHED = 8 };

#define HEADER "entity_type_code,entity_id,name,bus_id,system_id\n"

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

/* Of exactly its size, so that AddressSanitizer sees one byte read too far. */
static char *copy(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static void must_be_found(const query_entities *entities, mcp_arena *arena)
{
    int64_t *ids = mcp_arena_array(arena, entities->count + 1, sizeof *ids);

    must(ids != NULL);
    for (size_t i = 0; i < entities->count && i < SEARCHED; i++) {
        const query_entity *item = &entities->items[i];
        char id[24];
        int64_t read = 0;
        if (!query_entity_id(&read, item->name))
            must(query_entities_find(ids, entities, item->code, item->name) > 0);
        snprintf(id, sizeof id, "%lld", (long long)item->id);
        size_t count = query_entities_find(ids, entities, item->code, id);
        must(count > 0 && count <= entities->count && ids[0] == item->id);
    }
}

static void write_item(mcp_buf *buf, const query_entity *item)
{
    mcp_buf_printf(buf, "%lld,%lld,\"", (long long)item->code, (long long)item->id);
    for (const char *c = item->name; *c; c++)
        mcp_buf_printf(buf, *c == '"' ? "\"\"" : "%c", *c);
    mcp_buf_printf(buf, "\",0,0\r\n");
}

static void must_be_the_same_again(const query_entities *entities, mcp_arena *arena)
{
    query_entities again = { 0 };
    mcp_buf buf;

    mcp_buf_init(&buf, ARENA_MAX);
    mcp_buf_printf(&buf, HEADER);
    for (size_t i = 0; i < entities->count; i++)
        write_item(&buf, &entities->items[i]);
    must(buf.status == MCP_OK);
    char *text = copy((const uint8_t *)buf.data, buf.length);
    must(query_entities_parse(&again, text, buf.length, arena, NULL) == MCP_OK);
    must(again.count == entities->count);
    for (size_t i = 0; i < again.count; i++) {
        must(again.items[i].code == entities->items[i].code);
        must(again.items[i].id == entities->items[i].id);
        must(strcmp(again.items[i].name, entities->items[i].name) == 0);
    }
    free(text);
    mcp_buf_clear(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    query_entities entities = { 0 };

    if (size > INPUT_MAX)
        return 0;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    char *text = copy(data, size);
    must(arena != NULL);
    if (query_entities_parse(&entities, text, size, arena, NULL) == MCP_OK) {
        for (size_t i = 0; i < entities.count; i++)
            must(entities.items[i].name >= text && entities.items[i].name <= text + size);
        must_be_found(&entities, arena);
        must_be_the_same_again(&entities, arena);
    }
    free(text);
    mcp_arena_free(arena);
    return 0;
}
