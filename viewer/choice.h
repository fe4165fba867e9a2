/* choice.h - the signals that films hold: of a scene's many, those that are looked at. */
#ifndef TBI_VIEWER_CHOICE_H
#define TBI_VIEWER_CHOICE_H

#include "tabi/tabi_record.h"

/* All of the world, robots, joints and sensors.  Of links, whose poses every picture has, only
 * those that the scene's log names, bases, feet, and what moves without being a robot if it is not
 * much.
 */
typedef struct tbi_choice {
  tabi_signals *signals;
  int32_t *index; /* of those chosen */
  int32_t count;
} tbi_choice;

/* The scene must outlive it. */
tabi_status tbi_choice_open(tbi_choice *choice, const tabi_scene *scene, tabi_error *err);
void tbi_choice_close(tbi_choice *choice); /* all zero is fine */

#endif
