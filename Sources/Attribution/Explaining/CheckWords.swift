extension AddressAgreement {
    /// The word for the agreement in JSON and in exports.
    public var word: String { "\(self)" }
}

extension OSRelease {
    /// The release as `17.2`, or `17` if the minor number is unknown.
    public var text: String { minor.map { "\(major).\($0)" } ?? String(major) }
}
