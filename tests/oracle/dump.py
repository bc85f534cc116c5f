#!/usr/bin/env python3
"""Writes C functions that print the values rpcgen's types hold, and the table oracle.c looks them up in.

usage: dump.py NAME.x NAME_dump.c

The text is the one tests/proto/print.h makes of our own types, so that names, order and values of
the fields can be compared. It reads the subset of XDR that the .x files of this folder use: one
declaration a line, no nested definitions.
"""
import pathlib
import re
import sys

DECLARATION = re.compile(r"^([\w ]+?) (\*?)(\w+)(?:([<\[])(\w*)[>\]])?;$")
SCALARS = {
    "int": "put_signed(out, %s);",
    "hyper": "put_signed(out, %s);",
    "unsigned int": "put_unsigned(out, %s);",
    "unsigned hyper": "put_unsigned(out, %s);",
    "bool": "put_bool(out, %s);",
}
TEXT_TYPES = {"utf8string"}
ENUMS_BY_NAME = {"nfsstat4"}


class Field:
    """One declaration: `type name`, with array "", "<", "[" or "*" and the length of the array."""

    def __init__(self, line):
        match = DECLARATION.match(line)
        if not match:
            raise ValueError(f"not understood: {line}")
        self.type, pointer, self.name, self.array, self.length = match.groups()
        self.array = pointer or self.array or ""


class Types:
    def __init__(self, text):
        self.typedefs, self.enums, self.structs, self.unions = {}, {}, {}, {}
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        lines = iter(line.strip() for line in text.splitlines())
        for line in lines:
            if line.startswith("typedef "):
                field = Field(line.removeprefix("typedef "))
                self.typedefs[field.name] = field
            elif match := re.match(r"(enum|struct|union) (\w+)(?: switch \((\w+) (\w+)\))? \{", line):
                kind, name, switch_type, switch_name = match.groups()
                body = [inner for inner in iter(lambda: next(lines), "};")]
                getattr(self, f"add_{kind}")(name, body, switch_type, switch_name)

    def add_enum(self, name, body, *_):
        self.enums[name] = [line.split(" = ")[0] for line in body]

    def add_struct(self, name, body, *_):
        self.structs[name] = [Field(line) for line in body]

    def add_union(self, name, body, switch_type, switch_name):
        arms, labels = [], []
        for line in body:
            if line.startswith("case ") or line == "default:":
                labels.append(line)
            else:
                arms.append((labels, None if line == "void;" else Field(line)))
                labels = []
        self.unions[name] = (Field(f"{switch_type} {switch_name};"), arms)

    def value(self, kind, expr):
        """Statements that print the value `expr` of a type."""
        if kind in SCALARS:
            return SCALARS[kind] % expr
        if kind in self.enums:
            return f"dump_{kind}(out, {expr});"
        if kind in self.structs or kind in self.unions:
            return f"dump_{kind}(out, &{expr});"
        alias = self.typedefs[kind]
        if not alias.array:
            return self.value(alias.type, expr)
        return self.array(alias, expr, text=kind in TEXT_TYPES)

    def array(self, field, expr, text=False):
        if field.type == "string":
            return f"put_text(out, {expr}, strlen({expr}));"
        if field.type == "opaque" and field.array == "[":
            return f"put_hex(out, {expr}, {field.length});"
        items, count = f"{expr}.{field.name}_val", f"{expr}.{field.name}_len"
        if field.type == "opaque":
            return f"{'put_text' if text else 'put_hex'}(out, {items}, {count});"
        element = self.value(field.type, f"{items}[i]")
        return (f"fputc('[', out); for (u_int i = 0; i < {count}; ++i) {{ "
                f"if (i) fputc(' ', out); {element} }} fputc(']', out);")

    def pointer(self, field, expr):
        """An optional value, or a list that is linked by the pointer to its own type."""
        links = [f.name for f in self.structs[field.type] if f.array == "*" and f.type == field.type]
        step = f"p->{links[0]}" if links else "NULL"
        return (f"fputc('[', out); for ({field.type} *p = {expr}; p; p = {step}) {{ "
                f"if (p != {expr}) fputc(' ', out); dump_{field.type}(out, p); }} fputc(']', out);")

    def field(self, owner, field, expr):
        if field.array == "*" and field.type == owner:
            return ""  # printed by the list it is a link of
        if field.array == "*":
            printed = self.pointer(field, expr)
        elif field.array:
            printed = self.array(field, expr)
        else:
            printed = self.value(field.type, expr)
        return f'  put_label(out, &first, "{field.name}"); {printed}\n'

    def functions(self):
        for name, values in self.enums.items():
            yield f"static void dump_{name}(FILE *out, u_int value) {{\n"
            if name in ENUMS_BY_NAME:
                cases = "".join(f'    case {v}: fputs("{v}", out); return;\n' for v in values)
                yield f"  switch (value) {{\n{cases}  }}\n"
            yield "  put_unsigned(out, value);\n}\n"
        for name in [*self.structs, *self.unions]:
            yield f"static void dump_{name}(FILE *out, const {name} *v);\n"
        for name, fields in self.structs.items():
            body = "".join(self.field(name, f, f"v->{f.name}") for f in fields)
            yield self.function(name, body)
        for name, (switch, arms) in self.unions.items():
            body = self.field(name, switch, f"v->{switch.name}") + f"  switch (v->{switch.name}) {{\n"
            for labels, arm in arms:
                shown = self.field(name, arm, f"v->{name}_u.{arm.name}") if arm else ""
                body += "".join(f"  {label}\n" for label in labels) + f"{shown}  break;\n"
            yield self.function(name, body + "  }\n")
        for name in self.typedefs:
            yield (f"static void dump_typedef_{name}(FILE *out, const {name} *v) {{ "
                   f"{self.value(name, '(*v)')} }}\n")

    @staticmethod
    def function(name, body):
        return (f"static void dump_{name}(FILE *out, const {name} *v) {{\n  int first = 1;\n"
                f"  fputc('{{', out);\n{body}  fputc('}}', out);\n}}\n")

    def table(self, base):
        yield f"const struct oracle_type oracle_{base}[] = {{\n"
        for prefix, names in ("", self.structs), ("", self.unions), ("typedef_", self.typedefs):
            for name in names:
                yield (f'  {{"{name}", sizeof({name}), (xdrproc_t)xdr_{name}, '
                       f"(oracle_dump)dump_{prefix}{name}}},\n")
        yield "  {NULL, 0, NULL, NULL},\n};\n"


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    types = Types(source.read_text())
    base = source.stem
    includes = f'#include "{base}.h"\n\n#include <string.h>\n\n#include "oracle_types.h"\n\n'
    target.write_text(includes + "".join(types.functions()) + "".join(types.table(base)))


main()
