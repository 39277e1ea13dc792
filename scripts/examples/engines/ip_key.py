import socket


def ip_key(ip: str) -> bytes:
    """16 bytes. IPv4 is in ::ffff:0:0/96, also that in 6to4, Teredo and NAT64 addresses."""
    packed = socket.inet_pton(socket.AF_INET6, ip if ":" in ip else "::ffff:" + ip)
    mapped = bytes(10) + b"\xff\xff"
    if packed[:2] == b"\x20\x02":
        return mapped + packed[2:6]
    if packed[:4] == b"\x20\x01\0\0":
        return mapped + bytes(255 - byte for byte in packed[12:])
    return mapped + packed[12:] if packed[:12] == b"\0\x64\xff\x9b" + bytes(8) else packed
