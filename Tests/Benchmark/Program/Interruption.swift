import Foundation
import Glibc
import Synchronization

/// Leaves nothing behind when somebody stops the run: no child process, no folder.
enum Interruption {
    private struct State {
        var children: Set<Int32> = []
        var folder: String?
    }

    private static let state = Mutex(State())
    /// Where a signal's handler writes its number.
    private static let wakeUp = Atomic<Int32>(-1)

    static func add(_ child: Int32) {
        state.withLock { _ = $0.children.insert(child) }
    }

    static func remove(_ child: Int32) {
        state.withLock { _ = $0.children.remove(child) }
    }

    /// A folder to delete at the end.
    static func own(_ folder: String) {
        state.withLock { $0.folder = folder }
    }

    /// Ends what still runs and deletes the folder.
    static func cleanUp() {
        let (children, folder) = state.withLock { ($0.children, $0.folder) }
        for child in children { kill(child, SIGTERM) }
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Cleans up when the process is told to end.
    static func watch() {
        let pipe = Pipe()
        wakeUp.store(pipe.fileHandleForWriting.fileDescriptor, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                // A handler may do little more than write; children start with the system's own handling.
                var byte = UInt8(truncatingIfNeeded: number)
                // One byte of a local value.
                _ = unsafe write(Interruption.wakeUp.load(ordering: .relaxed), &byte, 1)
            }
        }
        Thread {
            guard let number = try? pipe.fileHandleForReading.read(upToCount: 1)?.first else { return }
            cleanUp()
            _exit(128 + Int32(number))
        }.start()
    }
}
