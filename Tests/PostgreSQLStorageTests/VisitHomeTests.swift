#if PostgreSQL
import Attribution
import Testing

@testable import PostgreSQLStorage
@testable import Storage

@Suite("The home of a click: the bucket and slot of its row")
struct VisitHomeTests {
    private static let day: Int64 = 86_400_000

    /// Returns the number that SQLite would give a click: milliseconds, then 16 bits that count.
    private func number(day: Int64, milliseconds: Int64, count: Int64) -> Int64 {
        (day * Self.day + milliseconds) << 16 | count
    }

    @Test(
        "the bits of a number state in which bucket and slot its row is stored",
        arguments: [(0, 0, 100), (1, 1, 100), (63, 63, 100), (64, 0, -1), (127, 63, -1), (128, 0, 100)]
            as [(Int64, Int64, Int64)]
    )
    func homes(count: Int64, bucket: Int64, slot: Int64) {
        let number = number(day: 100, milliseconds: 5, count: count)
        let home = RowHome(of: number)
        #expect(home.bucket == bucket && home.slot == slot)
        #expect(RowHome.day(of: number) == 100, "the record of a check is stored with its day")
    }

    @Test("a visit's clicks are searched in all buckets, and in slot -1, only if one may have been moved")
    func moved() {
        let moved = number(day: 100, milliseconds: 500_000, count: 3)
        let (before, after) = (
            VisitHome(of: moved, movedUpTo: moved),
            VisitHome(of: number(day: 100, milliseconds: 1_100_001, count: 0), movedUpTo: moved)
        )
        #expect(before.isMoved && before.slots == [-1, 99, 100])
        #expect(!after.isMoved && after.slots == [100])
        // Within ten minutes, a click of the same visit may have been moved.
        let soon = VisitHome(of: number(day: 100, milliseconds: 1_100_000, count: 64), movedUpTo: moved)
        #expect(soon.isMoved && soon.slots == [-1, 100])
        #expect(!VisitHome(of: moved, movedUpTo: 0).isMoved)
        #expect(VisitHome(of: number(day: 100, milliseconds: 0, count: 64), movedUpTo: 0).slots == [-1])
    }
}
#endif
