import Dispatch
import JSON
import Support
import Testing

@Suite("More requests than the store can take", .blocking)
struct OverloadTests {
    @Test("requests beyond the queue's limit get 503 with Retry-After at once; the waiting requests succeed")
    func queueIsFull() async throws {
        let service = try await TestService(queueLimit: 3)
        let release = service.holdWriter()
        let statuses = await withTaskGroup(of: (number: Int, answer: Answer).self) { group in
            for number in 0..<20 {
                let fingerprint = String(repeating: "0", count: 62) + String(10 + number)
                group.addTask {
                    let body = #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo"}"#
                    return (number, await service.click(body))
                }
            }
            var refused: [Answer] = []
            // While the writer is blocked, no other request can complete.
            while refused.count < 17, let next = await group.next() { refused.append(next.answer) }
            release.signal()
            for answer in refused {
                #expect(answer.isRefusal(503, "UNAVAILABLE"), "\(answer.text)")
                #expect(answer.field("Retry-After") != nil)
            }
            return await group.reduce(into: [Int]()) { $0.append($1.answer.status) }
        }
        #expect(statuses == [201, 201, 201])
    }
}
