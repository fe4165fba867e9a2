/* walk_scene.h - the scene that `tabi walk` makes of a robot, and what it found in it. */
#ifndef TBI_WALK_SCENE_H
#define TBI_WALK_SCENE_H

#include "common/cli.h"
#include "walk/walk_pushes.h"

#include "tabi/tabi_control.h"

/* What was asked for; NAN: by the robot's size. */
typedef struct tbi_walk_wish {
  int32_t steps;
  double stride, turn, speed; /* m, rad in all, m/s */
  const char *front, *contact;
  bool sensors;
  bool pushed;
  tbi_walk_push push;
} tbi_walk_wish;

typedef struct tbi_walk_scene {
  const char *model_path; /* of the robot, absolute */
  tabi_biped biped;       /* found */
  tabi_stepper_limits limits;
  double velocity[3]; /* m/s, m/s, rad/s */
  double duration;    /* s */
  bool own_actuators;
  char *text; /* to be freed */
  size_t size;
} tbi_walk_scene;

/* Finds legs and all; false and the exit code after the reason was printed. */
bool tbi_walk_scene_make(tbi_walk_scene *scene, const tabi_model *model, const tbi_walk_wish *wish,
                         int *code);
/* What was found, in a few lines. */
void tbi_walk_scene_tell(const tbi_walk_scene *scene, const tabi_model *model, FILE *out);

#endif
