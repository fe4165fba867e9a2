/* pile.h - what tests of the viewer share: scenes of bodies of every kind, and runs of scenes. */
#ifndef TEST_PILE_H
#define TEST_PILE_H

#include "tabi/tabi_record.h"

#include <jansson.h>

enum { PILE_TEXT = 32768 };

/* A scene of bodies of every kind that fall, bump and slide on a slope; `head` is put before. */
void pile_text(uint64_t seed, int count, double timestep, const char *head, char text[PILE_TEXT]);

typedef struct run {
  tabi_scene *scene;
  const tabi_model *model;
  tabi_world *world;
} run;

run run_text(const char *text);
run run_shipped(const char *name);
void run_step(run *r);
void run_end(run *r);

/* The description of a run, read back from its text. */
json_t *description_of(const run *r);
/* How long an array of it is, and an item of that. */
size_t description_length(const json_t *description, const char *key);
json_t *description_item(const json_t *description, const char *key, int32_t index);

#endif
