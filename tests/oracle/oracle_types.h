/* The tables dump.py writes, and what its functions print with. For C only. */
#pragma once

#include <rpc/rpc.h>
#include <stdio.h>

typedef void (*oracle_dump)(FILE* out, const void* value);

struct oracle_type {
  const char* name;
  size_t size;
  xdrproc_t proc;
  oracle_dump dump;
};

/* Each ends with an entry whose name is null. */
extern const struct oracle_type oracle_nfs41[];
extern const struct oracle_type oracle_rpcrdma1[];
extern const struct oracle_type oracle_rpcrdma2[];

void put_label(FILE* out, int* first, const char* name);
void put_signed(FILE* out, long long value);
void put_unsigned(FILE* out, unsigned long long value);
void put_bool(FILE* out, int value);
void put_text(FILE* out, const char* text, size_t length);
void put_hex(FILE* out, const char* bytes, size_t length);
