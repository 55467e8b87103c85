import Foundation

/// A fault of a disk: the calls and files that it affects, and its effect on them.
struct Fault {
    /// `faults.c` has the same numbers.
    struct Files: OptionSet {
        let rawValue: UInt32
        static let database = Files(rawValue: 1)
        static let log = Files(rawValue: 2)
        static let index = Files(rawValue: 4)
        static let journal = Files(rawValue: 8)
        static let key = Files(rawValue: 16)
        static let copy = Files(rawValue: 32)
        static let folder = Files(rawValue: 64)
        static let all = Files(rawValue: 127)
    }

    /// `faults.c` has the same numbers.
    struct Calls: OptionSet {
        let rawValue: UInt32
        static let write = Calls(rawValue: 1)
        static let sync = Calls(rawValue: 2)
        static let truncate = Calls(rawValue: 4)
        /// Opening for writing.
        static let open = Calls(rawValue: 8)
        static let unlink = Calls(rawValue: 16)
        /// Reading; a fault of this kind works only as the first of the faults that are set.
        static let read = Calls(rawValue: 32)
    }

    enum Effect {
        /// The call does nothing and fails with this errno.
        case fail(Int32)
        /// The call writes half of the bytes, and then fails with this errno.
        case tear(Int32)
        /// The call writes half of the bytes, and returns their number.
        case shorten
        /// The call waits, at most until the fault is removed.
        case wait(milliseconds: Int32)
        /// The process ends instead of making the call, as at a power cut.
        case kill
    }

    var calls: Calls
    var files: Files
    var effect: Effect
    /// How many calls pass before the first call is affected.
    var skipped: UInt32 = 0
    /// How many calls are then affected; 0 for all.
    var times: UInt32 = 0

    init(_ calls: Calls, of files: Files, _ effect: Effect, skipped: UInt32 = 0, times: UInt32 = 0) {
        self.calls = calls
        self.files = files
        self.effect = effect
        self.skipped = skipped
        self.times = times
    }

    static let noSpace = Fault(.write, of: .all, .fail(ENOSPC))
    static let writeError = Fault(.write, of: .all, .fail(EIO))
    static let syncError = Fault(.sync, of: .all, .fail(EIO))
    /// Half of each write of the log reaches the disk before it fails.
    static let tornWrite = Fault(.write, of: .log, .tear(EIO))
    static let readOnly = Fault([.write, .open, .truncate, .unlink], of: .all, .fail(EROFS))

    /// No sync ends before the fault is removed.
    static let stuckSync = slowSync(milliseconds: 3_600_000)

    static func slowSync(milliseconds: Int32) -> Fault {
        Fault(.sync, of: .all, .wait(milliseconds: milliseconds))
    }

    /// The layout of `struct rule` in `faults.c`.
    var words: [UInt32] {
        let (number, value): (UInt32, Int32) =
            switch effect {
            case .fail(let error): (1, error)
            case .tear(let error): (2, error)
            case .shorten: (3, 0)
            case .wait(let milliseconds): (4, milliseconds)
            case .kill: (5, 0)
            }
        return [0, calls.rawValue, files.rawValue, number, UInt32(bitPattern: value), skipped, times, 0]
    }
}
