internal import Attribution
internal import Glibc
internal import Server

/// The files that replace built-in tables and pages, read once at the start.
enum TableFiles {
    /// The maximum size of a file, in bytes; Apple's list of relay addresses has about 250,000 lines.
    private static let limit = 64 << 20

    /// Returns the settings of the service, with the contents of the files.
    ///
    /// - Throws: one failure for all files that cannot be used, each with its line.
    static func settings(of given: Configuration) throws -> ServiceSettings {
        var settings = given.serviceSettings
        let failures = [
            read("device-data", given.deviceData, into: &settings.devices, DeviceData.init(replacing:file:)),
            read("robots", given.robots, into: &settings.robots, RobotAgents.init(replacing:file:)),
            read(
                "relay-ranges",
                given.relayRanges,
                into: &settings.relays,
                AddressRanges.init(reading:file:)
            ),
            read(
                "landing-page",
                given.landingPage,
                into: &settings.pages,
                LandingPages.init(replacing:file:)
            ),
        ]
        if let failure = CommandFailure(joining: failures.compactMap(\.self)) { throw failure }
        return settings
    }

    /// Replaces a built-in table with the table in a setting's file, if the setting names a file.
    ///
    /// - Returns: why the file cannot be used; nil if it can, or if there is none.
    private static func read<Table>(
        _ setting: String,
        _ path: String?,
        into table: inout Table,
        _ parse: ([UInt8], String) throws(DataFileError) -> Table
    ) -> CommandFailure? {
        guard let path else { return nil }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try OpenFile(path, O_RDONLY).readAll(limit: limit)
        } catch {
            return CommandFailure.configuration("The file of --\(setting) could not be read: \(error.text).")
                .advising("Correct the path, or leave the setting out to use the built-in table.")
        }
        do throws(DataFileError) {
            table = try parse(bytes, path)
            return nil
        } catch {
            return CommandFailure.configuration(
                "The file of --\(setting) cannot be used: \(error.message)"
            ).advising("Correct the file and start again; nothing was started.")
        }
    }
}
