/* live_request.h - requests of a viewer to a running world, read from JSON. */
#ifndef TBI_VIEWER_LIVE_REQUEST_H
#define TBI_VIEWER_LIVE_REQUEST_H

#include "tabi/tabi.h"

typedef enum tbi_request_kind {
  TBI_REQUEST_PAUSE,
  TBI_REQUEST_PLAY,
  TBI_REQUEST_STEP,
  TBI_REQUEST_RESET,
  TBI_REQUEST_SPEED,
  TBI_REQUEST_PUSH,
  TBI_REQUEST_RELEASE,
  TBI_REQUEST_WALK,
  TBI_REQUEST_SET,
} tbi_request_kind;

/* What may be set. */
typedef enum tbi_setting {
  TBI_SETTING_CONTACT,
  TBI_SETTING_FRICTION,
  TBI_SETTING_TIMESTEP,
} tbi_setting;

enum { TBI_ASSIGNMENT_SIZE = 64 };

typedef struct tbi_request {
  tbi_request_kind kind;
  double speed;                         /* seconds simulated per second */
  int32_t link;                         /* of a push */
  double point[3], target[3];           /* m, link frame and world */
  double gain;                          /* 1, 4 or 16 */
  double walk[3];                       /* forward, left and turn: -1 to 1 of the limits */
  tbi_setting setting;                  /* of a set */
  char assignment[TBI_ASSIGNMENT_SIZE]; /* "contact.model=exact" */
} tbi_request;

/* Reads {"do": ...}; false and what is wrong with it, no longer than TBI_REQUEST_ERROR_SIZE. */
enum { TBI_REQUEST_ERROR_SIZE = 160 };
bool tbi_request_read(const char *text, size_t size, tbi_request *request,
                      char problem[TBI_REQUEST_ERROR_SIZE]);

#endif
