/// Which release this is.
enum ProgramVersion {
    /// The version by semver.org; `-dev` between releases.
    static let text = "0.1.0-dev"
}
