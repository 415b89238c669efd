/*
 * tags.c - entity tags.
 */
#include "page/tags.h"

#include <string.h>

bool page_tags_next(page_tag *out, const char **at, bool *broken)
{
    const char *from = *at +
                       strspn(*at, " \t,"); /* a list may have empty parts (RFC 9110, 5.6.1.2) */

    *broken = false;
    if (*from == '\0')
        return false;
    out->is_weak = strncmp(from, "W/", 2) == 0;
    out->text = from + (out->is_weak ? 2 : 0);
    const char *end = *out->text == '"' ? out->text + 1 : NULL;
    while (end && (unsigned char)*end > 0x20 && *end != '"' && *end != 0x7f)
        end++;
    *broken = !end || *end != '"';
    if (*broken)
        return false;
    *at = end + 1;
    out->length = (size_t)(*at - out->text);
    *at += strspn(*at, " \t");
    *broken = **at != '\0' && **at != ',';
    return !*broken;
}

bool page_tags_are_any(const char *list)
{
    list += strspn(list, " \t");
    return *list == '*' && list[1 + strspn(list + 1, " \t")] == '\0';
}

page_tags page_tags_find(const char *list, const char *tag, bool strong)
{
    bool has = false, broken = false;
    page_tag one;

    if (page_tags_are_any(list))
        return PAGE_TAGS_WITH;
    while (page_tags_next(&one, &list, &broken))
        if (one.length == strlen(tag) && memcmp(one.text, tag, one.length) == 0 &&
            !(strong && one.is_weak))
            has = true;
    if (broken)
        return PAGE_TAGS_BROKEN;
    return has ? PAGE_TAGS_WITH : PAGE_TAGS_WITHOUT;
}
