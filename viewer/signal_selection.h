/* signal_selection.h - the signals that pictures hold, a selection of those of the scene. */
#ifndef TBI_VIEWER_SIGNAL_SELECTION_H
#define TBI_VIEWER_SIGNAL_SELECTION_H

#include "tabi/tabi_record.h"

/* All of the world, robots, joints and sensors.  Of links, whose poses every picture has, only
 * those that the scene's log names, bases, feet, and what moves without being a robot if it is not
 * much.
 */
typedef struct tbi_signal_selection {
  tabi_signals *signals;
  int32_t *index; /* of those chosen */
  int32_t count;
} tbi_signal_selection;

/* The scene must outlive it. */
tabi_status tbi_signal_selection_open(tbi_signal_selection *selection, const tabi_scene *scene,
                                      tabi_error *err);
void tbi_signal_selection_close(tbi_signal_selection *selection); /* all zero is fine */

#endif
