/* p5.h - what the experiments of P5 share: one kind of surface, both algorithms, and what contacts
 * did on the way.
 *
 * The paper prints neither the coefficient of restitution nor those of friction, only that static
 * and kinetic friction differ.  The three motions of the robot share the values below. */
#ifndef TBI_P5_H
#define TBI_P5_H

#include "simulation.h"

typedef struct tbi_p5_surface {
  double friction, kinetic, restitution; /* friction: static */
} tbi_p5_surface;
extern const tbi_p5_surface tbi_p5_floor;

/* What contacts did over the steps of a run. */
typedef struct tbi_p5_contacts {
  int64_t rebounds; /* points that were hit and part, one step each */
  int64_t slides;   /* points that slide under load, one step each */
  int64_t gaining;  /* steps in which impulses add energy */
  double gained;    /* J, by these steps */
} tbi_p5_contacts;

tabi_contact_kind tbi_p5_contact(tbi_variant variant);
/* "published" or "ours". */
const char *tbi_p5_name(tbi_variant variant);
/* Adds the last step. */
void tbi_p5_watch(tbi_p5_contacts *contacts, const tbi_simulation *sim);
/* That the run had rebounds and slip, so that restitution and kinetic friction were in force;
 * no_rebound: why there may be no rebounds, or NULL. */
void tbi_p5_expect_impacts(tbi_trial *trial, const tbi_p5_contacts *contacts,
                           const char *no_rebound);
/* That impulses add no energy; the published ones may, for a reason that is known. */
void tbi_p5_expect_no_gain(tbi_trial *trial, const tbi_p5_contacts *contacts);
/* Why the published loop adds energy, and why soles slip under it. */
extern const char *const tbi_p5_cut, *const tbi_p5_least_norm;
/* How many times as fast a step is as the paper's 4 ms. */
void tbi_p5_expect_speed(tbi_trial *trial, double seconds);

#endif
