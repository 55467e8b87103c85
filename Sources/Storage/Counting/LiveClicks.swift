public import Attribution

/// The count of clicks that can still be matched, by the second and the hour in which they expire.
///
/// A query adds the counts of the later hours and of the current hour's remaining seconds: at most 3,600 rows, and one for
/// each hour of the longest window. No job has to subtract expired clicks, so the number stays exact.
public enum LiveClicks {
    /// If a row expired this many seconds ago, it is deleted; a clock that is set back by less still finds it.
    static let keptSeconds: Int64 = 7200

    public static func second(of moment: Timestamp) -> Int64 { floorDivide(moment.milliseconds, by: 1000) }
    public static func hour(ofSecond second: Int64) -> Int64 { floorDivide(second, by: 3600) }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
