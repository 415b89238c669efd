/*
 * fuzz_evidence.c - bundles, checkpoints and entries from outside.
 *
 * The key is that of no corpus file but the whole ones, so what is changed must be refused; what is
 * refused has a reason and a line.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "evidence/bundle.h"
#include "evidence/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

static portarium_key make_key(void)
{
    static const uint8_t seed[KEYS_SEED_SIZE] = { 4, 2 };
    portarium_key key = { .name = "plane" };
    keys_pair *pair = NULL;

    must(keys_pair_new(&pair, seed, NULL) == MCP_OK);
    keys_pair_public(pair, key.bytes);
    keys_pair_free(pair);
    return key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : "";
    portarium_key key = make_key();
    portarium_chain_options options = { .key = key.bytes };
    portarium_checkpoint checkpoint;
    portarium_chain *chain = NULL;
    portarium_verdict verdict;
    portarium_flaw flaw;

    mcp_status st = portarium_bundle_verify(&verdict, text, size, &key, NULL);
    must(st == MCP_OK || (st == MCP_E_SCHEMA && verdict.reason && verdict.line > 0));
    (void)portarium_checkpoint_open(&checkpoint, text, size, &key, NULL);
    must(portarium_chain_new(&chain, &options, NULL) == MCP_OK);
    st = portarium_chain_add(chain, &flaw, text, size, NULL);
    must(st != MCP_E_SCHEMA || flaw.reason);
    portarium_chain_free(chain);
    return 0;
}
