internal import Attribution
package import JSON

/// The JSON form of Apple's domain file.
package struct AppleAssociationBody {
    private let file: AppleAssociation

    package init(_ file: AppleAssociation) {
        self.file = file
    }

    package func json() -> JSONWriter {
        var json = JSONWriter(reservedCapacity: 4096)
        json.object { json in
            if !file.details.isEmpty { json.member("applinks", writeLinks) }
            apps(file.webCredentials, under: "webcredentials", &json)
            apps(file.appClips, under: "appclips", &json)
        }
        return json
    }

    private func writeLinks(_ json: inout JSONWriter) {
        json.object { json in
            json.member("details") { json in
                json.array { json in
                    for detail in file.details { write(detail, &json) }
                }
            }
        }
    }

    private func write(_ detail: AppleAssociation.Detail, _ json: inout JSONWriter) {
        json.object { json in
            json.member("appIDs") { $0.texts(detail.appIDs) }
            if let components = detail.components { json.member("components") { $0.components(components) } }
        }
    }

    private func apps(_ appIDs: [String], under name: String, _ json: inout JSONWriter) {
        guard !appIDs.isEmpty else { return }
        json.member(name) { json in
            json.object { json in json.member("apps") { $0.texts(appIDs) } }
        }
    }
}

/// The JSON form of Google's domain file.
package struct AssetLinksBody {
    private let file: AssetLinks

    package init(_ file: AssetLinks) {
        self.file = file
    }

    package func json() -> JSONWriter {
        var json = JSONWriter(reservedCapacity: 1024)
        json.array { json in
            for statement in file.statements { write(statement, &json) }
        }
        return json
    }

    private func write(_ statement: AssetLinks.Statement, _ json: inout JSONWriter) {
        json.object { json in
            json.member("relation") { $0.texts(statement.relations) }
            json.member("target") { json in
                json.object { json in
                    switch statement.target {
                    case .site(let site):
                        json.member("namespace", "web")
                        json.member("site", site)
                    case .app(let package, let fingerprints):
                        json.member("namespace", "android_app")
                        json.member("package_name", package)
                        json.member("sha256_cert_fingerprints") { $0.texts(fingerprints) }
                    }
                }
            }
            if let components = statement.components { writeExtension(components, &json) }
        }
    }

    private func writeExtension(_ components: [AssociationComponent], _ json: inout JSONWriter) {
        json.member("relation_extensions") { json in
            json.object { json in
                json.member(AssetLinks.handlesURLs) { json in
                    json.object { json in
                        json.member("dynamic_app_link_components") { json in
                            json.components(components, comment: "comments")
                        }
                    }
                }
            }
        }
    }
}

extension JSONWriter {
    /// Rules, whose comments stand under another name in each of the two files.
    fileprivate mutating func components(
        _ components: [AssociationComponent],
        comment: String = "comment"
    ) {
        array { json in
            for component in components {
                json.object { json in
                    json.member("/", component.path)
                    switch component.query {
                    case nil: break
                    case .pattern(let text): json.member("?", text)
                    case .items(let items):
                        json.member("?") { json in
                            json.object { json in for item in items { json.member(item.name, item.value) } }
                        }
                    }
                    json.member("#", component.fragment)
                    if component.excludes { json.member("exclude", true) }
                    json.member("caseSensitive", component.settings.caseSensitive)
                    json.member("percentEncoded", component.settings.percentEncoded)
                    json.member(comment, component.comment)
                }
            }
        }
    }
}
