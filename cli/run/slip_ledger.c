/* slip_ledger.c - the ledger of a run: sums of every link, and the intervals themselves as JSON. */
#include "run/slip_ledger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 8 /* links in the table */

typedef struct sums {
  double contact, slip;   /* s */
  double distance;        /* m, while it slipped */
  double energy, impulse; /* J and N s, in all */
  int32_t slips;
} sums;

bool tbi_slip_ledger_begin(tbi_slip_ledger *slip, const tabi_scene *scene) {
  *slip = (tbi_slip_ledger){.scene = scene};
  slip->ledger = tabi_ledger_create(tabi_scene_model(scene), NULL);
  return slip->ledger != NULL;
}

void tbi_slip_ledger_free(tbi_slip_ledger *slip) {
  tabi_ledger_destroy(slip->ledger);
  slip->ledger = NULL;
}

void tbi_slip_ledger_step(tbi_slip_ledger *slip, const tabi_sample *sample) {
  if (tabi_ledger_add(slip->ledger, sample, NULL) != TABI_OK) slip->no_memory = true;
}

static bool of_robot(const tabi_scene *scene, const char *link) {
  for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i) {
    const char *name = tabi_scene_get_robot(scene, i).name;
    size_t length = strlen(name);
    if (strncmp(link, name, length) == 0 && link[length] == '/') return true;
  }
  return false;
}

/* By link, to be freed; NULL when memory ran out. */
static sums *add_up(const tbi_slip_ledger *slip) {
  int32_t nlink = tabi_model_nlink(tabi_scene_model(slip->scene));
  sums *all = calloc((size_t)nlink + 1, sizeof *all);
  int32_t count = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(slip->ledger, &count);
  for (int32_t i = 0; i < count && all; ++i) {
    sums *sum = &all[entry[i].link];
    double time = entry[i].end - entry[i].start;
    sum->contact += time;
    sum->energy += entry[i].energy;
    sum->impulse += entry[i].impulse;
    if (entry[i].status != TABI_CONTACT_SLIP) continue;
    sum->slip += time;
    sum->distance += entry[i].distance;
    ++sum->slips;
  }
  return all;
}

void tbi_slip_ledger_print(const tbi_slip_ledger *slip, FILE *out) {
  const tabi_model *model = tabi_scene_model(slip->scene);
  bool robots = tabi_scene_nrobot(slip->scene) > 0;
  sums *all = add_up(slip);
  int shown = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model) && all; ++i) {
    const char *name = tabi_model_link(model, i).name;
    if (!name) name = "";
    if (!(all[i].contact > 0) || (robots && !of_robot(slip->scene, name))) continue;
    if (shown == 0) {
      (void)fprintf(out, "\n  %-24s %12s %12s %12s %14s\n", "contact of links", "contact [s]",
                    "slip [s]", "slip [mm]", "dissipated [J]");
    }
    if (shown++ == MAX_SHOWN) {
      (void)fprintf(out, "  ...\n");
      break;
    }
    // rounding errors of sticking contacts would be shown as -0
    double energy = fabs(all[i].energy) < 0.5e-4 ? 0 : all[i].energy;
    (void)fprintf(out, "  %-24s %12.3f %12.3f %12.2f %14.4f\n", name, all[i].contact, all[i].slip,
                  1e3 * all[i].distance, energy);
  }
  free(all);
}

static json_t *json_interval(const tabi_ledger_entry *entry) {
  return json_pack("{ss so so so so so}", "status",
                   entry->status == TABI_CONTACT_SLIP ? "slip" : "stick", "start",
                   tbi_json_number(entry->start), "end", tbi_json_number(entry->end), "distance",
                   tbi_json_number(entry->distance), "energy", tbi_json_number(entry->energy),
                   "impulse", tbi_json_number(entry->impulse));
}

static json_t *json_intervals(const tbi_slip_ledger *slip, int32_t link) {
  int32_t count = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(slip->ledger, &count);
  json_t *list = json_array();
  int bad = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (entry[i].link == link) bad |= json_array_append_new(list, json_interval(&entry[i]));
  }
  if (!bad) return list;
  json_decref(list);
  return NULL;
}

static json_t *json_sums(const sums *sum) {
  return json_pack("{so so si so so so}", "contact", tbi_json_number(sum->contact), "slip",
                   tbi_json_number(sum->slip), "slips", (int)sum->slips, "distance",
                   tbi_json_number(sum->distance), "energy", tbi_json_number(sum->energy),
                   "impulse", tbi_json_number(sum->impulse));
}

json_t *tbi_slip_ledger_json(const tbi_slip_ledger *slip) {
  const tabi_model *model = tabi_scene_model(slip->scene);
  json_t *links = json_object();
  sums *all = add_up(slip);
  int bad = !links || !all;
  for (int32_t i = 0; i < tabi_model_nlink(model) && !bad; ++i) {
    const char *name = tabi_model_link(model, i).name;
    if (!name || !(all[i].contact > 0)) continue;
    json_t *link = json_sums(&all[i]);
    if (of_robot(slip->scene, name))
      bad |= json_object_set_new(link, "intervals", json_intervals(slip, i));
    bad |= json_object_set_new(links, name, link);
  }
  free(all);
  if (!bad) return links;
  json_decref(links);
  return NULL;
}
