// Drives an NfsService without a transport: fake calls with encoded COMPOUNDs, a temporary
// directory, virtual time.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/proto/attributes.h"
#include "tests/proto/operations.h"
#include "tests/responder/nfs/nfs_service.h"
#include "tests/responder/service.h"
#include "tests/support/unreduced.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::responder::test {

using Bytes = std::vector<std::byte>;

class FakeConnection final : public Connection {
 public:
  explicit FakeConnection(std::uint64_t number) : number_(number) {}
  std::uint64_t id() const override { return number_; }
  Result<void> call_back(const CallbackTarget& target, std::function<void(xdr::Encoder&)> encode,
                         std::function<void(Result<xdr::Decoder>)> done) override;
  std::size_t max_backward_message() const override { return 4096; }

  struct Callback {
    CallbackTarget target;
    Bytes arguments;
    std::function<void(Result<xdr::Decoder>)> done;
  };
  std::deque<Callback> callbacks;
  /// Called when one has come; may be empty.
  std::function<void()> on_callback;

 private:
  std::uint64_t number_;
};

/// Memory for one reply. It is used again: clearing 2 MiB for each of thousands of calls takes a
/// minute under AddressSanitizer.
class ReplyMemory {
 public:
  ReplyMemory();
  ~ReplyMemory();
  ReplyMemory(const ReplyMemory&) = delete;
  ReplyMemory& operator=(const ReplyMemory&) = delete;

  operator std::span<std::byte>() { return bytes_; }

 private:
  Bytes bytes_;
};

/// A call whose reply, once there, stays to be looked at.
class FakeCall final : public ServerCall {
 public:
  FakeCall(Bytes arguments, const rpc::Credential& credential, Connection& connection);

  const rpc::CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_decoder_; }
  xdr::Encoder& results() override { return results_; }
  std::span<std::byte> scratch(std::size_t size) override;
  Connection& connection() override { return connection_; }
  void reply(rpc::AcceptStat status) override;
  void drop() override { dropped = true; }
  ServiceFaults service_faults() const override { return faults; }

  ServiceFaults faults;
  bool replied = false;
  bool dropped = false;
  rpc::AcceptStat accept = rpc::AcceptStat::system_err;
  Bytes reply_bytes;
  std::size_t scratch_limit = 2 << 20;

 private:
  rpc::CallHeader header_;
  Bytes arguments_;
  xdr::Decoder arguments_decoder_;
  ReplyMemory reply_memory_;
  xdr::Encoder results_;
  std::deque<Bytes> scratch_;
  Connection& connection_;
};

/// Memory in which one call is encoded before its bytes are copied: the same for each.
std::span<std::byte> call_memory();

/// A COMPOUND's results, taken one after the other.
class Results {
 public:
  explicit Results(std::shared_ptr<FakeCall> call);

  nfs4::nfsstat4 status() const { return header_.status; }
  std::uint32_t count() const { return header_.operations; }
  const FakeCall& call() const { return *call_; }
  /// The next result, which must be Res's.
  template <class Res>
  Res next() {
    Res result;
    nfs4::decode_result(in_, result);
    EXPECT_TRUE(in_.ok()) << in_.error("result").message();
    return result;
  }
  template <class Res>
  void skip() {
    next<Res>();
  }
  xdr::Decoder& decoder() { return in_; }

 private:
  std::shared_ptr<FakeCall> call_;
  xdr::Decoder in_;
  nfs4::COMPOUND4res_header header_;
};

/// A client with one session on one connection.
struct TestClient {
  std::string owner = "client-1";
  nfs4::verifier4 verifier{};
  rpc::Credential credential;  // root by default
  nfs4::clientid4 clientid = 0;
  nfs4::sessionid4 sessionid{};
  std::vector<nfs4::sequenceid4> sequences = std::vector<nfs4::sequenceid4>(64);
  std::unique_ptr<FakeConnection> connection;
};

class NfsTest : public ::testing::Test {
 protected:
  NfsTest();
  ~NfsTest() override;

  /// Starts the service on the temporary directory; before that `config` may be changed.
  void start();
  std::string path(const std::string& name) const { return config.directory + "/" + name; }

  /// Sends operations as they are.
  template <class... Args>
  std::shared_ptr<FakeCall> send_raw(TestClient& client, const Args&... operations) {
    return deliver(client, encode_compound(nfs4::kNfsMinorVersion1, operations...));
  }
  template <class... Args>
  Results raw(TestClient& client, const Args&... operations) {
    return Results(send_raw(client, operations...));
  }
  /// Sends operations behind SEQUENCE on slot 0; the SEQUENCE result has been taken.
  template <class... Args>
  Results run(TestClient& client, const Args&... operations) {
    Results results = raw(client, sequence(client), operations...);
    EXPECT_EQ(results.next<nfs4::SEQUENCE4res>().sr_status, nfs4::NFS4_OK);
    return results;
  }
  /// One operation on a file; the result's views stay good until the next call of this.
  template <class Res, class Args>
  Res on(TestClient& client, const nfs4::nfs_fh4& file, const Args& operation) {
    last_ = run(client, putfh(file), operation);
    last_->skip<nfs4::PUTFH4res>();
    return last_->count() < 3 ? Res{} : last_->next<Res>();
  }
  /// The status of a COMPOUND of one operation on a file.
  template <class Args>
  nfs4::nfsstat4 status_on(TestClient& client, const nfs4::nfs_fh4& file, const Args& operation) {
    return run(client, putfh(file), operation).status();
  }
  /// SAVEFH of one file, then an operation on another: RENAME, LINK.
  template <class Res, class Args>
  Res on_two(TestClient& client, const nfs4::nfs_fh4& saved, const nfs4::nfs_fh4& current,
             const Args& operation) {
    last_ = run(client, putfh(saved), nfs4::SAVEFH4args{}, putfh(current), operation);
    last_->skip<nfs4::PUTFH4res>();
    last_->skip<nfs4::SAVEFH4res>();
    last_->skip<nfs4::PUTFH4res>();
    return last_->next<Res>();
  }
  template <class... Args>
  static Bytes encode_compound(std::uint32_t minor, const Args&... operations) {
    xdr::Encoder out(call_memory());
    nfs4::COMPOUND4args_header header;
    header.tag = "test";
    header.minorversion = minor;
    header.operations = sizeof...(operations);
    nfs4::encode(out, header);
    (nfs4::encode_operation(out, operations), ...);
    EXPECT_TRUE(out.ok());
    return testing_support::unreduced(out);
  }
  std::shared_ptr<FakeCall> deliver(TestClient& client, Bytes arguments);

  /// The next SEQUENCE on a slot.
  nfs4::SEQUENCE4args sequence(TestClient& client, nfs4::slotid4 slot = 0, bool cache = false);
  nfs4::EXCHANGE_ID4args exchange_id(const TestClient& client, std::uint32_t flags = 0);
  nfs4::CREATE_SESSION4args create_session(const TestClient& client, nfs4::sequenceid4 sequence);
  /// A client with a connection and nothing else.
  TestClient unconnected(const std::string& owner);
  nfs4::EXCHANGE_ID4res exchange(TestClient& client, std::uint32_t flags = 0) {
    return raw(client, exchange_id(client, flags)).next<nfs4::EXCHANGE_ID4res>();
  }
  nfs4::CREATE_SESSION4res create(TestClient& client, nfs4::sequenceid4 number) {
    return raw(client, create_session(client, number)).next<nfs4::CREATE_SESSION4res>();
  }
  nfs4::SEQUENCE4res sequence_alone(TestClient& client, const nfs4::SEQUENCE4args& args) {
    return raw(client, args).next<nfs4::SEQUENCE4res>();
  }
  /// EXCHANGE_ID, CREATE_SESSION and, unless told otherwise, RECLAIM_COMPLETE.
  TestClient connect(const std::string& owner = "client-1", bool reclaim_complete = true);

  nfs4::nfs_fh4 root(TestClient& client);
  nfs4::nfs_fh4 lookup(TestClient& client, const nfs4::nfs_fh4& directory, std::string_view name);
  nfs4::Attributes getattr(TestClient& client, const nfs4::nfs_fh4& file,
                           const nfs4::bitmap4& wanted);
  /// OPEN of a name in the root; created with GUARDED4 when `create`.
  struct Opened {
    nfs4::nfsstat4 status;
    nfs4::stateid4 stateid;
    nfs4::nfs_fh4 handle;
    nfs4::OPEN4resok ok;
  };
  Opened open(TestClient& client, const nfs4::OPEN4args& args);
  nfs4::OPEN4args open_args(std::string_view name, std::uint32_t access, std::uint32_t deny = 0,
                            std::string_view owner = "open-owner");
  static nfs4::OPEN4args creating(nfs4::OPEN4args args, nfs4::createmode4 mode,
                                  const nfs4::fattr4& attributes = {});

  static nfs4::PUTFH4args putfh(const nfs4::nfs_fh4& handle) { return {handle}; }
  void write_file(const std::string& name, std::string_view text);
  std::string read_file(const std::string& name);

  VirtualReactor reactor;
  ServiceFaults next_faults;  ///< of calls that are delivered from now on
  ServiceConfig config;
  std::unique_ptr<NfsService> service;

  static rpc::Credential user(std::uint32_t uid, std::uint32_t gid,
                              std::initializer_list<std::uint32_t> groups = {});

 private:
  std::uint64_t next_connection_ = 1;
  std::optional<Results> last_;
};

/// Attributes in encoded form, with the memory they are in.
class EncodedAttributes {
 public:
  explicit EncodedAttributes(const nfs4::Attributes& attributes);
  operator const nfs4::fattr4&() const { return values_; }

 private:
  Bytes memory_;
  nfs4::fattr4 values_;
};

std::span<const std::byte> bytes_of(std::string_view text);
std::string text_of(std::span<const std::byte> bytes);

}  // namespace nfsrdma::responder::test
