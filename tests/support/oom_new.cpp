/*
 * oom_new.cpp - operator new over the hook in lib/base/alloc.c, so that out-of-memory walks reach
 * the C++ file of the library, simdjson and Clp. Linked into tests that refer to oom_has_new.
 */
#include <cstdlib>
#include <new>

#include "mcp/alloc.h"

extern "C" int oom_has_new;
int oom_has_new = 1;

/* ThreadSanitizer's static runtime defines these operators itself: there the walks reach the C
 * allocations alone. The address sanitizer's runtime gives way. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_OPERATORS
#endif
#endif
#ifndef HAS_OPERATORS

void *operator new(std::size_t size)
{
    void *memory = mcp_alloc(size > 0 ? size : 1);

    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return mcp_alloc(size > 0 ? size : 1);
}

void *operator new[](std::size_t size)
{
    return operator new(size);
}

void *operator new[](std::size_t size, const std::nothrow_t &tag) noexcept
{
    return operator new(size, tag);
}

void operator delete(void *memory) noexcept
{
    std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

void operator delete[](void *memory) noexcept
{
    std::free(memory);
}

void operator delete[](void *memory, std::size_t) noexcept
{
    std::free(memory);
}

#endif
