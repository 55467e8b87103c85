import Foundation

/// One change of a file or of the folder, as the preloaded library recorded it.
struct DiskRecord {
    /// The kinds of changes; `faults.c` has the same letters.
    enum Kind: UInt64 {
        /// Bytes written at a position.
        case write = 0x57
        /// The file was cut or lengthened to a position.
        case truncate = 0x54
        /// A sync of the file or folder begins; the position is the sync's number.
        case beginSync = 0x42
        /// The sync has succeeded.
        case endSync = 0x45
        /// The sync has failed, and its writes will never reach the disk by themselves: later syncs succeed without
        /// them (PostgreSQL's fsync finding of 2018).
        case failedSync = 0x44
        case create = 0x43
        case link = 0x4C
        case rename = 0x52
        case unlink = 0x55
    }

    let kind: Kind
    /// The file's number in its file system.
    let file: UInt64
    let position: Int
    let bytes: [UInt8]

    /// The names of a name change, such as the old and the new name of a rename.
    var names: [String] { String(decoding: bytes, as: UTF8.self).split(separator: "/").map(String.init) }

    /// Reads all whole records of a journal, in order.
    static func read(_ journal: URL) throws -> [DiskRecord] {
        let bytes = [UInt8](try Data(contentsOf: journal))
        var records: [DiskRecord] = []
        var start = 0
        while start + 32 <= bytes.count {
            let numbers = (0..<4).map { number in
                bytes[start + 8 * number..<start + 8 * number + 8].reversed().reduce(0) {
                    $0 << 8 | UInt64($1)
                }
            }
            let end = start + 32 + Int(numbers[3])
            // The process may have been killed while it wrote the last record.
            guard end <= bytes.count, let kind = Kind(rawValue: numbers[0]) else { break }
            records.append(
                DiskRecord(
                    kind: kind,
                    file: numbers[1],
                    position: Int(numbers[2]),
                    bytes: Array(bytes[start + 32..<end])
                )
            )
            start = end
        }
        return records
    }
}
