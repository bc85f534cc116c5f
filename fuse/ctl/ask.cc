#include "fuse/ctl/ask.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <utility>

#include "fuse/control/control_directory.h"
#include "transport/base/line_text.h"

namespace nfsrdma::ctl {
namespace {

/// Bytes of a daemon's identity: many peers are asked for it at once.
constexpr std::size_t kLongestIdentity = 64 * 1024;

/// Of those that are meant by `name`. One that is ending counts only where there is no other: a
/// mount that is made anew is asked as soon as it is there.
Result<Mount> only_one(std::vector<Mount> found, const std::string& name) {
  constexpr const char* kStep = "find the mount";
  const auto ending = std::partition(found.begin(), found.end(), [](const Mount& mount) {
    return mount.get("state") != "ending";
  });
  if (ending != found.begin()) found.erase(ending, found.end());
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    return fail(Error::local(
        ENOENT, kStep, name + ": no daemon of this user answers for it; see nfsrdmactl list"));
  }
  std::string processes;
  for (const Mount& mount : found) {
    processes += (processes.empty() ? "" : ", ") + mount.number("pid");
  }
  return fail(Error::local(
      EBUSY, kStep,
      name + ": there are several: name the process (" + processes + ") or the socket of one"));
}

Question identity_at(std::string socket) {
  return {.socket = std::move(socket), .request = "identity", .longest = kLongestIdentity};
}

Mount mount_of(const std::string& socket, const std::string& identity, const Peer& peer) {
  Mount mount{.socket = socket, .identity = {}, .peer = peer};
  std::istringstream lines(identity);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) {
      mount.identity[line.substr(0, space)] = unescape_line(line.substr(space + 1));
    }
  }
  return mount;
}

Result<void> check(const Mount& mount, std::string_view mountinfo) {
  return check_claim(mount.peer, mount.get("pid"), mount.get("mount_point"), mountinfo);
}

/// A socket that is named answers, whosever it is: its mount may be in another container.
Result<Mount> identify(const std::string& socket) {
  const Question question = identity_at(socket);
  Answer answer = std::move(ask_all({&question, 1}).front());
  if (!answer.text) return fail_from(answer.text);
  Mount mount = mount_of(socket, *answer.text, answer.peer);
  mount.proved = check(mount, mountinfo_text()).has_value();
  return mount;
}

Question question_to(const Mount& mount, std::string_view request) {
  return {.socket = mount.socket, .request = std::string(request), .only = mount.peer};
}

/// Of one whose socket lies in the directory of a user.
void add(Mounts& mounts, const fuse::SocketOfUser& place, Answer answer,
         std::string_view mountinfo) {
  if (!answer.text) {
    // Or the daemon has ended since the directory was looked at.
    const Error& error = answer.text.error();
    if (!error.is(Layer::system, ECONNREFUSED) && !error.is(Layer::system, ENOENT)) {
      mounts.silent.push_back(std::move(answer.text.error()));
    }
    return;
  }
  Mount mount = mount_of(place.path, *answer.text, answer.peer);
  auto checked = check(mount, mountinfo);
  // A link to the socket of another user's mount would be a second claim to that mount.
  mount.proved = checked && mount.peer.user == place.user;
  if (mount.proved) {
    mounts.answer.push_back(std::move(mount));
  } else if (!checked && mount.get("state") == "mounted") {
    mounts.refuted.push_back(std::move(checked.error()));
  }
}

}  // namespace

Result<std::string> ask(const std::string& socket, std::string_view request, std::size_t longest) {
  const Question question{.socket = socket, .request = std::string(request), .longest = longest};
  return std::move(ask_all({&question, 1}).front().text);
}

Result<std::string> ask(const Mount& mount, std::string_view request, std::span<const int> files) {
  if (!files.empty() && !mount.proved) {
    return fail(Error::local(EPERM, "pass the file to the daemon",
                             mount.socket + ": the mount is not that of the process's user"));
  }
  Question question = question_to(mount, request);
  question.files = files;
  return std::move(ask_all({&question, 1}).front().text);
}

std::vector<Result<std::string>> ask_each(std::span<const Mount> mounts, std::string_view request) {
  std::vector<Question> questions;
  for (const Mount& mount : mounts) questions.push_back(question_to(mount, request));
  std::vector<Result<std::string>> texts;
  for (Answer& each : ask_all(questions)) texts.push_back(std::move(each.text));
  return texts;
}

const std::string& Mount::get(std::string_view name) const {
  static const std::string none;
  const auto place = identity.find(name);
  return place == identity.end() ? none : place->second;
}

std::string Mount::number(std::string_view name) const {
  const std::string& text = get(name);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? text : "0";
}

Mounts all_mounts() {
  const auto places = fuse::control_sockets();
  std::vector<Question> questions;
  for (const auto& place : places) questions.push_back(identity_at(place.path));
  auto answers = ask_all(questions);
  // After the answers: a mount that is there by now is in the table.
  const std::string mountinfo = mountinfo_text();
  Mounts mounts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    add(mounts, places[i], std::move(answers[i]), mountinfo);
  }
  std::ranges::sort(mounts.answer, {}, &Mount::socket);
  // Not in directories of others, who could make its name lead elsewhere.
  for (const auto& own : fuse::control_directories()) fuse::remove_deserted_sockets(own);
  return mounts;
}

Result<Mount> find_mount(const std::string& name) {
  std::error_code none;
  // Resolves it lexically: a mount whose server is silent must not hang this program.
  const std::string path = std::filesystem::absolute(name, none).lexically_normal();
  struct stat status {};
  if (name.ends_with(".sock") && ::stat(name.c_str(), &status) == 0) return identify(name);
  std::vector<Mount> found = std::move(all_mounts().answer);
  std::erase_if(found, [&](const Mount& mount) {
    return mount.get("pid") != name && mount.get("mount_point") != path &&
           mount.get("mount_point") + "/" != path;
  });
  return only_one(std::move(found), name);
}

}  // namespace nfsrdma::ctl
