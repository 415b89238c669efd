/*
 * backup.c - VACUUM INTO a new file.
 */
#include "db/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 30000, FOLDER_MAX = 4096 };

static const char scheme[] = "sqlite:";

static mcp_status fail(sqlite3 *from, int code, const char *path, mcp_error *err)
{
    const char *words = from ? sqlite3_errmsg(from) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return mcp_error_set(err, MCP_E_BUSY, "%s is locked: %s", path, words);
    case SQLITE_FULL:
        return mcp_error_set(err, MCP_E_STORAGE, "%s: the copy cannot be written: %s", path, words);
    case SQLITE_NOMEM:
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a copy of %s", path);
    default:
        return mcp_error_set(err, MCP_E_IO, "%s cannot be copied: %s", path, words);
    }
}

static mcp_status copy(const char *from_path, const char *path, mcp_error *err)
{
    sqlite3 *from = NULL;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_open_v2(from_path, &from, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(from, BUSY_MS);
        code = sqlite3_prepare_v2(from, "VACUUM INTO ?1", -1, &statement, NULL);
    }
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    mcp_status st = code == SQLITE_DONE ? MCP_OK : fail(from, code, from_path, err);
    sqlite3_finalize(statement);
    sqlite3_close(from);
    return st;
}

/* SQLite does not wait until the copy is on the disk. */
static mcp_status sync_file(int fd, const char *path, mcp_error *err)
{
    char folder[FOLDER_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (fsync(fd) != 0)
        return mcp_error_errno(err, errno, "%s cannot be written", path);
    if (length >= sizeof folder)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of the copy is too long");
    memcpy(folder, path, length);
    folder[length] = '\0';
    int above = open(!slash ? "." : length == 0 ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return mcp_error_errno(err, errno, "the folder of %s cannot be opened", path);
    int failed = fsync(above) != 0 ? errno : 0;
    close(above);
    return failed && failed != EINVAL
               ? mcp_error_errno(err, failed, "the folder of %s cannot be written", path)
               : MCP_OK;
}

mcp_status db_backup(int64_t *bytes, const char *url, const char *path, mcp_error *err)
{
    struct stat info;
    const char *from = url + sizeof scheme - 1;
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "only a database of SQLite is copied here; for PostgreSQL use "
                             "pg_dump --format=custom");
    if (stat(from, &info) != 0)
        return mcp_error_errno(err, errno, "the database %s cannot be opened", from);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return mcp_error_set(err, MCP_E_EXISTS, "%s is there already", path);
    if (fd < 0)
        return mcp_error_errno(err, errno, "%s cannot be made", path);
    mcp_status st = copy(from, path, err);
    if (st == MCP_OK)
        st = sync_file(fd, path, err);
    if (st == MCP_OK && fstat(fd, &info) != 0)
        st = mcp_error_errno(err, errno, "%s cannot be read", path);
    close(fd);
    if (st != MCP_OK)
        unlink(path);
    else
        *bytes = info.st_size;
    return st;
}
