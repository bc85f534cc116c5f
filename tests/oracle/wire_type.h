// One type of client/proto behind an interface without its type, so that every test is written (and
// compiled) once for all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/oracle/random.h"
#include "tests/proto/operations.h"
#include "tests/proto/print.h"
#include "tests/proto/size.h"
#include "tests/support/unreduced.h"

namespace nfsrdma::oracle {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kMostBytesOfAValue = 64 * 1024;

/// What our decoder made of some bytes.
struct Decoded {
  Error error;  ///< when there was a fault
  bool ok = false;
  std::size_t consumed = 0;
  std::string text;     ///< the value, when ok
  Bytes encoded_again;  ///< when ok
};

class WireType {
 public:
  explicit WireType(std::string name) : name_(std::move(name)) {}
  virtual ~WireType() = default;

  /// As the .x files spell it.
  const std::string& name() const { return name_; }
  /// A random value, unreduced, and the same as text.
  virtual Bytes random(Random& random, std::string& text) const = 0;
  virtual Decoded decode(std::span<const std::byte> bytes) const = 0;
  /// See nfs4::max_encoded_size. `open_ended` bytes are allowed for what is unbounded.
  virtual std::size_t max_size(std::size_t open_ended) const = 0;

 private:
  std::string name_;
};

template <class T>
Bytes bytes_of(const T& value) {
  Bytes memory(kMostBytesOfAValue);
  xdr::Encoder out(memory);
  nfs4::encode(out, value);
  if (!out.ok()) return {};
  return testing_support::unreduced(out);
}

template <class T>
class WireTypeOf final : public WireType {
 public:
  using WireType::WireType;

  Bytes random(Random& random, std::string& text) const override {
    T value;
    random.fill(value);
    text = nfs4::print(value, kMostBytesOfAValue);
    return bytes_of(value);
  }
  Decoded decode(std::span<const std::byte> bytes) const override {
    T value;
    xdr::Decoder in(bytes);
    nfs4::decode(in, value);
    Decoded decoded;
    decoded.ok = in.ok();
    decoded.error = in.error("decode");
    decoded.consumed = in.offset();
    if (!decoded.ok) return decoded;
    decoded.text = nfs4::print(value, kMostBytesOfAValue);
    decoded.encoded_again = bytes_of(value);
    return decoded;
  }
  std::size_t max_size(std::size_t open_ended) const override {
    return nfs4::max_encoded_size<T>(open_ended);
  }
};

using WireTypes = std::vector<std::shared_ptr<const WireType>>;

/// Arguments of every operation; results; callbacks' both; and types that stand by themselves.
void add_arguments(WireTypes& types);
void add_results(WireTypes& types);
void add_callbacks(WireTypes& types);
void add_basic_types(WireTypes& types);

}  // namespace nfsrdma::oracle
