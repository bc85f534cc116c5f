// How a field list describes the arms of an XDR union.
#pragma once

#include <cstddef>

namespace nfsrdma::nfs4 {

/// "When the discriminant is `value`, this field follows."
template <class D, class T>
struct Arm {
  D value;
  const char* name;
  T& field;

  bool matches(D discriminant) const { return discriminant == value; }
  constexpr void visit(auto& visitor) const { visitor(name, field); }
};

/// The same for a field of variable length.
template <class D, class T>
struct BoundedArm {
  D value;
  const char* name;
  T& field;
  std::size_t bound;

  bool matches(D discriminant) const { return discriminant == value; }
  constexpr void visit(auto& visitor) const { visitor(name, field, bound); }
};

/// "When the discriminant is `value`, nothing follows."
template <class D>
struct NoArm {
  D value;

  bool matches(D discriminant) const { return discriminant == value; }
  constexpr void visit(auto&) const {}
};

/// "For every other defined discriminant nothing follows."
struct Otherwise {
  bool matches(auto) const { return true; }
  constexpr void visit(auto&) const {}
};

template <class D, class T>
Arm<D, T> arm(D value, const char* name, T& field) {
  return {value, name, field};
}
template <class D, class T>
BoundedArm<D, T> arm(D value, const char* name, T& field, std::size_t bound) {
  return {value, name, field, bound};
}
template <class D>
NoArm<D> no_arm(D value) {
  return {value};
}
inline Otherwise otherwise() { return {}; }

/// Visits the first arm that matches; false when none does.
template <class Visitor, class D, class... Arms>
bool visit_arm(Visitor& visitor, const D& discriminant, const Arms&... arms) {
  return ((arms.matches(discriminant) && (arms.visit(visitor), true)) || ...);
}

}  // namespace nfsrdma::nfs4
