/*
 * catalogue.c - the commands as one table, and the three forms in which it is shown.
 */
#include "commands/catalogue.h"

#include <string.h>
#include <strings.h>

/* clang-format off */
const universe_category universe_categories[UNIVERSE_CATEGORIES] = {
    { "simulation",          "Simulation" },
    { "star-crud",           "Star CRUD" },
    { "star-hierarchy",      "Star hierarchy" },
    { "group-crud",          "Group CRUD" },
    { "group-hierarchy",     "Group hierarchy" },
    { "small-body-fields",   "Small body fields" },
    { "protoplanetary-disks", "Protoplanetary disks" },
    { "nebulae",             "Nebulae" },
    { "rings",               "Rings" },
    { "snapshot",            "Snapshot" },
};

#define NEEDED UNIVERSE_M_REQUIRED
#define COUNT(rows) (sizeof rows / sizeof((rows)[0]))
#define A_ID(name)               { name, UNIVERSE_K_ID, NEEDED, 0, 0, NULL, NULL }
#define A_ID_NULL(name)          { name, UNIVERSE_K_ID_NULL, NEEDED, 0, 0, NULL, NULL }
#define A_NUMBER(name)           { name, UNIVERSE_K_NUMBER, 0, 0, 0, NULL, NULL }
#define A_WORD(name, words)      { name, UNIVERSE_K_WORD, NEEDED, 0, 0, words, NULL }
#define A_OBJECT(name, shape)    { name, UNIVERSE_K_OBJECT, NEEDED, 0, 0, NULL, shape }
#define A_PART(name, shape)      { name, UNIVERSE_K_PART, NEEDED, 0, 0, NULL, shape }
#define A_MAP(name, flags, shape) { name, UNIVERSE_K_MAP, flags, 0, 0, NULL, shape }
#define A_IDS(name, flags)       { name, UNIVERSE_K_IDS, flags, 0, 0, NULL, NULL }

static const char *const child_types[] = { "system", "group", NULL };

static const universe_member snapshot_members[] = {
    A_MAP("stars", NEEDED, &universe_star_shape), A_IDS("rootIds", NEEDED), A_MAP("groups", 0, &universe_group_shape),
    A_IDS("rootGroupIds", 0), A_MAP("belts", 0, &universe_belt_shape), A_MAP("smallBodyFields", 0, &universe_field_shape),
    A_MAP("protoplanetaryDisks", 0, &universe_disk_shape), A_MAP("nebulae", 0, &universe_nebula_shape),
};
static const universe_shape snapshot_shape = { "Snapshot", snapshot_members, COUNT(snapshot_members), NULL, NULL, true };

/* The members of each command, besides its type. */
static const universe_member tick[] = { A_NUMBER("dt") };
static const universe_member id_only[] = { A_ID("id") };
static const universe_member add_star[] = { A_ID("id"), A_OBJECT("payload", &universe_new_star_shape) };
static const universe_member update_star[] = { A_ID("id"), A_PART("payload", &universe_star_shape) };
static const universe_member attach_star[] = { A_ID("childId"), A_ID("parentId") };
static const universe_member detach_star[] = { A_ID("childId") };
static const universe_member add_group[] = { A_ID("id"), A_OBJECT("payload", &universe_new_group_shape) };
static const universe_member update_group[] = { A_ID("id"), A_PART("payload", &universe_group_shape) };
static const universe_member add_to_group[] = { A_ID("groupId"), A_OBJECT("child", &universe_group_child_shape) };
static const universe_member remove_from_group[] = { A_ID("groupId"), A_ID("childId") };
static const universe_member move_to_group[] = { A_ID("childId"), A_WORD("childType", child_types), A_ID_NULL("targetGroupId") };
static const universe_member set_fields[] = { A_MAP("fields", NEEDED, &universe_field_shape) };
static const universe_member update_field[] = { A_ID("id"), A_PART("patch", &universe_field_shape) };
static const universe_member set_disks[] = { A_MAP("disks", NEEDED, &universe_disk_shape) };
static const universe_member add_disk[] = { A_OBJECT("disk", &universe_disk_shape) };
static const universe_member update_disk[] = { A_ID("id"), A_PART("patch", &universe_disk_shape) };
static const universe_member set_nebulae[] = { A_MAP("nebulae", NEEDED, &universe_nebula_shape) };
static const universe_member update_nebula[] = { A_ID("id"), A_PART("patch", &universe_nebula_shape) };
static const universe_member update_ring[] = { A_ID("planetId"), A_PART("patch", &universe_ring_shape) };
static const universe_member remove_ring[] = { A_ID("planetId") };
static const universe_member replace_snapshot[] = { A_OBJECT("snapshot", &snapshot_shape), A_NUMBER("time") };

#define OF(members) &(const universe_shape){ #members, members, COUNT(members), NULL, NULL, false }
#define CATEGORY(i) &universe_categories[i]

const universe_command_type universe_command_types[UNIVERSE_COMMANDS] = {
    { "tick", CATEGORY(0), OF(tick), "Moves the clock by `dt` seconds, or by the default step without it; `dt` may be negative.", "" },
    { "addStar", CATEGORY(1), OF(add_star), "Adds a body of any type: as a root (`parentId` null, `orbitalDistance` 0) or in orbit about its parent.",
      "starAlreadyExists, parentNotFound, universeFull" },
    { "updateStar", CATEGORY(1), OF(update_star), "Replaces members of a body; the hierarchy is changed by attachStar and detachStar.",
      "starNotFound, invalidPatch" },
    { "removeStar", CATEGORY(1), OF(id_only), "Removes a body with all below it and all that belongs to it.", "starNotFound" },
    { "attachStar", CATEGORY(2), OF(attach_star), "Puts a body, with all below it, below another one.", "attachFailed" },
    { "detachStar", CATEGORY(2), OF(detach_star), "Makes a body the root of its own system.", "detachFailed" },
    { "addGroup", CATEGORY(3), OF(add_group), "Adds a group of systems and groups.",
      "groupAlreadyExists, parentNotFound, childNotFound, addToGroupFailed, universeFull" },
    { "updateGroup", CATEGORY(3), OF(update_group), "Replaces members of a group; who is in it is changed by the group hierarchy commands.",
      "groupNotFound, invalidPatch" },
    { "removeGroup", CATEGORY(3), OF(id_only), "Removes a group; its groups move up, its systems become ungrouped.", "groupNotFound" },
    { "addToGroup", CATEGORY(4), OF(add_to_group), "Puts a system or a group into a group; it leaves the one it was in.",
      "groupNotFound, childNotFound, addToGroupFailed" },
    { "removeFromGroup", CATEGORY(4), OF(remove_from_group), "Takes a child out of a group.", "groupNotFound, childNotInGroup" },
    { "moveToGroup", CATEGORY(4), OF(move_to_group), "Moves a system or a group into another group, or (null) to the root.",
      "groupNotFound, childNotFound, moveToGroupFailed" },
    { "setSmallBodyFields", CATEGORY(5), OF(set_fields), "Replaces all small body fields.", "universeFull" },
    { "updateSmallBodyField", CATEGORY(5), OF(update_field), "Replaces members of a field.", "smallBodyFieldNotFound, invalidPatch" },
    { "removeSmallBodyField", CATEGORY(5), OF(id_only), "Removes a field; one that is absent changes nothing.", "" },
    { "setProtoplanetaryDisks", CATEGORY(6), OF(set_disks), "Replaces all protoplanetary disks.", "universeFull" },
    { "addProtoplanetaryDisk", CATEGORY(6), OF(add_disk), "Stores a disk under its id, in place of one that is there.", "universeFull" },
    { "updateProtoplanetaryDisk", CATEGORY(6), OF(update_disk), "Replaces members of a disk.", "protoplanetaryDiskNotFound, invalidPatch" },
    { "removeProtoplanetaryDisk", CATEGORY(6), OF(id_only), "Removes a disk; one that is absent changes nothing.", "" },
    { "setNebulae", CATEGORY(7), OF(set_nebulae), "Replaces all nebulae.", "universeFull" },
    { "updateNebula", CATEGORY(7), OF(update_nebula), "Replaces members of a nebula.", "nebulaNotFound, invalidPatch" },
    { "removeNebula", CATEGORY(7), OF(id_only), "Removes a nebula; one that is absent changes nothing.", "" },
    { "updateRing", CATEGORY(8), OF(update_ring), "Replaces members of a body's ring; a body without one gets a default ring first.", "starNotFound" },
    { "removeRing", CATEGORY(8), OF(remove_ring), "Removes a body's ring.", "ringNotFound" },
    { "replaceSnapshot", CATEGORY(9), OF(replace_snapshot), "Replaces everything; the time is kept, unless one is given.", "universeFull" },
};
/* clang-format on */

const universe_category *universe_category_find(const char *id)
{
    for (size_t i = 0; id && i < UNIVERSE_CATEGORIES; i++)
        if (strcasecmp(universe_categories[i].id, id) == 0 ||
            strcasecmp(universe_categories[i].name, id) == 0)
            return &universe_categories[i];
    return NULL;
}

const universe_command_type *universe_command_find(const char *type, size_t length)
{
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++)
        if (strlen(universe_command_types[i].type) == length &&
            memcmp(universe_command_types[i].type, type, length) == 0)
            return &universe_command_types[i];
    return NULL;
}

/* ---- the listing for people ------------------------------------------------------------------ */

static size_t commands_in(const universe_category *category)
{
    size_t count = 0;

    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++)
        count += universe_command_types[i].category == category;
    return count;
}

/* `name`, and the words that it may be. */
static void put_member(mcp_buf *out, const universe_member *member)
{
    mcp_buf_printf(out, "`%s`", member->name);
    for (size_t i = 0; member->words && member->words[i]; i++)
        mcp_buf_printf(out, "%s%s", i ? " " : " (", member->words[i]);
    if (member->words)
        mcp_buf_putc(out, ')');
}

/* The members that are required, or those that are not, in a row; `id` and `children` only where
 * they are. */
static size_t put_members(mcp_buf *out, const universe_shape *shape, unsigned required)
{
    size_t count = 0;

    for (size_t i = 0; i < shape->count; i++) {
        const universe_member *member = &shape->members[i];
        if ((member->flags & UNIVERSE_M_REQUIRED) != required ||
            (!required && (member->kind == UNIVERSE_K_IDS || strcmp(member->name, "id") == 0)))
            continue;
        mcp_buf_puts(out, count++ ? ", " : "");
        put_member(out, member);
    }
    return count;
}

/* What the value of a member must have itself. */
static void put_inner(mcp_buf *out, const universe_member *member)
{
    if (!member->shape || member->kind == UNIVERSE_K_CHILDREN)
        return;
    if (member->kind == UNIVERSE_K_PART) {
        mcp_buf_puts(out, " (the members to replace)");
        return;
    }
    mcp_buf_puts(out, member->kind == UNIVERSE_K_MAP ? " (by id, each with " : " (with ");
    put_members(out, member->shape, UNIVERSE_M_REQUIRED);
    mcp_buf_putc(out, ')');
}

static void put_required(mcp_buf *out, const universe_shape *shape)
{
    size_t count = 0;

    for (size_t i = 0; i < shape->count; i++) {
        if (!(shape->members[i].flags & UNIVERSE_M_REQUIRED))
            continue;
        mcp_buf_puts(out, count++ ? ", " : "");
        put_member(out, &shape->members[i]);
        put_inner(out, &shape->members[i]);
    }
    if (count == 0)
        mcp_buf_puts(out, "none");
}

/* The optional members of an entity. A ring comes by patches alone: all its members are listed. */
static void put_optional(mcp_buf *out, const universe_category *category)
{
    const universe_shape *listed = NULL;

    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++) {
        const universe_command_type *command = &universe_command_types[i];
        const universe_shape *all = command->shape;
        const universe_member *last = &all->members[all->count - 1];
        const universe_shape *shape = last->shape;
        bool is_ring = shape == &universe_ring_shape;
        if (command->category != category || !shape || shape == listed ||
            (last->kind == UNIVERSE_K_PART && !is_ring) || shape == &universe_group_child_shape)
            continue;
        listed = shape;
        mcp_buf_printf(out, "\nThe `%s` of `%s` may %shave ", last->name, command->type,
                       is_ring ? "" : "also ");
        if (is_ring && put_members(out, shape, UNIVERSE_M_REQUIRED) > 0)
            mcp_buf_puts(out, ", ");
        put_members(out, shape, 0);
        mcp_buf_puts(out, ".\n");
    }
}

static void put_examples(mcp_buf *out, const universe_category *category)
{
    mcp_buf_puts(out, "\n```jsonl\n");
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++)
        if (universe_command_types[i].category == category)
            mcp_buf_printf(out, "%s\n", universe_command_examples(&universe_command_types[i]));
    mcp_buf_puts(out, "```\n");
}

static void put_category(mcp_buf *out, const universe_category *category)
{
    size_t count = commands_in(category);

    mcp_buf_printf(out, "\n## %s (%zu command%s)\n\n", category->name, count,
                   count == 1 ? "" : "s");
    mcp_buf_puts(out, "| Command | Purpose | Required fields |\n|---|---|---|\n");
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++) {
        const universe_command_type *command = &universe_command_types[i];
        if (command->category != category)
            continue;
        mcp_buf_printf(out, "| `%s` | %s | ", command->type, command->purpose);
        put_required(out, command->shape);
        mcp_buf_puts(out, " |\n");
    }
    put_optional(out, category);
    put_examples(out, category);
}

mcp_status universe_catalogue_markdown(mcp_buf *out, const universe_category *only)
{
    mcp_buf_puts(out, "# Universe commands\n\n"
                      "A command is one JSON object. Below each table are commands as they may be "
                      "sent; choose your own ids.\n");
    if (!only)
        mcp_buf_puts(out, "With a `category`, `list_universe_commands` gives the JSON Schemas of "
                          "its commands too.\n");
    for (size_t i = 0; i < UNIVERSE_CATEGORIES; i++)
        if (!only || only == &universe_categories[i])
            put_category(out, &universe_categories[i]);
    return out->status;
}

/* ---- the listing for programs ---------------------------------------------------------------- */

static void write_names(mcp_json_writer *writer, const char *name, const universe_shape *shape,
                        unsigned required)
{
    mcp_write_member_array(writer, name);
    for (size_t i = 0; i < shape->count; i++)
        if ((shape->members[i].flags & UNIVERSE_M_REQUIRED) == required)
            mcp_write_string(writer, shape->members[i].name);
    mcp_write_end(writer);
}

static void write_category(mcp_json_writer *writer, const universe_category *category, bool schemas)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "id", category->id);
    mcp_write_member_string(writer, "name", category->name);
    mcp_write_member_array(writer, "commands");
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++) {
        const universe_command_type *command = &universe_command_types[i];
        if (command->category != category)
            continue;
        mcp_write_object(writer);
        mcp_write_member_string(writer, "type", command->type);
        write_names(writer, "required", command->shape, UNIVERSE_M_REQUIRED);
        write_names(writer, "optional", command->shape, 0);
        if (schemas) {
            mcp_write_name(writer, "schema");
            universe_command_schema(writer, command);
        }
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
    mcp_write_end(writer);
}

void universe_catalogue_json(mcp_json_writer *writer, const universe_category *only)
{
    mcp_write_object(writer);
    mcp_write_member_array(writer, "commandTypes");
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++)
        if (!only || only == universe_command_types[i].category)
            mcp_write_string(writer, universe_command_types[i].type);
    mcp_write_end(writer);
    mcp_write_member_array(writer, "categories");
    for (size_t i = 0; i < UNIVERSE_CATEGORIES; i++)
        if (!only || only == &universe_categories[i])
            write_category(writer, &universe_categories[i], only != NULL);
    mcp_write_end(writer);
    mcp_write_end(writer);
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* One member of a command, as a shape of its own would write it. */
static void write_schema(mcp_json_writer *writer, const universe_command_type *command, bool refs)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "title", command->type);
    mcp_write_member_string(writer, "description", command->purpose);
    mcp_write_member_string(writer, "type", "object");
    mcp_write_member_object(writer, "properties");
    mcp_write_member_object(writer, "type");
    mcp_write_member_string(writer, "type", "string");
    mcp_write_member_string(writer, "const", command->type);
    mcp_write_end(writer);
    universe_members_schema(writer, command->shape, refs);
    mcp_write_end(writer);
    mcp_write_member_array(writer, "required");
    mcp_write_string(writer, "type");
    for (size_t i = 0; i < command->shape->count; i++)
        if (command->shape->members[i].flags & UNIVERSE_M_REQUIRED)
            mcp_write_string(writer, command->shape->members[i].name);
    mcp_write_end(writer);
    mcp_write_member_bool(writer, "additionalProperties", false);
    mcp_write_end(writer);
}

void universe_command_schema(mcp_json_writer *writer, const universe_command_type *command)
{
    write_schema(writer, command, false);
}

void universe_commands_one_of(mcp_json_writer *writer)
{
    mcp_write_array(writer);
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++)
        write_schema(writer, &universe_command_types[i], true);
    mcp_write_end(writer);
}

void universe_commands_defs(mcp_json_writer *writer)
{
    static const universe_shape *const named[] = {
        &universe_star_shape,      &universe_new_star_shape,    &universe_group_shape,
        &universe_new_group_shape, &universe_group_child_shape, &universe_belt_shape,
        &universe_field_shape,     &universe_disk_shape,        &universe_nebula_shape,
        &snapshot_shape,
    };

    mcp_write_object(writer);
    for (size_t i = 0; i < COUNT(named); i++) {
        mcp_write_name(writer, named[i]->name);
        universe_shape_schema(writer, named[i], false, false);
    }
    mcp_write_end(writer);
}

void universe_commands_schema(mcp_json_writer *writer)
{
    mcp_write_object(writer);
    mcp_write_name(writer, "oneOf");
    universe_commands_one_of(writer);
    mcp_write_name(writer, "$defs");
    universe_commands_defs(writer);
    mcp_write_end(writer);
}
