/* try_scene.h - the scene that `tabi try` and `tabi view` make of a robot. */
#ifndef TBI_TRY_SCENE_H
#define TBI_TRY_SCENE_H

#include "common/cli.h"

typedef struct tbi_try_scene {
  const char *command;    /* for messages */
  const char *model_path; /* of the robot, absolute */
  tabi_base base;
  const char *base_why;   /* what decided it */
  const char *duration;   /* s */
  const char *contact;    /* the first method */
  const char *keyframe;   /* wanted, then found; or NULL */
  bool floats, own_gains; /* found: the base floats, the file holds its joints */
  double open;            /* m or rad, of the connection that starts farthest from closed */
  char *text;             /* the scene, to be freed */
  size_t size;
} tbi_try_scene;

/* Fills what is found and the text; false after an error was printed, with the exit code. */
bool tbi_try_scene_make(tbi_try_scene *scene, const tabi_model *model, int *code);

/* Whether a plane or a fixed shape is there to stand on. */
bool tbi_try_has_ground(const tabi_model *model);
/* A text in quotes that YAML reads back. */
void tbi_try_write_text(FILE *out, const char *text);

#endif
