/*
 * doctor.c - checks of this machine, and their results as a table or as JSON.
 */
#include "about/doctor.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/table.h"
#include "mcp/buf.h"
#include "serve/serve.h"

#define ARENA_MAX ((size_t)16 << 20)
#define DETAIL_MAX 4096

void doctor_note(doctor *self, const char *check, bool is_good, const char *format, ...)
{
    char detail[DETAIL_MAX];
    va_list arguments;
    if (self->count == DOCTOR_CHECKS_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    const char *kept = mcp_arena_strdup(self->arena, detail);
    self->results[self->count++] = (doctor_result){ .check = check,
                                                    .is_good = is_good,
                                                    .detail = kept ? kept : "out of memory" };
    self->failures += !is_good;
}

/* ---- checks ---------------------------------------------------------------------------------- */

void doctor_check_directory(doctor *self, const char *check, const char *path, bool writes)
{
    struct stat status;
    if (stat(path, &status) != 0)
        doctor_note(self, check, false, "%s: %s", path, strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        doctor_note(self, check, false, "%s is no directory", path);
    else if (access(path, R_OK | X_OK) != 0)
        doctor_note(self, check, false, "%s cannot be read: %s", path, strerror(errno));
    else if (writes && access(path, W_OK) != 0)
        doctor_note(self, check, false, "%s cannot be written: %s", path, strerror(errno));
    else
        doctor_note(self, check, true, "%s", path);
}

/* The folder of a path: "a/b" is in "a", "a" in ".", "/a" in "/". */
static void cut_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        memcpy(path, ".", 2);
    else
        slash[slash == path] = '\0';
}

void doctor_check_made(doctor *self, const char *check, const char *path)
{
    char folder[PATH_MAX];
    if (access(path, R_OK | W_OK) == 0) {
        doctor_note(self, check, true, "%s", path);
        return;
    }
    if (errno != ENOENT || strlen(path) >= sizeof folder) {
        doctor_note(self, check, false, "%s cannot be written: %s", path, strerror(errno));
        return;
    }
    memcpy(folder, path, strlen(path) + 1);
    do
        cut_name(folder);
    while (access(folder, F_OK) != 0 && strchr(folder, '/') && strcmp(folder, "/") != 0);
    if (access(folder, W_OK | X_OK) == 0)
        doctor_note(self, check, true, "%s is made when it is needed", path);
    else
        doctor_note(self, check, false, "%s cannot be made in %s: %s", path, folder,
                    strerror(errno));
}

void doctor_check_secret(doctor *self, const char *check, const char *path, mode_t forbidden)
{
    struct stat status;
    if (stat(path, &status) != 0)
        doctor_note(self, check, false, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        doctor_note(self, check, false, "%s is no file", path);
    else if (access(path, R_OK) != 0)
        doctor_note(self, check, false, "%s cannot be read: %s", path, strerror(errno));
    else if (status.st_mode & forbidden)
        doctor_note(self, check, false, "%s has the mode %04o: chmod %s %s", path,
                    (unsigned)(status.st_mode & 07777), forbidden & S_IRWXG ? "go=" : "o=", path);
    else
        doctor_note(self, check, true, "%s", path);
}

void doctor_check_library(doctor *self, const char *check, about_find *find)
{
    const char *version = NULL;
    const void *code = NULL;
    mcp_error err = MCP_ERROR_INIT;
    bool is_good = find(&version, &code, &err) == MCP_OK;
    doctor_note(self, check, is_good, "%s", is_good ? version : err.message);
}

/* Binds a socket as a server would, and closes it. @return 0, or an errno */
static int try_to_bind(const struct addrinfo *address)
{
    const int on = 1;
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int failed = 0;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, 1) != 0)
        failed = errno;
    close(fd);
    return failed;
}

static void check_port(doctor *self, const char *host, const char *port)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV };
    struct addrinfo *addresses = NULL;
    const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    int wrong = getaddrinfo(numeric, port, &hints, &addresses);
    if (wrong != 0) {
        doctor_note(self, "port", false, "%s is no address: %s", host, gai_strerror(wrong));
        return;
    }
    int failed = try_to_bind(addresses);
    freeaddrinfo(addresses);
    if (failed == EADDRINUSE)
        doctor_note(self, "port", false,
                    "%s of %s is in use: a server runs already; --port names another", port, host);
    else if (failed)
        doctor_note(self, "port", false, "%s of %s: %s", port, host, strerror(failed));
    else
        doctor_note(self, "port", true, "%s of %s is free", port, host);
}

void doctor_check_listening(doctor *self, const cli_line *line)
{
    const char *port = cli_string(line, "port"), *tokens = cli_string(line, "tokens");
    if (port)
        check_port(self, cli_string(line, "host"), port);
    if (tokens)
        doctor_check_secret(self, "tokens", tokens, S_IRWXO);
}

/* ---- results --------------------------------------------------------------------------------- */

static const char *word_of(const doctor_result *result)
{
    return result->is_good ? "ok" : "failed";
}

void doctor_write(const doctor *self, mcp_json_writer *json)
{
    mcp_write_array(json);
    for (size_t i = 0; i < self->count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "check", self->results[i].check);
        mcp_write_member_string(json, "result", word_of(&self->results[i]));
        mcp_write_member_string(json, "detail", self->results[i].detail);
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

static mcp_status print_json(const doctor *self, FILE *out)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, ARENA_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_name(&json, "checks");
    doctor_write(self, &json);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        fprintf(out, "%s\n", text.data);
    mcp_buf_clear(&text);
    return st;
}

static void print_table(const doctor *self, FILE *out)
{
    static const cli_table_column columns[] = { { "CHECK", false },
                                                { "RESULT", false },
                                                { "DETAIL", false } };
    const char *cells[3 * DOCTOR_CHECKS_MAX];
    for (size_t i = 0; i < self->count; i++) {
        cells[3 * i] = self->results[i].check;
        cells[3 * i + 1] = word_of(&self->results[i]);
        cells[3 * i + 2] = self->results[i].detail;
    }
    cli_table_print(out, columns, 3, cells, self->count, cli_use_color(NULL, out));
}

int doctor_run(const cli_line *line, doctor_checks *checks, void *data)
{
    doctor self = { .arena = mcp_arena_new(ARENA_MAX) };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;
    if (!self.arena)
        return serve_fail(line, MCP_E_NOMEM, &(mcp_error){ .message = "out of memory" });
    checks(&self, line, data);
    if (cli_flag(line, "json"))
        st = print_json(&self, cli_out(line));
    else
        print_table(&self, cli_out(line));
    int exit_status = self.failures > 0 ? SERVE_EXIT_INVALID : SERVE_EXIT_DONE;
    mcp_arena_free(self.arena);
    if (st == MCP_OK)
        return exit_status;
    mcp_error_set(&err, st, "the checks: %s", mcp_status_words(st));
    return serve_fail(line, st, &err);
}
