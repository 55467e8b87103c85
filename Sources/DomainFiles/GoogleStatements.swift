internal import JSON

/// What Google's service of asset links says of a site.
///
/// Source: Google, "Digital Asset Links API: statements.list".
package enum GoogleStatements {
    package static func file(_ body: [UInt8]) -> AssetLinks? {
        guard let object = (try? JSONValue(parsing: body))?.object else { return nil }
        var file = AssetLinks()
        for value in object["statements"]?.array ?? [] {
            guard let statement = value.object, let relation = statement["relation"]?.string,
                let target = target(statement["target"]?.object)
            else { continue }
            file.statements.append(AssetLinks.Statement(relations: [relation], target: target))
        }
        return file
    }

    private static func target(_ object: JSONObject?) -> AssetLinks.Target? {
        if let app = object?["androidApp"]?.object, let package = app["packageName"]?.string,
            let fingerprint = app["certificate"]?.object?["sha256Fingerprint"]?.string
        {
            return .app(package: package, fingerprints: [fingerprint])
        }
        // A site comes with the full stop of a fully qualified name.
        guard let site = object?["web"]?.object?["site"]?.string else { return nil }
        return .site(site.hasSuffix(".") ? String(site.dropLast()) : site)
    }
}
