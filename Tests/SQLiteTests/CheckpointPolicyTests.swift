import SQLite
import Testing

@Suite("The thread that copies the write-ahead log")
struct CheckpointPolicyTests {
    /// Returns the largest log, in pages, if the disk copies `speed` pages while the writer writes one.
    ///
    /// Before, a reader prevented all copying until the log had `held` pages. Each commit writes 1,000 pages.
    private func largestLog(copiedPerWritten speed: Double, held: Int = 0) -> Int {
        var copying = CheckpointPolicy(hasBackground: true)
        var (pages, copied, largest) = (held, 0, 0)
        copying.recordCommit(logPages: held)
        for _ in 0..<20 {
            // While the background copies these pages, the writer continues until it must copy pages itself.
            let end = pages
            var time = Double(end - copied) / speed
            while time > 0, copying.copier != .writer {
                pages += 1000
                time -= 1000
                copying.recordCommit(logPages: pages)
            }
            copied = end
            copying.recordCopied(logPages: end)
            largest = max(largest, pages)
            if copying.copier == .writer {
                (pages, copied) = (1000, 0)
                copying.recordCommit(logPages: pages)
            }
        }
        return largest
    }

    @Test("if the disk is fast enough, the writer pauses after 32 MiB until the log is copied")
    func keepsUp() {
        #expect(largestLog(copiedPerWritten: 4) < CheckpointPolicy.pausePages + 2000)
        #expect(largestLog(copiedPerWritten: 1) < CheckpointPolicy.pausePages + 2000)
    }

    @Test("the background copies the backlog of a long read until at most 64 MiB are left for the writer")
    func leavesBacklog() {
        var copying = CheckpointPolicy(hasBackground: true)
        copying.recordCommit(logPages: 200_000)
        #expect(copying.copier == .background)
        copying.recordCopied(logPages: 0)
        #expect(copying.copier == .background, "the reader is still there")
        copying.recordCommit(logPages: 240_000)
        copying.recordCopied(logPages: 200_000)
        #expect(copying.copier == .background)
        copying.recordCommit(logPages: 250_000)
        copying.recordCopied(logPages: 240_000)
        #expect(copying.copier == .writer, "ten thousand pages are left")
    }

    @Test("if writes outpace the background, the writer copies after three long passes")
    func doesNotGrow() {
        // Three passes make the log two, four and eight times as long; 20 passes would make it a million times as long.
        #expect(largestLog(copiedPerWritten: 0.5, held: 20_000) < 20_000 * 32)
        #expect(largestLog(copiedPerWritten: 0.9, held: 20_000) < 20_000 * 8)
        #expect(largestLog(copiedPerWritten: 1, held: 200_000) < 200_000 * 6)
    }

    @Test("a command beside a server copies the log itself")
    func withoutBackground() {
        var copying = CheckpointPolicy(hasBackground: false)
        copying.recordCommit(logPages: CheckpointPolicy.pausePages)
        #expect(copying.copier == .writer)
        copying.recordCommit(logPages: 100_000)
        #expect(copying.copier == .writer)
    }

    @Test("a log that starts again is copied from its start")
    func restartedLog() {
        var copying = CheckpointPolicy(hasBackground: true)
        copying.recordCommit(logPages: 9000)
        copying.recordCopied(logPages: 9000)
        copying.recordCommit(logPages: 900)
        #expect(copying.copier == nil)
        copying.recordCommit(logPages: 1000)
        #expect(copying.copier == .background)
    }
}
