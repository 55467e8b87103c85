import SQLite
import Testing

@Suite("Who copies the write-ahead log")
struct CheckpointPolicyTests {
    /// A disk that copies so many pages while one is written, and the largest log that comes of it.
    ///
    /// A reader holds the log back until it has so many pages; then each commit brings a thousand.
    private func largestLog(copiedPerWritten speed: Double, held: Int = 0) -> Int {
        var copying = CheckpointPolicy(hasBackground: true)
        var (pages, copied, largest) = (held, 0, 0)
        copying.noteCommit(logPages: held)
        for _ in 0..<20 {
            // A pass takes as long as its pages need; meanwhile the writer goes on, until it has to copy itself.
            let end = pages
            var time = Double(end - copied) / speed
            while time > 0, copying.copier != .writer {
                pages += 1000
                time -= 1000
                copying.noteCommit(logPages: pages)
            }
            copied = end
            copying.noteCopied(logPages: end)
            largest = max(largest, pages)
            if copying.copier == .writer {
                (pages, copied) = (1000, 0)
                copying.noteCommit(logPages: pages)
            }
        }
        return largest
    }

    @Test("with a disk that keeps up, the writer lets it catch up after 32 MiB")
    func keepsUp() {
        #expect(largestLog(copiedPerWritten: 4) < CheckpointPolicy.pausePages + 2000)
        #expect(largestLog(copiedPerWritten: 1) < CheckpointPolicy.pausePages + 2000)
    }

    @Test("what a reader held back is copied in the background, as long as that gets anywhere")
    func leavesBacklog() {
        var copying = CheckpointPolicy(hasBackground: true)
        copying.noteCommit(logPages: 200_000)
        #expect(copying.copier == .background)
        copying.noteCopied(logPages: 0)
        #expect(copying.copier == .background, "the reader is still there")
        copying.noteCommit(logPages: 240_000)
        copying.noteCopied(logPages: 200_000)
        #expect(copying.copier == .background)
        copying.noteCommit(logPages: 250_000)
        copying.noteCopied(logPages: 240_000)
        #expect(copying.copier == .writer, "ten thousand pages are left")
    }

    @Test("where more is written than the background copies, the writer copies after three times")
    func doesNotGrow() {
        // Twice, four, eight times what there was; without an end it would be a million times.
        #expect(largestLog(copiedPerWritten: 0.5, held: 20_000) < 20_000 * 32)
        #expect(largestLog(copiedPerWritten: 0.9, held: 20_000) < 20_000 * 8)
        #expect(largestLog(copiedPerWritten: 1, held: 200_000) < 200_000 * 6)
    }

    @Test("commands beside a server copy what they have written themselves")
    func withoutBackground() {
        var copying = CheckpointPolicy(hasBackground: false)
        copying.noteCommit(logPages: CheckpointPolicy.pausePages)
        #expect(copying.copier == .writer)
        copying.noteCommit(logPages: 100_000)
        #expect(copying.copier == .writer)
    }

    @Test("a log that starts again is copied from its start")
    func beginsAnew() {
        var copying = CheckpointPolicy(hasBackground: true)
        copying.noteCommit(logPages: 9000)
        copying.noteCopied(logPages: 9000)
        copying.noteCommit(logPages: 900)
        #expect(copying.copier == nil)
        copying.noteCommit(logPages: 1000)
        #expect(copying.copier == .background)
    }
}
