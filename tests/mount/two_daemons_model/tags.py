"""Tags of eight bytes that say which file, block, generation and writer they are of."""
import struct

GENERATIONS = 1 << 32


def pack(file, block, generation, writer):
    body = struct.pack("<BBIB", file + 1, block, generation % GENERATIONS, writer)
    return body + bytes([sum(body) % 255 ^ 0x5A])


def fill(file, block, generation, writer, size):
    return pack(file, block, generation, writer) * (size // 8)


def decode(tag):
    """(file, block, generation, writer), or None for anything but a tag."""
    bytes = tag.to_bytes(8, "little")
    if bytes[7] != sum(bytes[:7]) % 255 ^ 0x5A or not bytes[0]:
        return None
    file, block, generation, writer = struct.unpack("<BBIB", bytes[:7])
    return file - 1, block, generation, writer
