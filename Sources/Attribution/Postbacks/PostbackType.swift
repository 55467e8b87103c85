public enum EndpointSubject: IdentifiedSubject { public static let prefix = "pbe" }
public enum EventSubject: IdentifiedSubject { public static let prefix = "evt" }

public typealias EndpointID = Identifier<EndpointSubject>
/// The `webhook-id` of an event, the same for every attempt and every endpoint.
public typealias OutboxEventID = Identifier<EventSubject>

/// The type of an event that endpoints can receive; the raw value is the `type` on the wire.
public enum PostbackType: String, CaseIterable, Sendable {
    case matchCreated = "match.created"
    /// A launch that is credited to a campaign and to no single click.
    case matchCampaignOnly = "match.campaign_only"
    case launchUnmatched = "launch.unmatched"
    case clickRecorded = "click.recorded"
    case eventReceived = "event.received"
    case linkCreated = "link.created"
    case linkUpdated = "link.updated"
    case linkArchived = "link.archived"
    case linkDeleted = "link.deleted"
    case driftAlarmStarted = "drift.alarm_started"
    case driftAlarmEnded = "drift.alarm_ended"
    case domainFileChanged = "domain_file.changed"
    case applePostbackReceived = "apple_postback.received"
    case erasureCompleted = "erasure.completed"
    case endpointDisabled = "endpoint.disabled"

    /// Whether events of the type are stored only while an endpoint receives the type, because there are many such
    /// events.
    public var isOptIn: Bool { self == .launchUnmatched || self == .clickRecorded }

    /// Parses the name of a type, or of a group such as `link.*`; empty for any other text.
    public static func types(named text: String) -> [PostbackType] {
        guard text.hasSuffix(".*") else { return PostbackType(rawValue: text).map { [$0] } ?? [] }
        return allCases.filter { $0.rawValue.hasPrefix(text.dropLast()) }
    }
}
