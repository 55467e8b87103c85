import Attribution
import SQLiteStorage
import Storage
import Synchronization
import Testing

@Suite("The log of a store's failures")
struct FailureLogTests {
    private let full = StoreError(.full, "the disk is full")
    private let second: UInt64 = 1_000_000_000

    /// Creates a failure log, and records the lines that it writes.
    private final class LogRecorder: Sendable {
        private let lines = Mutex<[String]>([])

        func makeLog() -> FailureLog {
            FailureLog(StoreLog { level, text in self.lines.withLock { $0.append("\(level) \(text)") } })
        }

        /// Returns `failure` or `recovery` for each line since the last call.
        func take() -> [String] {
            takeLines().map { $0.hasPrefix("error") ? "failure" : "recovery" }
        }

        func takeLines() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test("a line ends the explanation with one full stop", arguments: ["", "."])
    func text(end: String) {
        let recorder = LogRecorder()
        recorder.makeLog().note(StoreError(.full, "the disk is full" + end), of: .writing, at: second)
        #expect(recorder.takeLines() == ["error database: the disk is full. Requests get 503 meanwhile."])
    }

    @Test("a disk that is full for the writer and a job is one failure, reported again after ten seconds")
    func once() {
        let recorder = LogRecorder()
        let failures = recorder.makeLog()
        failures.note(full, of: .writing, at: second)
        failures.note(full, of: .job(.checkpoint), at: 2 * second)
        failures.note(full, of: .writing, at: 10 * second)
        #expect(recorder.take() == ["failure"])
        failures.note(full, of: .job(.checkpoint), at: 11 * second)
        #expect(recorder.take() == ["failure"])
        failures.note(StoreError(.inputOutput, "another"), of: .job(.checkpoint), at: 11 * second)
        #expect(recorder.take() == ["failure"])
    }

    @Test("a failure ends only after all work that failed has succeeded")
    func recovers() {
        let recorder = LogRecorder()
        let failures = recorder.makeLog()
        failures.note(full, of: .writing, at: second)
        failures.note(full, of: .job(.checkpoint), at: second)
        #expect(recorder.take() == ["failure"])
        failures.noteSuccess(of: .job(.checkpoint), at: 5 * second)
        failures.noteSuccess(of: .reading, at: 5 * second)
        #expect(recorder.take().isEmpty)
        failures.noteSuccess(of: .writing, at: 6 * second)
        failures.noteSuccess(of: .writing, at: 6 * second)
        failures.noteSuccess(of: .job(.checkpoint), at: 7 * second)
        #expect(recorder.take() == ["recovery"])
    }

    @Test("failures that alternate with successes are one failure; a success a second later ends it")
    func between() {
        let recorder = LogRecorder()
        let failures = recorder.makeLog()
        for step in UInt64(0)..<10 {
            failures.note(full, of: .writing, at: step * second / 2)
            failures.noteSuccess(of: .writing, at: step * second / 2 + 1)
        }
        #expect(recorder.take() == ["failure"])
        failures.noteSuccess(of: .job(.checkpoint), at: 6 * second)
        #expect(recorder.take() == ["recovery"])
    }

    @Test("a failure after a recovery is logged at once, so that the last line is true")
    func again() {
        let recorder = LogRecorder()
        let failures = recorder.makeLog()
        failures.noteSuccess(of: .writing, at: 0)
        #expect(recorder.take().isEmpty)
        failures.note(full, of: .writing, at: second)
        failures.noteSuccess(of: .writing, at: 3 * second)
        failures.note(full, of: .writing, at: 4 * second)
        #expect(recorder.take() == ["failure", "recovery", "failure"])
    }
}
