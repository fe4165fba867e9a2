/* signals.h - the named numbers of a scene's samples.
 *
 *   world | every robot | every joint | every link | every sensor
 *
 *   signals.c       what there is, and its values, in this order
 *   signals_find.c  signals by name, by group, and by a name that was mistyped */
#ifndef TBI_SIGNALS_H
#define TBI_SIGNALS_H

#include "base/names.h"
#include "base/text.h"
#include "tabi/tabi_record.h"

/* The contact forces on a link. */
typedef struct tbi_link_load {
  double force[3]; /* N */
  double weight;   /* N, sum of |force| */
  double slip;     /* N m/s, sum of |force| times slip speed */
} tbi_link_load;

/* Kinds of signals, in their order. */
typedef enum tbi_signal_kind {
  TBI_SIGNALS_WORLD,
  TBI_SIGNALS_ROBOTS,
  TBI_SIGNALS_JOINTS,
  TBI_SIGNALS_LINKS,
  TBI_SIGNALS_SENSORS,
  TBI_SIGNALS_END,
} tbi_signal_kind;

struct tabi_signals {
  const tabi_scene *scene;
  const tabi_model *model;
  tabi_dynamics *dynamics;
  tabi_signal *item;
  int32_t count, capacity;
  int32_t first[TBI_SIGNALS_END + 1]; /* of each kind */
  bool *wanted;                       /* [count] */
  bool posed;                         /* dynamics has the state of this sample */
  tbi_text_pool text;
  tbi_names names;
  tbi_link_load *load; /* [nlink] */
};

#endif
