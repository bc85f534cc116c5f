// OpenMetrics text, for Prometheus.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuse/ctl/ask.h"
#include "fuse/ctl/counters.h"

namespace nfsrdma::ctl {

/// Every counter of every mount as a sample without a type, "nfsrdma_" before its name, with labels
/// for mount point, source and, for counters of an NFS operation, the operation. Of mounts with the
/// same point and source only the youngest is there. Ends with "# EOF". Prometheus' older text
/// format has the same lines.
std::string open_metrics(const std::vector<std::pair<Mount, Counters>>& mounts);

/// The same samples as an array of objects: name, labels and value.
std::string metrics_as_json(const std::vector<std::pair<Mount, Counters>>& mounts);

/// The text of every mount that this user may ask, behind how many of them have not answered
/// (nfsrdma_silent_mounts) and what each is (nfsrdma_mount_info and its kin).
std::string metrics_of_all();

}  // namespace nfsrdma::ctl
