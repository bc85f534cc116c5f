#include "tests/hostile/shapes.h"

#include <algorithm>

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

void cut_item(SpoiledReply& r, nfs_opnum4 opnum, std::size_t keep) {
  ResultItem& item = *r.find(opnum);
  item.body.resize(std::min(keep, item.body.size()));
  r.results.erase(r.results.begin() + (&item - r.results.data()) + 1, r.results.end());
}
void lengthen_item(SpoiledReply& r, nfs_opnum4 opnum, std::size_t more, std::byte with) {
  ResultItem& item = *r.find(opnum);
  item.body.resize(item.body.size() + more, with);
}
template <std::uint32_t Opnum>
void renumber(SpoiledReply& r, nfs_opnum4 opnum) {
  r.find(opnum)->opnum = Opnum;
}
template <nfsstat4 Status>
void fail_after_all(SpoiledReply& r, nfs_opnum4 opnum) {
  r.fail_at(opnum, Status);
}
template <nfsstat4 Status>
void say(SpoiledReply& r, nfs_opnum4) {
  r.status = Status;
}

void say_well(SpoiledReply& r, nfs_opnum4 opnum) {
  r.fail_at(opnum, NFS4ERR_IO);
  r.status = NFS4_OK;
}
void fail_and_go_on(SpoiledReply& r, nfs_opnum4 opnum) {
  ResultItem& item = *r.find(opnum);
  Operations::dispatch(item.opnum, [&](auto operation) {
    typename decltype(operation)::Res result;
    status_of(result) = NFS4ERR_IO;
    SpoiledReply::replace(item, result);
  });
  r.status = NFS4ERR_IO;
}
void twice(SpoiledReply& r, nfs_opnum4 opnum) {
  const ResultItem item = *r.find(opnum);
  r.results.insert(r.results.begin() + (r.find(opnum) - r.results.data()), item);
}
void twice_and_counted(SpoiledReply& r, nfs_opnum4 opnum) {
  twice(r, opnum);
  ++r.count;
}
void all_twice(SpoiledReply& r, nfs_opnum4) {
  const auto all = r.results;
  r.results.insert(r.results.end(), all.begin(), all.end());
  r.count *= 2;
}
void left_out(SpoiledReply& r, nfs_opnum4 opnum) {
  r.results.erase(r.results.begin() + (r.find(opnum) - r.results.data()));
}
void left_out_and_not_counted(SpoiledReply& r, nfs_opnum4 opnum) {
  left_out(r, opnum);
  --r.count;
}
void ends_there(SpoiledReply& r, nfs_opnum4 opnum) {
  r.results.erase(r.results.begin() + (r.find(opnum) - r.results.data()), r.results.end());
}
void ends_there_and_says_so(SpoiledReply& r, nfs_opnum4 opnum) {
  ends_there(r, opnum);
  r.count = static_cast<std::uint32_t>(r.results.size());
}
void swapped(SpoiledReply& r, nfs_opnum4 opnum) {
  ResultItem* item = r.find(opnum);
  std::swap(*item, item == &r.results.front() ? r.results.back() : r.results.front());
}
void reversed(SpoiledReply& r, nfs_opnum4) { std::ranges::reverse(r.results); }
void empty(SpoiledReply& r, nfs_opnum4) {
  r.results.clear();
  r.count = 0;
}
template <std::uint32_t Count>
void counted(SpoiledReply& r, nfs_opnum4) {
  r.count = Count;
}
void one_more(SpoiledReply& r, nfs_opnum4) { ++r.count; }
void one_less(SpoiledReply& r, nfs_opnum4) { --r.count; }
template <std::size_t Bytes, int Value>
void behind(SpoiledReply& r, nfs_opnum4) {
  r.trailing.assign(Bytes, std::byte{Value});
}
template <std::size_t Bytes>
void cut_message(SpoiledReply& r, nfs_opnum4) {
  r.cut = Bytes;
}
void other_tag(SpoiledReply& r, nfs_opnum4) { r.tag = "another"; }
void zero_tag(SpoiledReply& r, nfs_opnum4) { r.tag = std::string(5, '\0'); }
void long_tag(SpoiledReply& r, nfs_opnum4) { r.tag = std::string(2000, 't'); }
void endless_tag(SpoiledReply& r, nfs_opnum4) { r.tag = std::string(4096, 't'); }
void no_body(SpoiledReply& r, nfs_opnum4 opnum) { cut_item(r, opnum, 0); }
void status_only(SpoiledReply& r, nfs_opnum4 opnum) { cut_item(r, opnum, 4); }
void half(SpoiledReply& r, nfs_opnum4 opnum) { cut_item(r, opnum, r.find(opnum)->body.size() / 2); }
void without_end(SpoiledReply& r, nfs_opnum4 opnum) {
  const std::size_t size = r.find(opnum)->body.size();
  cut_item(r, opnum, size - std::min<std::size_t>(size, 4));
}
void not_whole_words(SpoiledReply& r, nfs_opnum4 opnum) {
  cut_item(r, opnum, r.find(opnum)->body.size() - 1);
}
void a_word_more(SpoiledReply& r, nfs_opnum4 opnum) { lengthen_item(r, opnum, 4, std::byte{0}); }
void a_page_more(SpoiledReply& r, nfs_opnum4 opnum) {
  lengthen_item(r, opnum, 4096, std::byte{0xff});
}

constexpr auto kUndefinedStatus = nfsstat4{99999};
constexpr std::uint32_t kMost = 0xffffffff;

constexpr Shape kShapes[] = {
    {"no body", no_body},
    {"status only", status_only},
    {"half a result", half},
    {"a result without its last word", without_end},
    {"a result without its last byte", not_whole_words},
    {"a word behind the result", a_word_more},
    {"a page behind the result", a_page_more},
    {"the result twice", twice},
    {"the result twice, both counted", twice_and_counted},
    {"all results twice", all_twice},
    {"the result left out", left_out},
    {"the result left out and not counted", left_out_and_not_counted},
    {"nothing from the result on", ends_there},
    {"nothing from the result on, not counted", ends_there_and_says_so},
    {"no results", empty},
    {"the result in another's place", swapped},
    {"results in reverse order", reversed},
    {"number 0", renumber<0>},
    {"number of ILLEGAL", renumber<OP_ILLEGAL>},
    {"number of READ", renumber<OP_READ>},
    {"number of PUTROOTFH", renumber<OP_PUTROOTFH>},
    {"largest number", renumber<kMost>},
    {"count 0", counted<0>},
    {"count 1", counted<1>},
    {"count one more", one_more},
    {"count one less", one_less},
    {"count 1025", counted<1025>},
    {"largest count", counted<kMost>},
    {"4 bytes behind", behind<4, 0>},
    {"3 bytes behind", behind<3, 1>},
    {"2000 bytes behind", behind<2000, 255>},
    {"cut to nothing", cut_message<0>},
    {"cut to 3 bytes", cut_message<3>},
    {"cut to the status", cut_message<4>},
    {"cut in the tag", cut_message<10>},
    {"cut in SEQUENCE", cut_message<40>},
    {"another tag", other_tag},
    {"a tag of zeros", zero_tag},
    {"a tag of 2000 bytes", long_tag},
    {"a tag of 4096 bytes", endless_tag},
    {"failure on top alone", say<NFS4ERR_IO>},
    {"delay on top alone", say<NFS4ERR_DELAY>},
    {"a bad session on top alone", say<NFS4ERR_BADSESSION>},
    {"uncached on top alone", say<NFS4ERR_RETRY_UNCACHED_REP>},
    {"an undefined status on top", say<kUndefinedStatus>},
    {"failure everywhere but on top", say_well},
    {"results behind a failure", fail_and_go_on},
    {"done, and said to be an I/O error", fail_after_all<NFS4ERR_IO>},
    {"done, and said to be delayed", fail_after_all<NFS4ERR_DELAY>, true},
    {"done, and said to be stale", fail_after_all<NFS4ERR_STALE>},
    {"done, and said to be an undefined error", fail_after_all<kUndefinedStatus>},
};

}  // namespace

std::span<const Shape> shapes() { return kShapes; }

}  // namespace nfsrdma::hostile
