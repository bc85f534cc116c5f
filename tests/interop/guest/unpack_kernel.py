"""The ELF kernel inside a bzImage: unpack_kernel.py VMLINUZ VMLINUX

An emulated processor takes seconds to unpack the kernel; this is done here, once.
"""
import lzma
import sys

XZ_MAGIC = b"\xfd7zXZ\x00"
ELF_MAGIC = b"\x7fELF"


def unpack(image: bytes) -> bytes:
    at = image.find(XZ_MAGIC)
    while at >= 0:
        try:
            kernel = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(image[at:])
        except lzma.LZMAError:
            kernel = b""
        if kernel.startswith(ELF_MAGIC):
            return kernel
        at = image.find(XZ_MAGIC, at + 1)
    raise SystemExit(f"{sys.argv[1]} holds no kernel packed with xz")


with open(sys.argv[1], "rb") as packed, open(sys.argv[2], "wb") as unpacked:
    unpacked.write(unpack(packed.read()))
