// What lint prints.
#pragma once

#include <cstdio>
#include <string>

#include "tests/lab/capture/reader.h"
#include "tests/lab/lint/linter.h"

namespace nfsrdma::lab {

/// A line for each finding, then a summary.
void print_text(std::FILE* to, const CaptureSummary& summary, const Linter& linter);
/// The same as one JSON object.
void print_json(std::FILE* to, const CaptureSummary& summary, const Linter& linter);

}  // namespace nfsrdma::lab
