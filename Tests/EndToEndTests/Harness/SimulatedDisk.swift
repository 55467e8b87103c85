import Foundation
import Support

/// The database's files as they are certainly on disk, and writes that are not synced.
///
/// A sync makes the writes durable that the same file got before the sync started. A name is durable when the folder
/// was synced after the name was set, whether or not the file itself was synced.
struct SimulatedDisk {
    private enum Change {
        case write(at: Int, [UInt8])
        case truncate(to: Int)
    }
    private enum NameChange {
        case add(String, Int)
        case remove(String)
    }
    private struct File {
        var durable: [UInt8] = []
        var pending: [(index: Int, change: Change)] = []
    }

    private var files: [File] = []
    /// The index in ``files`` by the file's number in the machine's file system, which may reuse the number.
    private var fileOfNumber: [UInt64: Int] = [:]
    private var folderNumber: UInt64
    /// The names as the process sees them, with indexes in ``files``.
    private var names: [String: Int] = [:]
    private var durableNames: [String: Int] = [:]
    private var pendingNames: [(index: Int, change: NameChange)] = []
    private var syncs: [Int: (file: UInt64, index: Int)] = [:]
    private var count = 0

    /// Creates the disk from a folder, all of it durable.
    init(folder: URL) throws {
        folderNumber = try Self.number(of: folder)
        for name in try Self.names(in: folder) {
            let file = folder.appending(path: name)
            fileOfNumber[try Self.number(of: file)] = files.count
            names[name] = files.count
            files.append(File(durable: [UInt8](try Data(contentsOf: file))))
        }
        durableNames = names
    }

    mutating func apply(_ records: some Sequence<DiskRecord>) {
        for record in records {
            apply(record)
            count += 1
        }
    }

    private mutating func apply(_ record: DiskRecord) {
        switch record.kind {
        case .write: note(.write(at: record.position, record.bytes), of: record.file)
        case .truncate: note(.truncate(to: record.position), of: record.file)
        case .beginSync: syncs[record.position] = (record.file, count)
        case .endSync:
            guard let sync = syncs.removeValue(forKey: record.position) else { return }
            makeDurable(sync.file, before: sync.index)
        case .failedSync:
            guard let sync = syncs.removeValue(forKey: record.position) else { return }
            if let file = fileOfNumber[sync.file] { files[file].pending.removeAll { $0.index < sync.index } }
        case .create:
            fileOfNumber[record.file] = files.count
            files.append(File())
            name(record.names[0], files.count - 1)
        case .link, .rename:
            guard record.names.count == 2, let file = names[record.names[0]] else { return }
            name(record.names[1], file)
            if record.kind == .rename { unname(record.names[0]) }
        case .unlink: unname(record.names[0])
        }
    }

    private mutating func note(_ change: Change, of number: UInt64) {
        guard let file = fileOfNumber[number] else { return }
        files[file].pending.append((count, change))
    }

    private mutating func name(_ name: String, _ file: Int) {
        names[name] = file
        pendingNames.append((count, .add(name, file)))
    }

    private mutating func unname(_ name: String) {
        names[name] = nil
        pendingNames.append((count, .remove(name)))
    }

    private mutating func makeDurable(_ number: UInt64, before index: Int) {
        if number == folderNumber {
            for entry in pendingNames where entry.index < index {
                Self.apply(entry.change, to: &durableNames)
            }
            pendingNames.removeAll { $0.index < index }
        } else if let file = fileOfNumber[number] {
            let pending = files[file].pending
            for entry in pending where entry.index < index {
                Self.apply(entry.change, to: &files[file].durable)
            }
            files[file].pending.removeAll { $0.index < index }
        }
    }

    // MARK: The cut

    /// Which unsynced writes reach the disk.
    enum Remainder: CaseIterable {
        case nothing
        case everything
        /// All writes before a random write, and some sectors of that write.
        case prefix
        /// A random choice of writes, whole or torn.
        case subset
    }

    /// Returns the files after a power cut.
    func files(after remainder: Remainder, using random: inout SeededGenerator) -> [String: [UInt8]] {
        let lastIndex = Int.random(in: 0...count, using: &random)
        var content: [[UInt8]] = []
        for file in files {
            var bytes = file.durable
            for (index, change) in file.pending {
                let (isKept, isTorn): (Bool, Bool) =
                    switch remainder {
                    case .nothing: (false, false)
                    case .everything: (true, false)
                    case .prefix: (index <= lastIndex, index == lastIndex)
                    case .subset: (.random(using: &random), Int.random(in: 0..<4, using: &random) == 0)
                    }
                guard isKept else { continue }
                for part in isTorn ? Self.torn(change, using: &random) : [change] {
                    Self.apply(part, to: &bytes)
                }
            }
            content.append(bytes)
        }
        // Folders are changed in order on every file system with a journal.
        var names = durableNames
        let kept: Int =
            switch remainder {
            case .nothing: 0
            case .everything: pendingNames.count
            case .prefix: pendingNames.count { $0.index <= lastIndex }
            case .subset: Int.random(in: 0...pendingNames.count, using: &random)
            }
        for entry in pendingNames.prefix(kept) { Self.apply(entry.change, to: &names) }
        return names.mapValues { content[$0] }
    }

    /// Replaces the database's files in the folder.
    static func write(_ files: [String: [UInt8]], to folder: URL, using random: inout SeededGenerator) throws
    {
        for name in try names(in: folder) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        for (name, bytes) in files {
            // SQLite writes the `-shm` file through shared memory; after a cut its content is arbitrary.
            let isIndex = name.hasSuffix("-shm")
            let content = isIndex ? bytes.map { _ in UInt8.random(in: 0...255, using: &random) } : bytes
            let path = folder.appending(path: name).path
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: path, contents: Data(content), attributes: mode)
            else { throw ChildProcess.Failure(description: "\(path) cannot be put back") }
        }
    }

    /// Returns the sectors of a write that reach the disk.
    private static func torn(_ change: Change, using random: inout SeededGenerator) -> [Change] {
        guard case .write(let start, let bytes) = change else { return [] }
        var parts: [Change] = []
        var position = start
        while position < start + bytes.count {
            let end = min((position / 512 + 1) * 512, start + bytes.count)
            if Bool.random(using: &random) {
                parts.append(.write(at: position, Array(bytes[position - start..<end - start])))
            }
            position = end
        }
        return parts
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let length):
            if length < bytes.count { bytes.removeLast(bytes.count - length) }
            bytes.append(contentsOf: repeatElement(0, count: length - bytes.count))
        case .write(let start, let new):
            if bytes.count < start + new.count {
                bytes.append(contentsOf: repeatElement(0, count: start + new.count - bytes.count))
            }
            bytes.replaceSubrange(start..<start + new.count, with: new)
        }
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .add(let name, let file): names[name] = file
        case .remove(let name): names[name] = nil
        }
    }

    private static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains(".db") }
    }

    private static func number(of file: URL) throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }
}
