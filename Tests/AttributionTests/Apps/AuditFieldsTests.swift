import Attribution
import Testing

/// Tests that the audit log has a field for each setting of an app, because a change of a setting without a field has
/// no entry.
@Suite("Audited settings")
struct AuditFieldsTests {
    /// A change of each setting, by the path of its stored property.
    private static let changes: [String: @Sendable (inout App.Settings) -> Void] = [
        "name": { $0.name = "Other" }, "openClicks": { $0.openClicks = false },
        "allowedOrigins": { $0.allowedOrigins = ["https://shop.example"] },
        "destinations": { $0.destinations = ["shop://"] },
        "window": { $0.window = AttributionWindow(seconds: 3600) },
        "localizations": { $0.localizations = ["tr"] },
        "developmentLanguage": { $0.developmentLanguage = "en" },
        "policy.rule": { $0.policy.rule = .newest },
        "policy.minimumConfidence": { $0.policy.minimumConfidence = 0.123 },
        "policy.onAmbiguity": { $0.policy.onAmbiguity = .newest },
        "policy.usesFingerprints": { $0.policy.usesFingerprints = false },
        "policy.windows.fingerprint": { $0.policy.windows.fingerprint = AttributionWindow(seconds: 3600) },
        "policy.windows.deterministic": {
            $0.policy.windows.deterministic = AttributionWindow(seconds: 3600)
        },
        "defaultLink": { $0.defaultLink = DeepLinkURL(stored: "shop://home") },
        "reportingOffset": { $0.reportingOffset = 3 }, "clickIDs": { $0.clickIDs = .off },
        "conversionSchemas": { $0.conversionSchemas = ["2026-01-01 {}"] },
    ]

    /// A text of each setting of links.
    private static let linkTexts: [AppLinkField: String] = [
        .hosts: "go.shop.example", .webHosts: "shop.example", .icon: "https://shop.example/icon.png",
        .color: "#1a2b3c", .iosTeam: "ABCDE12345", .iosBundles: "com.example.shop", .iosStoreID: "1234567890",
        .iosScheme: "shopapp", .iosAppClips: "com.example.shop.Clip", .webCredentials: "true",
        .androidPackage: "com.example.shop",
        .androidCertificates: (0..<32).map { _ in "AB" }.joined(separator: ":"), .androidScheme: "shopapp",
        .iosFallback: "https://shop.example/i", .androidFallback: "https://shop.example/a",
        .huaweiFallback: "https://shop.example/h", .desktopURL: "https://shop.example/",
        .rules: "exclude /terms", .postbackHost: "shop.example", .appleAds: "true",
        .developmentPostbacks: "true",
    ]

    /// Returns the paths of a value's stored properties; for a structure of settings, the paths of its own properties.
    private static func paths(of value: Any, under path: String = "") -> [String] {
        Mirror(reflecting: value).children.flatMap { child in
            let name = path + (child.label ?? "?")
            let isStructure =
                child.value is MatchPolicy || child.value is MethodWindows || child.value is AppleApp
                || child.value is AndroidApp || child.value is Link.Fallbacks
            return isStructure ? paths(of: child.value, under: name + ".") : [name]
        }
    }

    @Test("include every setting of an app, so that no change goes unrecorded")
    func settings() {
        let settings = App.Settings(name: "Shop")
        let paths = Self.paths(of: settings).filter { $0 != "links" }
        #expect(Set(paths) == Set(Self.changes.keys))
        for (path, change) in Self.changes {
            var changed = settings
            change(&changed)
            #expect(changed != settings, "\(path)")
            #expect(changed.auditFields != settings.auditFields, "\(path)")
        }
    }

    @Test("include every setting of an app's links")
    func links() throws {
        #expect(Self.paths(of: AppLinks()).count == AppLinkField.allCases.count)
        let settings = App.Settings(name: "Shop")
        for field in AppLinkField.allCases {
            var fields = AppLinkFields()
            fields[field] = [try #require(Self.linkTexts[field])]
            var changed = settings
            changed.links = try AppLinks(fields)
            #expect(changed.links != settings.links, "\(field)")
            #expect(changed.auditFields.texts[field.rawValue] == fields[field], "\(field)")
        }
    }
}
