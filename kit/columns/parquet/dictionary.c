/*
 * dictionary.c - a hash table of open addressing over the texts of `plain`.
 */
#include "columns/parquet/dictionary.h"

#include <string.h>

enum { SLOTS_FIRST = 256, STEPS_MAX = 64 };

struct entry {
    uint32_t hash, begin;
};

void dictionary_init(struct dictionary *self)
{
    *self = (struct dictionary){ .count = 0 };
    mcp_buf_init(&self->plain, DICTIONARY_BYTES_MAX);
    mcp_buf_init(&self->entries, DICTIONARY_TEXTS_MAX * sizeof(struct entry));
    mcp_buf_init(&self->slots, 2 * DICTIONARY_TEXTS_MAX * sizeof(uint32_t));
}

void dictionary_clear(struct dictionary *self)
{
    mcp_buf_clear(&self->plain);
    mcp_buf_clear(&self->entries);
    mcp_buf_clear(&self->slots);
    self->count = 0;
}

void dictionary_reset(struct dictionary *self)
{
    mcp_buf_reset(&self->plain);
    mcp_buf_reset(&self->entries);
    mcp_buf_reset(&self->slots);
    self->count = 0;
}

size_t dictionary_held(const struct dictionary *self)
{
    return self->plain.length + self->entries.length + self->slots.length;
}

mcp_status dictionary_status(const struct dictionary *self)
{
    if (self->plain.status != MCP_OK)
        return self->plain.status;
    return self->entries.status != MCP_OK ? self->entries.status : self->slots.status;
}

/* The highest bits of a product depend on all bits of the text: they come out as the lowest. */
static uint32_t hash_of(const char *text, size_t length)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = length * factor, part = 0;

    for (; length > sizeof part; text += sizeof part, length -= sizeof part) {
        memcpy(&part, text, sizeof part);
        hash = (hash ^ part) * factor;
        hash ^= hash >> 29;
    }
    part = 0;
    memcpy(&part, text, length);
    hash = (hash ^ part) * factor;
    return (uint32_t)__builtin_bswap64(hash);
}

static struct entry entry_at(const struct dictionary *self, uint32_t index)
{
    struct entry entry;

    memcpy(&entry, self->entries.data + index * sizeof entry, sizeof entry);
    return entry;
}

static size_t mask_of(const struct dictionary *self)
{
    return self->slots.length / sizeof(uint32_t) - 1;
}

/* The slot of a text, or the free one where it would be; SIZE_MAX: neither is near. */
static size_t find_slot(const struct dictionary *self, uint32_t hash, const char *text,
                        size_t length)
{
    size_t mask = mask_of(self);
    const uint32_t *slots = (const uint32_t *)(const void *)self->slots.data;

    for (size_t step = 0; step < STEPS_MAX; step++) {
        size_t slot = (hash + step) & mask;
        size_t at = 0;
        if (slots[slot] == 0)
            return slot;
        if (entry_at(self, slots[slot] - 1).hash != hash)
            continue;
        const char *plain = dictionary_at(self, slots[slot] - 1, &at) + sizeof(uint32_t);
        if (at == length + sizeof(uint32_t) && memcmp(plain, text, length) == 0)
            return slot;
    }
    return SIZE_MAX;
}

/* Twice as many slots, the texts in their new places. @return false: no memory, or no place */
static bool grow(struct dictionary *self)
{
    size_t bytes = self->slots.length > 0 ? 2 * self->slots.length : SLOTS_FIRST * sizeof(uint32_t);

    mcp_buf_reset(&self->slots);
    char *data = mcp_buf_reserve(&self->slots, bytes);
    if (!data)
        return false;
    memset(data, 0, bytes);
    mcp_buf_commit(&self->slots, bytes);
    size_t mask = mask_of(self);
    uint32_t *slots = (uint32_t *)(void *)data;
    for (uint32_t i = 0; i < self->count; i++) {
        size_t slot = entry_at(self, i).hash & mask;
        while (slots[slot] != 0)
            slot = (slot + 1) & mask;
        slots[slot] = i + 1;
    }
    return true;
}

static bool has_room(const struct dictionary *self, size_t length)
{
    return self->count < DICTIONARY_TEXTS_MAX &&
           length <= DICTIONARY_BYTES_MAX - sizeof(uint32_t) &&
           self->plain.length <= DICTIONARY_BYTES_MAX - sizeof(uint32_t) - length;
}

/* Append a new text. @return false: no memory */
static bool append(struct dictionary *self, uint32_t hash, const char *text, size_t length)
{
    const struct entry entry = { hash, (uint32_t)self->plain.length };
    uint32_t head = (uint32_t)length;

    mcp_buf_append(&self->plain, &head, sizeof head);
    mcp_buf_append(&self->plain, text, length);
    mcp_buf_append(&self->entries, &entry, sizeof entry);
    return dictionary_status(self) == MCP_OK;
}

uint32_t dictionary_index(struct dictionary *self, const char *text, size_t length, bool *is_new)
{
    uint32_t hash = hash_of(text, length);

    *is_new = false;
    if (2 * self->count * sizeof(uint32_t) >= self->slots.length && has_room(self, 0) &&
        !grow(self))
        return UINT32_MAX;
    size_t slot = find_slot(self, hash, text, length);
    if (slot == SIZE_MAX)
        return UINT32_MAX;
    uint32_t *slots = (uint32_t *)(void *)self->slots.data;
    if (slots[slot] != 0)
        return slots[slot] - 1;
    if (!has_room(self, length) || !append(self, hash, text, length))
        return UINT32_MAX;
    *is_new = true;
    slots[slot] = ++self->count;
    return self->count - 1;
}

const char *dictionary_at(const struct dictionary *self, uint32_t index, size_t *length)
{
    const char *plain = self->plain.data + entry_at(self, index).begin;
    uint32_t head;

    memcpy(&head, plain, sizeof head);
    *length = head + sizeof head;
    return plain;
}
