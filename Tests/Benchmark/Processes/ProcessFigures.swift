import Support

/// What the kernel says of the server, as figures: none of a process that is gone.
extension ProcessFigures {
    /// Resident memory in bytes.
    func residentBytes() throws -> Double { try known(residentByteCount) }

    /// The most resident memory that there ever was, in bytes.
    func peakResidentBytes() throws -> Double { try known(peakResidentByteCount) }

    func descriptors() throws -> Double { try known(descriptorCount) }

    /// Processor time used so far by the process and its children that still run, in seconds.
    func processorSeconds() throws -> Double {
        _ = try known(residentByteCount)
        return ([self] + children).reduce(0) { $0 + Double($1.processorTicks) } / 100
    }

    private func known(_ value: Int) throws -> Double {
        guard value > 0 else { throw BenchmarkError("The server is gone: it tells nothing any more.") }
        return Double(value)
    }
}
