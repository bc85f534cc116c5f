#include "fuse/daemon/rpcbind.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rpc/rpc.h>
#include <rpc/rpcb_prot.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "transport/base/line_text.h"
#include "transport/base/port.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kStep = "ask rpcbind";
constexpr rpcprog_t kNfsProgram = 100003;
constexpr rpcvers_t kNfsVersion = 4;
constexpr int kConnectPatience = 5000;  // milliseconds
constexpr timeval kAnswerPatience = {5, 0};

struct DestroyClient {
  void operator()(CLIENT* client) const { clnt_destroy(client); }
};
using Client = std::unique_ptr<CLIENT, DestroyClient>;

fabric::Address with_port(fabric::Address address, std::uint16_t port) {
  set_port(address.storage, port);
  return address;
}

Error failure(int code, const fabric::Address& rpcbind, std::string_view what) {
  return Error::local(code, kStep,
                      fmt::format("{}: {}; port=0 needs the server's rpcbind: without it name the "
                                  "port (port=2049, or port=20049 with RDMA)",
                                  rpcbind.text(), what));
}

Result<UniqueFd> connect_to(const fabric::Address& rpcbind) {
  UniqueFd fd(::socket(rpcbind.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail(Error::from_errno(errno, kStep));
  int error = ::connect(fd.get(), rpcbind.get(), rpcbind.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{fd.get(), POLLOUT, 0};
    socklen_t length = sizeof error;
    if (::poll(&waiting, 1, kConnectPatience) != 1) {
      error = ETIMEDOUT;
    } else if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
      error = errno;
    }
  }
  if (error != 0) return fail(failure(error, rpcbind, "it cannot be reached"));
  ::fcntl(fd.get(), F_SETFL, 0);  // libtirpc waits for the answer itself
  return fd;
}

Error no_answer(CLIENT* client, const fabric::Address& rpcbind, clnt_stat status) {
  const bool late = status == RPC_TIMEDOUT;
  return failure(late ? ETIMEDOUT : EPROTO, rpcbind, clnt_sperror(client, "no answer of rpcbind"));
}

/// rpcbind answers GETADDR for the transport of the question.
Result<std::string> address_of_tcp(CLIENT* client, const fabric::Address& rpcbind) {
  char empty[] = "";
  char netid[] = "tcp";
  rpcb wanted{kNfsProgram, kNfsVersion, netid, empty, empty};
  char* found = nullptr;
  const clnt_stat status =
      clnt_call(client, RPCBPROC_GETADDR, reinterpret_cast<xdrproc_t>(xdr_rpcb),
                reinterpret_cast<char*>(&wanted), reinterpret_cast<xdrproc_t>(xdr_wrapstring),
                reinterpret_cast<char*>(&found), kAnswerPatience);
  if (status != RPC_SUCCESS) return fail(no_answer(client, rpcbind, status));
  std::string address = found ? found : "";
  clnt_freeres(client, reinterpret_cast<xdrproc_t>(xdr_wrapstring),
               reinterpret_cast<char*>(&found));
  return address;
}

/// xdr_void itself has no parameters, and does not fit.
bool_t no_arguments(XDR*, void*) { return TRUE; }

/// rpcbind cannot be asked over RDMA, so look through its whole list.
Result<std::string> address_of_rdma(CLIENT* client, const fabric::Address& rpcbind) {
  const std::string_view netid = rpcbind.storage.ss_family == AF_INET6 ? "rdma6" : "rdma";
  rpcblist_ptr list = nullptr;
  const clnt_stat status =
      clnt_call(client, RPCBPROC_DUMP, reinterpret_cast<xdrproc_t>(no_arguments), nullptr,
                reinterpret_cast<xdrproc_t>(xdr_rpcblist_ptr), reinterpret_cast<char*>(&list),
                kAnswerPatience);
  if (status != RPC_SUCCESS) return fail(no_answer(client, rpcbind, status));
  std::string address;
  for (const rpcblist* entry = list; entry; entry = entry->rpcb_next) {
    const rpcb& map = entry->rpcb_map;
    const bool nfs = map.r_prog == kNfsProgram && map.r_vers == kNfsVersion;
    if (nfs && map.r_netid && map.r_addr && netid == map.r_netid) address = map.r_addr;
  }
  clnt_freeres(client, reinterpret_cast<xdrproc_t>(xdr_rpcblist_ptr),
               reinterpret_cast<char*>(&list));
  return address;
}

/// The last two numbers of a universal address (RFC 5665 section 5.2.3.3); 0: it has none.
std::uint16_t port_of(std::string_view address) {
  constexpr unsigned kByte = 256;
  unsigned port = 0;
  unsigned place = 1;
  for (int i = 0; i < 2; ++i) {
    const std::size_t dot = address.rfind('.');
    if (dot == address.npos) return 0;
    const auto number = whole_number<unsigned>(address.substr(dot + 1));
    if (!number || *number >= kByte) return 0;
    port += *number * place;
    place *= kByte;
    address.remove_suffix(address.size() - dot);
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Result<fabric::Address> ask_rpcbind(const fabric::Address& host, Protocol protocol,
                                    std::uint16_t port) {
  fabric::Address rpcbind = with_port(host, port);
  auto fd = connect_to(rpcbind);
  if (!fd) return fail_from(fd);
  netbuf address{sizeof rpcbind.storage, rpcbind.length, &rpcbind.storage};
  const Client client(clnt_vc_create(fd->get(), &address, RPCBPROG, RPCBVERS4, 0, 0));
  if (!client) return fail(failure(EPROTO, rpcbind, clnt_spcreateerror("libtirpc")));
  auto found = protocol == Protocol::tcp ? address_of_tcp(client.get(), rpcbind)
                                         : address_of_rdma(client.get(), rpcbind);
  if (!found) return fail_from(found);
  const std::uint16_t nfs_port = port_of(*found);
  if (nfs_port != 0) return with_port(host, nfs_port);
  const char* transport = protocol == Protocol::tcp ? "TCP" : "RDMA";
  return fail(failure(EPROTONOSUPPORT, rpcbind,
                      fmt::format("no NFS version 4 over {} is registered there", transport)));
}

}  // namespace nfsrdma::fuse
