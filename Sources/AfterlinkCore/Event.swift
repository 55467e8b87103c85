#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Something that happened in the app, for the statistics of the campaign that led to the installation.
public struct Event: Hashable, Sendable {
    /// 1 to 40 lower-case letters, digits and underscores; the server rejects other names.
    public var name: String
    /// The identifier of the event.
    ///
    /// The server counts an event once within 30 days, however often it is sent.
    public var id: String
    /// When the event happened, by the device's clock; nil for the time of the call that tracks it.
    public var occurredAt: Date?
    /// A decimal number such as `9.99`, as text so that no digit is lost.
    public var amount: String?
    /// The currency by ISO 4217, such as `EUR`.
    public var currency: String?
    /// The `id` of the purchase that a refund returns; nil for any other event.
    public var purchase: String?
    public var properties: [String: JSONValue]

    public init(_ name: String, id: String? = nil, properties: [String: JSONValue] = [:]) {
        (self.name, self.id, self.properties) = (name, id ?? RandomID.make(), properties)
    }

    /// Returns a purchase; `id` is the identifier of the transaction.
    public static func purchase(_ amount: String, _ currency: String, id: String) -> Event {
        var event = Event("purchase", id: id)
        (event.amount, event.currency) = (amount, currency)
        return event
    }

    /// Returns a full or partial refund of a purchase; the amount is negative.
    public static func refund(_ amount: String, _ currency: String, of purchase: String, id: String) -> Event
    {
        var event = Event("refund", id: id)
        (event.amount, event.currency, event.purchase) = (amount, currency, purchase)
        return event
    }

    public static let open = Event.named("open")
    public static let signUp = Event.named("sign_up")

    private static func named(_ name: String) -> Event { Event(name, id: "") }
}

/// An event as it is stored and sent: one line of JSON.
struct StoredEvent: Codable, Sendable {
    let id: String
    let name: String
    let occurredAt: String
    let installID: String
    let amount: String?
    let currency: String?
    let purchase: String?
    let properties: [String: JSONValue]?

    private enum CodingKeys: String, CodingKey {
        case name, amount, currency, properties
        case id = "event_id"
        case occurredAt = "occurred_at"
        case installID = "install_id"
        case purchase = "purchase_id"
    }

    init(_ event: Event, installID: String, at now: Date) {
        // `Event.open` is a constant without an identifier, so each use of it needs a new one.
        id = event.id.isEmpty ? RandomID.make() : event.id
        (name, self.installID) = (event.name, installID)
        occurredAt = EventTime.text(event.occurredAt ?? now)
        (amount, currency, purchase) = (event.amount, event.currency, event.purchase)
        properties = event.properties.isEmpty ? nil : event.properties
    }

    /// The event as JSON; nil if the JSON is too large, or if the event has a number that JSON does not permit.
    var line: Data? {
        guard let data = try? JSONEncoder().encode(self), data.count <= EventQueue.maximumByteCount / 8 else {
            return nil
        }
        return data
    }
}

/// The stored events, oldest first, one line each.
struct EventQueue: Sendable {
    static let fileName = "events.jsonl"
    static let maximumCount = 500
    static let maximumByteCount = 48 * 1024
    static let maximumAge: TimeInterval = 7 * 86_400
    static let batchCount = 20

    struct Line: Sendable {
        let event: StoredEvent
        let data: Data
    }

    private(set) var lines: [Line] = []
    /// Whether the file contains exactly the lines; false after a write that did not end.
    private(set) var isWhole = true

    init(_ file: Data?) {
        let file = file ?? Data()
        isWhole = file.isEmpty || file.last == UInt8(ascii: "\n")
        for data in file.split(separator: UInt8(ascii: "\n")) {
            guard let event = try? JSONDecoder().decode(StoredEvent.self, from: data) else {
                isWhole = false
                continue
            }
            lines.append(Line(event: event, data: Data(data)))
        }
    }

    /// The content of the file.
    var file: Data {
        Data(lines.map(\.data).joined(separator: Data("\n".utf8)))
            + (lines.isEmpty ? Data() : Data("\n".utf8))
    }

    /// Adds an event, and returns the line to append to the file.
    ///
    /// The line is empty if the queue has the event already, or if ``StoredEvent/line`` is nil. Returns nil if the file
    /// must be replaced.
    mutating func add(_ event: StoredEvent, at now: Date) -> Data? {
        guard let data = event.line else { return Data() }
        // The app may track a transaction again before the first event about it was sent.
        guard !lines.contains(where: { $0.event.id == event.id }) else { return Data() }
        lines.append(Line(event: event, data: data))
        let isTrimmed = trim(at: now)
        return isWhole && !isTrimmed ? data + Data("\n".utf8) : nil
    }

    /// Removes events that are too old, and the oldest ones beyond the limits; returns whether it removed any.
    mutating func trim(at now: Date) -> Bool {
        let oldCount = lines.count
        lines.removeAll { line in
            EventTime.date(line.event.occurredAt).map { now.timeIntervalSince($0) > Self.maximumAge } ?? true
        }
        var bytes = lines.reduce(0) { $0 + $1.data.count + 1 }
        while lines.count > Self.maximumCount || bytes > Self.maximumByteCount {
            bytes -= lines.removeFirst().data.count + 1
        }
        return lines.count != oldCount
    }

    mutating func remove(_ ids: Set<String>) { lines.removeAll { ids.contains($0.event.id) } }
}
