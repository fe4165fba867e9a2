/* live.h - a scene that runs while viewers watch it.
 *
 *   live.c          the thread that owns scene and world, its clock, and the list of requests
 *   live_request.h  requests from JSON
 *   live_world.h    the world, and what can be done to it
 *
 * The world never waits for a viewer, and it pauses while there is none. */
#ifndef TBI_VIEWER_LIVE_H
#define TBI_VIEWER_LIVE_H

#include "server.h"
#include "tabi/tabi_record.h"

typedef struct tbi_live tbi_live;

/* Takes over the scene, whatever becomes of it.  `path` names it for viewers. */
tbi_live *tbi_live_create(tabi_scene *scene, const char *path, tabi_error *err);
/* Begins to run, or waits at the start, and sends pictures by a server, which must live until
 * tbi_live_stop. */
tabi_status tbi_live_start(tbi_live *live, tbi_server *server, bool paused, tabi_error *err);
void tbi_live_stop(tbi_live *live);
void tbi_live_destroy(tbi_live *live); /* NULL is fine; stopped before */

/* For tbi_server_def, user being the tbi_live. */
tbi_message *tbi_live_get_description(void *user);
tbi_message *tbi_live_receive(void *user, const char *text, size_t size);
void tbi_live_set_viewers(void *user, int32_t viewers);

#endif
