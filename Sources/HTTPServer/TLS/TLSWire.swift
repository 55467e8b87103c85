internal import COpenSSL

/// The memory between OpenSSL and a loop's sockets; one serves all connections of its loop.
///
/// OpenSSL reads what the loop has received and writes what the loop is to send: it makes no system call of its
/// own, raises no signal, and an idle connection keeps no buffer. Touched on the loop's thread only. Safe: the
/// memory is this object's own and lives as long as it does.
@safe final class TLSWire {
    let pointer: UnsafeMutablePointer<tls_wire>

    /// The operations that OpenSSL calls; made once and never freed. `nil` only when memory has run out.
    // It is written once, before anybody can see it, and only read from then on.
    nonisolated(unsafe) static let method: OpaquePointer? = unsafe tls_wire_method()

    /// - Returns: `nil` when memory has run out.
    init?() {
        // Zeroes are an empty wire.
        guard let memory = unsafe calloc(1, MemoryLayout<tls_wire>.size) else { return nil }
        unsafe pointer = memory.bindMemory(to: tls_wire.self, capacity: 1)
    }

    deinit {
        // Sessions keep the wire alive: none of them is left.
        unsafe tls_wire_free(pointer)
    }

    /// Lets OpenSSL read received bytes during a closure.
    func lend<Result>(_ bytes: [UInt8], count: Int, during body: () -> Result) -> Result {
        // OpenSSL reads within the array's memory, and the loan ends with the closure.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe pointer.pointee.input = buffer.baseAddress
            unsafe pointer.pointee.input_count = min(count, buffer.count)
            defer {
                unsafe pointer.pointee.input = nil
                unsafe pointer.pointee.input_count = 0
            }
            return body()
        }
    }

    /// Whether OpenSSL has read everything that it was lent.
    var isEmpty: Bool {
        unsafe pointer.pointee.input_count == 0
    }

    /// Moves what OpenSSL has written to the end of an array.
    func collect(into output: inout [UInt8]) {
        let count = unsafe pointer.pointee.output_count
        guard count > 0 else { return }
        // So many bytes were written there; append copies them.
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: pointer.pointee.output, count: count))
        unsafe pointer.pointee.output_count = 0
    }
}
