/*
 * array.c - the persistent array.
 *
 * A page counts its holders: the pages and structs that point to it. A page with one holder, all of
 * whose ancestors have one, belongs to the writer alone; every other page may be read by somebody
 * else at this moment and is never written. So the writer goes down from the root and replaces each
 * shared page by a copy, which makes the children shared (the old page and the copy both point to
 * them) and continues below.
 *
 * A reader of a leaf may add a text to the list of those kept with it, and never takes one away.
 * The writer frees the list of a leaf that is its own before it edits it: then nobody reads it any
 * more. A copy begins without texts.
 *
 * A reader's release may race with the writer's look at the count: the writer then copies a page
 * that it need not have copied, never the other way round.
 */
#include "model/pages/array.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "model/pages/memory.h"

#define FAN_BITS 4 /* copying a page of pointers touches each child, so few of them is best */
#define FAN (1u << FAN_BITS)

struct universe_page {
    atomic_uint holders;
    uint32_t unused;               /* rows begin at a multiple of 16 */
    _Atomic(universe_kept *) kept; /* of a leaf */
    union {
        universe_page *children[FAN];
        unsigned char rows[UNIVERSE_LEAF_MAX];
    } is;
};

static _Alignas(16) const unsigned char zeros[UNIVERSE_LEAF_MAX];

static size_t leaf_bytes(const universe_array *array)
{
    return (size_t)array->row_bytes << array->shift;
}

/* Bytes of a page with `height` levels below it. */
static size_t page_bytes(const universe_array *array, unsigned height)
{
    size_t content = height ? FAN * sizeof(universe_page *) : leaf_bytes(array);

    return offsetof(universe_page, is) + content;
}

void universe_array_init(universe_array *array, uint32_t row_bytes, uint16_t shift)
{
    assert(((size_t)row_bytes << shift) <= UNIVERSE_LEAF_MAX);
    *array = (universe_array){ .row_bytes = row_bytes, .shift = shift };
}

static uint64_t capacity(const universe_array *array)
{
    return UINT64_C(1) << (array->shift + FAN_BITS * array->height);
}

/* Which child leads to the row, in a page with `height` levels below it. */
static unsigned slot_of(const universe_array *array, uint32_t index, unsigned height)
{
    return (index >> (array->shift + FAN_BITS * (height - 1))) & (FAN - 1);
}

static size_t row_offset(const universe_array *array, uint32_t index)
{
    return (size_t)(index & ((1u << array->shift) - 1)) * array->row_bytes;
}

/* The leaf of the row; NULL: it was never written. */
static universe_page *leaf_of(const universe_array *array, uint32_t index)
{
    universe_page *page = array->root;

    if (index >= capacity(array))
        return NULL;
    for (unsigned height = array->height; page && height > 0; height--)
        page = page->is.children[slot_of(array, index, height)];
    return page;
}

const void *universe_array_row(const universe_array *array, uint32_t index)
{
    const universe_page *page = leaf_of(array, index);

    return page ? page->is.rows + row_offset(array, index) : zeros;
}

static universe_kept *find_kept(universe_kept *list, uint32_t form)
{
    while (list && list->form != form)
        list = list->next;
    return list;
}

const universe_kept *universe_array_kept(const universe_array *array, uint32_t index, uint32_t form)
{
    universe_page *leaf = leaf_of(array, index);

    return leaf ? find_kept(atomic_load_explicit(&leaf->kept, memory_order_acquire), form) : NULL;
}

void universe_array_keep(const universe_array *array, uint32_t index, universe_kept *kept)
{
    universe_page *leaf = leaf_of(array, index);
    universe_kept *first = leaf ? atomic_load_explicit(&leaf->kept, memory_order_acquire) : NULL;

    while (leaf && !find_kept(first, kept->form)) {
        kept->next = first;
        if (atomic_compare_exchange_weak_explicit(&leaf->kept, &first, kept, memory_order_acq_rel,
                                                  memory_order_acquire))
            return;
    }
    kept->next = NULL;
    universe_kept_free(kept);
}

static void hold(universe_page *page)
{
    if (page)
        atomic_fetch_add_explicit(&page->holders, 1, memory_order_relaxed);
}

/* Of a page that nobody else holds. */
static void forget_kept(universe_page *page)
{
    universe_kept *kept = atomic_load_explicit(&page->kept, memory_order_relaxed);

    if (!kept)
        return;
    atomic_store_explicit(&page->kept, NULL, memory_order_relaxed);
    universe_kept_free(kept);
}

/* As deep as the tree: eight levels hold 2^32 rows. */
static void drop(const universe_array *array, universe_page *page, unsigned height)
{
    if (!page || atomic_fetch_sub_explicit(&page->holders, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; height > 0 && i < FAN; i++)
        drop(array, page->is.children[i], height - 1);
    forget_kept(page);
    universe_free(page, page_bytes(array, height));
}

static universe_page *page_new(const universe_array *array, unsigned height)
{
    universe_page *page = universe_alloc(page_bytes(array, height));

    if (!page)
        return NULL;
    atomic_init(&page->holders, 1);
    atomic_init(&page->kept, NULL);
    return page;
}

/* A copy that only the writer holds. */
static universe_page *page_copy(const universe_array *array, const universe_page *page,
                                unsigned height)
{
    universe_page *copy = universe_alloc_raw(page_bytes(array, height));

    if (!copy)
        return NULL;
    atomic_init(&copy->holders, 1);
    atomic_init(&copy->kept, NULL);
    memcpy(&copy->is, &page->is, page_bytes(array, height) - offsetof(universe_page, is));
    for (unsigned i = 0; height > 0 && i < FAN; i++)
        hold(copy->is.children[i]);
    return copy;
}

/* Make the page in `slot` the writer's own. */
static universe_page *own(const universe_array *array, universe_page **slot, unsigned height)
{
    universe_page *page = *slot;

    if (page && atomic_load_explicit(&page->holders, memory_order_acquire) == 1) {
        forget_kept(page);
        return page;
    }
    universe_page *mine = page ? page_copy(array, page, height) : page_new(array, height);
    if (!mine)
        return NULL;
    drop(array, page, height);
    *slot = mine;
    return mine;
}

/* One level more above the root. */
static universe_page *raise(universe_array *array)
{
    universe_page *root = page_new(array, array->height + 1u);

    if (!root)
        return NULL;
    root->is.children[0] = array->root;
    array->root = root;
    array->height++;
    return root;
}

void *universe_array_edit(universe_array *array, uint32_t index)
{
    if (array->own && index >> array->shift == array->own_number)
        return array->own + row_offset(array, index);
    while (index >= capacity(array))
        if (!raise(array))
            return NULL;
    universe_page **slot = &array->root;
    for (unsigned height = array->height;; height--) {
        universe_page *page = own(array, slot, height);
        if (!page)
            return NULL;
        if (height == 0) {
            array->own = page->is.rows;
            array->own_number = index >> array->shift;
            return array->own + row_offset(array, index);
        }
        slot = &page->is.children[slot_of(array, index, height)];
    }
}

void universe_array_hold(universe_array *array)
{
    array->own = NULL;
    hold(array->root);
}

void universe_array_drop(universe_array *array)
{
    drop(array, array->root, array->height);
    universe_array_init(array, array->row_bytes, array->shift);
}
