public import Attribution

/// The count of clicks that can still be matched, by the second and the hour in which they expire.
///
/// The hours after the present one and the seconds that are left of it add up to the figure. It costs at most
/// 3,600 rows and one for each hour of the longest window, however many clicks there are, and needs no job that
/// takes expired clicks off, so that it cannot drift.
public enum LiveClicks {
    public static func second(of moment: Timestamp) -> Int64 { floorDivide(moment.milliseconds, by: 1000) }

    public static func hour(ofSecond second: Int64) -> Int64 { floorDivide(second, by: 3600) }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
