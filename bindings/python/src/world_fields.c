/* world_fields.c - tables of the members of a world's def, and of what it tells of a step. */
#include "binding.h"

#include <stddef.h>

static const char *contact_word(int i) {
  return i >= 0 && i < TABI_CONTACT_COUNT ? tabi_contact_name((tabi_contact_kind)i) : NULL;
}

static const char *integrator_word(int i) {
  return i >= 0 && i < TABI_INTEGRATOR_COUNT ? tabi_integrator_name((tabi_integrator)i) : NULL;
}

static const char *fallback_word(int i) {
  static const char *const words[] = {"default", "none", "newton", "exact"};
  return i >= 0 && i < TABI_FALLBACK_COUNT ? words[i] : NULL;
}

static const char *impacts_word(int i) {
  static const char *const words[] = {"simultaneous", "sequential"};
  return i >= 0 && i < TABI_IMPACTS_COUNT ? words[i] : NULL;
}

static const char *storage_word(int i) {
  static const char *const words[] = {"ports", "dense", "test-forces"};
  return i >= 0 && i < TABI_STORAGE_COUNT ? words[i] : NULL;
}

static const tbi_py_field world_field[] = {
    {"contact",              offsetof(tabi_world_def, contact),                      contact_word,    TBI_PY_WORD,   0},
    {"integrator",           offsetof(tabi_world_def, integrator),                   integrator_word, TBI_PY_WORD,   0},
    {"timestep",             offsetof(tabi_world_def, timestep),                     NULL,            TBI_PY_DOUBLE, 0},
    {"gravity",              offsetof(tabi_world_def, gravity),                      NULL,            TBI_PY_DOUBLE, 3},
    {"tolerance",            offsetof(tabi_world_def, tolerance),                    NULL,            TBI_PY_DOUBLE, 0},
    {"iterations",           offsetof(tabi_world_def, iterations),                   NULL,            TBI_PY_INT,    0},
    {"budget",               offsetof(tabi_world_def, budget),                       NULL,            TBI_PY_INT,    0},
    {"fallback",             offsetof(tabi_world_def, fallback),                     fallback_word,   TBI_PY_WORD,   0},
    {"impacts",              offsetof(tabi_world_def, impacts),                      impacts_word,    TBI_PY_WORD,   0},
    {"max_contacts",         offsetof(tabi_world_def, max_contacts),                 NULL,            TBI_PY_INT,    0},
    {"allowed_depth",        offsetof(tabi_world_def, allowed_depth),                NULL,            TBI_PY_DOUBLE, 0},
    {"correction",           offsetof(tabi_world_def, correction),                   NULL,            TBI_PY_DOUBLE, 0},
    {"correction_speed",     offsetof(tabi_world_def, correction_speed),             NULL,            TBI_PY_DOUBLE, 0},
    {"warm_start",           offsetof(tabi_world_def, warm_start),                   NULL,            TBI_PY_DOUBLE, 0},
    {"friction",             offsetof(tabi_world_def, friction),                     NULL,            TBI_PY_DOUBLE, 0},
    {"seed",                 offsetof(tabi_world_def, seed),                         NULL,            TBI_PY_SEED,   0},
    {"sleep",                offsetof(tabi_world_def, sleep),                        NULL,            TBI_PY_BOOL,   0},
    {"cone_storage",         offsetof(tabi_world_def, cone.storage),                 storage_word,    TBI_PY_WORD,   0},
    {"lcp_storage",          offsetof(tabi_world_def, lcp.storage),                  storage_word,    TBI_PY_WORD,   0},
    {"static_friction",      offsetof(tabi_world_def, lcp.static_friction),          NULL,            TBI_PY_BOOL,   0},
    {"tangential_stiffness", offsetof(tabi_world_def, penalty.tangential_stiffness), NULL,
     TBI_PY_DOUBLE,                                                                                                  0},
};

static const tbi_py_field certificate_field[] = {
    {"gap",             offsetof(tabi_certificate, gap),             NULL, TBI_PY_DOUBLE, 0},
    {"complementarity", offsetof(tabi_certificate, complementarity), NULL, TBI_PY_DOUBLE, 0},
    {"cone",            offsetof(tabi_certificate, cone),            NULL, TBI_PY_DOUBLE, 0},
    {"dissipation",     offsetof(tabi_certificate, dissipation),     NULL, TBI_PY_DOUBLE, 0},
    {"contacts",        offsetof(tabi_certificate, contacts),        NULL, TBI_PY_INT,    0},
    {"connection",      offsetof(tabi_certificate, connection),      NULL, TBI_PY_DOUBLE, 0},
    {"iterations",      offsetof(tabi_certificate, iterations),      NULL, TBI_PY_INT,    0},
    {"converged",       offsetof(tabi_certificate, converged),       NULL, TBI_PY_BOOL,   0},
    {"fallback",        offsetof(tabi_certificate, fallback),        NULL, TBI_PY_BOOL,   0},
    {"energy_limited",  offsetof(tabi_certificate, energy_limited),  NULL, TBI_PY_BOOL,   0},
    {"contact_work",    offsetof(tabi_certificate, contact_work),    NULL, TBI_PY_DOUBLE, 0},
    {"correction_work", offsetof(tabi_certificate, correction_work), NULL, TBI_PY_DOUBLE, 0},
    {"balance_work",    offsetof(tabi_certificate, balance_work),    NULL, TBI_PY_DOUBLE, 0},
    {"elastic",         offsetof(tabi_certificate, elastic),         NULL, TBI_PY_DOUBLE, 0},
};

static const tbi_py_field balance_field[] = {
    {"com",     offsetof(tabi_balance, com),     NULL, TBI_PY_DOUBLE, 3                       },
    {"force",   offsetof(tabi_balance, force),   NULL, TBI_PY_DOUBLE, 3                       },
    {"zmp",     offsetof(tabi_balance, zmp),     NULL, TBI_PY_DOUBLE, 3                       },
    {"margin",  offsetof(tabi_balance, margin),  NULL, TBI_PY_DOUBLE, 0                       },
    {"ncorner", offsetof(tabi_balance, ncorner), NULL, TBI_PY_INT,    0                       },
    {"corner",  offsetof(tabi_balance, corner),  NULL, TBI_PY_DOUBLE, 2 * TABI_BALANCE_CORNERS},
};

static const tbi_py_field energy_field[] = {
    {"kinetic",   offsetof(tabi_energy, kinetic),   NULL, TBI_PY_DOUBLE, 0},
    {"potential", offsetof(tabi_energy, potential), NULL, TBI_PY_DOUBLE, 0},
    {"spring",    offsetof(tabi_energy, spring),    NULL, TBI_PY_DOUBLE, 0},
    {"work",      offsetof(tabi_energy, work),      NULL, TBI_PY_DOUBLE, 0},
};

const tbi_py_fields tbi_py_world_fields = {"world", world_field,
                                           sizeof world_field / sizeof *world_field};

const tbi_py_fields tbi_py_certificate_fields = {
    "certificate", certificate_field, sizeof certificate_field / sizeof *certificate_field};

const tbi_py_fields tbi_py_balance_fields = {"balance", balance_field,
                                             sizeof balance_field / sizeof *balance_field};

const tbi_py_fields tbi_py_energy_fields = {"energy", energy_field,
                                            sizeof energy_field / sizeof *energy_field};

bool tbi_py_world_def_fill(tabi_world_def *def, PyObject *kwargs) {
  const tbi_py_names none = {0};
  return tbi_py_fields_fill(&tbi_py_world_fields, def, kwargs, &none);
}
