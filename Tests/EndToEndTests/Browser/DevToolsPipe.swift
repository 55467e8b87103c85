import Foundation
import Support

/// The two ends of a browser's DevTools pipe, and the received messages.
struct DevToolsPipe {
    private let process: SpawnedProgram
    private let input: FileHandle
    private let output: FileHandle
    private let log: String
    private var received = Data()
    /// The number of received bytes that were searched and contain no end of a message.
    private var searched = 0
    private var lastID = 0
    private var count = 0
    private var replies: [Int: DevToolsMessage] = [:]
    /// The events of each session.
    private(set) var events: [String: [DevToolsMessage]] = [:]
    /// The responses to requests, by session and then by the prefix of the URL.
    var pages: [String: [String: OutsidePage]] = [:]
    private var isOpen = true

    init(_ process: SpawnedProgram, input: FileHandle, output: FileHandle, log: String) {
        (self.process, self.input, self.output, self.log) = (process, input, output, log)
    }

    /// Sends a command, and returns the number of its reply.
    mutating func send(_ method: String, _ parameters: [String: Any], in session: String?) throws -> Int {
        lastID += 1
        var members: [String: Any] = ["id": lastID, "method": method, "params": parameters]
        if let session { members["sessionId"] = session }
        try input.write(contentsOf: JSONSerialization.data(withJSONObject: members) + [0])
        return lastID
    }

    mutating func takeReply(to id: Int) -> DevToolsMessage? { replies.removeValue(forKey: id) }

    /// Removes the messages of a closed page.
    mutating func forget(_ session: String) {
        events[session] = nil
        pages[session] = nil
    }

    /// Waits for a message, and stores it.
    ///
    /// - Parameter session: the session whose last events the failure lists.
    /// - Throws: ``Chromium/Failure`` if the browser has ended, or sends nothing for too long.
    mutating func receive(for session: String? = nil) throws {
        while true {
            let rest = received[(received.startIndex + searched)...]
            if let end = rest.firstIndex(of: 0) {
                let document = Data(received[..<end])
                received.removeSubrange(...end)
                searched = 0
                count += 1
                return try keep(DevToolsMessage(document, number: count))
            }
            searched = received.count
            guard isReadable else { throw failure("sends no more messages", session) }
            let more = output.availableData
            guard !more.isEmpty else { throw failure("has ended", session) }
            received += more
        }
    }

    private var isReadable: Bool {
        var entry = pollfd(fd: output.fileDescriptor, events: Int16(POLLIN), revents: 0)
        // The one entry is valid during the call.
        return unsafe poll(&entry, 1, Int32(Polling.seconds) * 1000) > 0
    }

    private mutating func keep(_ message: DevToolsMessage) throws {
        if let id = message.id {
            replies[id] = message
            return
        }
        guard let session = message.session else { return }
        events[session, default: []].append(message)
        if message.name == "Fetch.requestPaused" { try answer(message, session) }
    }

    /// Responds to a request for a page of another host, by the longest prefix.
    private mutating func answer(_ message: DevToolsMessage, _ session: String) throws {
        guard let url = message.url, let request = message.string("requestId") else { return }
        let page = (pages[session] ?? [:]).filter { url.hasPrefix($0.key) }.max {
            $0.key.count < $1.key.count
        }
        guard let page else {
            _ = try send("Fetch.continueRequest", ["requestId": request], in: session)
            return
        }
        guard let command = page.value.command(request) else { return }
        _ = try send(command.method, command.parameters, in: session)
    }

    private func failure(_ problem: String, _ session: String?) -> Chromium.Failure {
        let last = (session.flatMap { events[$0] } ?? []).suffix(12).map { "\($0.name) \($0.url ?? "")" }
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return Chromium.Failure(
            description: "the browser \(problem); last came \(last.joined(separator: ", ")); "
                + "its log: \(text.suffix(1000))"
        )
    }

    /// Waits for the browser to end its processes, and kills it if it does not.
    mutating func close() {
        guard isOpen else { return }
        isOpen = false
        if (try? send("Browser.close", [:], in: nil)) != nil {
            while (try? receive()) != nil {}
            _ = Polling.until { !process.isRunning }
        }
        if process.isRunning { process.send(SIGKILL) }
        process.waitUntilExit()
    }
}
