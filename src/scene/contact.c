/* contact.c - the settings of a scene's world: integrator, contact method and its keys. */
#include "scene/scene.h"

#include "base/assertion.h"
#include "base/error.h"
#include "contact/formulation.h"
#include "model/limits.h"
#include "problem/couples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_TANGENTIAL_STIFFNESS 1e3

typedef struct contact_keys {
  tabi_world_def def;
  const char *model, *variant, *storage, *fallback, *impacts;
  tabi_storage matrix;
  const tbi_yaml_node *seed;
  bool published;  /* variant: paper */
  bool sequential; /* impacts: sequential */
} contact_keys;

static const tbi_field contact_fields[] = {
    {"model",                TBI_FIELD_WORD,         offsetof(contact_keys, model)                           },
    {"iterations",           TBI_FIELD_COUNT,        offsetof(contact_keys, def.iterations)                  },
    {"budget",               TBI_FIELD_COUNT,        offsetof(contact_keys, def.budget)                      },
    {"tolerance",            TBI_FIELD_NOT_NEGATIVE, offsetof(contact_keys, def.tolerance)                   },
    {"max_contacts",         TBI_FIELD_COUNT,        offsetof(contact_keys, def.max_contacts)                },
    {"allowed_depth",        TBI_FIELD_NOT_NEGATIVE, offsetof(contact_keys, def.allowed_depth)               },
    {"correction",           TBI_FIELD_SHARE,        offsetof(contact_keys, def.correction)                  },
    {"correction_speed",     TBI_FIELD_NOT_NEGATIVE, offsetof(contact_keys, def.correction_speed)            },
    {"warm_start",           TBI_FIELD_SHARE,        offsetof(contact_keys, def.warm_start)                  },
    {"variant",              TBI_FIELD_WORD,         offsetof(contact_keys, variant)                         },
    {"storage",              TBI_FIELD_WORD,         offsetof(contact_keys, storage)                         },
    {"fallback",             TBI_FIELD_WORD,         offsetof(contact_keys, fallback)                        },
    {"impacts",              TBI_FIELD_WORD,         offsetof(contact_keys, impacts)                         },
    {"tangential_stiffness", TBI_FIELD_NOT_NEGATIVE,
     offsetof(contact_keys,                                                 def.penalty.tangential_stiffness)},
    {"friction",             TBI_FIELD_NOT_NEGATIVE, offsetof(contact_keys, def.friction)                    },
    {"static",               TBI_FIELD_BOOL,         offsetof(contact_keys, def.lcp.static_friction)         },
    {"seed",                 TBI_FIELD_NODE,         offsetof(contact_keys, seed)                            },
};

/* "none, newton or exact" */
static void list_words(const char *const *words, int count, char *to, size_t size) {
  size_t used = 0;
  for (int i = 0; i < count && used < size; ++i) {
    const char *before = i == 0 ? "" : i == count - 1 ? " or " : ", ";
    int n = snprintf(to + used, size - used, "%s%s", before, words[i]);
    if (n < 0) return;
    used += (size_t)n;
  }
}

/* One of several words, by its number; stays as it is without the key. */
static bool read_word(const tbi_scene_reader *r, const tbi_yaml_node *map, const char *key,
                      const char *const *words, int count, int *which) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  if (!node) return true;
  for (int i = 0; i < count; ++i) {
    if (strcmp(node->text, words[i]) != 0) continue;
    *which = i;
    return true;
  }
  char list[100];
  list_words(words, count, list, sizeof list);
  return tbi_fail_about(r->error, node->place, "contact: ", "%s must be %s, not '%.40s'", key, list,
                        node->text);
}

/* One of two words; the second means true. */
static bool read_choice(const tbi_scene_reader *r, const tbi_yaml_node *map, const char *key,
                        const char *const words[2], bool *second) {
  int which = *second;
  bool read = read_word(r, map, key, words, 2, &which);
  *second = which == 1;
  return read;
}

static bool read_fallback(const tbi_scene_reader *r, const tbi_yaml_node *map, tabi_fallback *to) {
  static const char *const words[] = {"none", "newton", "exact"};
  static const tabi_fallback means[] = {TABI_FALLBACK_NONE, TABI_FALLBACK_NEWTON,
                                        TABI_FALLBACK_EXACT};
  int which = -1;
  bool read = read_word(r, map, "fallback", words, 3, &which);
  if (which >= 0) *to = means[which];
  return read;
}

static bool read_storage(const tbi_scene_reader *r, const tbi_yaml_node *map, tabi_storage *to) {
  static const char *const words[TABI_STORAGE_COUNT] = {[TABI_STORAGE_PORTS] = "ports",
                                                        [TABI_STORAGE_DENSE] = "dense",
                                                        [TABI_STORAGE_TEST_FORCES] = "test-forces"};
  int which = (int)*to;
  bool read = read_word(r, map, "storage", words, TABI_STORAGE_COUNT, &which);
  *to = (tabi_storage)which;
  return read;
}

/* "unknown contact method 'x' (cone, lcp)" */
static bool fail_word(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                      const char *(*name_of)(int), int count) {
  char list[200] = "";
  size_t used = 0;
  for (int i = 0; i < count; ++i) {
    int n = snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", name_of(i));
    if (n < 0 || (size_t)n >= sizeof list - used) break;
    used += (size_t)n;
  }
  return tbi_fail_about(r->error, node->place, "", "unknown %s '%.40s' (%s)", what, node->text,
                        list);
}

static const char *contact_name(int i) { return tabi_contact_name((tabi_contact_kind)i); }
static const char *integrator_name(int i) { return tabi_integrator_name((tabi_integrator)i); }

static bool read_seed(const tbi_scene_reader *r, const tbi_yaml_node *node, uint64_t *seed) {
  double number = 0;
  if (!tbi_fields_number(r->error, node, "contact: ", "seed", &number)) return false;
  if (!(number >= 0 && number <= 9007199254740992.0 && number == floor(number))) {
    return tbi_fail_about(r->error, node->place,
                          "contact: ", "seed must be a whole number up to 2^53");
  }
  *seed = (uint64_t)number;
  return true;
}

static bool read_contact_words(const tbi_scene_reader *r, const tbi_yaml_node *map,
                               contact_keys *keys) {
  static const char *const variants[2] = {"block", "paper"};
  static const char *const orders[2] = {"simultaneous", "sequential"};
  if (keys->model) {
    int32_t found = tabi_contact_find(keys->model);
    if (found == TABI_NONE) {
      return fail_word(r, tbi_yaml_child(map, "model"), "contact method", contact_name,
                       TABI_CONTACT_COUNT);
    }
    keys->def.contact = (tabi_contact_kind)found;
  }
  if (keys->seed) read_seed(r, keys->seed, &keys->def.seed);
  read_choice(r, map, "variant", variants, &keys->published);
  read_storage(r, map, &keys->matrix);
  read_choice(r, map, "impacts", orders, &keys->sequential);
  if (keys->sequential) keys->def.impacts = TABI_IMPACTS_SEQUENTIAL;
  read_fallback(r, map, &keys->def.fallback);
  return tbi_ok(r->error);
}

/* `variant: paper` beside a method means its published variant, `variant: block` our own. */
static bool choose_variant(const tbi_scene_reader *r, const tbi_yaml_node *map,
                           contact_keys *keys) {
  const tbi_yaml_node *variant = tbi_yaml_child(map, "variant");
  const tabi_contact_info *info = tabi_contact_describe(keys->def.contact);
  bool is_variant = info->method != keys->def.contact;
  if (variant && !keys->published) keys->def.contact = info->method;
  if (!keys->published || is_variant) return true;
  TBI_ASSERT(variant);
  if (info->planar_biped) {
    return tbi_fail_about(r->error, variant->place, "contact: ",
                          "gait has no variant: paper; leave it out, and write gait: {guards: "
                          "paper, events: step}");
  }
  if (info->published == TABI_NONE) {
    return tbi_fail_about(
        r->error, variant->place,
        "contact: ", "%s has no variant: paper; leave it out, or take another model", info->name);
  }
  keys->def.contact = (tabi_contact_kind)info->published;
  return true;
}

/* Dense storages are for the published variants of cone and lcp, and choose them. */
static bool choose_storage(const tbi_scene_reader *r, const tbi_yaml_node *map,
                           contact_keys *keys) {
  if (keys->matrix == TABI_STORAGE_PORTS) return true;
  const tbi_yaml_node *node = tbi_yaml_child(map, "storage");
  const tabi_contact_info *info = tabi_contact_describe(keys->def.contact);
  int32_t kind = info->dense_storage ? (int32_t)keys->def.contact : info->published;
  if (kind == TABI_NONE || !tabi_contact_describe((tabi_contact_kind)kind)->dense_storage) {
    return tbi_fail_about(r->error, node->place, "contact: ",
                          "%s has no storage: %s; leave it out, or take model: cone or lcp",
                          info->name, node->text);
  }
  keys->def.contact = (tabi_contact_kind)kind;
  keys->def.cone.storage = keys->def.lcp.storage = keys->matrix;
  return true;
}

static bool check_fallback(const tbi_scene_reader *r, const tbi_yaml_node *map,
                           const tabi_world_def *def) {
  const tabi_contact_info *info = tabi_contact_describe(def->contact);
  const tbi_yaml_node *node = tbi_yaml_child(map, "fallback");
  bool falls_back = def->fallback == TABI_FALLBACK_NEWTON || def->fallback == TABI_FALLBACK_EXACT;
  if (falls_back && !info->sweeps && !info->exact) {
    return tbi_fail_about(r->error, node->place, "contact: ",
                          "%s obeys another law than exact and has no fallback; leave it out, or "
                          "take model: cone or lcp",
                          info->name);
  }
  if (def->fallback == TABI_FALLBACK_NEWTON && info->sweeps && !info->newton) {
    return tbi_fail_about(r->error, node->place, "contact: ",
                          "fallback: newton is for model: cone; take fallback: exact, or none");
  }
  return true;
}

/* Keys that a model has no use for are ignored, so that a scene runs under all models; keys that
 * ask for a feature that the model does not have are refused. */
static bool check_contact(const tbi_scene_reader *r, const tbi_yaml_node *map,
                          const tabi_world_def *def) {
  const tabi_contact_info *info = tabi_contact_describe(def->contact);
  bool is_explicit = def->integrator == TABI_RK4 || def->integrator == TABI_EULER;
  if (info->implicit_only && is_explicit) {
    const tbi_yaml_node *variant = tbi_yaml_child(map, "variant");
    return tbi_fail_about(r->error, (variant ? variant : tbi_yaml_child(map, "model"))->place,
                          "contact: ",
                          "%s is explicit under %s, without variants; leave variant out, or "
                          "take integrator: semi-implicit",
                          tabi_contact_name(info->method), tabi_integrator_name(def->integrator));
  }
  if (def->penalty.tangential_stiffness > MAX_TANGENTIAL_STIFFNESS) {
    return tbi_fail_about(r->error, tbi_yaml_child(map, "tangential_stiffness")->place,
                          "contact: ", "tangential_stiffness %g must be in [0, %g]",
                          def->penalty.tangential_stiffness, MAX_TANGENTIAL_STIFFNESS);
  }
  if (def->max_contacts > TBI_MAX_CONTACTS) {
    return tbi_fail_about(r->error, tbi_yaml_child(map, "max_contacts")->place, "contact: ",
                          "max_contacts %d must be at most %d; leave it out to have as many as are "
                          "needed",
                          def->max_contacts, TBI_MAX_CONTACTS);
  }
  return check_fallback(r, map, def);
}

/* the first material with rolling or torsional friction, or pair of them; NULL: there is none */
static const tabi_material_def *find_couples(const tabi_model *model) {
  for (int32_t i = 0; i < model->nmaterial; ++i)
    if (tbi_has_couples(&model->material[i])) return &model->material[i];
  for (int32_t i = 0; i < model->npair; ++i)
    if (tbi_has_couples(&model->pair[i].surface)) return &model->pair[i].surface;
  return NULL;
}

void tbi_scene_warn_couples(const tbi_scene_reader *r) {
  const tabi_world_def *def = &r->scene->world;
  const tabi_material_def *material = find_couples(r->scene->model);
  if (!material || tbi_obeys_couples(def)) return;
  bool by_integrator = tabi_contact_describe(def->contact)->couples;
  tbi_tell(r->def->warn, r->def->warn_user, TABI_SEVERITY_WARNING, material->place,
           "rolling and torsional friction are ignored by contact method %s%s%s; "
           "docs/contact.md says which obey them",
           tabi_contact_name(def->contact), by_integrator ? " under " : "",
           by_integrator ? tabi_integrator_name(def->integrator) : "");
}

bool tbi_scene_rename_contact(const tbi_scene_reader *r, const tbi_yaml_node *map) {
  static const tbi_renamed_key renamed[] = {
      {"grip", "tangential_stiffness"}
  };
  return tbi_fields_rename(r->error, map, "contact: ", renamed, 1, r->def->warn, r->def->warn_user);
}

static bool read_contact(tbi_scene_reader *r, const tbi_yaml_node *map) {
  if (!map) return true;
  contact_keys keys = {.def = r->scene->world};
  tbi_fields_read(r->error, map, "contact: ", TBI_FIELDS(contact_fields), &keys);
  if (!tbi_ok(r->error) || !read_contact_words(r, map, &keys)) return false;
  choose_variant(r, map, &keys);
  choose_storage(r, map, &keys);
  check_contact(r, map, &keys.def);
  if (tbi_yaml_child(map, "iterations") && keys.def.iterations < 2) {
    return tbi_fail_about(r->error, tbi_yaml_child(map, "iterations")->place,
                          "contact: ", "iterations must be at least 2");
  }
  r->scene->world = keys.def;
  return tbi_ok(r->error);
}

bool tbi_scene_read_world(tbi_scene_reader *r, const tbi_yaml_node *integrator,
                          const tbi_yaml_node *contact) {
  if (integrator) {
    int32_t found = tabi_integrator_find(integrator->text);
    if (found == TABI_NONE) {
      return fail_word(r, integrator, "integrator", integrator_name, TABI_INTEGRATOR_COUNT);
    }
    r->scene->world.integrator = (tabi_integrator)found;
  }
  return read_contact(r, contact);
}
