/*
 * hostile.c - the messages: deep, wide, repetitive, ambiguous, and the schemas that they hurt most.
 */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they are sent to ------------------------------------------------------------------- */

static const char tool_file[] =
    "{\"name\":\"hostile/take\",\"description\":\"Takes anything.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"numbers\":{\"items\":{\"type\":\"number\"}},"
    "\"unique\":{\"uniqueItems\":true},"
    "\"word\":{\"pattern\":\"^(a+)+$\"},"
    "\"words\":{\"items\":{\"pattern\":\"^([a-z]+ ?)+$\"}},"
    "\"choice\":{\"items\":{\"enum\":[\"a\",\"b\",[1],{\"c\":2}]}},"
    "\"tree\":{\"$ref\":\"#/$defs/tree\"},"
    "\"chain\":{\"$ref\":\"#/$defs/chain\"},"
    "\"names\":{\"patternProperties\":{\"^a.*1$\":{\"type\":\"number\"},\"^.*[0-9]$\":true}},"
    "\"closed\":{\"properties\":{\"x\":true},\"additionalProperties\":false},"
    "\"steps\":{\"items\":{\"multipleOf\":0.001}}},"
    "\"$defs\":{\"tree\":{\"oneOf\":[{\"type\":\"null\"},"
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/tree\"}},"
    "{\"type\":\"array\",\"maxItems\":9,\"items\":{\"$ref\":\"#/$defs/tree\"}}]},"
    "\"chain\":{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#/$defs/chain\"}},"
    "\"unevaluatedProperties\":false}}}}";

static const char resources_file[] =
    "{\"resourceTemplates\":[{\"uriTemplate\":\"h://{a}/{b}/{c}/{d}\",\"name\":\"four\"},"
    "{\"uriTemplate\":\"h://list{?q,r,s*}\",\"name\":\"query\"}]}";

static const char prompt_file[] = "---\n"
                                  "name: hostile\n"
                                  "description: Takes a word\n"
                                  "argument: word, optional, Any\n"
                                  "---\n"
                                  "{{word}}\n";

static mcp_status take(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_bool(mcp_call_result(call), "taken", true);
    return MCP_OK;
}

static mcp_status give_text(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_contents_text(call, NULL, NULL, "taken", 5);
}

/* clang-format off */
static const mcp_file files[] = {
    { "tools/hostile/take.json", tool_file, sizeof tool_file - 1 },
    { "resources.json", resources_file, sizeof resources_file - 1 },
    { "prompts/hostile.md", prompt_file, sizeof prompt_file - 1 },
    { 0 }
};
static const mcp_tool tools[] = { { "hostile/take", take, MCP_READS, 0, 0 }, { 0 } };
static const mcp_resource resources[] = {
    { "h://{a}/{b}/{c}/{d}", give_text, MCP_READS, 0 },
    { "h://list{?q,r,s*}", give_text, MCP_READS, 0 },
    { 0 }
};
static const mcp_prompt prompts[] = { { "hostile", NULL, 0, 0 }, { 0 } };
/* clang-format on */

const mcp_features hostile_features = {
    .files = files,
    .tools = tools,
    .resources = resources,
    .prompts = prompts,
};

/* ---- the messages ---------------------------------------------------------------------------- */

#define ASK(method) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{"
#define CALL ASK("tools/call") "\"name\":\"hostile/take\",\"arguments\":{"
#define ONE                                                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":1#,\"method\":\"tools/call\",\"params\":{"                        \
    "\"name\":\"hostile/take\",\"arguments\":{"
#define MODERN                                                                                     \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}},"
#define KIB ((size_t)1024)
#define MOST (4096 * KIB - 512) /* with what stands around it, just below the bound of a message */
#define HEAVY "takes too much work"
#define UNPARSED "-32700"
#define TEN(x) x x x x x x x x x x

/* clang-format off */
const hostile hostile_messages[] = {
    /* name begin unit end bytes answer */
    { "brackets",                "",                      "[",            "",                MOST,       UNPARSED },
    { "nested objects",          "",                      "{\"a\":",      "",                MOST,       UNPARSED },
    { "deep within",             CALL "\"any\":",         "[",            "1",               60,         UNPARSED },
    { "numbers",                 CALL "\"numbers\":[",    "1,",           "1]}}}",           MOST,       "taken" },
    { "numbers, loop-size",      CALL "\"numbers\":[",    "1,",           "1]}}}",           63 * KIB,   "taken" },
    { "doubles",                 CALL "\"numbers\":[",    "1.2345678901234567e-300,", "1]}}}", MOST,     "taken" },
    { "subnormal doubles",       CALL "\"numbers\":[",    "2.2250738585072011e-308,", "1]}}}", MOST,     "taken" },
    { "a double of many digits", CALL "\"numbers\":[0.",  "1",            "]}}}",            MOST,       "taken" },
    { "doubles of 800 digits",   CALL "\"numbers\":[",    "2.2" TEN(TEN("50738585")) "e-308,", "1]}}}", MOST, "taken" },
    { "an integer of 10^5 digits", CALL "\"numbers\":[",  "9",            "]}}}",            100 * KIB,  UNPARSED },
    { "1e400 at the end",        CALL "\"numbers\":[",    "1,",           "1e400]}}}",       MOST,       UNPARSED },
    { "decimals, multipleOf",    CALL "\"steps\":[",      "0.#,",         "1]}}}",           MOST,       "" },
    { "escapes",                 CALL "\"any\":\"",       "\\u0041",      "\"}}}",           MOST,       "taken" },
    { "escaped quotes",          CALL "\"any\":\"",       "\\\"",         "\"}}}",           MOST,       "taken" },
    { "surrogates",              CALL "\"any\":\"",       "\\ud83d\\ude00", "\"}}}",         MOST,       "taken" },
    /* becomes U+FFFD */
    { "a lone surrogate",        CALL "\"any\":\"",       "\\ud83d\\ude00", "\\ud83d\"}}}",  MOST,       "taken" },
    { "four-byte characters",    CALL "\"any\":\"",       "\xf0\x9f\x98\x80", "\"}}}",       MOST,       "taken" },
    { "half a character",        CALL "\"any\":\"",       "\xf0\x9f\x98\x80", "\xf0\x9f\x98\"}}}", MOST, UNPARSED },
    { "overlong encoding",       CALL "\"any\":\"",       "\xf0\x9f\x98\x80", "\xc0\xaf\"}}}", MOST,     UNPARSED },
    { "names with one beginning", CALL "\"any\":{",       "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#\":1,", "\"b\":1}}}}", MOST, "taken" },
    { "short names",             CALL "\"any\":{",        "\"#\":1,",     "\"b\":1}}}}",     MOST,       "taken" },
    { "one name again and again", CALL "\"any\":{",       "\"a\":1,",     "\"a\":1}}}}",     MOST,       "duplicate member" },
    { "params twice",            ASK("tools/call"),       "\"a\":1,",     "\"a\":1}}",       MOST,       "-32600" },
    { "params of many names",    ASK("tools/call"),       "\"#\":1,",     "\"a\":1}}",       MOST,       "-32602" },
    { "members of the message",  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",", "\"#\":1,", "\"a\":1}", MOST, "\"result\"" },
    { "a closed object",         CALL "\"closed\":{",     "\"#\":1,",     "\"x\":1}}}}",     MOST,       "is not allowed" },
    { "names and patterns",      CALL "\"names\":{",      "\"a#\":1,",    "\"a\":1}}}}",     MOST,       "" },
    { "a word that backtracks",  CALL "\"word\":\"",      "a",            "b\"}}}",          MOST,       HEAVY },
    { "the same, loop-size",     CALL "\"word\":\"",      "a",            "b\"}}}",          60 * KIB,   HEAVY },
    { "words that backtrack",    CALL "\"words\":[",      "\"abcdefghijklmnopqrstuvwxyz!\",", "\"a\"]}}}", 60 * KIB, HEAVY },
    { "unique numbers",          CALL "\"unique\":[",     "1#,",          "0]}}}",           MOST,       "taken" },
    { "unique numbers, 10^5",    CALL "\"unique\":[",     "1#,",          "0]}}}",           900000,     "taken" },
    { "unique objects",          CALL "\"unique\":[",     "{\"a\":1#,\"b\":[]},", "0]}}}",   MOST,       "taken" },
    { "equal at the end",        CALL "\"unique\":[",     "1#,",          "0,0]}}}",         MOST,       "are equal" },
    { "choices",                 CALL "\"choice\":[",     "[1],",         "[1]]}}}",         MOST,       "" },
    { "a tree that explodes",    CALL "\"tree\":",        "[",            "1" TEN("]]]]]") "}}}", 50,    HEAVY },
    { "a wide tree",             CALL "\"tree\":[",       "[[[]]],",      "[]]}}}",          63 * KIB,   "" },
    { "a chain of references",   CALL "\"chain\":",       "{\"next\":",   "{}" TEN("}}}}}") "}}}", 400,  "taken" },
    { "a cursor",                ASK("tools/list") "\"cursor\":\"", "AAAA", "\"}}",          MOST,       "-32602" },
    { "a cursor, loop-size",     ASK("tools/list") "\"cursor\":\"", "AAAA", "\"}}",          63 * KIB,   "-32602" },
    { "an id",                   "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"", "x", "\"}", MOST, "-32600" },
    { "an id of escapes",        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"", "\\u0001", "\"}", 6000, "\"result\"" },
    { "an id of a fault",        "{\"jsonrpc\":\"2.0\",\"method\":\"none\",\"id\":\"", "\\u0001", "\"}", 6000, "-32601" },
    { "a progress token",        CALL "\"any\":1},\"_meta\":{\"progressToken\":\"", "x", "\"}}}", MOST,  "-32602" },
    { "a method",                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"", "x", "\"}",  MOST,       "-32601" },
    { "a tool's name",           ASK("tools/call") "\"name\":\"", "x",    "\"}}",            MOST,       "-32602" },
    { "a URI",                   ASK("resources/read") "\"uri\":\"h://", "a/", "x\"}}",      MOST,       "-32602" },
    { "a URI, at its bound",     ASK("resources/read") "\"uri\":\"h://a/b/c/", "%41", "\"}}", 16000,     "taken" },
    { "a URI of slashes",        ASK("resources/read") "\"uri\":\"h://", "/", "x\"}}",       16000,      "-32" },
    { "a query",                 ASK("resources/read") "\"uri\":\"h://list?q=1", "&s=1", "\"}}", 16000,  "taken" },
    { "a prompt's argument",     ASK("prompts/get") "\"name\":\"hostile\",\"arguments\":{\"word\":\"", "x", "\"}}}", MOST, "\"messages\"" },
    { "a prompt's arguments",    ASK("prompts/get") "\"name\":\"hostile\",\"arguments\":{", "\"#\":\"\",", "\"a\":\"\"}}}", MOST, "" },
    { "a completion",            ASK("completion/complete") "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"hostile\"},\"argument\":{\"name\":\"word\",\"value\":\"", "x", "\"}}}", MOST, "" },
    { "a state",                 ASK("tools/call") MODERN "\"name\":\"hostile/take\",\"arguments\":{},\"requestState\":\"v1.", "A", ".AAAA\"}}", MOST, "-32602" },
    { "a state, signed wrong",   ASK("tools/call") MODERN "\"name\":\"hostile/take\",\"arguments\":{},\"requestState\":\"v1.", "A", ".AAAA\"}}", 200 * KIB, "-32602" },
    { "answers to nothing",      ASK("tools/call") MODERN "\"name\":\"hostile/take\",\"arguments\":{},\"inputResponses\":{", "\"#\":{},", "\"a\":{}}}}", MOST, "taken" },
    { "a batch of numbers",      "[",                     "1,",           "1]",              MOST,       "at most" },
    { "a batch of calls",        "[" CALL "\"numbers\":[", "1,",          "1]}}}]",          MOST,       "taken" },
    { "a batch of 100",          "[",                     ONE "\"any\":1}}},", CALL "\"any\":1}}}]", 10800,"taken" },
    { "a batch of 100, heavy",   "[",                     ONE "\"tree\":[[[[[[[[[[[[[[1]]]]]]]]]]]]]]}}},", CALL "\"any\":1}}}]", 12500, HEAVY },
    { "a response to nothing",   "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":[", "1,", "1]}}", MOST, "" },
    { "a notification",          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"", "x", "\"}}", MOST, "" },
    { "blanks",                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", " ", "", MOST,    "\"result\"" },
    { "blanks and a fault",      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", " ", "!", MOST,   UNPARSED },
    { "a fault, loop-size",      CALL "\"numbers\":[",    "1,",           "!",               63 * KIB,   UNPARSED },
    { "quotes",                  "",                      "\"",           "",                MOST,       UNPARSED },
    { "backslashes",             "\"",                    "\\",           "",                MOST,       UNPARSED },
    { 0 }
};
/* clang-format on */

/* ---- writing them ---------------------------------------------------------------------------- */

static char *write_unit(char *to, const char *unit, unsigned number)
{
    for (const char *at = unit; *at; at++) {
        if (*at == '#')
            to += sprintf(to, "%07u", number % 10000000);
        else
            *to++ = *at;
    }
    return to;
}

char *hostile_write(const hostile *row, size_t bytes_max, size_t *length)
{
    size_t unit = strlen(row->unit) + (strchr(row->unit, '#') ? 6 : 0);
    size_t count = (row->bytes < bytes_max ? row->bytes : bytes_max) / unit;
    size_t begin = strlen(row->begin);
    size_t end = strlen(row->end);
    char *text = malloc(begin + count * unit + end + 1);
    char *at = text;

    if (!text)
        return NULL;
    memcpy(at, row->begin, begin);
    at += begin;
    for (size_t i = 0; i < count; i++)
        at = write_unit(at, row->unit, (unsigned)i);
    memcpy(at, row->end, end + 1);
    *length = (size_t)(at - text) + end;
    return text;
}
