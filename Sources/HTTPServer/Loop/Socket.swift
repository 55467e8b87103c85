internal import CLinux
internal import Glibc

/// A connected TCP socket, whose calls do not block.
struct Socket: ~Copyable {
    enum Received: Equatable {
        case bytes(Int)
        case end
        case nothing
        case failed
    }

    enum Sent: Equatable {
        case bytes(Int)
        case full
        case failed
    }

    /// The kernel's record of a connection, which is readable even after a reset.
    struct Progress: Equatable {
        /// Bytes acknowledged since the connection's start; 0 where the system does not report them.
        var acknowledgedCount: UInt64
        var isClosed: Bool
    }

    private static let noSignal = Int32(MSG_NOSIGNAL)

    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    var number: Int32 { descriptor.number }

    /// Reads the available bytes, at most the buffer's length.
    func receive(into buffer: inout [UInt8]) -> Received {
        while true {
            // recv writes into the array's own memory, at most its length, and keeps no pointer.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor.number, bytes.baseAddress, bytes.count, 0)
            }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .nothing : .failed
        }
    }

    /// Sends the bytes from an index on, without raising SIGPIPE.
    func send(_ bytes: [UInt8], from start: Int) -> Sent {
        while true {
            // send reads within the array's own memory and keeps no pointer.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
                return unsafe Glibc.send(descriptor.number, rest.baseAddress, rest.count, Self.noSignal)
            }
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .full : .failed
        }
    }

    /// Closes the sending side, so that the peer reads the end.
    func endSending() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }

    /// Makes the close of the socket a reset, so that the peer does not take it for the end of a body.
    func resetOnClose() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        let length = socklen_t(MemoryLayout<linger>.size)
        // The kernel copies the local value.
        _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &lingering, length)
    }

    /// The number of acknowledged bytes, and whether the connection is closed.
    var progress: Progress {
        let progress = linux_progress_of(descriptor.number)
        return Progress(acknowledgedCount: progress.acknowledged_bytes, isClosed: progress.is_closed != 0)
    }
}

/// The only owner of a file descriptor, which is closed when the owner is destroyed.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Takes ownership of a descriptor; `nil` for a negative number, with which the system reports an error.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit { _ = close(number) }
}
