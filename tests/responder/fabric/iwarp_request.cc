#include "tests/responder/fabric/iwarp_request.h"

#include <sys/socket.h>

#include "tests/responder/fabric/mpa_answer.h"
#include "transport/base/log.h"
#include "transport/capture/sink.h"
#include "transport/fabric/iwarp/endpoint.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::fabric::iwarp {

IwarpConnectRequest::IwarpConnectRequest(Reactor& reactor, std::shared_ptr<StagTable> stags,
                                         UniqueFd socket, StartupFrame request)
    : reactor_(reactor),
      stags_(std::move(stags)),
      socket_(std::move(socket)),
      peer_(net::peer_address(socket_.get())),
      request_(std::move(request)) {}

Result<std::unique_ptr<Endpoint>> IwarpConnectRequest::accept(EndpointHandler& handler,
                                                              const EndpointOptions& options) {
  auto terms = make_terms(options);
  if (!terms) return fail_from(terms);
  const Answer answer = answer_request(request_, *terms);
  auto endpoint = std::make_unique<IwarpEndpoint>(reactor_, stags_, handler);
  TRY(endpoint->adopt(std::move(socket_), start_capture(options.capture), encode(answer.reply),
                      answer.agreement));
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

std::unique_ptr<capture::Flow> IwarpConnectRequest::start_capture(capture::Sink* sink) const {
  if (sink == nullptr) return nullptr;
  const Address local = net::local_address(socket_.get());
  auto flow = sink->open_flow(*local.get(), *peer_.get(), false, capture::Carried::mpa);
  if (!flow) return nullptr;
  // The Request was read before the capture began: it is added here.
  auto bytes = encode(request_);
  const iovec piece{bytes.data(), bytes.size()};
  flow->received({&piece, 1}, bytes.size());
  return flow;
}

void IwarpConnectRequest::reject(std::span<const std::byte> private_data) {
  send_rejection(socket_.get(), request_, private_data);
  socket_.reset();
}

void send_rejection(int fd, const StartupFrame& request, std::span<const std::byte> private_data) {
  const auto bytes = encode(make_rejection(request, private_data));
  const ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (put != static_cast<ssize_t>(bytes.size())) {
    log::debug("iwarp: a peer went away before it could be rejected");
  }
  (void)::shutdown(fd, SHUT_WR);
}

}  // namespace nfsrdma::fabric::iwarp
