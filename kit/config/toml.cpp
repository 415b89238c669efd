/*
 * toml.cpp - TOML by toml++. The only C++ file of the module: nothing of toml++ outlives a call,
 * and no exception leaves it.
 *
 * toml++ takes what it asserts for granted in builds without assertions, and "[[=" fails one. So
 * its assertions throw here, in every build.
 *
 * toml++ bounds the nesting of values, but not the names of one key, and its destructors recurse:
 * "a.a.a.a..." would exhaust the stack. So the text is looked through for long keys first. That
 * scan may be wrong only behind an error that toml++ finds as well.
 */
#undef NDEBUG

#include <cctype>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace
{

constexpr void hold(bool is_true)
{
    if (!is_true)
        throw std::runtime_error("a table, key or value is malformed");
}

} /* namespace */

#define TOML_ASSERT(expr) hold(static_cast<bool>(expr))
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include "config/toml.h"
#include "mcp/buf.h"

namespace
{

constexpr size_t JSON_MAX_BYTES = size_t{ 16 } << 20;

/* What is refused, and where. */
struct refusal {
    mcp_status status;
    toml::source_position place;
    std::string words;
};

[[noreturn]] void refuse(mcp_status status, toml::source_position place, std::string words)
{
    throw refusal{ status, place, std::move(words) };
}

/* ---- long keys ------------------------------------------------------------------------------- */

/* Behind a string that begins at `at`, or the end of the text. */
size_t string_end(std::string_view text, size_t at)
{
    const char quote = text[at];
    const bool is_long = text.substr(at, 3) == std::string_view(quote == '"' ? "\"\"\"" : "'''");
    const size_t marks = is_long ? 3 : 1;

    for (at += marks; at < text.size(); at++) {
        if (quote == '"' && text[at] == '\\') {
            at++;
        } else if (!is_long && text[at] == '\n') {
            return at; /* an error, which toml++ will find */
        } else if (text[at] == quote &&
                   (!is_long || (text.substr(at, 3).size() == 3 && text[at + 1] == quote &&
                                 text[at + 2] == quote))) {
            at += marks;
            while (is_long && at < text.size() && text[at] == quote) /* "" before the end */
                at++;
            return at;
        }
    }
    return text.size();
}

/* The dots outside strings and comments between two ends of keys; those of numbers do no harm. */
void check_keys(std::string_view text)
{
    toml::source_index line = 1;
    int dots = 0;

    for (size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            const size_t end = string_end(text, at);
            for (; at < end; at++)
                line += text[at] == '\n';
            continue;
        }
        if (c == '#') {
            at = text.find('\n', at);
            continue;
        }
        line += c == '\n';
        dots = c == '.' ? dots + 1 : std::strchr("\n=,{}[]", c) ? 0 : dots;
        if (dots >= CONFIG_DOTS_MAX)
            refuse(MCP_E_LIMIT, { line, 1 }, "a key has too many names");
        at++;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

class walk
{
  public:
    walk(mcp_arena *arena, mcp_json_writer *json) : arena_(arena), json_(json)
    {
    }

    void table(const toml::table &table)
    {
        mcp_write_object(json_);
        for (auto &&[key, node] : table) {
            const size_t length = path_.size();
            push(key);
            mcp_write_name(json_, std::string(key.str()).c_str());
            value(node, key.source().begin, true);
            path_.resize(length);
        }
        mcp_write_end(json_);
    }

    const config_entry *first() const
    {
        return first_;
    }

  private:
    mcp_arena *arena_;
    mcp_json_writer *json_;
    std::string path_{};
    config_entry *first_ = nullptr;
    size_t count_ = 0;

    /* A C string is to end where the text does. */
    static void check_text(std::string_view text, toml::source_position place)
    {
        if (text.find('\0') != std::string_view::npos)
            refuse(MCP_E_PARSE, place, "a string must not contain the character U+0000");
    }

    static void check_name(const toml::key &key)
    {
        for (const char c : key.str())
            if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7f)
                refuse(MCP_E_PARSE, key.source().begin,
                       "a key must not contain quotes, backslashes or control characters");
    }

    void push(const toml::key &key)
    {
        bool is_bare = !key.str().empty();

        check_name(key);
        for (const char c : key.str()) {
            is_bare = is_bare &&
                      (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-');
        }
        if (!path_.empty())
            path_ += '.';
        path_ += is_bare ? std::string(key.str()) : '"' + std::string(key.str()) + '"';
        if (path_.size() > CONFIG_PATH_MAX)
            refuse(MCP_E_LIMIT, key.source().begin, "a key is too long");
    }

    const char *keep(std::string_view text)
    {
        const char *kept = mcp_arena_strndup(arena_, text.data(), text.size());

        if (!kept)
            throw std::bad_alloc();
        return kept;
    }

    void add(config_kind kind, toml::source_position place, int64_t number = 0,
             const char *text = nullptr)
    {
        auto *entry = static_cast<config_entry *>(mcp_arena_alloc(arena_, sizeof(config_entry)));
        const char *path = keep(path_);

        if (!entry)
            throw std::bad_alloc();
        if (++count_ > CONFIG_KEYS_MAX)
            refuse(MCP_E_LIMIT, place, "there are too many keys");
        *entry = config_entry{ first_,
                               path,
                               kind,
                               number,
                               text,
                               static_cast<int>(place.line),
                               static_cast<int>(place.column) };
        first_ = entry;
    }

    static config_kind kind_of(const toml::array &array)
    {
        bool all_strings = true, all_tables = !array.empty();

        for (auto &&node : array) {
            all_strings = all_strings && node.is_string();
            all_tables = all_tables && node.is_table();
        }
        return all_strings ? CONFIG_IS_STRINGS : all_tables ? CONFIG_IS_TABLES : CONFIG_IS_LIST;
    }

    void list(const toml::array &array, toml::source_position place, bool has_key)
    {
        const config_kind kind = kind_of(array);
        const size_t length = path_.size();

        if (has_key)
            add(kind, place);
        if (has_key && kind == CONFIG_IS_TABLES)
            path_ += "[]";
        mcp_write_array(json_);
        for (auto &&node : array)
            if (kind == CONFIG_IS_TABLES && has_key)
                table(*node.as_table());
            else
                value(node, node.source().begin, false);
        mcp_write_end(json_);
        path_.resize(length);
    }

    template <typename Time> void time(const Time &when)
    {
        std::ostringstream text;

        text << when;
        mcp_write_string(json_, text.str().c_str());
    }

    void number(double value, toml::source_position place)
    {
        if (!std::isfinite(value))
            refuse(MCP_E_PARSE, place, "a number must be finite");
        mcp_write_double(json_, value);
    }

    /* A table within a list of other things has no keys of ours: CONFIG_ANY alone has such. */
    void nested(const toml::table &inner)
    {
        mcp_write_object(json_);
        for (auto &&[key, node] : inner) {
            check_name(key);
            mcp_write_name(json_, std::string(key.str()).c_str());
            value(node, key.source().begin, false);
        }
        mcp_write_end(json_);
    }

    void value(const toml::node &node, toml::source_position place, bool has_key)
    {
        node.visit([&](const auto &it) {
            if constexpr (toml::is_table<decltype(it)>) {
                if (has_key)
                    add(CONFIG_IS_TABLE, place);
                has_key ? table(it) : nested(it);
            } else if constexpr (toml::is_array<decltype(it)>) {
                list(it, place, has_key);
            } else {
                scalar(it, place, has_key);
            }
        });
    }

    template <typename Value>
    void scalar(const Value &it, toml::source_position place, bool has_key)
    {
        config_kind kind = CONFIG_IS_TIME;
        int64_t integer = 0;
        const char *text = nullptr;

        if constexpr (toml::is_string<Value>) {
            kind = CONFIG_IS_STRING;
            check_text(it.get(), place);
            text = keep(it.get());
            mcp_write_string_n(json_, it.get().data(), it.get().size());
        } else if constexpr (toml::is_integer<Value>) {
            kind = CONFIG_IS_INT;
            integer = it.get();
            mcp_write_int(json_, integer);
        } else if constexpr (toml::is_floating_point<Value>) {
            kind = CONFIG_IS_FLOAT;
            number(it.get(), place);
        } else if constexpr (toml::is_boolean<Value>) {
            kind = CONFIG_IS_BOOL;
            mcp_write_bool(json_, it.get());
        } else {
            time(it.get());
        }
        if (has_key)
            add(kind, place, integer, text);
    }
};

/* Frees itself, also when an exception passes. */
struct json_text {
    mcp_buf buf{};

    json_text()
    {
        mcp_buf_init(&buf, JSON_MAX_BYTES);
    }
    ~json_text()
    {
        mcp_buf_clear(&buf);
    }
    json_text(const json_text &) = delete;
    json_text &operator=(const json_text &) = delete;
};

mcp_status read(config_document *out, mcp_arena *arena, std::string_view text, mcp_error *err)
{
    json_text json;
    mcp_json_writer writer;
    const mcp_json *root = nullptr;

    check_keys(text);
    const toml::table table = toml::parse(text);
    mcp_json_writer_init(&writer, &json.buf);
    walk keys(arena, &writer);
    keys.table(table);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(&root, arena, json.buf.data, json.buf.length, nullptr);
    if (st == MCP_E_NOMEM)
        throw std::bad_alloc();
    if (st != MCP_OK)
        return mcp_error_set(err, MCP_E_LIMIT, "the file is too large or too deep");
    *out = config_document{ root, keys.first() };
    return MCP_OK;
}

/* The words of toml++ may end with a full stop, and quote what stands in the file. */
mcp_status fail(mcp_status status, const char *name, toml::source_position place,
                std::string_view words, mcp_error *err)
{
    return mcp_error_set(err, status, "%s:%u:%u: %.*s", name, static_cast<unsigned>(place.line),
                         static_cast<unsigned>(place.column), static_cast<int>(words.size()),
                         words.data());
}

} /* namespace */

mcp_status config_toml_read(config_document *out, mcp_arena *arena, const char *text, size_t length,
                            const char *name, mcp_error *err)
{
    try {
        return read(out, arena, std::string_view(text, length), err);
    } catch (const refusal &why) {
        return fail(why.status, name, why.place, why.words, err);
    } catch (const toml::parse_error &why) {
        return fail(MCP_E_PARSE, name, why.source().begin, why.description(), err);
    } catch (const std::bad_alloc &) {
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read %s", name);
    } catch (const std::exception &why) {
        return mcp_error_set(err, MCP_E_PARSE, "%s: %s", name, why.what());
    }
}
