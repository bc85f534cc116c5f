// The names that this machine knows, as idmapd.conf(5) says.
#pragma once

#include <memory>
#include <string>

#include "client/names/name_service.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Asks libnfsidmap, which may take as long as DNS and directory services like, on a thread of its
/// own that starts with the first question. The library has one state for the whole process: the
/// domain of the first SystemNames that is asked holds for all.
class SystemNames final : public NameService {
 public:
  /// `domain`, unless it is empty, replaces Domain of `config_file`. The file need not exist.
  explicit SystemNames(Reactor& reactor, std::string domain = {},
                       std::string config_file = "/etc/idmapd.conf");
  SystemNames(const SystemNames&) = delete;
  SystemNames& operator=(const SystemNames&) = delete;
  /// Does not wait for a look-up in flight. Questions without an answer never get one.
  ~SystemNames() override;

  void find_number(OwnerKind kind, const std::string& name, GetNumber answer) override;
  void find_name(OwnerKind kind, std::uint32_t number, GetName answer) override;

 private:
  struct Shared;
  using Answer = std::function<void()>;

  template <class Value>
  void ask(std::function<Value()> look_up, std::function<void(Value)> answer);
  static void work(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
  std::string domain_;
  std::string config_file_;
};

}  // namespace nfsrdma::client
