/*
 * version.c - the libraries of this process, by the functions that return their versions.
 *
 * A function is looked up by its name among what is loaded, so this file needs no header of a
 * library and links none: a program that does not use a library does not have the function.
 */
#include "about/version.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/buf.h"
#include "mcp/version.h"
#include "serve/serve.h"

#define TEXT_MAX ((size_t)1 << 20)
#define VERSION_SIZE 64

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef NDEBUG
#define BUILD "release"
#else
#define BUILD "debug"
#endif

const cli_option about_version_options[] = {
    { .name = "json", .type = CLI_FLAG, .help = "print them as one JSON object" },
    { 0 },
};

/* A library of the process. */
typedef struct found {
    const char *name;
    char version[VERSION_SIZE]; /* "": it is missing */
    char path[PATH_MAX];        /* "": it is a part of the program, or not known */
    char reason[sizeof((mcp_error *)0)->message];
} found;

/* Receives each library. */
typedef void visitor(const found *library, void *data);

const char *about_revision(void)
{
    return CAUSEWAY_REVISION;
}

const char *about_compiler(void)
{
    return COMPILER;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* OpenSSL's OPENSSL_VERSION_STRING: the version without further words. */
#define OPENSSL_VERSION_ALONE 6

/* Functions that return the version as text. OpenSSL's takes a number, which says what text. */
static const struct {
    const char *name, *function;
    bool takes_number;
} linked[] = {
    { "libuv", "uv_version_string", false },
    { "OpenSSL", "OpenSSL_version", true },
    { "SQLite", "sqlite3_libversion", false },
    { "Clp", "Clp_Version", false },
};

static void set_path(found *out, const void *code)
{
    Dl_info where;
    char path[PATH_MAX];
    if (dladdr(code, &where) != 0 && where.dli_fname && realpath(where.dli_fname, path))
        snprintf(out->path, sizeof out->path, "%s", path);
}

static void set_version(found *out, void *symbol, bool takes_number)
{
    /* POSIX lets dlsym() give functions; C does not let a void * be assigned to one. */
    const char *(*text)(void) = NULL;
    const char *(*text_of)(int) = NULL;
    memcpy(&text, &symbol, sizeof symbol);
    memcpy(&text_of, &symbol, sizeof symbol);
    const char *words = takes_number ? text_of(OPENSSL_VERSION_ALONE) : text();
    snprintf(out->version, sizeof out->version, "%s", words ? words : "");
}

/* simdjson has no function for its version: that of the headers, and the file that is loaded, whose
 * name has the version of its ABI. */
static int find_simdjson(struct dl_phdr_info *info, size_t size, void *data)
{
    found *out = data;
    (void)size;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libsimdjson.so"))
        return 0;
    if (!realpath(info->dlpi_name, out->path))
        out->path[0] = '\0';
    return 1;
}

static void find_opened(found *out, const about_library *library)
{
    mcp_error err = MCP_ERROR_INIT;
    const char *version = NULL;
    const void *code = NULL;
    if (library->find(&version, &code, &err) == MCP_OK) {
        snprintf(out->version, sizeof out->version, "%s", version);
        set_path(out, code);
    } else {
        snprintf(out->reason, sizeof out->reason, "%s", err.message);
    }
}

static void each_library(const about_program *program, visitor *visit, void *data)
{
    found mcp = { .name = "libmcp" }, simdjson = { .name = "simdjson" };
    snprintf(mcp.version, sizeof mcp.version, "%s", mcp_version());
    visit(&mcp, data);
    for (size_t i = 0; i < sizeof linked / sizeof linked[0]; i++) {
        found one = { .name = linked[i].name };
        void *symbol = dlsym(RTLD_DEFAULT, linked[i].function);
        if (!symbol)
            continue;
        set_version(&one, symbol, linked[i].takes_number);
        set_path(&one, symbol);
        visit(&one, data);
    }
    snprintf(simdjson.version, sizeof simdjson.version, "%s", CAUSEWAY_SIMDJSON_VERSION);
    dl_iterate_phdr(find_simdjson, &simdjson);
    visit(&simdjson, data);
    for (const about_library *opened = program->libraries; opened && opened->name; opened++) {
        found one = { .name = opened->name };
        find_opened(&one, opened);
        visit(&one, data);
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static void write_library(const found *library, void *data)
{
    mcp_json_writer *json = data;
    mcp_write_object(json);
    mcp_write_member_string(json, "name", library->name);
    if (library->version[0]) {
        mcp_write_member_string(json, "version", library->version);
        mcp_write_member_string(json, "path", library->path[0] ? library->path : NULL);
    } else {
        mcp_write_member_string(json, "missing", library->reason);
    }
    mcp_write_end(json);
}

void about_write_libraries(mcp_json_writer *json, const about_program *program)
{
    mcp_write_array(json);
    each_library(program, write_library, json);
    mcp_write_end(json);
}

static void print_library(const found *library, void *data)
{
    FILE *out = data;
    if (library->version[0] && library->path[0])
        fprintf(out, "%-10s %-10s %s\n", library->name, library->version, library->path);
    else if (library->version[0])
        fprintf(out, "%-10s %s\n", library->name, library->version);
    else
        fprintf(out, "%-10s missing: %s\n", library->name, library->reason);
}

void about_print_libraries(FILE *out, const about_program *program)
{
    each_library(program, print_library, out);
}

static mcp_status print_json(const about_program *program, FILE *out)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "program", program->name);
    mcp_write_member_string(&json, "version", program->version);
    mcp_write_member_string(&json, "revision", about_revision());
    mcp_write_member_string(&json, "compiler", about_compiler());
    mcp_write_member_string(&json, "build", BUILD);
    mcp_write_name(&json, "libraries");
    about_write_libraries(&json, program);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        fprintf(out, "%s\n", text.data);
    mcp_buf_clear(&text);
    return st;
}

int about_version(const about_program *program, const cli_line *line)
{
    FILE *out = cli_out(line);
    mcp_error err = MCP_ERROR_INIT;
    if (cli_flag(line, "json")) {
        mcp_status st = print_json(program, out);
        if (st == MCP_OK)
            return SERVE_EXIT_DONE;
        mcp_error_set(&err, st, "the versions: %s", mcp_status_words(st));
        return serve_fail(line, st, &err);
    }
    fprintf(out, "%s %s\n%-10s %s\n%-10s %s (%s)\n", program->name, program->version, "revision",
            about_revision(), "compiler", about_compiler(), BUILD);
    about_print_libraries(out, program);
    return SERVE_EXIT_DONE;
}
