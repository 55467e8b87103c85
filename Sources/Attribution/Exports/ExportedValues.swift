/// The values of exported rows, in the order of ``ExportTable/columns``.
extension RecordedCheck {
    /// Returns the values of the check as a row of `checks` or of `matches`.
    public func exportValues(of table: ExportTable) -> [ExportValue] {
        let start: [ExportValue] = [.text(id.text), .time(facts.at), .text(app.text), .flag(isTest)]
        let ending: [ExportValue] = [.text(facts.outcome.rawValue), .text(facts.reason?.rawValue)]
        let match: [ExportValue] = [
            .text(clickID), .text(campaign?.text), .text(facts.method?.rawValue), .real(facts.confidence),
            .real(facts.minimumConfidence), .real(facts.organicShare), .integer(facts.candidates),
            .flag(facts.isCampaignOnly), .text(facts.platformForm?.form?.rawValue),
            .text(facts.agreement?.word), .text(facts.platform.rawValue), .text(facts.release?.text),
            .text(facts.sdkVersion), .text(facts.requestID), .flag(facts.namesClick),
            .flag(facts.hasInstallID), .time(facts.firstInstalledAt),
            .text(facts.playFinding?.rawValue),
        ]
        return table == .matches ? start + match : start + ending + match + [.integer(facts.weight)]
    }

    /// The id of the credited click, or without a match the id of the most likely click; nil if there is none.
    ///
    /// It is also nil if the click is no longer stored, because half of its id is unknown then.
    public var clickID: String? { facts.click.flatMap { $0.low == 0 ? nil : $0.text } }
}

extension LinkListing {
    /// The values of the link as a row of `links`.
    public var exportValues: [ExportValue] {
        let fields = link.settings.fields
        let texts = LinkField.allCases.map { field -> ExportValue in
            let separator = field == .variants ? " | " : ", "
            return fields[field].isEmpty ? .none : .text(fields[field].joined(separator: separator))
        }
        return [.text(link.id.text), .text(link.app.text), .text(link.slug.text)] + texts + [
            .integer(clicks), .integer(robots), .integer(matches), .time(link.createdAt),
            .time(link.updatedAt), .time(link.archivedAt),
        ]
    }
}

extension Click {
    /// Returns the values of the click as a row of `clicks`.
    public var exportValues: [ExportValue] {
        [
            .text(id.text), .text(facts.app.text), .flag(facts.isTest), .time(facts.clickedAt),
            .time(facts.recordedAt), .time(facts.expiresAt), .text(facts.destination.text),
            .text(facts.campaignKey?.text), .text(facts.journeyID.text),
            .text(CountedTraits(facts).source),
            .text(facts.platform.rawValue), .text(facts.osVersion), .text(facts.browser.rawValue),
            .text(facts.link?.text), .text(facts.variant), .flag(facts.isRobot), .flag(facts.isContradictory),
            .text(facts.metadata), .text(facts.clickIDs),
        ]
    }
}

extension PostbackDelivery {
    /// Returns the values of the delivery as a row of `deliveries`, without the body.
    public func exportValues(to endpoint: PostbackEndpoint) -> [ExportValue] {
        [
            .text(event.id.text), .text(endpoint.app.text), .flag(endpoint.isTest), .text(endpoint.id.text),
            .text(event.type), .time(event.at), sequence > 0 ? .integer(sequence) : .none, .text(state.word),
            .integer(attempts), .time(state == .pending ? dueAt : nil), .time(attemptedAt),
            answer?.status.map { .integer($0) } ?? .none, .text(answer?.problem),
            answer.map { .integer($0.milliseconds) } ?? .none,
        ]
    }
}

/// A row that was erased, or an event that was replaced.
///
/// The id of a click or a check is its random identifier; the id of an event is its number.
public struct ErasedRow: Equatable, Sendable {
    /// The position among erased rows: milliseconds and a counter, as in the numbers of clicks.
    public let number: Int64
    public let table: ExportTable
    public let high: UInt64
    public let low: UInt64
    public let app: AppID
    public let at: Timestamp

    public init(_ number: Int64, of table: ExportTable, high: UInt64, low: UInt64, app: AppID, at: Timestamp)
    {
        (self.number, self.table, self.high, self.low) = (number, table, high, low)
        (self.app, self.at) = (app, at)
    }

    private var id: String {
        switch table {
        case .clicks: ClickID(high: high, low: low).text
        case .events: String(high)
        default: CheckID(high: high, low: low).text
        }
    }

    /// The values of the row in `deletions`.
    public var exportValues: [ExportValue] {
        [.text(table.rawValue), .text(id), .text(app.text), .time(at), .text("erasure"), .none]
    }

    /// Returns the values of a row of `deletions`, which states that `table` no longer has rows from before a time.
    public static func retention(_ table: ExportTable, before time: Timestamp) -> [ExportValue] {
        [.text(table.rawValue), .none, .none, .none, .text("retention"), .time(time)]
    }
}

extension StoredApplePostback {
    /// Returns the values of the postback as a row of `apple_postbacks`.
    public func exportValues(of app: App?) -> [ExportValue] {
        [
            .text(postback.id), .time(receivedAt), .text(app?.id.text), .text(postback.appStoreID),
            .text(postback.framework.rawValue), .text(postback.version), .text(postback.network),
            .text(postback.source), .integer(postback.sequence), .flag(postback.didWin),
            .text(postback.conversionType), .text(postback.publisher),
            postback.fineValue.map { .integer($0) } ?? .none, .text(postback.coarseValue?.rawValue),
            .text(postback.interaction), .text(postback.country), .text(verification.rawValue),
            .text(environment.rawValue), .flag(isCounted && environment.isCounted(for: app)),
        ]
    }
}
