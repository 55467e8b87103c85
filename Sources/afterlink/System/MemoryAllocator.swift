internal import CLinux

/// How the process deals with memory that is free again.
enum MemoryAllocator {
    private static let leastLargeBytes: Int32 = 256 << 10
    private static let spareBytes: Int32 = 1 << 20

    /// Gives large blocks back to the system as soon as they are free.
    ///
    /// Else glibc keeps more and more of them, each thread for itself: it stops to return blocks of a size that was
    /// returned once. What a server gathers and forgets every few seconds then leaves holes that are half of its memory.
    static func returnLargeBlocks() {
        linux_return_large_blocks(leastLargeBytes, spareBytes)
    }
}
