"""Connections as nobody but an attacker makes them, which Deno cannot: reset by SO_LINGER, from an address of its own, with bodies that never end.

Usage: _attacker.py PORT ADDRESS ATTACK COUNT

Every line that it prints is what happened to one connection. Connections that are kept are open until standard input ends.
"""
import socket
import ssl
import struct
import sys

port, address, attack, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
path = sys.argv[5] if len(sys.argv) > 5 else "/"
context = ssl._create_unverified_context()


def connected():
    return socket.create_connection(("127.0.0.1", port), 30, (address, 0))


def secured():
    return context.wrap_socket(connected())


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def head(length):
    return (
        f"POST {path}?timeout=30s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    ).encode()


def attacked():
    if attack == "reset":  # after one byte of the server, without TLS
        connection = connected()
        connection.recv(1)
        reset(connection)
        return None
    if attack == "reset-tls":  # after the handshake
        connection = secured()
        reset(connection)
        return None
    if attack == "idle":  # a handshake, and nothing more
        return secured()
    if attack == "plain":  # not even that
        return connected()
    if attack == "slow":  # the first byte of a body
        connection = secured()
        connection.sendall(head(20_000) + b"{")
        return connection
    if attack == "slow-large":
        connection = secured()
        connection.sendall(head(6 * 2**20) + b"{")
        return connection
    raise ValueError(attack)


kept = []
for _ in range(count):
    try:
        connection = attacked()
        if connection is not None:
            kept.append(connection)
        print("done", flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)
print("end", flush=True)
sys.stdin.read()
