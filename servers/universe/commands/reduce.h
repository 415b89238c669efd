/*
 * reduce.h - what the reducers share: the command at hand, and how they report events, rejections
 * and touches.
 *
 * A reducer finds its command checked against the catalogue's shape. It may change the state as it
 * goes: its caller puts everything back when it rejects, or when `status` or the state says that it
 * failed.
 */
#ifndef UNIVERSE_REDUCE_H
#define UNIVERSE_REDUCE_H

#include "commands/commands.h"
#include "model/entity.h"
#include "model/members.h"

#define UNIVERSE_TOUCHES_MAX 10000 /* more than that, and the outcome says `everything` */

typedef struct universe_reduction {
    universe_state *state;
    const mcp_json *command;
    const universe_rules *rules;
    mcp_arena *arena;
    universe_outcome *out;
    mcp_json_writer events;
    universe_touch *touches;
    size_t touch_capacity;
    mcp_status status; /* the first failure */
    mcp_error *err;
} universe_reduction;

typedef void universe_reducer(universe_reduction *r);

/* One a command type. */
universe_reducer universe_tick, universe_add_star, universe_update_star, universe_remove_star,
    universe_attach_star, universe_detach_star, universe_add_group, universe_update_group,
    universe_remove_group, universe_add_to_group, universe_remove_from_group,
    universe_move_to_group, universe_set_fields, universe_update_field, universe_remove_field,
    universe_set_disks, universe_add_disk, universe_update_disk, universe_remove_disk,
    universe_set_nebulae, universe_update_nebula, universe_remove_nebula, universe_update_ring,
    universe_remove_ring, universe_replace_snapshot;

/* ---- events ---------------------------------------------------------------------------------- */

/*
 * One event: its type, a `reason` (NULL: none), then pairs of a name and a `const mcp_json *`,
 * closed by NULL.
 */
void universe_event(universe_reduction *r, const char *type, const char *reason, ...);

/* The same as a rejection. */
void universe_reject(universe_reduction *r, const char *type, const char *reason, ...);

/* invalidCommand{reason, path}. */
void universe_invalid(universe_reduction *r, const char *reason, const char *path);

/* invalidPatch{id, field}. */
void universe_reject_patch(universe_reduction *r, const mcp_json *id, const char *field);

/* An event that is more than pairs: between these two, write members to r->events. */
void universe_event_begin(universe_reduction *r, const char *type);
void universe_event_end(universe_reduction *r);

/* Fail for want of memory or a limit; the state is put back. */
void universe_give_up(universe_reduction *r, mcp_status status);

/* ---- touches --------------------------------------------------------------------------------- */

/* Note that an entity was changed or (while its row still has its id) is being removed. */
void universe_touched(universe_reduction *r, universe_map map, universe_handle handle,
                      bool removed);

/* ---- arguments ------------------------------------------------------------------------------- */

/* A member of the command. */
const mcp_json *universe_argument(const universe_reduction *r, const char *name);

/* The entity that a member of the command names; 0 when there is none. */
universe_handle universe_named(const universe_reduction *r, universe_map map, const char *name);
universe_handle universe_named_by(const universe_reduction *r, universe_map map,
                                  const mcp_json *id);

/* ---- members of entities --------------------------------------------------------------------- */

/* Members while they are put together; the arena's. */
typedef struct universe_parts {
    universe_part *items;
    size_t count;
} universe_parts;

/* The members of an object, as they are. */
universe_parts universe_parts_of(universe_reduction *r, const mcp_json *object);

/* Those of a whole entity: in strict universes null leaves an optional member out; an unknown one
 * is kept. */
universe_parts universe_parts_whole(universe_reduction *r, universe_map map,
                                    const mcp_json *entity);

/* Those of a patch: in strict universes null takes a member away, known or not. */
universe_parts universe_parts_patch(universe_reduction *r, universe_map map, const mcp_json *patch);

/* The members that an entity has now. */
universe_parts universe_parts_now(universe_reduction *r, universe_map map, universe_handle handle);

/* `base` with the members of `patch` instead of its own of the same names. */
universe_parts universe_parts_merged(universe_reduction *r, universe_parts base,
                                     universe_parts patch);

/* The value of a member; NULL when it has none. */
const mcp_json *universe_parts_get(universe_parts parts, const char *name);

/* Whether what is inner is less than what is outer; always in lenient universes. */
bool universe_parts_ordered(const universe_reduction *r, const universe_shape *shape,
                            universe_parts parts);

/* Whether what the shape does not know is small enough together (I9); else the command is rejected.
 * `at`: "/payload". */
bool universe_unknown_fit(universe_reduction *r, universe_map map, universe_parts parts,
                          const char *at);

/* Whether all bodies that an entity names are there (I7); else the command is rejected. `at`:
 * "/payload". */
bool universe_names_exist(universe_reduction *r, universe_map map, const mcp_json *entity,
                          const char *at);

/* Store the members, and note the touch. */
void universe_put(universe_reduction *r, universe_map map, universe_handle handle,
                  universe_parts parts);

/* A row for a new entity; 0 when the command was rejected because there are too many, or memory is
 * out. */
universe_handle universe_new_row(universe_reduction *r, universe_map map, const mcp_json *id);

#endif
