/*
 * vocabulary.c - the texts of the enums, from the maps of the header.
 */
#include "model/vocabulary.h"

#include <string.h>

static int find(const char *const *texts, const char *text)
{
    for (size_t i = 0; text && texts[i]; i++)
        if (strcmp(texts[i], text) == 0)
            return (int)i;
    return -1;
}

/* clang-format off */
#define TEXT(name, text) text,
#define IMPLEMENT(type, MAP) \
    static const char *const type##_texts[] = { MAP(TEXT) NULL }; \
    const char *portarium_##type##_text(portarium_##type value) \
    { \
        return type##_texts[value]; \
    } \
    const char *portarium_##type##_at(size_t index) \
    { \
        return type##_texts[index]; \
    } \
    bool portarium_##type##_read(portarium_##type *out, const char *text) \
    { \
        int found = find(type##_texts, text); \
        if (found >= 0) \
            *out = (portarium_##type)found; \
        return found >= 0; \
    }
PORTARIUM_VOCABULARIES(IMPLEMENT)
/* clang-format on */
