/*
 * settings.c - the settings of one plugin among those of all.
 */
#include "jobs/settings.h"

#include <string.h>

const casparian_plugin_settings *casparian_settings_plugin(const casparian_settings *settings,
                                                           const char *id)
{
    for (size_t i = 0; i < settings->plugins.count; i++)
        if (strcmp(settings->plugins.each[i].id, id) == 0)
            return &settings->plugins.each[i];
    return NULL;
}
