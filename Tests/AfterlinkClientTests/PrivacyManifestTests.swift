import Foundation
import Testing

@Suite("The privacy manifest")
struct PrivacyManifestTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardizedFileURL

    @Test("declares no tracking, no tracking domain and no API that needs a reason")
    func content() throws {
        let file = Self.sources.appending(path: "AfterlinkClient/PrivacyInfo.xcprivacy")
        // The parameter `format` is a pointer, which is nil here.
        let data = try Data(contentsOf: file)
        let value = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
        let manifest = try #require(value as? [String: Any])
        #expect(
            Set(manifest.keys) == [
                "NSPrivacyTracking", "NSPrivacyTrackingDomains", "NSPrivacyAccessedAPITypes",
                "NSPrivacyCollectedDataTypes",
            ]
        )
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        #expect((manifest["NSPrivacyAccessedAPITypes"] as? [Any])?.isEmpty == true)
        let types = try #require(manifest["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        #expect(types.count == 1)
        let type = try #require(types.first)
        #expect(
            type["NSPrivacyCollectedDataType"] as? String == "NSPrivacyCollectedDataTypeProductInteraction"
        )
        #expect(type["NSPrivacyCollectedDataTypeLinked"] as? Bool == false)
        #expect(type["NSPrivacyCollectedDataTypeTracking"] as? Bool == false)
        #expect(
            type["NSPrivacyCollectedDataTypePurposes"] as? [String] == [
                "NSPrivacyCollectedDataTypePurposeAppFunctionality",
                "NSPrivacyCollectedDataTypePurposeAnalytics",
            ]
        )
    }

    /// The APIs that need a reason by Apple's list, and APIs that only systems after iOS 15 have.
    private static let absent = [
        "UserDefaults", "NSUserDefaults", "creationDate", "modificationDate", "contentModificationDate",
        "attributesOfItem", "fileModificationDate", "stat(", "fstat(", "lstat(", "getattrlist",
        "systemUptime", "mach_absolute_time", "volumeAvailableCapacity", "systemFreeSize", "statfs",
        "statvfs",
        "activeInputModes", "advertisingIdentifier", "identifierForVendor",
        "ContinuousClock", "Duration", "Task.sleep(for", "import Synchronization", "Mutex", ".appending(path",
        "URL(filePath", ".host()", "Regex", "withDiscardingTaskGroup",
    ]

    @Test(
        "is true of the sources, which also use nothing newer than iOS 15",
        arguments: ["AfterlinkCore", "AfterlinkClient"]
    )
    func sources(module: String) throws {
        let folder = Self.sources.appending(path: module)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".swift")
        }
        #expect(!names.isEmpty)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for line in text.split(separator: "\n") where !line.drop(while: \.isWhitespace).hasPrefix("//") {
                for word in Self.absent { #expect(!line.contains(word), "\(name): \(line)") }
            }
        }
    }

    @Test("the client libraries have no more lines than their budgets")
    func budgets() throws {
        func lines(_ folder: String, _ ending: String) throws -> Int {
            let folder = Self.sources.appending(path: folder)
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasSuffix(ending)
            }
            .reduce(0) {
                try $0
                    + String(contentsOf: folder.appending(path: $1), encoding: .utf8).split(
                        separator: "\n",
                        omittingEmptySubsequences: false
                    ).count - 1
            }
        }
        let apple = try lines("AfterlinkClient", ".swift")
        #expect(apple < 250)
        #expect(try lines("AfterlinkCore", ".swift") + apple <= 2500)
        #expect(try lines("AfterlinkClient/Android", ".java") <= 700)
    }
}
