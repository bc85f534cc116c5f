/*
 * What the tests ask of libtirpc: to decode bytes with the routines that rpcgen made of the .x
 * files of this folder, to say what it found, and to encode the value again.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct oracle_answer {
  int decoded;     /* whether libtirpc accepted the bytes */
  size_t consumed; /* bytes it read */
  char* text;      /* the value, field by field; free() it; null when not decoded */
  size_t encoded;  /* bytes it wrote when it encoded the value again; 0 when that failed */
};

/* Decodes `length` bytes as the named type, and encodes the result into `out`, which has room for
 * `room` bytes. A name that no .x file defines is a failed assertion. */
struct oracle_answer oracle_recode(const char* type, const void* bytes, size_t length, void* out,
                                   size_t room);

#ifdef __cplusplus
}
#endif
