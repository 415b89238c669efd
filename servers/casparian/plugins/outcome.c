/*
 * outcome.c - the words of failures, and their categories.
 */
#include "plugins/outcome.h"

#include <string.h>
#include <strings.h>

const char *casparian_failure_text(casparian_failure failure)
{
    static const char *const words[] = {
#define WORD(name, word) word,
        CASPARIAN_FAILURE_MAP(WORD)
#undef WORD
    };
    return words[failure];
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text; text++) {
        if (strncasecmp(text, word, length) == 0)
            return true;
    }
    return false;
}

const char *casparian_failure_category(casparian_failure failure, const char *message)
{
    /* clang-format off */
    static const struct { const char *word, *category; } rows[] = { /* the first that fits */
        { "no such file", "file_not_found" },  { "not found", "file_not_found" },
        { "FileNotFound", "file_not_found" },
        { "not nullable", "null_not_allowed" }, { "null value", "null_not_allowed" },
        { "strptime", "format_mismatch" },      { "does not match format", "format_mismatch" },
        { "isoformat", "format_mismatch" },     { "time data", "format_mismatch" },
        { "TypeError", "type_mismatch" },       { "invalid literal", "type_mismatch" },
        { "could not convert", "type_mismatch" },
        { "schema", "schema_violation" },       { "KeyError", "schema_violation" },
    };
    /* clang-format on */
    if (failure == CASPARIAN_FAILURE_RESERVED_COLUMN)
        return "schema_violation";
    if (failure == CASPARIAN_FAILURE_UNSUPPORTED_VALUE)
        return "type_mismatch";
    if (failure != CASPARIAN_FAILURE_PARSE_ERROR)
        return "unknown";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (has_word(message, rows[i].word))
            return rows[i].category;
    }
    return "parse_error";
}
