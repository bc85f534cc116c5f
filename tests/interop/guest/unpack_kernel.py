"""The ELF kernel inside a bzImage: unpack_kernel.py VMLINUZ VMLINUX

An emulated processor takes seconds to unpack the kernel; this is done here, once. Where the packed kernel lies
stands in the image's header (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length).
"""
import lzma
import subprocess
import sys

SECTOR = 512
SETUP_SECTS = 0x1F1
PAYLOAD_OFFSET = 0x248
PAYLOAD_LENGTH = 0x24C
SIZE_AT_END = 4  # bytes: the unpacked size, behind what is packed, for packers that do not say it
XZ_MAGIC = b"\xfd7zXZ\x00"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ELF_MAGIC = b"\x7fELF"


def payload(image: bytes) -> bytes:
    def number(at: int) -> int:
        return int.from_bytes(image[at:at + 4], "little")
    start = (image[SETUP_SECTS] + 1) * SECTOR + number(PAYLOAD_OFFSET)
    return image[start:start + number(PAYLOAD_LENGTH)]


def unpack(packed: bytes) -> bytes:
    if packed.startswith(XZ_MAGIC):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(packed)
    if packed.startswith(ZSTD_MAGIC):
        return subprocess.run(["zstd", "-dc"], input=packed[:-SIZE_AT_END], stdout=subprocess.PIPE, check=True).stdout
    raise SystemExit(f"{sys.argv[1]} holds a kernel that is packed with neither xz nor zstd")


with open(sys.argv[1], "rb") as file:
    kernel = unpack(payload(file.read()))
if not kernel.startswith(ELF_MAGIC):
    raise SystemExit(f"{sys.argv[1]} holds no ELF kernel")
with open(sys.argv[2], "wb") as file:
    file.write(kernel)
