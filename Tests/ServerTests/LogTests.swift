import Attribution
import Dispatch
import Server
import Testing

@Suite("The log")
struct LogTests {
    @Test(
        "a message cannot forge a line, nor control a terminal in a text log",
        arguments: LogFormat.allCases
    )
    func staysOnOneLine(format: LogFormat) throws {
        let logged = LoggedBytes()
        let log = try Log(format: format, clock: .fixed(Timestamp(milliseconds: 0))) { logged.append($0) }
        let controls = (Array(0x00...0x1F) + Array(0x7F...0x9F) as [UInt32]).compactMap(Unicode.Scalar.init)
        for control in controls { log.event(.warning, "before\(control)after") }
        log.flush()
        let lines = logged.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == controls.count + 1, "each message is one line")
        #expect(lines.last?.isEmpty == true)
        for line in lines.dropLast() {
            let text = String(Substring(line))
            #expect(text.contains("before") && text.contains("after"), "\(text.debugDescription)")
            #expect(!line.contains { $0.value < 0x20 }, "\(text.debugDescription)")
            // JSON need not escape these characters; programs that display the text must.
            #expect(format == .json || !line.contains { (0x7F...0x9F).contains($0.value) })
        }
    }

    @Test("the end of a service waits for its last lines, but not for an output that blocks")
    func blockedOutput() throws {
        let logged = LoggedBytes()
        let isBlocked = DispatchSemaphore(value: 0)
        let log = try Log(format: .text, clock: .fixed(Timestamp(milliseconds: 0))) { lines in
            isBlocked.wait()
            logged.append(lines)
        }
        log.event(.info, "stopping")
        log.flush(within: .milliseconds(10))
        log.event(.info, "stopped")
        log.flush(within: .milliseconds(10))
        #expect(logged.text.isEmpty)
        for _ in 0..<2 { isBlocked.signal() }
        log.flush(within: .seconds(60))
        #expect(logged.text.contains("stopping") && logged.text.contains("stopped"))
    }
}
