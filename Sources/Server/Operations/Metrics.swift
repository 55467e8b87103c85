internal import HTTPServer
internal import Synchronization

/// Counts requests by route and status, and their durations, separately in each event loop.
public final class Metrics: Sendable {
    private let routes: [String]
    private let loops = Mutex<[LoopMetrics]>([])

    init(routes: [String]) { self.routes = routes }

    /// Creates the counts of a loop that serves these routes.
    func makeLoopMetrics(for served: [Route]) -> LoopMetrics {
        let metrics = LoopMetrics(routes: routes, served: served)
        loops.withLock { $0.append(metrics) }
        return metrics
    }

    /// Returns the number of error responses by code, over all loops.
    func errorCounts() -> [APIError.Code: Int64] {
        loops.withLock { $0 }.reduce(into: [:]) { $0.merge($1.errorCounts, uniquingKeysWith: +) }
    }

    /// Returns each route's counts over all loops, in the order of the routes; unknown paths come last, without a name.
    func counts() -> [(route: String, counts: LoopMetrics.RouteCounts)] {
        let loops = loops.withLock { $0 }
        return (routes + [""]).enumerated().map { index, route in
            (route, loops.reduce(into: LoopMetrics.RouteCounts()) { $0.add($1.counts(at: index)) })
        }
    }
}

/// The counts of one loop.
///
/// Each loop has its own locks, so that it waits only while the metrics are read.
final class LoopMetrics: Sendable {
    struct RouteCounts {
        /// The number of responses by status code.
        var statuses: [Int: Int64] = [:]
        /// The number of requests by duration: one for each of ``bounds``, and one for longer requests; not cumulative.
        var durations = [Int64](repeating: 0, count: bounds.count + 1)
        var totalMicroseconds: UInt64 = 0

        mutating func add(_ other: RouteCounts) {
            statuses.merge(other.statuses, uniquingKeysWith: +)
            for index in durations.indices { durations[index] += other.durations[index] }
            totalMicroseconds += other.totalMicroseconds
        }
    }

    /// Upper bounds of the duration histogram in microseconds.
    static let bounds: [UInt64] = [
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
        2_500_000,
    ]

    private let indexes: [ObjectIdentifier: Int]
    private let routes: Mutex<[RouteCounts]>
    private let errors = Mutex<[APIError.Code: Int64]>([:])

    init(routes names: [String], served: [Route]) {
        var indexes: [ObjectIdentifier: Int] = [:]
        for route in served { indexes[ObjectIdentifier(route)] = names.firstIndex(of: route.name) }
        self.indexes = indexes
        routes = Mutex(Array(repeating: RouteCounts(), count: names.count + 1))
    }

    func count(route: Route?, status: Status, microseconds: UInt64) {
        let bin = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        routes.withLock { routes in
            let index = route.flatMap { indexes[ObjectIdentifier($0)] } ?? routes.count - 1
            routes[index].statuses[status.code, default: 0] += 1
            routes[index].durations[bin] += 1
            routes[index].totalMicroseconds += microseconds
        }
    }

    func count(_ code: APIError.Code) { errors.withLock { $0[code, default: 0] += 1 } }

    var errorCounts: [APIError.Code: Int64] { errors.withLock { $0 } }

    func counts(at index: Int) -> RouteCounts { routes.withLock { $0[index] } }
}
