#include "oracle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_types.h"

void put_label(FILE* out, int* first, const char* name) {
  fprintf(out, "%s%s=", *first ? "" : " ", name);
  *first = 0;
}

void put_signed(FILE* out, long long value) { fprintf(out, "%lld", value); }

void put_unsigned(FILE* out, unsigned long long value) { fprintf(out, "%llu", value); }

void put_bool(FILE* out, int value) { fputs(value ? "true" : "false", out); }

void put_text(FILE* out, const char* text, size_t length) {
  fputc('"', out);
  for (size_t i = 0; i < length; ++i) {
    const unsigned char c = (unsigned char)text[i];
    const int plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    fprintf(out, plain ? "%c" : "\\x%02x", c);
  }
  fputc('"', out);
}

void put_hex(FILE* out, const char* bytes, size_t length) {
  fputs("0x", out);
  for (size_t i = 0; i < length; ++i) fprintf(out, "%02x", (unsigned char)bytes[i]);
}

static const struct oracle_type* find_in(const struct oracle_type* table, const char* name) {
  while (table->name && strcmp(table->name, name) != 0) ++table;
  return table->name ? table : NULL;
}

static const struct oracle_type* find_type(const char* name) {
  const struct oracle_type* type = find_in(oracle_nfs41, name);
  if (!type) type = find_in(oracle_rpcrdma1, name);
  if (!type) type = find_in(oracle_rpcrdma2, name);
  return type;
}

static char* dump(const struct oracle_type* type, const void* value) {
  char* text = NULL;
  size_t length = 0;
  FILE* out = open_memstream(&text, &length);
  type->dump(out, value);
  fclose(out);
  return text;
}

struct oracle_answer oracle_recode(const char* name, const void* bytes, size_t length, void* out,
                                   size_t room) {
  const struct oracle_type* type = find_type(name);
  assert(type && "no .x file defines this type");
  struct oracle_answer answer = {0, 0, NULL, 0};
  void* value = calloc(1, type->size);
  XDR in, back;
  xdrmem_create(&in, (char*)bytes, (u_int)length, XDR_DECODE);
  answer.decoded = type->proc(&in, value);
  answer.consumed = xdr_getpos(&in);
  if (answer.decoded) {
    answer.text = dump(type, value);
    xdrmem_create(&back, out, (u_int)room, XDR_ENCODE);
    if (type->proc(&back, value)) answer.encoded = xdr_getpos(&back);
  }
  xdr_free(type->proc, value);
  free(value);
  return answer;
}
