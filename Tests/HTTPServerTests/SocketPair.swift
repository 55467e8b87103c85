import Glibc
import Synchronization
import Testing

/// Two connected descriptors: the loop watches the near one, and the test has the far one.
///
/// Calls at the near end do not block.
final class SocketPair: Sendable {
    let near: Int32
    private let far: Int32
    private let isFarOpen = Mutex(true)

    /// The system has no descriptors left.
    struct Refusal: Error {}

    /// Creates two sockets, or a pipe, whose near end is the one for writing.
    init(isPipe: Bool = false) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue)
        // Both calls fill the two elements of the array.
        let status = unsafe isPipe ? pipe(&ends) : socketpair(AF_UNIX, type, 0, &ends)
        guard status == 0 else { throw Refusal() }
        (far, near) = (ends[0], ends[1])
    }

    deinit {
        close(near)
        closeFar()
    }

    /// Sends a text from the far end.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        // The call reads within the array.
        #expect(unsafe Glibc.send(far, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// Returns the text that waits at the near end; `nil` if there is none.
    func receive() -> String? {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        // The call writes at most the array's length.
        let count = unsafe recv(near, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// Sends at most the given number of bytes from the near end, and returns how many of them its buffer took.
    func fill(atMost limit: Int) -> Int {
        let bytes = [UInt8](repeating: 0x41, count: limit)
        // The call reads within the array.
        return max(0, unsafe Glibc.send(near, bytes, limit, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)))
    }

    /// Reads bytes from the far end until it has the given number, and returns whether they came.
    func drain(_ count: Int) -> Bool {
        var bytes = [UInt8](repeating: 0, count: count)
        // The call writes at most the array's length.
        return unsafe recv(far, &bytes, count, Int32(MSG_WAITALL)) == count
    }

    /// Gives the near end a second descriptor number, and closes the descriptor that had this number.
    func moveNear(to number: Int32) { #expect(dup2(near, number) == number) }

    func closeFar() {
        isFarOpen.withLock { isOpen in
            if isOpen { close(far) }
            isOpen = false
        }
    }
}
