/* live_world.h - a world that viewers watch: it is stepped, pushed, reset, and changed while it
 * runs. */
#ifndef TBI_VIEWER_LIVE_WORLD_H
#define TBI_VIEWER_LIVE_WORLD_H

#include "live_request.h"
#include "message.h"
#include "picture_encoder.h"
#include "tabi/tabi_record.h"

#include <jansson.h>

/* A damped spring from a point of a link to a place in the world. */
typedef struct tbi_live_push {
  bool active;
  int32_t link;
  double point[3], target[3]; /* m, link frame and world */
  double stiffness, damping;  /* N/m, N s/m */
  double mass;                /* kg, min effective mass of the point */
} tbi_live_push;

/* A state of the world; its memory grows with the world. */
typedef struct tbi_live_snapshot {
  void *bytes;
  size_t size;
} tbi_live_snapshot;

typedef struct tbi_live_world {
  const char *path; /* of what is watched */
  tabi_scene *scene;
  tabi_world *world;
  tabi_observer *observer;
  tbi_picture_encoder *encoder;
  tbi_live_snapshot start, before; /* of the start, and of a step that is tried */
  tbi_live_push push;
  tabi_scene **kept; /* whose controllers others have */
  int32_t nkept;
  json_t *meshes; /* of the description, which no setting changes; NULL: not made yet */
  bool failed;    /* the last step did */
} tbi_live_world;

/* At the start of a scene, which it takes over, whatever becomes of it. */
tabi_status tbi_live_world_open(tbi_live_world *live, tabi_scene *scene, const char *path,
                                tabi_error *err);
void tbi_live_world_close(tbi_live_world *live);

/* False: out of memory. */
bool tbi_live_world_save(const tabi_world *world, tbi_live_snapshot *snapshot);

/* On an error it stays where it was. */
tabi_status tbi_live_world_step(tbi_live_world *live, tabi_error *err);
tabi_status tbi_live_world_reset(tbi_live_world *live, tabi_error *err);
/* A changed scene takes over from the present state; on an error all is as it was. */
tabi_status tbi_live_world_set(tbi_live_world *live, const tbi_request *request, tabi_error *err);
tabi_status tbi_live_world_push(tbi_live_world *live, const tbi_request *request, tabi_error *err);
void tbi_live_world_release(tbi_live_world *live);
/* Steers the robots that walk by a velocity; at 0 they stop. */
tabi_status tbi_live_world_walk(tbi_live_world *live, const tbi_request *request, tabi_error *err);

/* Each is held once by the caller; NULL: out of memory. */
tbi_message *tbi_live_world_picture(tbi_live_world *live, double factor, bool paused);
tbi_message *tbi_live_world_description(tbi_live_world *live);

#endif
