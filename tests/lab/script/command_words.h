// What the command lines of script, diff and probe share.
#pragma once

#include <boost/program_options.hpp>
#include <span>
#include <string>

namespace nfsrdma::lab::script {

/// Fills in what `shown`, the options of the help text, and `hidden`, those of the words that have
/// no option before them, point to. Returns what is wrong with the command line; empty: nothing.
std::string read_words(std::span<char*> words,
                       const boost::program_options::options_description& shown,
                       const boost::program_options::options_description& hidden,
                       const boost::program_options::positional_options_description& positions);

/// Says what is wrong on the standard error; returns `status`.
int complain(const std::string& what, int status);

}  // namespace nfsrdma::lab::script
