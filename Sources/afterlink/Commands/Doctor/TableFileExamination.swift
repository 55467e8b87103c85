internal import Attribution
internal import Server

/// Checks that the next start can read its tables.
enum TableFileExamination {
    /// Examines the files of tables; empty if none is named.
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
