#include "tests/lab/capture/packet_file.h"

#include <pcap/pcap.h>

#include <array>
#include <cerrno>

namespace nfsrdma::lab {
namespace {

constexpr const char* kReadStep = "read capture";
constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

void PacketFile::Close::operator()(pcap* handle) const { pcap_close(handle); }

PacketFile::PacketFile(pcap* handle, std::string name)
    : handle_(handle), name_(std::move(name)), link_type_(pcap_datalink(handle)) {}

Result<std::unique_ptr<PacketFile>> PacketFile::open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return fail(Error::from_errno(errno, kReadStep, path));
  return open(file, path);
}

Result<std::unique_ptr<PacketFile>> PacketFile::open(std::FILE* file, const std::string& name) {
  std::array<char, PCAP_ERRBUF_SIZE> why{};
  pcap_t* handle =
      pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why.data());
  if (handle == nullptr) {
    std::fclose(file);
    return fail(Error::local(EINVAL, kReadStep, name + ": " + why.data()));
  }
  return std::unique_ptr<PacketFile>(new PacketFile(handle, name));
}

Result<std::optional<Packet>> PacketFile::next() {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int status = pcap_next_ex(handle_.get(), &header, &bytes);
  if (status == PCAP_ERROR_BREAK) return std::optional<Packet>();
  if (status < 0) {
    return fail(Error::local(
        EINVAL, kReadStep,
        name_ + " behind frame " + std::to_string(frames_) + ": " + pcap_geterr(handle_.get())));
  }
  Packet packet;
  packet.at.frame = ++frames_;
  // With this precision libpcap has nanoseconds in tv_usec.
  packet.at.ns = static_cast<std::int64_t>(header->ts.tv_sec) * kSecond + header->ts.tv_usec;
  packet.bytes = {reinterpret_cast<const std::byte*>(bytes), header->caplen};
  packet.cut = header->caplen < header->len;
  return std::optional<Packet>(packet);
}

}  // namespace nfsrdma::lab
