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
    {"contact",              TBI_PY_WORD,   offsetof(tabi_world_def, contact),                      0, contact_word   },
    {"integrator",           TBI_PY_WORD,   offsetof(tabi_world_def, integrator),                   0, integrator_word},
    {"timestep",             TBI_PY_DOUBLE, offsetof(tabi_world_def, timestep),                     0, NULL           },
    {"gravity",              TBI_PY_DOUBLE, offsetof(tabi_world_def, gravity),                      3, NULL           },
    {"tolerance",            TBI_PY_DOUBLE, offsetof(tabi_world_def, tolerance),                    0, NULL           },
    {"iterations",           TBI_PY_INT,    offsetof(tabi_world_def, iterations),                   0, NULL           },
    {"fallback",             TBI_PY_WORD,   offsetof(tabi_world_def, fallback),                     0, fallback_word  },
    {"impacts",              TBI_PY_WORD,   offsetof(tabi_world_def, impacts),                      0, impacts_word   },
    {"max_contacts",         TBI_PY_INT,    offsetof(tabi_world_def, max_contacts),                 0, NULL           },
    {"allowed_depth",        TBI_PY_DOUBLE, offsetof(tabi_world_def, allowed_depth),                0, NULL           },
    {"correction",           TBI_PY_DOUBLE, offsetof(tabi_world_def, correction),                   0, NULL           },
    {"correction_speed",     TBI_PY_DOUBLE, offsetof(tabi_world_def, correction_speed),             0, NULL           },
    {"warm_start",           TBI_PY_DOUBLE, offsetof(tabi_world_def, warm_start),                   0, NULL           },
    {"friction",             TBI_PY_DOUBLE, offsetof(tabi_world_def, friction),                     0, NULL           },
    {"seed",                 TBI_PY_SEED,   offsetof(tabi_world_def, seed),                         0, NULL           },
    {"cone_storage",         TBI_PY_WORD,   offsetof(tabi_world_def, cone.storage),                 0, storage_word   },
    {"lcp_storage",          TBI_PY_WORD,   offsetof(tabi_world_def, lcp.storage),                  0, storage_word   },
    {"static_friction",      TBI_PY_BOOL,   offsetof(tabi_world_def, lcp.static_friction),          0, NULL           },
    {"tangential_stiffness", TBI_PY_DOUBLE, offsetof(tabi_world_def, penalty.tangential_stiffness),
     0,                                                                                                NULL           },
};

static const tbi_py_field certificate_field[] = {
    {"gap",             TBI_PY_DOUBLE, offsetof(tabi_certificate, gap),             0, NULL},
    {"complementarity", TBI_PY_DOUBLE, offsetof(tabi_certificate, complementarity), 0, NULL},
    {"cone",            TBI_PY_DOUBLE, offsetof(tabi_certificate, cone),            0, NULL},
    {"dissipation",     TBI_PY_DOUBLE, offsetof(tabi_certificate, dissipation),     0, NULL},
    {"contacts",        TBI_PY_INT,    offsetof(tabi_certificate, contacts),        0, NULL},
    {"connection",      TBI_PY_DOUBLE, offsetof(tabi_certificate, connection),      0, NULL},
    {"iterations",      TBI_PY_INT,    offsetof(tabi_certificate, iterations),      0, NULL},
    {"converged",       TBI_PY_BOOL,   offsetof(tabi_certificate, converged),       0, NULL},
    {"fallback",        TBI_PY_BOOL,   offsetof(tabi_certificate, fallback),        0, NULL},
    {"energy_limited",  TBI_PY_BOOL,   offsetof(tabi_certificate, energy_limited),  0, NULL},
    {"contact_work",    TBI_PY_DOUBLE, offsetof(tabi_certificate, contact_work),    0, NULL},
    {"correction_work", TBI_PY_DOUBLE, offsetof(tabi_certificate, correction_work), 0, NULL},
    {"balance_work",    TBI_PY_DOUBLE, offsetof(tabi_certificate, balance_work),    0, NULL},
    {"elastic",         TBI_PY_DOUBLE, offsetof(tabi_certificate, elastic),         0, NULL},
};

static const tbi_py_field balance_field[] = {
    {"com",     TBI_PY_DOUBLE, offsetof(tabi_balance, com),     3,                        NULL},
    {"force",   TBI_PY_DOUBLE, offsetof(tabi_balance, force),   3,                        NULL},
    {"zmp",     TBI_PY_DOUBLE, offsetof(tabi_balance, zmp),     3,                        NULL},
    {"margin",  TBI_PY_DOUBLE, offsetof(tabi_balance, margin),  0,                        NULL},
    {"ncorner", TBI_PY_INT,    offsetof(tabi_balance, ncorner), 0,                        NULL},
    {"corner",  TBI_PY_DOUBLE, offsetof(tabi_balance, corner),  2 * TABI_BALANCE_CORNERS, NULL},
};

static const tbi_py_field energy_field[] = {
    {"kinetic",   TBI_PY_DOUBLE, offsetof(tabi_energy, kinetic),   0, NULL},
    {"potential", TBI_PY_DOUBLE, offsetof(tabi_energy, potential), 0, NULL},
    {"spring",    TBI_PY_DOUBLE, offsetof(tabi_energy, spring),    0, NULL},
    {"work",      TBI_PY_DOUBLE, offsetof(tabi_energy, work),      0, NULL},
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
