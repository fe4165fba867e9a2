/* biped_walk.h - a walk of the planar biped of P3 from a posture near that of a scene. */
#ifndef TBI_BIPED_WALK_H
#define TBI_BIPED_WALK_H

#include "simulation.h"
#include "tabi/tabi_gait.h"

enum { TBI_BIPED_STEPS = 24, TBI_BIPED_MODES = 7, TBI_BIPED_CHANGES = 3 };

/* Modes of the paper. */
extern const char *const tbi_biped_modes[TBI_BIPED_MODES];
/* Index of a mode, or -1 if the paper does not have it. */
int tbi_biped_mode(const char *name);

/* What is walked, and how. */
typedef struct tbi_biped_def {
  const char *scene;                     /* of the folder scenes/ */
  const char *change[TBI_BIPED_CHANGES]; /* of the scene; NULL: no further ones */
  bool located;    /* events are located in time; else taken at the ends of steps, as published */
  bool strict;     /* soles cannot pull; else the paper's guards */
  double friction; /* K */
  double timestep; /* s */
  double spread;   /* rad, how far joints may be from the scene's posture */
} tbi_biped_def;

/* Quantities of a step. */
typedef enum tbi_biped_quantity {
  TBI_BIPED_TOUCHDOWN, /* m, how far ahead of the support heel the other lands */
  TBI_BIPED_SLIP,      /* m, signed slip distance of the landing foot */
  TBI_BIPED_STRIDE,    /* m, from heel to heel when it has come to rest */
  TBI_BIPED_PUSH,      /* N, mean normal force on it */
  TBI_BIPED_TIME,      /* s, of the change of support */
  TBI_BIPED_QUANTITIES,
} tbi_biped_quantity;

typedef struct tbi_biped_walk {
  int32_t nstep;
  double step[TBI_BIPED_STEPS][TBI_BIPED_QUANTITIES];
  tabi_gait_outcome outcome;
  double time;                   /* s, of its end */
  double pulled;                 /* s, during which a sole had to pull */
  int mode;                      /* at its end; -1: none of the paper's */
  bool slips_on;                 /* it ended with a foot that had landed and slipped still */
  bool visited[TBI_BIPED_MODES]; /* modes */
  int32_t unlisted;              /* changes of mode that the paper does not have */
  double gained;                 /* J, max kinetic energy gained in an impact */
  double least_normal;           /* N, of a foot that touches */
  double open;                   /* m, worst height of a point that touches */
} tbi_biped_walk;

/* Sees every step of a walk. */
typedef void tbi_biped_watch(void *user, tbi_simulation *sim);

/* Posture 0 is that of the scene; in the others all eight joints differ from it by up to the
 * spread, at random, the same on every machine.  watch may be NULL. */
tabi_status tbi_biped_walk_run(tbi_biped_walk *walk, const tbi_biped_def *def, int32_t posture,
                               tbi_biped_watch *watch, void *user, tabi_error *err);

/* Kendall's rank correlation of touchdown strides with their order: -1 if each is shorter than all
 * before.  NAN for fewer than two steps. */
double tbi_biped_trend(const tbi_biped_walk *walk);

#endif
