/*
 * output.c - a file is written under another name and renamed when it is whole and on disk.
 */
#include "shell/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/buf.h"
#include "shell/open.h"

enum { STEP_BYTES = 16 << 20 };

static mcp_status fail(const universe_output *output, const char *what, mcp_error *err)
{
    return mcp_error_errno(err, errno, "%s %s", output->path ? output->path : "standard output",
                           what);
}

static mcp_status make_file(universe_output *output, mcp_error *err)
{
    mcp_buf name;
    mcp_buf_init(&name, 8192);
    mcp_buf_printf(&name, "%s.XXXXXX", output->path);
    output->part = mcp_buf_take(&name, NULL);
    if (!output->part)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the name of %.128s", output->path);
    int fd = mkstemp(output->part);
    if (fd < 0)
        return fail(output, "cannot be made", err);
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    output->file = fdopen(fd, "wb");
    if (output->file)
        return MCP_OK;
    close(fd);
    return fail(output, "cannot be made", err);
}

/* A pipe or a device is written to as it is. */
static bool is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

mcp_status universe_output_open(universe_output *output, const char *path, FILE *standard,
                                mcp_error *err)
{
    *output = (universe_output){ .file = standard };
    if (!path || strcmp(path, "-") == 0)
        return MCP_OK;
    *output = (universe_output){ .path = path };
    if (is_special(path)) {
        output->file = fopen(path, "wb");
        return output->file ? MCP_OK : fail(output, "cannot be opened", err);
    }
    mcp_status st = make_file(output, err);
    if (st != MCP_OK)
        universe_output_close(output, st, NULL);
    return st;
}

mcp_status universe_output_write(const char *bytes, size_t length, void *data, mcp_error *err)
{
    universe_output *output = data;
    if (universe_is_stopped())
        return mcp_error_set(err, MCP_E_STOPPED, "stopped");
    if (fwrite(bytes, 1, length, output->file) != length)
        return fail(output, "cannot be written", err);
    output->bytes += (int64_t)length;
    if (output->progress && (uint64_t)output->bytes >= output->reported + STEP_BYTES) {
        output->reported = (uint64_t)output->bytes;
        cli_progress_step(output->progress, output->reported >> 20, NULL);
    }
    return MCP_OK;
}

mcp_status universe_output_close(universe_output *output, mcp_status st, mcp_error *err)
{
    if (output->file && fflush(output->file) != 0 && st == MCP_OK)
        st = fail(output, "cannot be written", err);
    if (!output->path)
        return st;
    if (st == MCP_OK && output->part && fsync(fileno(output->file)) != 0)
        st = fail(output, "cannot be written", err);
    if (output->file && fclose(output->file) != 0 && st == MCP_OK)
        st = fail(output, "cannot be written", err);
    if (st == MCP_OK && output->part && rename(output->part, output->path) != 0)
        st = fail(output, "cannot take its name", err);
    if (st != MCP_OK && output->part)
        unlink(output->part);
    free(output->part);
    *output = (universe_output){ 0 };
    return st;
}
