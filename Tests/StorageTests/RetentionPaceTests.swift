import SQLiteStorage
import Testing

@Suite("The pace of retention")
struct RetentionPaceTests {
    @Test("is an eighth of the time, and a third as long as what is due grows older")
    func pauses() {
        var pace = RetentionPace()
        #expect(pace.pause(after: 2_000_000) == 14_000_000)
        // Days behind, but catching up.
        for lag in [900_000_000, 800_000_000, 700_000_000] as [Int64] {
            pace.noteLag(lag)
            #expect(pace.pause(after: 2_000_000) == 14_000_000)
        }
        pace.noteLag(700_000_500)
        #expect(pace.pause(after: 2_000_000) == 4_000_000)
        pace.noteLag(0)
        #expect(pace.pause(after: 2_000_000) == 14_000_000)
    }
}
