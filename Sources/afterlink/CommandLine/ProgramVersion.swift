/// Which release this is.
enum ProgramVersion {
    /// By semver.org; `-dev` between releases.
    static let text = "0.1.0-dev"
}
