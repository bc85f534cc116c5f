// The parts of a running server, gathered for the operations. No logic of its own.
#pragma once

#include <memory>
#include <optional>

#include "tests/responder/nfs/config.h"
#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/exclusive_creates.h"
#include "tests/responder/nfs/fault_hooks.h"
#include "tests/responder/nfs/fs/attributes.h"
#include "tests/responder/nfs/fs/change_attribute.h"
#include "tests/responder/nfs/fs/directory_reader.h"
#include "tests/responder/nfs/fs/file_table.h"
#include "tests/responder/nfs/instance.h"
#include "tests/responder/nfs/session/client_table.h"
#include "tests/responder/nfs/session/session.h"
#include "tests/responder/nfs/state/lock_waits.h"
#include "tests/responder/nfs/state/state_table.h"
#include "tests/responder/nfs/unstable_data.h"

namespace nfsrdma::responder {

/// State that a restart of the server forgets.
struct ClientState {
  ClientState(const ServiceConfig& config, std::uint32_t instance, FileTable& files,
              Reactor& reactor, DelegationCounters& counters)
      : states(instance, files),
        lock_waits(states),
        sessions(config.channel, instance),
        delegations(config, reactor, states, sessions, counters),
        clients(instance, [this](Client& client) {
          sessions.destroy_all_of(client);
          states.remove_all_of(client);
        }) {}

  StateTable states;
  LockWaits lock_waits;
  SessionTable sessions;
  Delegations delegations;
  ClientTable clients;
};

struct ServerState {
  ServerState(ServiceConfig server_config, Reactor& loop, std::unique_ptr<FileTable> table)
      : config(std::move(server_config)),
        reactor(loop),
        files(std::move(table)),
        directories(*files),
        attributes(config, *files, changes) {}

  TimePoint lease_end() const { return reactor.now() + std::chrono::seconds(config.lease_seconds); }
  bool in_grace() const { return instance.in_grace(reactor.now()); }

  const ServiceConfig config;
  Reactor& reactor;
  std::unique_ptr<FileTable> files;
  ChangeCounters changes;
  DirectoryReader directories;
  AttributeReader attributes;
  ExclusiveCreates exclusive_creates;
  FaultHooks faults;
  UnstableData unstable;
  Instance instance;
  DelegationCounters delegation_counters;
  std::unique_ptr<ClientState> clients;
};

}  // namespace nfsrdma::responder
