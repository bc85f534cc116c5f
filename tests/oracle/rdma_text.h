// RPC-over-RDMA headers as dump.py's functions print them: field for field, under the names of
// RFC 8166 and of the version 2 draft.
#pragma once

#include <string>

#include "transport/rdma/header.h"

namespace nfsrdma::oracle {

/// `prefix` is what version 2 puts in front of version 1's names: "rdma_", or nothing.
class ChunkText {
 public:
  explicit ChunkText(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string lists(const rdma::ChunkLists& lists) const {
    std::string reads, writes;
    for (const auto& entry : lists.rdma_reads()) append(reads, in_list(read(entry)));
    for (const auto& entry : lists.rdma_writes()) append(writes, in_list(chunk(entry)));
    const std::string reply = lists.has_reply ? chunk(lists.rdma_reply) : "";
    return "{rdma_reads=[" + reads + "] rdma_writes=[" + writes + "] rdma_reply=[" + reply + "]}";
  }

 private:
  static void append(std::string& list, const std::string& entry) {
    list += (list.empty() ? "" : " ") + entry;
  }
  std::string named(const char* name, std::uint64_t value) const {
    return prefix_ + name + "=" + std::to_string(value);
  }
  std::string in_list(const std::string& entry) const {
    return "{" + prefix_ + "entry=" + entry + "}";
  }
  std::string segment(const fabric::Segment& target) const {
    return "{" + named("handle", target.handle) + " " + named("length", target.length) + " " +
           named("offset", target.offset) + "}";
  }
  std::string read(const rdma::ReadSegment& entry) const {
    return "{" + named("position", entry.position) + " " + prefix_ +
           "target=" + segment(entry.target) + "}";
  }
  std::string chunk(const rdma::WriteChunk& chunk) const {
    std::string segments;
    for (const auto& target : chunk.segments()) append(segments, segment(target));
    return "{" + prefix_ + "target=[" + segments + "]}";
  }

  std::string prefix_;
};

template <class Header>
std::string fixed_words(const Header& header) {
  return "rdma_xid=" + std::to_string(header.rdma_xid) +
         " rdma_vers=" + std::to_string(header.rdma_vers) +
         " rdma_credit=" + std::to_string(header.rdma_credit);
}

inline std::string range_text(std::uint32_t low, std::uint32_t high) {
  return "{rdma_vers_low=" + std::to_string(low) + " rdma_vers_high=" + std::to_string(high) + "}";
}

inline std::string text_of_version_one(const rdma::Header& header) {
  const ChunkText chunks("");
  std::string body = "{proc=" + std::to_string(header.proc);
  if (header.proc == rdma::RDMA_MSG) body += " rdma_msg=" + chunks.lists(header.chunks);
  if (header.proc == rdma::RDMA_NOMSG) body += " rdma_nomsg=" + chunks.lists(header.chunks);
  if (header.proc == rdma::RDMA_ERROR) {
    body += " rdma_error={err=" + std::to_string(header.error.err);
    if (header.error.err == rdma::ERR_VERS) {
      body += " range=" + range_text(header.error.rdma_vers_low, header.error.rdma_vers_high);
    }
    body += "}";
  }
  return "{" + fixed_words(header) + " body=" + body + "}}";
}

inline std::string text_of_version_two(const rdma::Header& header) {
  const ChunkText chunks("rdma_");
  std::string body = "{rdma_proc=" + std::to_string(header.proc);
  if (header.proc == rdma::RDMA_MSG) {
    body += " rdma_msg_chunks=" + chunks.lists(header.chunks);
  }
  if (header.proc == rdma::RDMA_NOMSG) {
    body += " rdma_nomsg_chunks=" + chunks.lists(header.chunks);
  }
  if (header.proc == rdma::RDMA_ERROR) {
    const auto& error = header.error;
    body += " rdma_error={rdma_err=" + std::to_string(error.err);
    if (error.err == rdma::ERR_VERS) {
      body += " rdma_vrange=" + range_text(error.rdma_vers_low, error.rdma_vers_high);
    }
    body += "}";
  }
  if (header.proc == rdma::RDMA_OPTIONAL) {
    body += " rdma_optional={rdma_opttype=" + std::to_string(header.optional.rdma_opttype) +
            " rdma_optinfo=0x";
    for (const auto byte : header.optional.rdma_optinfo) {
      constexpr char kDigits[] = "0123456789abcdef";
      body += kDigits[std::to_integer<int>(byte) >> 4];
      body += kDigits[std::to_integer<int>(byte) & 0xf];
    }
    body += "}";
  }
  return "{" + fixed_words(header) + " rdma_body=" + body + "}}";
}

inline std::string text_of(const rdma::Header& header) {
  return header.rdma_vers == rdma::kVersionTwo ? text_of_version_two(header)
                                               : text_of_version_one(header);
}

}  // namespace nfsrdma::oracle
