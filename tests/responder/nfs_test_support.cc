#include "tests/responder/nfs_test_support.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace nfsrdma::responder::test {

using namespace nfs4;

namespace {

constexpr std::size_t kReplyMemory = 2 << 20;
constexpr std::size_t kCallMemory = 1 << 20;

std::vector<Bytes>& free_reply_memory() {
  static std::vector<Bytes> unused;
  return unused;
}

}  // namespace

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> FakeConnection::call_back(const CallbackTarget& target,
                                       std::function<void(xdr::Encoder&)> encode_arguments,
                                       std::function<void(Result<xdr::Decoder>)> done) {
  Bytes memory(max_backward_message());
  xdr::Encoder out(memory);
  encode_arguments(out);
  memory.resize(out.size());
  callbacks.push_back({target, std::move(memory), std::move(done)});
  if (on_callback) on_callback();
  return {};
}

std::span<std::byte> call_memory() {
  static Bytes memory(kCallMemory);
  return memory;
}

ReplyMemory::ReplyMemory() {
  auto& unused = free_reply_memory();
  if (unused.empty()) {
    bytes_.resize(kReplyMemory);
  } else {
    bytes_ = std::move(unused.back());
    unused.pop_back();
  }
}

ReplyMemory::~ReplyMemory() { free_reply_memory().push_back(std::move(bytes_)); }

FakeCall::FakeCall(Bytes arguments, const rpc::Credential& credential, Connection& connection)
    : arguments_(std::move(arguments)),
      arguments_decoder_(arguments_),
      results_(reply_memory_),
      connection_(connection) {
  header_.program = rpc::kNfsProgram;
  header_.version = rpc::kNfsVersion4;
  header_.procedure = kProcCompound;
  header_.credential = credential;
  rpc::encode_accepted_reply(results_, 0, rpc::AcceptStat::success);
}

std::span<std::byte> FakeCall::scratch(std::size_t size) {
  if (size > scratch_limit) return {};
  return scratch_.emplace_back(size);
}

void FakeCall::reply(rpc::AcceptStat status) {
  EXPECT_FALSE(replied) << "a call is answered once";
  replied = true;
  accept = status;
  reply_bytes = testing_support::unreduced(results_, rpc::kAcceptedReplyHeader);
}

Results::Results(std::shared_ptr<FakeCall> call) : call_(std::move(call)), in_(call_->reply_bytes) {
  EXPECT_TRUE(call_->replied);
  EXPECT_EQ(call_->accept, rpc::AcceptStat::success);
  decode(in_, header_);
  EXPECT_TRUE(in_.ok());
  EXPECT_EQ(header_.tag, "test");
}

NfsTest::NfsTest() {
  std::string name = ::testing::TempDir() + "nfs-service-XXXXXX";
  config.directory = ::mkdtemp(name.data());
  config.durable = false;
}

NfsTest::~NfsTest() {
  service.reset();
  std::filesystem::remove_all(config.directory);
}

void NfsTest::start() {
  auto created = NfsService::create(reactor, config);
  ASSERT_TRUE(created) << created.error().message();
  service = std::move(*created);
}

std::shared_ptr<FakeCall> NfsTest::deliver(TestClient& client, Bytes arguments) {
  auto call =
      std::make_shared<FakeCall>(std::move(arguments), client.credential, *client.connection);
  call->faults = next_faults;
  service->handle(*call);
  return call;
}

SEQUENCE4args NfsTest::sequence(TestClient& client, slotid4 slot, bool cache) {
  return {client.sessionid, ++client.sequences[slot], slot, slot, cache};
}

EXCHANGE_ID4args NfsTest::exchange_id(const TestClient& client, std::uint32_t flags) {
  EXCHANGE_ID4args args;
  args.eia_clientowner = {client.verifier, bytes_of(client.owner)};
  args.eia_flags = flags;
  return args;
}

CREATE_SESSION4args NfsTest::create_session(const TestClient& client, sequenceid4 number) {
  CREATE_SESSION4args args;
  args.csa_clientid = client.clientid;
  args.csa_sequence = number;
  args.csa_flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
  args.csa_fore_chan_attrs = {0, 2 << 20, 2 << 20, 4096, 64, 16, {}};
  args.csa_back_chan_attrs = {0, 4096, 4096, 4096, 2, 1, {}};
  args.csa_cb_program = 0x40000000;
  return args;
}

TestClient NfsTest::unconnected(const std::string& owner) {
  TestClient client;
  client.owner = owner;
  client.connection = std::make_unique<FakeConnection>(next_connection_++);
  return client;
}

TestClient NfsTest::connect(const std::string& owner, bool reclaim_complete) {
  if (!service) start();
  TestClient client = unconnected(owner);
  const auto exchanged = exchange(client);
  EXPECT_EQ(exchanged.eir_status, NFS4_OK);
  client.clientid = exchanged.eir_resok4.eir_clientid;
  const auto created = create(client, exchanged.eir_resok4.eir_sequenceid);
  EXPECT_EQ(created.csr_status, NFS4_OK);
  client.sessionid = created.csr_resok4.csr_sessionid;
  if (reclaim_complete) {
    EXPECT_EQ(run(client, RECLAIM_COMPLETE4args{}).status(), NFS4_OK);
  }
  return client;
}

nfs_fh4 NfsTest::root(TestClient& client) {
  Results results = run(client, PUTROOTFH4args{}, GETFH4args{});
  results.skip<PUTROOTFH4res>();
  return results.next<GETFH4res>().resok4.object;
}

nfs_fh4 NfsTest::lookup(TestClient& client, const nfs_fh4& directory, std::string_view name) {
  Results results = run(client, putfh(directory), LOOKUP4args{name}, GETFH4args{});
  EXPECT_EQ(results.status(), NFS4_OK) << name;
  results.skip<PUTFH4res>();
  results.skip<LOOKUP4res>();
  return results.next<GETFH4res>().resok4.object;
}

Attributes NfsTest::getattr(TestClient& client, const nfs_fh4& file, const bitmap4& wanted) {
  Results results = run(client, putfh(file), GETATTR4args{wanted});
  EXPECT_EQ(results.status(), NFS4_OK);
  results.skip<PUTFH4res>();
  const auto decoded = decode_attributes(results.next<GETATTR4res>().resok4.obj_attributes);
  EXPECT_TRUE(decoded);
  return decoded ? *decoded : Attributes{};
}

OPEN4args NfsTest::open_args(std::string_view name, std::uint32_t access, std::uint32_t deny,
                             std::string_view owner) {
  OPEN4args args;
  args.share_access = access;
  args.share_deny = deny;
  args.owner.owner = bytes_of(owner);
  args.claim.claim = CLAIM_NULL;
  args.claim.file = name;
  return args;
}

OPEN4args NfsTest::creating(OPEN4args args, createmode4 mode, const fattr4& attributes) {
  args.openhow.opentype = OPEN4_CREATE;
  args.openhow.how.mode = mode;
  args.openhow.how.createattrs = attributes;
  args.openhow.how.ch_createboth.cva_attrs = attributes;
  return args;
}

NfsTest::Opened NfsTest::open(TestClient& client, const OPEN4args& args) {
  Results results = run(client, PUTROOTFH4args{}, args, GETFH4args{});
  results.skip<PUTROOTFH4res>();
  const auto opened = results.next<OPEN4res>();
  if (opened.status != NFS4_OK) return {opened.status, {}, {}, {}};
  return {NFS4_OK, opened.resok4.stateid, results.next<GETFH4res>().resok4.object, opened.resok4};
}

rpc::Credential NfsTest::user(std::uint32_t uid, std::uint32_t gid,
                              std::initializer_list<std::uint32_t> groups) {
  rpc::Credential credential;
  credential.uid = uid;
  credential.gid = gid;
  for (const std::uint32_t group : groups) credential.groups[credential.group_count++] = group;
  return credential;
}

void NfsTest::write_file(const std::string& name, std::string_view text) {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string NfsTest::read_file(const std::string& name) {
  std::ifstream in(path(name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

EncodedAttributes::EncodedAttributes(const Attributes& attributes)
    : memory_(max_attributes_size(attributes.present)) {
  xdr::Encoder out(memory_);
  EXPECT_TRUE(encode_attributes(out, attributes.present, attributes));
  xdr::Decoder in(out.encoded());
  decode(in, values_);
}

}  // namespace nfsrdma::responder::test
