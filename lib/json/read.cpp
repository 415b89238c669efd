/*
 * read.cpp - JSON text into arena values, by simdjson; and doubles into text, by <charconv>.
 *
 * The only C++ of the library. simdjson checks the text and leaves a tape; build() walks it once
 * and writes our values, so nothing of simdjson outlives the call. simdjson is used through its
 * error codes, and mcp_json_read catches the exceptions of its allocations, so none leaves this
 * file.
 *
 * A parser keeps about seven times the largest text it has read. So each thread keeps one for texts
 * up to KEPT_MAX, freed with the thread, and a larger text gets a parser of its own. A thread_local
 * object with a destructor would end the process when its registration finds no memory; a pthread
 * key does not. simdjson reads beyond the end of the text, hence the copy into a padded buffer.
 *
 * Traps: simdjson counts only non-empty containers as depth, so build() counts once more; its
 * element count saturates at SATURATED; it does not say where an error is, so scan.c looks for it;
 * it refuses integers beyond 64 bits, which JavaScript writes for doubles up to 1e21, so a text
 * with such is read again with a fraction put behind each.
 */
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include <pthread.h>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include "base/arena_int.h"
#include "json/json_int.h"

namespace dom = simdjson::dom;

namespace
{

constexpr size_t KEPT_MAX = size_t{ 64 } << 10;
constexpr size_t KEPT_MIN = size_t{ 4 } << 10;
constexpr size_t SATURATED = 0xFFFFFF;

/* A parser and the padded buffer that it reads from. */
struct reader {
    dom::parser parser{};
    std::unique_ptr<char[]> text;
    size_t room = 0; /* bytes of text that both have room for */
};

pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t kept_key;
bool has_key = false;

void free_kept(void *kept)
{
    delete static_cast<reader *>(kept);
}

void make_key()
{
    has_key = pthread_key_create(&kept_key, free_kept) == 0;
}

/* simdjson chooses its code for this processor at first use, and allocates for that in functions
 * that must not throw: without memory it ends the process. So it chooses when the program is
 * loaded, before there is anything to lose. */
[[gnu::constructor]] void choose_implementation()
{
    const auto &all = simdjson::get_available_implementations();

    simdjson::get_active_implementation() = all.detect_best_supported();
}

/* The reader that this thread keeps; null: no memory. */
reader *kept_reader()
{
    (void)pthread_once(&once, make_key);
    if (!has_key)
        return nullptr;
    auto *kept = static_cast<reader *>(pthread_getspecific(kept_key));
    if (kept)
        return kept;
    std::unique_ptr<reader> fresh(new (std::nothrow) reader{});
    if (!fresh || pthread_setspecific(kept_key, fresh.get()) != 0)
        return nullptr;
    return fresh.release();
}

simdjson::error_code make_room(reader &in, size_t length)
{
    size_t room = KEPT_MIN;

    if (in.room >= length && in.room > 0)
        return simdjson::SUCCESS;
    while (room < length && room < KEPT_MAX)
        room *= 2;
    if (room < length)
        room = length;
    in.room = 0;
    in.text.reset(new (std::nothrow) char[room + simdjson::SIMDJSON_PADDING]);
    if (!in.text)
        return simdjson::MEMALLOC;
    /* Both at once, else simdjson makes the document's memory as large as each text in turn. */
    simdjson::error_code failed = in.parser.allocate(room, MCP_JSON_DEPTH_MAX + 1);
    if (!failed)
        failed = in.parser.doc.allocate(room);
    if (!failed)
        in.room = room;
    return failed;
}

simdjson::error_code parse(dom::element &root, reader &in, const char *text, size_t length)
{
    simdjson::error_code failed = make_room(in, length);

    if (failed)
        return failed;
    if (length > 0)
        std::memcpy(in.text.get(), text, length);
    std::memset(in.text.get() + length, ' ', simdjson::SIMDJSON_PADDING);
    return in.parser.parse(in.text.get(), length, false).get(root);
}

template <typename container> size_t count_of(const container &elements)
{
    size_t count = elements.size();

    if (count < SATURATED)
        return count;
    count = 0;
    for (auto it = elements.begin(); it != elements.end(); ++it)
        count++;
    return count;
}

mcp_status build(mcp_json *out, const dom::element &from, mcp_arena *arena, unsigned depth);

mcp_status copy_string(const char *&out, mcp_arena *arena, std::string_view from)
{
    char *copy = mcp__arena_bytes(arena, from.size() + 1);

    if (!copy)
        return mcp__arena_failure(arena);
    std::memcpy(copy, from.data(), from.size());
    copy[from.size()] = '\0';
    out = copy;
    return MCP_OK;
}

mcp_status build_array(mcp_json *out, const dom::array &from, mcp_arena *arena, unsigned depth)
{
    size_t count = count_of(from);
    auto *items = static_cast<mcp_json *>(mcp_arena_array(arena, count, sizeof(mcp_json)));

    if (!items)
        return mcp__arena_failure(arena);
    out->type = MCP_JSON_ARRAY;
    out->count = static_cast<uint32_t>(count);
    out->is.items = items;
    for (dom::element element : from) {
        mcp_status st = build(items++, element, arena, depth);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

mcp_status build_object(mcp_json *out, const dom::object &from, mcp_arena *arena, unsigned depth)
{
    size_t count = count_of(from);
    mcp__json_member *members = mcp__json_members_new(arena, count);
    mcp__json_member *member = members;

    if (!members)
        return mcp__arena_failure(arena);
    out->type = MCP_JSON_OBJECT;
    out->count = static_cast<uint32_t>(count);
    out->is.members = members;
    for (dom::key_value_pair field : from) {
        mcp_status st = copy_string(member->name, arena, field.key);
        member->length = field.key.size();
        if (st == MCP_OK)
            st = build(&member->value, field.value, arena, depth);
        if (st != MCP_OK)
            return st;
        member++;
    }
    mcp__json_members_index(members, count);
    return MCP_OK;
}

/* `depth` is how many containers are open around `from`. */
mcp_status build(mcp_json *out, const dom::element &from, mcp_arena *arena, unsigned depth)
{
    switch (from.type()) {
    case dom::element_type::ARRAY:
        if (depth == MCP_JSON_DEPTH_MAX)
            return MCP_E_LIMIT;
        return build_array(out, from.get_array().value_unsafe(), arena, depth + 1);
    case dom::element_type::OBJECT:
        if (depth == MCP_JSON_DEPTH_MAX)
            return MCP_E_LIMIT;
        return build_object(out, from.get_object().value_unsafe(), arena, depth + 1);
    case dom::element_type::STRING:
        out->type = MCP_JSON_STRING;
        out->count = static_cast<uint32_t>(from.get_string_length().value_unsafe());
        return copy_string(out->is.string, arena, from.get_string().value_unsafe());
    case dom::element_type::INT64:
        out->type = MCP_JSON_INT;
        out->is.integer = from.get_int64().value_unsafe();
        return MCP_OK;
    case dom::element_type::UINT64:
        out->type = MCP_JSON_UINT;
        out->is.natural = from.get_uint64().value_unsafe();
        return MCP_OK;
    case dom::element_type::DOUBLE:
        out->type = MCP_JSON_DOUBLE;
        out->is.number = from.get_double().value_unsafe();
        return MCP_OK;
    case dom::element_type::BOOL:
        out->type = MCP_JSON_BOOL;
        out->is.boolean = from.get_bool().value_unsafe();
        return MCP_OK;
    case dom::element_type::NULL_VALUE:
        out->type = MCP_JSON_NULL;
        return MCP_OK;
    }
    return MCP_E_INTERNAL;
}

/* Say what is wrong with a text that simdjson refused, or that is nested too deep. */
mcp_status explain(const char *text, size_t length, simdjson::error_code failed, mcp_error *err)
{
    mcp__json_fault fault;

    if (failed == simdjson::MEMALLOC)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for reading %zu bytes of JSON", length);
    if (failed == simdjson::CAPACITY)
        return mcp_error_set(err, MCP_E_LIMIT, "%zu bytes are too many for one JSON text", length);
    if (!mcp__json_scan(text, length, &fault))
        return mcp_error_at(err, fault.status, static_cast<int64_t>(fault.offset),
                            "%s, at byte %zu", fault.reason, fault.offset);
    return mcp_error_set(err, MCP_E_PARSE, "the text is not JSON: %s",
                         simdjson::error_message(failed));
}

/* Such an integer has 20 bytes or more, so an eighth more is room enough for the fractions. */
simdjson::error_code parse_widened(dom::element &root, reader &in, const char *text, size_t length)
{
    simdjson::error_code failed = simdjson::NUMBER_ERROR;
    mcp_buf wide;

    mcp_buf_init(&wide, length + length / 8 + 1);
    if (mcp__json_widen(&wide, text, length))
        failed = wide.status == MCP_OK ? parse(root, in, wide.data, wide.length)
                                       : simdjson::MEMALLOC;
    mcp_buf_clear(&wide);
    return failed;
}

mcp_status read_with(reader &in, const mcp_json **out, mcp_arena *arena, const char *text,
                     size_t length, mcp_error *err)
{
    dom::element root;
    simdjson::error_code failed = parse(root, in, text, length);

    if (failed == simdjson::NUMBER_ERROR)
        failed = parse_widened(root, in, text, length);
    if (failed == simdjson::MEMALLOC)
        in = reader{};
    if (failed)
        return explain(text, length, failed, err);

    auto *value = static_cast<mcp_json *>(mcp_arena_alloc(arena, sizeof(mcp_json)));
    mcp_status st = value ? build(value, root, arena, 0) : mcp__arena_failure(arena);
    if (st == MCP_OK) {
        *out = value;
        return MCP_OK;
    }
    if (st == MCP_E_LIMIT && mcp__arena_failure(arena) == MCP_OK)
        return explain(text, length, simdjson::DEPTH_ERROR, err);
    return mcp_error_set(err, st, "reading %zu bytes of JSON: %s", length, mcp_status_words(st));
}

/* Whether a number that no double holds is too small (then it reads as 0) and not too large. */
bool is_tiny(std::string_view number)
{
    size_t e = std::min(number.find_first_of("eE"), number.size());
    size_t point = std::min(number.find('.'), e);
    size_t first = std::min(number.find_first_of("123456789"), e);
    int64_t exponent = 0;

    if (e < number.size()) {
        number.remove_prefix(e + (number[e + 1] == '+' ? 2 : 1));
        if (std::from_chars(number.begin(), number.end(), exponent).ec != std::errc())
            return number[0] == '-';
    }
    /* How many digits are before the point from the first significant one on, or minus the zeros
     * behind it. */
    auto magnitude = static_cast<int64_t>(point) - static_cast<int64_t>(first);
    return exponent <= -(magnitude < 0 ? magnitude + 1 : magnitude);
}

template <typename integer> bool integer_fits(const char *text, const char *end)
{
    integer ignored;

    return std::from_chars(text, end, ignored).ec == std::errc();
}

} /* namespace */

extern "C" mcp_status mcp_json_read(const mcp_json **out, mcp_arena *arena, const char *text,
                                    size_t length, mcp_error *err)
try {
    if (!arena || (!text && length > 0))
        return mcp_error_set(err, MCP_E_PARAMS, "there is no %s", arena ? "text" : "arena");
    /* Newer releases of simdjson skip a byte order mark; RFC 8259 section 8.1 lets us refuse it. */
    if (length >= 3 && std::memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        return explain(text, length, simdjson::TAPE_ERROR, err);
    if (length > KEPT_MAX) {
        reader once_only;
        return read_with(once_only, out, arena, text, length, err);
    }
    reader *kept = kept_reader();
    if (!kept)
        return explain(text, length, simdjson::MEMALLOC, err);
    return read_with(*kept, out, arena, text, length, err);
} catch (...) {
    return explain(text, length, simdjson::MEMALLOC, err);
}

extern "C" bool mcp__json_integer_fits(const char *text, size_t length)
{
    const char *end = text + length;

    return *text == '-' ? integer_fits<int64_t>(text, end) : integer_fits<uint64_t>(text, end);
}

extern "C" bool mcp__json_number_fits(const char *text, size_t length)
{
    const char *end = text + length;
    double value = 0;

    std::from_chars_result read = std::from_chars(text, end, value);
    if (read.ec == std::errc() && !std::isinf(value))
        return true;
    return is_tiny(std::string_view(text, length));
}

extern "C" size_t mcp__json_format_double(char out[MCP__JSON_DOUBLE_SIZE], double number)
{
    double size = std::fabs(number);
    bool is_plain = size >= 1e-5 && size < 1e17;

    if (number == 0) {
        std::string_view zero = std::signbit(number) ? "-0.0" : "0";
        std::memcpy(out, zero.data(), zero.size());
        return zero.size();
    }
    auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
    std::to_chars_result done = std::to_chars(out, out + MCP__JSON_DOUBLE_SIZE, number, format);
    return static_cast<size_t>(done.ptr - out);
}
