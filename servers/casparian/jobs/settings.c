/*
 * settings.c - the settings of one plugin among those of all.
 */
#include "jobs/settings.h"

#include <string.h>

enum { MEMORY_MB = 2048 };

int64_t casparian_settings_memory_mb(const casparian_settings *settings, const char *plugin)
{
    const casparian_plugins_settings *plugins = &settings->plugins;
    for (size_t i = 0; i < plugins->count; i++)
        if (strcmp(plugins->each[i].id, plugin) == 0 && plugins->each[i].memory_limit_mb > 0)
            return plugins->each[i].memory_limit_mb;
    return plugins->memory_limit_mb > 0 ? plugins->memory_limit_mb : MEMORY_MB;
}
