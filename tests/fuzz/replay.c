/*
 * replay.c - the main of a fuzz target outside of fuzzing: every file of a corpus folder is run
 * again.
 *
 * So a found crash stays found. Besides the file itself, what is left of it when it is cut short is
 * run too: every length of a small file, some sixty lengths of a larger one. The bytes lie in a
 * block of exactly their size, so that AddressSanitizer sees one byte read too far.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL = 256, CUTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);

    if (!exact)
        abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(size ? exact : NULL, size);
    free(exact);
}

static void run_with_cuts(const uint8_t *bytes, size_t size)
{
    size_t step = size <= SMALL ? 1 : size / CUTS;

    for (size_t length = 0; length < size; length += step)
        run(bytes, length);
    run(bytes, size);
}

/* The whole file, or NULL. */
static uint8_t *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    uint8_t *bytes = NULL;

    if (!file)
        return NULL;
    if (fstat(fileno(file), &facts) == 0 && S_ISREG(facts.st_mode)) {
        *size = (size_t)facts.st_size;
        bytes = malloc(*size + 1);
        if (bytes && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

static int replay_file(const char *folder, const char *name)
{
    char path[4096];
    size_t size = 0;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return -1;
    uint8_t *bytes = contents(path, &size);
    if (!bytes)
        return -1;
    /* Said before, because a crash says nothing afterwards. */
    printf("%s (%zu bytes)\n", name, size);
    fflush(stdout);
    run_with_cuts(bytes, size);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    int files = 0;

    if (!folder) {
        fprintf(stderr, "replay: cannot read the corpus %s\n",
                argc == 2 ? argv[1] : "(none given)");
        return 2;
    }
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        if (replay_file(argv[1], entry->d_name) != 0) {
            fprintf(stderr, "replay: cannot read %s: %s\n", entry->d_name, strerror(errno));
            return 2;
        }
        files++;
    }
    closedir(folder);
    if (files == 0)
        fprintf(stderr, "replay: the corpus is empty\n");
    return files > 0 ? 0 : 2;
}
