/* formulations.c - the table of contact methods and their published variants, and what can be asked
 * of it by name. */
#include "contact/formulation.h"

#include "base/assertion.h"

#include <string.h>

const tbi_formulation *const tbi_formulations[TABI_CONTACT_COUNT] = {
    [TABI_CONTACT_CONE] = &tbi_cone,
    [TABI_CONTACT_LCP] = &tbi_lcp,
    [TABI_CONTACT_EXACT] = &tbi_exact,
    [TABI_CONTACT_PENALTY] = &tbi_penalty,
    [TABI_CONTACT_IMPULSE] = &tbi_impulse,
    [TABI_CONTACT_GAIT] = &tbi_gait,
    [TABI_CONTACT_CONE_PAPER] = &tbi_cone_paper,
    [TABI_CONTACT_LCP_PAPER] = &tbi_lcp_paper,
    [TABI_CONTACT_PENALTY_PAPER] = &tbi_penalty_paper,
    [TABI_CONTACT_IMPULSE_PAPER] = &tbi_impulse_paper,
};

const tabi_contact_info *tabi_contact_describe(tabi_contact_kind kind) {
  TBI_ASSERT((unsigned)kind < TABI_CONTACT_COUNT);
  return &tbi_formulations[kind]->info;
}

const char *tabi_contact_name(tabi_contact_kind kind) { return tabi_contact_describe(kind)->name; }

int32_t tabi_contact_find(const char *name) {
  TBI_ASSERT(name);
  for (int32_t i = 0; i < TABI_CONTACT_COUNT; ++i) {
    if (strcmp(name, tbi_formulations[i]->info.name) == 0) return i;
  }
  return TABI_NONE;
}

static const char *const integrators[TABI_INTEGRATOR_COUNT] = {"semi-implicit", "midpoint", "rk4",
                                                               "euler"};

const char *tabi_integrator_name(tabi_integrator integrator) {
  TBI_ASSERT((unsigned)integrator < TABI_INTEGRATOR_COUNT);
  return integrators[integrator];
}

int32_t tabi_integrator_find(const char *name) {
  TBI_ASSERT(name);
  for (int32_t i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    if (strcmp(name, integrators[i]) == 0) return i;
  }
  return TABI_NONE;
}
