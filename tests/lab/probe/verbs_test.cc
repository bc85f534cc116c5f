// The probe through the fabric interface as through a device, in whose place iWARP stands.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/lab/capture/packet_file.h"
#include "tests/lab/probe/probe.h"
#include "tests/lab/wire/stand_in.h"
#include "tests/responder/testing.h"

namespace nfsrdma::lab::probe {
namespace {

/// Bytes of a message that its frame must hold.
constexpr std::size_t kShown = 40;
/// A longer one may take several frames.
constexpr std::size_t kOneFrame = 512;

std::vector<Bytes> frames_of(const std::string& path) {
  std::vector<Bytes> frames(1);  // they count from 1
  auto file = PacketFile::open(path);
  while (file) {
    const auto packet = (*file)->next();
    if (!packet || !*packet) break;
    frames.emplace_back((*packet)->bytes.begin(), (*packet)->bytes.end());
  }
  return frames;
}

bool holds(const std::vector<Bytes>& frames, std::uint64_t frame, const Bytes& message) {
  const auto head = std::span(message).first(std::min(message.size(), kShown));
  return frame < frames.size() && !std::ranges::search(frames[frame], head).empty();
}

TEST(VerbsProbeTest, AnswersAsOverIwarpAndEachHasItsFrame) {
  responder::TestResponder responder;
  const std::string path = ::testing::TempDir() + "verbs-probe-" + std::to_string(::getpid());
  std::size_t same = 0, below = 0, proved = 0;
  std::vector<Answer> answers;
  {
    Network network(testing::stand_in());
    ASSERT_TRUE(network.capture_to(path));
    Network plain;
    Probe verbs(network, script::read_server("verbs:" + responder.address().text(), "iwarp"),
                std::chrono::seconds(2));
    Probe iwarp(plain, script::read_server(responder.address().text(), "iwarp"),
                std::chrono::seconds(2));
    ASSERT_TRUE(iwarp.set_up());
    ASSERT_TRUE(verbs.set_up());
    for (const auto group : {connection_rows(), credit_and_header_rows(), chunk_rows()}) {
      for (const Row& row : group) {
        const Answer other = iwarp.ask(row);
        const Answer& answer = answers.emplace_back(verbs.ask(row));
        const bool is_below = answer.text == "-" && other.text != "-";
        EXPECT_EQ(answer.text, is_below ? "-" : other.text) << row.rule << ": " << answer.detail;
        EXPECT_EQ(answer.detail.find(kNotOverVerbs) != std::string::npos, is_below) << row.rule;
        ++(is_below ? below : same);
      }
    }
    verbs.clean_up();
  }
  const auto frames = frames_of(path);
  for (const Answer& answer : answers) {
    const script::Proof& proof = answer.proof;
    EXPECT_EQ(proof.sent_frame == 0, answer.text == "-") << answer.text;
    for (const auto& [frame, message] :
         {std::pair(proof.sent_frame, proof.sent), std::pair(proof.came_frame, proof.came)}) {
      if (frame == 0 || message.empty() || message.size() > kOneFrame) continue;
      EXPECT_TRUE(holds(frames, frame, message)) << frame;
      ++proved;
    }
  }
  std::filesystem::remove(path);
  EXPECT_EQ(below, 7u);  // those of MPA
  EXPECT_GT(same, 60u);
  EXPECT_GT(proved, 100u);
}

}  // namespace
}  // namespace nfsrdma::lab::probe
