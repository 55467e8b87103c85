/// How long something took, for people.
public enum ElapsedTime {
    /// As `45 s`, `17 min`, `5 h` or `3 d`, rounded down; at least 0 s.
    public static func text(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\(seconds / 60) min" }
        return seconds < 172_800 ? "\(seconds / 3600) h" : "\(seconds / 86_400) d"
    }
}
