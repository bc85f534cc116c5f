#include "fuse/daemon/provider_choice.h"

#include "transport/base/log.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fuse {

Result<ProviderChoice> choose_provider(const TransportOptions& options,
                                       const Result<std::string>& device) {
  if (options.provider == Provider::iwarp) return ProviderChoice{Provider::iwarp, "asked for"};
  if (options.provider == Provider::verbs || !options.device.empty()) {
    if (!device) return fail(device.error());
    return ProviderChoice{Provider::verbs, "asked for; the route goes through " + *device};
  }
  if (!options.capture_file.empty() && options.capture_view == CaptureView::wire) {
    return ProviderChoice{Provider::iwarp, "capture= records nothing else"};
  }
  if (!device) return ProviderChoice{Provider::iwarp, device.error().message()};
  return ProviderChoice{Provider::verbs, "the route goes through " + *device};
}

bool may_fall_back(const TransportOptions& options, const Error& error) {
  const bool chosen_here = options.provider == Provider::automatic && options.device.empty();
  return chosen_here && fabric::is_memory_limit(error);
}

Result<std::unique_ptr<fabric::Fabric>> make_fabric(Reactor& reactor,
                                                    const TransportOptions& options,
                                                    const fabric::Address& server) {
  const auto device = options.provider == Provider::iwarp
                          ? Result<std::string>()
                          : fabric::find_rdma_device(server, options.device);
  auto choice = choose_provider(options, device);
  if (!choice) return fail_from(choice);
  const bool verbs = choice->provider == Provider::verbs;
  log::info("provider {} to {}: {}", verbs ? "verbs" : "iwarp", server.text(), choice->reason);
  if (!verbs) return fabric::make_iwarp_fabric(reactor);
  return fabric::make_verbs_fabric(reactor, {options.device, options.registration});
}

}  // namespace nfsrdma::fuse
