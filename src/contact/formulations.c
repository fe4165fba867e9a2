/* formulations.c - the contact methods, by name. */
#include "contact/formulation.h"

#include <string.h>

/* advances by itself: world/walk.c */
static const tbi_formulation gait = {.name = "gait"};

const tbi_formulation *const tbi_formulations[TABI_CONTACT_COUNT] = {
    [TABI_CONTACT_CONE] = &tbi_cone,       [TABI_CONTACT_LCP] = &tbi_lcp,
    [TABI_CONTACT_EXACT] = &tbi_exact,     [TABI_CONTACT_PENALTY] = &tbi_penalty,
    [TABI_CONTACT_IMPULSE] = &tbi_impulse, [TABI_CONTACT_GAIT] = &gait,
};

const char *tabi_contact_name(tabi_contact_kind kind) { return tbi_formulations[kind]->name; }

int32_t tabi_contact_find(const char *name) {
  for (int32_t i = 0; i < TABI_CONTACT_COUNT; ++i) {
    if (strcmp(name, tbi_formulations[i]->name) == 0) return i;
  }
  return TABI_NONE;
}

static const char *const integrators[TABI_INTEGRATOR_COUNT] = {"semi-implicit", "midpoint", "rk4",
                                                               "euler"};

const char *tabi_integrator_name(tabi_integrator integrator) { return integrators[integrator]; }

int32_t tabi_integrator_find(const char *name) {
  for (int32_t i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    if (strcmp(name, integrators[i]) == 0) return i;
  }
  return TABI_NONE;
}
