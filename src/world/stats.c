/* stats.c - what a world costs: its memory, and where the time of its steps goes. */
#include "base/assertion.h"
#include "world/world.h"

#include <string.h>

const char *tabi_stage_name(tabi_stage stage) {
  static const char *const names[TABI_STAGE_COUNT] = {
      [TABI_STAGE_FORCES] = "forces",       [TABI_STAGE_KINEMATICS] = "kinematics",
      [TABI_STAGE_COLLISION] = "collision", [TABI_STAGE_FACTOR] = "factor",
      [TABI_STAGE_PROBLEM] = "problem",     [TABI_STAGE_SOLVE] = "solve",
      [TABI_STAGE_MOVE] = "move",           [TABI_STAGE_SENSORS] = "sensors",
      [TABI_STAGE_REST] = "rest",
  };
  TBI_ASSERT((unsigned)stage < TABI_STAGE_COUNT);
  return names[stage];
}

tabi_stats tabi_world_stats(const tabi_world *world) {
  TBI_ASSERT(world);
  tabi_stats stats = {.memory = world->memory, .steps = world->timers.steps};
  memcpy(stats.seconds, world->timers.seconds, sizeof stats.seconds);
  return stats;
}

void tabi_world_set_clock(tabi_world *world, double (*seconds)(void *user), void *user) {
  TBI_ASSERT(world);
  world->timers = (tbi_timers){.clock = seconds, .user = user};
}
