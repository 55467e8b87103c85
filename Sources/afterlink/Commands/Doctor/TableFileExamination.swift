internal import Attribution
internal import Server

/// Whether the next start can read the tables that it is given.
enum TableFileExamination {
    /// None where no file is named.
    static func diagnoses(_ configuration: Configuration) -> [Diagnosis] {
        let paths = [
            configuration.deviceData, configuration.robots, configuration.relayRanges,
            configuration.landingPage,
        ].compactMap(\.self)
        guard !paths.isEmpty else { return [] }
        do {
            _ = try TableFiles.settings(of: configuration)
            return [.ok("tables", "\(paths.joined(separator: ", ")) can be read")]
        } catch {
            return [.problem("tables", error)]
        }
    }
}
