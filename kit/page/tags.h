/**
 * tags.h - lists of entity tags, the values of If-Match and If-None-Match (RFC 9110, 8.8.3 and
 * 13.1).
 */
#ifndef PAGE_TAGS_H
#define PAGE_TAGS_H

#include <stdbool.h>
#include <stddef.h>

/** One tag of a list; it points into the list's text. */
typedef struct page_tag {
    const char *text; /* with its quotes, without W/ */
    size_t length;
    bool is_weak;
} page_tag;

/** What a list says of one tag. */
typedef enum page_tags {
    PAGE_TAGS_WITHOUT,
    PAGE_TAGS_WITH,
    PAGE_TAGS_BROKEN /* it is no such list */
} page_tags;

/**
 * Read the next tag of a list.
 *
 * @param at     moved behind it
 * @param broken set: whether what is there is no tag
 * @return false: there is none
 */
bool page_tags_next(page_tag *out, const char **at, bool *broken);

/** Whether the list is "*", which has every tag. */
bool page_tags_are_any(const char *list);

/**
 * Look for a tag in a list.
 *
 * @param tag    with its quotes, not weak
 * @param strong If-Match: a weak tag of the list is no match; else it is one (RFC 9110, 8.8.3.2)
 */
page_tags page_tags_find(const char *list, const char *tag, bool strong);

#endif
