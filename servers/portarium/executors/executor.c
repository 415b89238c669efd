/*
 * executor.c - the executor of a binding.
 */
#include "executors/executor.h"

#include <string.h>

const portarium_executor *portarium_executor_find(const portarium_executors *all,
                                                  const mcp_json *binding, void **data)
{
    const char *kind = mcp_json_get_string(binding, "kind");
    for (size_t i = 0; kind && i < all->count; i++) {
        if (strcmp(all->items[i].executor->kind, kind) == 0) {
            *data = all->items[i].data;
            return all->items[i].executor;
        }
    }
    return NULL;
}
