import Storage

/// The rules of a database that several servers write to.
enum ServerRules: StoreRules {
    static var readsNewestClicks: Bool { false }
    static var admitsNames: Bool { false }
    static var publishesDirectory: Bool { true }
    static var gatheringNanoseconds: UInt64 { 0 }
    static var jobs: Set<JobName> { [] }
}
