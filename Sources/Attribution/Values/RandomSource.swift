/// The source of unpredictable bytes, a parameter so that tests can fix them.
public struct RandomSource: Sendable {
    /// Returns the given number of bytes.
    public let bytes: @Sendable (_ count: Int) -> [UInt8]

    public init(bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.bytes = bytes }

    func exactly(_ count: Int) -> [UInt8] {
        let bytes = bytes(count)
        precondition(bytes.count == count, "a random source gives as many bytes as it is asked for")
        return bytes
    }
}
