#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A failure of the disk.
struct DiskFailure: Error {
    let step: String
    let code: Int32

    static let busy = DiskFailure(step: "wait for another process of the app", code: EWOULDBLOCK)
}

/// The folder of the library's files.
///
/// ``replace(_:with:isLastStep:)`` changes a file completely or not at all. A crash during ``append(_:to:)`` may leave
/// a part of the line. After a power failure, a removed file may exist again.
struct StateFolder: Sendable {
    let url: URL
    let willTakeStep: @Sendable (String) -> Void

    private func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// The lock on the library's state; its file is made only after ``create()`` has succeeded.
    ///
    /// So the file shows that backups exclude the folder.
    static let stateLock = "state.lock"

    /// Creates the folder and excludes it from backups: a restored installation must be a new one.
    ///
    /// If the lock's file is missing, the function also excludes an existing folder: perhaps the app created the
    /// folder, or the process was killed right after it had created the folder.
    func create() throws {
        guard !FileManager.default.fileExists(atPath: path(Self.stateLock)) else { return }
        try step("create the folder")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            #if canImport(Darwin)
            var (folder, values) = (url, URLResourceValues())
            values.isExcludedFromBackup = true
            try folder.setResourceValues(values)
            #endif
        } catch {
            // After this error the lock's file is not made, so the library stores nothing in a folder that backups
            // contain.
            throw DiskFailure(step: "create the folder", code: errno)
        }
    }

    /// Returns the content of a file; nil if there is no such file.
    ///
    /// - Throws: `DiskFailure` if the file cannot be read, as before the first unlock of a device. Such a file must not
    ///   be taken for a missing one.
    func content(of name: String) throws -> Data? {
        guard let descriptor = try open(name, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        var (data, buffer) = (Data(), [UInt8](repeating: 0, count: 16_384))
        while true {
            // The kernel writes at most `buffer.count` bytes.
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw DiskFailure(step: "read \(name)", code: errno) }
            guard count > 0 else { return data }
            data.append(contentsOf: buffer.prefix(count))
        }
    }

    /// Replaces a file: after a crash, it has either the old or the new content.
    ///
    /// With `isLastStep`, it returns directly after the rename, and leaves ``sync()`` to the caller.
    func replace(_ name: String, with data: Data, isLastStep: Bool = false) throws {
        let draft = name + ".new"
        try put(data, to: draft, O_WRONLY | O_CREAT | O_TRUNC)
        try step("rename \(draft)")
        // Both strings outlive the call.
        guard unsafe rename(path(draft), path(name)) == 0 else {
            throw DiskFailure(step: "rename \(draft)", code: errno)
        }
        guard !isLastStep else { return }
        try step("sync the folder")
        try sync()
    }

    /// Ensures that created and renamed files keep their names after a power failure.
    func sync() throws {
        guard let folder = try open("", O_RDONLY) else { return }
        defer { close(folder) }
        // Some file systems cannot sync a folder, and need not.
        _ = fsync(folder)
    }

    /// Adds bytes to the end of a file.
    ///
    /// After a crash, the file may end with a part of them.
    func append(_ data: Data, to name: String) throws {
        try put(data, to: name, O_WRONLY | O_CREAT | O_APPEND)
    }

    func remove(_ name: String) throws {
        try step("remove \(name)")
        guard unsafe unlink(path(name)) == 0 || errno == ENOENT else {
            throw DiskFailure(step: "remove \(name)", code: errno)
        }
    }

    private func put(_ data: Data, to name: String, _ flags: Int32) throws {
        try step("write \(name)")
        guard let descriptor = try open(name, flags) else { throw DiskFailure(step: "write", code: ENOENT) }
        defer { close(descriptor) }
        var rest = data[...]
        while !rest.isEmpty {
            // The kernel reads the bytes of the slice only during the call.
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw DiskFailure(step: "write \(name)", code: errno) }
            rest = rest.dropFirst(count)
        }
        try step("sync \(name)")
        guard fsync(descriptor) == 0 else { throw DiskFailure(step: "sync \(name)", code: errno) }
    }

    /// Opens a file; returns nil if it does not exist.
    private func open(_ name: String, _ flags: Int32) throws -> Int32? {
        // The string outlives the call.
        let descriptor = unsafe Self.systemOpen(path(name), flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw DiskFailure(step: "open \(name)", code: errno)
        }
        return descriptor
    }

    private static let systemOpen: @Sendable (UnsafePointer<CChar>, Int32, mode_t) -> Int32 = {
        #if canImport(Darwin)
        unsafe Darwin.open($0, $1, $2)
        #elseif canImport(Glibc)
        unsafe Glibc.open($0, $1, $2)
        #else
        unsafe Musl.open($0, $1, $2)
        #endif
    }

    /// Takes a lock that other processes of the app respect; returns nil if one of them holds it.
    ///
    /// The kernel releases the lock when the process ends.
    func lock(_ name: String) throws -> FolderLock? {
        guard let descriptor = try open(name, O_RDWR | O_CREAT) else {
            throw DiskFailure(step: "open \(name)", code: ENOENT)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return FolderLock(descriptor: descriptor)
    }

    private func step(_ name: String) throws { willTakeStep(name) }
}

/// A lock that the process holds until this value is destroyed.
final class FolderLock: Sendable {
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}
