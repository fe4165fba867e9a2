/* control_footsteps.c - the footsteps of a walk: so many alike, or a list.
 *
 *   steps: 6                                   the last one closes the feet
 *   steps: [{times: 5, stride: 0.2}, {times: 3, arc: 0.8, turn: 0.2}, {}] */
#include "scene/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_STEPS 1000
#define MAX_TIME  600.0 /* s, of all steps; a plan needs some MB for each minute */

typedef struct item {
  tabi_footstep step;
  double arc; /* NAN: none */
  int32_t times;
} item;

static const tbi_field item_fields[] = {
    {"times",          TBI_FIELD_COUNT,        offsetof(item, times)              },
    {"stride",         TBI_FIELD_NUMBER,       offsetof(item, step.forward)       },
    {"sideways",       TBI_FIELD_NUMBER,       offsetof(item, step.sideways)      },
    {"turn",           TBI_FIELD_NUMBER,       offsetof(item, step.turn)          },
    {"arc",            TBI_FIELD_NUMBER,       offsetof(item, arc)                },
    {"double_support", TBI_FIELD_POSITIVE,     offsetof(item, step.double_support)},
    {"single_support", TBI_FIELD_POSITIVE,     offsetof(item, step.single_support)},
    {"lift",           TBI_FIELD_NOT_NEGATIVE, offsetof(item, step.lift)          },
};

static bool goes_straight(const tbi_yaml_node *map) {
  return tbi_yaml_child(map, "stride") || tbi_yaml_child(map, "sideways");
}

/* One map gives an arc, or stride and sideways. */
static bool check_arc(const tbi_scene_reader *r, const tbi_yaml_node *map, const char *what) {
  const tbi_yaml_node *arc = tbi_yaml_child(map, "arc");
  if (!arc || !goes_straight(map)) return true;
  return tbi_fail_about(r->error, arc->place, what, "give arc and turn, or stride and sideways");
}

/* Leads a step along an arc by its turn; NAN: it has none. */
static void bend(double arc, tabi_footstep *step) {
  if (isnan(arc)) return;
  tabi_footstep bent = tabi_footstep_arc(arc, step->turn);
  step->forward = bent.forward;
  step->sideways = bent.sideways;
}

/* One entry of the list. */
static bool read_item(const tabi_options *options, const tbi_yaml_node *node,
                      const tbi_footstep_keys *keys, item *to) {
  const tbi_scene_reader *r = options->r;
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "%.120ssteps: ", options->what);
  *to = (item){.step = keys->each, .arc = keys->arc, .times = 1};
  if (goes_straight(node)) to->arc = (double)NAN;
  tbi_fields_read(r->error, node, what, TBI_FIELDS(item_fields), to);
  check_arc(r, node, what);
  bend(to->arc, &to->step);
  return tbi_ok(r->error);
}

static bool fail_many(const tabi_options *options) {
  return tbi_fail_about(options->r->error, tbi_options_place(options, "steps"), options->what,
                        "more than %d steps or %g s of them", MAX_STEPS, MAX_TIME);
}

static bool read_list(const tabi_options *options, const tbi_footstep_keys *keys,
                      tabi_footstep *step, int32_t *count) {
  for (const tbi_yaml_node *node = keys->steps->first; node; node = node->next) {
    item read;
    if (!read_item(options, node, keys, &read)) return false;
    if (read.times > MAX_STEPS - *count) return fail_many(options);
    for (int32_t i = 0; i < read.times; ++i)
      step[(*count)++] = read.step;
  }
  return true;
}

static bool read_count(const tabi_options *options, const tbi_footstep_keys *keys,
                       tabi_footstep *step, int32_t *count) {
  const tbi_field field = {"steps", TBI_FIELD_COUNT, 0};
  int32_t number = 0;
  if (!tbi_fields_one(options->r->error, keys->steps, options->what, &field, &number)) return false;
  if (number > MAX_STEPS) return fail_many(options);
  for (int32_t i = 0; i < number; ++i) {
    step[i] = keys->each;
    bend(keys->arc, &step[i]);
  }
  if (number > 0) step[number - 1].forward = step[number - 1].sideways = step[number - 1].turn = 0;
  *count = number;
  return true;
}

bool tbi_footsteps_read(tabi_options *options, const tbi_footstep_keys *keys, tabi_footstep **step,
                        int32_t *count) {
  tbi_first_error *error = options->r->error;
  *step = NULL;
  *count = 0;
  if (!keys->steps) {
    return tbi_fail_about(error, options->node->place, options->what,
                          "steps is missing: how many, or a list [{stride: 0.2}, ...]");
  }
  check_arc(options->r, options->node, options->what);
  if (!tbi_ok(error)) return false;
  *step = calloc(MAX_STEPS, sizeof **step);
  if (!*step) return tbi_fail_memory(error);
  bool list = keys->steps->kind == TBI_YAML_LIST;
  bool read =
      list ? read_list(options, keys, *step, count) : read_count(options, keys, *step, count);
  double time = 0;
  for (int32_t i = 0; i < *count; ++i)
    time += (*step)[i].double_support + (*step)[i].single_support;
  return time > MAX_TIME ? fail_many(options) : read;
}
