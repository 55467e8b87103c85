internal import Attribution

/// A span of days that a page shows.
enum DashboardPeriod: String, CaseIterable, Sendable {
    case today = "day"
    case yesterday
    case week = "7d"
    case fourWeeks = "28d"
    case thirtyDays = "30d"
    case quarter = "91d"
    case monthToDate = "month"
    case lastMonth
    case yearToDate = "year"
    case sixMonths = "6mo"
    case twelveMonths = "12mo"
    case all
    /// The days of the items `from` and `to`.
    case custom

    static let standard = week

    /// Returns the period's days.
    ///
    /// - Parameters:
    ///   - today: the day of the request.
    ///   - first: the first day on which there can be data.
    ///   - chosen: the days of a custom period.
    /// - Returns: the first and the last day, in days since 1970-01-01.
    func days(today: Int64, first: Int64, chosen: ClosedRange<Int64>?) -> ClosedRange<Int64> {
        let date = CivilDate(daysSinceEpoch: today)
        func start(year: Int64, month: Int64) -> Int64 {
            CivilDate(year: year, month: month, day: 1)?.daysSinceEpoch ?? today
        }
        let month = start(year: date.year, month: date.month)
        switch self {
        case .today: return today...today
        case .yesterday: return today - 1...today - 1
        case .week: return today - 6...today
        case .fourWeeks: return today - 27...today
        case .thirtyDays: return today - 29...today
        case .quarter: return today - 90...today
        case .monthToDate: return month...today
        case .lastMonth:
            let last = CivilDate(daysSinceEpoch: month - 1)
            return start(year: last.year, month: last.month)...month - 1
        case .yearToDate: return start(year: date.year, month: 1)...today
        case .sixMonths:
            let isEarly = date.month <= 6
            let month = isEarly ? date.month + 6 : date.month - 6
            return start(year: isEarly ? date.year - 1 : date.year, month: month)...today
        case .twelveMonths: return start(year: date.year - 1, month: date.month)...today
        case .all: return min(first, today)...today
        case .custom: return chosen ?? today - 6...today
        }
    }
}

/// The span that a page shows; ``earlier`` is the span for the comparison.
struct DashboardSpan: Sendable {
    static let dayMilliseconds: Int64 = 86_400_000

    let period: DashboardPeriod
    /// The days since 1970-01-01.
    let days: ClosedRange<Int64>
    let interval: StatisticsQuery.Interval
    /// The hours by which each day begins before the day in UTC.
    let offset: Int64

    init(_ period: DashboardPeriod, _ days: ClosedRange<Int64>, offset: Int64 = 0) {
        (self.period, self.days, self.offset) = (period, days, offset)
        interval = days.count <= 2 ? .hour : .day
    }

    var from: Timestamp { start(ofDay: days.lowerBound) }
    /// The end, exclusive.
    var to: Timestamp { start(ofDay: days.upperBound + 1) }

    private func start(ofDay day: Int64) -> Timestamp {
        Timestamp(milliseconds: day * Self.dayMilliseconds - offset * 3_600_000)
    }

    /// This span moved back by whole weeks, so that the same days of the week are compared.
    var earlier: DashboardSpan {
        let weeks = (Int64(days.count) + 6) / 7
        return DashboardSpan(
            period,
            days.lowerBound - weeks * 7...days.upperBound - weeks * 7,
            offset: offset
        )
    }

    /// Returns the name of an interval: the date of a day, or the time of an hour.
    ///
    /// If the span has two days, the date comes before the time.
    func label(of start: Timestamp) -> String {
        let text = start.advanced(byMilliseconds: offset * 3_600_000).iso8601
        let (date, time) = (text.prefix(10), text.dropFirst(11).prefix(5))
        guard interval == .hour else { return String(date) }
        return days.count == 1 ? String(time) : "\(date) \(time)"
    }

    /// The starts of the intervals.
    var starts: [Timestamp] {
        let step = interval == .hour ? Self.dayMilliseconds / 24 : Self.dayMilliseconds
        return stride(from: from.milliseconds, to: to.milliseconds, by: Int64.Stride(step)).map {
            Timestamp(milliseconds: $0)
        }
    }

    /// The first and last day, as `2026-11-01 – 2026-11-07`.
    var text: String {
        let (first, last) = (Self.text(ofDay: days.lowerBound), Self.text(ofDay: days.upperBound))
        return first == last ? first : "\(first) – \(last)"
    }

    static func text(ofDay day: Int64) -> String {
        String(Timestamp(milliseconds: day * dayMilliseconds).iso8601.prefix(10))
    }
}

/// A choice of days, before their offset from UTC's days is known.
struct DaysOfChoice {
    let period: DashboardPeriod
    /// The times `from` and `to` of a custom period.
    let chosen: (from: Timestamp?, to: Timestamp?)
    let now: Timestamp

    private static let maximumDays: Int64 = 3660

    /// Returns the span; each of its days begins `offset` hours before a day in UTC.
    func span(offset: Int64, firstData: Timestamp?) -> DashboardSpan {
        func day(of time: Timestamp, _ offset: Int64 = 0) -> Int64 {
            let time = time.advanced(byMilliseconds: offset * 3_600_000)
            return CivilDate.floorDivide(time.milliseconds, by: DashboardSpan.dayMilliseconds)
        }
        let today = day(of: now, offset)
        var days: ClosedRange<Int64>?
        if let from = chosen.from {
            // Limit the span to ten years, because no person reads a page with more days.
            let start = max(day(of: from), today - Self.maximumDays)
            days = start...min(max(chosen.to.map { day(of: $0) } ?? today, start), start + Self.maximumDays)
        }
        let first = firstData.map { day(of: $0, offset) } ?? today
        return DashboardSpan(period, period.days(today: today, first: first, chosen: days), offset: offset)
    }
}
