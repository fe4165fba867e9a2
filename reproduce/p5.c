/* p5.c - see p5.h. */
#include "p5.h"

#include <math.h>

const tbi_p5_surface tbi_p5_floor = {.friction = 0.7, .kinetic = 0.5, .restitution = 0.3};

const char *const tbi_p5_cut =
    "the loop cuts friction to its cone after the normal impulses are found; these balanced the "
    "friction that is gone, and push as if it were there";
const char *const tbi_p5_least_norm =
    "friction of least norm is as large at a corner with little load as at the others; it is cut "
    "there, and the body slips where it could hold";

static const double rest_speed = 0.01, slip_speed = 1e-3; /* m/s, of a material by default */
static const double paper_step = 4e-3;                    /* s, Pentium 4 of 1.8 GHz */

tabi_contact_kind tbi_p5_contact(tbi_variant variant) {
  return variant == TBI_PUBLISHED ? TABI_CONTACT_IMPULSE_PAPER : TABI_CONTACT_IMPULSE;
}

const char *tbi_p5_name(tbi_variant variant) {
  return variant == TBI_PUBLISHED ? "published" : "ours";
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void tbi_p5_watch(tbi_p5_contacts *contacts, const tbi_simulation *sim) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(sim->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    const tabi_contact *c = &contact[i];
    double normal = dot(c->velocity, c->normal);
    double slip = sqrt(fmax(dot(c->velocity, c->velocity) - normal * normal, 0));
    if (dot(c->impulse, c->normal) <= 0) continue;
    contacts->rebounds += normal > tbi_p5_floor.restitution * rest_speed;
    contacts->slides += slip > slip_speed;
  }
  double gain = tabi_world_certificate(sim->world).contact_work;
  if (gain <= 1e-9) return;
  contacts->gaining++;
  contacts->gained += gain;
}

void tbi_p5_expect_impacts(tbi_trial *trial, const tbi_p5_contacts *contacts,
                           const char *no_rebound) {
  tbi_may_differ(trial, no_rebound, no_rebound);
  tbi_expect_above(trial, "points that rebound", "", (double)contacts->rebounds, 0);
  tbi_may_differ(trial, NULL, NULL);
  tbi_expect_above(trial, "points that slide", "", (double)contacts->slides, 0);
}

void tbi_p5_expect_no_gain(tbi_trial *trial, const tbi_p5_contacts *contacts) {
  tbi_may_differ(trial, tbi_p5_cut, NULL);
  tbi_expect_within(trial, "steps in which impulses add energy", "", (double)contacts->gaining, 0,
                    0);
  tbi_expect_below(trial, "energy that impulses add", "J", contacts->gained, 1e-6);
  tbi_may_differ(trial, NULL, NULL);
}

void tbi_p5_expect_speed(tbi_trial *trial, double seconds) {
  tbi_expect_above(trial, "speed, in that of the paper (4 ms a step)", "", paper_step / seconds,
                   TBI_CORE_TO_PENTIUM_4);
}
