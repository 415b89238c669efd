/*
 * portarium-evidence.c - how fast evidence of portarium is verified: a file of 100,000 entries, by
 * the functions and by the command, compared with `openssl dgst -sha256` of the same file; and the
 * bundle of one run out of a chain of a million entries.
 *
 * Entries are made by the functions that the server makes them with. The verifications and openssl
 * run by turns; the median of the rounds counts, the best is printed too. A changed byte must be
 * found, each time.
 *
 *     bench-portarium-evidence [PROGRAM]     default: portarium of CAUSEWAY_BIN or build/bin
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/bundle.h"
#include "evidence/chain.h"
#include "evidence/entry.h"
#include "evidence/tree.h"
#include "support/figures.h"
#include "support/plane.h"
#include "support/scale.h"

enum {
    ENTRIES = BENCH(100000, 300),
    CHAIN = BENCH(1000000, 2000),
    RUN_ENTRIES = 12, /* of the run that is proved, spread over the chain */
    ROUNDS = BENCH(7, 1),
    BUNDLE_MAX = 1 << 20,
    TILES_MAX = CHAIN / PORTARIUM_TILE_HASHES + CHAIN / PORTARIUM_TILE_HASHES / 128 + 4
};

static char folder[] = P_tmpdir "/bench-evidence-XXXXXX";
static char path[sizeof folder + 16];
static mcp_buf entries; /* lines */

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("portarium-evidence: %s", err->message);
}

static double ms_since(int64_t from)
{
    return (double)(bench_now_ns() - from) * 1e-6;
}

/* Append an entry like those of a run; `hash` is that of the one before, and then its own. */
static void write_entry(mcp_buf *out, int64_t number, const char *run, char hash[KEYS_HEX_SIZE])
{
    static const portarium_payload_ref payload = {
        "Snapshot", "portarium://ws-1/payloads/pl-882a7eae-c23a-4f37-b91c-27a144fe9abd",
        "application/json", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    };
    char id[64], own_hash[KEYS_HEX_SIZE];
    portarium_entry entry = { .evidence_id = id,
                              .workspace_id = "ws-1",
                              .correlation_id = "c54f32f4-c3c7-4975-b1cf-d65a5b4bcc6f",
                              .occurred_at_ms = INT64_C(1767323045000) + number,
                              .category = "Action",
                              .summary = "Action one succeeded",
                              .actor = { .kind = "System" },
                              .run_id = run,
                              .payloads = &payload,
                              .payload_count = number % 2 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf canonical;

    snprintf(id, sizeof id, "ev-cd9759b7-7b13-4eed-9c06-%012" PRId64, number);
    mcp_buf_init(&canonical, PORTARIUM_ENTRY_MAX);
    must(portarium_entry_write(&canonical, own_hash, &entry, number > 0 ? hash : NULL, &err), &err);
    must(portarium_entry_complete(out, canonical.data, canonical.length, own_hash, NULL, &err),
         &err);
    memcpy(hash, own_hash, sizeof own_hash);
    mcp_buf_clear(&canonical);
}

/* ---- a file of entries ----------------------------------------------------------------------- */

static void write_file(void)
{
    char hash[KEYS_HEX_SIZE];

    mcp_buf_init(&entries, (size_t)1 << 30);
    for (int64_t i = 0; i < ENTRIES; i++) {
        write_entry(&entries, i, "run-5c42798c-483e-4abb-9008-ec5b97ac81c8", hash);
        mcp_buf_putc(&entries, '\n');
    }
    FILE *file = fopen(path, "w");
    if (!file || fwrite(entries.data, 1, entries.length, file) != entries.length)
        bench_give_up("no file %s", path);
    fclose(file);
}

/* @return how many entries verified */
static uint64_t verify_all(void)
{
    portarium_chain *chain = NULL;
    portarium_flaw flaw;
    mcp_error err = MCP_ERROR_INIT;
    const char *end = entries.data + entries.length;
    mcp_status st = MCP_OK;

    must(portarium_chain_new(&chain, NULL, &err), &err);
    for (const char *at = entries.data; at < end && st == MCP_OK;) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        st = portarium_chain_add(chain, &flaw, at, (size_t)(next - at), &err);
        at = next + 1;
    }
    uint64_t size = portarium_chain_size(chain);
    portarium_chain_free(chain);
    return size;
}

static void find_change(void)
{
    char *byte = strstr(entries.data + entries.length / 2, "succeeded");

    *byte = 'S';
    uint64_t found = verify_all();
    *byte = 's';
    if (found >= ENTRIES || found < ENTRIES / 2 - 2)
        bench_give_up("a changed entry was found at %" PRIu64, found);
}

/* A command that prints one line with `proof` in it. @return ms */
static double run_command(char *const *command, const char *proof)
{
    program it;
    size_t length = 0;
    int64_t from = bench_now_ns();

    program_start(&it, command);
    const char *line = program_line(&it, &length);
    if (!memmem(line, length, proof, strlen(proof)))
        bench_give_up("%s: %.*s", command[0], (int)length, line);
    program_end(&it);
    return ms_since(from);
}

static double middle(double *figures)
{
    figures_sort(figures, ROUNDS);
    return figures_at(figures, ROUNDS, 0.5);
}

static void bench_file(void)
{
    char openssl[] = "openssl", dgst[] = "dgst", sha256[] = "-sha256";
    char evidence[] = "evidence", verify[] = "verify";
    char *const peer[] = { openssl, dgst, sha256, path, NULL };
    char *const own[] = { plane_program_path(), evidence, verify, path, NULL };
    double ours[ROUNDS], commands[ROUNDS], theirs[ROUNDS];

    write_file();
    find_change();
    for (int i = 0; i < ROUNDS; i++) {
        int64_t from = bench_now_ns();
        if (verify_all() != ENTRIES)
            bench_give_up("the chain of %d entries does not verify", ENTRIES);
        ours[i] = ms_since(from);
        commands[i] = run_command(own, "unbroken");
        theirs[i] = run_command(peer, "SHA2-256");
    }
    double half = middle(ours), command = middle(commands), sha = middle(theirs);
    printf(
        "portarium-evidence %d entries, %.1f MB, verified in memory: %.0f ms, best %.0f (at most "
        "500); by the command %.0f ms, best %.0f; load average %.1f\n",
        ENTRIES, (double)entries.length * 1e-6, half, ours[0], command, commands[0],
        bench_load_average());
    printf("portarium-evidence openssl dgst -sha256 of the file: %.0f ms, best %.0f; the command "
           "takes %.1f x of it (at most 8)\n",
           sha, theirs[0], command / sha);
}

/* ---- a bundle -------------------------------------------------------------------------------- */

static struct {
    unsigned level;
    uint64_t number;
    uint8_t hashes[PORTARIUM_TILE_SIZE];
} * tiles;
static size_t tile_count;

static mcp_status write_tile(unsigned level, uint64_t number, const uint8_t *hashes, void *data,
                             mcp_error *err)
{
    (void)data;
    if (tile_count == TILES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "more than %d tiles", TILES_MAX);
    tiles[tile_count].level = level;
    tiles[tile_count].number = number;
    memcpy(tiles[tile_count++].hashes, hashes, PORTARIUM_TILE_SIZE);
    return MCP_OK;
}

static mcp_status read_tile(unsigned level, uint64_t number, uint8_t *hashes, void *data,
                            mcp_error *err)
{
    (void)data;
    for (size_t i = 0; i < tile_count; i++) {
        if (tiles[i].level == level && tiles[i].number == number) {
            memcpy(hashes, tiles[i].hashes, PORTARIUM_TILE_SIZE);
            return MCP_OK;
        }
    }
    return mcp_error_set(err, MCP_E_NOT_FOUND, "no tile %" PRIu64 " of level %u", number, level);
}

static mcp_status take(const char *bytes, size_t length, void *data, mcp_error *err)
{
    mcp_buf *out = data;

    mcp_buf_append(out, bytes, length);
    return out->status == MCP_OK ? MCP_OK : mcp_error_set(err, out->status, "no memory");
}

/* The run's entries are RUN_ENTRIES ones at equal distances. */
static bool is_of_run(int64_t number)
{
    return number % (CHAIN / RUN_ENTRIES) == 1 && number / (CHAIN / RUN_ENTRIES) < RUN_ENTRIES;
}

static portarium_tree *grow_tree(mcp_buf kept[RUN_ENTRIES], uint64_t index[RUN_ENTRIES],
                                 char hash[KEYS_HEX_SIZE])
{
    static const portarium_tiles store = { write_tile, read_tile, NULL };
    portarium_tree *tree = NULL;
    mcp_error err = MCP_ERROR_INIT;
    uint8_t bytes[MCP_SHA256_SIZE];
    mcp_buf one;
    int found = 0;

    must(portarium_tree_new(&tree, &store, 0, &err), &err);
    mcp_buf_init(&one, PORTARIUM_ENTRY_MAX);
    for (int64_t i = 0; i < CHAIN; i++) {
        bool is_kept = is_of_run(i);
        mcp_buf *out = is_kept ? &kept[found] : &one;
        if (is_kept)
            index[found++] = (uint64_t)i;
        one.length = 0;
        write_entry(out, i, is_kept ? "run-1" : "run-2", hash);
        for (int k = 0; k < MCP_SHA256_SIZE; k++) {
            const char pair[] = { hash[2 * k], hash[2 * k + 1], '\0' };
            bytes[k] = (uint8_t)strtoul(pair, NULL, 16);
        }
        must(portarium_tree_append(tree, bytes, &err), &err);
    }
    mcp_buf_clear(&one);
    return tree;
}

static void write_bundle(mcp_buf *out, const keys_pair *pair)
{
    static const char origin[] = "portarium/ws-1";
    mcp_buf kept[RUN_ENTRIES], note;
    uint64_t index[RUN_ENTRIES];
    mcp_error err = MCP_ERROR_INIT;
    portarium_checkpoint checkpoint = { .size = CHAIN };
    portarium_proof proof;
    portarium_bundle *bundle = NULL;
    const portarium_signer signer = { "portarium", pair };

    for (int i = 0; i < RUN_ENTRIES; i++)
        mcp_buf_init(&kept[i], PORTARIUM_ENTRY_MAX);
    portarium_tree *tree = grow_tree(kept, index, checkpoint.chain);
    snprintf(checkpoint.origin, sizeof checkpoint.origin, "%s", origin);
    must(portarium_tree_root(tree, CHAIN, checkpoint.root, &err), &err);
    mcp_buf_init(&note, PORTARIUM_NOTE_MAX);
    must(portarium_checkpoint_sign(&note, &checkpoint, &signer, &err), &err);
    const portarium_bundle_options options = { .origin = origin,
                                               .run_id = "run-1",
                                               .entries = RUN_ENTRIES,
                                               .checkpoint = note.data,
                                               .checkpoint_length = note.length,
                                               .signer = signer,
                                               .sink = take,
                                               .data = out };
    must(portarium_bundle_new(&bundle, &options, &err), &err);
    for (int i = 0; i < RUN_ENTRIES; i++) {
        must(portarium_tree_inclusion(tree, index[i], CHAIN, &proof, &err), &err);
        must(portarium_bundle_entry(bundle, kept[i].data, kept[i].length, index[i], &proof, &err),
             &err);
        mcp_buf_clear(&kept[i]);
    }
    must(portarium_bundle_end(bundle, &err), &err);
    portarium_bundle_free(bundle);
    mcp_buf_clear(&note);
    portarium_tree_free(tree);
}

static void bench_bundle(void)
{
    static const uint8_t seed[KEYS_SEED_SIZE] = { 4, 2 };
    double ms[ROUNDS];
    mcp_error err = MCP_ERROR_INIT;
    portarium_key key = { .name = "portarium" };
    portarium_verdict verdict = { .reason = NULL };
    keys_pair *pair = NULL;
    mcp_buf bundle;

    tiles = malloc(TILES_MAX * sizeof tiles[0]);
    if (!tiles)
        bench_give_up("no memory");
    must(keys_pair_new(&pair, seed, &err), &err);
    keys_pair_public(pair, key.bytes);
    mcp_buf_init(&bundle, BUNDLE_MAX);
    write_bundle(&bundle, pair);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t from = bench_now_ns();
        must(portarium_bundle_verify(&verdict, bundle.data, bundle.length, &key, &err), &err);
        ms[i] = ms_since(from);
    }
    if (verdict.entries != RUN_ENTRIES || verdict.checkpoint.size != CHAIN)
        bench_give_up("the bundle has %" PRIu64 " entries", verdict.entries);
    double half = middle(ms);
    printf("portarium-evidence a run of %d entries out of %d, bundle of %zu bytes: proved in %.2f "
           "ms (at most 20); load average %.1f\n",
           RUN_ENTRIES, CHAIN, bundle.length, half, bench_load_average());
    mcp_buf_clear(&bundle);
    keys_pair_free(pair);
    free(tiles);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    alarm(BENCH(100, 280));
    plane_program(argc, argv);
    if (!mkdtemp(folder))
        bench_give_up("no folder in " P_tmpdir);
    snprintf(path, sizeof path, "%s/entries", folder);
    bench_file();
    bench_bundle();
    mcp_buf_clear(&entries);
    unlink(path);
    rmdir(folder);
    return 0;
}
