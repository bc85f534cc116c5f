// RFC 8881 section 18.23.
#include <algorithm>

#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::size_t kListEnd = 2 * xdr::kUnit;  // "no entry follows" and eof
// Never sent by a correct client (RFC 8881 section 18.23.3).
constexpr nfs_cookie4 kFirstReserved = 1;
constexpr nfs_cookie4 kLastReserved = 2;

/// Cookies stay good, also through a reboot; but clients that must not rely on it are told of one.
const verifier4& cookie_verifier(const CompoundContext& context) {
  return context.server.instance.write_verifier;
}

/// The bytes that dircount limits: cookie and name.
std::size_t directory_bytes(std::size_t name_length) {
  return sizeof(nfs_cookie4) + xdr::kUnit + xdr::padded(name_length);
}

/// Encodes entries until a limit is reached.
class PageWriter {
 public:
  PageWriter(CompoundContext& context, const READDIR4args& args)
      : context_(context),
        args_(args),
        start_(context.out.size()),
        limit_(std::min<std::size_t>(args.maxcount, context.room())) {}

  nfsstat4 write(DirectoryStream& stream);

 private:
  /// False when the entry would not fit.
  bool add(const DirectoryEntry& entry, int directory_fd);
  bool within_limits(std::size_t name_length) const;
  /// False when the entry has been removed meanwhile.
  bool read_attributes(const DirectoryEntry& entry, int directory_fd, Attributes& attributes);

  CompoundContext& context_;
  const READDIR4args& args_;
  std::size_t start_;
  std::size_t limit_;
  std::size_t directory_bytes_ = 0;
  std::size_t entries_ = 0;
};

nfsstat4 PageWriter::write(DirectoryStream& stream) {
  xdr::Encoder& out = context_.out;
  out.fixed(cookie_verifier(context_));
  if (out.size() - start_ + kListEnd > limit_) return NFS4ERR_TOOSMALL;
  bool eof = false;
  for (;;) {
    const auto entry = stream.peek();
    if (!entry) return entry.error();
    eof = *entry == nullptr;
    if (eof) break;
    if (!add(**entry, stream.fd())) break;
    stream.advance();
  }
  if (entries_ == 0 && !eof) return NFS4ERR_TOOSMALL;
  out.boolean(false);
  out.boolean(eof);
  return NFS4_OK;
}

bool PageWriter::within_limits(std::size_t name_length) const {
  if (!context_.out.ok()) return false;
  if (context_.out.size() - start_ + kListEnd > limit_) return false;
  // dircount is a hint; one entry there is always, and 0 asks for no limit.
  const std::size_t names = directory_bytes_ + directory_bytes(name_length);
  return args_.dircount == 0 || entries_ == 0 || names <= args_.dircount;
}

bool PageWriter::read_attributes(const DirectoryEntry& entry, int directory_fd,
                                 Attributes& attributes) {
  const bitmap4& wanted = args_.attr_request;
  if (wanted.empty()) return true;
  const auto stat = stat_at(directory_fd, entry.name);
  if (!stat && stat.error() == NFS4ERR_NOENT) return false;
  if (!stat) {
    attributes.present.set(FATTR4_RDATTR_ERROR);
    attributes.rdattr_error = stat.error();
    return true;
  }
  nfs_fh4 handle;
  if (wanted.test(FATTR4_FILEHANDLE)) {
    handle = context_.files().handle_of_entry(context_.current, entry.name, *stat);
  }
  context_.server.attributes.read_entry(wanted, *stat, handle, attributes);
  return true;
}

bool PageWriter::add(const DirectoryEntry& entry, int directory_fd) {
  xdr::Encoder& out = context_.out;
  const std::string_view name(entry.name);
  const std::size_t before = out.size();
  Attributes attributes;
  if (!read_attributes(entry, directory_fd, attributes)) return true;
  out.boolean(true);
  out.u64(entry.cookie);
  out.string(name);
  encode_attributes(out, args_.attr_request, attributes);
  if (!within_limits(name.size()) || !out.reserve(kListEnd)) {
    out.rewind(before);
    return false;
  }
  out.rewind(out.size() - kListEnd);
  directory_bytes_ += directory_bytes(name.size());
  ++entries_;
  return true;
}

}  // namespace

nfsstat4 op_readdir(CompoundContext& context, const READDIR4args& args) {
  if (!context.current->is_directory()) return NFS4ERR_NOTDIR;
  if (!(args.attr_request & write_only_attributes()).empty()) return NFS4ERR_INVAL;
  if (args.cookie >= kFirstReserved && args.cookie <= kLastReserved) return NFS4ERR_BAD_COOKIE;
  const bool known = args.cookieverf == verifier4{} || args.cookieverf == cookie_verifier(context);
  if (!known) return NFS4ERR_NOT_SAME;
  const auto stream = context.server.directories.open(context.who, context.current, args.cookie);
  if (!stream) return stream.error();
  PageWriter page(context, args);
  return page.write(**stream);
}

}  // namespace nfsrdma::responder
