import Attribution
import SQLiteStorage
import Storage
import Synchronization
import Testing

@Suite("What a store says of its troubles")
struct FailureLogTests {
    private let full = StoreError(.full, "the disk is full.")
    private let second: UInt64 = 1_000_000_000

    /// A log of troubles, and what it said.
    private final class Said: Sendable {
        private let lines = Mutex<[String]>([])

        func makeLog() -> FailureLog {
            FailureLog(StoreLog { level, text in self.lines.withLock { $0.append("\(level) \(text)") } })
        }

        /// Since it was asked last: `trouble`, or `over`.
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines.map { $0.hasPrefix("error") ? "trouble" : "over" }
            }
        }
    }

    @Test("a disk that is full for the writer and a job is one failure, reported again after ten seconds")
    func once() {
        let said = Said()
        let troubles = said.makeLog()
        troubles.note(full, of: .writing, at: second)
        troubles.note(full, of: .job(.checkpoint), at: 2 * second)
        troubles.note(full, of: .writing, at: 10 * second)
        #expect(said.take() == ["trouble"])
        troubles.note(full, of: .job(.checkpoint), at: 11 * second)
        #expect(said.take() == ["trouble"])
        troubles.note(StoreError(.inputOutput, "another."), of: .job(.checkpoint), at: 11 * second)
        #expect(said.take() == ["trouble"])
    }

    @Test("it is not over before all work that failed has been done again")
    func over() {
        let said = Said()
        let troubles = said.makeLog()
        troubles.note(full, of: .writing, at: second)
        troubles.note(full, of: .job(.checkpoint), at: second)
        #expect(said.take() == ["trouble"])
        troubles.noteSuccess(of: .job(.checkpoint), at: 5 * second)
        troubles.noteSuccess(of: .reading, at: 5 * second)
        #expect(said.take().isEmpty)
        troubles.noteSuccess(of: .writing, at: 6 * second)
        troubles.noteSuccess(of: .writing, at: 6 * second)
        troubles.noteSuccess(of: .job(.checkpoint), at: 7 * second)
        #expect(said.take() == ["over"])
    }

    @Test("a success between failures does not end it; a second without one does, on any thread")
    func between() {
        let said = Said()
        let troubles = said.makeLog()
        for step in UInt64(0)..<10 {
            troubles.note(full, of: .writing, at: step * second / 2)
            troubles.noteSuccess(of: .writing, at: step * second / 2 + 1)
        }
        #expect(said.take() == ["trouble"])
        troubles.noteSuccess(of: .job(.checkpoint), at: 6 * second)
        #expect(said.take() == ["over"])
    }

    @Test("a failure after the end is logged at once, so that the last line is true")
    func again() {
        let said = Said()
        let troubles = said.makeLog()
        troubles.noteSuccess(of: .writing, at: 0)
        #expect(said.take().isEmpty)
        troubles.note(full, of: .writing, at: second)
        troubles.noteSuccess(of: .writing, at: 3 * second)
        troubles.note(full, of: .writing, at: 4 * second)
        #expect(said.take() == ["trouble", "over", "trouble"])
    }
}
