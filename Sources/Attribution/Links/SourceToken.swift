/// Where a click came from, as released clients know it: one of exactly seven words.
public enum SourceToken: String, CaseIterable, Sendable {
    case instagram, facebook, twitter, tiktok, qr, direct, unknown
}
