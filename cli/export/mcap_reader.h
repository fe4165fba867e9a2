/* mcap_reader.h - messages of an MCAP file, in the order in which they stand.  What a file says is
 * bounded: no length leads out of it, and chunks unpack to at most 256 MB. */
#ifndef TBI_MCAP_READER_H
#define TBI_MCAP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tbi_mcap_message {
  const char *topic, *schema, *encoding; /* "sensor_msgs/msg/JointState", "cdr" */
  uint64_t time;                         /* ns, when it was logged */
  const unsigned char *data;
  size_t size;
} tbi_mcap_message;

/* False: no further message is wanted. */
typedef bool tbi_mcap_message_fn(void *user, const tbi_mcap_message *message);

/* NULL, or what is wrong with the file. */
const char *tbi_mcap_read(const unsigned char *bytes, size_t size, tbi_mcap_message_fn *take,
                          void *user);

#endif
