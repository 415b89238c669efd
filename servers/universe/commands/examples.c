/*
 * examples.c - each command as an agent may send it. Sent in this order they are all accepted by
 * any universe that has none of these ids: a star, a planet and a moon are added first, and what is
 * taken away was put there before.
 */
#include "commands/catalogue.h"

/* The tokens as a text: JSON as it is written, without a backslash before each quote. */
#define JSON(...) #__VA_ARGS__

/* clang-format off */
#define FIELD "{\"id\":\"vega-belt\",\"systemId\":\"vega\",\"hostStarId\":\"vega\",\"innerRadius\":80,\"outerRadius\":110," \
    "\"thickness\":2,\"particleCount\":2000,\"baseColor\":\"#8B7355\",\"highlightColor\":\"#C0A080\",\"opacity\":0.6," \
    "\"brightness\":0.5,\"clumpiness\":0.3,\"rotationSpeedMultiplier\":1,\"beltType\":\"main\",\"regionLabel\":\"Main belt\"," \
    "\"isIcy\":false,\"seed\":42,\"style\":\"moderate\"}"

static const struct {
    const char *type;
    const char *commands; /* one a line */
} examples[UNIVERSE_COMMANDS] = {
    { "tick", JSON({"type":"tick","dt":60}) },
    { "addStar",
      JSON({"type":"addStar","id":"vega","payload":{"name":"Vega","bodyType":"star","mass":1000,"radius":3,"color":"#CAD7FF","parentId":null,"orbitalDistance":0,"orbitalSpeed":0}}) "\n"
      JSON({"type":"addStar","id":"vega-b","payload":{"name":"Vega b","bodyType":"planet","mass":10,"radius":0.8,"color":"#4A90E2","parentId":"vega","orbitalDistance":50,"orbitalSpeed":1,"orbitalPhase":90,"eccentricity":0.02}}) "\n"
      JSON({"type":"addStar","id":"vega-b-1","payload":{"name":"Vega b 1","bodyType":"moon","mass":0.1,"radius":0.2,"color":"#CCCCCC","parentId":"vega-b","orbitalDistance":4,"orbitalSpeed":12}}) },
    { "updateStar", JSON({"type":"updateStar","id":"vega-b","payload":{"color":"#E25822","orbitalDistance":55}}) },
    { "removeStar", JSON({"type":"removeStar","id":"vega-b-1"}) },
    { "attachStar", JSON({"type":"attachStar","childId":"vega-b","parentId":"vega"}) },
    { "detachStar", JSON({"type":"detachStar","childId":"vega-b"}) },
    { "addGroup", JSON({"type":"addGroup","id":"lyra","payload":{"name":"Lyra","children":[{"id":"vega","type":"system"}],"parentGroupId":null,"color":"#4A90E2"}}) "\n"
      JSON({"type":"addGroup","id":"outer-lyra","payload":{"name":"Outer Lyra","children":[],"parentGroupId":"lyra"}}) },
    { "updateGroup", JSON({"type":"updateGroup","id":"lyra","payload":{"name":"The Lyre","position":{"x":0,"y":0,"z":40}}}) },
    { "removeGroup", JSON({"type":"removeGroup","id":"outer-lyra"}) },
    { "addToGroup", JSON({"type":"addToGroup","groupId":"lyra","child":{"id":"vega-b","type":"system"}}) },
    { "removeFromGroup", JSON({"type":"removeFromGroup","groupId":"lyra","childId":"vega-b"}) },
    { "moveToGroup", JSON({"type":"moveToGroup","childId":"vega","childType":"system","targetGroupId":null}) },
    { "setSmallBodyFields", "{\"type\":\"setSmallBodyFields\",\"fields\":{\"vega-belt\":" FIELD "}}" },
    { "updateSmallBodyField", JSON({"type":"updateSmallBodyField","id":"vega-belt","patch":{"particleCount":3000}}) },
    { "removeSmallBodyField", JSON({"type":"removeSmallBodyField","id":"vega-belt"}) },
    { "setProtoplanetaryDisks", JSON({"type":"setProtoplanetaryDisks","disks":{}}) },
    { "addProtoplanetaryDisk", JSON({"type":"addProtoplanetaryDisk","disk":{"id":"vega-disk","systemId":"vega","centralStarId":"vega","innerRadius":1,"outerRadius":5,"thickness":0.3,"particleCount":5000,"baseColor":"#D4A574","highlightColor":"#FFD700","opacity":0.5,"brightness":0.5,"clumpiness":0.3,"rotationSpeedMultiplier":0.3,"seed":7,"style":"moderate"}}) },
    { "updateProtoplanetaryDisk", JSON({"type":"updateProtoplanetaryDisk","id":"vega-disk","patch":{"style":"thin","spiralArmCount":2}}) },
    { "removeProtoplanetaryDisk", JSON({"type":"removeProtoplanetaryDisk","id":"vega-disk"}) },
    { "setNebulae", JSON({"type":"setNebulae","nebulae":{"ring-nebula":{"id":"ring-nebula","name":"Ring Nebula","position":{"x":200,"y":80,"z":-300},"radius":150,"density":0.5,"brightness":0.5,"baseColor":"#4A90E2","accentColor":"#E25822","noiseScale":1,"noiseDetail":3,"seed":3}}}) },
    { "updateNebula", JSON({"type":"updateNebula","id":"ring-nebula","patch":{"density":0.7}}) },
    { "removeNebula", JSON({"type":"removeNebula","id":"ring-nebula"}) },
    { "updateRing", JSON({"type":"updateRing","planetId":"vega-b","patch":{"innerRadiusMultiplier":1.4,"outerRadiusMultiplier":2.6,"opacity":0.4}}) },
    { "removeRing", JSON({"type":"removeRing","planetId":"vega-b"}) },
    { "replaceSnapshot", JSON({"type":"replaceSnapshot","snapshot":{"stars":{"vega":{"id":"vega","name":"Vega","bodyType":"star","mass":1000,"radius":3,"color":"#CAD7FF","children":[],"parentId":null,"orbitalDistance":0,"orbitalSpeed":0,"orbitalPhase":0}},"rootIds":["vega"]}}) },
};
/* clang-format on */

const char *universe_command_examples(const universe_command_type *command)
{
    return examples[command - universe_command_types].commands;
}
