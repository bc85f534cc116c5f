// Listings that never end or name what cannot be, handles and texts of links, change_info4.
#include <algorithm>

#include "tests/hostile/lies.h"
#include "tests/proto/operations.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

using Entries = std::vector<entry4>;

template <void (*Change)(Entries&)>
void entries(SpoiledReply& reply) {
  reply.edit<READDIR4res>([](READDIR4res& result) { Change(result.resok4.reply.entries); });
}

void same_cookies(Entries& all) {
  for (entry4& entry : all) entry.cookie = 77;
}
void first_cookie_last(Entries& all) {
  if (!all.empty()) all.back().cookie = all.front().cookie;
}
template <nfs_cookie4 Cookie>
void cookies(Entries& all) {
  for (entry4& entry : all) entry.cookie = Cookie;
}
void falling_cookies(Entries& all) {
  nfs_cookie4 cookie = UINT64_MAX;
  for (entry4& entry : all) entry.cookie = cookie--;
}
template <const std::string& (*Name)()>
void renamed(Entries& all) {
  if (!all.empty()) all.front().name = Name();
}
const std::string& slash() {
  static const std::string name = "../../etc/passwd";
  return name;
}
const std::string& zero() {
  static const std::string name("a\0b", 3);
  return name;
}
const std::string& nothing() {
  static const std::string name;
  return name;
}
const std::string& dot() {
  static const std::string name = ".";
  return name;
}
const std::string& dots() {
  static const std::string name = "..";
  return name;
}
const std::string& long_name() {
  static const std::string name(256, 'n');
  return name;
}
const std::string& longest_name() {
  static const std::string name(4096, 'n');
  return name;
}
const std::string& no_text() {
  static const std::string name = "\xff\xfe\x80";
  return name;
}
void same_names(Entries& all) {
  for (entry4& entry : all) entry.name = "same";
}
void no_entries(Entries& all) { all.clear(); }
void doubled(Entries& all) {
  const Entries copy = all;
  all.insert(all.end(), copy.begin(), copy.end());
}

template <bool Eof>
void end(SpoiledReply& reply) {
  reply.edit<READDIR4res>([](READDIR4res& result) { result.resok4.reply.eof = Eof; });
}
void nothing_and_no_end(SpoiledReply& reply) {
  entries<no_entries>(reply);
  end<false>(reply);
}
void endless(SpoiledReply& reply) { end<false>(reply); }
void loop(SpoiledReply& reply) {
  entries<first_cookie_last>(reply);
  end<false>(reply);
}
void loop_of_one(SpoiledReply& reply) {
  entries<same_cookies>(reply);
  end<false>(reply);
}
void other_verifier(SpoiledReply& reply) {
  static std::uint8_t number = 0;
  reply.edit<READDIR4res>([](READDIR4res& result) {
    result.resok4.cookieverf.fill(std::byte{++number});
    result.resok4.reply.eof = false;
  });
}

template <std::size_t Bytes>
void handle(SpoiledReply& reply) {
  ResultItem* item = reply.find(OP_GETFH);
  xdr::Encoder out(SpoiledReply::workspace());
  out.u32(NFS4_OK);
  out.opaque(nfsrdma::hostile::Bytes(Bytes, std::byte{0x5a}));
  item->body.assign(out.encoded().begin(), out.encoded().end());
}
template <std::size_t Bytes, char Value>
void link_text(SpoiledReply& reply) {
  static const nfsrdma::hostile::Bytes text(Bytes, static_cast<std::byte>(Value));
  reply.edit<READLINK4res>([](READLINK4res& result) { result.resok4.link.data = text; });
}
void link_text_with_zero(SpoiledReply& reply) {
  static const nfsrdma::hostile::Bytes text = {std::byte{'a'}, std::byte{0}, std::byte{'b'}};
  reply.edit<READLINK4res>([](READLINK4res& result) { result.resok4.link.data = text; });
}

constexpr change_info4 kAbsurd[] = {
    {true, 0, 0}, {true, UINT64_MAX, 0}, {true, 5, 5}, {true, 1, UINT64_MAX}};
template <class Res, int Which>
void change_info(SpoiledReply& reply) {
  reply.edit<Res>([](Res& result) { result.resok4.cinfo = kAbsurd[Which]; });
}
template <int Which>
void change_info_of_rename(SpoiledReply& reply) {
  reply.edit<RENAME4res>([](RENAME4res& result) {
    result.resok4.source_cinfo = result.resok4.target_cinfo = kAbsurd[Which];
  });
}

constexpr Lie kLies[] = {
    {"each cookie the same", OP_READDIR, entries<same_cookies>, true},
    {"each cookie the same, no end", OP_READDIR, loop_of_one, true},
    {"the last cookie is the first, no end", OP_READDIR, loop, true},
    {"cookies 0", OP_READDIR, entries<cookies<0>>, true},
    {"cookies 1", OP_READDIR, entries<cookies<1>>, true},
    {"cookies 2^64 - 1", OP_READDIR, entries<cookies<UINT64_MAX>>, true},
    {"falling cookies", OP_READDIR, entries<falling_cookies>, true},
    {"a listing without end", OP_READDIR, endless},
    {"nothing and no end", OP_READDIR, nothing_and_no_end},
    {"nothing", OP_READDIR, entries<no_entries>, true},
    {"another verifier each time", OP_READDIR, other_verifier},
    {"a name with slashes", OP_READDIR, entries<renamed<slash>>, true},
    {"a name with a zero", OP_READDIR, entries<renamed<zero>>, true},
    {"an empty name", OP_READDIR, entries<renamed<nothing>>, true},
    {"name .", OP_READDIR, entries<renamed<dot>>, true},
    {"name ..", OP_READDIR, entries<renamed<dots>>, true},
    {"a name of 256 bytes", OP_READDIR, entries<renamed<long_name>>, true},
    {"a name of 4096 bytes", OP_READDIR, entries<renamed<longest_name>>, true},
    {"a name that is no text", OP_READDIR, entries<renamed<no_text>>, true},
    {"the same name for all", OP_READDIR, entries<same_names>, true},
    {"each name twice", OP_READDIR, entries<doubled>, true},
    {"an empty handle", OP_GETFH, handle<0>, true},
    {"another handle", OP_GETFH, handle<20>, true},
    {"a handle of 128 bytes", OP_GETFH, handle<128>, true},
    {"a handle of 129 bytes", OP_GETFH, handle<129>},
    {"a handle of 4000 bytes", OP_GETFH, handle<4000>},
    {"an empty link", OP_READLINK, link_text<0, 'x'>},
    {"a link of 4096 bytes", OP_READLINK, link_text<4096, 'x'>},
    {"a link of 60000 bytes", OP_READLINK, link_text<60000, 'x'>},
    {"a link of zeros", OP_READLINK, link_text<20, 0>},
    {"a link with a zero", OP_READLINK, link_text_with_zero},
    {"change info 0 of CREATE", OP_CREATE, change_info<CREATE4res, 0>},
    {"change info that falls of CREATE", OP_CREATE, change_info<CREATE4res, 1>},
    {"change info that rests of REMOVE", OP_REMOVE, change_info<REMOVE4res, 2>},
    {"change info that falls of REMOVE", OP_REMOVE, change_info<REMOVE4res, 1>},
    {"change info that leaps of LINK", OP_LINK, change_info<LINK4res, 3>},
    {"change info that falls of LINK", OP_LINK, change_info<LINK4res, 1>},
    {"change info that falls of OPEN", OP_OPEN, change_info<OPEN4res, 1>},
    {"change info 0 of OPEN", OP_OPEN, change_info<OPEN4res, 0>},
    {"change info that falls of RENAME", OP_RENAME, change_info_of_rename<1>},
    {"change info that leaps of RENAME", OP_RENAME, change_info_of_rename<3>},
};

}  // namespace

std::span<const Lie> lies_of_names() { return kLies; }

}  // namespace nfsrdma::hostile
