import Foundation
import Support
import Testing

@Suite("The browser of the tests", .blocking)
struct ChromiumTests {
    @Test("if the browser is missing, the failure names what to install")
    func missing() {
        let failure = #expect(throws: Chromium.Failure.self) {
            try Chromium(hosts: [], port: 1, program: "no-such-browser")
        }
        #expect(failure?.description.contains("there is no no-such-browser") == true)
        #expect(failure?.description.contains("README's test command") == true)
    }

    @Test("the browser leaves no process and no file", .enabled(if: Chromium.isThere))
    func ending() throws {
        let browser = try Chromium(hosts: [], port: 1)
        let processes = [ProcessFigures(of: browser.identifier)]
        let all = processes + processes.flatMap(\.children)
        #expect(all.count > 1)
        let profile = browser.profilePath
        #expect(FileManager.default.fileExists(atPath: profile))
        browser.close()
        let areGone = Polling.until { all.allSatisfy { $0.residentByteCount == 0 } }
        #expect(areGone && !FileManager.default.fileExists(atPath: profile))
        #expect(throws: (any Error).self) { try browser.call("Browser.getVersion") }
    }
}
