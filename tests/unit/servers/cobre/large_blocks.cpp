/*
 * large_blocks.cpp - operator new and delete that keep large blocks for the next allocation.
 *
 * Clp allocates the areas of a factorization at each solve. AddressSanitizer maps and unmaps every
 * block of more than 128 KiB, and on a virtual machine an unmapping that interrupts the processors
 * of other threads is dear: it took most of the time of these tests. A block that is kept is
 * poisoned.
 */
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

#include <sanitizer/asan_interface.h>

static constexpr std::size_t LARGE = 128 << 10, LARGEST = 16 << 20, KEPT_MAX = 16;
static constexpr int SIZES = 8; /* 128 KiB to 16 MiB, each twice the one before */

struct alignas(16) header {
    int size; /* of which a block is; SIZES: of none */
};

static std::mutex lock;
static header *kept[SIZES][KEPT_MAX];
static std::size_t counts[SIZES];

static int size_of(std::size_t length)
{
    int size = 0;
    if (length < LARGE || length > LARGEST)
        return SIZES;
    while (LARGE << size < length)
        size++;
    return size;
}

static header *take(int size)
{
    const std::lock_guard<std::mutex> guard(lock);
    return counts[size] > 0 ? kept[size][--counts[size]] : nullptr;
}

static bool keep(header *block)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (counts[block->size] == KEPT_MAX)
        return false;
    ASAN_POISON_MEMORY_REGION(block + 1, LARGE << block->size);
    kept[block->size][counts[block->size]++] = block;
    return true;
}

static void *allocate(std::size_t length) noexcept
{
    const int size = size_of(length);
    header *block = size < SIZES ? take(size) : nullptr;
    if (!block) {
        const std::size_t whole = size < SIZES ? LARGE << size : length;
        block = static_cast<header *>(std::malloc(sizeof(header) + whole));
        if (!block)
            return nullptr;
        block->size = size;
    }
    if (size < SIZES) {
        ASAN_POISON_MEMORY_REGION(block + 1, LARGE << size);
        ASAN_UNPOISON_MEMORY_REGION(block + 1, length);
    }
    return block + 1;
}

static void *allocate_or_throw(std::size_t length)
{
    void *memory = allocate(length);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

static void release(void *memory)
{
    header *block = memory ? static_cast<header *>(memory) - 1 : nullptr;
    if (block && (block->size == SIZES || !keep(block)))
        std::free(block);
}

/* clang-format off */
void *operator new(std::size_t length) { return allocate_or_throw(length); }
void *operator new[](std::size_t length) { return allocate_or_throw(length); }
void *operator new(std::size_t length, const std::nothrow_t &) noexcept { return allocate(length); }
void *operator new[](std::size_t length, const std::nothrow_t &) noexcept { return allocate(length); }
void operator delete(void *memory) noexcept { release(memory); }
void operator delete[](void *memory) noexcept { release(memory); }
void operator delete(void *memory, std::size_t) noexcept { release(memory); }
void operator delete[](void *memory, std::size_t) noexcept { release(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { release(memory); }
void operator delete[](void *memory, const std::nothrow_t &) noexcept { release(memory); }
/* clang-format on */
