import Glibc

/// The loopback address, 127.0.0.1, at which every server under test listens.
public enum Loopback {
    /// Lets a TCP socket listen on a port, by default a free one, and returns the port; nil if the system refuses.
    public static func listen(_ descriptor: Int32, at port: UInt16 = 0) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // bind reads and getsockname writes at most `length` bytes of the address; neither keeps a pointer.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard unsafe bind(descriptor, $0, length) == 0, Glibc.listen(descriptor, 64) == 0 else {
                    return Int32(-1)
                }
                return unsafe getsockname(descriptor, $0, &length)
            }
        }
        return result == 0 ? UInt16(bigEndian: address.sin_port) : nil
    }

    /// Returns a free port; nil if the system refuses.
    public static func freePort() -> UInt16? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        return listen(descriptor)
    }

    /// Connects a TCP socket to a port; returns false if no server accepts it.
    public static func connect(_ descriptor: Int32, toPort port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // connect reads the address, whose size is passed, and keeps no pointer.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0
    }
}
