/* server_viewers.c - viewers, their queues, and the threads that send from them.
 *
 * A message is put into the queue of every viewer, and the caller goes on.  Each viewer has a
 * thread of its own that waits for messages and writes them to the connection, so that a slow
 * reader delays nobody: its texts wait in a short queue, and of pictures it gets the newest.
 *
 * civetweb calls us from the thread that reads a connection.  It reads a WebSocket frame whole
 * before it hands it to us, so the size of a frame is checked after it has come. */
#include "server_viewers.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 16, HEADER = 10, FINAL = 0x80, OPCODE = 0x0f };
enum { GOING_AWAY = 1001, TRY_LATER = 1013 }; /* reasons to close */

typedef struct viewer {
  tbi_viewers *all;
  struct mg_connection *connection; /* NULL: free */
  pthread_t sender;
  bool leaving;
  tbi_message *text[QUEUE]; /* those to be sent, oldest first */
  int32_t ntext;
  int64_t seen; /* number of the last picture it got */
} viewer;

struct tbi_viewers {
  const tbi_server_def *def;
  pthread_mutex_t lock; /* of all below */
  pthread_cond_t queued;
  viewer slot[TBI_MAX_VIEWERS];
  tbi_message *picture; /* the newest */
  int64_t npicture;
  bool closing;
};

tbi_viewers *tbi_viewers_create(const tbi_server_def *def) {
  tbi_viewers *viewers = calloc(1, sizeof *viewers);
  if (!viewers) return NULL;
  viewers->def = def;
  for (int i = 0; i < TBI_MAX_VIEWERS; ++i)
    viewers->slot[i].all = viewers;
  (void)pthread_mutex_init(&viewers->lock, NULL);
  (void)pthread_cond_init(&viewers->queued, NULL);
  return viewers;
}

void tbi_viewers_destroy(tbi_viewers *viewers) {
  if (!viewers) return;
  tbi_message_drop(viewers->picture);
  (void)pthread_cond_destroy(&viewers->queued);
  (void)pthread_mutex_destroy(&viewers->lock);
  free(viewers);
}

static int32_t count(const tbi_viewers *viewers) {
  int32_t n = 0;
  for (int i = 0; i < TBI_MAX_VIEWERS; ++i)
    n += viewers->slot[i].connection ? 1 : 0;
  return n;
}

bool tbi_viewers_have_room(tbi_viewers *viewers) {
  (void)pthread_mutex_lock(&viewers->lock);
  bool room = count(viewers) < TBI_MAX_VIEWERS;
  (void)pthread_mutex_unlock(&viewers->lock);
  return room;
}

/* -- queues; the lock is held */

/* The oldest text, which the caller then holds. */
static tbi_message *take_text(viewer *v) {
  tbi_message *text = v->text[0];
  --v->ntext;
  for (int32_t i = 0; i < v->ntext; ++i)
    v->text[i] = v->text[i + 1];
  return text;
}

/* A viewer that does not read loses its oldest texts. */
static void post(viewer *v, tbi_message *text) {
  if (v->ntext == QUEUE) tbi_message_drop(take_text(v));
  v->text[v->ntext++] = tbi_message_hold(text);
}

/* The next thing to send, held; NULL: nothing. */
static tbi_message *next_message(viewer *v, bool *is_text) {
  *is_text = v->ntext > 0;
  if (*is_text) return take_text(v);
  if (v->seen == v->all->npicture) return NULL;
  v->seen = v->all->npicture;
  return tbi_message_hold(v->all->picture);
}

void tbi_viewers_send(tbi_viewers *viewers, tbi_message *text, tbi_message *picture) {
  (void)pthread_mutex_lock(&viewers->lock);
  for (int i = 0; i < TBI_MAX_VIEWERS && text; ++i) {
    if (viewers->slot[i].connection) post(&viewers->slot[i], text);
  }
  if (picture) {
    tbi_message_drop(viewers->picture);
    viewers->picture = picture;
    ++viewers->npicture;
  }
  (void)pthread_cond_broadcast(&viewers->queued);
  (void)pthread_mutex_unlock(&viewers->lock);
  tbi_message_drop(text);
}

/* -- the threads that send */

static bool is_leaving(viewer *v) {
  (void)pthread_mutex_lock(&v->all->lock);
  bool leaving = v->leaving;
  (void)pthread_mutex_unlock(&v->all->lock);
  return leaving;
}

/* A write that could not be done in civetweb's time is taken up where it stopped: half a frame
 * would spoil all that follow. */
static bool write_all(viewer *v, const char *bytes, size_t size) {
  size_t done = 0;
  while (done < size && !is_leaving(v)) {
    mg_lock_connection(v->connection);
    int n = mg_write(v->connection, bytes + done, size - done);
    mg_unlock_connection(v->connection);
    if (n > 0) done += (size_t)n;
    const struct timespec moment = {0, 20000000};
    if (done < size) (void)nanosleep(&moment, NULL);
  }
  return done == size;
}

/* The start of a frame of the server, which has no mask; returns its length. */
static size_t frame_header(unsigned char *header, int opcode, size_t size) {
  header[0] = (unsigned char)(FINAL | opcode);
  if (size < 126) {
    header[1] = (unsigned char)size;
    return 2;
  }
  size_t bytes = size < 65536 ? 2 : 8;
  header[1] = bytes == 2 ? 126 : 127;
  for (size_t i = 0; i < bytes; ++i)
    header[2 + i] = (unsigned char)((uint64_t)size >> (8 * (bytes - 1 - i)));
  return 2 + bytes;
}

/* Header and payload at once; what cannot be had in memory is not sent. */
static bool write_frame(viewer *v, int opcode, const tbi_message *message) {
  unsigned char header[HEADER];
  size_t length = frame_header(header, opcode, message->size);
  tbi_message *frame = tbi_message_create(length + message->size);
  if (!frame) return true;
  memcpy(frame->bytes, header, length);
  memcpy(frame->bytes + length, message->bytes, message->size);
  bool written = write_all(v, frame->bytes, frame->size);
  tbi_message_drop(frame);
  return written;
}

static void send_close(struct mg_connection *connection, int reason) {
  const char bytes[2] = {(char)(reason >> 8), (char)(reason & 0xff)};
  (void)mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, bytes, sizeof bytes);
}

static void *send_queued(void *user) {
  viewer *v = user;
  tbi_viewers *viewers = v->all;
  (void)pthread_mutex_lock(&viewers->lock);
  while (!v->leaving && !viewers->closing) {
    bool is_text = false;
    tbi_message *message = next_message(v, &is_text);
    if (!message) {
      (void)pthread_cond_wait(&viewers->queued, &viewers->lock);
      continue;
    }
    (void)pthread_mutex_unlock(&viewers->lock);
    int opcode = is_text ? MG_WEBSOCKET_OPCODE_TEXT : MG_WEBSOCKET_OPCODE_BINARY;
    (void)write_frame(v, opcode, message);
    tbi_message_drop(message);
    (void)pthread_mutex_lock(&viewers->lock);
  }
  bool by_us = !v->leaving;
  (void)pthread_mutex_unlock(&viewers->lock);
  if (by_us) send_close(v->connection, GOING_AWAY);
  return NULL;
}

/* -- coming and going */

static int on_connect(const struct mg_connection *connection, void *user) {
  (void)connection;
  return tbi_viewers_have_room(user) ? 0 : 1;
}

static viewer *take_slot(tbi_viewers *viewers, struct mg_connection *connection) {
  for (int i = 0; i < TBI_MAX_VIEWERS; ++i) {
    viewer *v = &viewers->slot[i];
    if (v->connection) continue;
    v->leaving = false;
    v->ntext = 0;
    v->seen = 0;
    v->connection = connection;
    if (pthread_create(&v->sender, NULL, send_queued, v) == 0) return v;
    v->connection = NULL;
    return NULL;
  }
  return NULL;
}

static void on_ready(struct mg_connection *connection, void *user) {
  tbi_viewers *viewers = user;
  (void)pthread_mutex_lock(&viewers->lock);
  viewer *v = take_slot(viewers, connection);
  int32_t now = count(viewers);
  (void)pthread_mutex_unlock(&viewers->lock);
  mg_set_user_connection_data(connection, v);
  if (v) {
    viewers->def->set_viewers(viewers->def->user, now);
  } else {
    /* two connected for the last slot */
    send_close(connection, TRY_LATER);
  }
}

static void on_close(const struct mg_connection *connection, void *user) {
  tbi_viewers *viewers = user;
  viewer *v = mg_get_user_connection_data(connection);
  if (!v) return;
  (void)pthread_mutex_lock(&viewers->lock);
  v->leaving = true;
  (void)pthread_cond_broadcast(&viewers->queued);
  (void)pthread_mutex_unlock(&viewers->lock);
  (void)pthread_join(v->sender, NULL);
  (void)pthread_mutex_lock(&viewers->lock);
  for (int32_t i = 0; i < v->ntext; ++i)
    tbi_message_drop(v->text[i]);
  v->ntext = 0;
  v->connection = NULL;
  int32_t now = count(viewers);
  (void)pthread_mutex_unlock(&viewers->lock);
  viewers->def->set_viewers(viewers->def->user, now);
}

/* What is wrong with a frame, or NULL. */
static const char *problem_with(int bits, size_t size) {
  if (size > TBI_MAX_MESSAGE) return "{\"error\": \"a message is at most 4096 bytes long\"}";
  if (bits != (FINAL | MG_WEBSOCKET_OPCODE_TEXT))
    return "{\"error\": \"a message is one frame of text\"}";
  return NULL;
}

/* Returns whether the connection stays. */
static int on_data(struct mg_connection *connection, int bits, char *data, size_t size,
                   void *user) {
  tbi_viewers *viewers = user;
  viewer *v = mg_get_user_connection_data(connection);
  bits &= 0xff;
  if (!v || (bits & OPCODE) == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) return 0;
  const char *wrong = problem_with(bits, size);
  tbi_message *answer = wrong ? tbi_message_of(wrong, strlen(wrong))
                              : viewers->def->receive(viewers->def->user, data, size);
  if (!answer) return 1;
  (void)pthread_mutex_lock(&viewers->lock);
  post(v, answer);
  (void)pthread_cond_broadcast(&viewers->queued);
  (void)pthread_mutex_unlock(&viewers->lock);
  tbi_message_drop(answer);
  return 1;
}

void tbi_viewers_accept(tbi_viewers *viewers, struct mg_context *context, const char *path) {
  mg_set_websocket_handler(context, path, on_connect, on_ready, on_data, on_close, viewers);
}

void tbi_viewers_close(tbi_viewers *viewers) {
  (void)pthread_mutex_lock(&viewers->lock);
  viewers->closing = true;
  (void)pthread_cond_broadcast(&viewers->queued);
  (void)pthread_mutex_unlock(&viewers->lock);
}
